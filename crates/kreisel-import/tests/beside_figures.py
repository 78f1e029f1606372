"""Imported robots against figures that Pinocchio 4.1.0 gave once, which stand in robots.json beside this file.

python beside_figures.py KREISEL: the command; robots are those of the package example-robot-data 6.0.0.
Accelerations under torques, what holds the motion, energies, and where a swing of 0.3 s leads; by `Model.dynamics` and by a run. Joint
damping, friction and bounds are off on both sides, and joints do not follow each other.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import kreisel
import numpy as np
import pinocchio as pin

# Of the largest figure of a kind. Figures have twelve digits.
TOLERANCE = 1e-10
SWING = 1e-6
ROBOTS = Path(pin.__file__).parents[4] / "share/example-robot-data/robots"
FIGURES = json.loads(Path(__file__).with_name("robots.json").read_text())["robots"]


def found_file(wanted: dict[str, Any]) -> Path:
    """The file that the figures are of, by its name and its hash."""
    for file in sorted(ROBOTS.rglob(Path(wanted["file"]).name)):
        if hashlib.sha256(file.read_bytes()).hexdigest().startswith(wanted["sha256"]):
            return file
    sys.exit(f"there is no {wanted['file']} as it was")


def imported(command: str, file: Path, folder: Path) -> tuple[kreisel.Model, float]:
    """The model, and the moment of what stands on the ground about height zero, in kg m."""
    subprocess.run([command, "import", file, "--out", folder], check=True, capture_output=True)
    (path,) = folder.glob("*.toml")
    text = re.sub(r"(?m)^\[\[coupling\]\]\n(?:[^\[\n].*\n|\n)*", "", path.read_text()).replace("-9.80665", "-9.81")
    held = re.findall(r'(?m)^\[\[fixed\]\]\n(?:[^\[\n].*\n)*?bodies = \["ground", (".*")\]', text)
    standing = 0.0
    for body in re.findall(r"(?m)^\[\[body\]\]\n(?:[^\[\n].*\n)*", text):
        keys = dict(line.split(" = ", 1) for line in body.splitlines() if " = " in line)
        if keys["name"] in held:
            standing += float(keys["mass"]) * float(keys["position"].strip("[]").split(",")[2])
    path.write_text(text)
    off = {name: 0.0 for name in ("stops", "losses") if f"\n{name} = 1" in text}
    return kreisel.Model.read(path).with_parameters(off), standing


def misses(name: str, wanted: dict[str, Any], model: kreisel.Model, standing: float) -> dict[str, float]:
    """How far each kind of figure is off."""
    dynamics = model.dynamics(wanted["joints"])
    q, v, tau = (np.array(wanted[key]) for key in ("q", "v", "tau"))

    def off(found: np.ndarray | float, reference: Any) -> float:
        reference = np.asarray(reference)
        return float(np.abs(found - reference).max() / np.abs(reference).max())

    result = model.simulate(
        end_time=0.3, accuracy=1e-8, initial=dict(zip(wanted["joints"], q, strict=True)), motion=False
    )
    there = np.array([result[coordinate][-1] for coordinate in dynamics.coordinates])
    return {
        "acceleration": off(dynamics.forward(q, v, tau), wanted["a"]),
        "forces": off(dynamics.bias(q, v), wanted["g"]),
        "inverse": float(np.abs(dynamics.inverse(q, v, np.array(wanted["a"])) - tau).max() / np.abs(wanted["g"]).max()),
        "kinetic": off(dynamics.kinetic_energy(q, v), wanted["kinetic"]),
        "potential": off(dynamics.potential_energy(q) - 9.81 * standing, wanted["potential"]),
        "swing": float(np.abs(there - wanted["swing_q"]).max()),
    }


def main() -> None:
    command = sys.argv[1]
    failed = False
    with tempfile.TemporaryDirectory() as place:
        for name, wanted in FIGURES.items():
            model, standing = imported(command, found_file(wanted), Path(place) / name)
            found = misses(name, wanted, model, standing)
            failed |= any(not miss < (SWING if kind == "swing" else TOLERANCE) for kind, miss in found.items())
            print(f"{name:16}", *(f"{kind} {miss:.0e}" for kind, miss in found.items()))
    sys.exit("too far from the figures" if failed else None)


if __name__ == "__main__":
    main()
