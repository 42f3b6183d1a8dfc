# SPDX-License-Identifier: MIT
"""Every path of a mounted view is what the table says: name, type, link text and bytes.

Files that a backend brings are regular files, links of the view are relative, other backends' links
are not there, and no name is missing or too many.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from mounted import View, main
from seedtree import HOOKED, OLDER, PLAIN, check_view, each_view, entries, view_table


def check(v):
    check_view(v, view_table(v.root, v.tree, v.backend))


def seed_layout_with_a_plain_trunk():
    each_view(PLAIN, check)


def seed_layout_with_flagtrees_trunk():
    each_view(HOOKED, check)


def older_layout():
    each_view(OLDER, check)


def without_a_backend_it_is_the_checkout():
    with View(PLAIN) as v:
        check_view(v, entries(v.root))


main(seed_layout_with_a_plain_trunk, seed_layout_with_flagtrees_trunk, older_layout,
     without_a_backend_it_is_the_checkout)
