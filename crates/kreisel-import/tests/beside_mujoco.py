"""Imported robots against MuJoCo: accelerations of every body and kinetic energies, at fixed states.

python beside_mujoco.py KREISEL: the command; robots are those that come with Gymnasium, and two written here for what they lack.
Contact, bounds, dry friction and rotors (`armature`) are off on both sides; damping and springs are on.
"""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import gymnasium
import mujoco
import numpy as np

TOLERANCE = 1e-9
ROBOTS = Path(gymnasium.__file__).parent / "envs/mujoco/assets"
NAMES = ("ant", "half_cheetah", "hopper", "humanoid", "inverted_double_pendulum", "reacher", "swimmer", "walker2d")

# Angles in other units and orders, joints away from the origin, several in a body, frames, all shapes, springs.
MIXED = """
<mujoco model="mixed">
  <compiler angle="radian" eulerseq="XZy" autolimits="true"/>
  <option gravity="0.5 0 -9"/>
  <default>
    <joint damping="0.1"/>
    <default class="stiff"><joint stiffness="7" springref="0.3" damping="0.4"/><geom density="500"/></default>
  </default>
  <worldbody>
    <body name="base" pos="0 0 1" euler="0.3 0.2 -0.4">
      <joint name="x" type="slide" axis="1 0 0" pos="0.1 0.2 0.3"/>
      <joint name="turn" axis="1 2 3" pos="0.1 0 -0.2"/>
      <joint name="tilt" axis="0 1 0" pos="0 0.1 0"/>
      <inertial pos="0.1 0 0.05" mass="2" fullinertia="0.1 0.2 0.15 0.01 -0.02 0.03"/>
      <frame pos="0 0 0.4" axisangle="0 1 0 0.5" childclass="stiff">
        <body name="arm" pos="0.1 0 0">
          <joint name="shoulder" axis="0 1 0"/>
          <geom type="capsule" fromto="0 0 0 0.3 0.1 0.2" size="0.04"/>
          <geom type="ellipsoid" size="0.1 0.05 0.07" pos="0.2 0 0" euler="0.1 0.2 0.3"/>
          <body name="plate" pos="0.3 0.1 0.2" xyaxes="0 1 0 -1 0 0.2">
            <geom type="box" size="0.1 0.05 0.02" mass="0.3"/>
            <body name="wrist" pos="0.1 0 0" zaxis="1 1 0">
              <joint name="wrist" type="slide" axis="0 0 1"/>
              <geom type="cylinder" size="0.03 0.1" class="main"/>
            </body>
          </body>
        </body>
      </frame>
    </body>
  </worldbody>
</mujoco>
"""

# Bodies without coordinates of their own start at rest as they are drawn.
FREE = """
<mujoco model="free">
  <worldbody>
    <body name="float" pos="0 0 1" quat="0.9 0.1 0.2 0.3">
      <freejoint/>
      <geom type="box" size="0.2 0.1 0.05"/>
      <body name="ball" pos="0.2 0.1 0">
        <joint name="socket" type="ball" pos="0 0 0.1"/>
        <geom type="capsule" fromto="0 0 0 0.2 0.3 -0.4" size="0.03"/>
      </body>
      <body name="flap" pos="-0.2 0 0"><joint name="flap" axis="0 1 0" stiffness="20"/><geom type="cylinder" size="0.1 0.02"/></body>
    </body>
  </worldbody>
</mujoco>
"""


def expected(model: mujoco.MjModel, data: mujoco.MjData) -> dict[str, np.ndarray]:
    """Accelerations of centre of mass and of turning for each group of bodies that move as one, by their first body."""
    groups: dict[int, list[tuple[float, np.ndarray]]] = {}
    for body in range(1, model.nbody):
        found = np.zeros(6)
        mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_BODY, body, found, 0)
        # The frame of the world counts as if it were pushed up.
        found[3:] += model.opt.gravity
        groups.setdefault(int(model.body_weldid[body]), []).append((float(model.body_mass[body]), found))
    bodies = {}
    for first, members in groups.items():
        if first == 0:
            continue
        mass = sum(own for own, _ in members)
        linear = sum(own * found[3:] for own, found in members) / mass
        name = model.body(first).name or f"body_{first}"
        bodies[name] = np.concatenate([linear, members[0][1][:3]])
    return bodies


