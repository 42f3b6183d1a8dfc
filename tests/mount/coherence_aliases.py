# SPDX-License-Identifier: MIT
"""A spec directory is seen at two places of the view: what is changed at one shows at the other."""
import os
import re
import subprocess
import sys
import time

from children import start, statuses
from linux import RENAME_EXCHANGE, renameat2
from mounted import Skip, View, equal, main, read_file, run, true, wait_for

MAPPED = 'python/triton/language'
SPEC = 'third_party/mthreads/spec/triton/language'
GRAFT = 'python/triton/spec/mthreads/triton/language'
TREE = {
    f'{MAPPED}/__init__.py': '',
    f'{MAPPED}/core.py': 'trunk core\n',
    f'{MAPPED}/math.py': 'trunk math\n',
    f'{SPEC}/math.py': 'spec math\n',
}


def look_at_all(v):
    for top, _dirs, files in os.walk(v.mnt):
        for f in files:
            read_file(os.path.join(top, f))


def listed(v, rel):
    return os.path.basename(rel) in v.listdir(os.path.dirname(rel))


def content_is_one():
    with View(TREE, 'mthreads') as v:
        look_at_all(v)
        for i, place in enumerate((MAPPED, SPEC, GRAFT)):
            text = b'written at %d\n' % i
            with open(v.path(f'{place}/math.py'), 'r+b') as f:
                f.write(text)
                f.truncate()
            for other in (MAPPED, SPEC, GRAFT):
                equal(v.read(f'{other}/math.py'), text, f'at {other}')
                equal(os.stat(v.path(f'{other}/math.py')).st_size, len(text), f'size at {other}')
        equal(read_file(os.path.join(v.root, SPEC, 'math.py')), text, 'in the checkout')
        equal(read_file(os.path.join(v.root, MAPPED, 'math.py')), b'trunk math\n', 'trunk')


def names_are_the_same():
    with View(TREE, 'mthreads') as v:
        look_at_all(v)
        for made, others in ((MAPPED, (SPEC, GRAFT)), (SPEC, (MAPPED, GRAFT))):
            for place in (made, *others):
                true(not v.exists(f'{place}/fresh.py'), 'not there yet')
            v.write(f'{made}/fresh.py', b'1')
            for other in others:
                wait_for(lambda: v.exists(f'{other}/fresh.py') and listed(v, f'{other}/fresh.py'),
                         f'made at {made}, seen at {other}')
            os.unlink(v.path(f'{made}/fresh.py'))
            for other in others:
                wait_for(lambda: not v.exists(f'{other}/fresh.py')
                         and not listed(v, f'{other}/fresh.py'),
                         f'removed at {made}, gone at {other}')


def an_edit_that_becomes_a_specialization_shows_where_it_lies():
    with View(TREE, 'mthreads') as v:
        look_at_all(v)
        true(not v.exists(f'{SPEC}/core.py'), 'no specialization yet')
        with open(v.path(f'{MAPPED}/core.py'), 'ab') as f:
            f.write(b'mine\n')
        for place in (MAPPED, SPEC, GRAFT):
            wait_for(lambda: v.exists(f'{place}/core.py'), f'at {place}')
            equal(v.read(f'{place}/core.py'), b'trunk core\nmine\n', place)
        equal(read_file(os.path.join(v.root, MAPPED, 'core.py')), b'trunk core\n', 'trunk')


def removing_a_specialization_and_more():
    with View(TREE, 'mthreads') as v:
        look_at_all(v)
        os.unlink(v.path(f'{MAPPED}/math.py'))
        true(not v.exists(f'{MAPPED}/math.py'), 'the name is gone, trunk does not show')
        wait_for(lambda: not v.exists(f'{SPEC}/math.py'), 'the specialization is gone')
        equal(read_file(os.path.join(v.root, MAPPED, 'math.py')), b'trunk math\n', 'trunk has it')
        equal(read_file(os.path.join(v.root, 'third_party/mthreads/spec/triton/.specfs-hide')),
              b'/language/math.py\n', 'and the hide list says so')


def a_new_directory_of_a_spec_shows_too():
    with View(TREE, 'mthreads') as v:
        look_at_all(v)
        os.makedirs(v.path(f'{MAPPED}/sub/deep'))
        v.write(f'{MAPPED}/sub/deep/x.py', b'x')
        for place in (SPEC, GRAFT):
            wait_for(lambda: v.exists(f'{place}/sub/deep/x.py'), f'at {place}')
        v.write(f'{SPEC}/sub/deep/y.py', b'y')
        wait_for(lambda: listed(v, f'{MAPPED}/sub/deep/y.py'), 'and the other way')


def directories_show_what_is_made_in_the_parts_that_a_change_gave_them():
    with View({'lib/d/old': ''}, opts=['-o', 'write=owner'], mount=False) as v:
        over = os.path.join(v.tmp, 'over')
        os.mkdir(over)
        v.opts += ['-l', over]
        v.mount()
        true(not v.exists('lib/new'), 'not there yet')
        with open(v.path('lib/d/mine'), 'wb') as f:
            f.write(b'mine')
        true(os.path.exists(os.path.join(over, 'lib/d/mine')), 'it makes directories')
        os.mkdir(os.path.join(over, 'lib/new'))
        run([v.bin, 'sync', v.mnt], env=v.env)
        true(v.exists('lib/new') and listed(v, 'lib/new'), 'made in the part that was made')


