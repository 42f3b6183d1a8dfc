# SPDX-License-Identifier: MIT
"""The checkout that is measured: laid out as FlagTree is, the same for the same number of files.

A tenth of the files are Python modules that can be imported, a third headers and sources; each
fortieth of these has a specialization of the backend. The rest is what a checkout has besides.
"""
import os
import random

BACKEND = 'bench'
SPEC = f'third_party/{BACKEND}/spec/triton'
SPEC_CPP = f'third_party/{BACKEND}/spec_cpp'
TOPS = ('python', 'include', 'lib', 'test', 'third_party')
PACKAGES = ('backends', 'compiler', 'language', 'runtime', 'tools')
UNITS, ARCHIVES, HEADERS = 10, 5, 40  # UNITS: unless another number is asked for
SPECIALIZED = 40  # one file in so many
PER_DIR = 11
OLD = 1_600_000_000  # times that no tool takes for just now

GITIGNORE = '/build*/\n/out*/\n/big.bin\n__pycache__/\n*.pyc\n'


def directories(rand, top, count):
    """@count directories below @top, some of them in each other."""
    made = [top]
    while len(made) < count:
        parent = made[rand.randrange(max(0, len(made) - 20), len(made))]
        if parent.count('/') < 7:
            made.append(f'{parent}/{rand.choice(WORDS)}{len(made)}')
        else:
            made.append(f'{top}/{rand.choice(WORDS)}{len(made)}')
    return made


WORDS = ('Analysis', 'Conversion', 'Dialect', 'Transforms', 'Target', 'Tools', 'Utility', 'IR')


def text(rand, comment, lines):
    return ''.join(f'{comment} {rand.choice(WORDS)} {rand.getrandbits(48):x} of {i}\n'
                   for i in range(lines))


def module(rand, number):
    """A Python module that does what modules do when they are imported."""
    functions = ''.join(f'def f{i}(a, b={i}):\n    """{rand.getrandbits(64):x}"""\n'
                        f'    return a + b\n\n\n' for i in range(rand.randrange(4, 30)))
    return f'import os\nimport sys\n\nNUMBER = {number}\n\n\nclass C{number}:\n    x = 1\n\n\n' \
        + functions


def header(number):
    types = ''.join(f'struct t{number}_{i} {{ long a[{i + 1}]; struct t{number}_{i} *n; }};\n'
                    f'static inline long g{number}_{i}(const struct t{number}_{i} *t)\n'
                    f'{{\n\tlong s = 0;\n\tfor (int k = 0; k < {i + 1}; k++)\n\t\ts += t->a[k];\n'
                    f'\treturn s;\n}}\n' for i in range(25))
    return f'#ifndef H{number}\n#define H{number}\n{types}#endif\n'


def unit(number):
    includes = ''.join(f'#include "bench/h{i}.h"\n' for i in range(HEADERS))
    calls = ''.join(f'long u{number}_{i}(struct t{i % HEADERS}_{i % 25} *t, long n)\n{{\n'
                    f'\tlong s = n;\n\tfor (long k = 0; k < n; k++)\n'
                    f'\t\ts += g{i % HEADERS}_{i % 25}(t) * k % (s | 1);\n\treturn s;\n}}\n'
                    for i in range(120))
    return f'#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n{includes}{calls}'


def c_project(units):
    """The project that is built: relative path -> content."""
    files = {f'include/bench/h{i}.h': header(i) for i in range(HEADERS)}
    files.update({f'lib/bench/unit{i}.c': unit(i) for i in range(units)})
    files['lib/bench/main.c'] = 'int main(void)\n{\n\treturn 0;\n}\n'
    return files


class Tree:
    """Writes the checkout, and remembers what the workloads want to know of it."""

    def __init__(self, root, files, units=UNITS, empty=False):
        self.root, self.wanted, self.units, self.empty = root, files, units, empty
        self.rand = random.Random(files)
        self.made, self.dirs, self.modules = 0, set(), []

    def write(self, rel, content):
        path = os.path.join(self.root, rel)
        parent = os.path.dirname(path)
        if parent not in self.dirs:
            os.makedirs(parent, exist_ok=True)
            self.dirs.add(parent)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        try:
            if content and not self.empty:
                os.write(fd, content.encode())
            os.utime(fd, (OLD, OLD + self.made % 1000))
        finally:
            os.close(fd)
        self.made += 1

    def module(self, number):
        return '' if self.empty else module(self.rand, number)

    def text(self, comment, least, most):
        return '' if self.empty else text(self.rand, comment, self.rand.randrange(least, most))

    def python(self, count):
        for package in PACKAGES:
            made = directories(self.rand, f'python/triton/{package}', max(2, count // 5 // PER_DIR))
            for where in made:
                self.write(f'{where}/__init__.py', '')
            for i in range(count // 5 - len(made)):
                where = made[i % len(made)]
                self.write(f'{where}/m{i}.py', self.module(i))
                self.modules.append(f'{where}/m{i}'[len('python/'):].replace('/', '.'))
                if i % SPECIALIZED == 1:
                    self.write(f'{SPEC}/{where[len("python/triton/"):]}/m{i}.py',
                               self.module(i) + '\nSPECIAL = 1\n')
        self.write('python/triton/__init__.py', '')
        self.write(f'{SPEC}/__init__.py', '')

    def sources(self, top, suffix, count):
        made = directories(self.rand, f'{top}/triton', max(2, count // PER_DIR))
        for i in range(count):
            name = f'{made[i % len(made)]}/{WORDS[i % len(WORDS)]}{i}{suffix}'
            content = self.text('//', 5, 250)
            self.write(name, content)
            if i % SPECIALIZED == 1:
                self.write(f'{SPEC_CPP}/{name}', content + '// special\n')

    def rest(self, top, count):
        made = directories(self.rand, top, max(1, count // PER_DIR))
        for i in range(count):
            self.write(f'{made[i % len(made)]}/{WORDS[i % len(WORDS)]}{i}.mlir',
                       self.text('//', 3, 120))

    def generate(self):
        self.write('.gitignore', GITIGNORE)
        project = c_project(self.units)
        for rel, content in project.items():
            self.write(rel, content)
        for rel in f'{SPEC_CPP}/include/bench/h1.h', f'{SPEC_CPP}/lib/bench/unit0.c':
            self.write(rel, project[rel[len(SPEC_CPP) + 1:]] + '/* special */\n')
        self.write(f'third_party/{BACKEND}/backend/driver.py', 'NAME = "bench"\n')
        self.python(max(40, self.wanted // 8))
        self.sources('include', '.h', self.wanted // 8)
        self.sources('lib', '.cpp', self.wanted // 5)
        left = max(20, self.wanted - self.made)
        self.rest('test', left // 2)
        self.rest('third_party/other/lib', left // 2)
        return self
