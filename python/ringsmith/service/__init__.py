# SPDX-License-Identifier: Apache-2.0
"""The evaluation service: programs, keys and ciphertexts by content, jobs, workers; and the client of it (`remote`).

```
remote ──HTTP──> app ──> jobs ──> scheduler ──> worker processes (keys in memory, a session each)
                  └────> store: SQLite for what is known, files for large blobs
```
"""
