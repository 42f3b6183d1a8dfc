# SPDX-License-Identifier: MIT
"""Put specfs and what it needs into one directory, for a machine without a network."""
import glob
import os
import re
import shutil
import subprocess

MAX_BYTES = 60 << 20
PARTS = ('bin/specfs', 'lib', 'profiles', 'hooks')

# The other machine's own: glibc, of at least the version that the program was built with.
GLIBC = re.compile(r'^(?:linux-vdso|ld-linux.*|lib(?:c|m|dl|rt|util|pthread|resolv|anl|nsl|mvec))'
                   r'\.so\b')


class PackError(Exception):
    """What is missing, and what was expected."""


def newest_build(tree):
    """The build directory below @tree whose program is the newest."""
    found = [p for pattern in ('build*', 'build*/*')
             for p in glob.glob(os.path.join(tree, pattern, 'fs/cli/specfs'))]
    if not found:
        raise PackError(f'no build/*/fs/cli/specfs in {tree}, expected a build: run scripts/test, '
                        'or name one with --build DIR')
    newest = max(found, key=os.path.getmtime)
    return os.path.dirname(os.path.dirname(os.path.dirname(newest)))


def libraries(program):
    """{name: path} of the shared libraries that @program needs, glibc's left out."""
    p = subprocess.run(['ldd', program], capture_output=True, text=True)
    if p.returncode:
        raise PackError(f'ldd {program}: {p.stderr.strip()}')
    found = {}
    for line in p.stdout.splitlines():
        name, _, rest = line.strip().partition(' => ')
        if GLIBC.match(os.path.basename(name.split(' ')[0])):
            continue
        path = rest.split(' (')[0]
        if not os.path.isabs(path):
            raise PackError(f'{program} needs {name}, which was not found here')
        found[name] = os.path.realpath(path)
    return found


def one_of(pattern):
    found = sorted(glob.glob(pattern))
    if len(found) != 1:
        raise PackError(f'{pattern}: {len(found)} files, expected 1')
    return found[0]


def copy(source, dest, what):
    os.makedirs(os.path.dirname(dest), exist_ok=True)
    shutil.copy(source, dest)
    print(f'  {what:11} {os.path.getsize(dest) / 1024:8.0f} KiB  {source}')
    return os.path.getsize(dest)


def pack(tree, build, dest):
    """Copy the parts of @build to @dest, which must not hold anything else."""
    program = os.path.join(build, 'fs/cli/specfs')
    if not os.path.isfile(program):
        raise PackError(f'{program} does not exist, expected a build directory')
    if os.path.isdir(dest) and os.listdir(dest):
        raise PackError(f'{dest} is not empty, expected a new directory')
    total = copy(program, os.path.join(dest, 'bin/specfs'), 'program')
    for name, path in sorted(libraries(program).items()):
        total += copy(path, os.path.join(dest, 'lib', name), 'library')
    extension = one_of(os.path.join(build, 'fs/python/_flagtree_spec.*.so'))
    if libraries(extension):
        raise PackError(f'{extension} needs {", ".join(libraries(extension))}, expected glibc only')
    total += copy(extension, os.path.join(dest, 'hooks', os.path.basename(extension)), 'extension')
    for path in sorted(glob.glob(os.path.join(tree, 'config/*.ini'))):
        total += copy(path, os.path.join(dest, 'profiles', os.path.basename(path)), 'profile')
    print(f'  {total / (1 << 20):.1f} MiB in {dest}')
    if total > MAX_BYTES:
        raise PackError(f'{dest} has {total >> 20} MiB, expected at most {MAX_BYTES >> 20}')


def unpacked(directory):
    """(program, environment) to run what pack() put into @directory."""
    for part in PARTS:
        if not os.path.exists(os.path.join(directory, part)):
            raise PackError(f'{directory} has no {part}, expected what --pack makes')
    directory = os.path.abspath(directory)
    program = os.path.join(directory, 'bin/specfs')
    if not os.access(program, os.X_OK):
        os.chmod(program, 0o755)  # the way here may have lost it
    return program, {
        'LD_LIBRARY_PATH': os.path.join(directory, 'lib'),
        'SPECFS_PROFILE_DIR': os.path.join(directory, 'profiles'),
        'SPECFS_HOOKS_DIR': os.path.join(directory, 'hooks'),
    }
