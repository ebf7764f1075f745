# SPDX-License-Identifier: Apache-2.0
"""Running kernels: compilation, client and server, engines, inputs, and the whole run with its report."""

from ringsmith.runtime import coprocessor as coprocessor  # adds model: and rtl: to the engines
from ringsmith.runtime import record as record  # adds record: to the engines
