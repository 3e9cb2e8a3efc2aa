"""Pages of the site: Markdown as HTML, the frame around every page, links between them."""
import html
import os
import pathlib
import posixpath
import re

import markdown
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.util import ClassNotFound

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARK = ('<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" '
        'aria-hidden="true"><circle cx="6" cy="5" r="2.6" fill="#e69f00" stroke="none"/>'
        '<path d="M6 5l7 6-3 8" stroke-linecap="round" stroke-linejoin="round"/>'
        '<circle cx="13" cy="11" r="2.1" fill="#009e73" stroke="none"/>'
        '<circle cx="10" cy="19" r="2.1" fill="#0072b2" stroke="none"/></svg>')
TOP = [("start.html", "Start"), ("guide.html", "Guide"), ("examples/index.html", "Examples"),
       ("c/index.html", "C"), ("python/index.html", "Python"), ("talus.1.html", "Program")]


def slug(title):
    """The anchor of a heading, as on the pages that show Markdown themselves."""
    title = re.sub(r"<[^>]+>|[`*]", "", title).strip().lower()
    return re.sub(r" ", "-", re.sub(r"[^\w\- ]", "", html.unescape(title)))


def code(text, language):
    """A block of code with colors."""
    try:
        lexer = get_lexer_by_name(language) if language else None
    except ClassNotFound:
        lexer = None
    inner = highlight(text, lexer, HtmlFormatter(nowrap=True)) if lexer else html.escape(text)
    return f"<pre><code>{inner.rstrip()}\n</code></pre>"


def code_of(path):
    """A file with colors."""
    text = path.read_text(errors="replace")
    try:
        name = get_lexer_for_filename(path.name).aliases[0]
    except ClassNotFound:
        name = "xml" if path.suffix == ".talus" else None
    return code(text, name)


