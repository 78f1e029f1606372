"""The exceptions of the package: one class per stage, all under `Error`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._result import Result
    from ._sweep import SweepResult


class Error(Exception):
    """Anything that Kreisel refuses or cannot do; the text is that of the command `kreisel`."""


class ModelError(Error):
    """Mistakes in a model, each with its line, the reason and the remedy."""


class StartError(Error):
    """A machine that cannot be started: its parts do not fit together, or nothing decides its motion."""


class StepError(Error):
    """A step that failed. `result` holds what was computed before, if a run was under way."""

    result: Result | None = None


class StaticsError(Error):
    """An equilibrium that was not found. `result` holds the equilibria on the way."""

    result: Result | None = None


class ModesError(Error):
    """Modes that cannot be found."""


class SweepError(Error):
    """A sweep that makes no sense, or whose runs cannot be kept."""


class ClusterError(Error):
    """A cluster that does not answer, or cannot do the runs of a sweep."""


class WriteError(Error):
    """Result files that could not be written."""


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """What the system says of a file that cannot be written becomes a `WriteError` with its path."""
    try:
        yield
    except OSError as error:
        raise WriteError(f"cannot write `{os.fspath(path)}`: {error.strerror or error}") from error


class ClosedError(Error):
    """A result that was closed."""


class ArgumentError(Error, ValueError):
    """An argument that makes no sense."""


class InternalError(Error):
    """A mistake in Kreisel itself; please report it."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run or a sweep. `result` holds what was computed before."""

    result: Result | SweepResult | None = None


class ModelWarning(UserWarning):
    """What looks like a mistake in a model but is none."""
