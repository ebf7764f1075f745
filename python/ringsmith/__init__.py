# SPDX-License-Identifier: Apache-2.0
"""ringsmith: computations on encrypted data, on a CPU or on a co-processor it generates itself.

import ringsmith as rs

@rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-4)
def square(x):
    return x * x
"""

from __future__ import annotations

from ringsmith._native import __version__
from ringsmith.compiler.params.sets import ParameterSet
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
from ringsmith.frontend.approximation import Approximation, Composition, approximate
from ringsmith.frontend.declare import Encrypted, Output, Plain
from ringsmith.frontend.functions import (
    abs_squared,
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
from ringsmith.frontend.manual import Cipher, PlainVector
from ringsmith.frontend.param_request import ParamRequest
from ringsmith.frontend.refresh import refresh
from ringsmith.frontend.tensor import Tensor
from ringsmith.models.from_onnx import from_onnx
from ringsmith.models.from_scikit_learn import from_sklearn
from ringsmith.models.model import Accuracy, Model
from ringsmith.remote import RemoteError, connect, connect_async
from ringsmith.runtime.calibrate import calibrate
from ringsmith.runtime.client import Client, Encryptor
from ringsmith.runtime.kernel import Kernel, kernel
from ringsmith.runtime.messages import Encryptions, Keys, PublicKey
from ringsmith.runtime.objects import load
from ringsmith.runtime.program import Program
from ringsmith.runtime.rounds import Rounds, RoundsClient, RoundsServer, converse
from ringsmith.runtime.runner import run
from ringsmith.runtime.server import Server
from ringsmith.runtime.together import compile


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)


__all__ = [
    "Accuracy",
    "Approximation",
    "Cipher",
    "Client",
    "Composition",
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
    "Model",
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
    "Rounds",
    "RoundsClient",
    "RoundsServer",
    "SeedError",
    "SeedWarning",
    "Server",
    "Tensor",
    "ToolError",
    "__version__",
    "abs_squared",
    "approximate",
    "calibrate",
    "compile",
    "concatenate",
    "connect",
    "connect_async",
    "converse",
    "encrypt_zero",
    "from_onnx",
    "from_sklearn",
    "kernel",
    "load",
    "mod_drop",
    "polynomial",
    "refresh",
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
