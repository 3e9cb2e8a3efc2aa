"""Model files and tables."""
import html
import weakref

import numpy as np

from talus import _generated as g
from talus import _runtime as rt
from talus._runtime import NULL, Record, ffi, lib, register
from talus._state import Memory, State


@register
class Table(g._Table):
    """Named columns of numbers, with a header. Read with talus.read_table()."""

    def _about(self):
        return f"{rt.counted(len(self), 'row')}, {rt.counted(self.num_columns(), 'column')}"

    @property
    def names(self):
        """The columns' names."""
        return [self.column_name(i) for i in range(self.num_columns())]

    def _ready(self):
        self._array = None
        take = self._take
        # a view of its numbers must not be left dangling: nothing is added while there is one
        self._take = lambda: (self._array is None or self._array() is None) and take()

    @property
    def array(self):
        """All values (rows, columns), without a copy: read only. While somebody has it, nothing can
        be added to the table."""
        rows, columns = self.num_rows(), self.num_columns()
        if rows * columns == 0:
            return np.zeros((rows, columns))
        memory = Memory(lib.tal_table_row(self._p, 0), (rows, columns), self._p)
        self._array = weakref.ref(memory)
        return np.asarray(memory)

    def __getitem__(self, name):
        column = lib.tal_table_find_column(self._p, rt._text(name))
        if column < 0:
            raise rt.no_such("column", name, self.names)
        return self.array[:, column].copy()

    def __contains__(self, name):
        return lib.tal_table_find_column(self._p, rt._text(name)) >= 0

    def __iter__(self):
        return iter(self.names)

    @property
    def structured(self):
        """A structured array: a field for each column."""
        return np.rec.fromarrays(self.array.T, names=self.names)

    def to_pandas(self):
        """A pandas.DataFrame, which needs pandas."""
        import pandas  # type: ignore
        return pandas.DataFrame(np.array(self.array), columns=self.names)

    def text(self, format="sto"):
        """The table as a file's text (bytes for the binary formats)."""
        err, length = ffi.new("tal_error *"), ffi.new("size_t *")
        kind = rt._enum(format, g.TableFormat)
        # the first call tells the length, whether it fits or not
        lib.tal_table_write_memory(self._p, kind, NULL, 0, length, err)
        memory = ffi.new("char[]", length[0] + 1)
        status = lib.tal_table_write_memory(self._p, kind, memory, length[0] + 1, length, err)
        if status:
            rt._fail(status, (), err, "tal_table_write_memory")
        found = bytes(ffi.buffer(memory, length[0]))
        try:
            return found.decode()
        except UnicodeDecodeError:
            return found

    def _repr_html_(self):
        """The first rows, for notebooks."""
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.names[:12])
        rows = "".join("<tr>" + "".join(f"<td>{x:.6g}</td>" for x in row[:12]) + "</tr>"
                       for row in self.array[:8])
        return f"<table><tr>{head}</tr>{rows}</table><p>{self._about()}</p>"

    def __len__(self):
        return self.num_rows()

    @property
    def headers(self):
        """The header's keys and values."""
        keys = [self.header_key(i) for i in range(self.num_headers())]
        return {key: self.header(key) for key in keys}

    def write(self, path):
        """Write a file; its extension selects the format."""
        self.write_file(path)

    @classmethod
    def from_arrays(cls, columns):
        """A table of {name: values}, all of one length."""
        table = cls()
        arrays = [rt._real(v, (len(v),)) for v in columns.values()]
        if len({len(a) for a in arrays}) > 1:
            raise ValueError("columns of different lengths")
        for name in columns:
            table.add_column(name)
        rows = np.column_stack(arrays) if arrays else np.zeros((0, 0))
        table.reserve(len(rows))
        for row in rows:
            table.add_row(row)
        return table


def _file_error(status, found, what):
    listed = []
    text = ffi.new("char[]", lib.TAL_DIAGNOSTIC_SIZE)
    for k in range(max(lib.tal_diagnostics_num(found), 0)):
        listed.append(rt._str(lib.tal_diagnostic_text(lib.tal_diagnostics_at(found, k), text)))
    lib.tal_contract_clear()
    message = "\n".join(listed) or f"{what}: {rt._str(lib.tal_status_text(status))}"
    error = rt.make_error(status, message, what)
    if isinstance(error, rt.FileError):
        error.diagnostics = tuple(listed)
    return error


