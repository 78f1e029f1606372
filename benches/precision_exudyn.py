"""Work against precision of Exudyn, by the best that it can do with each machine.

Explicit Runge-Kutta methods where a machine has no constraints in suitable coordinates: free bodies on the Lie group,
open chains as kinematic trees in joint angles (ball joints as three hinges in a row, which stay away from their
singular positions here). RK44 and RK67 take steps of one size, DOPRI5 controls its error. Loops and beams by
generalized-alpha with steps of one size. Errors of beams refer to extrapolated runs of Exudyn itself, whose elements
are not exactly those of others.
"""
import warnings

import numpy as np

from exudyn_common import cpu_seconds, exu, settings
from precision_common import error_at_end, error_of, ladder, powers_of_two, references, request
from exudyn.utilities import (GenericJoint, LoadMassProportional, MarkerBodyMass, MarkerBodyRigid, NodeGenericODE2,
                              NodeRigidBodyEP, NodeRigidBodyRotVecLG, ObjectGround, ObjectKinematicTree, ObjectRigidBody,
                              RotationMatrix2EulerParameters, SensorKinematicTree, SphericalJoint)

STANDARD_GRAVITY = 9.80665
POSITION, ROTATION = exu.OutputVariableType.Position, exu.OutputVariableType.RotationMatrix
FIXED_STEPS = [("exudyn RK44", exu.DynamicSolverType.RK44), ("exudyn RK67", exu.DynamicSolverType.RK67)]


def box(mass, x, y, z):
    return [mass * (y * y + z * z) / 12, mass * (x * x + z * z) / 12, mass * (x * x + y * y) / 12]


class Tree:
    """A chain of links on hinges in joint angles; of each group of hinges only the last moves a body."""

    def __init__(self, axes, offset, mass, inertia, centre, gravity, count=1, speeds=None):
        kinds = {"X": exu.JointType.RevoluteX, "Y": exu.JointType.RevoluteY, "Z": exu.JointType.RevoluteZ}
        self.system = exu.SystemContainer().AddSystem()
        links = len(axes) * count
        node = self.system.AddNode(NodeGenericODE2(
            referenceCoordinates=[0] * links, initialCoordinates=[0] * links,
            initialCoordinates_t=[0] * links if speeds is None else speeds, numberOfODE2Coordinates=links))
        rotations, offsets = exu.Matrix3DList(), exu.Vector3DList()
        inertias, centres, masses = exu.Matrix3DList(), exu.Vector3DList(), []
        for index in range(links):
            moves = index % len(axes) == len(axes) - 1
            rotations.Append(np.eye(3))
            offsets.Append(offset if index and index % len(axes) == 0 else [0, 0, 0])
            inertias.Append(np.diag(inertia) if moves else np.zeros((3, 3)))
            centres.Append(centre if moves else [0, 0, 0])
            masses.append(mass if moves else 0)
        tree = self.system.AddObject(ObjectKinematicTree(
            nodeNumber=node, gravity=gravity, jointTypes=[kinds[axis] for axis in axes] * count,
            linkParents=list(range(-1, links - 1)), jointTransformations=rotations, jointOffsets=offsets,
            linkInertiasCOM=inertias, linkCOMs=centres, linkMasses=masses))
        self.sensors = [[self.system.AddSensor(SensorKinematicTree(
            objectNumber=tree, linkNumber=index, localPosition=centre, outputVariableType=kind))
            for kind in (POSITION, ROTATION)] for index in range(len(axes) - 1, links, len(axes))]
        self.system.Assemble()

    def end(self):
        values = [[self.system.GetSensorValues(sensor) for sensor in pair] for pair in self.sensors]
        return (np.array([position for position, _ in values]),
                np.array([np.reshape(rotation, (3, 3)) for _, rotation in values]))


def heavy_top():
    return Tree("XZY", [0, 0, 0], 15, [0.234375, 0.46875, 0.234375], [0, 1, 0], [0, 0, -9.81],
                speeds=[0, -4.61538, 150])


