"""Write the generated layer of the package from the public headers.

    python3 generate.py HEADERS... --out FOLDER       (python/build.py calls it)

Out come
    _cdef.h          every public declaration, as cffi reads it
    _generated.py    a checked Python function or method for every C function that can have one
    _generated.pyi   the same as type stubs

A function that cannot have one must be in names.toml with the reason; otherwise the build stops.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
LAYERS = ("common", "geometry", "state", "matter", "forces", "molecule", "study", "io")
NUMBERS = {"double": "float", "int": "int", "long": "int", "size_t": "int", "unsigned": "int",
           "uint64_t": "int", "int32_t": "int", "uint32_t": "int", "bool": "bool"}
DTYPES = {"double": "float64", "int": "int32", "bool": "bool_"}
# plain values that become arrays, and their shapes
VALUES = {"tal_vec3": (3,), "tal_mat3": (3, 3), "tal_sym3": (6,), "tal_spatial_vec": (6,),
          "tal_quat": (4,), "tal_xform": (3, 4)}
KEYWORDS = {"in", "from", "def", "with", "is", "as", "lambda", "pass", "class", "global"}


class Param:
    def __init__(self, text):
        """One parameter of a C function: `const double q[]`, `tal_state **out`, `...`."""
        self.text = text.strip()
        self.callback = "(*" in self.text
        self.array = bool(re.search(r"\[[^]]*\]$", self.text))
        fixed = re.search(r"\[(\d+)\]$", self.text)
        bare = re.sub(r"\[[^]]*\]$", "", self.text)
        match = re.match(r"(.*?)(\w+)$", bare)
        self.name = match[2] if match and not self.callback else self.text
        kind = match[1].strip() if match else self.text
        self.const = kind.startswith("const ")
        kind = re.sub(r"\bconst\b", "", kind).replace("_Bool", "bool")
        self.stars = kind.count("*")
        self.type = kind.replace("*", "").strip()
        self.size = [fixed[1]] if fixed else []
        self.direction = "in"
        self.doc = ""
        self.py = self.name + "_" if self.name in KEYWORDS else self.name


class Function:
    def __init__(self, result, name, params):
        self.name, self.params, self.doc = name, params, ""
        self.result = re.sub(r"\b(const|static|inline|extern)\b", "", result)
        self.result = self.result.replace("_Bool", "bool").strip()
        self.result = re.sub(r"\s*\*\s*", "*", self.result)
        self.returns_const = bool(re.search(r"\bconst\b", result))


class Api:
    """What the public headers declare."""

    def __init__(self):
        self.functions, self.enums, self.structs = {}, {}, {}
        self.opaque, self.constants, self.cdef = [], {}, []
        self.docs = {}


# --- reading ---

def preprocess(root, compiler="cc"):
    """All declarations of talus/talus.h, without those of the system's headers."""
    command = [compiler, "-E", *(f"-I{root / layer / 'include'}" for layer in LAYERS),
               str(root / "io/include/talus/talus.h")]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    kept, ours = [], False
    for line in text.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            ours = "/include/talus/" in marker[1]
        elif ours:
            kept.append(line)
    return "\n".join(kept)


def without(text, word):
    """The text without `word ((...))`, brackets balanced."""
    out, at = [], 0
    while (found := re.compile(rf"\b{word}\s*\(").search(text, at)):
        out.append(text[at:found.start()])
        depth, at = 1, found.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
    return "".join(out) + text[at:]


def chunks(text):
    """Declarations one by one; a function body ends one too."""
    start = depth = 0
    for at, char in enumerate(text):
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0 and re.search(r"\)\s*\{", text[start:at]) and \
                    not text[start:at].lstrip().startswith("typedef"):
                yield " ".join(text[start:text.index("{", start)].split()), True
                start = at + 1
        elif char == ";" and depth == 0:
            yield " ".join(text[start:at].split()), False
            start = at + 1


