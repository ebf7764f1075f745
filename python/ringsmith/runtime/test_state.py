# SPDX-License-Identifier: Apache-2.0
"""Evaluations that were killed go on from the state they left, to the same bytes; other states are refused."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.errors import InputError
from ringsmith.runtime.state import StateFile
from ringsmith.runtime.test_refreshes import X, deep

#: Evaluates what lies in a folder, and is killed right after its second state is written.
KILLED = """
import os, signal, sys
from pathlib import Path
import ringsmith as rs
from ringsmith.runtime.messages import Encryptions, Keys
from ringsmith.runtime.state import StateFile
folder, written, kept = Path(sys.argv[1]), [], StateFile.keep
def keep(self, state):
    kept(self, state)
    written.append(len(state))
    if len(written) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
StateFile.keep = keep
program = rs.Program.from_bytes((folder / "program").read_bytes(), allow_insecure=True)
server = program.server(Keys.from_bytes((folder / "keys").read_bytes()), threads=1)
server.run(Encryptions.from_bytes((folder / "sent").read_bytes()), {}, state=folder / "state")
"""


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[rs.Program, Any, Any, bytes]:
    """Return a program, its server, what was sent, and the state that a killed evaluation left."""
    folder = tmp_path_factory.mktemp("killed")
    program = deep.compile()
    client = program.client(seed=b"7" * 32)
    keys, sent = client.evaluation_keys, client.encrypt(x=X)
    for name, own in (("program", program), ("keys", keys), ("sent", sent)):
        (folder / name).write_bytes(own.to_bytes())
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder)], capture_output=True, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert sorted(path.name for path in folder.iterdir()) == ["keys", "program", "sent", "state"]
    return program, program.server(keys), sent, (folder / "state").read_bytes()


def test_a_killed_evaluation_goes_on_to_the_same_bytes(killed: Any, tmp_path: Path) -> None:
    _, server, sent, state = killed
    path, told = tmp_path / "state", []
    path.write_bytes(state)
    found = server.run(sent, {}, progress=lambda done, total: told.append((done, total)), state=path)
    assert found.result.to_bytes() == server.evaluate(sent).to_bytes()
    assert not path.exists()
    assert told[0][0] > 1
    assert told[-1][0] == told[-1][1]
    # From the beginning, and where nothing was killed: the same bytes too.
    assert server.run(sent, {}, state=path).result.to_bytes() == found.result.to_bytes()
    assert list(tmp_path.iterdir()) == []


def test_states_that_are_no_state_of_this_evaluation_are_refused(killed: Any, tmp_path: Path) -> None:
    program, server, sent, state = killed
    other = program.client(seed=b"7" * 32).encrypt(x=X / 2)
    path = tmp_path / "state"
    for data, given, told in (
        (b"", sent, "not a state of an evaluation; name another file"),
        (state[:10], sent, "not a state"),
        (state[:-1], sent, "a damaged state; remove it to begin anew"),
        (state[:200] + bytes([state[200] ^ 1]) + state[201:], sent, "damaged"),
        (state, other, "the state of another program, other keys or other arguments"),
    ):
        path.write_bytes(data)
        with pytest.raises(InputError, match=told):
            server.run(given, {}, state=path)
        assert path.read_bytes() == data
    with pytest.raises(InputError, match="a folder; name a file"):
        server.run(sent, {}, state=tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        server.run(sent, {}, state=tmp_path / "none" / "state")


def test_what_no_walk_through_the_program_leaves_is_refused(killed: Any, tmp_path: Path) -> None:
    _, server, sent, state = killed
    path, head = tmp_path / "state", len(b"ringsmith state 1\n")
    own, about = state[head + 64 :], state[head : head + 32]
    tasks = int.from_bytes(own[:4], "little")
    for changed, told in (
        (b"", "cut short"),
        ((tasks + 1).to_bytes(4, "little") + own[4:], rf"it has {tasks + 1} tasks, the program {tasks}"),
        (own[:4] + b"\2" + own[5:], "a task is marked 2, not 0 or 1"),
        (own[:4] + b"\0" + own[5:], "is done before task 0"),
        (own[: 4 + tasks] + bytes(4), "it lacks step"),
        (own[: 4 + tasks + 4] + b"\xff" * 4 + own[4 + tasks + 8 :], "which nothing needs next"),
        (own + b"\0", "1 bytes follow its end"),
    ):
        StateFile(path, about, 0).keep(changed)
        with pytest.raises(InputError, match=told):
            server.run(sent, {}, state=path)


def test_what_keeps_no_state_is_refused(tmp_path: Path) -> None:
    @rs.kernel(x=rs.Encrypted(4, bound=1.0))
    def square(x: Any) -> Any:
        return x * x

    program = square.compile()
    client = program.client()
    server = program.server(client.evaluation_keys)
    with pytest.raises(InputError, match=r"the program has no refreshes.*leave out state="):
        server.run(client.encrypt(x=np.zeros(4)), {}, state=tmp_path / "state")
