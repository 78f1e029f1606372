"""Hostile calls of the builder, the stepper and what computes with models, made from a seed, or by atheris where it is installed.

`python fuzz.py --seeds 10000 --first 0` or `python fuzz.py --atheris -runs=100000`. A call may give what it likes, or raise one
of the exceptions that the package promises; anything else, a dead interpreter first of all, is a failure.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import math
import random
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

if "--atheris" in sys.argv:
    # Before anything of it is imported: the search is led by the branches that a call takes.
    with importlib.import_module("atheris").instrument_imports(include=["kreisel"]):
        for module in ("kreisel", "kreisel._dynamics", "kreisel._minimize", "kreisel.gym"):
            importlib.import_module(module)

import kreisel

PROMISED = (kreisel.Error, KeyError, TypeError, MemoryError, RecursionError, kreisel.Interrupted, UnicodeEncodeError)
"""What a call with nonsense may raise; a TypeError only for arguments that a signature does not take, a UnicodeEncodeError for
names with halves of letters."""


ARRAYS = (ValueError,)
"""What NumPy raises of texts and lists that are no arrays, and of arrays that do not fit."""


class Source(Protocol):
    """Where choices come from."""

    def below(self, limit: int) -> int:
        """A number from zero to before a limit."""


class Seeded:
    """The choices of a seed."""

    def __init__(self, seed: int) -> None:
        """Starts anew."""
        self.random = random.Random(seed)

    def below(self, limit: int) -> int:
        """A number from zero to before a limit."""
        return self.random.randrange(limit)


class Given:
    """Choices by the bytes of atheris."""

    def __init__(self, data: bytes) -> None:
        """Takes the bytes."""
        self.data, self.at = data, 0

    def below(self, limit: int) -> int:
        """A number from zero to before a limit; zero behind the last byte."""
        part = self.data[self.at : self.at + 2]
        self.at += 2
        return int.from_bytes(part, "little") % limit if part else 0


STRANGE: list[Any] = [
    0, -1, 1, 2.5, -0.0, 1e308, -1e308, 1e-320, math.nan, math.inf, -math.inf, 10**30, -(10**30), True, None, "", " ", "nan", "1/0", "t",
    "ln(t)", "sqrt(-1)", "bob.position.x", "hinge.angle", "nobody", "ground", "1 m", "1 kg*", "x" * 300, "'", '"', "]", "\n[[body]]\n",
    "\x00", "\ud800", "é", "𝔘", b"12", [], [1], [1, 2, 3], [1, 2, "x"], [[1, 2], [3, 4]], [math.nan] * 3, {}, {"shape": "sphere"},
    {"kind": "sphere", "radius": -1}, ["ground", "bob"], ["bob", "bob"], ["bob"], object(), lambda *_: 1.0, range(4), (0, 0, 1),
]  # fmt: skip

KINDS = [name for name in kreisel._kreisel.kinds() if name not in ("simulation", "function")]
KEYS = ["name", "body", "bodies", "mass", "inertia", "position", "point", "axis", "joint", "stiffness", "damping", "force", "torque", "rate",
        "zero_of", "value", "angle", "elements", "section", "first_shape", "points", "members", "of", "quantity", "repeat", "when"]  # fmt: skip
SETTINGS = ["end_time", "step", "accuracy", "rtol", "atol", "output_step", "method", "spectral_radius", "group", "max_step", "min_step"]


def pick(source: Source, choices: Sequence[Any]) -> Any:
    """One of some values."""
    return choices[source.below(len(choices))]


def attempt(call: Callable[[], Any], more: tuple[type[Exception], ...] = ()) -> Any:
    """What a call gives; nothing if it raises what is promised."""
    promised: tuple[type[BaseException], ...] = (*PROMISED, *more)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call()
    except promised:
        return None


def machine() -> kreisel.Model:
    """A hinge with an input, to which strange things are added."""
    model = kreisel.Model("hostile")
    model.body("bob", mass=1, inertia=[1, 1, 1], position=[1, 0, 0])
    model.revolute("hinge", bodies=["ground", "bob"], point=[0, 0, 0], axis=[0, 1, 0])
    model.input("motor")
    model.joint_force(joint="hinge", torque="motor")
    return model


def build(source: Source) -> kreisel.Model:
    """A model with parts of strange values."""
    model = machine()
    for _ in range(source.below(4)):
        kind = pick(source, KINDS).replace("-", "_")
        method = getattr(model, kind, None)
        if method is None:
            continue
        entries = {pick(source, KEYS): pick(source, STRANGE) for _ in range(source.below(5))}
        attempt(partial(method, **entries))
    return model


def one(source: Source) -> None:
    """Builds a model, and does some of what can be done with it."""
    model = build(source)
    # Short runs, whatever else is asked for.
    settings: dict[str, Any] = {"end_time": 0.01, "step": 1e-3}
    for _ in range(source.below(3)):
        settings[pick(source, SETTINGS)] = pick(source, STRANGE)
    steps = 0

    def observer(_: Any) -> bool:
        nonlocal steps
        steps += 1
        return steps < 50

    what = source.below(10)
    if what == 6:
        numbers = {name: pick(source, STRANGE) for name in ("factor", "load_steps", "path_step") if source.below(3) == 0}
        attempt(lambda: model.static(points=3, arc_length=pick(source, [False, True]), **numbers))
        attempt(lambda: model.modes(about=pick(source, ["initial", "static", *STRANGE]), count=pick(source, STRANGE)))
    elif what == 7:
        ask(source, attempt(lambda: model.dynamics(pick(source, [None, ["hinge.angle"], *STRANGE]))))
    elif what == 8:
        search(source, model, settings)
    elif what == 9:
        train(source, model, settings)
    elif what == 0:
        attempt(model.check)
    elif what == 1:
        attempt(lambda: model.simulate(observer=observer, **settings))
    elif what == 2:
        strange = pick(source, STRANGE)
        attempt(lambda: model.with_parameters({"a": strange}).check())
        attempt(lambda: model.function("f", strange, arguments=pick(source, STRANGE)))
    elif what == 3:
        vary = {pick(source, ["a", "motor", "", "x y"]): pick(source, STRANGE)}
        attempt(lambda: kreisel.sweep(model, vary, pick(source, STRANGE), sample=pick(source, [None, 2, -1, 10**30]), **settings))
    else:
        stepper = attempt(lambda: model.stepper(**settings))
        for _ in range(12 if stepper is not None else 0):
            step(source, stepper)


QUESTIONS = ["mass_matrix", "bias", "holding", "kinetic_energy", "potential_energy", "inverse", "forward", "reactions",
             "pose", "velocity", "jacobian", "reach", "linear", "set_inputs"]  # fmt: skip


def ask(source: Source, dynamics: kreisel.Dynamics | None) -> None:
    """Some questions of a machine in a state."""
    fit: list[Any] = [[0.1], [[0.1], [0.2]], np.zeros((0, 1)), np.ones(1, dtype=int)]
    for _ in range(4 if dynamics is not None else 0):
        name = pick(source, QUESTIONS)
        arguments = [pick(source, fit if source.below(2) else STRANGE) for _ in range(1 + source.below(3))]
        if name in ("reach", "set_inputs"):
            arguments[0] = {pick(source, ["bob", "motor", "nobody", ""]): pick(source, [[1, 0, 0], 1.0, *STRANGE])}
        attempt(partial(getattr(dynamics, name), *arguments), ARRAYS)


def search(source: Source, model: kreisel.Model, settings: dict[str, Any]) -> None:
    """The least of something, of few runs."""
    if importlib.util.find_spec("scipy") is None:
        return
    model = model.copy()
    attempt(lambda: model.parameters(a=1))
    vary = {pick(source, ["a", "a", "motor", ""]): pick(source, ["1:2", "1:2", "log(1, 2)", *STRANGE])}
    measure = pick(source, ["max(bob.position.z)", "final(hinge.angle)", *STRANGE])
    method = pick(source, ["Nelder-Mead", "Powell", "L-BFGS-B", *STRANGE])
    more = {name: pick(source, STRANGE) for name in ("start", "tolerance", "options") if source.below(4) == 0}
    attempt(lambda: kreisel.minimize(model, vary, measure, method=method, runs=pick(source, [4, 4, -1]), **more, **settings))


def train(source: Source, model: kreisel.Model, settings: dict[str, Any]) -> None:
    """Machines for learning, alone or two of them."""
    if importlib.util.find_spec("gymnasium") is None:
        return
    import kreisel.gym

    actions = pick(source, [{"motor": (-1, 1)}, {"motor": (-1, 1)}, *STRANGE])
    observations = pick(source, [["hinge.angle"], ["bob.position"], *STRANGE])
    reward = pick(source, [lambda seen, action: 0.0, lambda seen, action: pick(source, STRANGE), *STRANGE])
    choices: dict[str, Any] = {"end": lambda seen: pick(source, STRANGE), "start": lambda random: pick(source, STRANGE), "failed": -1}
    more = {name: pick(source, [value, *STRANGE]) for name, value in choices.items() if source.below(4) == 0}
    more |= {"settings": settings, "frame_skip": pick(source, [1, 2, 0, -1, "x", None]), "limit": pick(source, [None, 3, -1, "x"])}
    # What NumPy does not take, and what is no function, is told in its own words.
    wrong = (*ARRAYS, AttributeError, IndexError)
    if source.below(2):
        one = attempt(lambda: kreisel.gym.Environment(model, actions, observations, reward, **more), wrong)
    else:
        one = attempt(lambda: kreisel.gym.VectorEnvironment(model, 2, actions, observations, reward, **more), wrong)
    for _ in range(4 if one is not None else 0):
        seed, action = pick(source, [1, None, *STRANGE]), pick(source, [[0.5], [[0.5], [0.1]], *STRANGE])
        attempt(lambda: one.reset(seed=seed) if source.below(3) == 0 else one.step(action), (*wrong, OverflowError, *refused_seeds()))


def refused_seeds() -> tuple[type[Exception], ...]:
    """What Gymnasium raises of seeds that are none."""
    import gymnasium

    return (gymnasium.error.Error,)


def step(source: Source, stepper: kreisel.Stepper) -> None:
    """One call of a stepper."""
    what, strange = source.below(5), pick(source, STRANGE)
    name = pick(source, ["motor", "hinge.angle", "bob.position.x", "", "nobody", strange])
    now = stepper.time
    if what == 0:
        attempt(lambda: stepper.__setitem__(name, strange))
    elif what == 1:
        attempt(lambda: stepper[name])
    elif what == 2:
        # Not beyond a second: far ahead is allowed, and honestly slow.
        far = isinstance(strange, (int, float)) and strange > now + 1
        attempt(lambda: stepper.advance(now + 0.01 if far else strange))
    elif what == 3:
        attempt(lambda: stepper.values([name, strange]))
    else:
        attempt(stepper.advance)
    if not stepper.time >= now:
        raise AssertionError(f"time went from {now} to {stepper.time}")


def main() -> None:
    """Runs what the arguments ask for."""
    if "--atheris" in sys.argv:
        atheris: Any = importlib.import_module("atheris")

        arguments = [word for word in sys.argv if word != "--atheris"]
        atheris.Setup(arguments, lambda data: one(Given(data)))
        atheris.Fuzz()
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    wanted = parser.parse_args()
    for seed in range(wanted.first, wanted.first + wanted.seeds):
        try:
            one(Seeded(seed))
        except BaseException as error:
            print(f"seed {seed}: {type(error).__name__}: {error}", flush=True)
            raise


if __name__ == "__main__":
    main()
