# SPDX-License-Identifier: Apache-2.0
"""Evaluate the network on each message: `server_encrypted_compute SIZE`."""

import numpy as np
from layout import Steps, stage, threads
from model import SIZES, messages
from sizes import IMAGES

import ringsmith as rs

if __name__ == "__main__":
    with stage(SIZES) as folders:
        steps = Steps()
        with steps.step("Loading keys and model"):
            program = rs.load(folders.keys / "scores.rsp")
            server = program.server(rs.load(folders.keys / "scores.keys"), threads=threads())
            weights = dict(np.load(folders.prepared / "weights.npz"))
        for place in range(len(messages(IMAGES[folders.size]))):
            with steps.step("Reading ciphertexts"):
                sent = rs.load(folders.upload / f"{place}.ct")
            with steps.step("Encrypted computation"):
                answer = server.evaluate(sent, **weights)
            with steps.step("Writing ciphertexts"):
                answer.save(folders.download / f"{place}.ct")
        steps.again(lambda: server.evaluate(sent, **weights))
        steps.write(folders)
