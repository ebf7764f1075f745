# SPDX-License-Identifier: Apache-2.0
"""Client-aided programs on a server: each round is a job there, the client's part runs here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ringsmith.remote.steps import Progress
from ringsmith.runtime.messages import Encryptions
from ringsmith.runtime.rounds import Rounds, RoundsClient, converse, used

Array = NDArray[Any]


class Place(Protocol):
    """A program on a server: `RemoteProgram`, or an awaited `AsyncRemoteProgram`."""

    def evaluate(self, sent: Encryptions, plain: Mapping[str, Array], progress: Progress | None = None) -> Any:
        """Evaluate there what is encrypted already."""


class RemoteRounds:
    """A client-aided program on a server, with the keys of one client, uploaded once."""

    def __init__(self, rounds: Rounds, client: RoundsClient, places: Mapping[bytes, Place]) -> None:
        """Use the programs on the server by identity."""
        self._rounds, self.client, self._places = rounds, client, places

    def run(self, arguments: Mapping[str, Any], progress: Progress | None = None) -> Any:
        """Lead all rounds: encrypt, evaluate there, decrypt, apply functions, encrypt again."""
        encrypted, plain = self._split(arguments)
        talk = self.client.conversation(encrypted, self._rounds)
        return converse(talk, lambda sent: self._asked(sent, plain, progress))

    def _split(self, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return the encrypted arguments, and the plain ones as checked arrays."""
        signature = self._rounds.signature
        plain = {name: arguments[name] for name in signature.names(encrypted=False) if name in arguments}
        encrypted = {name: value for name, value in arguments.items() if name not in plain}
        return encrypted, signature.check(plain, encrypted=False)

    def _asked(self, sent: Encryptions, plain: Mapping[str, Array], progress: Progress | None) -> Any:
        digest = sent.label.program.digest
        own = used(self.client.clients[digest].program.signature, plain)
        return self._places[digest].evaluate(sent, own, progress)


class AsyncRemoteRounds(RemoteRounds):
    """The same on asyncio; what the client does runs in threads."""

    async def run(self, arguments: Mapping[str, Any], progress: Progress | None = None) -> Array:
        """Lead all rounds."""
        import asyncio

        encrypted, plain = self._split(arguments)
        talk = self.client.conversation(encrypted, self._rounds)
        result: Encryptions | None = None
        while True:
            # A StopIteration does not leave a thread: the end is told as a value.
            sent, answer = await asyncio.to_thread(_next, talk, result)
            if sent is None:
                return np.asarray(answer)
            result = await self._asked(sent, plain, progress)


def _next(talk: Any, result: Encryptions | None) -> tuple[Encryptions | None, Any]:
    """Return what is sent next, or no message and the answer."""
    try:
        return talk.send(result), None
    except StopIteration as end:
        return None, end.value
