# SPDX-License-Identifier: Apache-2.0
# The public names and where each is defined: `__init__.py` reads them here when a program first asks for one.
from ringsmith._native import __version__ as __version__
from ringsmith.compiler.params.sets import ParameterSet as ParameterSet
from ringsmith.errors import (
    DeviceError as DeviceError,
)
from ringsmith.errors import (
    FormatError as FormatError,
)
from ringsmith.errors import (
    InputError as InputError,
)
from ringsmith.errors import (
    KernelError as KernelError,
)
from ringsmith.errors import (
    KeyMismatchError as KeyMismatchError,
)
from ringsmith.errors import (
    ParameterError as ParameterError,
)
from ringsmith.errors import (
    RingsmithError as RingsmithError,
)
from ringsmith.errors import (
    SeedError as SeedError,
)
from ringsmith.errors import (
    SeedWarning as SeedWarning,
)
from ringsmith.errors import (
    ToolError as ToolError,
)
from ringsmith.frontend.approximation import (
    Approximation as Approximation,
)
from ringsmith.frontend.approximation import (
    Composition as Composition,
)
from ringsmith.frontend.approximation import (
    approximate as approximate,
)
from ringsmith.frontend.declare import (
    Encrypted as Encrypted,
)
from ringsmith.frontend.declare import (
    Output as Output,
)
from ringsmith.frontend.declare import (
    Plain as Plain,
)
from ringsmith.frontend.functions import (
    abs_squared as abs_squared,
)
from ringsmith.frontend.functions import (
    bootstrap as bootstrap,
)
from ringsmith.frontend.functions import (
    concatenate as concatenate,
)
from ringsmith.frontend.functions import (
    encrypt_zero as encrypt_zero,
)
from ringsmith.frontend.functions import (
    mod_drop as mod_drop,
)
from ringsmith.frontend.functions import (
    polynomial as polynomial,
)
from ringsmith.frontend.functions import (
    relinearize as relinearize,
)
from ringsmith.frontend.functions import (
    rescale as rescale,
)
from ringsmith.frontend.functions import (
    rotate as rotate,
)
from ringsmith.frontend.functions import (
    square as square,
)
from ringsmith.frontend.functions import (
    stack as stack,
)
from ringsmith.frontend.functions import (
    sum as sum,
)
from ringsmith.frontend.functions import (
    swap_rows as swap_rows,
)
from ringsmith.frontend.functions import (
    within as within,
)
from ringsmith.frontend.manual import (
    Cipher as Cipher,
)
from ringsmith.frontend.manual import (
    PlainVector as PlainVector,
)
from ringsmith.frontend.param_request import (
    BootstrapGoal as BootstrapGoal,
)
from ringsmith.frontend.param_request import (
    Bootstrapping as Bootstrapping,
)
from ringsmith.frontend.param_request import (
    ParamRequest as ParamRequest,
)
from ringsmith.frontend.refresh import refresh as refresh
from ringsmith.frontend.tensor import Tensor as Tensor
from ringsmith.heir.program import from_heir as from_heir
from ringsmith.models.from_onnx import from_onnx as from_onnx
from ringsmith.models.from_scikit_learn import from_sklearn as from_sklearn
from ringsmith.models.model import (
    Accuracy as Accuracy,
)
from ringsmith.models.model import (
    Model as Model,
)
from ringsmith.remote import (
    RemoteError as RemoteError,
)
from ringsmith.remote import (
    connect as connect,
)
from ringsmith.remote import (
    connect_async as connect_async,
)
from ringsmith.runtime.calibrate import calibrate as calibrate
from ringsmith.runtime.client import (
    Client as Client,
)
from ringsmith.runtime.client import (
    Encryptor as Encryptor,
)
from ringsmith.runtime.kernel import (
    Kernel as Kernel,
)
from ringsmith.runtime.kernel import (
    kernel as kernel,
)
from ringsmith.runtime.messages import (
    Encryptions as Encryptions,
)
from ringsmith.runtime.messages import (
    Keys as Keys,
)
from ringsmith.runtime.messages import (
    PublicKey as PublicKey,
)
from ringsmith.runtime.objects import load as load
from ringsmith.runtime.program import Program as Program
from ringsmith.runtime.rounds import (
    Rounds as Rounds,
)
from ringsmith.runtime.rounds import (
    RoundsClient as RoundsClient,
)
from ringsmith.runtime.rounds import (
    RoundsServer as RoundsServer,
)
from ringsmith.runtime.rounds import (
    converse as converse,
)
from ringsmith.runtime.runner import run as run
from ringsmith.runtime.server import Server as Server
from ringsmith.runtime.together import compile as compile

__all__: list[str]
