"""The heavy top in Exudyn: a rigid body and a spherical joint at the origin.

Data of BrulsCardonaArnold2012, Sec. 7.1. Ratios refer to the Lie-group node, which is the same method as
Kreisel's on SO(3)xR3; Euler parameters with modified Newton are a faster choice. Prints one line per run: benchmark, program, CPU time per step in
microseconds, error of the position at the end.
"""
import numpy as np
from scipy.integrate import solve_ivp

from exudyn_common import cpu_seconds, exu, settings
from peer_common import report, request
from exudyn.utilities import (AngularVelocity2EulerParameters_t, LoadMassProportional, MarkerBodyMass,
                              MarkerBodyPosition, NodeRigidBodyEP, NodeRigidBodyRotVecLG, ObjectGround,
                              ObjectRigidBody, SphericalJoint, eulerParameters0)

STEP, END_TIME = 1e-4, 1.0
MASS = 15.0
INERTIA = np.array([0.234375, 0.46875, 0.234375])
CENTRE = np.array([0.0, 1.0, 0.0])
ANGULAR_VELOCITY = np.array([0.0, 150.0, -4.61538])
GRAVITY = np.array([0.0, 0.0, -9.81])


def lie_group_node():
    return NodeRigidBodyRotVecLG(
        referenceCoordinates=[*CENTRE, 0, 0, 0],
        initialVelocities=[*np.cross(ANGULAR_VELOCITY, CENTRE), *ANGULAR_VELOCITY])


def euler_parameter_node():
    rates = AngularVelocity2EulerParameters_t(ANGULAR_VELOCITY, eulerParameters0)
    return NodeRigidBodyEP(
        referenceCoordinates=[*CENTRE, *eulerParameters0],
        initialVelocities=[*np.cross(ANGULAR_VELOCITY, CENTRE), *rates])


def build(kind_of_node):
    """The assembled system and the number of its node."""
    system = exu.SystemContainer().AddSystem()
    node = system.AddNode(kind_of_node())
    body = system.AddObject(ObjectRigidBody(mass=MASS, inertia=[*INERTIA, 0, 0, 0], nodeNumber=node))
    whole = system.AddMarker(MarkerBodyMass(bodyNumber=body))
    system.AddLoad(LoadMassProportional(markerNumber=whole, loadVector=list(GRAVITY)))
    ground = system.AddObject(ObjectGround())
    fixed = system.AddMarker(MarkerBodyPosition(bodyNumber=ground, localPosition=[0, 0, 0]))
    tip = system.AddMarker(MarkerBodyPosition(bodyNumber=body, localPosition=list(-CENTRE)))
    system.AddObject(SphericalJoint(markerNumbers=[fixed, tip]))
    system.Assemble()
    return system, node


def exact_position():
    """Position at the end from the equations of motion about the fixed point, with a quaternion."""
    about_point = np.diag(INERTIA) + MASS * (CENTRE @ CENTRE * np.eye(3) - np.outer(CENTRE, CENTRE))

    def rates(_, state):
        scalar, vector, omega = state[0], state[1:4], state[4:]
        gravity_body = GRAVITY + 2 * np.cross(vector, np.cross(vector, GRAVITY) - scalar * GRAVITY)
        torque = MASS * np.cross(CENTRE, gravity_body) - np.cross(omega, about_point @ omega)
        return np.concatenate([[-0.5 * vector @ omega], 0.5 * (scalar * omega + np.cross(vector, omega)),
                               np.linalg.solve(about_point, torque)])

    start = np.concatenate([[1, 0, 0, 0], ANGULAR_VELOCITY])
    end = solve_ivp(rates, (0, END_TIME), start, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    scalar, vector = end[0], end[1:4]
    return CENTRE + 2 * np.cross(vector, np.cross(vector, CENTRE) + scalar * CENTRE)


def main():
    exact = exact_position()
    cases = [("exudyn", lie_group_node, False), ("exudyn euler-parameters", euler_parameter_node, True)]
    for _ in range(request().runs):
        for program, kind_of_node, modified_newton in cases:
            system, node = build(kind_of_node)
            seconds = cpu_seconds(system, settings(STEP, END_TIME, modified_newton=modified_newton))
            position = np.array(system.GetNodeOutput(node, exu.OutputVariableType.Position))
            report("heavy-top", program, seconds, round(END_TIME / STEP), np.linalg.norm(position - exact))


if __name__ == "__main__":
    main()