def pendulum():
    return Tree("Y", [0, 0, 0], 1, [1e-6, 1 / 12, 1 / 12], [0.5, 0, 0], [0, 0, -STANDARD_GRAVITY])


def chain(axes, count, tilt):
    gravity = [0, -9.81 * np.cos(tilt), -9.81 * np.sin(tilt)]
    return Tree(axes, [0.1, 0, 0], 1, box(1, 0.1, 0.05, 0.05), [0.05, 0, 0], gravity, count)


class Bodies:
    """Bodies in absolute coordinates."""

    def __init__(self, lie_group):
        self.system, self.lie_group, self.nodes = exu.SystemContainer().AddSystem(), lie_group, []
        self.ground = self.system.AddObject(ObjectGround())

    def body(self, mass, inertia, position, axes, gravity, angular_velocity=(0, 0, 0)):
        if self.lie_group:
            node = NodeRigidBodyRotVecLG(referenceCoordinates=[*position, 0, 0, 0],
                                         initialVelocities=[0, 0, 0, *angular_velocity])
        else:
            node = NodeRigidBodyEP(referenceCoordinates=[*position, *RotationMatrix2EulerParameters(axes)])
        self.nodes.append(self.system.AddNode(node))
        body = self.system.AddObject(ObjectRigidBody(mass=mass, inertia=[*inertia, 0, 0, 0], nodeNumber=self.nodes[-1]))
        if np.any(gravity):
            whole = self.system.AddMarker(MarkerBodyMass(bodyNumber=body))
            self.system.AddLoad(LoadMassProportional(markerNumber=whole, loadVector=list(gravity)))
        return body, np.asarray(position, float), np.asarray(axes, float)

    def marker(self, part, point, axes=np.eye(3)):
        """A marker at a point, and what turns its axes into the given ones."""
        if part is None:
            part = self.ground, np.zeros(3), np.eye(3)
        body, position, own = part
        local = own.T @ (np.asarray(point, float) - position)
        return self.system.AddMarker(MarkerBodyRigid(bodyNumber=body, localPosition=list(local))), own.T @ axes

    def joint(self, first, second, point, axes, locked):
        """A joint whose frame, the same on both sides, has the given axes at the start."""
        (one, turn_one), (two, turn_two) = self.marker(first, point, axes), self.marker(second, point, axes)
        with warnings.catch_warnings():
            # Later versions of Exudyn have these at the markers.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.system.AddObject(GenericJoint(markerNumbers=[one, two], constrainedAxes=locked, rotationMarker0=turn_one,
                                               rotationMarker1=turn_two))

    def ball(self, first, second, point):
        markers = [self.marker(part, point)[0] for part in (first, second)]
        self.system.AddObject(SphericalJoint(markerNumbers=markers))

    def end(self):
        outputs = [[self.system.GetNodeOutput(node, kind) for kind in (POSITION, ROTATION)] for node in self.nodes]
        return (np.array([position for position, _ in outputs]),
                np.array([np.reshape(rotation, (3, 3)) for _, rotation in outputs]))


INERTIA_OF_BOOK = box(1, 0.3, 0.2, 0.05)


def free_body():
    bodies = Bodies(lie_group=True)
    bodies.body(1, INERTIA_OF_BOOK, [0, 0, 0], np.eye(3), [0, 0, 0], [0.1, 10, 0])
    bodies.system.Assemble()
    return bodies


def energy_of_free_body(bodies):
    turning = bodies.system.GetNodeOutput(bodies.nodes[0], exu.OutputVariableType.AngularVelocityLocal)
    moving = bodies.system.GetNodeOutput(bodies.nodes[0], exu.OutputVariableType.Velocity)
    return (turning**2 @ INERTIA_OF_BOOK + moving @ moving) / 2


def in_plane(angle):
    """Axes turned about z."""
    return np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])