def split_params(text):
    """The parameters of a declaration, those of callbacks left together."""
    parts, depth, at = [], 0, 0
    for i, char in enumerate(text):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth == 0:
            parts.append(text[at:i])
            at = i + 1
    parts.append(text[at:])
    return [] if parts == ["void"] else [Param(part) for part in parts]


def read_declaration(api, text, is_body):
    if not text:
        return
    if (match := re.match(r"typedef enum (\w+) \{(.*)\} (\w+)$", text)):
        names = re.findall(r"(?:^|,)\s*(TAL_\w+)", match[2])
        api.enums[match[3]] = names
        api.cdef.append(f"typedef enum {match[1]} {{ {', '.join(names)}, ... }} {match[3]};")
    elif (match := re.match(r"typedef struct (\w+) \{(.*)\} (\w+)$", text)):
        api.structs[match[3]] = match[2]
        api.cdef.append(text + ";")
    elif (match := re.match(r"typedef struct (\w+) (\w+)$", text)):
        api.opaque.append(match[2])
        api.cdef.append(text + ";")
    elif text.startswith("typedef") or re.match(r"struct \w+( \{.*\})?$", text):
        api.cdef.append(text + ";")
    elif (match := re.match(r"enum \{(.*)\}$", text)):
        api.cdef.append(f"enum {{ {', '.join(re.findall(r'TAL_[A-Z0-9_]+', match[1]))}, ... }};")
    elif (match := re.match(r"static const (\w+) (TAL_\w+)", text)):
        api.constants[match[2]] = match[1]
        api.cdef.append(f"static const {match[1]} {match[2]};")
    elif (match := re.match(r"((?:\w+[ *]+)+)(tal_\w+)\((.*)\)$", text)):
        api.functions[match[2]] = Function(match[1], match[2], split_params(match[3]))
        result = re.sub(r"\b(static|inline|extern)\b", "", match[1]).strip()
        api.cdef.append(f"{result} {match[2]}({match[3]});")
    else:
        raise SystemExit(f"generate.py: cannot read '{text[:100]}'")


def read_constants(api, headers):
    """#define TAL_NAME value: numbers, which the compiler evaluates."""
    for header in headers:
        for name, value in re.findall(r"^#define (TAL_[A-Z0-9_]+) +(\S.*)$", header, re.M):
            if name in ("TAL_API", "TAL_NODISCARD", "TAL_ALWAYS_INLINE") or name in api.constants:
                continue
            real = re.search(r"\d\.\d|\de-?\d|TAL_PI", value)
            text = value.lstrip().startswith('"') or "VERSION_STRING" in name
            if text or not re.match(r"[-(\d]", value):
                continue
            api.constants[name] = "double" if real else "int"
            api.cdef.append(f"static const double {name};" if real else f"#define {name} ...")


def clean(comment):
    lines = [re.sub(r"^\s*(///<?|/\*\*|\*/|\*(?!/)) ?", "", line) for line in comment.splitlines()]
    return re.sub(r"\s*\*/\s*$", "", "\n".join(lines)).strip()


def read_docs(api, headers):
    """The comment before each declaration, or that of the group it is in; sizes of arrays."""
    pattern = re.compile(
        r"(?P<doc>(?:[ \t]*///[^\n]*\n)+|/\*\*(?:[^*]|\*(?!/))*\*/\s*\n)"
        r"|(?P<decl>^(?:TAL_API|TAL_NODISCARD|static inline|typedef)\b[^;{]*)", re.M)
    for header in headers:
        doc = group = ""
        for match in pattern.finditer(header):
            if match["doc"]:
                text = clean(match["doc"])
                group = text if "@name" in text else "" if "@}" in text else group
                doc = "" if re.search(r"@\{|@\}", text) else text
                continue
            name = re.search(r"(tal_\w+)\s*\(", match["decl"]) or \
                re.search(r"typedef (?:struct|enum) (tal_\w+)", match["decl"])
            if name:
                lead = re.sub(r"@name|@\{", "", group).strip()
                api.docs[name[1]] = "\n".join(part for part in (doc, lead) if part).strip()
            doc = ""
    for function in api.functions.values():
        function.doc = api.docs.get(function.name, "")
        for param in function.params:
            place = rf"@param\[([a-z,]+)\]\s+{re.escape(param.name)}\s(.*?)(?=@param|@return|\Z)"
            said = re.search(place, function.doc, re.S)
            if said:
                param.direction, param.doc = said[1], " ".join(said[2].split())
                size = re.match(r"(\[[^][]+\])+", param.doc)
                if size and param.array:
                    param.size = re.findall(r"\[([^][]+)\]", size[0])


