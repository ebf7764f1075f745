# SPDX-License-Identifier: Apache-2.0
"""The sizes that the workloads agree on, for the harness and for the submissions."""

from __future__ import annotations

#: Zn multiplication: pairs of integers.
PAIRS = {"single": 1, "small": 1_000, "medium": 100_000, "large": 10_000_000}
#: Fetch by similarity: records, and coordinates of each.
RECORDS = {"toy": (1_000, 128), "small": (50_000, 128), "medium": (1_000_000, 256), "large": (20_000_000, 512)}
#: Numbers of a record's payload, each below PAYLOAD_END.
PAYLOAD, PAYLOAD_END = 7, 512
#: Records match a query where their inner product exceeds this; at most MATCHES of them are promised.
THRESHOLD, MATCHES = 0.8, 32
#: Inference: images.
IMAGES = {"single": 1, "small": 100, "medium": 1_000, "large": 10_000}
#: The part of a batch's digits that have to be right.
ACCURACY = 0.9