def new_directories_stay_where_one_works():
    """What comes of a removal may not take the next directory of that name out of its place."""
    script = """
import os, shutil, sys, time
os.chdir(sys.argv[1])
end = time.monotonic() + 6
while time.monotonic() < end:
    os.mkdir(sys.argv[2])
    os.chdir(sys.argv[2])
    os.getcwd()
    for i in range(20):
        os.mkdir(f'd{i}')
        open(f'd{i}/f', 'w').close()
    os.chdir('..')
    shutil.rmtree(sys.argv[2])
"""
    with View(TREE, 'mthreads') as v:
        at = v.path(f'{MAPPED}/work')
        os.mkdir(at)
        who = [subprocess.Popen([sys.executable, '-c', script, at, name],
                                stderr=subprocess.PIPE) for name in ('a', 'b')]
        for p in who:
            said = p.communicate(timeout=60)[1].decode()
            equal((p.returncode, said), (0, ''), 'a process with a working directory of its own')


def what_is_hidden_below_a_graft_can_be_linked_elsewhere():
    """The kernel takes a removal there for the loss of a link, and links no file without one."""
    names = [f'f{i}.py' for i in range(5)]  # the kernel keeps nothing until all is watched
    with View(dict(TREE, **{f'{SPEC}/{n}': '' for n in names}), 'mthreads') as v:
        for name in names:
            old = v.path(f'{MAPPED}/{name}')

            def linked():
                try:
                    os.link(old, old + '2')
                except FileNotFoundError:
                    return False
                return True

            look_at_all(v)
            os.unlink(v.path(f'{GRAFT}/{name}'))
            wait_for(linked, f'{name}: linked')
            equal(os.stat(old).st_nlink, 2, f'{name}: its names')


def directories_that_are_exchanged_are_so_at_both_places():
    names = [f'd{i}' for i in range(5)]  # the kernel keeps nothing until all is watched
    files = {f'{SPEC}/{n}/{k}/old{k}': '' for n in names for k in 'ab'}
    with View(dict(TREE, **files), 'mthreads') as v:
        for name in names:
            look_at_all(v)
            a, b = (v.path(f'{MAPPED}/{name}/{k}') for k in 'ab')
            renameat2(a, b, RENAME_EXCHANGE)
            for place in (MAPPED, GRAFT):
                for k, other in ('ab', 'ba'):
                    at = f'{place}/{name}/{k}'
                    wait_for(lambda: v.listdir(at) == [f'old{other}'], f'{at}: listed')
                    wait_for(lambda: not v.exists(f'{at}/old{k}'), f'{at}: what was there')


ONLY = """[profile]
name = t
backends = spec/*/
[map lib]
at = lib
from = spec/${backend}/lib
only = *.h
[write]
@mapped = spec
"""


def a_directory_shows_once_something_in_it_does():
    """Where only some names are shown, directories without any are not, and nobody looks there."""
    with View({'.specfs.ini': ONLY, 'lib/x.h': '', 'lib/f': 'file', 'spec/b/lib/g/f.h': ''},
              'b') as v:
        spec = os.path.join(v.root, 'spec/b/lib')
        for i in range(5):  # the kernel keeps nothing until all is watched
            inner = f'd{i}/deep' if i % 2 else f'd{i}'
            os.makedirs(f'{spec}/{inner}')
            equal(v.listdir('lib'), ['f', 'g', 'x.h'], 'before')
            true(not v.exists(f'lib/d{i}'), 'it is not there')
            with open(f'{spec}/{inner}/a.h', 'w'):
                pass
            wait_for(lambda: v.exists(f'lib/{inner}/a.h'), 'by name')
            wait_for(lambda: v.listdir('lib') == [f'd{i}', 'f', 'g', 'x.h'], 'in the listing')
            os.unlink(f'{spec}/{inner}/a.h')
            wait_for(lambda: v.listdir('lib') == ['f', 'g', 'x.h'], 'and not any more')
            true(not v.exists(f'lib/d{i}'), 'nor by name')
        os.unlink(f'{spec}/g/f.h')
        wait_for(lambda: not v.exists('lib/g'), 'one that nobody looked into')
        wait_for(lambda: v.listdir('lib') == ['f', 'x.h'], 'in the listing')


def work_anew(at, real, name, end):
    """Remove a directory underneath, make it again in the mount at once, and work in it."""
    os.chdir(at)
    n = 0
    while time.monotonic() < end:
        n += 1
        os.mkdir(name)
        os.rmdir(os.path.join(real, name))
        while True:
            try:
                os.mkdir(name)
                break
            except FileExistsError:
                continue  # the kernel has not heard of the removal
        os.chdir(name)
        time.sleep(n % 5 * 0.0003)
        os.getcwd()
        os.mkdir('d')
        os.rmdir('d')
        os.chdir(at)
        os.rmdir(name)


def directories_made_anew_stay_where_one_works():
    if [int(n) for n in re.findall(r'\d+', os.uname().release)[:2]] < [6, 2]:
        raise Skip('this kernel can only drop names; what it can it tells the daemon alone')
    with View(TREE, 'mthreads') as v:
        for place, real in ((MAPPED, SPEC), ('doc', 'doc')):
            at, below = v.path(f'{place}/work'), os.path.join(v.root, real, 'work')
            os.makedirs(at)
            true(os.path.isdir(below), 'it lies there')
            end = time.monotonic() + 2.5
            who = [start(work_anew, at, below, name, end) for name in ('a', 'b')]
            equal(statuses(who), [0, 0], f'{place}: processes with a working directory')


main(content_is_one, names_are_the_same, an_edit_that_becomes_a_specialization_shows_where_it_lies,
     removing_a_specialization_and_more, a_new_directory_of_a_spec_shows_too,
     directories_show_what_is_made_in_the_parts_that_a_change_gave_them,
     new_directories_stay_where_one_works, directories_made_anew_stay_where_one_works,
     a_directory_shows_once_something_in_it_does,
     what_is_hidden_below_a_graft_can_be_linked_elsewhere,
     directories_that_are_exchanged_are_so_at_both_places)
