# SPDX-License-Identifier: Apache-2.0
"""The 8-point accelerators of the CKKS-on-Zynq study and our two variants of them (rtl/ntt8)."""

from __future__ import annotations

from ringsmith.hw.ntt8.preset import Ntt8Preset, load_ntt8, ntt8_names

__all__ = ["Ntt8Preset", "load_ntt8", "ntt8_names"]
