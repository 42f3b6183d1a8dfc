# SPDX-License-Identifier: MIT
"""spec_path, spec_call and spec_func of a FlagTree trunk answer in the mount as natively."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from mounted import View, equal, main, true
from seedtree import (HOOKED, PLAIN, each_view, expected, found_specialized, probe,
                      specialized_modules)


def check(v):
    equal(probe(v.mnt)['hooks'], expected.HOOKS[v.backend], f'{v.backend}: answers of the hooks')


def every_hook_gives_what_it_gives_natively():
    each_view(HOOKED, check)


def a_trunk_without_hooks_keeps_its_functions():
    with View(PLAIN, 'mthreads') as v:
        answers = probe(v.mnt)['hooks']
        equal(answers['run_parser'], expected.HOOKS['']['run_parser'], 'run_parser')
        equal(answers['nvsmi'], expected.HOOKS['']['nvsmi'], 'nvsmi')


def providers_are_reached_through_the_graft():
    with View(HOOKED, 'mthreads') as v:
        modules = probe(v.mnt)['modules']
        for name in ('', '._utils', '._filecheck', '.language', '.compiler'):
            module = 'triton.spec.mthreads.triton' + name
            true(module in modules, f'{module} was imported')
            true(modules[module].startswith(v.path('python/triton/spec/mthreads/')),
                 f'{module} lies in the mount')


def the_mountpoints_name_does_not_matter():
    for at in ('triton/mnt', 'triton-work/x/triton', 'a/triton.d/mnt'):
        with View(HOOKED, 'mthreads', at=at) as v:
            found = probe(v.mnt)
            equal(found['failed'], {}, f'{v.mnt}: modules that could not be imported')
            equal(found['hooks'], expected.HOOKS['mthreads'], f'{v.mnt}: answers of the hooks')
            equal(found_specialized(found, HOOKED, 'mthreads'),
                  specialized_modules(HOOKED, 'mthreads'), f'{v.mnt}: specialized modules')


main(every_hook_gives_what_it_gives_natively, a_trunk_without_hooks_keeps_its_functions,
     providers_are_reached_through_the_graft, the_mountpoints_name_does_not_matter)
