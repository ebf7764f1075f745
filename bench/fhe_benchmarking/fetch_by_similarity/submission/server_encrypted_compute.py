# SPDX-License-Identifier: Apache-2.0
"""Compare the query with every record, block by block: `server_encrypted_compute SIZE`."""

from layout import Steps, stage, threads
from similarity import SIZES, blocks

import ringsmith as rs

if __name__ == "__main__":
    with stage(SIZES) as folders:
        steps = Steps()
        with steps.step("Loading keys and query"):
            program = rs.load(folders.keys / "block.rsp")
            server = program.server(rs.load(folders.keys / "block.keys"), threads=threads())
            query = rs.load(folders.upload / "query.bin")
        for number in range(len(blocks(folders.size))):
            with steps.step("Reading ciphertexts"):
                records = rs.load(folders.upload / f"db-{number}.ct")
            with steps.step("Encrypted computation"):
                answer = server.evaluate([records, query])
            with steps.step("Writing ciphertexts"):
                answer.save(folders.download / f"{number}.ct")
        steps.again(lambda: server.evaluate([records, query]))
        steps.write(folders)
