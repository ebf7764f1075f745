# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the RTL's tests: the definition (`oracle`, `conversion`), the model of the hardware's schedule
(`golden`), drivers (`core`, `host`), buses and lines, operands. Tests import it as `dv`; nothing that ships does.
"""
