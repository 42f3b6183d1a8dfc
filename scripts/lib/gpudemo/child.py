# SPDX-License-Identifier: MIT
"""One process of scripts/gpu-demo: import Triton, compile and run the kernels, say what happened.

    child.py EXAMPLES [--all]

PYTHONPATH decides which Triton that is. The last line is JSON. With --all the kernel that needs the
demo backend's symbol runs as well.
"""
import importlib
import json
import re
import sys
import time


def timed(call, *args, **kw):
    start = time.perf_counter()
    value = call(*args, **kw)
    return value, time.perf_counter() - start


def facts_of_modules():
    """Which Triton this is, and what of it is specialized."""
    triton, tl, core, standard = (importlib.import_module('triton' + name) for name in
                                  ('', '.language', '.language.core', '.language.standard'))
    hooked = core.validate_block_shape
    provider = sys.modules.get(hooked.__module__)
    return {
        'triton': triton.__file__,
        'version': triton.__version__,
        'whole_file': getattr(standard, 'SPECIALIZED_FOR', None),
        'hook_module': hooked.__module__,
        'hook_calls': getattr(provider, 'calls', None),
        'symbol': getattr(getattr(tl, 'demo_relu', None), '__module__', None),
    }


def facts_of_code(text):
    """What the compiler's first intermediate code says of where it came from."""
    files = re.findall(r'loc\("([^"]+\.py)":', text)
    return {
        'remainders': len(re.findall(r'\barith\.remsi\b', text)),
        'standard': sorted({f for f in files if f.endswith('language/standard.py')}),
    }


def run_kernel(torch, call):
    """Compile, launch twice; (compiled kernel, seconds of each)"""
    kernel, grid, args, constants = call
    _, compile_sec = timed(kernel.warmup, *args, grid=grid, **constants)

    def launch():
        compiled = kernel[grid](*args, **constants)
        torch.cuda.synchronize()
        return compiled

    compiled, first_sec = timed(launch)
    _, second_sec = timed(launch)
    return compiled, {'compile': compile_sec, 'first launch': first_sec,
                      'next launch': second_sec}


def error_of(torch, got, want):
    """The largest difference, relative to the largest value."""
    torch.cuda.synchronize()
    scale = want.float().abs().max().item()
    return (got.float() - want.float()).abs().max().item() / max(scale, 1e-30)


def main():
    started = time.perf_counter()
    sys.path.insert(0, sys.argv[1])
    torch, torch_sec = timed(__import__, 'torch')
    _, triton_sec = timed(__import__, 'triton')
    kernels = importlib.import_module('kernels')
    _, driver_sec = timed(torch.cuda.synchronize)

    x, y, a, b = kernels.inputs()
    total, product = torch.empty_like(x), torch.empty((a.shape[0], b.shape[1]), device='cuda',
                                                      dtype=torch.float16)
    _, add_sec = run_kernel(torch, kernels.call_add(x, y, total))
    compiled, matmul_sec = run_kernel(torch, kernels.call_matmul(a, b, product))
    errors = {'vector add': error_of(torch, total, x + y),
              'matmul': error_of(torch, product, torch.matmul(a.float(), b.float()))}
    if '--all' in sys.argv:
        relu = torch.empty_like(x)
        run_kernel(torch, kernels.call_relu(x, relu))
        errors['relu'] = error_of(torch, relu, torch.relu(x))
    print(json.dumps({
        **facts_of_modules(),
        **facts_of_code(compiled.asm['ttir']),
        'gpu': torch.cuda.get_device_name(0),
        'torch': torch.__version__,
        'errors': errors,
        'seconds': {
            'import torch': torch_sec,
            'import triton': triton_sec,
            'start of the GPU': driver_sec,
            **{f'vector add, {k}': v for k, v in add_sec.items()},
            **{f'matmul, {k}': v for k, v in matmul_sec.items()},
            'the whole program': time.perf_counter() - started,
        },
    }))


main()
