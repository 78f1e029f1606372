"""Imported robots against Pinocchio: accelerations of every body and energies, at fixed states.

python beside_pinocchio.py KREISEL: the command; robots are those of the package example-robot-data and models/arm.urdf.
Joint damping, friction and bounds are off on both sides.
"""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pinocchio as pin

TOLERANCE = 1e-10
MODELS = Path(__file__).parents[3] / "models"
ROBOTS = Path(pin.__file__).parents[4] / "share/example-robot-data/robots"
FILES = [
    ROBOTS / "ur_description/urdf/ur5_robot.urdf",
    ROBOTS / "kinova_description/robots/kinova.urdf",
    ROBOTS / "panda_description/urdf/panda.urdf",
    ROBOTS / "talos_data/robots/talos_left_arm.urdf",
    ROBOTS / "solo_description/robots/solo12.urdf",
    MODELS / "arm.urdf",
]

# Those that are tried without the ground too.
FREE = ("solo12", "arm")


def expected(model: pin.Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> tuple[dict[str, np.ndarray], float, float]:
    """Accelerations of the centre of mass and of turning for the child of each joint; kinetic, potential energy."""
    data = model.createData()
    a = pin.aba(model, data, q, v, tau)
    pin.forwardKinematics(model, data, q, v, a)
    bodies = {}
    for joint in range(1, model.njoints):
        turn, centre = data.oMi[joint].rotation, model.inertias[joint].lever
        spin, alpha = data.v[joint].angular, data.a[joint].angular
        linear = data.a[joint].linear + np.cross(spin, data.v[joint].linear)
        linear = linear + np.cross(alpha, centre) + np.cross(spin, np.cross(spin, centre))
        bodies[model.names[joint]] = np.concatenate([turn @ linear, turn @ alpha])
    return bodies, pin.computeKineticEnergy(model, data, q, v), pin.computePotentialEnergy(model, data, q)


def tables(text: str) -> list[list[str]]:
    """The tables of a model file, each as its lines."""
    parts: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.startswith("["):
            parts.append([])
        parts[-1].append(line)
    return parts


def compare(command: str, file: Path, folder: Path, floating: bool) -> float:
    """Largest difference, relative to the largest acceleration."""
    flags = ["--floating"] if floating else []
    subprocess.run([command, "import", file, "--out", folder, *flags], check=True, capture_output=True)
    base = [pin.JointModelFreeFlyer()] if floating else []
    model = pin.buildModelFromUrdf(str(file), *base)
    path = next(folder.glob("*.toml"))
    random = np.random.default_rng(1)
    state = {name: random.uniform(-0.5, 0.5, 3) for name in list(model.names)[1 + floating :]}
    q, v, tau = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
    children, text, heights = {}, "", {}
    for table in tables(path.read_text()):
        kind = table[0].strip("[]") if table else ""
        if kind in ("coupling", "sensor"):  # Pinocchio's joints do not follow each other by default
            continue
        text += "\n".join(table) + "\n"
        if kind == "gravity":
            text = text.replace("-9.80665", "-9.81")
        keys = dict(line.split(" = ", 1) for line in table[1:] if " = " in line)
        if kind == "body":
            height = float(keys["position"].strip("[]").split(",")[2])
            heights[keys["name"].strip('"')] = float(keys["mass"]) * height
        if kind not in ("revolute", "prismatic"):
            continue
        name, child = keys["name"].strip('"'), keys["bodies"].split('"')[3]
        children[name] = child
        joint = model.joints[model.getJointId(name)]
        value, rate, effort = map(float, state[name])
        if joint.nq == 2:  # turns without bounds are cosine and sine
            q[joint.idx_q : joint.idx_q + 2] = np.cos(value), np.sin(value)
        else:
            q[joint.idx_q] = value
        v[joint.idx_v], tau[joint.idx_v] = rate, effort
        coordinate, force = ("angle", "torque") if kind == "revolute" else ("displacement", "force")
        text = text.rstrip() + f"\n{coordinate} = {value!r}\nrate = {rate!r}\n"
        text += f'\n[[joint-force]]\njoint = "{name}"\n{force} = {effort!r}\n\n'
        for quantity in ("acceleration", "angular-acceleration"):
            text += f'[[sensor]]\nquantity = "{quantity}"\nof = "{child}"\n\n'
    assert set(children) == set(state), set(children) ^ set(state)
    (first,) = [name for name in heights if name not in children.values()]
    if floating:
        children["root_joint"] = first
        for quantity in ("acceleration", "angular-acceleration"):
            text += f'[[sensor]]\nquantity = "{quantity}"\nof = "{first}"\n\n'
    path.write_text(text)
    setting = [f"--set={name}=0" for name in ("stops", "losses") if f"\n{name} = 1" in text]
    run = ["run", path, *setting, "--method", "explicit8", "--end-time", "1e-4", "--step", "1e-4", "--out", folder / "run"]
    subprocess.run([command, *run], check=True, capture_output=True)
    with (folder / "run/trajectory.csv").open() as lines:
        head, row = [line for line in csv.reader(lines) if not line[0].startswith("#")][:2]
    found = {name.split(" ")[0]: float(value) for name, value in zip(head, row, strict=True)}
    bodies, kinetic, potential = expected(model, q, v, tau)
    # Pinocchio does not count what stands on the ground.
    standing = 0 if floating else 9.81 * heights[first]
    weight = 9.81 * sum(inertia.mass for inertia in list(model.inertias)[1:])
    scale = max(np.abs(wanted).max() for wanted in bodies.values())
    worst = abs(found["energy.kinetic"] - kinetic) / kinetic
    worst = max(worst, abs(found["energy.potential"] - standing - potential) / weight)
    for joint, wanted in bodies.items():
        names = [f"{children[joint]}.{kind}acceleration.{axis}" for kind in ("", "angular-") for axis in "xyz"]
        worst = max(worst, np.abs([found[name] for name in names] - wanted).max() / scale)
    return float(worst)


def main() -> None:
    failed = False
    with tempfile.TemporaryDirectory() as place:
        for file in FILES:
            for floating in (False, True) if file.stem in FREE else (False,):
                worst = compare(sys.argv[1], file, Path(place) / f"{file.stem}-{floating}", floating)
                failed |= not worst < TOLERANCE
                print(f"{file.stem:20} {'free' if floating else 'held':5} {worst:.1e}")
    sys.exit("too far from Pinocchio" if failed else None)


if __name__ == "__main__":
    main()
