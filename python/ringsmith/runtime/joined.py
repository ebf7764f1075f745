# SPDX-License-Identifier: Apache-2.0
"""Messages of one kind as one: arguments of several owners under one key, evaluation keys made at several times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

from ringsmith import _native
from ringsmith.errors import InputError, KeyMismatchError
from ringsmith.runtime.identity import Role, expected_arguments, received
from ringsmith.runtime.messages import Encryptions, Keys
from ringsmith.runtime.program_data import ProgramData
from ringsmith.runtime.scheme import LoadedKeys, Scheme, check_owner

M = TypeVar("M", Encryptions, Keys)
_SECTION = "parameters"


def joined(program: ProgramData, messages: M | Sequence[M]) -> M:
    """Return one message of several: parts of a program's arguments (`encrypt_part`), or evaluation keys of one secret
    key that hold together what the program needs, some of which may have been made for another program of its set."""
    if isinstance(messages, Encryptions | Keys):
        return messages
    given = list(messages)
    if not given:
        raise InputError(f"{program.signature.name}: no message to join")
    return _arguments(program, given) if isinstance(given[0], Encryptions) else _keys(program, given)


def one_of(program: ProgramData, messages: Any, kind: type[M]) -> M:
    """Return a list of messages joined, other values unchanged: the reader reports a wrong type."""
    if not isinstance(messages, list | tuple) or not messages:
        return cast(M, messages)
    if not all(isinstance(one, kind) for one in messages):
        strange = next(one for one in messages if not isinstance(one, kind))
        made = (
            "client.encrypt(...) and encryptor.encrypt_part(...)" if kind is Encryptions else "client.evaluation_keys"
        )
        raise InputError(
            f"{program.signature.name} takes a list of {kind.__name__}, as {made} gives them, not of "
            f"{type(strange).__name__}"
        )
    several: list[M] = list(messages)
    return joined(program, several)


def _arguments(program: ProgramData, parts: Sequence[Any]) -> Encryptions:
    receiver = f"{program.signature.name}, joining arguments,"
    key = getattr(getattr(parts[0], "label", None), "key", "")
    label = program.label(Role.ARGUMENTS, key)
    expected = expected_arguments(program.native, key)
    found = [b""] * len(expected)
    for part in parts:
        received(part, Encryptions, Role.ARGUMENTS, receiver)
        label.check(part.label, receiver)
        if len(part.ciphertexts) != len(found):
            raise InputError(f"{len(part.ciphertexts)} ciphertexts came, the program takes {len(found)}")
        for number, data in enumerate(part.parts()):
            if data and found[number]:
                raise InputError(f"{expected[number].place} came twice; each argument comes from one owner")
            found[number] = data or found[number]
    check_whole(program, found)
    return Encryptions.of_parts(label, found)


def part_of(program: ProgramData, results: Mapping[str, Any]) -> Encryptions:
    """Return the part of a program's encrypted arguments that results of other programs are, by argument."""
    signature, native = program.signature, program.native
    if not results or not set(results) <= set(signature.taken):
        strange = next((name for name in results if name not in signature.taken), "")
        there = f"it takes {', '.join(signature.taken)}" if signature.taken else "it takes none"
        got = f"as {strange}" if strange else "of none"
        raise InputError(f"{signature.name} got the result of another program {got}; {there}")
    key, found = "", list[bytes]()
    for name in signature.parts(encrypted=True):
        count = len(native.packing(name)) // native.slots
        whole = name if name in results else name.rpartition(".")[0]
        if name not in signature.producers or whole not in results:
            found += [b""] * count
            continue
        result = results[whole]
        key = key or getattr(getattr(result, "label", None), "key", "")
        made, identity, outputs = signature.producers[name]
        receiver = f"argument {whole} of {signature.name}"
        received(result, Encryptions, Role.RESULT, receiver)
        _check_made(result, made, identity, key, receiver)
        ciphertexts = result.parts()
        if outputs and outputs[-1] >= len(ciphertexts):
            raise InputError(f"{receiver}: {len(ciphertexts)} ciphertexts came, the result of {made} has more")
        found += [ciphertexts[output] for output in outputs]
    return Encryptions.of_parts(program.label(Role.ARGUMENTS, key), found)


def _check_made(result: Encryptions, made: str, identity: bytes, key: str, receiver: str) -> None:
    """Fail unless a message is the result of the program that an argument is declared to come from."""
    label = result.label
    if label.role is not Role.RESULT:
        raise InputError(f"{receiver} takes the result of {made}, not {label.role}: what its server.evaluate returned")
    if label.program.digest != identity:
        raise KeyMismatchError(
            f"{receiver} takes the result of {made} as compiled with it; this is the result of another program, or of "
            f"{made} compiled at another time or with other options: compile both together, rs.compile([f, g])"
        )
    if label.key != key:
        raise KeyMismatchError(f"{receiver}: a result of key {label.key}, another is of key {key}")


def check_whole(program: ProgramData, ciphertexts: Sequence[bytes]) -> None:
    """Fail if a message of arguments is only a part."""
    if b"" not in ciphertexts:
        return
    # Places do not depend on the key.
    missing = [
        own.place for own, data in zip(expected_arguments(program.native, ""), ciphertexts, strict=False) if not data
    ]
    names = ", ".join(dict.fromkeys(place.rpartition(" ")[2] for place in missing))
    raise InputError(f"the encrypted arguments lack {names}; evaluate them joined: server.evaluate([part, other part])")


