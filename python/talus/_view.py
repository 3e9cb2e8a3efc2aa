"""Pages that move, and plots: what a notebook shows, and files."""
import html
import pathlib
import webbrowser

import numpy as np

from talus import _runtime as rt
from talus._files import Table
from talus._runtime import NULL, ffi, lib

PAGE = pathlib.Path(__file__).with_name("viewer.html")  # made by ./run viewer
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9")


def view(model, *tables, title=None, markers=(), **options):
    """Show a model and its runs: a page with a 3-D scene and charts.

    model       a Model or a System, and then its State is needed: view((system, state), table)
    tables      talus.Tables with the coordinates' columns; without any, the model moves each
                coordinate through its range
    markers     tables of measured markers, shown with the run that was added last
    options     fields of a tal_scene_options: up, max_frames, columns, show
    """
    system, state = model if isinstance(model, tuple) else \
        (getattr(model, "system", model), getattr(model, "state", None))
    if state is None:
        state = system.create_state()
    scene_of = ffi.new("tal_model *")
    scene_of.system, scene_of.state = system._p, state._p
    scene_of.matter, scene_of.forces = system.matter._p, system.forces._p
    record = rt._record("tal_scene_options", {**options, "title": title})
    out, err = ffi.new("tal_scene **"), ffi.new("tal_error *")
    status = lib.tal_scene_create(scene_of, record._ptr, out, err)
    if status:
        rt._fail(status, (), err, "tal_scene_create")
    scene = rt._own("tal_scene", out[0], (system, state))
    scene._model = scene_of, record
    for k, table in enumerate(tables):
        scene.add_run(f"run {k + 1}" if len(tables) > 1 else "run", table)
    if not tables:
        scene.add_ranges()
    for table in [markers] if isinstance(markers, Table) else markers:
        scene.add_markers(table)
    return Page(scene, title or "Talus")


class Page:
    """A scene as a page: `html`, save(), open(); a notebook shows it where it stands."""

    def __init__(self, scene, title):
        self.scene, self.title = scene, title

    def _write(self, kind, page):
        parts = []

        @ffi.callback("_Bool(void *, const void *, size_t)")
        def take(_, data, size):
            parts.append(bytes(ffi.buffer(data, size)))
            return True

        err = ffi.new("tal_error *")
        status = lib.tal_scene_write_to(self.scene._p, kind, page, take, NULL, err)
        if status:
            rt._fail(status, (), err, "tal_scene_write_to")
        return b"".join(parts)

    @property
    def html(self):
        """The page, complete in itself: it needs no other file and no network."""
        if not PAGE.exists():
            raise FileNotFoundError("this package was built without its viewer: run ./run viewer "
                                    "and ./run python again. save('x.glb') works without it.")
        text = PAGE.read_bytes()
        page, memory = ffi.new("tal_scene_page *"), ffi.from_buffer(text)
        page.text, page.size = ffi.cast("const char *", memory), len(text)
        return self._write(lib.TAL_SCENE_HTML, page).decode()

    def save(self, path):
        """Write a file: .html, .glb (glTF) or .json, and return its path."""
        path = pathlib.Path(path)
        if path.suffix in (".html", ".htm"):
            path.write_text(self.html, encoding="utf-8")
            return path
        kind = ffi.new("tal_scene_format *")
        if not lib.tal_scene_format_of(rt._text(path), kind):
            rt._breach("tal_scene_format_of")
            raise ValueError(f"{path}: a page is .html, .glb or .json")
        path.write_bytes(self._write(kind[0], NULL))
        return path

    def open(self, path="talus_view.html"):
        """Save it and open it in the browser."""
        webbrowser.open(self.save(path).resolve().as_uri())

    def _repr_html_(self, height=480):
        return f'<iframe sandbox="allow-scripts" style="width:100%;height:{height}px;border:0" ' \
            f'title="{html.escape(self.title, True)}" ' \
            f'srcdoc="{html.escape(self.html, True)}"></iframe>'


def ticks(low, high, wanted=6):
    """Round numbers between low and high, 1, 2 or 5 times a power of ten apart."""
    span = high - low or abs(high) or 1.0
    power = 10.0 ** np.floor(np.log10(span / wanted))
    step = power * min((1, 2, 5, 10), key=lambda k: abs(span / (k * power) - wanted))
    first = np.ceil(low / step - 1e-9)
    return [float(k * step) for k in np.arange(first, np.floor(high / step + 1e-9) + 1)]