def four_bar():
    crank, coupler, rocker, base, gravity = 0.1, 0.35, 0.25, 0.4, [0, -9.81, 0]
    diagonal = np.hypot(base, crank)
    at_b = np.arccos((coupler**2 + diagonal**2 - rocker**2) / (2 * coupler * diagonal)) - np.arctan2(crank, base)
    cx, cy = coupler * np.cos(at_b), crank + coupler * np.sin(at_b)
    bodies = Bodies(lie_group=False)

    def bar(length, position, angle):
        mass = 2700 * length * 0.02 * 0.01
        return bodies.body(mass, box(mass, length, 0.02, 0.01), position, in_plane(angle), gravity)

    parts = [None, bar(crank, [0, crank / 2, 0], np.pi / 2), bar(coupler, [cx / 2, (crank + cy) / 2, 0], at_b),
             bar(rocker, [(base + cx) / 2, cy / 2, 0], np.arctan2(cy, cx - base)), None]
    for first, second, point in zip(parts, parts[1:], ([0, 0, 0], [0, crank, 0], [cx, cy, 0], [base, 0, 0])):
        bodies.joint(first, second, point, np.eye(3), [1, 1, 1, 1, 1, 0])
    bodies.system.Assemble()
    return bodies


def slider_crank():
    crank, rod, y, z, gravity = 0.1, 0.4, 0.15, 0.1, [0, -9.81, 0]
    start = np.sqrt(rod**2 - y**2 - (z + crank) ** 2)
    bodies = Bodies(lie_group=False)
    mass = 7850 * 0.02 * 0.03 * crank
    arm = bodies.body(mass, box(mass, 0.02, 0.03, crank), [0, y, z + crank / 2], np.eye(3), gravity)
    mass = 7850 * np.pi * 0.01**2 * rod
    across, along = mass * (3 * 0.01**2 + rod**2) / 12, mass * 0.01**2 / 2
    direction = np.array([-start, y, z + crank]) / rod
    # The shortest turn of z into the rod.
    cross = np.cross([0, 0, 1], direction)
    hat = np.array([[0, -cross[2], cross[1]], [cross[2], 0, -cross[0]], [-cross[1], cross[0], 0]])
    axes = np.eye(3) + hat + hat @ hat / (1 + direction[2])
    link = bodies.body(mass, [across, across, along], [start / 2, y / 2, (z + crank) / 2], axes, gravity)
    mass = 7850 * 0.08 * 0.05 * 0.05
    slider = bodies.body(mass, box(mass, 0.08, 0.05, 0.05), [start, 0, 0], np.eye(3), gravity)
    bodies.joint(None, arm, [0, y, z], np.eye(3), [1, 1, 1, 0, 1, 1])
    bodies.ball(arm, link, [0, y, z + crank])
    # A universal joint: the first axis, y, belongs to the slider, the second one, (z + crank, 0, start), to the rod; they
    # stay at right angles.
    third = np.array([z + crank, 0, start]) / np.hypot(z + crank, start)
    frame = np.column_stack([[0, 1, 0], third, np.cross([0, 1, 0], third)])
    bodies.joint(slider, link, [start, 0, 0], frame, [1, 1, 1, 0, 0, 1])
    bodies.joint(None, slider, [start, 0, 0], np.eye(3), [0, 1, 1, 1, 1, 1])
    bodies.system.Assemble()
    return bodies


def explicit(machine, build, reference, errors, first, energy=False):
    end_of = energy_of_free_body if energy else lambda made: made.end()

    def finish(made, chosen, kind):
        chosen.linearSolver.solverType = exu.LinearSolverType.EXUdense
        try:
            seconds = cpu_seconds(made.system, chosen, solverType=kind)
        except (exu.SolverError, ValueError):
            return None
        return seconds, error_at_end(reference, end_of(made))

    for program, kind in FIXED_STEPS:
        ladder(machine, program, errors, powers_of_two(first),
               lambda steps: finish(build(), settings(reference["end"] / steps, reference["end"]), kind))

    def controlled(tolerance):
        chosen = settings(reference["end"] / first, reference["end"])
        chosen.timeIntegration.automaticStepSize = True
        chosen.timeIntegration.relativeTolerance = chosen.timeIntegration.absoluteTolerance = tolerance
        chosen.timeIntegration.minimumStepSize = 1e-10
        return finish(build(), chosen, exu.DynamicSolverType.DOPRI5)

    ladder(machine, "exudyn DOPRI5", errors, (10 ** (-digits / 2) for digits in range(4, 27)), controlled)


