"""Models that several tests run."""

from __future__ import annotations

import signal
from pathlib import Path

import kreisel
import pytest

MODELS = Path(__file__).parents[3] / "models"

# Shells start programs in the background with interrupts ignored; tests of Ctrl-C would never end there.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def models() -> Path:
    """The folder of the project's model files."""
    return MODELS


def pendulum(**simulation: object) -> kreisel.Model:
    """A bob of 2 kg at 0.5 m from its hinge, released from the horizontal."""
    model = kreisel.Model("pendulum")
    model.parameters(length="50 cm")
    model.body("bob", mass=2, inertia=[0.01, 0.01, 0.01], position=["length", 0, 0])
    model.revolute("hinge", bodies=["ground", "bob"], point=[0, 0, 0], axis=[0, 1, 0])
    if simulation:
        model.simulation(**simulation)  # type: ignore[arg-type]
    return model


def wheel() -> kreisel.Model:
    """A wheel of 2 kg m² on a shaft, driven by the input `motor`."""
    model = kreisel.Model("wheel")
    model.gravity(acceleration=[0, 0, 0])
    model.input("motor")
    model.body("wheel", mass=1, inertia=[2, 2, 2])
    model.revolute("shaft", bodies=["ground", "wheel"], point=[0, 0, 0], axis=[0, 0, 1])
    model.joint_force(joint="shaft", torque="motor")
    return model
