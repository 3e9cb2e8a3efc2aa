"""The documentation site.

    /usr/bin/python3 site/build.py OUT [--pages FOLDER]

FOLDER has the 3-D pages of the example models, and pictures of them if there are any.
"""
import argparse
import html
import json
import pathlib
import re
import shutil

from pages import MARK, ROOT, Site, code, code_of
from reference import c_reference, manual, python_reference

HERE = pathlib.Path(__file__).resolve().parent
GUIDE = [
    ("First steps", ["quick_start", "model_file", "tables", "scene"]),
    ("In C", ["first_model", "concepts", "mobilizers", "constraints", "forces", "contact",
              "muscles", "impact", "time_stepping", "formulations", "molecules", "assembly",
              "generate", "derivatives", "digits", "operators"]),
    ("How to", ["howto/mobilizer", "howto/force", "howto/constraint", "howto/study",
                "howto/threads", "howto/ensembles", "howto/opensim", "howto/python"]),
    ("Behind it", ["theory", "validation", "performance", "references", "adr/README"]),
]
READERS = [
    ("muscles", "Muscles and bones", "You model people or animals: muscles over wrap surfaces, "
     "moment arms, inverse dynamics, models of OpenSim.", "arm"),
    ("molecules", "Molecules", "You simulate chains of atoms or beads: torsions as joints, baths "
     "at constant temperature, force fields.", "octane"),
    ("markers", "Markers and poses", "You fit models to what cameras saw, close loops, and solve "
     "inverse kinematics.", "stewart_platform"),
]


def guide_pages():
    """Files of doc/, those that nobody listed at the end."""
    listed = {name for _, names in GUIDE for name in names}
    found = {p.relative_to(ROOT / "doc").with_suffix("").as_posix()
             for p in (ROOT / "doc").glob("*.md")} | {
             f"howto/{p.stem}" for p in (ROOT / "doc/howto").glob("*.md")}
    rest = sorted(found - listed - {"README"})
    known = [(heading, [n for n in names if (ROOT / f"doc/{n}.md").exists()])
             for heading, names in GUIDE]
    return known + ([("More", rest)] if rest else [])


def title_of(path):
    """The first heading of a Markdown file."""
    found = re.search(r"^# (.*)$", path.read_text(), re.M)
    return re.sub(r"[`*]", "", found[1]) if found else path.stem


def guide(site):
    """The pages of doc/, and their list."""
    groups = guide_pages()
    address = {}
    for _, names in groups:
        for name in names:
            address[name] = f"{name}.html".replace("adr/README", "adr/index")
            site.source[f"doc/{name}.md"] = address[name]
    site.source["doc/README.md"] = "guide.html"
    site.source["README.md"] = "index.html"
    sections = [(heading, [(address[n], title_of(ROOT / f"doc/{n}.md")) for n in names])
                for heading, names in groups]
    for path in sorted((ROOT / "doc/adr").glob("0*.md")):
        site.source[f"doc/adr/{path.name}"] = f"adr/{path.stem}.html"
    for _, names in groups:
        for name in names:
            title, body = site.markdown(ROOT / f"doc/{name}.md", address[name])
            site.write(address[name], title, body, sections)
    for path in sorted((ROOT / "doc/adr").glob("0*.md")):
        to = f"adr/{path.stem}.html"
        title, body = site.markdown(path, to)
        site.write(to, title, body, sections)
    title, body = site.markdown(ROOT / "doc/README.md", "guide.html")
    site.write("guide.html", "Guide", body, sections)


