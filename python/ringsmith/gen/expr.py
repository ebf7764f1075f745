# SPDX-License-Identifier: Apache-2.0
"""A tiny language of non-negative integer expressions, printed as SystemVerilog and as Rust.

Names, integers, `+ - * / %`, comparisons, `a in (b, c)`, `and or`, `a if c else b`, and calls of
`min max ceil_div clog2 log2 pow2` or of other formulas. Division rounds down; nothing may become negative.
"""

from __future__ import annotations

import ast

from ringsmith.errors import FormatError

BUILTINS = {"min": 2, "max": 2, "ceil_div": 2, "ceil_log2": 1, "clog2": 1, "log2": 1, "pow2": 1}
_BINARY: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "/", ast.Mod: "%"}
_COMPARE: dict[type, str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


def parse(text: str, where: str) -> ast.expr:
    """Parse one expression; a syntax error raises `FormatError` naming `where`."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise FormatError(f"{where}: cannot read {text!r}: {error.msg}") from error


def names(node: ast.expr) -> set[str]:
    """Return the variables an expression uses, called functions not counted."""
    called = {id(call.func) for call in ast.walk(node) if isinstance(call, ast.Call)}
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and id(part) not in called}


def calls(node: ast.expr) -> set[str]:
    """Return the functions an expression calls."""
    found = (call.func for call in ast.walk(node) if isinstance(call, ast.Call))
    return {func.id for func in found if isinstance(func, ast.Name)}


def evaluate(node: ast.expr, variables: dict[str, int], functions: dict[str, tuple[list[str], ast.expr]]) -> int:
    """Return the expression's value; used to test what the two printers write."""
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name):
            return variables[name]
        case ast.BinOp(left=left, op=op, right=right):
            return _apply(type(op), evaluate(left, variables, functions), evaluate(right, variables, functions))
        case ast.Compare(left=left, ops=[ast.In()], comparators=[ast.Tuple(elts=members)]):
            value = evaluate(left, variables, functions)
            return int(any(value == evaluate(member, variables, functions) for member in members))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _apply(type(op), evaluate(left, variables, functions), evaluate(right, variables, functions))
        case ast.BoolOp(op=op, values=values):
            truths = [bool(evaluate(value, variables, functions)) for value in values]
            return int(all(truths) if isinstance(op, ast.And) else any(truths))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return evaluate(body if evaluate(test, variables, functions) else orelse, variables, functions)
        case ast.Call(func=ast.Name(id=name), args=args):
            values_ = [evaluate(arg, variables, functions) for arg in args]
            if name in functions:
                parameters, body = functions[name]
                return evaluate(body, dict(zip(parameters, values_, strict=True)), functions)
            return _builtin(name, values_)
    raise FormatError(f"not in the expression language: {ast.unparse(node)}")


def _apply(op: type, left: int, right: int) -> int:
    table = {
        "+": left + right,
        "-": left - right,
        "*": left * right,
        "<": int(left < right),
        "<=": int(left <= right),
        ">": int(left > right),
        ">=": int(left >= right),
        "==": int(left == right),
        "!=": int(left != right),
    }
    symbol = _BINARY.get(op) or _COMPARE.get(op)
    if symbol in ("/", "%"):
        return left // right if symbol == "/" else left % right
    if symbol is None:
        raise FormatError(f"operator {op.__name__} is not in the expression language")
    return table[symbol]


def _builtin(name: str, values: list[int]) -> int:
    match name:
        case "min":
            return min(values)
        case "max":
            return max(values)
        case "ceil_div":
            return -(-values[0] // values[1])
        case "ceil_log2" | "clog2" | "log2":
            return (values[0] - 1).bit_length()
        case "pow2":
            return 1 << values[0]
    raise FormatError(f"unknown function {name!r}")


def to_sv(node: ast.expr) -> str:
    """Print an expression in SystemVerilog."""
    match node:
        case ast.Call(func=ast.Name(id="ceil_log2" | "clog2" | "log2"), args=[arg]):
            return f"$clog2({to_sv(arg)})"
        case ast.Call(func=ast.Name(id="pow2"), args=[arg]):
            return f"(1 << {to_sv(arg)})"
        case ast.Attribute(value=ast.Name(id=name), attr=field):
            return f"{name}.{field}"
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return f"({to_sv(test)} ? {to_sv(body)} : {to_sv(orelse)})"
        case ast.BoolOp(op=op, values=values):
            return "(" + (" && " if isinstance(op, ast.And) else " || ").join(map(to_sv, values)) + ")"
        case ast.Call(func=ast.Name(id=name), args=args):
            prefix = f"lat_{name}" if name in BUILTINS else name
            return f"{prefix}({', '.join(map(to_sv, args))})"
    return _common(node, to_sv)


def to_rust(node: ast.expr, arguments: dict[str, str]) -> str:
    """Print an expression in Rust over `u64`; `arguments` maps variables to Rust names."""

    def again(part: ast.expr) -> str:
        return to_rust(part, arguments)

    match node:
        case ast.Name(id=name):
            return arguments[name]
        case ast.Call(func=ast.Name(id="ceil_log2" | "clog2" | "log2"), args=[arg]):
            return f"ceil_log2({again(arg)})"
        case ast.Call(func=ast.Name(id="pow2"), args=[arg]):
            return f"(1 << {again(arg)})"
        case ast.Call(func=ast.Name(id="ceil_div"), args=[left, right]):
            return f"({again(left)}).div_ceil({again(right)})"
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=[left, right]):
            return f"({again(left)}).{name}({again(right)})"
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return f"(if {again(test)} {{ {again(body)} }} else {{ {again(orelse)} }})"
        case ast.BoolOp(op=op, values=values):
            return "(" + (" && " if isinstance(op, ast.And) else " || ").join(map(again, values)) + ")"
        case ast.Call(func=ast.Name(id=name), args=args):
            return f"{name}({', '.join(map(again, args))})"
    return _common(node, again)


def _common(node: ast.expr, again: object) -> str:
    assert callable(again)
    match node:
        case ast.Constant(value=int(value)):
            return str(value)
        case ast.Name(id=name):
            return name
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return f"({again(left)} {_BINARY[type(op)]} {again(right)})"
        case ast.Compare(left=left, ops=[ast.In()], comparators=[ast.Tuple(elts=members)]):
            return "(" + " || ".join(f"({again(left)} == {again(member)})" for member in members) + ")"
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
            return f"({again(left)} {_COMPARE[type(op)]} {again(right)})"
    raise FormatError(f"not in the expression language: {ast.unparse(node)}")
