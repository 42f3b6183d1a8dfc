# SPDX-License-Identifier: MIT
"""What a daemon holds is bounded: descriptors by its limit, memory by what the kernel knows."""
import json
import mmap
import os
import resource
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from children import forget, may_forget  # noqa: E402
from daemontree import view  # noqa: E402
from mounted import Skip, equal, main, run, true, wait_for, write_file  # noqa: E402


def status(v):
    return json.loads(v.read('.specfs/status'))


def descriptors(v):
    return len(os.listdir(f'/proc/{status(v)["pid"]}/fd'))


def mount_with_limit(v, n):
    """Mount with a daemon that may open so many files."""
    wrapper = os.path.join(v.tmp, 'limited')
    with open(wrapper, 'w') as f:
        f.write(f'#!/bin/sh\nulimit -n {n}\nexec {v.bin} "$@"\n')
    os.chmod(wrapper, 0o755)
    v.bin, real = wrapper, v.bin
    v.mount()
    v.bin = real


def prepare_many(root):
    for i in range(600):
        write_file(f'{root}/doc/many/d{i % 10}/f{i}', f'text {i}')


def sixty_four_descriptors_are_enough():
    with view(prepare=prepare_many, mount=False) as v:
        mount_with_limit(v, 64)
        true(status(v)['cache']['max_files'] < 64, 'the daemon knows its limit')
        for i in range(600):
            equal(v.read(f'doc/many/d{i % 10}/f{i}'), f'text {i}'.encode(), f'file {i}')
        os.mkdir(v.path('build'))
        for i in range(200):
            v.write(f'build/f{i}', f'new {i}')
        subprocess.run(['cp', '-r', v.path('doc/many'), v.path('include/many')], check=True)
        subprocess.run(['diff', '-r', v.path('doc/many'), v.path('include/many')], check=True)
        os.rename(v.path('include/many'), v.path('build/many'))
        subprocess.run(['diff', '-r', v.path('doc/many'), v.path('build/many')], check=True)
        for i in range(200):
            equal(v.read(f'build/f{i}'), f'new {i}'.encode(), f'new file {i}')
        true(descriptors(v) <= 64, f'{descriptors(v)} descriptors')