def call(*words: object) -> None:
    """Runs the command; what it says where it fails."""
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{words}: {done.stderr}")


def compare(command: str, file: Path, folder: Path) -> float:
    """Largest difference, relative to the largest acceleration."""
    call(command, "import", file, "--out", folder)
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.dof_armature[:] = 0
    # What is around is told as not taken over.
    model.opt.density, model.opt.viscosity = 0, 0
    random = np.random.default_rng(1)
    one = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    joints = [joint for joint in range(model.njnt) if int(model.jnt_type[joint]) in one]
    states = iter([(joint, *map(float, random.uniform(-0.5, 0.5, 2))) for joint in joints])
    path = next(folder.glob("*.toml"))
    parts = path.read_text().split("\n[[")
    bodies, names = [], []
    for place, part in enumerate(parts):
        kind, name = part.split("]]")[0], part.partition('name = "')[2].split('"')[0]
        if kind == "body" and "massless = true" not in part:
            bodies.append(name)
        if kind in ("revolute", "prismatic"):
            joint, value, rate = next(states)
            data.qpos[model.jnt_qposadr[joint]] = model.qpos0[model.jnt_qposadr[joint]] + value
            data.qvel[model.jnt_dofadr[joint]] = rate
            coordinate = "angle" if kind == "revolute" else "displacement"
            parts[place] = part.rstrip() + f"\n{coordinate} = {value!r}\nrate = {rate!r}\n"
            names.append(name)
    assert next(states, None) is None, names
    text = "\n[[".join(parts)
    for name in bodies:
        for quantity in ("acceleration", "angular-acceleration"):
            text += f'\n[[sensor]]\nquantity = "{quantity}"\nof = "{name}"\n'
    path.write_text(text)
    mujoco.mj_forward(model, data)
    mujoco.mj_rnePostConstraint(model, data)
    mujoco.mj_energyVel(model, data)
    setting = ["--set=stops=0"] if "\nstops = 1" in text else []
    call(command, "run", path, *setting, "--method", "explicit8", "--end-time", "1e-6", "--step", "1e-6", "--out", folder / "run")
    with (folder / "run/trajectory.csv").open() as lines:
        head, row = [line for line in csv.reader(lines) if not line[0].startswith("#")][:2]
    found = {name.split(" ")[0]: float(value) for name, value in zip(head, row, strict=True)}
    wanted = expected(model, data)
    scale = max(np.abs(values).max() for values in wanted.values())
    worst = abs(found["energy.kinetic"] - data.energy[1]) / max(data.energy[1], 1e-3)
    moving = [name for name in bodies if name in wanted]
    assert len(moving) == len(wanted), (bodies, list(wanted))
    for name in moving:
        columns = [f"{name}.{kind}acceleration.{axis}" for kind in ("", "angular-") for axis in "xyz"]
        worst = max(worst, np.abs([found[column] for column in columns] - wanted[name]).max() / scale)
    return float(worst)


def main() -> None:
    failed = False
    with tempfile.TemporaryDirectory() as place:
        files = [ROBOTS / f"{name}.xml" for name in NAMES]
        for name, text in (("mixed", MIXED), ("free", FREE)):
            files.append(Path(place) / f"{name}.xml")
            files[-1].write_text(text)
        for file in files:
            worst = compare(sys.argv[1], file, Path(place) / file.stem)
            failed |= not worst < TOLERANCE
            print(f"{file.stem:26} {worst:.1e}")
    sys.exit("too far from MuJoCo" if failed else None)


if __name__ == "__main__":
    main()
