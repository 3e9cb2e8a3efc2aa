"""A checked Python function or method for each C function that can have one."""
import re
from keyword import iskeyword

NUMBERS = {"double": "float", "int": "int", "long": "int", "size_t": "int", "unsigned": "int",
           "uint64_t": "int", "int32_t": "int", "uint32_t": "int", "bool": "bool"}
DTYPES = {"double": "float64", "int": "int32", "bool": "bool_"}
# plain values that become arrays, and their shapes
VALUES = {"tal_vec3": (3,), "tal_mat3": (3, 3), "tal_sym3": (6,), "tal_spatial_vec": (6,),
          "tal_quat": (4,), "tal_xform": (3, 4)}


def camel(name):
    special = {"ff": "ForceField", "mol": "Molecule"}
    if name in ("force", "constraint", "motion", "controller"):  # classes of yours have the names
        return name.capitalize() + "Element"
    return special.get(name, "".join(word.capitalize() for word in name.split("_")))


class Left(Exception):
    """Why a function has no wrapper."""


class Guarded(list):
    """Lines of a function; the call is made while nobody else uses what it changes."""

    def __init__(self, lines, objects):
        super().__init__(lines)
        self.objects = list(objects)
        self.states = {one for one, kind in objects.items() if kind == "tal_state"}

    def call(self, lead, call):
        pad = ""
        for one in self.objects:
            if one in self.states:  # a flag is faster than a lock
                self += [f"{pad}if {one}._busy:", f"{pad}    _busy({one})",
                         f"{pad}{one}._busy = True", f"{pad}try:"]
            else:
                self += [f"{pad}if not {one}._take():", f"{pad}    _busy({one})", f"{pad}try:"]
            pad += "    "
        self.append(pad + lead + call)
        for one in reversed(self.objects):
            pad = pad[4:]
            end = "_busy = False" if one in self.states else "_give()"
            self += [f"{pad}finally:", f"{pad}    {one}.{end}"]


