# SPDX-License-Identifier: MIT
"""scripts/gpu-demo from packing to result, on stand-ins for PyTorch and Triton.

The stand-in Triton has the real one's modules as far as the demo touches them; a "kernel" is not
compiled, but its intermediate code tells which version of language/standard.py it was made with.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, 'lib'))

from hooktree import pythons
from mounted import TempDir, binary, clean_env, equal, main, make_tree, need_fuse, run, true

SCRIPT = os.path.join(HERE, '..', '..', 'scripts', 'gpu-demo')
TORCH = '''
import types
__version__ = '2'
float16 = 'fp16'
class Tensor:
    def __init__(self, shape, value=0.0):
        self.shape = shape if isinstance(shape, tuple) else (shape, )
        self.value = value
    def numel(self):
        return self.shape[0]
    def stride(self):
        return (1, 1)
    def float(self):
        return self
    max = abs = float
    def item(self):
        return abs(self.value)
    def __add__(self, other):
        return Tensor(self.shape, self.value + other.value)
    def __sub__(self, other):
        return Tensor(self.shape, self.value - other.value)
def randn(shape, **kw):
    return Tensor(shape, 1.0)
def empty(shape, **kw):
    return Tensor(shape, -1.0)
def empty_like(t):
    return empty(t.shape)
def matmul(a, b):
    return Tensor(a.shape, a.value * b.value)
def relu(t):
    return Tensor(t.shape, max(t.value, 0.0))
def manual_seed(n):
    pass
cuda = types.SimpleNamespace(synchronize=lambda: None, get_device_name=lambda n: 'a stand-in')
'''
TRITON = {
    '__init__.py': '__version__ = "3"\n'
                   'from .runtime.jit import jit\n'
                   'from . import language\n'
                   'def cdiv(a, b): return -(-a // b)\n',
    '_utils.py': 'def validate_block_shape(shape): return 1\n',
    'runtime/__init__.py': 'from .jit import jit\n',
    'runtime/jit.py': '''
import types
class jit:
    def __init__(self, fn):
        self.fn, self.__module__, self.__name__ = fn, fn.__module__, fn.__name__
    def __call__(self, *args):
        return self.fn(*args)
    def __getitem__(self, grid):
        return lambda *args, **kw: self.warmup(*args, launch=True, **kw)
    def warmup(self, *args, launch=False, **constants):
        import triton.language as tl
        tl.core.validate_block_shape([16, 16])
        if launch:
            LAUNCH[self.__name__](tl, *args)
        file = tl.standard.__file__
        line = next(x for x in open(file) if 'return' in x)
        return types.SimpleNamespace(asm={
            'ttir': 'arith.remsi ' * line.count('%') + f'loc("{file}":1:1)'})
def add_kernel(tl, x, y, out, *rest):
    out.value = x.value + y.value
def matmul_kernel(tl, a, b, out, *rest):
    out.value = a.value * b.value
def relu_kernel(tl, x, out, n):
    out.value = tl.demo_relu(x.value)
LAUNCH = {f.__name__: f for f in (add_kernel, matmul_kernel, relu_kernel)}
''',
    'language/__init__.py': 'from . import extra\nfrom . import core, standard\n'
                            'from .core import constexpr\n',
    'language/core.py': 'from .._utils import validate_block_shape\n'
                        'class constexpr: pass\n'
                        'def where(c, a, b): return a if c else b\n',
    'language/standard.py': 'def cdiv(x, div):\n    return (x + (div - 1)) // div\n',
    'language/extra/__init__.py': '',
}


def site(directory, **changed):
    """A directory to import the stand-ins from."""
    files = {'triton/' + name: text for name, text in {**TRITON, **changed}.items()}
    make_tree({'torch.py': TORCH, **files}, directory)
    return directory


def demo(exe, *words, site=None, ok=(0, )):
    env = clean_env(PYTHONDONTWRITEBYTECODE='1', **({'PYTHONPATH': site} if site else {}))
    return run([exe, SCRIPT, *words], cwd='/', env=env, ok=ok)


def build():
    """The build directory of the program under test."""
    return os.path.dirname(os.path.dirname(os.path.dirname(binary())))


def packed(tmp):
    where = os.path.join(tmp, 'packed')
    demo(sys.executable, '--pack', where, '--build', build())
    return where


def it_runs_from_what_was_packed():
    need_fuse()
    with TempDir() as tmp:
        where = packed(tmp)
        for exe in pythons()[:2]:
            work = os.path.join(tmp, 'work')
            out = demo(exe, '--from', where, '--runs', '2', '--work', work, '--json',
                       os.path.join(tmp, 'told.json'),
                       site=site(os.path.join(tmp, 'site'))).stdout
            equal(out.count('FAIL'), 0, f'{exe}: failed checks in\n{out}')
            equal(out.count('   ok  '), 15, f'{exe}: checks that hold in\n{out}')
            true('ran on a stand-in from inside a specfs' in out, f'the result in {out!r}')
            equal(os.listdir(work), [], 'what is left')
            true(os.path.getsize(os.path.join(tmp, 'told.json')) > 100, 'numbers were written')


def what_is_not_specialized_fails():
    need_fuse()
    # a trunk that looks the function up otherwise: nothing is there to bind
    own = 'def validate_block_shape(shape): return 1\n'
    core = own + TRITON['language/core.py'].split('\n', 1)[1]
    with TempDir() as tmp:
        p = demo(sys.executable, '--runs', '1', '--from', packed(tmp), '--work', tmp, ok=(1, ),
                 site=site(os.path.join(tmp, 'site'), **{'language/core.py': core}))
        equal(p.stdout.count('FAIL'), 2, f'failed checks in\n{p.stdout}')
        true('Not everything is as it should be' in p.stdout, 'the result says so')


def what_cannot_run_is_told():
    with TempDir() as tmp:
        open(os.path.join(tmp, 'file'), 'w').close()
        for words, has in ((['--from', tmp], 'has no bin/specfs'),
                           (['--pack', tmp, '--build', build()], 'is not empty'),
                           (['--pack', tmp + '/p', '--build', tmp], 'expected a build')):
            p = demo(sys.executable, *words, ok=(2, ))
            true(has in p.stderr and p.stderr.count('\n') == 1, f'{words}: {p.stderr!r}')
        if os.access('/dev/fuse', os.R_OK | os.W_OK):
            where = packed(tmp)
            broken = site(os.path.join(tmp, 'site'), **{'language/standard.py': 'x = 1\n'})
            p = demo(sys.executable, '--from', where, '--work', tmp, ok=(2, ), site=broken)
            true('standard.py has no "def cdiv("' in p.stderr, p.stderr)


main(it_runs_from_what_was_packed, what_is_not_specialized_fails, what_cannot_run_is_told)
