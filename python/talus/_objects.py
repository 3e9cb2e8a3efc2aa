"""Objects of the library and their lifetimes; elements of a System."""
import operator
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from talus._errors import ClosedError, Error, _breach, ffi, lib

CLASSES = {}  # C type: the class that stands for it


def register(cls):
    """Let a class stand for its C type."""
    CLASSES[cls._kind] = cls
    return cls


class Object:
    """Something that the library owns or that is owned here; closed at the end of its life."""
    __slots__ = ("_p", "_keep", "_system", "_take", "_give", "_busy", "__dict__", "__weakref__")
    _kind = ""

    def __new__(cls, *args: Any, **fields: Any) -> Self:
        if not hasattr(cls, "create"):
            raise TypeError(f"a {cls.__name__} is not made by itself: its System makes it")
        return cls.create(*args, **fields)

    if not TYPE_CHECKING:  # or else every name would be one
        def __getattr__(self, name):
            if name == "_p":
                raise ClosedError(f"this {type(self).__name__} was closed, or taken over by "
                                  "another object.", lib.TAL_ERR_NULL)
            raise AttributeError(f"{type(self).__name__} has no attribute '{name}'")

    @property
    def closed(self):
        """Whether close() was called, or another object took it over."""
        try:
            return self._p is None
        except ClosedError:
            return True

    def _about(self):
        return ""

    def __repr__(self):
        about = "closed" if self.closed else self._about()
        return f"<{type(self).__name__}{about and ': '}{about}>"

    def close(self):
        """Give it back now. Views of its memory stay valid; any other use raises."""
        if not self.closed:
            del self._p
            self._keep = ()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __copy__(self):
        raise TypeError(f"a {type(self).__name__} cannot be copied")

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} cannot be pickled")

    def _check_free(self):
        self._p  # raises when it is not ours any more

    def _adopted(self):
        ffi.gc(self._p, None)
        del self._p


def system_of(keep):
    """The System among the things an object needs, or theirs."""
    for one in keep:
        if isinstance(one, Object):
            if one._kind == "tal_system":
                return one
            if one._system is not None:
                return one._system
        if isinstance(one, Index):
            return one._owner.system
    return None


PARTS = {"tal_matter", "tal_forces", "tal_events"}  # building one of them changes the System


def _wrap(kind, pointer, keep):
    """The Python object for a pointer. Its memory lives as long as that of all in `keep`."""
    made = object.__new__(CLASSES[kind])
    made._p, made._keep, made._system = pointer, keep, system_of(keep)
    made._alive = [one._p for one in keep if isinstance(one, Object)]
    if kind == "tal_state":  # a flag is faster than a lock: see State._take
        made._busy = False
    elif kind in PARTS and made._system is not None:
        made._take, made._give = made._system._take, made._system._give
    else:
        lock = threading.Lock()
        made._take, made._give = partial(lock.acquire, False), lock.release
    if hasattr(made, "_ready"):
        made._ready()
    return made


def _own(kind, pointer, keep=()):
    """An object that is destroyed with its Python object, after all that needs it."""
    destroy = getattr(lib, f"{kind}_destroy")
    # the reference from the cdata keeps alive what the object uses, also for views of its memory
    alive = [one._p if isinstance(one, Object) else one for one in keep]

    def end(p, alive=alive):
        destroy(p)

    made = _wrap(kind, ffi.gc(pointer, end), keep)
    made._alive = alive
    return made


def _borrow(kind, pointer, keep=()):
    """An object that belongs to another one, which stays alive with it."""
    for one in keep:
        if isinstance(one, Object) and one._kind == kind and one._p == pointer:
            return one
    return _wrap(kind, pointer, keep)


def _taken(objects):
    """The library has taken these over."""
    for one in objects:
        if one is not None:
            one._adopted()


class Index:
    """An element of a System: its number, and the object it was added to."""
    __slots__ = ("_owner", "_c")
    _kind = ""
    _part = ""  # what its functions take besides its number: matter, forces, ...

    def __init__(self, owner, i):
        self._owner, self._c = getattr(owner, self._part, owner), (operator.index(i),)

    @property
    def i(self):
        """Its number."""
        return self._c[0]

    @property
    def _system(self):
        return self._owner.system

    def __index__(self):
        return self._c[0]

    def __eq__(self, other):
        if isinstance(other, Index):
            return self._c == other._c and self._kind == other._kind and \
                self._owner.system is other._owner.system
        return NotImplemented

    def __hash__(self):
        return hash((self._kind, self._c))

    def __repr__(self):
        about = f"{type(self).__name__} {self._c[0]}"
        try:
            return f"<{about} '{self.name()}'>" if hasattr(self, "name") else f"<{about}>"
        except (Error, TypeError):  # it does not exist, or its name needs more than it has
            return f"<{about}>"


def _ix(value, kind):
    """The C index of an element, or of its number."""
    if isinstance(value, Index):
        if value._kind != kind:
            raise TypeError(f"a {CLASSES[kind].__name__} is needed, not a {type(value).__name__}")
        return value._c
    return (operator.index(value),)


def _index(kind, result, objects):
    """An element; None when there is none; the exception when it was refused."""
    if result.i < 0:
        _breach(kind, objects)
        return None
    owner = next((o for o in objects if isinstance(o, Object)), None)
    if owner is None:
        owner = next((o._owner for o in objects if isinstance(o, Index)), None)
    return CLASSES[kind](owner, result.i)
