# SPDX-License-Identifier: Apache-2.0
"""Choose parameters and make keys: `client_key_generation SIZE`."""

from layout import stage
from model import SIZES, program
from sizes import IMAGES

if __name__ == "__main__":
    with stage(SIZES) as folders:
        chosen = program(IMAGES[folders.size])
        client = chosen.client()
        chosen.save(folders.keys / "scores.rsp")
        client.evaluation_keys.save(folders.keys / "scores.keys")
        client.save(folders.secret / "scores.rsc")