class Writer:
    """Turns each function of the headers into Python."""

    def __init__(self, api, names):
        self.api, self.names = api, names
        self.objects = {name: camel(name[4:]) for name in api.opaque}
        self.indices = {name: camel(name[4:-3]) for name in api.structs if name.endswith("_ix")}
        self.left, self.where, self.parts = {}, {}, {}

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
        if (part := self.part_of(function)):
            return part
        out = next((p for p in function.params if p.type in self.objects and p.stars == 2), None)
        for kind in self.objects:
            makes = function.result == kind + "*" or (out and out.type == kind)
            if makes and function.name.startswith(kind + "_"):
                return kind, function.name[len(kind) + 1:]
        return None, function.name[4:]

    def part_of(self, function):
        """(class, name) of what is done with matter or forces:
        `tal_constraint_add_rod(matter, ...)` is matter.add_constraint_rod(), `tal_thermostat_temperature(forces, state, force)` is
        force.thermostat_temperature(state)."""
        kinds = [p.type for p in function.params if not p.array]
        if not kinds or kinds[0] not in ("tal_matter", "tal_forces"):
            return None
        rest = function.name[4:]
        if (added := re.match(r"(constraint|measure|motion|controller|unilateral)_add_(.*)", rest)):
            return kinds[0], f"add_{added[1]}_{added[2]}"
        others = [kind for kind in kinds[1:] if kind != "tal_state"]
        element = {"tal_matter": "tal_body_ix", "tal_forces": "tal_force_ix"}[kinds[0]]
        if others and others[0] == element and "_add" not in rest:
            return element, rest
        return kinds[0], rest

    def told_size(self, function, *words):
        """A size that names.toml gives, of this function or of its class."""
        kind, _ = self.home(function)
        for word in words:
            for key in (f"{function.name}.{word}", f"{kind}.{word}", word):
                if key in self.names["sizes"]:
                    text = self.names["sizes"][key]
                    return re.sub(r"\{(\w+)\}", lambda m: self.object_expr[m[1]], text)
        return None

    def size_of(self, function, name):
        """Python for the name of a size that is no parameter: from the objects at hand."""
        if (told := self.told_size(function, name)):
            return told
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

    def size_expr(self, function, text, param):
        """Python for the size of a parameter, which the comment states in C: fields, calls and
        names are put into Python one after the other, and stand as @0, @1, ... until the end."""
        if (told := self.told_size(function, param, text)):
            return told
        params, done = {p.name: p for p in function.params}, []

        def keep(piece):
            done.append(piece)
            return f"@{len(done) - 1}"

        def field(match):
            p = params.get(match[1])
            if p and p.type == "tal_matrix":
                return keep(f"{p.py}.shape[{int(match[2] == 'cols')}]")
            if p and p.type in self.api.structs:
                return keep(f"{p.py}._ptr.{match[2]}")
            raise Left(f"a size [{text}] of something that is no argument")

        def call(match):
            if match[1] not in self.api.functions:
                raise Left(f"a size with the unknown function {match[1]}")
            inside = names(match[2]) if match[2].strip() else \
                ", ".join(self.at_hand(self.api.functions[match[1]]))
            return keep(f"lib.{match[1]}({inside})")

        def name(match):
            p = params.get(match[0])
            if p and not p.array and p.type in NUMBERS:
                return keep(p.py)
            if match[0] in self.arg_expr:
                return keep(self.arg_expr[match[0]])
            return keep(self.size_of(function, match[0]))

        def names(part):
            return re.sub(r"\b[A-Za-z_]\w*", name, part)

        text = re.sub(r"(?<![\w.])([A-Za-z]\w*)\.([A-Za-z.]+)", field, text)
        text = re.sub(r"(\d) ([a-z])", r"\1 * \2", text)
        while re.search(r"tal_\w+\([^()]*\)", text):
            text = re.sub(r"(tal_\w+)\(([^()]*)\)", call, text)
        if re.search(r"->|[a-z] [a-z]", text):
            raise Left(f"a size in words: [{text}]")
        text = names(text)
        while "@" in text:
            text = re.sub(r"@(\d+)", lambda m: done[int(m[1])], text)
        return text

    def at_hand(self, target):
        """Arguments for a function that tells a size, which the comment leaves out."""
        for p in target.params:
            if p.type in self.object_expr and p.stars == 1:
                yield self.object_expr[p.type]
            elif p.type in self.indices and p.type in self.index_expr:
                yield self.index_expr[p.type]
            else:
                raise Left(f"a size by {target.name}, whose arguments are not at hand")

    def write(self, function):
        """(class or None, method name, lines, stub) of a function, or Left."""
        kind, rest = self.home(function)
        if iskeyword(rest):
            rest += "_"
        index_home = kind in self.indices
        makes = kind in self.objects and not any(
            p.type == kind and p.stars == 1 and not p.array for p in function.params)
        self.object_expr, self.index_expr, self.arg_expr = {}, {}, {}
        owners = {}
        for p in function.params:
            if p.callback or p.type.endswith("_fn") or p.text == "...":
                raise Left("a callback or a variable number of arguments")
            if p.type in self.objects and p.stars == 1 and not p.array:
                if p.type == kind and not makes and kind not in self.object_expr:
                    expr = "self._p"
                elif index_home and p.type in ("tal_matter", "tal_forces", "tal_system",
                                               "tal_events"):
                    expr = f"{self.owner(kind, p.type)}._p"
                    owners[p.name] = True
                else:
                    expr = f"{p.py}._p"
                self.object_expr.setdefault(p.type, expr)
                self.arg_expr[p.name] = expr
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
        signature, before, args, outs, stubs, errors = [], [], [], [], [], []
        late, has_err, taken_self, owned_out = [], False, False, None
        self.near, self.kept, self.front = errors, [], 0
        for p in function.params:
            if p.type == "tal_error" and p.stars == 1 and p.name == "err":
                before.append("err = ffi.new('tal_error *')")
                args.append("err")
                has_err = True
            elif p.type == "tal_allocator":
                if p.stars != 1:
                    raise Left("an allocator by value")
                args.append("NULL")
            elif p.type == "void" and p.name == "bytes" and p.stars == 1:
                self.bytes_of(function, p, signature, before, args, outs, stubs)
            elif p.type == "void":
                raise Left("bytes without a type")
            elif p.name == "size" and "bytes_p" in args:
                args.append("size")
            elif p.name in ("work", "iwork") and p.array and p.type in DTYPES:
                size = self.size_expr(function, p.size[0], p.name) if p.size else None
                if not size:
                    raise Left("working memory that does not say its size")
                before.append(f"{p.py} = ffi.new('{p.type}[]', max({size}, 1))")
                args.append(p.py)
            elif p.type == "char" and p.array and p.size and p.size[0].startswith("TAL_"):
                before.append(f"{p.py} = ffi.new('char[]', lib.{p.size[0]})")
                args.append(p.py)
                if function.result != "char*":
                    outs.append((f"_str({p.py})", "str"))
            elif p.array and p.type in self.objects and p.stars and "adopted" in p.doc:
                self.objects_in(p, told, signature, before, args, stubs, late)
            elif p.type in self.objects and p.stars == 1 and not p.array:
                optional = "NULL" in p.doc and p.const
                if p.type == kind and not makes and not taken_self:
                    taken_self = True
                    if f"{function.name}.{p.name}" in self.names["adopted"]:
                        late.append("_taken((self,))")
                    args.append("self._p")
                    errors.append("self")
                elif p.name in owners:
                    args.append(f"{self.owner(kind, p.type)}._p")
                    if p.type == "tal_system" or len(owners) == 1:
                        errors.append(self.owner(kind, p.type))
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
                if "*" in self.api.structs.get(function.result, ""):  # it points to the text
                    before.append(f"{p.py}_t = ffi.new('char[]', _text({p.py}))")
                    args.append(f"{p.py}_t")
                    self.kept.append(f"{p.py}_t")
                else:
                    args.append(f"_text({p.py})")
            elif p.stars == 1 and not p.const and (p.type in NUMBERS or p.type in self.api.enums
                                                   or p.type in self.indices):
                if "in" in p.direction.split(",") and p.direction != "in":
                    raise Left("a number that is read and written")
                before.append(f"{p.name} = ffi.new('{p.type} *')")
                args.append(p.name)
                value, shown = f"{p.name}[0]", NUMBERS.get(p.type)
                if p.type in self.api.enums:
                    shown = camel(p.type[4:])
                    value = f"{shown}({value})"
                if p.type in self.indices:
                    value = f"_index('{p.type}', {value}, ({', '.join(errors)},))"
                    shown = self.indices[p.type]
                outs.append((value, shown))
            elif p.type in self.api.structs and p.stars <= 1:
                self.struct(function, p, signature, before, args, outs, stubs, late)
            else:
                raise Left(f"an argument of type {p.text}")
        if kind and not makes and not index_home and not taken_self:
            raise Left("no object to be a method of")
        lines, shown = self.body(function, before, args, late, outs, errors, has_err, owned_out,
                                 makes, signature)
        return kind, rest, makes, signature, lines, (stubs, shown)

    def bytes_of(self, function, p, signature, before, args, outs, stubs):
        """What is saved, as bytes: the function <name>_size tells how many; or bytes to read."""
        if p.const:
            signature.append((p.py, None))
            stubs.append((p.py, "bytes"))
            before += [f"{p.py}_p = ffi.from_buffer({p.py})", f"size = len({p.py}_p)"]
        else:
            target = self.api.functions.get(function.name + "_size")
            if not target:
                raise Left("bytes without a size")
            call = f"lib.{target.name}({', '.join(self.at_hand(target))})"
            before += [f"size = {call}", f"{p.py}_p = ffi.new('char[]', max(size, 1))"]
            outs.append((f"ffi.buffer({p.py}_p, size)[:]", "bytes"))
        args.append(f"{p.py}_p")

    def objects_in(self, p, told, signature, before, args, stubs, late):
        """A list of objects that the call takes over."""
        before.append(f"{p.py}, {p.py}_p = _objects({p.py}, '{p.type}')")
        length = next((expr for expr, (owner, _) in told.items() if owner is p), None)
        if length:
            before.append(f"{length} = len({p.py})")
        elif p.size and (p.size[0].isdigit() or p.size[0] in told):
            before.append(f"_same({p.size[0]}, len({p.py}), '{p.name}')")
        else:
            raise Left("a list of objects of unknown length")
        signature.append((p.py, None))
        stubs.append((p.py, f"Sequence[{self.objects[p.type]}]"))
        args.append(f"{p.py}_p")
        late.append(f"_taken({p.py})")

    def element_of(self, p):
        """The kind of an array's elements, as the helpers of _runtime know it."""
        element = p.type
        if element == "char" or p.stars and element in self.objects:
            raise Left("memory for text, or an array of objects")
        plain = element in DTYPES or element in VALUES or element in self.api.enums
        if not plain and element not in self.indices and element not in self.api.structs:
            raise Left(f"an array of {element}")
        return element, plain

    def array(self, function, p, told, signature, before, args, outs, stubs, late):
        """An array: checked, made contiguous, or allocated when it is only written."""
        if f"{function.name}.{p.name}" in self.names["written"]:
            p.direction = "out"
        element, plain = self.element_of(p)
        if not p.size:
            raise Left("an array that does not say its size")
        sizes = [None if told.get(expr) == (p, axis) else self.size_expr(function, expr, p.name)
                 for axis, expr in enumerate(p.size)]
        shape = "(" + "".join(f"{'-1' if s is None else s}, " for s in sizes) + ")"
        optional, written = "NULL" in p.doc, "out" in p.direction.split(",")
        if written and p.const or not written and not p.const:
            raise Left(f"{p.name}: the comment does not say whether it is written")
        place = f"{p.py}, '{element}', {shape}, '{p.name}'"
        made = "np.ndarray" if plain else f"list[{self.indices.get(element, 'Record')}]"
        if p.direction == "out" and not plain:
            if len(sizes) > 1:
                raise Left(f"rows of {element}")
            before.append(f"{p.py}_p = ffi.new('{element}[]', max({sizes[0]}, 1))")
            outs.append((f"_list({p.py}_p, {sizes[0]}, ({', '.join(self.near)}))", made))
        elif p.direction == "out":
            signature.append((p.py, "None"))
            stubs.append((p.py, "np.ndarray | None"))
            before.append(f"{p.py}, {p.py}_p = _out({place})")
            outs.append((p.py, made))
        elif written:
            if not plain:
                raise Left(f"an array of {element} that is read and written")
            signature.append((p.py, None))
            stubs.append((p.py, "np.ndarray"))
            before.append(f"{p.py}, {p.py}_p = _inout({place})")
            outs.append((p.py, made))
        else:
            self.array_in(p, told, place, optional, signature, before, stubs)
        args.append(f"{p.py}_p")

    def array_in(self, p, told, place, optional, signature, before, stubs):
        """An array that is read; its length is an argument of the C function."""
        signature.append((p.py, "None" if optional else None))
        stubs.append((p.py, "ArrayLike | None" if optional else "ArrayLike | Sequence[Any]"))
        none = f"(None, NULL) if {p.py} is None else " if optional else ""
        mine = [f"{p.py}, {p.py}_p = {none}_in({place})"]
        for expr, (owner, axis) in told.items():
            if owner is p:
                count = f"0 if {p.py} is None else " if optional else ""
                mine.append(f"{expr} = {count}len({p.py})" if axis == 0 else
                            f"{expr} = {p.py}.shape[{axis}]")
        if len(mine) > 1:  # an array that tells a length comes before those that use it
            before[self.front:self.front] = mine
            self.front += len(mine)
        else:
            before += mine

    def struct(self, function, p, signature, before, args, outs, stubs, late):
        name = p.type
        if name == "tal_matrix":
            signature.append((p.py, None))
            stubs.append((p.py, "np.ndarray"))
            last = [one for one in function.params if one.type == name][-1] is p
            written = not p.const and "out" in p.direction or last and not p.doc
            before.append(f"{p.py}_m = _matrix({p.py}, '{p.name}', {written})")
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
        is_changed = f"{function.name}.{p.name}" in self.names["changed"]
        if p.stars == 1 and not p.const and not is_changed:
            if p.direction != "out" and p.doc:
                raise Left(f"{p.name}, which is read and written")
            before.append(f"{p.name} = ffi.new('{name} *')")
            args.append(p.name)
            shown = "Transform" if name == "tal_xform" else \
                "np.ndarray" if name in VALUES else "Record"
            keep = ", ".join([p.name, *self.near])
            outs.append((f"_result('{name}', {p.name}[0], ({keep},))", shown))
            return
        keyword = name.endswith(("_def", "_options")) and p.stars == 1 and \
            not any(s[0].startswith("**") for s in signature)
        if keyword:
            before.append(f"{p.py} = _record('{name}', fields)")
            signature.append(("**fields", None))
            stubs.append(("**fields", "Any"))
        else:
            signature.append((p.py, "None" if "NULL" in p.doc else None))
            stubs.append((p.py, "Record | Mapping[str, Any] | Sequence[Any] | None"))
            needed = ", True" if p.stars == 0 else ""
            before.append(f"{p.py} = _record('{name}', {p.py}{needed})")
        late.append(f"_taken({p.py}._functions)")
        args.append(f"{p.py}._ptr" if p.stars == 1 else f"{p.py}._ptr[0]")

    def body(self, function, before, args, late, outs, errors, has_err, owned, makes, signature):
        """The call, and what comes back: (lines, the type for the stub)."""
        err = "err" if has_err else "None"
        objects = "(" + "".join(f"{e}, " for e in errors) + ")"
        call = f"lib.{function.name}({', '.join(args)})"
        lines, result = list(before), function.result
        lines = Guarded(lines, self.changed_objects(function))
        late = [line for line in late if "._functions" not in line or self.may_adopt(line, before)]
        where = f"'{function.name}'"
        if result == "tal_status":
            lines.call("status = ", call)
            if f"{function.name}" not in self.names["adopts_on_success"]:
                lines += late
            lines.append("if status:")
            lines.append(f"    _fail(status, {objects}, {err}, {where})")
            if f"{function.name}" in self.names["adopts_on_success"]:
                lines += late
            values = outs
        elif result == "void":
            lines.call("", call)
            lines += [*late, f"_breach({where})"]
            values = outs
        else:
            lines.call("result = ", call)
            lines += late
            values = [self.result(function, lines, objects, err, where), *outs]
        if owned:
            keep = ", ".join(["self" if e == "self" else e for e in errors] +
                             [s[0].lstrip("*") for s in signature if s[0] not in errors])
            kind = owned.type
            lines.append(f"made = _own('{kind}', {owned.name}[0], ({keep}{',' if keep else ''}))")
            record = next((re.match(r"(\w+) = _record\(", line)[1] for line in before
                           if re.match(r"\w+ = _record\(", line)), None)
            if record:  # it says how long arrays are
                lines.append(f"made._def = {record}")
            values = [("made", self.objects[kind]), *outs]
        if values:
            lines.append("return " + ", ".join(value for value, _ in values))
        shown = [kind or "Any" for _, kind in values]
        return lines, "None" if not shown else shown[0] if len(shown) == 1 else \
            f"tuple[{', '.join(shown)}]"

    def owner(self, index, kind):
        """Python for the matter, forces, ... of an element. What the first function of its class
        takes is at hand, the rest is found through it."""
        part = self.parts.setdefault(index, kind[4:])
        return "self._owner" if part == kind[4:] else f"self._owner.{kind[4:]}"

    def changed_objects(self, function):
        """Python for the objects that a call changes: no other call may use them meanwhile."""
        return {re.sub(r"\._p$", "", self.arg_expr[p.name]): p.type for p in function.params
                if p.name in self.arg_expr and not p.const and p.type != "tal_function"}

    def may_adopt(self, line, before):
        """Whether a def can hold functions."""
        name = re.match(r"_taken\((\w+)\.", line)[1]
        kind = next(re.search(r"_record\('(\w+)'", one)[1] for one in before
                    if one.startswith(f"{name} = _record("))
        return kind in self.api.structs and "tal_function *" in self.flat(kind)

    def flat(self, kind, seen=()):
        """The text of a struct with those of the structs that are in it."""
        text = self.api.structs[kind]
        inner = set(re.findall(r"\b(tal_\w+) \w+", text)) & set(self.api.structs) - {kind, *seen}
        return text + "".join(self.flat(one, (kind, *seen)) for one in sorted(inner))

    def result(self, function, lines, objects, err, where):
        """(what is returned, its type for the stub)"""
        kind, call = function.result, f"_breach({where}, {objects})"
        test = {"double": "if result != result:", "int": "if result < 0:", "long": "if result < 0:"}
        if kind in test:
            lines += [test[kind], f"    {call}"]
            return "result", NUMBERS[kind]
        if kind in NUMBERS:
            lines.append(f"_breach({where})")
            return "result", NUMBERS[kind]
        if kind in self.api.enums:
            lines.append(f"_breach({where})")
            shown = camel(kind[4:])
            return f"{shown}._value2member_map_.get(result, result)", shown
        if kind == "char*":
            lines.append(f"_breach({where})")
            return "_str(result)", "str | None"
        if kind in self.indices:
            never = "" if "_add_" in function.name else " | None"  # those raise
            return f"_index('{kind}', result, {objects})", self.indices[kind] + never
        if kind in self.api.structs:
            lines.append(f"_breach({where})")
            shown = "Transform" if kind == "tal_xform" else \
                "np.ndarray" if kind in VALUES else "Record"
            kept = "".join(f"{one}, " for one in [*self.near, *self.kept])
            return f"_result('{kind}', result, ({kept}))", shown
        if kind == "double*" and function.name in self.names["results"]:
            size = re.sub(r"\{(\w+)\}", lambda m: self.object_expr[m[1]],
                          self.names["results"][function.name])
            lines += ["if not result:", f"    {call}"]
            return f"_numbers(result, {size})", "np.ndarray"
        if kind.endswith("*") and kind[:-1] in self.objects:
            base = kind[:-1]
            lines += ["if not result:", f"    {call}", "    return None"]
            owned = base + "_destroy" in self.api.functions and not function.returns_const and \
                "create" in function.name
            return f"{'_own' if owned else '_borrow'}('{base}', result, {objects})", \
                self.objects[base]
        if kind.endswith("*") and kind[:-1] in self.api.structs:
            lines += ["if not result:", f"    {call}", "    return None"]
            return f"_result('{kind[:-1]}', result[0], {objects})", "Record | None"
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
            names = [one[1] for one in (classes.get(kind, []) if kind else functions)]
            if rest in names:
                raise SystemExit(f"generate.py: two functions are called {rest}: {function.name}")
            self.where[function.name] = f"{self.name_of(kind)}.{rest}" if kind else rest
            (classes.setdefault(kind, []) if kind else functions).append(entry)
        return classes, functions

    def name_of(self, kind):
        return self.objects.get(kind) or self.indices.get(kind)
