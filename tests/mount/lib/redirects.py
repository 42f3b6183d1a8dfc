# SPDX-License-Identifier: MIT
"""What tests of redirected directories ask: which there are, and what the daemon was asked."""
import json
import os

from checks import Skip, read_file

# what writing through the mount would send
CHANGES = ('create', 'write', 'mknod', 'mkdir', 'symlink', 'link', 'unlink', 'rmdir', 'rename',
           'setattr')


def need_bind():
    if os.geteuid() != 0:
        raise Skip('bind mounts are for root')


def status(v):
    return json.loads(read_file(v.path('.specfs/status')))


def changes(v):
    """How many requests that change something the daemon has got."""
    return sum(status(v)['requests'].get(kind, 0) for kind in CHANGES)


def redirects(v):
    """{directory: 'bind', 'symlink', 'lost' or 'no'}"""
    return {o['dir']: o['state'] for o in json.loads(v.cli('redirect', 'list', '--json',
                                                           v.mnt).stdout)}


def is_out(v, rel):
    """Is the directory on another file system than the view?"""
    return os.stat(v.path(rel)).st_dev != os.stat(v.mnt).st_dev


def mounts_below(path):
    """Mountpoints at or below @path, from the mount table."""
    with open('/proc/self/mountinfo', encoding='utf-8', errors='surrogateescape') as f:
        at = [line.split(' ')[4].replace('\\040', ' ') for line in f]
    return [a for a in at if a == path or a.startswith(path + '/')]
