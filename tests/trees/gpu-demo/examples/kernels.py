# SPDX-License-Identifier: MIT
"""A vector addition and a matrix product as any user of Triton writes them.

demo_relu() is for a Triton whose language has the demo backend's symbol `tl.demo_relu`.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn,
                  stride_cm, stride_cn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                  BLOCK_K: tl.constexpr):
    pid = tl.program_id(axis=0)
    blocks_n = tl.cdiv(N, BLOCK_N)
    rows = (pid // blocks_n) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = (pid % blocks_n) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + rows[:, None] * stride_am + inner[None, :] * stride_ak
    b_ptrs = b_ptr + inner[:, None] * stride_bk + cols[None, :] * stride_bn
    sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - k * BLOCK_K
        a = tl.load(a_ptrs, mask=(rows[:, None] < M) & (inner[None, :] < left), other=0.0)
        b = tl.load(b_ptrs, mask=(inner[:, None] < left) & (cols[None, :] < N), other=0.0)
        sums = tl.dot(a, b, sums)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    c_ptrs = c_ptr + rows[:, None] * stride_cm + cols[None, :] * stride_cn
    tl.store(c_ptrs, sums.to(tl.float16), mask=(rows[:, None] < M) & (cols[None, :] < N))


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.demo_relu(x), mask=mask)


def call_add(x, y, out):
    """What starts add_kernel: (kernel, grid, arguments, constants)"""
    n = out.numel()
    return add_kernel, (triton.cdiv(n, 1024), ), (x, y, out, n), {'BLOCK': 1024}


def call_matmul(a, b, c):
    """The same for matmul_kernel"""
    (m, k), n = a.shape, b.shape[1]
    sizes = {'BLOCK_M': 64, 'BLOCK_N': 64, 'BLOCK_K': 32}
    grid = (triton.cdiv(m, 64) * triton.cdiv(n, 64), )
    args = (a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride())
    return matmul_kernel, grid, args, sizes


def call_relu(x, out):
    """The same for relu_kernel"""
    n = out.numel()
    return relu_kernel, (triton.cdiv(n, 1024), ), (x, out, n), {'BLOCK': 1024}


def inputs(rows=500, inner=300, cols=700):
    """Operands of uneven sizes, so that the masks matter"""
    torch.manual_seed(5)
    x = torch.randn(98432, device='cuda')
    y = torch.randn(98432, device='cuda')
    a = torch.randn((rows, inner), device='cuda', dtype=torch.float16)
    b = torch.randn((inner, cols), device='cuda', dtype=torch.float16)
    return x, y, a, b
