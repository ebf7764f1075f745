# SPDX-License-Identifier: Apache-2.0
"""The clock of a cocotb test. Pins start at random: a clock that started high would swallow its first rising edge."""

from typing import Any

from cocotb.clock import Clock
from cocotb.triggers import Timer


async def start_clock(pin: Any, period_steps: int) -> None:
    """Bring the pin low, then start a clock of that period; its first rising edge comes at once."""
    pin.value = 0
    await Timer(1, "step")
    Clock(pin, period_steps, unit="step").start()