def implicit(machine, build, reference, errors, first, redundant=False):
    def run(steps):
        made = build()
        chosen = settings(reference["end"] / steps, reference["end"], modified_newton=True, sparse=False)
        if redundant:
            chosen.linearSolver.solverType = exu.LinearSolverType.EigenDense
            chosen.linearSolver.ignoreSingularJacobian = True
        try:
            seconds = cpu_seconds(made.system, chosen)
        except exu.SolverError:
            return None
        return seconds, error_at_end(reference, made.end())

    ladder(machine, "exudyn generalized-alpha", errors, powers_of_two(first, 10**6), run)


def flexible(machine, build, count, alpha, atol, reference, errors, first):
    """Errors against the motion extrapolated from two fine runs."""
    radius = 0.9 if alpha is None else (1 - alpha) / (1 + alpha)

    def run(steps):
        system, nodes = build(count)
        chosen = settings(reference["end"] / steps, reference["end"], radius, 1e-7, atol, modified_newton=True, sparse=True)
        try:
            seconds = cpu_seconds(system, chosen)
        except exu.SolverError:
            return None
        outputs = [[system.GetNodeOutput(node, kind) for kind in (POSITION, ROTATION)] for node in nodes]
        return seconds, (np.array([position for position, _ in outputs]),
                         np.array([np.reshape(rotation, (3, 3)) for _, rotation in outputs]))

    fine, finer = (run(first * times)[1] for times in (64, 128))
    # The error of a method of second order at half the step is a quarter; entries of matrices differ by so little that
    # they may be extrapolated.
    exact = [b + (b - a) / 3 for a, b in zip(fine, finer)]

    def compared(steps):
        found = run(steps)
        return found and (found[0], error_of(*found[1], *exact, reference["size"]))

    ladder(machine, "exudyn generalized-alpha", errors, powers_of_two(first, first * 32), compared)


def main():
    import beam
    machines = {
        "heavy-top": lambda *rest: explicit("heavy-top", heavy_top, *rest, 64),
        "free-body": lambda *rest: explicit("free-body", free_body, *rest, 64),
        "free-body-energy": lambda *rest: explicit("free-body-energy", free_body, *rest, 1024, energy=True),
        "pendulum-100-periods": lambda *rest: explicit("pendulum-100-periods", pendulum, *rest, 1024),
        "pendulum-1000-s": lambda *rest: explicit("pendulum-1000-s", pendulum, *rest, 4096),
        "chain-10-balls": lambda *rest: explicit("chain-10-balls", lambda: chain("ZYX", 10, 0.3), *rest, 32),
        "chain-7-hinges": lambda *rest: explicit("chain-7-hinges", lambda: chain("Z", 7, 0.0), *rest, 32),
        "slider-crank": lambda *rest: implicit("slider-crank", slider_crank, *rest, 64),
        "four-bar": lambda *rest: implicit("four-bar", four_bar, *rest, 64, redundant=True),
        "right-angle-beam": lambda *rest: flexible("right-angle-beam", beam.right_angle, 10, None, 1e-6, *rest, 240),
        "flexible-four-bar": lambda *rest: flexible("flexible-four-bar", beam.four_bar, 10, None, 1e-5, *rest, 40),
    }
    asked, exact = request(), references()
    for machine, measure in machines.items():
        if not asked.machines or machine in asked.machines:
            measure(exact[machine], asked.errors)


if __name__ == "__main__":
    main()
