# SPDX-License-Identifier: Apache-2.0
"""Choose parameters and make keys, one set for each prime: `client_key_generation SIZE`."""

from layout import stage
from product import SIZES, programs
from sizes import PAIRS

if __name__ == "__main__":
    with stage(SIZES) as folders:
        for number, program in enumerate(programs(PAIRS[folders.size])):
            client = program.client()
            program.save(folders.keys / f"{number}.rsp")
            client.evaluation_keys.save(folders.keys / f"{number}.keys")
            client.save(folders.secret / f"{number}.rsc")
