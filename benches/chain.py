"""Chains of N links in Exudyn: rigid bodies in absolute coordinates, ball joints or hinges, released from the
horizontal; the machines of models/chain-spherical.toml and models/chain-revolute.toml.

Ratios refer to the faster of the two kinds of node: Euler parameters up to a hundred links of ball joints, Lie-group
nodes otherwise; Newton keeps its matrix, which is the faster choice at every length. Prints one line per run:
benchmark, program, CPU time per step in microseconds, error of the tip at the end.
"""
import json
import pathlib

import numpy as np

from exudyn_common import cpu_seconds, exu, settings
from peer_common import report, request
from exudyn.utilities import (LoadMassProportional, MarkerBodyMass, MarkerBodyRigid, NodeRigidBodyEP,
                              NodeRigidBodyRotVecLG, ObjectGround, ObjectRigidBody, RevoluteJointZ, SphericalJoint,
                              eulerParameters0)

STEP = 1e-3
LENGTH, WIDTH, MASS = 0.1, 0.05, 1.0
# Joint, number of links, end time, whether Lie-group nodes are the faster ones.
CASES = [("spherical", 10, 1.0, False), ("spherical", 100, 1.0, False), ("spherical", 1000, 0.1, True),
         ("spherical", 4000, 0.02, True), ("revolute", 100, 1.0, True), ("revolute", 1000, 0.1, True),
         ("revolute", 10_000, 0.02, True)]


def build(joint, count, lie_group):
    """The assembled system and its last body."""
    inertia = [MASS * 2 * WIDTH**2 / 12] + 2 * [MASS * (WIDTH**2 + LENGTH**2) / 12]
    tilt = 0.3 if joint == "spherical" else 0.0
    gravity = [0, -9.81 * np.cos(tilt), -9.81 * np.sin(tilt)]
    connect = SphericalJoint if joint == "spherical" else RevoluteJointZ
    system = exu.SystemContainer().AddSystem()
    end = system.AddMarker(MarkerBodyRigid(bodyNumber=system.AddObject(ObjectGround())))
    for index in range(count):
        centre = [(index + 0.5) * LENGTH, 0, 0]
        if lie_group:
            node = system.AddNode(NodeRigidBodyRotVecLG(referenceCoordinates=centre + [0, 0, 0]))
        else:
            node = system.AddNode(NodeRigidBodyEP(referenceCoordinates=centre + list(eulerParameters0)))
        body = system.AddObject(ObjectRigidBody(mass=MASS, inertia=inertia + [0, 0, 0], nodeNumber=node))
        whole = system.AddMarker(MarkerBodyMass(bodyNumber=body))
        system.AddLoad(LoadMassProportional(markerNumber=whole, loadVector=gravity))
        start = system.AddMarker(MarkerBodyRigid(bodyNumber=body, localPosition=[-0.5 * LENGTH, 0, 0]))
        system.AddObject(connect(markerNumbers=[end, start]))
        end = system.AddMarker(MarkerBodyRigid(bodyNumber=body, localPosition=[0.5 * LENGTH, 0, 0]))
    system.Assemble()
    return system, body


def main():
    asked = request()
    exact = json.loads(pathlib.Path(__file__).with_name("chain_reference.json").read_text())
    for joint, count, end_time, lie_group in CASES:
        benchmark = f"chain-{joint}-{count}"
        if asked.benchmarks and benchmark not in asked.benchmarks:
            continue
        for _ in range(asked.runs):
            system, body = build(joint, count, lie_group)
            seconds = cpu_seconds(system, settings(STEP, end_time, modified_newton=True, sparse=True))
            tip = system.GetObjectOutputBody(body, exu.OutputVariableType.Position, [0.5 * LENGTH, 0, 0])
            error = np.linalg.norm(np.array(tip) - exact.get(f"{joint}-{count}", np.nan))
            report(benchmark, "exudyn", seconds, round(end_time / STEP), error)


if __name__ == "__main__":
    main()
