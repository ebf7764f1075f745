# SPDX-License-Identifier: Apache-2.0
"""Requests of each tenant that are under way: one tenant's requests, waiting ones included, cannot lock out another."""

from __future__ import annotations

from collections import Counter
from collections.abc import MutableMapping
from typing import Any

from ringsmith.service.problems import Problem
from ringsmith.service.tenants import Tenant

#: Name in a request's scope of the tenant it is counted for.
_COUNTED = "counted"


class Traffic:
    """The count of a server."""

    def __init__(self, most: int) -> None:
        """Allow each tenant `most` requests at one time."""
        self._most = most
        self._under_way: Counter[int] = Counter()

    def admit(self, scope: MutableMapping[str, Any], tenant: Tenant) -> None:
        """Count an authenticated request, whose connection is its tenant's from now on; Problem beyond the limit."""
        scope.setdefault("state", {})["tenant"] = tenant.number
        if _COUNTED in scope:
            return
        if self._under_way[tenant.number] >= self._most:
            text = f"{self._most} requests of this tenant are under way already"
            raise Problem("busy", text, retry_after=1.0)
        scope[_COUNTED] = tenant.number
        self._under_way[tenant.number] += 1
        if (line := scope.get("line")) is not None:
            line.belongs_to(tenant.number)

    def leave(self, scope: MutableMapping[str, Any]) -> None:
        """Count a request no more: it is answered, or its client is gone."""
        number = scope.pop(_COUNTED, None)
        if number is None:
            return
        self._under_way[number] -= 1
        if not self._under_way[number]:
            del self._under_way[number]

    def of(self, tenant: int) -> int:
        """Return how many requests of a tenant are under way."""
        return self._under_way[tenant]
