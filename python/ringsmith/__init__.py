# SPDX-License-Identifier: Apache-2.0
"""ringsmith: computations on encrypted data, on a CPU or on a co-processor it generates itself.

import ringsmith as rs

@rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-4)
def square(x):
    return x * x
"""

from __future__ import annotations

from ringsmith._native import __version__
from ringsmith.errors import (
    DeviceError,
    FormatError,
    InputError,
    KernelError,
    KeyMismatchError,
    ParameterError,
    RingsmithError,
    SeedError,
    SeedWarning,
    ToolError,
)
from ringsmith.kernel.declare import Encrypted, Output, Plain
from ringsmith.kernel.functions import (
    concatenate,
    encrypt_zero,
    mod_drop,
    polynomial,
    relinearize,
    rescale,
    rotate,
    square,
    stack,
    sum,
    swap_rows,
    within,
)
from ringsmith.kernel.kernel import Kernel, kernel
from ringsmith.kernel.manual import Cipher, PlainVector
from ringsmith.kernel.tensor import Tensor
from ringsmith.params.sets import ParameterSet, ParamRequest
from ringsmith.remote import RemoteError, connect, connect_async
from ringsmith.run.client import Client, Encryptor
from ringsmith.run.messages import Encryptions, Keys, PublicKey
from ringsmith.run.objects import load
from ringsmith.run.program import Program
from ringsmith.run.runner import run
from ringsmith.run.server import Server

__all__ = [
    "Cipher",
    "Client",
    "DeviceError",
    "Encrypted",
    "Encryptions",
    "Encryptor",
    "FormatError",
    "InputError",
    "Kernel",
    "KernelError",
    "KeyMismatchError",
    "Keys",
    "Output",
    "ParamRequest",
    "ParameterError",
    "ParameterSet",
    "Plain",
    "PlainVector",
    "Program",
    "PublicKey",
    "RemoteError",
    "RingsmithError",
    "SeedError",
    "SeedWarning",
    "Server",
    "Tensor",
    "ToolError",
    "__version__",
    "concatenate",
    "connect",
    "connect_async",
    "encrypt_zero",
    "kernel",
    "load",
    "mod_drop",
    "polynomial",
    "relinearize",
    "rescale",
    "rotate",
    "run",
    "square",
    "stack",
    "sum",
    "swap_rows",
    "within",
]
