# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest

from ringsmith.errors import ToolError
from ringsmith.hw.prove import PROOFS, Mutation, Proof, prove

pytestmark = pytest.mark.hw
BY_NAME = {proof.name: proof for proof in PROOFS}
QUICK = ("fifo", "scoreboard", "axi", "axi-progress", "bursts-16", "bursts-2", "share-3", "irq")


@pytest.mark.parametrize("name", QUICK)
def test_proof_holds_and_notices_mistakes(name: str) -> None:
    proof = BY_NAME[name]
    assert prove(proof)
    for mutation in proof.mutations:
        assert not prove(proof, mutation), mutation


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(BY_NAME) - set(QUICK)))
def test_long_proof_holds_and_notices_mistakes(name: str) -> None:
    proof = BY_NAME[name]
    assert prove(proof)
    for mutation in proof.mutations:
        assert not prove(proof, mutation), mutation


@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: proof.name)
def test_every_proof_has_a_mistake_to_notice(proof: Proof) -> None:
    assert proof.mutations


def test_a_mistake_that_does_not_fit_is_an_error() -> None:
    fifo = replace(BY_NAME["fifo"], name="misfit")
    with pytest.raises(ToolError, match="does not fit"):
        prove(fifo, Mutation("rs_fifo", "no such text", ""))