class Site:
    """All pages: what is written, what can be found, what is linked."""

    def __init__(self, out):
        self.out = out
        self.written = {}    # address: ids on that page
        self.links = []      # (from, to)
        self.index = []      # (title, address, text)
        self.sections = []   # the list of pages: (heading, [(address, title)])
        self.source = {}     # file of the repository: address
        self.wanted = {}     # files that pages link to and that have no page yet

    def find(self, title, address, text):
        """Let the search know something."""
        text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text)).strip()
        self.index.append((html.unescape(title), address, html.unescape(text)[:240]))

    def aside(self, address, sections):
        """The list of pages beside the text."""
        out = []
        for heading, pages in sections:
            out.append(f"<h2>{html.escape(heading)}</h2><ul>")
            for to, title in pages:
                here = ' aria-current="page"' if to == address else ""
                out.append(f'<li><a href="{self.relative(address, to)}"{here}>'
                           f"{html.escape(title)}</a></li>")
            out.append("</ul>")
        return '<aside><details><summary>Pages</summary><div>' + "".join(out) + \
            "</div></details></aside>"

    @staticmethod
    def relative(address, to):
        """The way from one page to another."""
        return posixpath.relpath(to, posixpath.dirname(address) or ".")

    def write(self, address, title, body, sections=None, summary=""):
        """Write one page in its frame."""
        root = "../" * address.count("/")
        nav = "".join(
            f'<a href="{root}{to}"' + (' aria-current="page"' if to == address or (
                "/" in to and address.startswith(to.split("/")[0] + "/")) else "") +
            f">{name}</a>" for to, name in TOP)
        side = self.aside(address, sections) if sections else ""
        page = f"""<!DOCTYPE html>
<html lang="en" data-root="{root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="{html.escape(summary or title, True)}">
<title>{html.escape(title)}{"" if address == "index.html" else " · Talus"}</title>
<link rel="stylesheet" href="{root}style.css">
<link rel="icon" href="{root}mark.svg">
</head>
<body>
<a class="skip" href="#text">To the text</a>
<header class="top"><div><a class="brand" href="{root}index.html">{MARK}Talus</a>
<nav aria-label="Parts">{nav}</nav>
<div class="find" role="search"><input type="search" placeholder="Search  ( / )"
aria-label="Search"><div class="found"></div></div></div></header>
<div class="page{"" if side else " wide"}">{side}<main id="text">
{body}
</main></div>
<footer><p>Talus, Apache License 2.0. Made by <code>./run site</code> from the files of the
project.</p></footer>
<script src="{root}search.js" defer></script>
</body>
</html>
"""
        path = self.out / address
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
        self.written[address] = set(re.findall(r'\bid="([^"]+)"', page))
        for to in re.findall(r'(?:href|src)="([^"]+)"', page):
            self.links.append((address, html.unescape(to)))

    def markdown(self, file, address):
        """(title, HTML) of a Markdown file of the repository; its headings can be found."""
        text = file.read_text(encoding="utf-8")
        self.check_quotes(file, text)
        text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.S)
        text = re.sub(r"(?m)^((?:[-*]|\d+\.) .*)$", r"\1", text)
        text = re.sub(r"(?m)(^[^\s|>#\-*\d].*\S)\n(?=(?:[-*] |\d+\. ))", r"\1\n\n", text)
        body = markdown.markdown(text, extensions=["tables", "fenced_code", "sane_lists"])
        body = re.sub(r'<pre><code(?: class="language-(\w+)")?>(.*?)</code></pre>',
                      lambda m: code(html.unescape(m[2]), m[1]), body, flags=re.S)
        body = body.replace("<table>", '<div class="table"><table>') \
            .replace("</table>", "</table></div>")
        body = self.headings(body, address)
        body = re.sub(r'(href|src)="([^"]+)"', lambda m: f'{m[1]}="' + html.escape(
            self.resolve(file, address, html.unescape(m[2])), True) + '"', body)
        title = re.search(r"<h1[^>]*>(.*?)</h1>", body, re.S)
        return html.unescape(re.sub(r"<[^>]+>", "", title[1])).strip() if title else file.stem, \
            body

    def headings(self, body, address):
        """Give headings anchors, and tell the search about what follows each."""
        parts, seen = re.split(r"(<h[1-4]>.*?</h[1-4]>)", body, flags=re.S), {}
        for k in range(1, len(parts), 2):
            level, inner = parts[k][2], parts[k][4:-5]
            name = slug(inner)
            seen[name] = seen.get(name, -1) + 1
            name += f"-{seen[name]}" if seen[name] else ""
            here = "" if level == "1" else \
                f'<a class="here" href="#{name}" aria-label="Link to this">#</a>'
            parts[k] = f'<h{level} id="{name}">{inner}{here}</h{level}>'
            text = re.sub(r"<pre>.*?</pre>", "", parts[k + 1], flags=re.S)
            self.find(re.sub(r"<[^>]+>", "", inner),
                      address + ("" if level == "1" else f"#{name}"), text)
        return "".join(parts)

    def resolve(self, file, address, to):
        """A link of a Markdown file as one between pages."""
        if re.match(r"[a-z]+:|#", to):
            return to
        to, _, anchor = to.partition("#")
        target = pathlib.Path(os.path.normpath(file.parent / to))
        try:
            name = target.relative_to(ROOT).as_posix()
        except ValueError:
            raise SystemExit(f"site: {file} links to {to}, outside the project") from None
        if not target.exists():
            raise SystemExit(f"site: {file} links to {to}, which is not there")
        if target.is_dir():
            name = name + "/README.md" if (target / "README.md").exists() else name
        if name not in self.source:
            self.source[name] = f"files/{name}" + (
                "" if target.suffix == ".png" else "/index.html" if target.is_dir() else ".html")
            self.wanted[name] = self.source[name]
        where = self.relative(address, self.source[name])
        return where + (f"#{anchor}" if anchor else "")

    @staticmethod
    def check_quotes(file, text):
        """Code that says where it is quoted from stands there."""
        for source, block in re.findall(r"<!-- quote: (\S+) -->\n```\w*\n(.*?)```", text, re.S):
            if f"\n{block}" not in "\n" + (ROOT / source).read_text() + "\n":
                raise SystemExit(f"site: {file} quotes lines that are not in {source}")

    def check_links(self):
        """Every link of every page leads somewhere."""
        wrong = []
        for address, to in self.links:
            if re.match(r"(https?|mailto|data):", to):
                continue
            path, _, anchor = to.partition("#")
            page = posixpath.normpath(posixpath.join(posixpath.dirname(address), path)) \
                if path else address
            if page in self.written:
                if anchor and anchor not in self.written[page]:
                    wrong.append(f"{address}: {to}: no such place on that page")
            elif not (self.out / page).is_file():
                wrong.append(f"{address}: {to}: no such page")
        return wrong
