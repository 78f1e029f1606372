"""Kreisel simulates machines made of rigid and flexible parts, on Lie groups.

Start with a model file, or write the model down here in the same words:

>>> import kreisel
>>> model = kreisel.Model("pendulum")
>>> model.parameters(length="50 cm")
<kreisel.Model pendulum>
>>> model.body("bob", mass=2, inertia=[0.01, 0.01, 0.01], position=["length", 0, 0])
<kreisel.Model pendulum>
>>> model.revolute("hinge", bodies=["ground", "bob"], point=[0, 0, 0], axis=[0, 1, 0])
<kreisel.Model pendulum>

Run it. Signals are NumPy arrays; in Jupyter a result shows the moving machine.

>>> result = model.simulate(end_time=1, step="1 ms")
>>> angle = result["hinge.angle"]
>>> angle.shape
(1001,)

- `Model.read(path)` reads a model file, `model.to_toml()` writes one, `model.check()` finds mistakes.
- `model.simulate(…)` gives a `Result`: `result[name]`, `result.frame()`, `result.plot(name)`, `result.save(folder)`.
- `model.static()` finds the equilibrium, `model.modes()` frequencies and shapes.
- `model.with_parameters(length=0.4)` is the same model with other values.
- `model.stepper(…)` steps the machine from outside: set inputs, advance, read signals, keep states and go back to them.
- `model.dynamics(…)` gives mass matrix, inverse and forward dynamics, Jacobians and energies at any state.
- `kreisel.sweep(model, …)` runs it many times with other parameters, on all cores or on a cluster; `kreisel.minimize(model, …)`
  looks for the parameters for which a measure is least.
- `model.add(…)` adds parts of a kind that is a class in Python, an `Element`.
- `model.function(…)` brings forces written in Python (slow; an expression of the model is fast).

Errors are exceptions under `kreisel.Error`, with the text that the command `kreisel` prints.
"""

from __future__ import annotations

from ._dynamics import Dynamics, LinearModel
from ._element import Element
from ._errors import (
    ArgumentError,
    ClosedError,
    ClusterError,
    Error,
    InternalError,
    Interrupted,
    ModelError,
    ModelWarning,
    ModesError,
    StartError,
    StaticsError,
    StepError,
    SweepError,
    WriteError,
)
from ._kreisel import State, Step, Stepper, __version__, kinds, schema
from ._minimize import Minimum, minimize
from ._model import Model
from ._result import Modes, Result, StaticResult
from ._sweep import SweepResult, sweep

for _name, _value in list(globals().items()):
    if isinstance(_value, type) and _value.__module__ == "kreisel._errors":
        # Tracebacks show the name by which an exception is caught.
        _value.__module__ = __name__
del _name, _value

__all__ = [
    "ArgumentError",
    "ClosedError",
    "ClusterError",
    "Dynamics",
    "Element",
    "Error",
    "InternalError",
    "Interrupted",
    "LinearModel",
    "Minimum",
    "Model",
    "ModelError",
    "ModelWarning",
    "Modes",
    "ModesError",
    "Result",
    "StartError",
    "State",
    "StaticResult",
    "StaticsError",
    "Step",
    "StepError",
    "Stepper",
    "SweepError",
    "SweepResult",
    "WriteError",
    "__version__",
    "kinds",
    "minimize",
    "schema",
    "sweep",
]
