# SPDX-License-Identifier: Apache-2.0
"""HEIR's rules of levels, scales and sizes, checked on the types of every operation of a function."""

from __future__ import annotations

from ringsmith.heir.text import Function, Module, Operation, Type

#: What is read, by dialect.
KNOWN = {
    "ckks": ("add", "sub", "mul", "add_plain", "sub_plain", "mul_plain", "negate", "rotate", "relinearize", "rescale",
             "level_reduce"),
    "bgv": ("add", "sub", "mul", "add_plain", "sub_plain", "mul_plain", "negate", "rotate_cols", "rotate_rows",
            "relinearize", "modulus_switch", "level_reduce"),
    "lwe": ("rlwe_encode",),
    "orion": ("linear_transform", "chebyshev"),
    "arith": ("constant",),
    "func": ("return",),
    "return": ("",),
}  # fmt: skip


def check_rules(module: Module, function: Function) -> None:
    """Check that operations are known, operands made before, and types those that HEIR's rules give.

    Raises:
        InputError: the first that is not, with file and line.
    """
    types: dict[str, Type | None] = {**function.arguments}
    for one in function.operations:
        dialect, _, name = one.name.partition(".")
        if name not in KNOWN.get(dialect, ()):
            why = ": the compiler places refreshes itself; leave it out" if name == "bootstrap" else ""
            raise module.refusal(one.line, f"{one.name} is not read{why}; {_known()}")
        for operand in one.operands:
            if operand not in types:
                raise module.refusal(one.line, f"{one.name} of {operand}, which nothing before it makes")
        if one.result:
            wrong = _broken(module, one, name, [types[operand] for operand in one.operands])
            if wrong:
                raise module.refusal(one.line, f"{one.name}: {wrong}")
            types[one.result] = one.type
    if not function.operations or not function.operations[-1].name.endswith("return"):
        raise module.refusal(function.line, f"@{function.name} does not end with a return")


def _known() -> str:
    return "; ".join(f"{dialect}: {', '.join(names)}" for dialect, names in KNOWN.items() if any(names))


def _broken(module: Module, one: Operation, name: str, given: list[Type | None]) -> str | None:
    """Say which rule a result breaks."""
    ciphers = [kind for kind in given if kind is not None and kind.kind == "cipher"]
    if one.name == "arith.constant" or one.name == "lwe.rlwe_encode":
        return None
    if one.type is None or one.type.kind != "cipher" or not ciphers:
        return "a ciphertext, and not a tensor of them, is what it takes and gives"
    if any(kind.degree != one.type.degree for kind in ciphers):
        return f"rings of degree {ciphers[0].degree} and {one.type.degree} are mixed"
    need = {"add": 2, "sub": 2, "mul": 2, "add_plain": 2, "sub_plain": 2, "mul_plain": 2, "linear_transform": 2}
    if len(given) < need.get(name, 1):
        return f"{len(given)} operands; {need.get(name, 1)} are needed"
    if need.get(name) == 2 and len(ciphers) != (2 if name in ("add", "sub", "mul") else 1):
        return f"{len(ciphers)} ciphertexts among its operands; it takes {2 if name in ('add', 'sub', 'mul') else 1}"
    if len(ciphers) == 2 and ciphers[0].level != ciphers[1].level:
        return f"operands of levels {ciphers[0].level} and {ciphers[1].level}"
    return _level(name, ciphers[0], one.type) or _scale(module, name, given, one.type) or _size(name, ciphers, one.type)


def _level(name: str, a: Type, result: Type) -> str | None:
    if a.level is None or result.level is None or name in ("linear_transform", "chebyshev"):
        return None
    if name in ("rescale", "modulus_switch", "level_reduce"):
        drops = a.level - result.level
        good = drops >= 1 if name != "rescale" else drops == 1
        return None if good else f"from level {a.level} to level {result.level}; it drops a prime"
    return None if a.level == result.level else f"level {a.level} in, level {result.level} out; it changes none"


def _scale(module: Module, name: str, given: list[Type | None], result: Type) -> str | None:
    """Say which rule of scales, in bits, is broken; bgv's scales are residues, and those of 0 are not said."""
    scales = [kind.scale for kind in given if kind is not None and kind.kind in ("cipher", "plain")]
    if 0 in scales or result.scale == 0 or module.log2_scale == 0 or name == "modulus_switch":
        return None
    wanted = scales[0]
    if name in ("mul", "mul_plain"):
        wanted = sum(scales)
    elif name == "rescale":
        wanted -= module.log2_scale
    elif len(set(scales)) > 1:
        return f"operands of scales 2^{scales[0]} and 2^{scales[1]}"
    return None if wanted == result.scale else f"scale 2^{result.scale} out; the rule gives 2^{wanted}"


def _size(name: str, ciphers: list[Type], result: Type) -> str | None:
    if name == "mul":
        wanted = sum(kind.size for kind in ciphers) - 1
    elif name == "relinearize":
        wanted = 2
    elif name in ("rotate", "rotate_cols", "rotate_rows", "linear_transform", "chebyshev") and ciphers[0].size != 2:
        return f"of {ciphers[0].size} polynomials; relinearize first"
    else:
        wanted = max(kind.size for kind in ciphers)
    return None if wanted == result.size else f"{result.size} polynomials out; the rule gives {wanted}"
