"""Errors of the library as exceptions with its sentence."""
import difflib
import threading

from talus._talus import ffi, lib

NULL = ffi.NULL


class Error(Exception):
    """What the library says went wrong; `status` and `where` are its code and function."""

    def __init__(self, message, status=0, where=""):
        super().__init__(message)
        self.status, self.where = status, where


class BadValueError(Error, ValueError):
    """A value is out of range or contradicts another."""


class BadIndexError(Error, IndexError):
    """An index does not exist, or is one of another kind."""


class BadNameError(Error, KeyError):
    """A name is used already, too long, or does not exist."""

    def __str__(self):
        return str(self.args[0])


class StageError(Error):
    """A result is read before it is computed, or something is set too late."""


class ClosedError(Error, ValueError):
    """An object is used after it was closed, or after something else took it over."""


class FileError(Error, OSError):
    """A file cannot be read, written or understood; `diagnostics` lists what is wrong."""

    def __str__(self):
        return str(self.args[0])

    diagnostics = ()


class NoMemoryError(Error, MemoryError):
    """The allocator returned nothing."""


class NumericalError(Error, ArithmeticError):
    """A singular matrix, a NaN, no convergence, steps too small or too many."""


class BusyError(Error, RuntimeError):
    """An object is used by two threads at once, or by a callback of its own call."""


class CallbackError(Error, RuntimeError):
    """A function of yours failed; its exception is the cause."""


_KINDS = {
    lib.TAL_ERR_NO_MEMORY: NoMemoryError, lib.TAL_ERR_BAD_VALUE: BadValueError,
    lib.TAL_ERR_BAD_INDEX: BadIndexError, lib.TAL_ERR_BAD_NAME: BadNameError,
    lib.TAL_ERR_NULL: BadValueError, lib.TAL_ERR_TOPOLOGY: StageError,
    lib.TAL_ERR_STAGE: StageError, lib.TAL_ERR_WRONG_SYSTEM: BadValueError,
    lib.TAL_ERR_NOT_FINITE: NumericalError, lib.TAL_ERR_SINGULAR: NumericalError,
    lib.TAL_ERR_NO_CONVERGENCE: NumericalError, lib.TAL_ERR_CAPACITY: BadValueError,
    lib.TAL_ERR_CALLBACK: CallbackError, lib.TAL_ERR_FILE: FileError,
    lib.TAL_ERR_STEP_TOO_SMALL: NumericalError, lib.TAL_ERR_STEP_LIMIT: NumericalError,
    lib.TAL_ERR_EVENT_LIMIT: NumericalError, lib.TAL_ERR_INFEASIBLE: NumericalError,
}

lib.tal_contract_set_handler(ffi.addressof(lib, "tal_contract_silent"))
_pending = threading.local()  # the exception that a callback of this thread raised


def _busy(one):
    """Refuse to use what another call is using."""
    raise BusyError(f"this {type(one).__name__} is in use by another thread, or by the call that "
                    "this function was called from: give each thread its own", 0)


def no_such(kind, name, names):
    """The error for a name that does not exist, with the nearest one that does."""
    near = difflib.get_close_matches(name, names, 1)
    return BadNameError(f"there is no {kind} '{name}'" +
                        (f": do you mean '{near[0]}'?" if near else ""), lib.TAL_ERR_BAD_NAME)


def make_error(status, message, where):
    """The exception for a status, caused by what a callback raised if one did."""
    error = _KINDS.get(status, Error)(message, status, where)
    cause = getattr(_pending, "error", None)
    _pending.error = None
    if cause is not None and not isinstance(cause, Exception):
        return cause  # KeyboardInterrupt, SystemExit
    if cause is not None and (status == lib.TAL_ERR_CALLBACK or str(cause) in message):
        error.__cause__ = cause
    return error


def _sentence(status, objects, err):
    if err is not None and err.status == status:
        return _str(err.message), _str(err.where)
    for one in objects:
        get = getattr(lib, f"{one._kind}_error", None)
        if get is None and getattr(one, "_system", None) is not None:
            one = one._system
            get = lib.tal_system_error
        if get is None:
            continue
        record = get(one._p)
        if record.status == status:
            return _str(record.message), _str(record.where)
    breach = lib.tal_contract_last()
    if breach.status == status:
        return _str(breach.message), _str(breach.where)
    return _str(lib.tal_status_text(status)), ""


def _fail(status, objects, err, name):
    message, where = _sentence(status, objects, err)
    for one in objects:
        if one._kind == "tal_state":
            lib.tal_state_clear_error(one._p)
    lib.tal_contract_clear()
    raise make_error(status, message, where or name)


def _breach(name, objects=()):
    """Raise the breach of contract that the last call made, if it did."""
    last = lib.tal_contract_last()
    if last.status != 0:
        message, where, status = _str(last.message), _str(last.where), last.status
        lib.tal_contract_clear()
        for one in objects:
            if one._kind == "tal_state":
                lib.tal_state_clear_error(one._p)
        raise make_error(status, message, where or name)
    for one in objects:  # building is sticky: its first mistake stays in the System
        system = one if one._kind == "tal_system" else one._system
        if system is not None:
            record = lib.tal_system_error(system._p)
            if record.status != 0:
                raise make_error(record.status, _str(record.message), _str(record.where))


def _str(value):
    return ffi.string(value).decode("utf-8", "replace") if value else None
