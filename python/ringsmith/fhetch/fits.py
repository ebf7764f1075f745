# SPDX-License-Identifier: Apache-2.0
"""Whether a co-processor of a preset can take a trace: its moduli and its degree."""

from __future__ import annotations

from collections.abc import Sequence

from ringsmith.errors import InputError
from ringsmith.presets import Preset, load_preset, preset_names


def check_fit(preset: Preset, n: int, moduli: Sequence[int], *, halves: bool) -> None:
    """Refuse a trace that a preset cannot take, and name one that can; `halves`: n may be twice the preset's.

    Raises:
        InputError: the modulus or the degree that does not fit.
    """
    reason = lacks(preset, n, moduli, halves=halves)
    if reason is None:
        return
    able = (name for name in preset_names() if lacks(load_preset(name), n, moduli, halves=halves) is None)
    found = next(able, None)
    remedy = "no preset does; --on cpu computes it" if found is None else f"preset {found} does"
    raise InputError(f"preset {preset.name} {reason}; {remedy}")


def lacks(preset: Preset, n: int, moduli: Sequence[int], *, halves: bool) -> str | None:
    """Return what a preset does not take."""
    least, most = max(8, 4 * preset.butterflies), preset.n_max
    if not least <= n <= most and not (halves and n == 2 * most):
        return f"does not take n = {n}, it takes {least} to {most}"
    shortest, longest = preset.modulus_bits_min, preset.word_bits
    for q in moduli:
        if not shortest <= q.bit_length() <= longest:
            return f"does not take the modulus {q} of {q.bit_length()} bits, it takes {shortest} to {longest}"
        step = 1 << preset.numbers().get("montgomery_bits", 0)
        if q % step != 1 % step:
            return f"does not take the modulus {q}, which is not 1 modulo {step}"
    return None
