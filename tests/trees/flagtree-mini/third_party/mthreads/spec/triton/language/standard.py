# SPDX-License-Identifier: MIT
ORIGIN = "mthreads"

def squeeze(x):
    return ("squeeze", x)


def unsqueeze(x):
    return ("unsqueeze", x)
