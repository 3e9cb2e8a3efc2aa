"""Write the generated layer of the package from the public headers.

    python3 generate.py HEADERS... --out FOLDER       (python/build.py calls it)

Out come
    _cdef.h          every public declaration, as cffi reads it
    _generated.py    a checked Python function or method for every C function that can have one
    _generated.pyi   the same as type stubs

A function that cannot have one must be in names.toml with the reason; otherwise a test fails.
"""
import argparse
import pathlib
import re
import sys
import tomllib

import headers
from wrappers import NUMBERS, Writer, camel

# where the hand-written classes are
ROOMS = {"building": ("Body", "Events", "Forces", "Matter", "System"), "state": ("State",),
         "files": ("Table",), "samples": ("Ensemble",),
         "studies": ("Integrator", "Linearizer", "TimeStepper", "Tracker")}
HERE = pathlib.Path(__file__).resolve().parent


def docstring(function):
    """The comment of the header, without parameters that Python does not have."""
    text = function.doc or function.name.replace("_", " ")
    text = re.sub(r"@param\[[a-z,]+\] +(?:i?work|err|allocator)\b.*?(?=@param|@return|\Z)", "",
                  text, flags=re.S)
    text = re.sub(r"\bNULL\b", "None", text).strip()
    return text.replace("\\", "\\\\").replace('"""', "'''") + f"\n\nC: {function.name}()"


def ordered(signature):
    """Parameters in the order of C. One that may be left out has a default where all after it have;
    before others it may be None. Then keywords."""
    names, optional = [], True
    for name, default in reversed([s for s in signature if not s[0].startswith("**")]):
        optional = optional and default is not None
        names.insert(0, f"{name}={default}" if optional else name)
    return names + [s[0] for s in signature if s[0].startswith("**")]


def write_function(entry, indent, first):
    function, rest, makes, signature, lines, stubs = entry
    pad, names = " " * indent, [first] * bool(first) + ordered(signature)
    out = [f"{pad}@classmethod"] if first == "cls" else []
    out.append(f"{pad}def {rest}({', '.join(names)}):")
    doc = docstring(function).replace("\n", f"\n{pad}    ")
    out.append(f'{pad}    """{doc}\n{pad}    """')
    out += [f"{pad}    {line}" for line in lines]
    return "\n".join(out) + "\n"


def write_stub(entry, indent, first, known):
    function, rest, makes, signature, lines, stubs = entry
    kinds, pad = dict(stubs[0]), " " * indent
    names = [first] * bool(first)
    for name in ordered(signature):
        bare = name.split("=")[0]
        names.append(f"{bare}: {kinds.get(bare, 'Any')}" + (" = ..." if "=" in name else ""))
    head = f"{pad}@classmethod\n" if first == "cls" else ""
    return f"{head}{pad}def {rest}({', '.join(names)}) -> {stubs[1]}: ...\n"


def constant_names(api, kind):
    """Members of an enum without what all their names begin with."""
    names = api.enums[kind]
    stem = "TAL_" + kind[4:].upper() + "_"
    kinds = [n for n in names if not n.startswith("TAL_NUM_")]
    prefix = stem if all(n.startswith(stem) for n in names) else "TAL_"
    if prefix == "TAL_" and len(kinds) > 1:
        words = [n.split("_") for n in kinds]
        same = 0
        while all(len(w) > same + 1 and w[same] == words[0][same] for w in words):
            same += 1
        prefix = "_".join(words[0][:same]) + "_"
    out = {}
    for name in names:
        short = name.removeprefix(prefix if name.startswith(prefix) else "TAL_")
        out[short if short[:1].isalpha() else "_" + short] = name
    return out


