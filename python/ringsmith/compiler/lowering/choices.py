# SPDX-License-Identifier: Apache-2.0
"""Decisions of a lowering: each offers options, of which the first is taken unless another is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

#: A decision: what it is about, and the argument's name or the node's place in the graph.
Decision = tuple[str, str | int]
Taken = Mapping[Decision, str]


class Choices:
    """What is asked for, and what the lowering offered on its way."""

    def __init__(self, taken: Taken) -> None:
        """Ask for options."""
        self.taken = taken
        self.offered: dict[Decision, tuple[str, ...]] = {}

    def pick(self, decision: Decision, options: Sequence[str]) -> str:
        """Return the option to take."""
        self.offered[decision] = tuple(options)
        return self._option(decision, options)

    def picked(self) -> dict[Decision, str]:
        """Return the option taken at each decision met."""
        return {decision: self._option(decision, options) for decision, options in self.offered.items()}

    def _option(self, decision: Decision, options: Sequence[str]) -> str:
        wanted = self.taken.get(decision)
        return wanted if wanted is not None and wanted in options else options[0]
