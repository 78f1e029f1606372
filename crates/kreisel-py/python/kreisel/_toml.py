"""Values as a model file writes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

from ._errors import ArgumentError


def word(name: str) -> str:
    """The word of the model file for a Python name: dashes in place of underscores."""
    return name.rstrip("_").replace("_", "-")


def text(value: Any) -> str:
    """A value in TOML.

    >>> text([1, 2.5, "3 mm", True])
    '[1, 2.5, "3 mm", true]'
    >>> text({"axis": [0, 0, 1], "smooth_start": 0.1})
    '{ axis = [0, 0, 1], smooth-start = 0.1 }'
    """
    if isinstance(value, str):
        _check(value)
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    # NumPy's numbers and truth values are no subclasses of Python's.
    if hasattr(value, "tolist"):
        return text(value.tolist())
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return _whole(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    if isinstance(value, Mapping):
        inside = (f"{key(str(name))} = {text(part)}" for name, part in value.items() if part is not None)
        return "{ " + ", ".join(inside) + " }"
    if isinstance(value, Iterable):
        return "[" + ", ".join(text(part) for part in value) + "]"
    raise ArgumentError(f"a model cannot hold {type(value).__name__}: {value!r}")


def _check(value: str) -> None:
    """Refuses halves of letters, which no file can hold."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(f"a text has no form as UTF-8: {value!r}") from error


def _whole(value: int) -> str:
    # TOML's whole numbers have 64 bits; larger ones are rounded as they would be in a computation.
    return str(value) if -(2**63) <= value < 2**63 else repr(float(value))


def key(name: str) -> str:
    """A key in TOML."""
    plain = word(name)
    if plain and all(letter.isascii() and (letter.isalnum() or letter == "-") for letter in plain):
        return plain
    _check(name)
    return json.dumps(name, ensure_ascii=False)


def table(header: str, entries: Mapping[str, Any]) -> str:
    """A table with its header; entries that are `None` are left out."""
    lines = [header]
    lines += [f"{key(name)} = {text(value)}" for name, value in entries.items() if value is not None]
    return "\n".join(lines) + "\n"
