# SPDX-License-Identifier: Apache-2.0
"""A simulated board behind AXI, as the files that Linux has for it: `python -m ringsmith.hw.linux`."""
