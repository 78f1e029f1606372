"""Beams in Exudyn: geometrically exact elements of two nodes on SE(3).

The right-angle cantilever and the four-bar mechanism of BrulsCardonaArnold2012, Secs. 7.2 and 7.3, and a beam that
flies freely. Newton keeps its matrix, the faster choice everywhere; tolerances are the smallest with which Exudyn
converges. Prints one line per run: benchmark, program, CPU time per step in microseconds, and as error that of
the worst node's position at the end, estimated from a run with half the step; long models have none.
"""
import numpy as np

from exudyn_common import cpu_seconds, exu, settings
from peer_common import cannot, report, request
from exudyn.utilities import (CreateSymbolicUserFunction, Force, GenericJoint, MarkerBodyRigid, MarkerNodeRigid,
                              NodeRigidBodyEP, NodeRigidBodyRotVecLG, ObjectBeamGeometricallyExact, ObjectGround,
                              RotationMatrix2EulerParameters, SensorNode, Torque)

HINGE = [1, 1, 1, 1, 1, 0]
FIXED = [1] * 6


def along(direction):
    """Axes of a bar in the x-y plane: the first along it, the third along z."""
    x = np.asarray(direction, float) / np.linalg.norm(direction)
    return np.column_stack([x, np.cross([0, 0, 1], x), [0, 0, 1]])


def rotation_vector(axes):
    angle = np.arctan2(axes[1, 0], axes[0, 0])
    return [0, 0, angle]


class Model:
    """A system under construction."""

    def __init__(self, lie_group):
        self.system, self.lie_group = exu.SystemContainer().AddSystem(), lie_group
        self.ground = self.system.AddObject(ObjectGround())

    def node(self, position, axes):
        if self.lie_group:
            kind, rotation = NodeRigidBodyRotVecLG, rotation_vector(axes)
        else:
            kind, rotation = NodeRigidBodyEP, list(RotationMatrix2EulerParameters(axes))
        return self.system.AddNode(kind(referenceCoordinates=[*position, *rotation]))

    def beam(self, start, end, stiffness, mass, inertia, count):
        """Elements from one point to another; stiffness (EA, GA, GA, GJ, EI, EI), inertia per length."""
        section = exu.BeamSection()
        section.stiffnessMatrix, section.inertia = np.diag(stiffness), np.diag(inertia)
        section.massPerLength = mass
        start, end = np.asarray(start, float), np.asarray(end, float)
        axes = along(end - start)
        nodes = [self.node(start + (end - start) * i / count, axes) for i in range(count + 1)]
        for pair in zip(nodes, nodes[1:]):
            self.system.AddObject(ObjectBeamGeometricallyExact(
                nodeNumbers=list(pair), length=np.linalg.norm(end - start) / count, sectionData=section))
        return nodes, axes

    def on_node(self, node):
        return self.system.AddMarker(MarkerNodeRigid(nodeNumber=node))

    def on_ground(self, position):
        return self.system.AddMarker(MarkerBodyRigid(bodyNumber=self.ground, localPosition=list(position)))

    def joint(self, markers, axes, locked, **more):
        """Frames with the given axes relative to the markers' own."""
        self.system.AddObject(GenericJoint(markerNumbers=markers, constrainedAxes=locked,
                                           rotationMarker0=axes[0], rotationMarker1=axes[1], **more))

    def load(self, kind, marker, vector, law):
        load = self.system.AddLoad(kind(markerNumber=marker, loadVector=vector))
        function = CreateSymbolicUserFunction(self.system, law, "loadVectorUserFunction", load)
        self.system.SetLoadParameter(load, "loadVectorUserFunction", function)


def triangle(_, time, vector):
    """50 N at one second, nothing from two seconds on."""
    return 50.0 * exu.symbolic.max(0.0, exu.symbolic.min(time, 2.0 - time)) * vector


def pulse(_, time, vector):
    """200 at 2.5 s, nothing from five seconds on."""
    return 80.0 * exu.symbolic.max(0.0, exu.symbolic.min(time, 5.0 - time)) * vector