def read(root):
    api = Api()
    text = without(without(preprocess(root), "__attribute__"), "_Static_assert")
    for declaration, is_body in chunks(text):
        read_declaration(api, declaration, is_body)
    api.opaque = sorted(set(api.opaque) - set(api.structs))
    headers = [path.read_text() for layer in LAYERS
               for path in sorted((root / layer / "include").rglob("*.h"))]
    read_constants(api, headers)
    read_docs(api, headers)
    return api


# --- what Python calls things ---

def camel(name):
    special = {"ff": "ForceField", "mol": "Molecule", "force": "ForceElement"}
    return special.get(name, "".join(word.capitalize() for word in name.split("_")))


class Left(Exception):
    """Why a function has no wrapper."""


class Writer:
    """Turns each function of the headers into Python."""

    def __init__(self, api, names):
        self.api, self.names = api, names
        self.objects = {name: camel(name[4:]) for name in api.opaque}
        self.indices = {name: camel(name[4:-3]) for name in api.structs if name.endswith("_ix")}
        self.left, self.where = {}, {}

    # A class is the longest one whose name begins the function's and that is among its parameters.
    def home(self, function):
        kinds = {p.type: p for p in function.params if p.type in self.objects and p.stars == 1
                 or p.type in self.indices and p.stars == 0 and not p.array}
        best = None
        for kind in kinds:
            stem = kind[:-3] if kind.endswith("_ix") else kind
            if function.name.startswith(stem + "_") and (not best or len(stem) > len(best[0])):
                best = (stem, kind)
        if best:
            return best[1], function.name[len(best[0]) + 1:]
        out = next((p for p in function.params if p.type in self.objects and p.stars == 2), None)
        for kind in self.objects:
            makes = function.result == kind + "*" or (out and out.type == kind)
            if makes and function.name.startswith(kind + "_"):
                return kind, function.name[len(kind) + 1:]
        return None, function.name[4:]

    def size_of(self, function, name):
        """Python for the name of a size that is no parameter: from the objects at hand."""
        have = {p.type: self.object_expr[p.type] for p in function.params
                if p.type in self.object_expr}
        matter = have.get("tal_matter")
        if not matter and "tal_forces" in have:
            matter = f"lib.tal_forces_matter({have['tal_forces']})"
        state = have.get("tal_state")
        if name in ("nu", "num_bodies") and matter:
            return f"lib.tal_matter_{name}({matter})"
        if name == "nq" and matter and state:
            return f"lib.tal_matter_nq({matter}, {state})"
        if name in ("nq", "nu", "nz", "ny") and state:
            return f"lib.tal_state_{name}({state})"
        if name in ("nu", "num_bodies") and "tal_system" in have:
            return f"lib.tal_matter_{name}(lib.tal_system_matter({have['tal_system']}))"
        if name.startswith("TAL_"):
            return f"lib.{name}"
        raise Left(f"a size [{name}] that cannot be computed from the arguments")

    def size_expr(self, function, text):
        params = {p.name: p for p in function.params}
        text = re.sub(r"(\d) ([a-z])", r"\1 * \2", text)

        def call(match):
            target = self.api.functions.get(match[1])
            if not target:
                raise Left(f"a size with the unknown function {match[1]}")
            if match[2].strip():
                return match[0].replace(match[1], "lib." + match[1])
            args = []
            for p in target.params:
                if p.type in self.object_expr and p.stars == 1:
                    args.append(self.object_expr[p.type])
                elif p.type in self.indices and p.type in self.index_expr:
                    args.append(self.index_expr[p.type])
                else:
                    raise Left(f"a size by {match[1]}, whose arguments are not at hand")
            return f"lib.{match[1]}({', '.join(args)})"

        text = re.sub(r"(tal_\w+)\(([^()]*)\)", call, text)
        calls = r"lib\.\w+\([^()]*(\([^()]*\))?[^()]*\)|self\._\w+(\._p)?"
        if re.search(r"->|\.[A-Za-z](?!al_)|[a-z] [a-z]", re.sub(calls, "1", text)):
            raise Left(f"a size in words: [{text}]")

        def name(match):
            word = match[0]
            if word in params and not params[word].array and params[word].type in NUMBERS:
                return params[word].py
            return self.size_of(function, word)

        parts = re.split(r"(lib\.\w+\((?:[^()]|\([^()]*\))*\))", text)
        return "".join(part if part.startswith("lib.") else
                       re.sub(r"\b[A-Za-z_]\w*", name, part) for part in parts)

    def write(self, function):
        """(class or None, method name, lines, stub) of a function, or Left."""
        kind, rest = self.home(function)
        if rest in KEYWORDS:
            rest += "_"
        index_home = kind in self.indices
        makes = kind in self.objects and not any(
            p.type == kind and p.stars == 1 for p in function.params)
        self.object_expr, self.index_expr = {}, {}
        owners = {}
        for p in function.params:
            if p.callback or p.type.endswith("_fn") or p.text == "...":
                raise Left("a callback or a variable number of arguments")
            if p.type in self.objects and p.stars == 1 and not p.array:
                if p.type == kind and not makes and kind not in self.object_expr:
                    expr = "self._p"
                elif index_home and p.type in ("tal_matter", "tal_forces", "tal_system",
                                               "tal_events"):
                    expr = f"self._owner.{p.type[4:]}._p"
                    owners[p.name] = True
                else:
                    expr = f"{p.py}._p"
                self.object_expr.setdefault(p.type, expr)
            if p.type in self.indices and p.stars == 0 and not p.array:
                self.index_expr.setdefault(
                    p.type, "self._c" if p.type == kind else f"_ix({p.py}, '{p.type}')")
        if index_home and not owners:
            raise Left("an index without its owner")
        # lengths that an input array tells
        told = {}
        for p in function.params:
            if p.array and p.size and "out" not in p.direction:
                for axis, expr in enumerate(p.size):
                    counter = next((c for c in function.params if c.name == expr
                                    and c.type in ("int", "size_t") and not c.stars), None)
                    if counter:
                        told.setdefault(expr, (p, axis))
        signature, before, args, after, outs, stubs, errors = [], [], [], [], [], [], []
        late, has_err, taken_self, owned_out = [], False, False, None
        for p in function.params:
            if p.type == "tal_error" and p.stars == 1 and p.name == "err":
                before.append("err = ffi.new('tal_error *')")
                args.append("err")
                has_err = True
            elif p.type == "tal_allocator":
                if p.stars != 1:
                    raise Left("an allocator by value")
                args.append("NULL")
            elif p.type == "void":
                raise Left("bytes without a type")
            elif p.type in self.objects and p.stars == 1 and not p.array:
                optional = "NULL" in p.doc and p.const
                if p.type == kind and not makes and not taken_self:
                    taken_self = True
                    args.append("self._p")
                    errors.append("self")
                elif p.name in owners:
                    args.append(f"self._owner.{p.type[4:]}._p")
                    if p.type == "tal_system" or len(owners) == 1:
                        errors.append(f"self._owner.{p.type[4:]}")
                else:
                    signature.append((p.py, "None" if optional else None))
                    stubs.append((p.py, self.objects[p.type]))
                    args.append(f"NULL if {p.py} is None else {p.py}._p" if optional
                                else f"{p.py}._p")
                    if not optional:
                        errors.append(p.py)
                    if "adopted" in p.doc:
                        before.append(f"{p.py}._check_free()")
                        late.append(f"{p.py}._adopted()")
            elif p.type in self.objects and p.stars == 2 and not p.array:
                if owned_out or p.type != (kind if makes else p.type):
                    raise Left("two objects are made")
                before.append(f"{p.name} = ffi.new('{p.type} **')")
                args.append(p.name)
                owned_out = p
            elif p.type in self.indices and p.stars == 0 and not p.array:
                if p.type == kind and "self._c" not in args:
                    args.append("self._c")
                else:
                    signature.append((p.py, None))
                    stubs.append((p.py, f"{self.indices[p.type]} | int"))
                    args.append(f"_ix({p.py}, '{p.type}')")
            elif p.array or (p.stars == 1 and p.type == "double" and p.const):
                self.array(function, p, told, signature, before, args, outs, stubs, late)
            elif p.stars == 0 and p.type in NUMBERS:
                if p.name in told:
                    args.append(p.py)
                else:
                    signature.append((p.py, None))
                    stubs.append((p.py, NUMBERS[p.type]))
                    args.append(p.py)
            elif p.stars == 0 and p.type in self.api.enums:
                signature.append((p.py, None))
                stubs.append((p.py, f"{camel(p.type[4:])} | int | str"))
                args.append(f"_enum({p.py}, {camel(p.type[4:])})")
            elif p.stars == 1 and p.type == "char" and p.const:
                signature.append((p.py, "None" if "NULL" in p.doc else None))
                stubs.append((p.py, "str | None" if "NULL" in p.doc else "str"))
                args.append(f"_text({p.py})")
            elif p.stars == 1 and not p.const and (p.type in NUMBERS or p.type in self.api.enums
                                                   or p.type in self.indices):
                if "in" in p.direction.split(",") and p.direction != "in":
                    raise Left("a number that is read and written")
                before.append(f"{p.name} = ffi.new('{p.type} *')")
                args.append(p.name)
                value = f"{p.name}[0]"
                if p.type in self.api.enums:
                    value = f"{camel(p.type[4:])}({value})"
                if p.type in self.indices:
                    value = f"_index('{p.type}', {value}, ({', '.join(errors)},))"
                outs.append(value)
            elif p.type in self.api.structs and p.stars <= 1:
                self.struct(function, p, signature, before, args, outs, stubs, late)
            else:
                raise Left(f"an argument of type {p.text}")
        if kind and not makes and not index_home and not taken_self:
            raise Left("no object to be a method of")
        lines = self.body(function, before, args, late, outs, errors, has_err, owned_out, makes,
                          signature)
        return kind, rest, makes, signature, lines, stubs

    def array(self, function, p, told, signature, before, args, outs, stubs, late):
        """An array: checked, made contiguous, or allocated when it is only written."""
        element = p.type
        if element == "char" or p.stars and element in self.objects:
            raise Left("memory for text, or an array of objects")
        if not p.size:
            raise Left("an array that does not say its size")
        sizes = []
        for axis, expr in enumerate(p.size):
            if expr in told and told[expr] == (p, axis):
                sizes.append(None)
            else:
                sizes.append(self.size_expr(function, expr))
        shape = "(" + "".join(f"{'-1' if s is None else s}, " for s in sizes) + ")"
        if element in DTYPES:
            kind = f"'{element}'"
        elif element in VALUES or element in self.indices:
            kind = f"'{element}'"
        elif element in self.api.structs and p.const:
            self.no_pointers(element)
            kind = f"'{element}'"
        else:
            raise Left(f"an array of {p.type}")
        optional = "NULL" in p.doc
        only_out = p.direction == "out"
        if "out" in p.direction.split(",") and not (element in DTYPES or element in VALUES):
            raise Left(f"an array of {p.type} that is written")
        if "out" in p.direction.split(",") and p.const or (p.const is False and p.direction == "in"):
            raise Left(f"{p.name}: the comment does not say whether it is written")
        value = "np.ndarray | Sequence" if not only_out else "np.ndarray | None"
        if only_out:
            signature.append((p.py, "None"))
            before.append(f"{p.py}, {p.py}_p = _out({p.py}, {kind}, {shape}, '{p.name}')")
            outs.append(f"{p.py}")
        elif "out" in p.direction:
            signature.append((p.py, None))
            before.append(f"{p.py}, {p.py}_p = _inout({p.py}, {kind}, {shape}, '{p.name}')")
            outs.append(f"{p.py}")
            value = "np.ndarray"
        else:
            signature.append((p.py, "None" if optional else None))
            none = f"(None, NULL) if {p.py} is None else " if optional else ""
            before.append(f"{p.py}, {p.py}_p = {none}_in({p.py}, {kind}, {shape}, '{p.name}')")
            for expr, (owner, axis) in told.items():
                if owner is p:
                    count = f"0 if {p.py} is None else " if optional else ""
                    before.append(f"{expr} = {count}len({p.py})" if axis == 0 else
                                  f"{expr} = {p.py}.shape[{axis}]")
        # an array that tells a length comes before those that use it
        if any(owner is p for owner, _ in told.values()):
            mine = [line for line in before if re.match(rf"{p.py}, {p.py}_p = ", line)
                    or any(line.startswith(f"{e} = ") for e, (o, _) in told.items() if o is p)]
            for line in mine:
                before.remove(line)
            before[0:0] = mine
        stubs.append((p.py, value))
        args.append(f"{p.py}_p")

    def no_pointers(self, name, seen=()):
        """Plain data may go through arrays; pointers in it need more care."""
        body = self.api.structs[name]
        if "*" in body or "_fn " in body:
            raise Left(f"an array of {name}, which holds pointers")

    def struct(self, function, p, signature, before, args, outs, stubs, late):
        name = p.type
        if name == "tal_matrix":
            signature.append((p.py, None))
            stubs.append((p.py, "np.ndarray"))
            before.append(f"{p.py}_m = _matrix({p.py}, '{p.name}', {not p.const and p.stars == 1})")
            args.append(f"{p.py}_m[0]" if p.stars == 0 else f"{p.py}_m")
            return
        if name.endswith("_ops") or name in self.names["by_hand_types"]:
            raise Left(f"a table of functions, or {name}, which is written by hand")
        if name in VALUES and p.stars == 0:
            signature.append((p.py, None))
            stubs.append((p.py, "ArrayLike"))
            args.append(f"_value({p.py}, '{name}')")
            return
        if name in VALUES and p.const:
            signature.append((p.py, None))
            stubs.append((p.py, "ArrayLike"))
            args.append(f"ffi.new('{name} *', _value({p.py}, '{name}'))")
            return
        if p.stars == 1 and not p.const:
            if p.direction != "out" and p.name not in ("out", "result", "report", "info"):
                raise Left(f"{p.name}, which is read and written")
            before.append(f"{p.name} = ffi.new('{name} *')")
            args.append(p.name)
            outs.append(f"_result('{name}', {p.name}[0], {p.name})")
            return
        keyword = name.endswith(("_def", "_options")) and p.stars == 1 and \
            not any(s[0].startswith("**") for s in signature)
        if keyword:
            before.append(f"{p.py} = _record('{name}', fields)")
            signature.append(("**fields", None))
            stubs.append(("**fields", "Any"))
        else:
            signature.append((p.py, "None" if "NULL" in p.doc else None))
            stubs.append((p.py, "Record | Mapping[str, Any] | None"))
            before.append(f"{p.py} = _record('{name}', {p.py})")
        late.append(f"# {p.py} keeps what it points to alive until here: {p.py}")
        args.append(f"{p.py}._ptr" if p.stars == 1 else f"{p.py}._ptr[0]")

    def body(self, function, before, args, late, outs, errors, has_err, owned, makes, signature):
        """The call, and what comes back."""
        err = "err" if has_err else "None"
        objects = "(" + "".join(f"{e}, " for e in errors) + ")"
        call = f"lib.{function.name}({', '.join(args)})"
        lines, result = list(before), function.result
        late = [line for line in late if not line.startswith("#")]
        where = f"'{function.name}'"
        if result == "tal_status":
            lines.append(f"status = {call}")
            lines += late
            lines.append("if status:")
            lines.append(f"    _fail(status, {objects}, {err}, {where})")
            values = outs
        elif result == "void":
            lines += [call, *late, f"_breach({where})"]
            values = outs
        else:
            lines.append(f"result = {call}")
            lines += late
            values = [self.result(function, lines, objects, err, where), *outs]
        if owned:
            keep = ", ".join(["self" if e == "self" else e for e in errors] +
                             [s[0].lstrip("*") for s in signature if s[0] not in errors])
            kind = owned.type
            lines.append(f"made = _own('{kind}', {owned.name}[0], ({keep}{',' if keep else ''}))")
            values = ["made", *outs]
        if values:
            lines.append("return " + ", ".join(values))
        return lines

    def result(self, function, lines, objects, err, where):
        kind = function.result
        if kind == "double":
            lines += ["if result != result:", f"    _breach({where}, {objects})"]
            return "result"
        if kind in ("int", "long"):
            lines += ["if result < 0:", f"    _breach({where}, {objects})"]
            return "result"
        if kind in NUMBERS:
            lines.append(f"_breach({where})")
            return "result"
        if kind in self.api.enums:
            lines.append(f"_breach({where})")
            return f"{camel(kind[4:])}(result)"
        if kind == "char*":
            lines.append(f"_breach({where})")
            return "_str(result)"
        if kind in self.indices:
            return f"_index('{kind}', result, {objects})"
        if kind in self.api.structs:
            lines.append(f"_breach({where})")
            return f"_result('{kind}', result, {objects})"
        if kind.endswith("*") and kind[:-1] in self.objects:
            base = kind[:-1]
            lines += ["if not result:", f"    _breach({where}, {objects})", "    return None"]
            owned = base + "_destroy" in self.api.functions and not function.returns_const and \
                "create" in function.name
            return f"{'_own' if owned else '_borrow'}('{base}', result, {objects})"
        if kind.endswith("*") and kind[:-1] in self.api.structs:
            lines += ["if not result:", f"    _breach({where}, {objects})", "    return None"]
            return f"_result('{kind[:-1]}', result[0], {objects})"
        raise Left(f"a result of type {kind}")

    # --- the whole module ---

    def module(self):
        classes, functions = {}, []
        for function in self.api.functions.values():
            reason = self.names["by_hand"].get(function.name) or \
                self.names["left_out"].get(function.name)
            if not reason:
                reason = next((text for prefix, text in self.names["left_out_groups"].items()
                               if function.name.startswith(prefix)), None)
            if reason:
                self.left[function.name] = reason
                continue
            if function.name.endswith("_destroy"):
                self.left[function.name] = "close(), and the end of the Python object"
                continue
            try:
                kind, rest, makes, signature, lines, stubs = self.write(function)
            except Left as why:
                self.left[function.name] = f"only talus.c: {why}"
                continue
            entry = (function, rest, makes, signature, lines, stubs)
            self.where[function.name] = f"{self.name_of(kind)}.{rest}" if kind else rest
            (classes.setdefault(kind, []) if kind else functions).append(entry)
        return classes, functions

    def name_of(self, kind):
        return self.objects.get(kind) or self.indices.get(kind)


