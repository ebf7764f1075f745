# SPDX-License-Identifier: Apache-2.0
"""rs_serial_frames: what is right is done once, whatever is lost, doubled, flipped or cut on the way."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge

from dv.parameters import parameter
from dv.serial_frames import FRAME, HEADER, Reply, answer, answer_bytes, command, parse
from dv.stimulus import cycles, receive, send, start
from dv.structs import Pins
from ringsmith.hw.cocotb_runner import run_checks

PINS = ("abort_i", "rx_valid_i", "tx_ready_i", "in_ready_i", "out_valid_i", "done_i", "refused_i")


class Executor:
    """Takes what a command sends and gives what it asks for; remembers each command with its data."""

    def __init__(self, dut) -> None:
        self.pins, self.dut, self.rng = Pins(dut), dut, random.Random(7)
        self.done: list[tuple[int, int, int, bytes]] = []
        self.refuse, self.delay = False, 0

    async def run(self) -> None:
        while True:
            await FallingEdge(self.dut.clk_i)
            if self.pins["command_o.valid"]:
                await self._do()

    async def _do(self) -> None:
        pins = self.pins
        kind, length, address = (pins[f"command_o.{name}"] for name in ("kind", "length", "address"))
        data = bytearray()
        while not kind & 1 and len(data) < length:
            pins.set({"in_ready_i": int(self.rng.random() < 0.7)})
            await RisingEdge(self.dut.clk_i)
            if pins["in_valid_o"] and pins["in_ready_i"]:
                data.append(pins["in_data_o"])
            await FallingEdge(self.dut.clk_i)
        pins.set({"in_ready_i": 0})
        for byte in told(address, length) if kind & 1 and not self.refuse else b"":
            if not pins["command_o.valid"]:
                return  # a reset
            pins.set({"out_valid_i": 1, "out_data_i": byte})
            await FallingEdge(self.dut.clk_i)
            pins.set({"out_valid_i": 0})
            await cycles(self.dut, self.rng.randrange(2))
        await cycles(self.dut, self.delay)
        if not pins["command_o.valid"]:
            return
        self.done.append((kind, length, address, bytes(data)))
        pins.set({"done_i": 1, "refused_i": int(self.refuse)})
        await FallingEdge(self.dut.clk_i)
        pins.set({"done_i": 0, "refused_i": 0})


def told(address: int, length: int) -> bytes:
    """Data that the executor answers with."""
    return random.Random(address).randbytes(length)


async def begin(dut, *, greet: bool = True) -> Executor:
    await start(dut, **dict.fromkeys(PINS, 0))
    executor = Executor(dut)
    cocotb.start_soon(executor.run())
    if greet:
        assert await exchange(dut, command(FRAME.Greet, 0)) == Reply(FRAME.Ok, 0, b"")
        executor.done.clear()
    return executor


async def tell(dut, data: bytes) -> None:
    await send(dut, "rx_valid_i", "rx_ready_o", [{"rx_data_i": byte} for byte in data], random.Random(len(data)))


async def tell_line(dut, data: bytes) -> None:
    """As `tell`, on a line that does not wait for the device."""
    for byte in data:
        dut.rx_valid_i.value, dut.rx_data_i.value = 1, byte
        await FallingEdge(dut.clk_i)
        dut.rx_valid_i.value = 0
        await cycles(dut, 2)


async def hear(dut) -> Reply:
    rng = random.Random(3)
    header = bytes(b for (b,) in await receive(dut, "tx_valid_o", "tx_ready_i", ["tx_data_o"], HEADER, rng))
    left = answer_bytes(header) - HEADER
    return parse(header + bytes(b for (b,) in await receive(dut, "tx_valid_o", "tx_ready_i", ["tx_data_o"], left, rng)))


async def exchange(dut, data: bytes) -> Reply:
    await tell(dut, data)
    return await hear(dut)


async def silence(dut) -> Reply | None:
    """Wait until the frame is given up; the answer to it, if there is one."""
    for _ in range(parameter("SilenceCycles") + 8):
        if int(dut.tx_valid_o.value):
            return await hear(dut)
        await FallingEdge(dut.clk_i)
    assert int(dut.between_o.value)
    return None


@cocotb.test()
async def check_frames(dut):
    """Each kind is done with its data, and answered with its own, at the least and the most bytes."""
    executor = await begin(dut)
    most = parameter("FrameBytes")
    number = 0
    for length in (1, 2, 7, most - 1, most):
        for kind in (FRAME.WriteReg, FRAME.WriteData):
            number += 1
            data = random.Random(number).randbytes(length)
            reply = await exchange(dut, b"\0\xff\0" + command(kind, number, address=number * 4, data=data))
            assert reply == Reply(FRAME.Ok, number, b"")
            assert executor.done.pop() == (kind, length, number * 4, data)
        for kind in (FRAME.ReadReg, FRAME.ReadData):
            number += 1
            reply = await exchange(dut, command(kind, number, address=number * 4, length=length))
            assert reply == Reply(FRAME.Ok, number, told(number * 4, length))
            assert executor.done.pop() == (kind, length, number * 4, b"")
    assert not executor.done
    executor.refuse = True
    assert await exchange(dut, command(FRAME.ReadReg, 99, length=8)) == Reply(FRAME.Refused, 99, b"")
    assert await exchange(dut, command(FRAME.WriteReg, 100, data=b"abc")) == Reply(FRAME.Refused, 100, b"")


@cocotb.test()
async def check_what_no_frame_is(dut):
    """A kind or length that no frame has is answered as such, and nothing is done."""
    executor = await begin(dut)
    most = parameter("FrameBytes")
    wrong = [
        (0x12, 4), (0x00, 0), (0x80, 1), (FRAME.Greet, 1), (FRAME.ReadReg, 0), (FRAME.WriteData, 0),
        (FRAME.ReadData, most + 1), (FRAME.WriteReg, most + 1), (FRAME.ReadData, 0xFFFF),
    ]  # fmt: skip
    for kind, length in wrong:
        assert await exchange(dut, command(kind, 5, length=length)) == Reply(FRAME.Malformed, 5, b"")
    # The device's own answers, sent back, are no commands.
    await tell_line(dut, answer(FRAME.Ok, 1, b"1234"))
    assert await silence(dut) is None
    assert executor.done == []


@cocotb.test()
async def check_a_greeting_begins(dut):
    """After a reset nothing is done before a greeting; a greeting forgets what was answered."""
    executor = await begin(dut, greet=False)
    ask = command(FRAME.ReadReg, 1, address=8, length=4)
    assert await exchange(dut, ask) == Reply(FRAME.Unknown, 1, b"")
    assert await exchange(dut, command(FRAME.WriteData, 1, data=b"x")) == Reply(FRAME.Unknown, 1, b"")
    assert executor.done == []
    for _ in range(2):
        assert (await exchange(dut, command(FRAME.Greet, 1))).code == FRAME.Ok
        assert (await exchange(dut, ask)).data == told(8, 4)
    assert [kind for kind, *_ in executor.done] == [FRAME.Greet, FRAME.ReadReg] * 2
    dut.rst_ni.value = 0
    await cycles(dut, 2)
    dut.rst_ni.value = 1
    assert await exchange(dut, ask) == Reply(FRAME.Unknown, 1, b"")


@cocotb.test()
async def check_an_answer_again(dut):
    """A frame of the number answered last is not done again; its answer, with data or refused, comes again."""
    executor = await begin(dut)
    for number in range(1, 4):
        executor.refuse = number == 3
        for frame in (
            command(FRAME.WriteReg, 2 * number, data=b"abcdef"),
            command(FRAME.ReadReg, 2 * number + 1, address=number, length=9),
        ):
            first = await exchange(dut, frame)
            assert [await exchange(dut, frame) for _ in range(3)] == [first] * 3
            assert len(executor.done) == 1
            executor.done.clear()
    executor.refuse = False
    # Data of another frame have taken the place of the answer's: it is gone, and says so.
    held = command(FRAME.ReadData, 20, length=5)
    assert (await exchange(dut, held)).code == FRAME.Ok
    other = bytearray(command(FRAME.WriteData, 21, data=b"abc"))
    other[HEADER] ^= 1
    assert await exchange(dut, other) == Reply(FRAME.Damaged, 21, b"")
    assert await exchange(dut, held) == Reply(FRAME.Gone, 20, b"")
    assert len(executor.done) == 1


def faulty(frame: bytes, rng: random.Random) -> list[bytes]:
    """The frame with each byte lost, doubled and flipped in a bit, and cut in front of each."""
    made = []
    for at in range(len(frame)):
        flipped = bytes([frame[at] ^ 1 << rng.randrange(8)])
        for byte in (b"", frame[at : at + 1] * 2, flipped):
            made.append(frame[:at] + byte + frame[at + 1 :])
        made.append(frame[:at])
    return [one for one in made if one != frame]


@cocotb.test()
async def check_faults_of_a_command(dut):
    """A damaged frame is not done, or was right for all its damage; sent again after a silence, it is done once."""
    executor, rng = await begin(dut), random.Random(11)
    number, codes = 0, set()
    for sample in (command(FRAME.WriteReg, 0, data=rng.randbytes(6)), command(FRAME.ReadReg, 0, address=3, length=5)):
        for position in range(len(faulty(sample, random.Random(1)))):
            number = number % 255 + 1
            data = rng.randbytes(6) if sample[1] == FRAME.WriteReg else b""
            frame = command(sample[1], number, address=number, length=5, data=data)
            bad = faulty(frame, random.Random(1))
            await tell_line(dut, bad[position % len(bad)])
            while (reply := await silence(dut)) is not None:
                codes.add(reply.code)
                # Only a doubled last byte, or one in front, leaves the frame whole.
                assert reply.code != FRAME.Ok or frame in bad[position % len(bad)]
            again = await exchange(dut, frame)
            assert again == Reply(FRAME.Ok, number, b"" if data else told(number, 5))
            assert executor.done == [(sample[1], len(data) or 5, number, data)], position
            executor.done.clear()
    assert codes == {FRAME.Ok, FRAME.Damaged, FRAME.Malformed}


@cocotb.test()
async def check_noise(dut):
    """Random bytes, markers among them, are never done; after a silence the next frame is."""
    executor, rng = await begin(dut), random.Random(13)
    for number in range(1, 12):
        noise = bytes(rng.choice([FRAME.Command, rng.randrange(256)]) for _ in range(rng.randrange(1, 60)))
        await tell_line(dut, noise)
        assert await silence(dut) is None
        assert (await exchange(dut, command(FRAME.WriteData, number, data=noise))).code == FRAME.Ok
        assert executor.done.pop() == (FRAME.WriteData, len(noise), 0, noise)
    assert not executor.done


@cocotb.test()
async def check_abort(dut):
    """An aborted frame leaves nothing behind, wherever it is cut; one that is being done is done, unanswered."""
    executor = await begin(dut)
    frame = command(FRAME.WriteReg, 1, data=b"abcdef")

    async def abort() -> None:
        dut.abort_i.value = 1
        await FallingEdge(dut.clk_i)
        dut.abort_i.value = 0

    for cut in range(1, len(frame)):
        await tell(dut, frame[:cut])
        await abort()
        await FallingEdge(dut.clk_i)
        assert int(dut.between_o.value)
    assert executor.done == []
    executor.delay = 20
    await tell(dut, frame)
    await cycles(dut, 20)
    await abort()
    await cycles(dut, 40)
    assert int(dut.between_o.value)
    assert len(executor.done) == 1
    assert (await exchange(dut, frame)).code == FRAME.Ok
    # In the middle of an answer.
    ask = command(FRAME.ReadData, 2, length=8)
    for heard in range(1, HEADER + 12):
        await tell(dut, ask)
        await receive(dut, "tx_valid_o", "tx_ready_i", ["tx_data_o"], heard, random.Random(heard))
        await abort()
    assert (await exchange(dut, ask)).data == told(0, 8)
    assert len(executor.done) == 2


@cocotb.test()
async def check_reset(dut):
    """A reset anywhere within a frame leaves a device that waits for a greeting."""
    executor, frame = await begin(dut), command(FRAME.ReadReg, 1, length=5)
    for delay in range(0, 60, 3):
        sending = cocotb.start_soon(tell(dut, frame))
        await cycles(dut, delay)
        if not sending.done():
            sending.cancel()
        Pins(dut).set({"rx_valid_i": 0})
        dut.rst_ni.value = 0
        await cycles(dut, 2)
        dut.rst_ni.value = 1
        await cycles(dut, 60)
        assert int(dut.between_o.value)
        assert (await exchange(dut, frame)).code == FRAME.Unknown
        assert (await exchange(dut, command(FRAME.Greet, 0))).code == FRAME.Ok
        assert (await exchange(dut, frame)).data == told(0, 5)
    assert executor.done


@pytest.mark.parametrize("size", [64, 128])
def test_serial_frames(size):
    run_checks("rs_serial_frames", {"FrameBytes": size, "SilenceCycles": 200}, timeout_s=60)