def _keys(program: ProgramData, sets: Sequence[Any]) -> Keys:
    """Return the keys that a program needs, out of several sets."""
    scheme, name = program.open(), program.signature.name
    loaded = _loaded(program, scheme, sets)
    required = program.native.required_keys()
    relin = _longest(sets, [own.relinearization for own in loaded], required["relinearization"])
    if required["relinearization"] is not None and relin is None:
        raise KeyMismatchError(
            f"none of the evaluation keys has a relinearisation key of level {required['relinearization']}, which "
            f"{name} needs; client.for_program(program, held=keys) makes what is missing"
        )
    galois, rotations = b"", tuple[int, ...]()
    if required["galois"] is not None:
        united = _fullest(_by_level(loaded, required["galois"]), required, program)
        lacking = _lacking(united, required, program)
        if united is None or lacking:
            raise KeyMismatchError(
                f"the evaluation keys lack {', '.join(lacking)} at level {required['galois']}, which {name} needs; "
                "client.for_program(program, held=keys) makes what is missing"
            )
        held = sorted({rotation for own in sets for rotation in own.rotations})
        without = set(united.missing(held))
        galois, rotations = united.to_bytes(), tuple(one for one in held if one not in without)
    public = next((own.public for own in sets if own.public), b"") if required["public"] else b""
    if required["public"] and not public:
        raise KeyMismatchError(f"the evaluation keys lack the public key, which {name} needs")
    refreshes = (
        next((own.bootstrapping for own in sets if own.bootstrapping), b"") if required["bootstrapping"] else b""
    )
    if required["bootstrapping"] and not refreshes:
        raise KeyMismatchError(f"the evaluation keys lack the bootstrapping keys, which {name} needs")
    label = program.label(Role.EVALUATION_KEYS, sets[0].label.key)
    return Keys(label, b"" if relin is None else relin.relinearization, galois, rotations, public, refreshes)


def _loaded(program: ProgramData, scheme: Scheme, sets: Sequence[Any]) -> list[LoadedKeys]:
    """Return the sets as the engine's objects; all are of one secret key and of the program's parameters."""
    receiver = f"{program.signature.name}, joining evaluation keys,"
    own = dict(program.identity.sections)[_SECTION]
    found = []
    for one in sets:
        received(one, Keys, Role.EVALUATION_KEYS, receiver)
        if dict(one.label.program.sections).get(_SECTION) != own:
            raise KeyMismatchError(
                f"{receiver} got keys of other parameters; compile both kernels together: rs.compile([f, g])"
            )
        if one.label.key != sets[0].label.key:
            raise KeyMismatchError(f"{receiver} got keys of secret keys {sets[0].label.key} and {one.label.key}")
        found.append(scheme.load(one, program.native.bootstrapping))
        check_owner(found[-1], one.label.key)
    return found


def _longest(sets: Sequence[Keys], keys: Sequence[_native.RelinKey | None], level: int | None) -> Keys | None:
    """Return the set whose relinearisation key serves a level, the shortest that does."""
    if level is None:
        return None
    fit = [(key.level, number) for number, key in enumerate(keys) if key is not None and key.level >= level]
    return sets[min(fit)[1]] if fit else None


def _by_level(loaded: Iterable[LoadedKeys], level: int) -> dict[int, _native.GaloisKeys]:
    """Return the rotation keys of each level that serves, united."""
    found: dict[int, _native.GaloisKeys] = {}
    for own in loaded:
        if own.galois is not None and own.galois.level >= level:
            known = found.get(own.galois.level)
            found[own.galois.level] = own.galois if known is None else known.united(own.galois)
    return found


def _fullest(
    groups: Mapping[int, _native.GaloisKeys], required: Mapping[str, Any], program: ProgramData
) -> _native.GaloisKeys | None:
    """Return the keys that lack the fewest."""
    return min(groups.values(), key=lambda keys: len(_lacking(keys, required, program)), default=None)


def _lacking(keys: _native.GaloisKeys | None, required: Mapping[str, Any], program: ProgramData) -> list[str]:
    """Return in words the rotations that keys lack."""
    rotations = list(required["rotations"])
    missing = rotations if keys is None else keys.missing(rotations)
    swap = required["swap_rows"] and (keys is None or 2 * program.params.n - 1 not in keys.elements)
    return [*(f"rotation {steps}" for steps in missing), *(["the row swap"] if swap else [])]


def beyond(program: ProgramData, scheme: Scheme, held: Sequence[Keys]) -> dict[str, Any]:
    """Return the keys that a program needs beyond those held, as `required_keys` tells them: rotation keys at the level
    of those that they join."""
    loaded = _loaded(program, scheme, held)
    required = dict(program.native.required_keys())
    if _longest(held, [own.relinearization for own in loaded], required["relinearization"]) is not None:
        required["relinearization"] = None
    if any(own.public for own in held):
        required["public"] = False
    if any(own.bootstrapping for own in held):
        required["bootstrapping"] = False
    if required["galois"] is None:
        return required
    best = _fullest(_by_level(loaded, required["galois"]), required, program)
    if best is not None:
        level = best.level
        missing = best.missing(list(required["rotations"]))
        swap = required["swap_rows"] and 2 * program.params.n - 1 not in best.elements
        required |= {"galois": level if missing or swap else None, "rotations": missing, "swap_rows": swap}
    return required
