"""Reference pages: the C headers, the Python package, the manual page."""
import html
import inspect
import re

from pages import ROOT, code

LAYERS = ("common", "geometry", "state", "matter", "forces", "molecule", "study", "io")


def clean(comment):
    """The text of a comment of C."""
    lines = [re.sub(r"^\s*(///<?|/\*\*|\*/|\*(?!/)) ?", "", line) for line in comment.splitlines()]
    return re.sub(r"\s*\*/\s*$", "", "\n".join(lines)).strip("\n")


def words(text, link):
    """Sentences of a comment: code in backquotes, names with links."""
    out = html.escape(text)
    out = re.sub(r"`([^`]+)`", r"<code>\1</code>", out)
    return re.sub(r"(?:::)?\b(tal_\w+|TAL_\w+)\b(\(\))?", lambda m: link(m[1], m[0]), out)


def says(text, link):
    """A comment as HTML: paragraphs, indented code, parameters, what is returned."""
    text = re.sub(r"@(?:name|brief|file \S+|\{|\}|ingroup \S+)", "", text)
    main, *tags = re.split(r"(?m)^\s*@(?=param|return)", text)
    out = []
    for block in re.split(r"\n\s*\n", main.strip("\n")):
        lines = block.splitlines()
        if lines and all(line.startswith("    ") for line in lines if line.strip()):
            out.append(code("\n".join(line[4:] for line in lines), "c"))
        elif block.strip():
            one = re.sub(r"\n(?!\s*- )", " ", block.strip())
            first, *points = re.split(r"\n?^\s*- ", one, flags=re.M)
            if first.strip():
                out.append(f"<p>{words(first, link)}</p>")
            if points:
                listed = "".join(f"<li>{words(point, link)}</li>" for point in points)
                out.append(f"<ul>{listed}</ul>")
    terms = []
    for tag in tags:
        tag = " ".join(tag.split())
        if (found := re.match(r"param(?:\[[a-z,]+\])? (\S+(?:, \w+)*) (.*)", tag)):
            terms.append(f"<dt>{html.escape(found[1])}</dt><dd>{words(found[2], link)}</dd>")
        elif tag.startswith("return"):
            terms.append(f"<dt>returns</dt><dd>{words(tag[6:].strip(), link)}</dd>")
    return "".join(out) + (f"<dl>{''.join(terms)}</dl>" if terms else "")


def declarations(text):
    """(comment, declaration, names) of a header, and the comment of the file, in their order."""
    pattern = re.compile(
        r"(?P<doc>(?:^[ \t]*///(?!<)[^\n]*\n)+|^/\*\*(?:[^*]|\*(?!/))*\*/[ \t]*\n)"
        r"|(?P<type>^typedef (?:struct|enum) \w+ \{.*?^\} \w+;[^\n]*)"
        r"|(?P<other>^typedef [^;{]*;)"
        r"|(?P<define>^#define TAL_\w+(?:\([^)]*\))?(?:[^\n]*\\\n)*[^\n]*)"
        r"|(?P<function>^(?:TAL_API|TAL_NODISCARD|TAL_ALWAYS_INLINE|static inline|static const)"
        r"\b[^;{]*[;{])", re.M | re.S)
    doc = ""
    for match in pattern.finditer(text):
        if match["doc"]:
            doc = clean(match["doc"])
            if "@file" in doc or "@name" in doc:
                yield doc, None, []
                doc = ""
            elif re.search(r"@\{|@\}|@defgroup", doc):
                doc = ""
            continue
        shown = match[0].rstrip("{").rstrip()
        shown = re.sub(r"\b(TAL_API|TAL_NODISCARD|TAL_ALWAYS_INLINE)\s+", "", shown)
        if match["function"] and not shown.endswith(";"):
            shown = re.sub(r"^static inline ", "", shown) + ";"
        names = re.findall(r"\b(tal_\w+)\s*\(", shown)[:1] if match["function"] else []
        if match["type"]:
            names = [re.search(r"\} (\w+);", shown)[1]] + (
                re.findall(r"^\s+(TAL_\w+)", shown, re.M) if "enum" in shown[:14] else [])
        elif match["other"]:
            names = re.findall(r"\(\*(\w+)\)|(\w+);$", shown)[0:1]
            names = [one or two for one, two in names]
        elif match["define"]:
            names = [re.match(r"#define (\w+)", shown)[1]]
            if names[0].endswith("_H") or names[0] in ("TAL_API", "TAL_NODISCARD"):
                continue
        elif shown.startswith("static const"):
            names = re.findall(r"\b(TAL_\w+)", shown)[:1]
        if names:
            yield doc, shown, names
        doc = ""


