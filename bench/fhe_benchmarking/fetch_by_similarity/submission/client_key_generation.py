# SPDX-License-Identifier: Apache-2.0
"""Choose parameters and make keys: `client_key_generation SIZE [--count_only]`."""

from layout import stage
from similarity import SIZES, program

if __name__ == "__main__":
    with stage(SIZES) as folders:
        chosen = program(folders.size, folders.counted)
        client = chosen.client()
        chosen.save(folders.keys / "block.rsp")
        client.evaluation_keys.save(folders.keys / "block.keys")
        client.save(folders.secret / "block.rsc")
