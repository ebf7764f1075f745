# SPDX-License-Identifier: Apache-2.0
"""Running kernels: compilation, client and server, engines, inputs, and the whole run with its report."""

from ringsmith.run import engines_device as engines_device  # adds model: and rtl: to the engines
from ringsmith.run import record as record  # adds record: to the engines