def headers():
    """(layer, path, text) of all public headers."""
    for layer in LAYERS:
        for path in sorted((ROOT / layer / "include").rglob("*.h")):
            if path.parent.name == layer:
                yield layer, path, path.read_text()


def c_reference(site):
    """A page for each header, and a list of all names."""
    where, pages = {}, []
    for layer, path, text in headers():
        address = f"c/{layer}_{path.stem}.html"
        items = list(declarations(text))
        pages.append((layer, path, address, items))
        site.source.setdefault(path.relative_to(ROOT).as_posix(), address)
        for _, shown, names in items:
            for name in names:
                where.setdefault(name, (address, names[0]))
    sections = [(layer, [(a, p.stem.replace("_", " ")) for one, p, a, _ in pages if one == layer])
                for layer in LAYERS]
    sections.insert(0, ("C", [("c/index.html", "All names")]))
    for layer, path, address, items in pages:
        def link(name, shown, here=address):
            if name not in where:
                return shown
            to, anchor = where[name]
            return f'<a href="{site.relative(here, to)}#{anchor}">{shown}</a>'

        title = f"talus/{layer}/{path.name}"
        body = [f"<h1>{title}</h1>"]
        for doc, shown, names in items:
            if shown is None:
                body.append(group(doc, link))
                continue
            extra = "".join(f'<span id="{name}"></span>' for name in names[1:]
                            if where[name] == (address, names[0]))
            mine = where[names[0]] == (address, names[0])
            body.append(f'<section class="thing"{f" id={chr(34)}{names[0]}{chr(34)}" if mine else ""}'
                        f'>{extra}{code(shown, "c")}{says(doc, link)}</section>')
            for name in names if mine else []:
                site.find(name, f"{address}#{names[0]}", doc or shown)
        site.write(address, title, "\n".join(body), sections)
    names = "".join(f'<li><a href="{site.relative("c/index.html", a)}#{n}">{name}</a></li>'
                    for name, (a, n) in sorted(where.items()) if name.startswith("tal_"))
    body = f"""<h1>The C library</h1>
<p>One header brings everything: <code>#include &lt;talus/talus.h&gt;</code>. <a href="../first_model.html">A first
model in C</a> explains a program line by line, <a href="../concepts.html">Concepts</a> what everything
rests on. The headers are grouped by layer; a layer uses those above it in the list beside this
text.</p><h2 id="names">All names</h2><ul class="names">{names}</ul>"""
    site.write("c/index.html", "The C library", body, sections)


def group(doc, link):
    """What a header or a group of declarations is about."""
    if "@file" in doc:
        return says(re.sub(r"@file \S+", "", doc), link)
    title, _, rest = re.sub(r"@\{|@name", "", doc).strip().partition("\n")
    return f"<h2>{html.escape(title.strip())}</h2>" + says(rest, link)


# --- Python ---

def python_reference(site):
    """A page for each class of the package, and one for its functions."""
    import talus
    classes = [(name, cls) for name, cls in sorted(vars(talus).items())
               if inspect.isclass(cls) and not name.startswith("_")]
    enums = [one for one in classes if hasattr(one[1], "__members__")]
    errors = [one for one in classes if issubclass(one[1], Exception)]
    objects = [one for one in classes if one not in enums and one not in errors]
    address = {name: f"python/{name}.html" for name, _ in objects}
    sections = [("Python", [("python/index.html", "Overview"),
                            ("python/functions.html", "Functions"),
                            ("python/enums.html", "Enums and errors")]),
                ("Classes", [(address[name], name) for name, _ in objects])]

    def link(name, shown):
        place = talus.REACHED.get(name, "")
        cls, _, method = place.partition(".")
        return f'<a href="{cls}.html#{method}">{html.escape(place)}</a>' \
            if method and cls in address else shown

    for name, cls in objects:
        body = [f"<h1>{name}</h1>", python_words(inspect.getdoc(cls) or "", link)]
        members = [(key, value) for key, value in inspect.getmembers(cls)
                   if not key.startswith("_") and (inspect.isfunction(value) or
                                                   inspect.ismethod(value) or
                                                   isinstance(value, property))]
        for key, value in members:
            body.append(thing(site, address[name], f"{name}.{key}", key, value, link))
        site.find(name, address[name], inspect.getdoc(cls) or "")
        site.write(address[name], f"talus.{name}", "\n".join(body), sections)
    functions = [(name, value) for name, value in sorted(vars(talus).items())
                 if inspect.isfunction(value) and not name.startswith("_")]
    body = ["<h1>Functions</h1>"] + [
        thing(site, "python/functions.html", f"talus.{name}", name, value, link)
        for name, value in functions]
    site.write("python/functions.html", "Functions of talus", "\n".join(body), sections)
    body = ["<h1>Enums and errors</h1>", "<h2>Errors</h2>"]
    for name, cls in errors:
        body.append(f'<section class="thing" id="{name}"><code>{name}</code> '
                    f"({', '.join(b.__name__.strip('_') for b in cls.__bases__)})"
                    f"{python_words(inspect.getdoc(cls) or '', link)}</section>")
    body.append("<h2>Enums</h2><p>Where one is needed, its name in lower case will do.</p>")
    for name, cls in enums:
        members = ", ".join(f"<code>{member}</code>" for member in cls.__members__)
        body.append(f'<section class="thing" id="{name}"><h3>{name}</h3>{members}</section>')
        site.find(name, f"python/enums.html#{name}", " ".join(cls.__members__))
    site.write("python/enums.html", "Enums and errors", "\n".join(body), sections)
    howto = site.markdown(ROOT / "doc/howto/python.md", "python/index.html")[1]
    site.write("python/index.html", "The Python package", howto, sections)


