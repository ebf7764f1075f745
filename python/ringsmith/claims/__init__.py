# SPDX-License-Identifier: Apache-2.0
"""The claims ledger: every published figure beside ours, like for like."""

from __future__ import annotations

from ringsmith.claims.ledger import Claim, Erratum, Ledger, load

__all__ = ["Claim", "Erratum", "Ledger", "load"]