def docstring(function, width=96):
    text = function.doc or function.name.replace("_", " ")
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    return text + f"\n\nC: {function.name}()"


def ordered(signature):
    """Required parameters first, then optional ones, then keywords."""
    need = [s[0] for s in signature if s[1] is None and not s[0].startswith("**")]
    rest = [f"{s[0]}={s[1]}" for s in signature if s[1] is not None]
    return need + rest + [s[0] for s in signature if s[0].startswith("**")]


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
    kinds, pad = dict(stubs), " " * indent
    names = [first] * bool(first)
    for name in ordered(signature):
        bare = name.split("=")[0]
        names.append(f"{bare}: {kinds.get(bare, 'Any')}" + (" = ..." if "=" in name else ""))
    result = {"double": "float", "int": "int", "bool": "bool", "char*": "str", "void": "None",
              "long": "int", "size_t": "int"}.get(function.result, "Any")
    if any(line.startswith("return ") and line != "return result" for line in lines) and \
            function.result not in ("char*", "double", "int", "bool"):
        result = "Any"
    elif function.result == "tal_status":
        result = "None"
    head = f"{pad}@classmethod\n" if first == "cls" else ""
    return f"{head}{pad}def {rest}({', '.join(names)}) -> {result}: ...\n"


def constant_names(api, kind):
    """Members of an enum without what all their names begin with."""
    names = api.enums[kind]
    stem = "TAL_" + kind[4:].upper() + "_"
    prefix = stem if all(n.startswith(stem) for n in names) else "TAL_"
    if prefix == "TAL_" and len(names) > 1:
        words = [n.split("_") for n in names]
        same = 0
        while all(len(w) > same + 1 and w[same] == words[0][same] for w in words):
            same += 1
        prefix = "_".join(words[0][:same]) + "_"
    out = {}
    for name in names:
        short = name[len(prefix):]
        out[short if short[:1].isalpha() else "_" + short] = name
    return out


