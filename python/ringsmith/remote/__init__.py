# SPDX-License-Identifier: Apache-2.0
"""The client of a server: keys are made and results decrypted here; programs, evaluation keys and ciphertexts travel.

```
Remote, AsyncRemote ── what to say: steps ──> wire ── requests, again where that is safe ──> server
```
"""

from ringsmith.remote.connect import AsyncRemote, Remote, connect, connect_async
from ringsmith.remote.kernel import AsyncRemoteProgram, RemoteJob, RemoteKernel, RemoteProgram
from ringsmith.remote.steps import RemoteError

__all__ = [
    "AsyncRemote",
    "AsyncRemoteProgram",
    "Remote",
    "RemoteError",
    "RemoteJob",
    "RemoteKernel",
    "RemoteProgram",
    "connect",
    "connect_async",
]