def right_angle(count):
    model = Model(lie_group=True)
    data = ([1e6, 1e6, 1e6, 1e3, 1e3, 1e3], 1.0, [20.0, 10.0, 10.0])
    first, _ = model.beam([0, 0, 0], [10, 0, 0], *data, count // 2)
    second, axes = model.beam([10, 0, 0], [10, 10, 0], *data, count - count // 2)
    model.joint([model.on_ground([0, 0, 0]), model.on_node(first[0])], [np.eye(3)] * 2, FIXED)
    elbow = model.on_node(first[-1])
    model.joint([elbow, model.on_node(second[0])], [np.eye(3), axes.T], FIXED)
    model.load(Force, elbow, [0, 0, 1], triangle)
    model.system.Assemble()
    return model.system, first + second


def flying_beam(count):
    model = Model(lie_group=True)
    nodes, _ = model.beam([6, 0, 0], [0, 8, 0], [1e4, 1e4, 1e4, 500, 500, 500], 1.0, [10.0] * 3, count)
    end = model.on_node(nodes[0])
    model.load(Force, end, [0.1, 0, 0], pulse)
    model.load(Torque, end, [0, -0.5, -1], pulse)
    model.system.Assemble()
    return model.system, nodes


def drive_angle(time, speed=-5.0, duration=0.5):
    if time >= duration:
        return speed * (time - duration / 2), speed
    phase = 2 * np.pi * time / duration
    return (speed / duration * (time**2 / 2 + (duration / (2 * np.pi)) ** 2 * (np.cos(phase) - 1)),
            speed / duration * (time - duration / (2 * np.pi) * np.sin(phase)))


def four_bar(count):
    model = Model(lie_group=False)
    corners = [np.array(corner) for corner in ([0, 0, 0], [0, 0.12, 0], [0.24, 0.12, 0], [0.24, 0, 0])]
    bars = [([4e7, 2e6, 2e6, 2.8e5, 2.4e6, 2.4e6], 3.2, [2.4e-2, 1.2e-2, 1.2e-2]),
            ([4e6, 2e5, 2e5, 2.8e4, 2.8e5, 2.8e5], 1.6, [1.2e-2, 6e-3, 6e-3]),
            ([4e5, 2e5, 2e5, 2.8e4, 2.4e4, 2.4e4], 1.6, [1.2e-2, 6e-3, 6e-3])]
    (ab, ab_axes), (bc, bc_axes), (cd, cd_axes) = (
        model.beam(start, end, *bar, count) for start, end, bar in zip(corners, corners[1:], bars))
    angle = np.radians(5)
    tilt = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    model.joint([model.on_ground(corners[0]), model.on_node(ab[0])], [np.eye(3), ab_axes.T], FIXED,
                offsetUserFunction=lambda system, time, *_: [0] * 5 + [drive_angle(time)[0]],
                offsetUserFunction_t=lambda system, time, *_: [0] * 5 + [drive_angle(time)[1]])
    model.joint([model.on_node(ab[-1]), model.on_node(bc[0])], [ab_axes.T, bc_axes.T], HINGE)
    model.joint([model.on_node(bc[-1]), model.on_node(cd[0])], [bc_axes.T @ tilt, cd_axes.T @ tilt], HINGE)
    model.joint([model.on_ground(corners[3]), model.on_node(cd[-1])], [np.eye(3), cd_axes.T], HINGE)
    model.system.Assemble()
    return model.system, ab + bc + cd


# Name, model, elements, step, end time, HHT's alpha or none, absolute tolerance, whether an error is found.
CASES = [
    ("right-angle-10-coarse", right_angle, 10, 0.05, 30.0, 0.05, 1e-6, True),
    ("right-angle-10-fine", right_angle, 10, 0.01, 30.0, 0.05, 1e-6, True),
    ("right-angle-100", right_angle, 100, 0.05, 10.0, 0.05, 1e-5, False),
    ("right-angle-1000", right_angle, 1000, 0.05, 2.0, 0.05, 1e-3, False),
    ("four-bar-beams", four_bar, 10, 0.02, 5.0, None, 1e-5, True),
    ("flying-beam-50", flying_beam, 50, 0.01, 10.0, None, 1e-6, True),
    ("flying-beam-500", flying_beam, 500, 0.01, 1.0, None, 1e-4, False),
]


def simulate(case, division=1, watch=False):
    """CPU time and, on request, the nodes' positions after every whole step; each step is divided."""
    _, build, count, step, end_time, alpha, atol, _ = case
    radius = 0.9 if alpha is None else (1 - alpha) / (1 + alpha)
    system, nodes = build(count)
    chosen = settings(step / division, end_time, radius, 1e-7, atol, modified_newton=True, sparse=True)
    sensors = []
    if watch:
        sensors = [system.AddSensor(SensorNode(nodeNumber=node, storeInternal=True,
                                               outputVariableType=exu.OutputVariableType.Displacement))
                   for node in nodes]
        system.Assemble()
        chosen.solution.sensors.active = True
        chosen.solution.sensors.writePeriod = step
    seconds = cpu_seconds(system, chosen)
    return seconds, np.array([system.GetSensorStoredData(sensor)[:, 1:] for sensor in sensors])


def error_of(case):
    """Error of the worst node: the root of the mean square over time of its distance from the motion with half the step.

    A method of second order: what is left at half the step is a quarter.
    """
    coarse, fine = simulate(case, 1, True)[1], simulate(case, 2, True)[1]
    assert coarse.shape == fine.shape, (coarse.shape, fine.shape)
    return np.sqrt((np.linalg.norm(coarse - fine, axis=2) ** 2).mean(axis=1).max()) * 4 / 3


def main():
    asked = request()
    for case in CASES:
        benchmark, steps, with_error = case[0], round(case[4] / case[3]), case[-1]
        if asked.benchmarks and benchmark not in asked.benchmarks:
            continue
        try:
            error = error_of(case) if with_error else float("nan")
            for _ in range(asked.runs):
                report(benchmark, "exudyn", simulate(case)[0], steps, error)
        except exu.SolverError:
            cannot(benchmark, "exudyn", "Newton's iteration does not converge")
    cannot("four-bar-beams", "exudyn with Lie-group nodes", "Newton fails in the first steps; Euler parameters run")


if __name__ == "__main__":
    main()