def thousands_of_open_files_are_unlinked():
    """And replaced; all of it with a daemon that may not open half as many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    n = 2000
    if hard < n + 100:
        raise Skip('this process may not open that many')
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with view(mount=False) as v:
        mount_with_limit(v, 1024)
        os.mkdir(v.path('build'))
        open_files = []
        for i in range(n):
            path = v.path(f'{("build", "doc", "include")[i % 3]}/f{i}')
            with open(path, 'w') as f:
                f.write(f'text {i}')
            open_files.append(os.open(path, os.O_RDWR))
            if i % 5:
                os.unlink(path)
            else:
                with open(path + '.new', 'w') as f:
                    f.write(f'new {i}')
                os.rename(path + '.new', path)
        true(descriptors(v) <= 1024, f'{descriptors(v)} descriptors')
        true(os.listdir(f'{v.scratch}/work'), 'some have a name in scratch')
        for i, fd in enumerate(open_files):
            equal(os.pread(fd, 100, 0), f'text {i}'.encode(), f'file {i}')
            st = os.fstat(fd)
            equal((st.st_nlink, st.st_size), (0, len(f'text {i}')), f'file {i}: links, size')
        for i, fd in enumerate(open_files):
            os.pwrite(fd, b'TEXT', 0)
            os.ftruncate(fd, 4)
        for i, fd in enumerate(open_files):
            equal(os.pread(fd, 100, 0), b'TEXT', f'file {i}: written')
            equal(os.fstat(fd).st_size, 4, f'file {i}: cut')
            os.close(fd)
        for i in range(0, n, 5):
            equal(v.read(f'{("build", "doc", "include")[i % 3]}/f{i}'), f'new {i}'.encode(),
                  f'file {i}: what replaced it')
        wait_for(lambda: not os.listdir(f'{v.scratch}/work'), 'nothing is left in scratch')
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def what_a_killed_daemon_kept_open_is_cleared():
    with view(mount=False) as v:
        mount_with_limit(v, 64)
        os.mkdir(v.path('build'))
        held = []
        for i in range(200):
            v.write(f'build/f{i}', 'x')
            held.append(os.open(v.path(f'build/f{i}'), os.O_RDONLY))
            os.unlink(v.path(f'build/f{i}'))
        true(os.listdir(f'{v.scratch}/work'), 'names in scratch')
        v.kill()
        for fd in held:
            os.close(fd)
        run(['umount', '-l', v.mnt] if os.geteuid() == 0 else ['fusermount3', '-uz', v.mnt])
        v.mount()
        equal(os.listdir(f'{v.scratch}/work'), [], 'names in scratch after a crash')


def open_maps_hold_no_descriptors():
    with view(prepare=prepare_many, mount=False) as v:
        mount_with_limit(v, 128)
        maps = []
        for i in range(600):
            with open(v.path(f'doc/many/d{i % 10}/f{i}')) as f:
                maps.append(mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ))
        for i, m in enumerate(maps):
            equal(m[:], f'text {i}'.encode(), f'map {i}')
            m.close()


def making_and_removing_leaks_nothing():
    with view() as v:
        before = descriptors(v)
        os.mkdir(v.path('build'))

        def rounds(n):
            for i in range(n):
                os.mkdir(v.path('build/d'))
                v.write('build/d/f', 'x')
                v.write('build/d/g', 'y')
                os.rename(v.path('build/d/f'), v.path('build/d/g'))
                os.link(v.path('build/d/g'), v.path('build/d/h'))
                os.unlink(v.path('build/d/g'))
                os.unlink(v.path('build/d/h'))
                os.rmdir(v.path('build/d'))

        rounds(20)
        nodes = status(v)['cache']['nodes']
        rounds(200)
        wait_for(lambda: status(v)['cache']['open_files'] == 0, 'files are closed')
        # each thread that answers has one for the device
        true(
            descriptors(v) <= before + 2 * status(v)['threads'],
            f'{descriptors(v)} descriptors, at first {before}')
        wait_for(lambda: status(v)['cache']['nodes'] <= nodes + 5, f'nodes back at {nodes}')


def descriptors_for_writing_go_soon():
    with view() as v:
        os.mkdir(v.path('build'))
        for i in range(50):
            v.write(f'build/f{i}', 'x')
        wait_for(lambda: status(v)['cache']['open_files'] == 0,
                 'descriptors for writing are closed')


def walked(v):
    """Read every file; returns how many nodes are known then."""
    subprocess.run(['find', v.mnt, '-type', 'f', '-exec', 'cat', '{}', '+'], check=True,
                   stdout=subprocess.DEVNULL)
    return status(v)['cache']['nodes']


def forgotten_nodes_are_freed():
    if not may_forget():
        raise Skip('it is not ours to let the kernel forget')
    with view(prepare=prepare_many) as v:
        # what other tests make the kernel forget meanwhile is looked at again
        wait_for(lambda: walked(v) > 600, 'nodes after a walk')

        def few():
            forget()
            return status(v)['cache']['nodes'] < 100

        wait_for(few, 'nodes freed')
        equal(v.read('doc/many/d1/f1'), b'text 1', 'still readable')


def long_names_and_deep_paths():
    with view() as v:
        os.mkdir(v.path('build'))
        for place in ('build', 'doc', 'include'):
            name = 'n' * 255
            v.write(f'{place}/{name}', 'x')
            equal(v.read(f'{place}/{name}'), b'x', f'{place}: a name of 255 bytes')
            os.rename(v.path(f'{place}/{name}'), v.path(f'{place}/{"m" * 255}'))
            os.unlink(v.path(f'{place}/{"m" * 255}'))
            try:
                v.write(f'{place}/{"n" * 256}', 'x')
                raise AssertionError('a name of 256 bytes was taken')
            except OSError as e:
                equal(e.errno, 36, f'{place}: errno for a name of 256 bytes')
        equal(os.statvfs(v.path('build')).f_namemax, 255, 'namemax')
        fd = os.open(v.path('build'), os.O_RDONLY | os.O_DIRECTORY)
        for _ in range(600):
            os.mkdir('deeper-and', dir_fd=fd)
            fd, old = os.open('deeper-and', os.O_RDONLY | os.O_DIRECTORY, dir_fd=fd), fd
            os.close(old)
        with open(os.open('f', os.O_CREAT | os.O_WRONLY, dir_fd=fd), 'w') as f:
            f.write('deep')
        with open(os.open('f', os.O_RDONLY, dir_fd=fd)) as f:
            equal(f.read(), 'deep', 'a file 600 directories down')
        os.close(fd)
        subprocess.run(['rm', '-r', v.path('build/deeper-and')], check=True)


main(sixty_four_descriptors_are_enough, thousands_of_open_files_are_unlinked,
     what_a_killed_daemon_kept_open_is_cleared, open_maps_hold_no_descriptors,
     making_and_removing_leaks_nothing, descriptors_for_writing_go_soon, forgotten_nodes_are_freed,
     long_names_and_deep_paths)
