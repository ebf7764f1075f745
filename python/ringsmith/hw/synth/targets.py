# SPDX-License-Identifier: Apache-2.0
"""Synthesis targets by name: every preset, the 8-point accelerators, and parts for comparing designs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ringsmith.errors import ParameterError
from ringsmith.hw.device import top_of, top_parameters
from ringsmith.hw.synth.job import Design
from ringsmith.knobs import MONTGOMERY_STEPS, MULTIPLIER, REDUCTION
from ringsmith.presets import EVERY, load_any, parse_overrides, preset_names


@dataclass(frozen=True)
class Part:
    """A module to synthesise alone: its top and its settings' default values."""

    top: str
    defaults: Mapping[str, int | str]
    parameters: Callable[[Mapping[str, int | str]], dict[str, int | str]]


def _arithmetic(values: Mapping[str, int | str]) -> dict[str, int | str]:
    return {**_reduction(values), "StepLuts": int(values["montgomery_steps"] == "luts")}


def _reduction(values: Mapping[str, int | str]) -> dict[str, int | str]:
    return {
        "W": values["word_bits"],
        "MulKind": REDUCTION[str(values["reduction"])],
        "MulStyle": MULTIPLIER[str(values["multiplier"])],
        "ModMinBits": values["modulus_bits_min"],
        "MontW": values["montgomery_bits"],
    }


_ARITHMETIC: dict[str, int | str] = {
    "word_bits": 32,
    "reduction": "montgomery",
    "multiplier": "dsp26x17",
    "montgomery_steps": "dsp",
    "modulus_bits_min": 5,
    "montgomery_bits": 16,
}


def _core(values: Mapping[str, int | str]) -> dict[str, int | str]:
    n_max = int(values["n_max"])
    if n_max < 8 or n_max > 32768 or n_max & (n_max - 1):
        raise ParameterError(f"n_max must be a power of two from 8 to 32768, got {n_max}")
    return {
        "W": values["word_bits"],
        "P": values["butterflies"],
        "NMaxLog2": n_max.bit_length() - 1,
        "Slots": values["slots"],
        "SinglePort": 0,
        "Moduli": 1,
        "TwTables": 1,
        "MulKind": REDUCTION[str(values["reduction"])],
        "MontW": n_max.bit_length(),
        "MulStyle": MULTIPLIER[str(values["multiplier"])],
        "ModMinBits": values["modulus_bits_min"],
        "EnPmul": values["pmul"],
        "EnCyclic": values["cyclic"],
    }


# One lane without a host: the slots it transforms between, the table, everything else that the core has.
_CORE: dict[str, int | str] = {
    "word_bits": 60,
    "butterflies": 8,
    "n_max": 16384,
    "slots": 3,
    "reduction": "montgomery",
    "multiplier": "dsp26x17",
    "modulus_bits_min": 5,
    "pmul": 1,
    "cyclic": 1,
}


def _base_conversion(values: Mapping[str, int | str]) -> dict[str, int | str]:
    n_max, words = int(values["n_max"]), int(values["butterflies"])
    if n_max < 8 or n_max > 32768 or n_max & (n_max - 1) or n_max < 4 * words:
        raise ParameterError(f"n_max must be a power of two from 8, and 4 * butterflies, to 32768, got {n_max}")
    return {
        **_reduction(values),
        "MontSteps": MONTGOMERY_STEPS[str(values["montgomery_steps"])],
        "Lanes": values["lanes"],
        "P": words,
        "RnsRate": values["rate"],
        "WordAddrBits": (n_max // words).bit_length() - 1,
        "RnsConversions": values["conversions"],
        "RnsEntries": values["entries"],
        "EnOwn": values["kept_residues"],
    }


# Lift from six primes to seven, scaling and lift back, two coefficients at a time.
_BASE_CONVERSION: dict[str, int | str] = {
    **_ARITHMETIC,
    "word_bits": 30,
    "lanes": 7,
    "butterflies": 2,
    "rate": 2,
    "n_max": 4096,
    "conversions": 4,
    "entries": 32,
    "kept_residues": 1,
}


def unit_for_conversion(values: Mapping[str, int | str]) -> Design:
    """Return the base-conversion unit with some values in place of its part's."""
    parameters = _base_conversion({**_BASE_CONVERSION, **values})
    return Design(name="base-conversion", top="rs_rns", parameters=parameters)


PARTS = {
    "base-conversion": Part("rs_rns", _BASE_CONVERSION, _base_conversion),
    "butterfly": Part("rs_butterfly", _ARITHMETIC, _arithmetic),
    "mod-mul": Part("rs_mod_mul", _ARITHMETIC, _arithmetic),
    "core": Part("rs_core", _CORE, _core),
}


def target_names() -> list[str]:
    """Every name that `design_of` knows."""
    return [*preset_names(*EVERY), *PARTS]


def design_of(name: str, settings: list[str]) -> Design:
    """The design behind a preset's or a part's name, with `key=value` settings applied.

    Raises:
        ParameterError: an unknown name or key, or a value that does not fit.
    """
    overrides = parse_overrides(settings)
    if name in PARTS:
        return _part(name, PARTS[name], overrides)
    if name in preset_names(*EVERY) or name.endswith(".toml"):
        preset = load_any(name, overrides)
        return Design(name=preset.name, top=top_of(preset), parameters=top_parameters(preset))
    raise ParameterError(f"nothing to synthesise under {name!r}; there is {', '.join(target_names())}")


def _part(name: str, part: Part, overrides: Mapping[str, str]) -> Design:
    values = dict(part.defaults)
    for key, text in overrides.items():
        if key not in values:
            raise ParameterError(f"{name} has no key {key!r}; keys: {', '.join(values)}")
        if isinstance(values[key], int) and not text.isdigit():
            raise ParameterError(f"{key} must be a whole number, got {text!r}")
        choices = {"reduction": REDUCTION, "multiplier": MULTIPLIER, "montgomery_steps": MONTGOMERY_STEPS}.get(key)
        if choices is not None and text not in choices:
            raise ParameterError(f"{key} must be {' or '.join(choices)}, got {text!r}")
        values[key] = int(text) if text.isdigit() else text
    return Design(name=name, top=part.top, parameters=part.parameters(values))
