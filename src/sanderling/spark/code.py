"""Code that a program brings, on its way to the workers: by value, as Spark takes functions there."""

from __future__ import annotations

import sys
from typing import Any

from pyspark import cloudpickle as _cloudpickle

from sanderling.errors import SessionError

cloudpickle: Any = _cloudpickle  # it says no types


def code_of(kind: type) -> bytes:
    """A class with all that its own module gives it, so that no worker needs that module."""
    module = sys.modules.get(kind.__module__)
    is_ours = kind.__module__.split(".")[0] == "sanderling"
    is_by_value = module is not None and kind.__module__ != "__main__" and not is_ours
    if is_by_value:
        cloudpickle.register_pickle_by_value(module)
    try:
        return bytes(cloudpickle.dumps(kind))
    except Exception as e:  # whatever its author holds in it
        raise SessionError(
            "session.bad_state", f"{kind.__qualname__} cannot be sent to workers: {e}",
            "open files and connections in its functions",
        ) from e  # fmt: skip
    finally:
        if is_by_value:
            cloudpickle.unregister_pickle_by_value(module)


def kind_in(code: bytes) -> type[Any]:
    """The class. Only what this run's own driver has left is read."""
    found: type[Any] = cloudpickle.loads(code)
    return found
