# SPDX-License-Identifier: Apache-2.0
"""HEIR's text as kernels: values against numpy, rules of levels and scales, refusals with their line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from ringsmith.cli import application
from ringsmith.errors import InputError
from ringsmith.heir.program import from_heir
from ringsmith.heir.text import read_heir

SLOTS = 8


def head(scheme: str, ring: str, encoding: str, levels: int = 3) -> str:
    """Names of types as HEIR prints them, of degree 16: !ctL is fresh at level L, !ctL_1 of twice its scale, !ctL_D3
    a product of three polynomials."""
    lines = ["!Z17_i64 = !mod_arith.int<65537 : i64>", "!rns = !rns.rns<!Z17_i64>", "#key = #lwe.key<>"]
    lines += [f"#e = #lwe.{encoding}<scaling_factor = 40>", f"#e1 = #lwe.{encoding}<scaling_factor = 80>"]
    lines.append(f"#ring_p = #polynomial.ring<coefficientType = {ring}, polynomialModulus = <1 + x**16>>")
    lines.append("#ring_c = #polynomial.ring<coefficientType = !rns, polynomialModulus = <1 + x**16>>")
    lines.append("!pt = !lwe.lwe_plaintext<plaintext_space = <ring = #ring_p, encoding = #e>>")
    for level in range(levels):
        chain = ", ".join(["1099502714881 : i64"] * levels)
        lines.append(f"#chain{level} = #lwe.modulus_chain<elements = <{chain}>, current = {level}>")
        for name, code, size in (("", "#e", ""), ("_1", "#e1", ""), ("_D3", "#e1", ", size = 3")):
            space = f"#lwe.ciphertext_space<ring = #ring_c, encryption_type = mix{size}>"
            lines.append(f"#space{level}{name} = {space}")
            lines.append(
                f"!ct{level}{name} = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_p, encoding = {code}>, "
                f"ciphertext_space = #space{level}{name}, key = #key, modulus_chain = #chain{level}>"
            )
    lines.append(f"module attributes {{{scheme}.schemeParam = #{scheme}.p<logN = 4, logDefaultScale = 40>}} {{")
    return "\n".join(lines)


CKKS = head("ckks", "f64", "inverse_canonical_encoding")
SQUARE = """
    %p = ckks.mul %ct, %ct : (!ct2, !ct2) -> !ct2_D3
    %q = ckks.relinearize %p {from_basis = array<i32: 0, 1, 2>, to_basis = array<i32: 0, 1>} : (!ct2_D3) -> !ct2_1
    %r = ckks.rescale %q {to_ring = #ring_c} : !ct2_1 -> !ct1
"""


def written(folder: Path, body: str, arguments: str = "%ct: !ct2 {secret.secret}", types: str = CKKS) -> Path:
    file = folder / "f.mlir"
    file.write_text(f"{types}\n  func.func @f({arguments}) -> !ct1 {{\n{body}\n  }}\n}}\n")
    return file


def test_a_network_is_what_numpy_gives(tmp_path: Path) -> None:
    body = """
    %ct_0 = orion.linear_transform %ct, %w {diagonal_count = 3 : i32, diagonal_indices = array<i32: 0, 2, 7>,
        slots = 8 : i32} : (!ct2, tensor<3x8xf64>) -> !ct2
    %rot = ckks.rotate %ct_0 {static_shift = 3 : i32} : !ct2
    %c1 = arith.constant 1 : i32
    %rot2 = ckks.rotate %rot, %c1 : i32 : !ct2
    %sum = ckks.sub %ct_0, %rot2 : (!ct2, !ct2) -> !ct2
    %b = arith.constant dense<[0.5, -1.0, 0.25, 0.0, 1.0e-1, 2.0, 3.0, -0.5]> : tensor<8xf64>
    %pt = lwe.rlwe_encode %b {encoding = #e, ring = #ring_p} : tensor<8xf64> -> !pt
    %biased = ckks.add_plain %sum, %pt : (!ct2, !pt) -> !ct2
    %p = ckks.mul %biased, %biased : (!ct2, !ct2) -> !ct2_D3
    %q = ckks.relinearize %p {from_basis = array<i32: 0, 1, 2>, to_basis = array<i32: 0, 1>} : (!ct2_D3) -> !ct2_1
    %r = ckks.rescale %q {to_ring = #ring_c} : !ct2_1 -> !ct1
    %n = ckks.negate %r : !ct1
    %t = orion.chebyshev %n {coefficients = [0.1, 0.75, 0.0, 0.25], domain_end = 9.0 : f64, domain_start = -100.0 : f64}
        : (!ct1) -> !ct1
    return %t : !ct1""".replace(",\n        ", ", ").replace("}\n        :", "} :")
    made = from_heir(written(tmp_path, body, "%ct: !ct2 {secret.secret}, %w: tensor<3x8xf64> {orion.level = 2 : i64}"))
    source = np.random.default_rng(4)
    x, w = source.uniform(-1, 1, SLOTS), source.uniform(-1, 1, (3, SLOTS))
    y: Any = sum(w[row] * x[(np.arange(SLOTS) + shift) % SLOTS] for row, shift in enumerate((0, 2, 7)))
    y = y - y[(np.arange(SLOTS) + 4) % SLOTS] + [0.5, -1.0, 0.25, 0.0, 0.1, 2.0, 3.0, -0.5]
    u = (2 * -(y**2) + 91.0) / 109.0
    assert np.allclose(made.clear(ct=x, w=w), 0.1 + 0.75 * u + 0.25 * (4 * u**3 - 3 * u))


def test_bgv_is_exact_modulo_the_plaintext_modulus(tmp_path: Path) -> None:
    types = head("bgv", "!Z17_i64", "full_crt_packing_encoding")
    body = """
    %p = bgv.mul %ct, %0 : (!ct2, !ct2) -> !ct2_D3
    %q = bgv.relinearize %p {from_basis = array<i32: 0, 1, 2>, to_basis = array<i32: 0, 1>} : (!ct2_D3) -> !ct2_1
    %r = bgv.modulus_switch %q {to_ring = #ring_c} : !ct2_1 -> !ct1_1
    %t = bgv.rotate_cols %r {static_shift = 3 : i32} : !ct1_1
    return %t : !ct1_1"""
    made = from_heir(written(tmp_path, body, "%ct: !ct2, %0: !ct2", types), bound=7)
    x, y = (np.random.default_rng(k).integers(-7, 8, (2, SLOTS)) for k in (1, 2))
    assert made.scheme == "bfv"
    assert made.plain_modulus == 65537
    assert np.array_equal(made.clear(ct=x, v0=y), np.roll(x * y, -3, axis=1))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("%a = ckks.bootstrap %ct : !ct2 -> !ct2", "ckks.bootstrap is not read: the compiler places refreshes itself"),
        ("%a = ckks.key_switch %ct : !ct2 -> !ct2", "ckks.key_switch is not read"),
        ("%a = scf.for %i = %ct to %ct {", "is no operation on one line"),
        ("%a = ckks.add %ct, %b : (!ct2, !ct2) -> !ct2", "%b, which nothing before it makes"),
        ("%a = ckks.add %ct, %ct : (!ct2, !ct2) -> !ct1", "level 2 in, level 1 out"),
        ("%a = ckks.mul %ct, %ct : (!ct2, !ct2) -> !ct2", "scale 2^40 out; the rule gives 2^80"),
        ("%a = ckks.mul %ct, %ct : (!ct2, !ct2) -> !ct2_1", "2 polynomials out; the rule gives 3"),
        ("%a = ckks.rescale %ct {to_ring = #ring_c} : !ct2 -> !ct1", "scale 2^40 out; the rule gives 2^0"),
        ("%a = ckks.add %ct, %ct : (!ct2, !ct2) -> !ct2_1", "scale 2^80 out; the rule gives 2^40"),
        ("%a = ckks.add %ct : (!ct2) -> !ct2", "1 operands; 2 are needed"),
        ("%a = ckks.add_plain %ct, %ct : (!ct2, !ct2) -> !ct2", "2 ciphertexts among its operands; it takes 1"),
        ("%a = ckks.negate %ct : tensor<5x!ct2>", "not a tensor of them"),
        ("%a = ckks.negate %ct : !loop", "names of types in a circle"),
        (SQUARE, "does not end with a return"),
    ],
)
def test_what_breaks_a_rule_is_named_with_its_line(body: str, message: str, tmp_path: Path) -> None:
    types = "!loop = !lwe.lwe_ciphertext<a = !more>\n!more = !lwe.lwe_ciphertext<a = !loop>\n" + CKKS
    file = written(tmp_path, body, types=types)
    with pytest.raises(InputError) as caught:
        from_heir(file)
    assert message in str(caught.value)
    assert "f.mlir:" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no function"),
        ("module {\n}", "no function"),
        ("nonsense", "outside a function"),
        ("func.func @f(%a: i32) -> i32 {", "has no end"),
        ("func.func @f(%a) {\n}", "is no %NAME: TYPE"),
        ("func.func @f(%a: i32) {\nreturn %a : i32\n}", "takes no ciphertext"),
    ],
)
def test_a_wrong_file_is_named(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "f.mlir").write_text(text)
    with pytest.raises(InputError, match=message):
        from_heir(tmp_path / "f.mlir")


def test_names_of_arguments_are_free_and_bounds_are_numbers(tmp_path: Path) -> None:
    file = written(tmp_path, "    return %class : !ct1", "%class: !ct1, %params: tensor<8xf64>, %0: tensor<8xf64>")
    assert list(from_heir(file, bound=2).arguments) == ["class_", "params_", "v0"]
    file = written(tmp_path, "    return %a_b : !ct1", "%a_b: !ct1, %a.b: tensor<8xf64>")
    with pytest.raises(InputError, match="two arguments of one name"):
        from_heir(file)
    for bound in (0, "1", float("nan"), True):
        with pytest.raises(InputError, match="positive finite number"):
            from_heir(file, bound=bound)  # type: ignore[arg-type]


def test_many_names_in_names_are_looked_at_once(tmp_path: Path) -> None:
    names = [f"#a{k} = #x<#a{k - 1}, #a{k - 1}, #a{k - 1}>" for k in range(1, 30)]
    (tmp_path / "f.mlir").write_text(
        "\n".join(["#a0 = #x<1>", *names, "!t = !lwe.lwe_plaintext<#a29, polynomialModulus = <1 + x**8>>"])
        + "\nfunc.func @f(%a: !t) -> !t {\nreturn %a : !t\n}\n"
    )
    [function] = read_heir(tmp_path / "f.mlir").functions
    assert function.arguments["%a"].degree == 8


def test_the_command_line_runs_a_file_encrypted(tmp_path: Path) -> None:
    file = written(tmp_path, f"{SQUARE}    return %r : !ct1")
    done = CliRunner().invoke(application(), ["run", str(file), "--seed", "3"])
    assert done.exit_code == 0, done.output
    shown = CliRunner().invoke(application(), ["show", str(file)])
    assert "HEIR" in shown.output, shown.output
