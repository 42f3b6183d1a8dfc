# SPDX-License-Identifier: MIT
"""What the mount itself does is no news: a build in it causes next to no invalidations, and what is
cached is answered without a request."""
import json
import os
import shutil

from mounted import View, equal, main, need_program, read_file, run, true, wait_for


def status(v):
    return json.loads(v.read('.specfs/status'))


def requests(v):
    return {k: n for k, n in status(v)['requests'].items() if k not in ('forget', )}


def walk(top):
    for at, _dirs, files in os.walk(top):
        for f in files:
            if os.path.isfile(os.path.join(at, f)):
                read_file(os.path.join(at, f))


def asked_in_a_walk(v):
    before = requests(v)
    walk(v.path('python'))
    walk(v.path('include'))
    for rel in ('python/nothing', 'include/no.h'):
        os.path.exists(v.path(rel))
        os.path.exists(v.path(rel))
    after = requests(v)
    asked = {k: after[k] - before.get(k, 0) for k in after}
    # Python asks every file whether it is a terminal, and the kernel does not remember "no"
    asked.pop('ioctl', None)
    few = 8  # for reading .specfs/status itself
    return {k: n for k, n in asked.items() if n > few}


def a_warm_walk_asks_for_nothing():
    with View('flagtree-mini', 'mthreads') as v:
        walk(v.mnt)
        # each read makes the kernel ask once more for the times: warm is what was walked twice,
        # or once more where memory was short
        wait_for(lambda: not asked_in_a_walk(v), 'a walk without requests')


def a_build_does_not_invalidate():
    need_program('cmake', 'ninja', 'c++')
    with View('flagtree-mini', 'enflame') as v:
        run(['cmake', '-G', 'Ninja', '-S', v.mnt, '-B', v.path('build')], limit_sec=200)
        run(['ninja', '-C', v.path('build')], limit_sec=200)
        run(['ninja', '-C', v.path('build')], limit_sec=200)
        watch = status(v)['cache']['watch']
        told = watch['entries'] + watch['attributes'] + watch['pages']
        true(told <= 20, f'{told} invalidations in a build: {watch}')


def copying_and_removing_a_tree_does_not_invalidate():
    with View('flagtree-mini', 'mthreads') as v:
        os.mkdir(v.path('build'))
        shutil.copytree(v.path('python'), v.path('build/python'), symlinks=True)
        walk(v.path('build'))
        shutil.rmtree(v.path('build/python'))
        watch = status(v)['cache']['watch']
        equal(watch['entries'] + watch['attributes'] + watch['pages'], 0, f'{watch}')


main(a_warm_walk_asks_for_nothing, a_build_does_not_invalidate,
     copying_and_removing_a_tree_does_not_invalidate)
