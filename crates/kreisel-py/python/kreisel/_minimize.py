"""The parameters for which a measure is least, through SciPy."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._errors import ArgumentError, Interrupted, SweepError
from ._model import Model
from ._parts import Number
from ._sweep import Request, _parameter


@dataclass(frozen=True)
class Minimum:
    """What `kreisel.minimize` found."""

    parameters: dict[str, float]
    """Values of the parameters, in the units in which their ranges were given."""
    value: float
    """The measure there."""
    model: Model
    """The model with these parameters."""
    runs: int
    """Number of runs that it took."""
    success: bool
    """Whether the search ended by its own tolerance."""
    message: str
    """How it ended, in the words of SciPy."""


def minimize(
    model: Model,
    vary: Mapping[str, str],
    measure: str,
    *,
    start: Mapping[str, float] | None = None,
    method: str = "Nelder-Mead",
    tolerance: float = 1e-6,
    runs: int | None = None,
    options: Mapping[str, Any] | None = None,
    **settings: Number,
) -> Minimum:
    """Finds values of parameters for which a measure of the motion is least.

    - `vary`: a range for each parameter, which it does not leave: `"1:10"`, `"log(1e3, 1e6)"`, `"10 cm:50 cm"`.
    - `measure`: as in `kreisel.sweep`; write `-max(…)` to look for a maximum.
    - `start`: where the search begins; in the middle of the ranges if not given.
    - `method`: a method of `scipy.optimize.minimize` that takes bounds (`Nelder-Mead`, `Powell`, `L-BFGS-B`, …), or
      `differential-evolution`, which searches all of the ranges.
    - `tolerance`: of the search, as a part of the ranges and of the measure; `runs`: most runs, about.
    - `options`: further ones of SciPy. Other arguments replace those of the model's `[simulation]`.

    The search works with parts of the ranges, so that parameters of different size weigh alike; along `log(…)` with their
    logarithms. A run that fails counts as infinitely bad; if all do, the reason is raised.

    >>> model = Model("throw").parameters(angle="30 deg")
    >>> model.point_mass("ball", mass=1, velocity=["5*cos(angle)", 0, "5*sin(angle)"])
    <kreisel.Model throw>
    >>> found = minimize(model, {"angle": "10 deg:80 deg"}, "-at(ball.position.x, 0.1)", end_time=0.1, step=0.01)
    >>> round(found.parameters["angle"], 2)  # the flattest throw goes farthest in a given time
    10.0
    """
    try:
        import scipy.optimize
    except ImportError as error:
        raise ImportError("`kreisel.minimize` needs SciPy: `pip install scipy`") from error
    if not isinstance(method, str):
        raise ArgumentError(f"`method` must be the name of one, not {method!r}")
    for name, one in (("start", start), ("options", options)):
        if one is not None and not isinstance(one, Mapping):
            raise ArgumentError(f"`{name}` must be a dict, not {one!r}")
    request = Request(model, vary, measure, settings)
    objective = _Objective(request)
    first = objective.start(start or {})
    bounds = [(0.0, 1.0)] * len(first)
    given = dict(options or {})
    try:
        if method == "differential-evolution":
            given.setdefault("rng", 1)
            if runs is not None:
                given.setdefault("maxiter", max(1, runs // (15 * len(first)) - 1))
            found = scipy.optimize.differential_evolution(objective, bounds, x0=first, tol=tolerance, **given)
        else:
            if runs is not None:
                given.setdefault("maxiter" if method == "SLSQP" else "maxfev" if method in ("Nelder-Mead", "Powell") else "maxfun", runs)
            with warnings.catch_warnings():
                # A method without bounds would leave the ranges.
                warnings.filterwarnings("error", message=".*cannot handle bounds")
                found = scipy.optimize.minimize(
                    objective, first, method=method, bounds=bounds, tol=tolerance, options=given
                )
    except Exception as error:
        if objective.failure is not None:
            # SciPy may have put it into an exception of its own.
            raise objective.failure from None
        if isinstance(error, ValueError | TypeError | RuntimeWarning):
            raise ArgumentError(f"SciPy does not take the method `{method}` with these options: {error}") from error
        raise
    return objective.minimum(found)


class _Objective:
    """The measure as a function of parts of the ranges, with the best point so far."""

    def __init__(self, request: Request) -> None:
        self.request, self.sweep = request, request.sweep()
        self.names = [text.split("=", 1)[0] for text in request.variations]
        self.best: tuple[float, list[float]] = (np.inf, [])
        self.runs, self.reason = 0, ""
        self.failure: BaseException | None = None
        if len(request.measures) != 1:
            raise ArgumentError("one measure is wanted")
        for name in self.names:
            if self.sweep.part(name, 1.0) is None:
                raise ArgumentError(f"`{name}` must vary over a range, as in \"1:10\" or \"log(1e3, 1e6)\"")

    def start(self, given: Mapping[str, float]) -> list[float]:
        known = dict.fromkeys(self.names, 0.0)
        values = {_parameter(name, known): value for name, value in given.items()}
        for name in values:
            if name not in known:
                raise ArgumentError(f"`{name}` of `start` does not vary")
        parts = [self.sweep.part(name, float(values[name])) if name in values else 0.5 for name in self.names]
        return [0.5 if part is None else part for part in parts]

    def __call__(self, parts: Any) -> float:
        try:
            return self._measured(parts)
        except BaseException as failure:
            self.failure = failure
            raise

    def _measured(self, parts: Any) -> float:
        values = self.sweep.values([min(max(float(part), 0.0), 1.0) for part in parts])
        _, numbers, reasons, _, error = self.sweep.batch(np.array([values]))
        if isinstance(error, KeyboardInterrupt):
            raise Interrupted(f"the search was interrupted; the best so far is {self.best[0]} at {self._named(self.best[1])}") from None
        if error is not None:
            raise error
        self.runs += 1
        value = float(numbers[0])
        if reasons:
            self.reason = reasons[0][1]
        if np.isnan(value):
            return np.inf
        if value < self.best[0]:
            self.best = value, values
        return value

    def _named(self, values: list[float]) -> dict[str, float]:
        return dict(zip(self.names, values, strict=False))

    def minimum(self, found: Any) -> Minimum:
        value, values = self.best
        if not values:
            raise SweepError(f"error: no run gave the measure{': ' + self.reason if self.reason else ''}")
        units = [column.rpartition(" [")[2][:-1] if "[" in column else "" for column in self.sweep.columns[0]]
        texts = {name: f"{value!r} {unit}".strip() for name, value, unit in zip(self.names, values, units, strict=True)}
        model = self.request.model.with_parameters(texts)
        return Minimum(self._named(values), value, model, self.runs, bool(found.success), str(found.message))
