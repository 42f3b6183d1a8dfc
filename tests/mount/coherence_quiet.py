# SPDX-License-Identifier: MIT
"""What the mount itself does is no news: a build in it causes next to no invalidations, and what is
cached is answered without a request."""
import json
import os
import shutil

from children import undisturbed
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
        with undisturbed():
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


def told(v):
    watch = v.status()['cache']['watch']
    return {what: watch[what] for what in ('entries', 'pages', 'attributes')}


def use(path):
    """Ten changes and looks at a file of our own, which is gone then."""
    with open(path, 'w') as f:
        f.write('made\n')
    with open(path, 'a') as f:
        f.write('more\n')
    equal(read_file(path), b'made\nmore\n', path)
    os.rename(path, path + '.new')
    os.chmod(path + '.new', 0o600)
    os.truncate(path + '.new', 5)
    os.stat(path + '.new')
    true(not os.path.exists(path), f'{path} was renamed')
    os.replace(path + '.new', path)
    os.unlink(path)


def five_thousand_own_operations_do_not_invalidate():
    """Where scratch, trunk and a backend get what is made. A directory of two parts has the later
    one's time, and so is asked for anew; no name and no page is."""
    for place, attributes in (('build', 5), ('docs', 5), ('python/triton/language', 3000)):
        with View('flagtree-mini', 'mthreads', opts=['-o', 'redirect=none']) as v:
            os.makedirs(v.path(place), exist_ok=True)
            walk(v.path(place))
            before = told(v)
            for i in range(500 if place == 'docs' else 150):
                use(os.path.join(v.path(place), f'own{i}.py'))
            v.cli('sync', v.mnt)
            news = {what: n - before[what] for what, n in told(v).items()}
            equal(news['entries'], 0, f'names in {place}')
            # who asks for a size in the moment of a write may meet one that was not told yet
            true(news['pages'] <= 5, f'{news} in {place}')
            true(news['attributes'] <= attributes, f'{news} in {place}')


main(a_warm_walk_asks_for_nothing, a_build_does_not_invalidate,
     copying_and_removing_a_tree_does_not_invalidate,
     five_thousand_own_operations_do_not_invalidate)
