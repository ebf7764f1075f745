# SPDX-License-Identifier: Apache-2.0
"""What the tests of the RTL share: the definition (`oracle`, `conversion`), the model of the hardware's schedule
(`golden`), drivers (`core`, `host`), buses and lines, operands. Tests import it as `dv`; nothing that ships does.
"""