def python_words(text, link):
    """A docstring: the library's comment, or one of our own."""
    text = re.sub(r"\n*C: tal_\w+\(\)\s*$", "", text)
    text = "\n".join("    " + line if re.match(r"\s{4,}", line) else line
                     for line in text.splitlines())
    return says(re.sub(r"(?m)^ {8}", "    ", text), link)


def thing(site, address, name, key, value, link):
    """A method, property or function."""
    target = value.fget if isinstance(value, property) else value
    try:
        signature = "" if isinstance(value, property) else str(inspect.signature(value))
    except (TypeError, ValueError):
        signature = "(...)"
    signature = re.sub(r"\(self(, )?", "(", signature)
    doc = inspect.getdoc(target) or ""
    site.find(name, f"{address}#{key}", doc)
    return f'<section class="thing" id="{key}">{code(name + signature, "python")}' \
        f"{python_words(doc, link)}</section>"


# --- the manual page ---

def manual(site):
    """talus.1 as a page."""
    out, end, listed = ["<h1>talus</h1>"], "", []
    term = False

    def text(line):
        line = html.escape(line.replace("\\-", "-").replace("\\e", "\\").replace("\\&", ""))
        line = re.sub(r"\\f[BI](.*?)\\f[RP]", r"<em>\1</em>", line)
        return re.sub(r"\\f[BIRP]", "", line)

    def close():
        nonlocal end
        out.append(end)
        end = ""

    for line in (ROOT / "doc/talus.1").read_text().splitlines():
        macro, _, rest = line.partition(" ")
        rest = rest.strip('"')
        if macro == ".SH" or macro == ".SS":
            close()
            level, anchor = "2" if macro == ".SH" else "3", re.sub(
                r"\W+", "-", re.sub(r"\\f.", "", rest).lower()).strip("-")
            out.append(f'<h{level} id="{anchor}">{text(rest)}</h{level}>')
            if macro == ".SS":
                listed.append((f"talus.1.html#{anchor}", " ".join(rest.split()[:2])))
                site.find(re.sub(r"\\f.", "", rest), f"talus.1.html#{anchor}", "")
        elif macro == ".TP":
            if end != "</dd></dl>":
                close()
                out.append('<dl class="thing">')
            else:
                out.append("</dd>")
            end, term = "</dd></dl>", True
        elif macro == ".nf":
            close()
            out.append("<pre><code>")
            end = ""
        elif macro == ".fi":
            out.append("</code></pre>")
        elif macro in (".PP", ".RS", ".RE"):
            close()
            out.append("<p>" if macro == ".PP" else "")
        elif macro in (".TH",):
            continue
        else:
            body = text(rest if macro == ".B" else line)
            if term:
                out.append(f"<dt><code>{body}</code></dt><dd>")
                term = False
            else:
                out.append((f"<strong>{body}</strong>" if macro == ".B" else body) +
                           ("" if out[-1].startswith("<pre") else "\n"))
    close()
    body = re.sub(r"<code>\n", "<code>", "\n".join(out))
    site.write("talus.1.html", "The program talus", body, [("Commands", listed)])
