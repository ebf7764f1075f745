# SPDX-License-Identifier: Apache-2.0
"""What every test finds."""

import os
import signal

# A shell starts what it puts in the background with interrupts ignored, and what that starts inherits it.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Tests simulate 10,000 cycles: a second at -O0, where compiling takes half the time of -O1 (for `tiny` 20 s of 40).
# Processes that tests start inherit it, so that all share one simulator.
os.environ.setdefault("RINGSMITH_SIM_EFFORT", "-O0")
