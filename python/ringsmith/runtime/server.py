# SPDX-License-Identifier: Apache-2.0
"""The side that evaluates: it has a program and evaluation keys, and never sees a secret key."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ringsmith import _native
from ringsmith.errors import InputError, KeyMismatchError
from ringsmith.runtime.identity import Role, check_count, check_distinct, checksums, expected_arguments, received
from ringsmith.runtime.joined import check_whole, one_of, part_of
from ringsmith.runtime.messages import Encryptions, Keys
from ringsmith.runtime.program_data import ProgramData
from ringsmith.runtime.randomness import Seed, derive_seed
from ringsmith.runtime.scheme import check_owner
from ringsmith.runtime.state import StateFile
from ringsmith.scalars import count
from ringsmith.shown import Shown

#: Told how many steps are done, of how many.
Progress = Callable[[int, int], None]
#: A result as bytes of a message, and the seconds each kind of operation took.
Answer = tuple[bytes, Mapping[str, float]]


@dataclass(frozen=True)
class Execution:
    """An evaluated result and the seconds each kind of operation took, summed over threads.

    `elapsed`: seconds of all of it where it was evaluated; None if that is what the caller sees.
    """

    result: Encryptions
    seconds: Mapping[str, float]
    elapsed: float | None = None


KEPT_BYTES = 256 << 20
"""Bytes that a server keeps between evaluations by default, beside its keys."""


class Server(Shown):
    """Evaluates a program on ciphertexts with evaluation keys only."""

    def __init__(
        self,
        program: ProgramData,
        keys: Keys | Sequence[Keys],
        *,
        threads: int | None = None,
        memory: int = KEPT_BYTES,
        key_memory: int | None = None,
    ) -> None:
        """Check that the keys belong to the program and are complete; several sets are joined (`program.joined`).

        `threads`: by default one for each core. `memory`: bytes that plaintexts and keys prepared for the engine may
        take between evaluations, here and as many again in the memory of a device. `key_memory`: bytes that the keys of
        refreshes may take; what they lack is grown from seeds at each use, which takes longer and gives the same bytes.
        """
        keys = one_of(program, keys, Keys)
        receiver = f"a server of {program.signature.name}"
        received(keys, Keys, Role.EVALUATION_KEYS, receiver)
        program.check_own(Role.EVALUATION_KEYS, keys.label, receiver)
        missing = sorted(set(program.native.rotations()) - set(keys.rotations))
        if missing:
            raise KeyMismatchError(
                f"the evaluation keys lack rotation {missing[0]}; generate keys with program.client()"
            )
        self.program = program
        #: What was sent: label and bytes. A copy of the server alone needs them, so `del server.keys` frees them.
        self.keys = keys
        self._key = keys.label.key
        self._scheme = program.scheme
        limit = None if key_memory is None else count("key_memory", key_memory)
        loaded = self._scheme.load(keys, program.native.bootstrapping, limit)
        check_owner(loaded, keys.label.key)
        self._expected = expected_arguments(program.native, keys.label.key)
        self._draws = program.native.required_keys()["public"]
        own = partial(program.label, key=keys.label.key)
        self._labels = own(Role.ARGUMENTS).to_bytes(), own(Role.RESULT).to_bytes()
        self._session = _native.Session(
            program.native,
            self._scheme.context,
            loaded.relinearization,
            loaded.galois,
            loaded.public,
            loaded.bootstrapping,
            threads=None if threads is None else count("threads", threads),
            device=program.device,
            memory=count("memory", memory),
        )

    def __repr__(self) -> str:
        """Return whose it is; no key."""
        return f"<Server of {self.program.signature.name}>"

    def evaluate(
        self, sent: Encryptions | Sequence[Encryptions] = (), *, seed: Seed = None, **given: Any
    ) -> Encryptions:  # fmt: skip
        """Evaluate on the encrypted arguments `sent`, or on parts of them from several owners (`encrypt_part`).

        `given`: the plain arguments, and the results of other programs by the argument that they are. `seed`: what
        zeros are encrypted with.
        """
        results = {name: value for name, value in given.items() if isinstance(value, Encryptions)}
        plain = {name: value for name, value in given.items() if name not in results}
        parts: list[Any] = list(sent) if isinstance(sent, list | tuple) else [sent]
        if results or (not parts and self.program.signature.producers):
            sent = [*parts, part_of(self.program, results)]
        return self.run(one_of(self.program, sent, Encryptions), plain, seed).result

    def evaluate_many(
        self, many: Iterable[Encryptions], *, seed: Seed = None, progress: Progress | None = None, **plain: Any
    ) -> Iterator[Encryptions]:
        """Evaluate sets of encrypted arguments in order, as they are asked for; the plain ones stay the same.

        A co-processor takes several at a time: its cores share them, and one set's transfers go beside another's work.
        `progress` is told after each how many are done, of how many (0 where that is not known).
        """
        total, done = len(many) if isinstance(many, Sized) else 0, 0
        size = 1 if self.program.recording is not None else self._session.batch_size
        waiting = iter(many)
        while group := list(islice(waiting, size)):
            for execution in self._run_group(group, plain, seed):
                yield execution.result
                done += 1
                if progress is not None:
                    progress(done, total)

    def run(
        self, sent: Encryptions, plain: Mapping[str, Any], seed: Seed = None, progress: Progress | None = None,
        state: str | Path | None = None,
    ) -> Execution:  # fmt: skip
        """Evaluate and return the result with the time each kind of operation took.

        `state`: a file in which what was made is left after each refresh; a run that was killed goes on from there, to
        the same bytes, when it is called again with the same arguments. The file is removed at the end.

        Raises:
            InputError: the file is of something else or damaged, or the program is not refreshed.
        """
        start = time.perf_counter()
        zeros = self._checked(sent, seed)
        values = self._checked_plain(plain)
        read = time.perf_counter() - start
        recording = self.program.recording
        if recording is not None:
            done = recording.run(self._session, self.program.native, (sent.ciphertexts, values, zeros), progress)
        elif state is not None:
            own = self._state_file(state, sent, values, zeros if seed is not None or not self._draws else None)
            left = own.left()
            done = self._session.run_kept(sent.ciphertexts, values, zeros, left, own.keep, progress=progress)
            own.done()
        else:
            done = self._session.run(sent.ciphertexts, values, zeros, progress=progress)
        return self._execution(done, read)

    def _state_file(
        self, path: str | Path, sent: Encryptions, values: Sequence[Any], zeros: bytes | None
    ) -> StateFile:  # fmt: skip
        """Return the file in which an evaluation leaves its state."""
        native = self.program.native
        if not native.refreshes:
            raise InputError("state=: the program has no refreshes, after which a state is kept; leave out state=")
        if zeros is None:
            raise InputError("state=: the program encrypts zeros, which are others in each run; give seed= too")
        plain = [np.ascontiguousarray(value).tobytes() for value in values]
        about = [self.program.identity.digest, *sent.ciphertexts, *plain, zeros if self._draws else b""]
        # Several threads may hold more than one does.
        return StateFile.of(path, about, 4 * native.cost()["memory"])

    def answering(self, plain: Mapping[str, Any]) -> Callable[[bytes | memoryview, Progress | None], Answer]:
        """Return what evaluates messages on the same plain arguments: `run` from bytes to bytes, with fewer copies.

        It raises what `Encryptions.from_bytes` and `run` do.
        """
        values = self._checked_plain(plain)

        def answer(message: bytes | memoryview, progress: Progress | None = None) -> Answer:
            if self.program.recording is None:
                seed = derive_seed(None, b"", "server")
                done = self._session.answer(message, self._labels, values, seed, progress=progress)
                if done is not None:
                    return done
            execution = self.run(Encryptions.from_bytes(bytes(message)), plain, None, progress)
            return execution.result.to_bytes(), execution.seconds

        return answer

    def _run_group(self, group: Sequence[Encryptions], plain: Mapping[str, Any], seed: Seed) -> Iterator[Execution]:
        """Evaluate sets of arguments at a time."""
        if len(group) == 1:
            yield self.run(group[0], plain, seed)
            return
        start = time.perf_counter()
        zeros = [self._checked(sent, seed) for sent in group]
        values = self._checked_plain(plain)
        read = (time.perf_counter() - start) / len(group)
        for done in self._session.run_many([sent.ciphertexts for sent in group], values, zeros):
            yield self._execution(done, read)

    def _checked_plain(self, plain: Mapping[str, Any]) -> list[Any]:
        """The plain arguments as the engine takes them."""
        return self.program.plain(self.program.signature.check(plain, encrypted=False))

    def _checked(self, sent: Encryptions, seed: Seed) -> bytes:
        """Refuse what is not of this program and key; return the seed of the zeros."""
        program, expected = self.program, self._expected
        receiver = f"this server of {program.signature.name}"
        received(sent, Encryptions, Role.ARGUMENTS, receiver)
        program.label(Role.ARGUMENTS, self._key).check(sent.label, receiver)
        check_count(sent.ciphertexts, expected)
        check_whole(program, sent.ciphertexts)
        if checksums(sent.ciphertexts) != sent.checksums:
            # Damage or another order: reading says which. Sound ones are read where they are needed, all in one call.
            self._scheme.read(sent.ciphertexts, sent.checksums, expected)
        fresh = [
            (checksum, own) for checksum, own in zip(sent.checksums, expected, strict=True) if "seeded" in own.facts
        ]
        check_distinct([checksum for checksum, _ in fresh], [own for _, own in fresh])
        about = b"".join(sent.ciphertexts) if seed is not None and self._draws else b""
        return derive_seed(seed, program.identity.digest, "server", about=about)

    def _execution(self, done: tuple[list[bytes], Mapping[str, float]], read: float) -> Execution:
        """A result with its label, and `read` seconds more of reading."""
        data, spent = done
        seconds = dict(spent)
        seconds["read"] = seconds.get("read", 0.0) + read
        label = self.program.label(Role.RESULT, self._key)
        return Execution(Encryptions.of_parts(label, data), seconds)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as program and keys."""
        return type(self), (self.program, self.keys)
