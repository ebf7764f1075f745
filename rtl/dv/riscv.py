# SPDX-License-Identifier: Apache-2.0
"""RV32I instructions as words, for small programs in tests."""

from __future__ import annotations

LB, LHU, LW, SB, SW = 0, 5, 2, 0, 2


def addi(rd: int, rs1: int, imm: int) -> int:
    """rd = rs1 + imm."""
    return (imm & 0xFFF) << 20 | rs1 << 15 | rd << 7 | 0x13


def lui(rd: int, upper: int) -> int:
    """rd = upper << 12."""
    return (upper & 0xFFFFF) << 12 | rd << 7 | 0x37


def add(rd: int, rs1: int, rs2: int) -> int:
    """rd = rs1 + rs2."""
    return rs2 << 20 | rs1 << 15 | rd << 7 | 0x33


def xor(rd: int, rs1: int, rs2: int) -> int:
    """rd = rs1 ^ rs2."""
    return add(rd, rs1, rs2) | 4 << 12


def sll(rd: int, rs1: int, rs2: int) -> int:
    """rd = rs1 << rs2."""
    return add(rd, rs1, rs2) | 1 << 12


def load(width: int, rd: int, rs1: int, imm: int) -> int:
    """rd = memory[rs1 + imm]."""
    return (imm & 0xFFF) << 20 | rs1 << 15 | width << 12 | rd << 7 | 0x03


def store(width: int, rs2: int, rs1: int, imm: int) -> int:
    """memory[rs1 + imm] = rs2."""
    return (imm >> 5 & 0x7F) << 25 | rs2 << 20 | rs1 << 15 | width << 12 | (imm & 31) << 7 | 0x23


def bne(rs1: int, rs2: int, offset: int) -> int:
    """Branch by `offset` bytes unless equal."""
    bits = (offset >> 12 & 1) << 31 | (offset >> 5 & 0x3F) << 25 | (offset >> 1 & 15) << 8 | (offset >> 11 & 1) << 7
    return bits | rs2 << 20 | rs1 << 15 | 1 << 12 | 0x63


def jalr(rd: int, rs1: int, imm: int) -> int:
    """Jump to rs1 + imm; rd is the next instruction's address."""
    return (imm & 0xFFF) << 20 | rs1 << 15 | rd << 7 | 0x67


def jal(rd: int, offset: int) -> int:
    """Jump by `offset` bytes; rd is the next instruction's address."""
    bits = (
        (offset >> 20 & 1) << 31 | (offset >> 1 & 0x3FF) << 21 | (offset >> 11 & 1) << 20 | (offset >> 12 & 0xFF) << 12
    )
    return bits | rd << 7 | 0x6F


def halt() -> int:
    """Jump to itself."""
    return jal(0, 0)