def generate(root, out):
    api = headers.read(root)
    names = tomllib.loads((HERE / "names.toml").read_text())
    writer = Writer(api, names)
    for place, size in names["field_sizes"].items():
        kind, field = place.split(".")
        api.sizes.setdefault(kind, {})[field] = size
    classes, functions = writer.module()
    text = ['"""Written by generate.py from the public headers: do not edit."""',
            "", "from talus._runtime import (",
            "    NULL, Choice, Index, Object, _borrow, _breach, _enum, _fail, _in, _index, _inout, _ix,",
            "    _busy, _list, _matrix, _numbers, _objects, _op_size, _out, _own, _record,",
            "    _result, _same, _str, _taken, _text, _value, ffi, lib)", ""]
    ours = [f"from talus._{room} import {cls}" for room, listed in ROOMS.items() for cls in listed
            if cls in {*writer.objects.values(), *writer.indices.values()}]
    stub = [*ours, "from collections.abc import Mapping, Sequence", "from enum import IntEnum",
            "from typing import Any", "", "import numpy as np",
            "from numpy.typing import ArrayLike", "",
            "from talus._runtime import Index, Object, Record, Transform", "",
            "FIELD_SIZES: dict[str, dict[str, str]]", "REACHED: dict[str, str]",
            "LEFT_OUT: dict[str, str]", ""]
    for kind in api.enums:
        members = constant_names(api, kind)
        text.append(f"\nclass {camel(kind[4:])}(Choice):")
        doc = api.docs.get(kind, kind).replace('"""', "'''").replace("\n", "\n    ")
        text.append(f'    """{doc}"""')
        text += [f"    {short} = lib.{name}" for short, name in members.items()]
        stub.append(f"class {camel(kind[4:])}(IntEnum):")
        stub += [f"    {short}: int" for short in members]
    for kind in [*writer.objects, *writer.indices]:
        base = "Object" if kind in writer.objects else "Index"
        cls, entries = writer.name_of(kind), classes.get(kind, [])
        if cls in names["by_hand_classes"]:
            cls = "_" + cls
        doc = api.docs.get(kind, kind).replace('"""', "'''").replace("\n", "\n    ")
        text.append(f'\n\nclass {cls}({base}):\n    """{doc}"""')
        text.append(f"    _kind = '{kind}'\n    __slots__ = ()")
        text.append(f"    _part = '{writer.parts[kind]}'\n" if kind in writer.parts else "")
        stub.append(f"\nclass {cls}({base}):")
        for entry in entries:
            first = "cls" if entry[2] else "self"
            text.append(write_function(entry, 4, first))
            stub.append(write_stub(entry, 4, first, writer))
        if not entries:
            stub.append("    ...")
    for entry in functions:
        text.append("\n" + write_function(entry, 0, ""))
        stub.append(write_stub(entry, 0, "", writer))
    for name, kind in api.constants.items():
        if kind in ("double", "int"):
            text.append(f"{name[4:]} = lib.{name}")
            stub.append(f"{name[4:]}: {NUMBERS[kind]}")
    text.append(f"\nFIELD_SIZES = {api.sizes!r}".replace(", 'tal_", ",\n    'tal_"))
    text.append(f"\nREACHED = {writer.where!r}".replace(", '", ",\n    '"))
    text.append(f"\nLEFT_OUT = {writer.left!r}".replace(", 'tal_", ",\n    'tal_"))
    out.mkdir(parents=True, exist_ok=True)
    header = (root / "common/include/talus/common/version.h").read_text()
    version = ".".join(re.search(rf"VERSION_{part} +(\d+)", header)[1]
                       for part in ("MAJOR", "MINOR", "PATCH"))
    (out / "_cdef.h").write_text(f"// version {version}\n" + "\n".join(api.cdef) + "\n")
    (out / "_generated.py").write_text("\n".join(text) + "\n")
    (out / "_generated.pyi").write_text("\n".join(stub) + "\n")
    return api, writer


def disagreements(api, writer):
    """Functions without a wrapper or a reason, and lines of names.toml about what is gone."""
    found = [f"{name}: python/names.toml does not say why it has no wrapper ({why})"
             for name, why in writer.left.items() if why.startswith("only ")]
    known = set(api.functions)
    for section in ("results", "by_hand", "left_out"):
        found += [f"{name}: in [{section}] of python/names.toml, but in no header"
                  for name in writer.names[section] if name not in known]
    found += [f"{prefix}: in [left_out_groups] of python/names.toml, but nothing begins with it"
              for prefix in writer.names["left_out_groups"]
              if not any(name.startswith(prefix) for name in known)]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=HERE.parent)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--left", action="store_true", help="print what has no wrapper")
    parser.add_argument("--check", action="store_true",
                        help="fail where names.toml and the headers do not agree")
    options = parser.parse_args()
    api, writer = generate(options.root, options.out)
    print(f"generate.py: {len(writer.where)} of {len(api.functions)} functions, "
          f"{len(api.enums)} enums, {len(api.structs)} structs")
    if options.left:
        for name, reason in writer.left.items():
            print(f"{name}: {reason}", file=sys.stderr)
    if options.check:
        compile((options.out / "_generated.py").read_text(), "_generated.py", "exec")
        complaints = disagreements(api, writer)
        print(*complaints, sep="\n", end="\n" if complaints else "")
        sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
