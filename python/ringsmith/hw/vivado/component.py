# SPDX-License-Identifier: Apache-2.0
"""`component.xml`: the IP in IP-XACT (IEEE 1685-2014): buses, registers, ports, files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as ET

from ringsmith.hw.registers.maps import Field, Register, RegisterMap
from ringsmith.hw.vivado.ports import BLOCK, CLOCK, DATA, REGISTERS, RESET, Port
from ringsmith.presets import Preset

NAMESPACE = "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"
SCHEMA = f"{NAMESPACE} {NAMESPACE}/index.xsd"
_XSI = "http://www.w3.org/2001/XMLSchema-instance"
#: Access of software as the maps say it, in IP-XACT's words, with what a write does beside setting the value.
ACCESS = {
    "r": ("read-only", ""),
    "rw": ("read-write", ""),
    "w, acts once": ("write-only", ""),
    "r, write 1 to clear": ("read-write", "oneToClear"),
}
#: Bits of a register.
WORD = 32
#: Names of the bus definitions of AMBA.
_BUSES = {REGISTERS: "AXI4-Lite", DATA: "AXI4"}
_FILE_TYPES = {".sv": "systemVerilogSource", ".v": "verilogSource"}


def component(
    module: str, preset: Preset, of: Sequence[Port], registers: RegisterMap, files: Sequence[str], version: str
) -> str:
    """The component as XML; `files` are the sources in the order to read them, relative to the file."""
    ET.register_namespace("ipxact", NAMESPACE)
    ET.register_namespace("xsi", _XSI)
    root = ET.Element(_tag("component"), {f"{{{_XSI}}}schemaLocation": SCHEMA})
    for name, value in (("vendor", "ringsmith"), ("library", "coprocessor"), ("name", module), ("version", version)):
        _text(root, name, value)
    buses = _sub(root, "busInterfaces")
    for prefix, name in _BUSES.items():
        _bus(buses, prefix, name, [port for port in of if port.bus == prefix])
    space = _sub(_sub(root, "addressSpaces"), "addressSpace")
    _text(space, "name", "memory")
    _text(space, "range", f"'h{1 << preset.address_bits:x}")
    _text(space, "width", str(next(port.bits for port in of if port.name == f"{DATA}_wdata")))
    _memory_map(root, preset.cores, registers)
    _model(root, module, of)
    _files(root, files)
    _text(root, "description", f"ringsmith co-processor, preset {preset.name}")
    ET.indent(root)
    return f"{_HEADER}{ET.tostring(root, encoding='unicode')}\n"


def _tag(name: str) -> str:
    return f"{{{NAMESPACE}}}{name}"


def _sub(parent: ET.Element, tag: str, /, **attributes: str) -> ET.Element:
    return ET.SubElement(parent, _tag(tag), attributes)


def _text(parent: ET.Element, tag: str, text: str) -> None:
    _sub(parent, tag).text = text


def _bus(parent: ET.Element, prefix: str, name: str, of: Iterable[Port]) -> None:
    """A bus with the port of each of its signals."""
    bus = _sub(parent, "busInterface")
    _text(bus, "name", prefix)
    names = {"vendor": "amba.com", "library": "AMBA4", "version": "r0p0"}
    _sub(bus, "busType", name=name, **names)
    abstraction = _sub(_sub(bus, "abstractionTypes"), "abstractionType")
    _sub(abstraction, "abstractionRef", name=f"{name}_rtl", **names)
    maps = _sub(abstraction, "portMaps")
    signals = [(port.signal, port.name) for port in of]
    for signal, port in [*signals, ("ACLK", CLOCK), ("ARESETn", RESET)]:
        pair = _sub(maps, "portMap")
        _text(_sub(pair, "logicalPort"), "name", signal)
        _text(_sub(pair, "physicalPort"), "name", port)
    if prefix == REGISTERS:
        _sub(_sub(bus, "slave"), "memoryMapRef", memoryMapRef="registers")
    else:
        _sub(_sub(bus, "master"), "addressSpaceRef", addressSpaceRef="memory")


def _memory_map(root: ET.Element, cores: int, registers: RegisterMap) -> None:
    """The registers of each core, 4 KiB apart."""
    space = _sub(_sub(root, "memoryMaps"), "memoryMap")
    _text(space, "name", "registers")
    for core in range(cores):
        block = _sub(space, "addressBlock")
        _text(block, "name", f"core_{core}")
        _text(block, "baseAddress", f"'h{core * BLOCK:x}")
        _text(block, "range", f"'h{BLOCK:x}")
        _text(block, "width", str(WORD))
        for register in registers.registers:
            _register(block, register)
    _text(space, "addressUnitBits", "8")


def _register(block: ET.Element, register: Register) -> None:
    made = _sub(block, "register")
    _text(made, "name", register.name)
    _text(made, "description", register.description)
    if register.count > 1:
        _text(made, "dim", str(register.count))
    _text(made, "addressOffset", f"'h{register.address:x}")
    _text(made, "size", str(WORD))
    for field in register.fields:
        _field(made, field)


def _field(register: ET.Element, field: Field) -> None:
    made = _sub(register, "field")
    _text(made, "name", field.name)
    if field.description:
        _text(made, "description", field.description)
    _text(made, "bitOffset", str(field.low))
    if field.reset is not None:
        _text(_sub(_sub(made, "resets"), "reset"), "value", f"'h{field.reset:x}")
    _text(made, "bitWidth", str(field.width))
    access, write = ACCESS[field.access]
    _text(made, "access", access)
    if write:
        _text(made, "modifiedWriteValue", write)


def _model(root: ET.Element, module: str, of: Iterable[Port]) -> None:
    """The module's name and its ports."""
    model = _sub(root, "model")
    view = _sub(_sub(model, "views"), "view")
    _text(view, "name", "rtl")
    _text(view, "componentInstantiationRef", "rtl")
    instance = _sub(_sub(model, "instantiations"), "componentInstantiation")
    _text(instance, "name", "rtl")
    _text(instance, "language", "verilog")
    _text(instance, "moduleName", module)
    _text(_sub(instance, "fileSetRef"), "localName", "rtl")
    listed = _sub(model, "ports")
    for port in of:
        made = _sub(listed, "port")
        _text(made, "name", port.name)
        wire = _sub(made, "wire")
        _text(wire, "direction", port.direction)
        if port.bits > 1:
            vector = _sub(_sub(wire, "vectors"), "vector")
            _text(vector, "left", str(port.bits - 1))
            _text(vector, "right", "0")


def _files(root: ET.Element, files: Sequence[str]) -> None:
    fileset = _sub(_sub(root, "fileSets"), "fileSet")
    _text(fileset, "name", "rtl")
    for name in files:
        made = _sub(fileset, "file")
        _text(made, "name", name)
        _text(made, "fileType", _FILE_TYPES[name[name.rindex(".") :]])


_HEADER = '<?xml version="1.0" encoding="UTF-8"?>\n<!-- SPDX-License-Identifier: Apache-2.0 -->\n'