def generate(root, out):
    api = read(root)
    names = tomllib.loads((HERE / "names.toml").read_text())
    writer = Writer(api, names)
    classes, functions = writer.module()
    text = ['"""Written by generate.py from the public headers: do not edit."""',
            "from enum import IntEnum", "", "from talus._runtime import (",
            "    NULL, Index, Object, _borrow, _breach, _enum, _fail, _in, _index, _inout, _ix,",
            "    _matrix, _out, _own, _record, _result, _str, _text, _value, ffi, lib)", ""]
    stub = ["from collections.abc import Mapping, Sequence", "from enum import IntEnum",
            "from typing import Any", "", "import numpy as np",
            "from numpy.typing import ArrayLike", "",
            "from talus._runtime import Index, Object, Record", ""]
    for kind in api.enums:
        members = constant_names(api, kind)
        text.append(f"\nclass {camel(kind[4:])}(IntEnum):")
        doc = api.docs.get(kind, kind).replace('"""', "'''").replace("\n", "\n    ")
        text.append(f'    """{doc}"""')
        text += [f"    {short} = lib.{name}" for short, name in members.items()]
        stub.append(f"class {camel(kind[4:])}(IntEnum):")
        stub += [f"    {short}: int" for short in members]
    for kind in [*writer.objects, *writer.indices]:
        base = "Object" if kind in writer.objects else "Index"
        cls, entries = writer.name_of(kind), classes.get(kind, [])
        doc = api.docs.get(kind, kind).replace('"""', "'''").replace("\n", "\n    ")
        text.append(f'\n\nclass {cls}({base}):\n    """{doc}"""')
        text.append(f"    _kind = '{kind}'\n    __slots__ = ()\n")
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=HERE.parent)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--left", action="store_true", help="print what has no wrapper")
    options = parser.parse_args()
    api, writer = generate(options.root, options.out)
    print(f"generate.py: {len(writer.where)} of {len(api.functions)} functions, "
          f"{len(api.enums)} enums, {len(api.structs)} structs")
    if options.left:
        for name, reason in writer.left.items():
            print(f"{name}: {reason}", file=sys.stderr)


if __name__ == "__main__":
    main()