def examples(site, pages):
    """Programs with what they print, in C and in Python; models that move; notebooks."""
    folder = ROOT / "examples"
    programs = sorted(folder.glob("[0-9]*.c"))
    models = sorted((folder / "models").glob("*.talus"))
    python = {p.stem.rsplit("_", 1)[1]: p for p in (ROOT / "python/examples").glob("*.py")}
    for path in [*programs, *models]:
        site.source[path.relative_to(ROOT).as_posix()] = f"examples/{path.stem}.html"
    site.source["examples/README.md"] = "examples/index.html"
    books = sorted((ROOT / "python/notebooks").glob("*.ipynb"))
    sections = [("Examples", [("examples/index.html", "All")]),
                ("Notebooks", [(f"examples/{p.stem}_notebook.html", p.stem.replace("_", " "))
                               for p in books]),
                ("Models", [(f"examples/{p.stem}.html", p.stem.replace("_", " "))
                            for p in models]),
                ("Programs", [(f"examples/{p.stem}.html", p.stem.replace("_", " "))
                              for p in programs])]
    for path in programs:
        number, _, name = path.stem.partition("_")
        said = re.sub(r"(?m)^// ?", "", re.match(r"(//.*\n)*", path.read_text())[0])
        body = f"<h1>{number} {html.escape(name.replace('_', ' '))}</h1>" + code(said, "")
        body += '<h2 id="prints">What it prints</h2>' + code(
            path.with_suffix(".out").read_text(), "")
        if number in python:
            body += '<h2 id="python">In Python</h2>' + code_of(python[number])
            site.source[python[number].relative_to(ROOT).as_posix()] = \
                f"examples/{path.stem}.html"
        body += '<h2 id="c">In C</h2>' + code_of(path)
        site.find(name.replace("_", " "), f"examples/{path.stem}.html", said)
        site.write(f"examples/{path.stem}.html", path.stem.replace("_", " "), body, sections)
    for path in models:
        moving = pages / f"{path.stem}.html" if pages else None
        said = re.search(r"<!--(.*?)-->", path.read_text(), re.S)
        body = f"<h1>{html.escape(path.stem.replace('_', ' '))}</h1>"
        if said:
            body += f'<p class="lead">{html.escape(" ".join(said[1].split()))}</p>'
        if moving and moving.exists():
            shutil.copyfile(moving, site.out / f"examples/{path.stem}_3d.html")
            body += f'<iframe class="moving" src="{path.stem}_3d.html" title="It moves" ' \
                f'loading="lazy"></iframe><p><a href="{path.stem}_3d.html">On a page of its ' \
                "own</a></p>"
        body += '<h2 id="file">The model file</h2>' + code_of(path)
        site.find(path.stem.replace("_", " "), f"examples/{path.stem}.html",
                  said[1] if said else "model")
        site.write(f"examples/{path.stem}.html", path.stem, body, sections)
    for path in books:
        notebook(site, path, sections)
    cards = "".join(card(site, f"{p.stem}.html", p.stem.replace("_", " "), "", p.stem, "")
                    for p in models)
    _, body = site.markdown(folder / "README.md", "examples/index.html")
    head, _, rest = body.replace("examples/</h1>", "Examples</h1>").partition("</h1>")
    site.write("examples/index.html", "Examples",
               f'{head}</h1><div class="cards">{cards}</div>{rest}', sections)


def card(site, to, title, text, picture, root):
    """A link with a picture, where there is one."""
    shown = ""
    if (site.out / f"pictures/{picture}.png").exists():
        shown = f'<img src="{root or "../"}pictures/{picture}.png" alt="" loading="lazy">'
    return f'<a class="card" href="{to}">{shown}<h3>{html.escape(title)}</h3>' \
        f"<p>{html.escape(text)}</p></a>"


def notebook(site, path, sections):
    """A notebook as a page."""
    import markdown
    body, address = [], f"examples/{path.stem}_notebook.html"
    for cell in json.loads(path.read_text())["cells"]:
        text = "".join(cell["source"])
        body.append(code(text, "python") if cell["cell_type"] == "code" else
                    markdown.markdown(text))
    file = f"files/{path.name}"
    (site.out / "files").mkdir(exist_ok=True)
    shutil.copyfile(path, site.out / file)
    text = site.headings("".join(body), address).replace(
        "</h1>", f'</h1><p><a href="../{file}" download>{path.name}</a> runs in Jupyter.</p>', 1)
    site.write(address, path.stem.replace("_", " ") + ": a notebook", text, sections)


def files(site):
    """A page for each other file or folder that pages link to, and those that they link to."""
    while site.wanted:
        name, address = site.wanted.popitem()
        path = ROOT / name
        if path.suffix == ".png":
            (site.out / address).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, site.out / address)
        elif path.is_dir():
            listed = "".join(f"<li>{html.escape(p.name)}</li>" for p in sorted(path.iterdir()))
            site.write(address, name, f"<h1>{name}</h1><ul>{listed}</ul>")
        elif path.suffix == ".md":
            title, body = site.markdown(path, address)
            site.write(address, title, body, [("Project", [
                (site.source[one], one) for one in sorted(site.source)
                if one.endswith("README.md") and site.source[one].startswith("files/")])])
        else:
            site.write(address, name, f"<h1>{name}</h1>" + code_of(path))


