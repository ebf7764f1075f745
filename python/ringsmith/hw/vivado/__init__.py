# SPDX-License-Identifier: Apache-2.0
"""Projects for AMD's Vivado, as parts of a package: the design's IP, a block design for a platform, its device tree.

    ports ──> wrapper (Verilog), component (IP-XACT)
    platform ──> settings, block design (Tcl), constraints, device tree

Vivado is not needed to write them.
"""

from ringsmith.hw.vivado.platform import Platform, load_platform, platform_names
from ringsmith.hw.vivado.project import check_platforms, write_projects

__all__ = ["Platform", "check_platforms", "load_platform", "platform_names", "write_projects"]
