"""What the public headers declare: functions, enums, structs, constants, and their comments."""
import re
import subprocess
from keyword import iskeyword

LAYERS = ("common", "geometry", "state", "matter", "forces", "molecule", "study", "io")


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
        self.py = self.name + "_" if iskeyword(self.name) else self.name


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
        self.docs, self.sizes = {}, {}


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
                # what is said of the group goes before the parameters
                main, tags = re.match(r"(?s)(.*?)((?:@param|@return).*)?\Z", doc).groups()
                parts = (main.strip("\n"), lead, tags)
                api.docs[name[1]] = "\n".join(part for part in parts if part).strip()
            doc = ""
        read_sizes(api, header)
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


def read_sizes(api, header):
    """Lengths of arrays that fields of structs point to: `const double *b; ///< [A.rows] ...`."""
    pattern = r"^typedef struct \w+ \{\n(.*?)^\} (tal_\w+);"
    for text, kind in re.findall(pattern, header, re.M | re.S):
        fields = set(re.findall(r"^ +[\w ]+[ *](\w+);", text, re.M))
        for name, size in re.findall(r"\*(\w+); *///< ((?:\[[\w. *]+\])+)", text):
            factors = re.findall(r"[^][* ]+", size)
            if all(f.isdigit() or f.split(".")[0] in fields for f in factors):
                api.sizes.setdefault(kind, {})[name] = "*".join(factors)


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