def _diagnostics():
    return ffi.gc(lib.tal_diagnostics_create(NULL), lib.tal_diagnostics_destroy)


def read_table(path):
    """Read a table (.sto, .mot, .trc, .csv, .npz, .c3d)."""
    out, found = ffi.new("tal_table **"), _diagnostics()
    status = lib.tal_table_read_file(rt._text(path), NULL, out, found)
    if status:
        raise _file_error(status, found, str(path))
    return rt._own("tal_table", out[0])


class Model:
    """What a model file gives: `system`, `matter`, `forces`, `state`, markers, params."""

    def __init__(self, pointer):
        self._c = pointer
        # State and System belong to the model; both keep it alive
        self.system = rt._wrap("tal_system", pointer.system, (pointer,))
        self.system._alive = []
        self.system.__dict__["_forces_p"] = pointer.forces
        self.system.__dict__["_model"] = pointer
        self.matter, self.forces = self.system.matter, self.system.forces
        self.state = State(self.system)
        status = lib.tal_state_copy(self.state._p, pointer.state)
        if status:
            rt._fail(status, (self.state,), None, "tal_state_copy")

    def __repr__(self):
        return f"<Model: {self.system._about()}>"

    @property
    def markers(self):
        """Points of bodies that are observed, as Records with name, body and p_BS."""
        return [Record("tal_marker", ffi.addressof(self._c.markers[k]), self._c)
                for k in range(self._c.num_markers)]

    def body(self, name):
        """The body of that name."""
        return self.matter.body(name)

    @property
    def params(self):
        """{name: value} of the file's parameters."""
        return {rt._str(self._c.params[k].name): self._c.params[k].value
                for k in range(self._c.num_params)}

    def _with(self, state):
        """The C model, with another State."""
        model = ffi.new("tal_model *", self._c[0])
        if state is not None:
            model.state = state._p
        return model

    def text(self, state=None):
        """The model as a file's text, with what a State holds."""
        model, length, err = self._with(state), ffi.new("size_t *"), ffi.new("tal_error *")
        status, size = lib.tal_model_write_memory(model, NULL, NULL, 0, length, err), 0
        if not status or length[0]:
            size = length[0] + 1
            memory = ffi.new("char[]", size)
            status = lib.tal_model_write_memory(model, NULL, memory, size, length, err)
        if status:
            rt._fail(status, (), err, "tal_model_write_memory")
        return rt._str(memory)

    def osim(self, state=None):
        """The model as an .osim file of OpenSim 4."""
        model, length, found = self._with(state), ffi.new("size_t *"), _diagnostics()
        status = lib.tal_osim_write_memory(model, NULL, 0, length, found)
        if not status:
            memory = ffi.new("char[]", length[0] + 1)
            status = lib.tal_osim_write_memory(model, memory, length[0] + 1, length, found)
        if status:
            raise _file_error(status, found, "the model")
        return rt._str(memory)

    def write(self, path, state=None):
        """Write a model file: .osim in the format of OpenSim, anything else as .talus."""
        is_osim = str(path).lower().endswith(".osim")
        text = self.osim(state) if is_osim else self.text(state)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def read_model(path=None, params=None, starts=None, text=None, **fields):
    """Read a model: .talus, .urdf or .osim; or the text of a .talus model.

    params      {name: value} instead of the file's
    starts      {coordinate or speed: value} where each begins
    """
    if params:
        fields["params"] = [{"name": name, "value": value} for name, value in params.items()]
    if starts:
        fields["starts"] = [{"name": name, "value": value} for name, value in starts.items()]
    options = rt._record("tal_model_options", fields)
    pointer, found = ffi.new("tal_model *"), _diagnostics()
    if text is None:
        status = lib.tal_model_read_any(rt._text(path), options._ptr, pointer, found)
    else:
        given = text.encode()
        name = b"text" if path is None else rt._text(path)
        status = lib.tal_model_read_memory(name, given, len(given), options._ptr, pointer, found)
    if status:
        raise _file_error(status, found, str(path))
    return Model(ffi.gc(pointer, lib.tal_model_destroy))


def model_reference():
    """The reference of model files, as Markdown."""
    size = lib.tal_model_reference(NULL, 0)
    text = ffi.new("char[]", size + 1)
    lib.tal_model_reference(text, size + 1)
    return rt._str(text)
