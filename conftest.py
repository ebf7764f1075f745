# SPDX-License-Identifier: Apache-2.0
"""What every test finds."""

import signal

# A shell starts what it puts in the background with interrupts ignored, and what that starts inherits it.
signal.signal(signal.SIGINT, signal.default_int_handler)
