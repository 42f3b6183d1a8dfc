# SPDX-License-Identifier: MIT
"""Many edits of a profile, chosen at random: after each the mounted view shows what a view shows
that is mounted by the new profile, and what is changed in it goes where that one sends it."""
import os
import random
import stat
import threading

from mounted import View, equal, main, read_file, write_file

SEED = int(os.environ.get('SPECFS_SEED') or 20261129)
ROUNDS = int(os.environ.get('SPECFS_ROUNDS') or 30)

HEAD = '[profile]\nname = own\nbackends = bk/*/\n'
BASE = '[map other]\nat = other\nfrom = bk/${backend}/other\n'
SECTIONS = [
    '[map lib]\nat = lib\nfrom = bk/${backend}/lib\n',
    '[map all]\nat = .\nfrom = bk/${backend}/all\n',
    '[map deep]\nat = lib/deep\nfrom = bk/${backend}/deep\n',
    '[map opaque]\nat = lib/deep\nfrom = bk/${backend}/opaque\nopaque = yes\n',
    '[map new]\nat = new/place/of\nfrom = bk/${backend}/lib\n',
    '[map some]\nat = lib\nfrom = bk/${backend}/some\nonly = *.td\nexcept = no.td\n',
    '[map common]\nat = inc\nfrom = common\n',
    '[graft one]\nat = lib/graft\nfrom = bk/${backend}/deep\n',
    '[graft many]\nat = many\nfrom = bk/*\n',
    '[graft over]\nat = docs\nfrom = bk/${backend}/all\n',
    '[link one]\nat = lib/link\nto = docs\n',
    '[link many]\nat = links\nto = bk/${backend}/lib/*\n',
    '[file one]\nat = lib/a.txt\ncontent = made ${backend}\n',
    '[file two]\nat = made/two.txt\ncontent = made two\n',
]
HIDE = ['*.over', 'docs/', '/lib/deep', '/inc/i.h', '/bk/x/lib/a.txt', '/new']
WRITE = ['[write]\n@any = owner\n', '[write]\n@any = scratch\n',
         '[write]\n@mapped = spec\n@any = owner\n', '[write]\n/lib = deny\n@any = owner\n', '']

TREE = {
    '.specfs.ini': HEAD + BASE,
    'lib/a.txt': 'trunk a\n',
    'lib/b.txt': 'trunk b\n',
    'lib/no.td': 'trunk no\n',
    'lib/deep/d.txt': 'trunk d\n',
    'lib/deep/er/e.txt': 'trunk e\n',
    'inc/i.h': 'trunk i\n',
    'docs/read.me': 'trunk doc\n',
    'docs/left.over': 'trunk left-over\n',
    'common/i.h': 'common i\n',
    'common/c.h': 'common c\n',
    'bk/x/other/o.txt': 'x o\n',
    'bk/x/lib/a.txt': 'x a\n',
    'bk/x/lib/deep/d.txt': 'x d\n',
    'bk/x/lib/only/o.txt': 'x only\n',
    'bk/x/lib/to': ('link', 'a.txt'),
    'bk/x/all/inc/i.h': 'x all i\n',
    'bk/x/all/inc/made/m.h': 'x all m\n',
    'bk/x/all/top.txt': 'x top\n',
    'bk/x/deep/d.txt': 'x deep d\n',
    'bk/x/deep/er': 'x er is a file\n',
    'bk/x/opaque/o.txt': 'x opaque\n',
    'bk/x/some/s.td': 'x s\n',
    'bk/x/some/s.h': 'x not seen\n',
    'bk/x/some/no.td': 'x no\n',
}


def profile(rnd):
    sections = rnd.sample(SECTIONS, rnd.randrange(len(SECTIONS)))
    hide = rnd.sample(HIDE, rnd.choice((0, 0, 1, 2)))
    text = HEAD + BASE + ''.join(sections) + rnd.choice(WRITE)
    return text + (f'[hide]\nnames = {" ".join(hide)}\n' if hide else '')


def snapshot(top):
    """{path: what it is}: all there is, by the listings and by the names."""
    seen = {}
    for at, dirs, files in os.walk(top):
        for name in dirs + files:
            full = os.path.join(at, name)
            rel = os.path.relpath(full, top)
            st = os.lstat(full)
            if stat.S_ISLNK(st.st_mode):
                seen[rel] = ('link', os.readlink(full))
            elif stat.S_ISDIR(st.st_mode):
                seen[rel] = ('directory', stat.S_IMODE(st.st_mode))
            else:
                seen[rel] = (st.st_size, stat.S_IMODE(st.st_mode), read_file(full))
    return seen


def ask_for_all(v, names):
    """Have the kernel know what there is not, too."""
    for rel in names:
        os.path.lexists(v.path(rel))


def same_as_mounted_anew(v, what):
    with View(None, 'x', root=v.root) as fresh:
        want = snapshot(fresh.mnt)
    got = snapshot(v.mnt)
    for rel in sorted(set(want) | set(got)):
        equal(got.get(rel), want.get(rel), f'{rel} {what}')
    return want


def each_edit_shows_as_in_a_new_mount():
    rnd = random.Random(SEED)
    names = set(TREE)
    with View(TREE, 'x', opts=['-r']) as v:
        for i in range(ROUNDS):
            text = profile(rnd)
            ask_for_all(v, names)
            write_file(os.path.join(v.root, '.specfs.ini'), text)
            v.cli('sync', v.mnt)
            error = v.status()['profile_error']
            equal(error, None, f'round {i} of seed {SEED}:\n{text}')
            names |= set(same_as_mounted_anew(v, f'in round {i} of seed {SEED}:\n{text}'))


def the_same_while_others_work():
    """Readers walk and a writer makes and removes files of scratch meanwhile."""
    rnd = random.Random(SEED + 1)
    stop = threading.Event()
    wrong = []
    with View({**TREE, '.gitignore': '*.o\n'}, 'x') as v:
        def read():
            while not stop.is_set():
                for at, _dirs, files in os.walk(v.mnt):
                    for name in files:
                        try:
                            read_file(os.path.join(at, name))
                        except (FileNotFoundError, NotADirectoryError):
                            pass
                        except OSError as e:
                            if e.errno != 116:  # it went between opening and reading
                                wrong.append((name, e))

        def write():
            n = 0
            while not stop.is_set():
                n += 1
                full = v.path(f'inc/w{n % 7}.o')
                try:
                    write_file(full, f'{n}\n')
                    if read_file(full) != f'{n}\n'.encode():
                        wrong.append((full, n))
                    os.unlink(full)
                except OSError as e:
                    if e.errno not in (2, 30):  # its directory was hidden, or denied
                        wrong.append((full, e))

        threads = [threading.Thread(target=f) for f in (read, read, write)]
        for t in threads:
            t.start()
        try:
            for i in range(ROUNDS):
                text = profile(rnd)
                text = text.replace('[write]\n', '[write]\n*.o = scratch\n')
                if '[write]' not in text:
                    text += '[write]\n*.o = scratch\n'
                write_file(os.path.join(v.root, '.specfs.ini'), text)
                v.cli('sync', v.mnt)
                equal(v.status()['profile_error'], None, text)
        finally:
            stop.set()
            for t in threads:
                t.join()
        equal(wrong, [], f'with seed {SEED}')
        v.cli('sync', v.mnt)


main(each_edit_shows_as_in_a_new_mount, the_same_while_others_work)
