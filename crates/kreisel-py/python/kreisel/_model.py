"""Models: read from files, written down in Python, run."""

from __future__ import annotations

import math
import operator
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, Literal, SupportsIndex

from . import _kreisel, _toml
from ._dynamics import Dynamics
from ._element import Element
from ._errors import ArgumentError, Interrupted, ModelError, ModelWarning, StaticsError, StepError, writing
from ._parts import Number, Numbers, Parts
from ._result import Modes, Result, StaticResult

Observer = Callable[[_kreisel.Step], "bool | None"]
"""Sees every accepted step; returns `False` to end the run."""

Path_ = str | os.PathLike[str]


class Model(Parts):
    """A machine in the words of the model file.

    Every kind of part is a method of the same name, every key an argument of the same name, with underscores in place
    of dashes; numbers may be texts with units and expressions.

    >>> model = Model("pendulum")
    >>> model.body("bob", mass=2, inertia=[0.01, 0.01, 0.01], position=["50 cm", 0, 0])
    <kreisel.Model pendulum>
    >>> model.revolute("hinge", bodies=["ground", "bob"], point=[0, 0, 0], axis=[0, 1, 0])
    <kreisel.Model pendulum>
    >>> result = model.simulate(end_time=1, step="1 ms")
    >>> result.names[:3]
    ['bob.position.x', 'bob.position.y', 'bob.position.z']
    >>> bool(result["hinge.angle"][-1] > 1.6)  # released from the horizontal, it has passed the lowest point
    True
    """

    def __init__(self, name: str = "model", *, title: str | None = None) -> None:
        """An empty model; `title` is its first line in reports."""
        self._name = name
        self._path: str | None = None
        self._text = "".join(f"# {line}\n" for line in (title or "").splitlines())
        self._assignments: dict[str, str] = {}
        self._functions: dict[str, tuple[Callable[..., float], Callable[..., Sequence[float]] | None]] = {}

    @classmethod
    def read(cls, path: Path_) -> Model:
        """Reads a model file.

        A file that cannot be read is refused here; its mistakes are found when it is checked or run.
        """
        model = cls(Path(path).stem)
        model._path = os.fspath(path)
        model._text = _kreisel.read_text(model._path)
        return model

    @classmethod
    def from_text(cls, text: str, name: str = "model") -> Model:
        """A model from the text of a model file; `name` stands for the file in messages.

        >>> Model.from_text("[[body]]\\nmass = -1").check()
        Traceback (most recent call last):
        ...
        kreisel.ModelError: error: ...
        """
        model = cls(name)
        model._text = text
        return model

    @property
    def name(self) -> str:
        """What the model is called."""
        return self._name

    def to_toml(self) -> str:
        """The model as the text of a model file; parameters that were replaced stand as they were."""
        return self._text

    def write(self, path: Path_) -> None:
        """Writes the model file, which the command `kreisel` runs as well."""
        with writing(path):
            Path(path).write_text(self._text, encoding="utf-8")

    def _add(self, kind: str, once: bool, entries: Mapping[str, Any]) -> Model:
        header = f"[{kind}]" if once else f"[[{kind}]]"
        self._append(_toml.table(header, entries))
        return self

    def _append(self, table: str) -> None:
        if self._text and not self._text.endswith("\n"):
            self._text += "\n"
        self._text += ("\n" if self._text else "") + table

    def parameters(self, values: Mapping[str, Number] | None = None, /, **more: Number) -> Model:
        """Adds the table `[parameters]`: numbers by name, which expressions of the model may use.

        >>> Model().parameters(length="50 cm", mass="2*length").to_toml()
        '[parameters]\\nlength = "50 cm"\\nmass = "2*length"\\n'
        """
        return self._add_names("parameters", {**(values or {}), **more})

    def expressions(self, values: Mapping[str, Number] | None = None, /, **more: Number) -> Model:
        """Adds the table `[expressions]`: expressions by name, which other expressions of the model may use.

        >>> Model().expressions(lift="-2*wing.velocity.z").to_toml()
        '[expressions]\\nlift = "-2*wing.velocity.z"\\n'
        """
        return self._add_names("expressions", {**(values or {}), **more})

    def _add_names(self, header: str, values: Mapping[str, Number]) -> Model:
        # These names are the user's own: underscores stay.
        bare = re.compile(r"[A-Za-z0-9_]+")
        lines = [f"{name if bare.fullmatch(name) else _toml.text(name)} = {_toml.text(value)}"
                 for name, value in values.items()]
        self._append("\n".join([f"[{header}]", *lines]) + "\n")
        return self

    def include(self, file: str, **entries: Any) -> Model:
        """Brings in another model file, which lies beside this one; only models that were read from files can."""
        return self._add("include", False, {"file": file, **entries})

    def function(
        self,
        name: str,
        function: Callable[..., float],
        *,
        arguments: str | Sequence[str],
        slopes: Callable[..., Sequence[float]] | None = None,
    ) -> Model:
        """Adds a number that a Python function computes from measured quantities, for use in the expressions of forces.

        It is called at every evaluation of the forces, inside Newton's iteration; its derivatives are found by
        differences, or given by `slopes`, which returns one for each argument. This is slow: each call takes about
        half a microsecond and the interpreter's lock, where the same as an expression of the model takes neither. An exception
        ends the run.

        >>> model = Model("falling")
        >>> model.point_mass("ball", mass=0.1)
        <kreisel.Model falling>
        >>> model.function("drag", lambda v: -0.01 * v * abs(v), arguments=["ball.velocity.z"])
        <kreisel.Model falling>
        >>> model.force("air", body="ball", force=[0, 0, "drag"])
        <kreisel.Model falling>
        >>> model.sensor(quantity="velocity", of="ball")
        <kreisel.Model falling>
        >>> speed = -model.simulate(end_time=5, step=0.01)["ball.velocity.z"][-1]
        >>> round(float(speed), 1)  # close to the limit, where drag balances weight
        9.9
        """
        if not callable(function) or not (slopes is None or callable(slopes)):
            raise ArgumentError(f"the function `{name}` must be callable")
        # One name alone is meant as a list of it, not as a list of its letters.
        names = [arguments] if isinstance(arguments, str) else list(arguments)
        self._add("function", False, {"name": name, "arguments": names})
        self._functions[name] = (function, slopes)
        return self

    def add(self, element: Element) -> Model:
        """Adds a part of a kind that is written in Python: see `Element`."""
        if not isinstance(element, Element):
            raise ArgumentError(f"what is added must be a `kreisel.Element`, not {type(element).__name__}")
        element._add_to(self)
        return self

    def with_parameters(self, values: Mapping[str, Number] | None = None, /, **more: Number) -> Model:
        """The same model with other values for some of its parameters.

        A dash in a parameter's name may be written as an underscore.
        """
        known = self._machine({}).parameters
        model = self.copy()
        for name, value in {**(values or {}), **more}.items():
            dashed = name.replace("_", "-")
            model._assignments[dashed if name not in known and dashed in known else name] = _words(value)
        model._machine({})
        return model

    def copy(self) -> Model:
        """A model of the same parts, which can be changed without changing this one."""
        model = Model(self._name)
        model.__setstate__(self.__getstate__())
        return model

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state["_assignments"], state["_functions"] = dict(self._assignments), dict(self._functions)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<kreisel.Model {self._name}>"

    def _machine(
        self, settings: Mapping[str, Number | Numbers | None], initial: Mapping[str, Number] | None = None
    ) -> _kreisel.Machine:
        given = {name: _words(value) for name, value in settings.items() if value is not None}
        for name, value in settings.items():
            if isinstance(value, Real) and not math.isfinite(value):
                raise ModelError(f"`{name}` must be a finite number, not {value}")
        starts = [(name, _start(name, value)) for name, value in (initial or {}).items()]
        return _kreisel.Machine(*self._parts(given), starts)

    def _parts(
        self, settings: dict[str, str]
    ) -> tuple[
        str,
        str,
        str | None,
        list[tuple[str, str]],
        dict[str, str],
        dict[str, tuple[Callable[..., float], Callable[..., Sequence[float]] | None]],
    ]:
        """What the compiled half reads a model from."""
        assignments, functions = list(self._assignments.items()), dict(self._functions)
        return self._name, self._text, self._path, assignments, settings, functions

    def check(self) -> list[str]:
        """Reads the model without running it; gives its warnings, or raises `ModelError`."""
        return self._machine({}).warnings

    @property
    def parameter_values(self) -> dict[str, float]:
        """Values of the parameters, in base units."""
        return self._machine({}).parameters

    @property
    def names(self) -> list[str]:
        """Names of the signals that a run records."""
        return [name for name, _ in self._machine({}).channels]

    def simulate(
        self,
        *,
        # settings as arguments: written by `cargo xtask refresh`
        end_time: Number | None = None,
        step: Number | None = None,
        accuracy: Number | None = None,
        rtol: Number | None = None,
        atol: Number | None = None,
        accuracy_of: str | None = None,
        min_step: Number | None = None,
        max_step: Number | None = None,
        initial_step: Number | None = None,
        output_step: Number | None = None,
        method: str | None = None,
        past_mass: str | None = None,
        parametrization: str | None = None,
        form: str | None = None,
        scaling: str | None = None,
        columns: str | None = None,
        spectral_radius: Number | None = None,
        hht_alpha: Number | None = None,
        alpha_parameters: Numbers | None = None,
        starting_values: str | None = None,
        predictor: str | None = None,
        iteration_matrix: str | None = None,
        matrix_renewal: str | None = None,
        line_search: bool | None = None,
        newton_stop: str | None = None,
        residual_tolerances: Numbers | None = None,
        velocity_projection: Numbers | None = None,
        group: str | None = None,
        error_estimate: bool | None = None,
        # end of settings as arguments
        initial: Mapping[str, Number] | None = None,
        observer: Observer | None = None,
        motion: bool = True,
        folder: Path_ | None = None,
        force: bool = False,
    ) -> Result:
        """Runs the machine; arguments replace those of its `[simulation]`.

        `initial` are initial coordinates of joints and their rates by name, `{"elbow.angle": "30 deg", "elbow.angle-rate": 1}`,
        or `{"elbow": 0.3}` where a joint has one; they replace those of the model, and loops are closed.
        `observer` is called with every accepted step and ends the run by returning `False`; steps then keep to `rtol` one by
        one, since a run with an `accuracy` is made several times. Ctrl-C raises `Interrupted`, a
        failed step `StepError`; both hold what was computed before as `result`. `motion=False` keeps the signals only,
        which saves memory where neither pictures nor files are wanted. `folder` takes the files that `kreisel run` writes,
        while the machine runs and however the run ends; one that holds something else than results of this model is
        refused, unless by `force`. Other threads run meanwhile.
        """
        settings: dict[str, Number | Numbers | None] = {
            # settings by name: written by `cargo xtask refresh`
            "end_time": end_time,
            "step": step,
            "accuracy": accuracy,
            "rtol": rtol,
            "atol": atol,
            "accuracy_of": accuracy_of,
            "min_step": min_step,
            "max_step": max_step,
            "initial_step": initial_step,
            "output_step": output_step,
            "method": method,
            "past_mass": past_mass,
            "parametrization": parametrization,
            "form": form,
            "scaling": scaling,
            "columns": columns,
            "spectral_radius": spectral_radius,
            "hht_alpha": hht_alpha,
            "alpha_parameters": alpha_parameters,
            "starting_values": starting_values,
            "predictor": predictor,
            "iteration_matrix": iteration_matrix,
            "matrix_renewal": matrix_renewal,
            "line_search": line_search,
            "newton_stop": newton_stop,
            "residual_tolerances": residual_tolerances,
            "velocity_projection": velocity_projection,
            "group": group,
            "error_estimate": error_estimate,
            # end of settings by name
        }
        if observer is not None and not callable(observer):
            raise ArgumentError("the observer must be callable")
        # The model as it is now: an observer may change it meanwhile.
        machine, model = self._machine(settings, initial), self.copy()
        times, table, nodes, summary, error = machine.simulate(observer, motion, folder, force)
        result = Result(model, settings, machine.channels, times, table, nodes if motion else None, summary)
        result._initial = dict(initial) if initial else None
        for warning in result.warnings:
            warnings.warn(warning, ModelWarning, stacklevel=2)
        if isinstance(error, KeyboardInterrupt):
            stopped = Interrupted("the run was interrupted; `result` holds what was computed")
            stopped.result = result
            raise stopped from None
        if isinstance(error, StepError):
            error.result = result
        if error is not None:
            raise error
        return result

    def static(
        self,
        *,
        factor: float = 1.0,
        load_steps: int = 1,
        arc_length: bool = False,
        points: int = 200,
        path_step: float | None = None,
    ) -> StaticResult:
        """Finds the equilibrium under the loads at the start time, recorded over the load factor.

        `factor` is the load factor to be reached, in `load_steps` steps to begin with; `arc_length` follows the path of
        equilibria past limit points, for `points` points at most. From point to point no part moves by more than `path_step`
        lengths of the machine or turns by more than as many rad.
        """
        load_steps, points = _count("load_steps", load_steps), _count("points", points)
        if path_step is not None and not arc_length:
            raise ArgumentError("`path_step` needs `arc_length=True`")
        machine = self._machine({})
        outcome, reactions = machine.equilibrium(factor, load_steps, arc_length, points, path_step)
        times, columns, nodes, summary, error = outcome
        result = StaticResult(self.copy(), {}, machine.channels, times, columns, nodes, summary)
        result.reactions = dict(reactions)
        if isinstance(error, StaticsError):
            error.result = result
        if error is not None:
            raise error
        return result

    def modes(self, *, about: Literal["initial", "static"] = "initial", count: int = 10) -> Modes:
        """Finds the slowest modes of small motions about the initial state or about the equilibrium."""
        return Modes(*self._machine({}).modes(about, _count("count", count)))

    def dynamics(self, coordinates: Sequence[str] | None = None) -> Dynamics:
        """The dynamics of the machine as functions of the coordinates of its joints: mass matrix, forces, Jacobians.

        `coordinates` names those that say how the machine stands and moves, `"elbow.angle"` or `"elbow"` alone; without
        them as many as are independent are taken, the first ones of the model first.

        >>> model = Model("pendulum")
        >>> model.body("bob", mass=2, inertia=[0.1, 0.1, 0.1], position=[0.5, 0, 0])
        <kreisel.Model pendulum>
        >>> model.revolute("hinge", bodies=["ground", "bob"], point=[0, 0, 0], axis=[0, 1, 0])
        <kreisel.Model pendulum>
        >>> dynamics = model.dynamics()
        >>> dynamics.coordinates
        ['hinge.angle']
        >>> dynamics.mass_matrix([0.3]).round(12)  # 0.1 + 2 · 0.5²
        array([[0.6]])
        >>> dynamics.inverse([0.0], [0.0], [0.0]).round(2)  # holds the weight at the horizontal
        array([-9.81])
        """
        return Dynamics(self, coordinates)

    def stepper(
        self,
        *,
        # settings as arguments: written by `cargo xtask refresh`
        end_time: Number | None = None,
        step: Number | None = None,
        accuracy: Number | None = None,
        rtol: Number | None = None,
        atol: Number | None = None,
        accuracy_of: str | None = None,
        min_step: Number | None = None,
        max_step: Number | None = None,
        initial_step: Number | None = None,
        output_step: Number | None = None,
        method: str | None = None,
        past_mass: str | None = None,
        parametrization: str | None = None,
        form: str | None = None,
        scaling: str | None = None,
        columns: str | None = None,
        spectral_radius: Number | None = None,
        hht_alpha: Number | None = None,
        alpha_parameters: Numbers | None = None,
        starting_values: str | None = None,
        predictor: str | None = None,
        iteration_matrix: str | None = None,
        matrix_renewal: str | None = None,
        line_search: bool | None = None,
        newton_stop: str | None = None,
        residual_tolerances: Numbers | None = None,
        velocity_projection: Numbers | None = None,
        group: str | None = None,
        error_estimate: bool | None = None,
        # end of settings as arguments
        initial: Mapping[str, Number] | None = None,
    ) -> _kreisel.Stepper:
        """Starts the machine to be stepped from outside, for control and co-simulation.

        `initial` are initial coordinates of joints and their rates by name, as for `simulate`. Beyond an `end_time` that
        is given here the stepper does not go; that of the model's own file does not hold it up.

        >>> model = Model("wheel")
        >>> model.input("motor")
        <kreisel.Model wheel>
        >>> model.body("wheel", mass=1, inertia=[2, 2, 2])
        <kreisel.Model wheel>
        >>> model.revolute("shaft", bodies=["ground", "wheel"], point=[0, 0, 0], axis=[0, 0, 1])
        <kreisel.Model wheel>
        >>> model.joint_force(joint="shaft", torque="motor")
        <kreisel.Model wheel>
        >>> stepper = model.stepper(step="1 ms")
        >>> while stepper.time < 0.5:
        ...     stepper["motor"] = 4 * (1 - stepper["shaft.angle-rate"])  # a controller
        ...     _ = stepper.advance()
        >>> round(stepper["shaft.angle-rate"], 2)  # 1 − exp(−4/2 · 0.5)
        0.63
        """
        settings: dict[str, Number | Numbers | None] = {
            # settings by name: written by `cargo xtask refresh`
            "end_time": end_time,
            "step": step,
            "accuracy": accuracy,
            "rtol": rtol,
            "atol": atol,
            "accuracy_of": accuracy_of,
            "min_step": min_step,
            "max_step": max_step,
            "initial_step": initial_step,
            "output_step": output_step,
            "method": method,
            "past_mass": past_mass,
            "parametrization": parametrization,
            "form": form,
            "scaling": scaling,
            "columns": columns,
            "spectral_radius": spectral_radius,
            "hht_alpha": hht_alpha,
            "alpha_parameters": alpha_parameters,
            "starting_values": starting_values,
            "predictor": predictor,
            "iteration_matrix": iteration_matrix,
            "matrix_renewal": matrix_renewal,
            "line_search": line_search,
            "newton_stop": newton_stop,
            "residual_tolerances": residual_tolerances,
            "velocity_projection": velocity_projection,
            "group": group,
            "error_estimate": error_estimate,
            # end of settings by name
        }
        return self._machine(settings, initial).stepper()


def _count(name: str, number: SupportsIndex) -> int:
    """A whole number that is not negative and that a computer can count to."""
    try:
        count = operator.index(number)
    except TypeError:
        count = -1
    if not 0 <= count < 2**64:
        raise ArgumentError(f"`{name}` must be a whole number that is not negative, not {number!r}")
    return count


def _start(name: str, value: Number) -> str:
    """An initial coordinate of a joint in the language of the model file."""
    if isinstance(value, str):
        return value
    try:
        return repr(float(value))
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f'the initial value of `{name}` must be a number or a text such as "30 deg", not {value!r}') from None


def _words(value: Number | Numbers) -> str:
    """A setting as the command line would give it."""
    if isinstance(value, str):
        _toml.text(value)
        return value
    return _toml.text(value)