def first_page(site):
    """What Talus is for, a picture, and where each kind of reader begins."""
    cards = "".join(card(site, f"start.html#{anchor}", title, text, picture, "./")
                    for anchor, title, text, picture in READERS)
    pendulum = code_of(ROOT / "python/examples/pendulum_00.py")
    moving = '<a href="examples/human_body_3d.html">See it move</a>. ' \
        if (site.out / "examples/human_body_3d.html").exists() else ""
    body = f"""<section class="hero"><div><h1>Bodies that move, right to round-off</h1>
<p>Talus simulates people with muscles, molecules in torsion angles, and mechanisms with closed
loops; it fits models to markers, and finds equilibria, modes and forces. A C library, a program for
model files, and a Python package on numpy.</p>
<p><a class="go" href="start.html">First success in five minutes</a>
<a class="go quiet" href="examples/index.html">See examples</a></p></div>
<figure style="margin:0"><img src="dive.png" width="1200" height="760"
alt="A diver of forty bodies in the air, with a chart of his energies below">
<figcaption>{moving}A dive from 10 m: 40 bodies, 45 degrees of freedom.</figcaption></figure>
</section>
<h2 id="who">Who are you?</h2><div class="cards">{cards}</div>
<h2 id="how">How it feels</h2>
{pendulum}
<div class="cards">
{card(site, "validation.html", "Right", "Checked against identities, closed forms, published "
      "numbers and other programs; the same input gives the same bytes.", "-", "")}
{card(site, "performance.html", "Fast", "O(n) algorithms on one block of memory; nothing is "
      "allocated after setup. Measured beside its peers in one run.", "-", "")}
{card(site, "concepts.html", "Clear", "A result is up to date or reported as missing, never stale. "
      "Mistakes get a sentence that says what to change.", "-", "")}
</div>"""
    site.find("Talus", "index.html", "multibody dynamics: what it is for")
    site.write("index.html", "Talus: multibody dynamics", body,
               summary="Multibody dynamics for muscles, molecules and markers: in C and Python")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--pages", type=pathlib.Path)
    options = parser.parse_args()
    site = Site(options.out)
    for old in ("c", "python", "examples", "files", "adr", "howto"):
        shutil.rmtree(site.out / old, ignore_errors=True)
        (site.out / old).mkdir(parents=True)
    for name in "style.css", "search.js":
        shutil.copyfile(HERE / name, site.out / name)
    shutil.copyfile(ROOT / "doc/dive.png", site.out / "dive.png")
    (site.out / "mark.svg").write_text(
        MARK.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" color="#56789a" '))
    if options.pages:
        (site.out / "pictures").mkdir(exist_ok=True)
        for picture in options.pages.glob("*.png"):
            shutil.copyfile(picture, site.out / "pictures" / picture.name)
    site.source["doc/dive.png"] = "dive.png"
    site.source["doc/talus.1"] = "talus.1.html"
    for path in ROOT.glob("*/include/talus/*/*.h"):
        if path.parent.name == path.relative_to(ROOT).parts[0]:
            site.source[path.relative_to(ROOT).as_posix()] = \
                f"c/{path.parent.name}_{path.stem}.html"
    examples_first = {p.relative_to(ROOT).as_posix(): f"examples/{p.stem}.html" for p in
                      [*ROOT.glob("examples/[0-9]*.c"), *ROOT.glob("examples/models/*.talus")]}
    site.source.update(examples_first, **{"examples/README.md": "examples/index.html"})
    for path in ROOT.glob("python/notebooks/*.ipynb"):
        site.source[path.relative_to(ROOT).as_posix()] = f"examples/{path.stem}_notebook.html"
    guide(site)
    examples(site, options.pages)
    _, body = site.markdown(HERE / "start.md", "start.html")
    site.write("start.html", "First steps", body)
    first_page(site)
    c_reference(site)
    python_reference(site)
    manual(site)
    files(site)
    (site.out / "search_index.js").write_text(
        "window.talusIndex = " + json.dumps(site.index, ensure_ascii=False) + ";\n")
    wrong = site.check_links()
    if wrong:
        raise SystemExit("site: links that lead nowhere:\n" + "\n".join(wrong))
    print(f"site: {len(site.written)} pages, {len(site.links)} links, "
          f"{len(site.index)} things to find")


if __name__ == "__main__":
    main()