class Plot:
    """Lines over one axis as SVG: a notebook shows it where it stands."""

    def __init__(self, x, lines, title="", x_label="", y_label="", size=(720, 400)):
        self.x = rt._real(x, (len(x),))
        self.lines = {name: rt._real(y, self.x.shape) for name, y in lines.items()}
        if not self.lines or not len(self.x):
            raise ValueError("there is nothing to plot")
        self.title, self.x_label, self.y_label, self.size = title, x_label, y_label, size

    def _range(self, arrays):
        finite = np.concatenate([a[np.isfinite(a)] for a in arrays])
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
        if high == low:
            pad = 0.5 * abs(low) or 0.5
            low, high = low - pad, high + pad
        return low, high

    @property
    def svg(self):
        """The picture as text."""
        width, height = self.size
        left, right, top, bottom = 72, 16, 34 if self.title else 14, 46
        (x0, x1), (y0, y1) = self._range([self.x]), self._range(self.lines.values())
        y0, y1 = y0 - 0.04 * (y1 - y0), y1 + 0.04 * (y1 - y0)
        wide, high = width - left - right, height - top - bottom

        def at(x, y):
            return left + wide * (x - x0) / (x1 - x0), top + high * (y1 - y) / (y1 - y0)

        out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
               f'width="{width}" height="{height}" role="img" font-family="sans-serif" '
               f'font-size="12" aria-label="{html.escape(self.title or "plot", True)}">'
               '<rect width="100%" height="100%" fill="#ffffff"/>']
        for x in ticks(x0, x1):
            px, py = at(x, y0)
            out.append(f'<path d="M{px:.1f} {top}V{py:.1f}" stroke="#e4e4e4"/>'
                       f'<text x="{px:.1f}" y="{py + 17:.1f}" text-anchor="middle">{x:g}</text>')
        for y in ticks(y0, y1):
            px, py = at(x0, y)
            out.append(f'<path d="M{left} {py:.1f}H{width - right}" stroke="#e4e4e4"/>'
                       f'<text x="{left - 7}" y="{py + 4:.1f}" text-anchor="end">{y:g}</text>')
        for k, (name, y) in enumerate(self.lines.items()):
            pen, points = "M", []
            for px, py in zip(self.x, y):
                if np.isfinite(py):
                    points.append(pen + "%.1f %.1f" % at(px, py))
                pen = "L" if np.isfinite(py) else "M"
            dash = ("", ' stroke-dasharray="7 3"', ' stroke-dasharray="2 3"')[k // len(COLORS) % 3]
            out.append(f'<path d="{"".join(points)}" fill="none" stroke-width="1.8" '
                       f'stroke="{COLORS[k % len(COLORS)]}"{dash}/>')
        out += self._words(width, height, left, top)
        return "\n".join(out) + "</svg>\n"

    def _words(self, width, height, left, top):
        """Title, names of the axes and of the lines."""
        yield f'<text x="{left}" y="20" font-size="15" font-weight="600">' \
            f'{html.escape(self.title)}</text>'
        yield f'<text x="{(width + left) / 2:.0f}" y="{height - 10}" text-anchor="middle">' \
            f'{html.escape(self.x_label)}</text>'
        middle = (height + top) / 2 - 20
        yield f'<text transform="translate(16 {middle:.0f}) rotate(-90)" ' \
            f'text-anchor="middle">{html.escape(self.y_label)}</text>'
        for k, name in enumerate(self.lines if len(self.lines) > 1 else ()):
            y = top + 16 + 17 * k
            yield f'<rect x="{left + 10}" y="{y - 9}" width="18" height="3" ' \
                f'fill="{COLORS[k % len(COLORS)]}"/><text x="{left + 34}" y="{y - 3}">' \
                f'{html.escape(name)}</text>'

    def save(self, path):
        """Write an .svg file."""
        pathlib.Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_svg_(self):
        return self.svg


def plot(table, columns=None, x="time", **options):
    """Columns of a table, or {name: values} over x, as a Plot.

    options     title, x_label, y_label, size
    """
    names = [name for name in table if name != x] if columns is None else \
        [columns] if isinstance(columns, str) else list(columns)
    options.setdefault("x_label", "time [s]" if x == "time" else x)
    return Plot(table[x], {name: table[name] for name in names}, **options)


