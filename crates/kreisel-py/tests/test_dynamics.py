"""Functions of a machine at any state, against closed forms and against what runs do."""

from __future__ import annotations

import pickle
import signal
import threading
import time
from pathlib import Path
from typing import Any

import kreisel
import numpy as np
import pytest
from conftest import pendulum, wheel

G = 9.80665
M1, M2, L1, L2, J1, J2 = 2.0, 1.5, 0.6, 0.4, 0.05, 0.03


def double_pendulum() -> kreisel.Model:
    """Two bars about y axes, drawn along x, with their centres in the middle; angles turn x towards −z."""
    model = kreisel.Model("double")
    model.input("motor")
    model.body("upper", mass=M1, inertia=[J1, J1, J1], position=[L1 / 2, 0, 0])
    model.body("lower", mass=M2, inertia=[J2, J2, J2], position=[L1 + L2 / 2, 0, 0])
    model.marker("tip", body="lower", position=[L2 / 2, 0, 0])
    model.revolute("shoulder", bodies=["ground", "upper"], point=[0, 0, 0], axis=[0, 1, 0])
    model.revolute("elbow", bodies=["upper", "lower"], point=[L1, 0, 0], axis=[0, 1, 0])
    model.joint_force(joint="elbow", torque="motor - 0.1*elbow.angle-rate")
    return model


def closed_form(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mass matrix and bias of the double pendulum without its motor."""
    a, b = q
    c2, s2 = np.cos(b), np.sin(b)
    r1, r2 = L1 / 2, L2 / 2
    m12 = J2 + M2 * (r2 * r2 + L1 * r2 * c2)
    mass = np.array([[J1 + J2 + M1 * r1 * r1 + M2 * (L1 * L1 + r2 * r2 + 2 * L1 * r2 * c2), m12], [m12, J2 + M2 * r2 * r2]])
    h = M2 * L1 * r2 * s2
    gyro = np.array([-h * (2 * v[0] * v[1] + v[1] ** 2), h * v[0] ** 2])
    # The height of a point at the angle φ is −r sin φ.
    weight = -G * np.array([M1 * r1 * np.cos(a) + M2 * (L1 * np.cos(a) + r2 * np.cos(a + b)), M2 * r2 * np.cos(a + b)])
    damping = np.array([0, 0.1 * v[1]])
    return mass, gyro + weight + damping


STATES = np.random.default_rng(3).uniform(-3, 3, (6, 2, 2))


def test_a_double_pendulum_is_that_of_the_textbooks() -> None:
    dynamics = double_pendulum().dynamics()
    assert dynamics.coordinates == ["shoulder.angle", "elbow.angle"]
    for q, v in STATES:
        mass, bias = closed_form(q, v)
        assert np.allclose(dynamics.mass_matrix(q), mass, rtol=1e-12, atol=1e-13)
        assert np.allclose(dynamics.bias(q, v), bias, rtol=1e-11, atol=1e-12)
        assert np.allclose(dynamics.holding(q), closed_form(q, 0 * v)[1], rtol=1e-12, atol=1e-12)
        a, tau = np.array([0.7, -2.0]), np.array([3.0, -1.0])
        assert np.allclose(dynamics.inverse(q, v, a), mass @ a + bias, rtol=1e-11, atol=1e-11)
        assert np.allclose(dynamics.forward(q, v, tau), np.linalg.solve(mass, tau - bias), rtol=1e-11, atol=1e-11)
        assert dynamics.kinetic_energy(q, v) == pytest.approx(0.5 * v @ mass @ v, rel=1e-12)
        # Turns about y: the tip is at (Σ l cos φ, 0, −Σ l sin φ).
        first, both = q[0], q.sum()
        tip = [L1 * np.cos(first) + L2 * np.cos(both), 0, -L1 * np.sin(first) - L2 * np.sin(both)]
        assert np.allclose(dynamics.pose(q, "lower.tip")[:3], tip, atol=1e-13)
        jacobian = dynamics.jacobian(q, "lower.tip")
        by_second = np.array([-L2 * np.sin(both), 0, -L2 * np.cos(both)])
        by_first = by_second + [-L1 * np.sin(first), 0, -L1 * np.cos(first)]
        assert np.allclose(jacobian, np.column_stack([[0, 1, 0, *by_first], [0, 1, 0, *by_second]]), atol=1e-12)
        assert np.allclose(jacobian @ v, dynamics.velocity(q, v, "lower.tip"), atol=1e-11)


def test_many_states_at_once_are_the_same_as_one_by_one() -> None:
    dynamics = double_pendulum().dynamics()
    q, v = STATES[:, 0], STATES[:, 1]
    assert np.array_equal(dynamics.mass_matrix(q), [dynamics.mass_matrix(one) for one in q])
    assert np.array_equal(dynamics.forward(q, v), [dynamics.forward(a, b) for a, b in zip(q, v, strict=True)])
    # One state with many forces.
    tau = np.random.default_rng(4).normal(size=(5, 2))
    assert dynamics.forward(q[0], v[0], tau).shape == (5, 2)
    assert dynamics.potential_energy(q).shape == (6,) and dynamics.jacobian(q, "lower.tip").shape == (6, 6, 2)
    twin = pickle.loads(pickle.dumps(dynamics))
    assert np.array_equal(twin.bias(q, v), dynamics.bias(q, v))


def test_forces_are_those_under_which_a_run_accelerates() -> None:
    """Inverse dynamics with the accelerations of a run give the torque of its motor, and none elsewhere."""
    model = double_pendulum()
    for quantity in ("acceleration", "angular-acceleration"):
        model.sensor(quantity=quantity, of="upper")
    # This method solves for accelerations themselves; those of implicit ones are as good as Newton's iteration.
    stepper = model.stepper(step=1e-3, method="explicit8")
    stepper["motor"] = 1.3
    stepper.advance(0.4)
    q, v = stepper.coordinates(), stepper.coordinate_rates()
    dynamics = model.dynamics()
    dynamics.set_inputs({"motor": 1.3})
    a = dynamics.forward(q, v)
    assert a[0] == pytest.approx(stepper["upper.angular-acceleration.y"], rel=1e-9)
    assert np.allclose(dynamics.inverse(q, v, a), 0, atol=1e-10)
    dynamics.set_inputs({"motor": 0.0})
    assert np.allclose(dynamics.inverse(q, v, a), [0, 1.3], atol=1e-10)
    reactions = dynamics.reactions(q, v, a)
    assert dynamics.joints == ["shoulder", "elbow"] and reactions.shape == (2, 6)


def test_reactions_hold_what_hangs_below() -> None:
    dynamics = double_pendulum().dynamics()
    reactions = dynamics.reactions([0.4, 0.3], [0, 0], [0, 0])
    # A joint pushes its second body up by the weight of all beyond it.
    assert np.allclose(reactions[:, 3:], [[0, 0, (M1 + M2) * G], [0, 0, M2 * G]], atol=1e-10)


def test_a_pendulum_about_its_equilibrium_swings_as_its_modes_say() -> None:
    dynamics = double_pendulum().dynamics()
    down = np.array([np.pi / 2, 0])
    linear = dynamics.linear(down)
    assert np.abs(linear.offset).max() < 1e-12
    assert linear.states == ["shoulder.angle", "elbow.angle", "shoulder.angle-rate", "elbow.angle-rate"]
    assert linear.inputs == ["motor", "shoulder.angle.force", "elbow.angle.force"]
    mass, _ = closed_form(down, np.zeros(2))
    stiffness = G * np.array([[M1 * L1 / 2 + M2 * (L1 + L2 / 2), M2 * L2 / 2], [M2 * L2 / 2, M2 * L2 / 2]])
    assert np.allclose(linear.A[2:, :2], -np.linalg.solve(mass, stiffness), rtol=1e-8)
    assert np.allclose(linear.A[2:, 2:], -np.linalg.solve(mass, np.diag([0, 0.1])), rtol=1e-8, atol=1e-8)
    assert np.allclose(linear.B[2:, 1:], np.linalg.inv(mass), rtol=1e-11)
    assert np.allclose(linear.B[2:, 0], np.linalg.inv(mass)[:, 1], rtol=1e-9)


def test_outputs_of_the_linear_model_have_names_and_closed_forms() -> None:
    model = double_pendulum()
    model.sensor("tip", of="lower.tip", quantity="position")
    model.sensor("jolt", of="lower.tip", quantity="acceleration")
    dynamics, q = model.dynamics(), np.array([1.1, 0.4])
    linear = dynamics.linear(q, outputs=["elbow.angle", "elbow.angle-rate", "tip.position", "jolt.acceleration.z"])
    assert linear.outputs == ["elbow.angle", "elbow.angle-rate", *(f"tip.position.{axis}" for axis in "xyz"), "jolt.acceleration.z"]
    a, b = q[0], q.sum()
    # x = L1 cos a + L2 cos b and z = −L1 sin a − L2 sin b.
    by_angles = np.array([[-L1 * np.sin(a) - L2 * np.sin(b), -L2 * np.sin(b)], [-L1 * np.cos(a) - L2 * np.cos(b), -L2 * np.cos(b)]])
    assert np.allclose(linear.C[:2], [[0, 1, 0, 0], [0, 0, 0, 1]], atol=1e-9)
    assert np.allclose(linear.C[[2, 4]], np.hstack([by_angles, np.zeros((2, 2))]), atol=1e-9)
    assert np.allclose(linear.D[:5], 0, atol=1e-9)
    # At rest the acceleration of the tip follows those of the angles, and so do forces.
    assert np.allclose(linear.D[5], by_angles[1] @ linear.B[2:], rtol=1e-8, atol=1e-8)
    with pytest.raises(KeyError, match=r"no signal `tip.positon`; near are"):
        dynamics.linear(q, outputs=["tip.positon"])


def test_outputs_do_not_jump_where_an_angle_is_counted_anew() -> None:
    model = kreisel.Model("wheel").gravity(acceleration=[0, 0, 0])
    model.body("wheel", mass=1, inertia=[2, 2, 2])
    model.revolute("hinge", bodies=["ground", "wheel"], point=[0, 0, 0], axis=[0, 0, 1])
    assert np.allclose(model.dynamics().linear([np.pi], outputs=["hinge.angle"]).C, [[1, 0]], atol=1e-9)


def test_the_linear_model_about_the_equilibrium_has_the_eigenvalues_of_the_matrices_of_modes() -> None:
    model = double_pendulum()
    model.torsional_spring_damper("spring", joint="elbow", stiffness=3, damping=0.2)
    linear = model.dynamics().linear("static", outputs=["shoulder.angle"])
    assert np.abs(linear.offset).max() < 1e-8
    matrices = model.modes(about="static").matrices
    # Free motions: those that leave the joints as they are.
    _, sizes, rows = np.linalg.svd(matrices["gradient"])
    free = rows[np.count_nonzero(sizes > 1e-10 * sizes[0]):].T
    mass, damping, stiffness = (free.T @ matrices[name] @ free for name in ("mass", "damping", "stiffness"))
    n = len(mass)
    system = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(mass, stiffness), -np.linalg.solve(mass, damping)]])
    assert np.allclose(np.sort_complex(np.linalg.eigvals(linear.A)), np.sort_complex(np.linalg.eigvals(system)), rtol=1e-6, atol=1e-7)
    # A step of 1e-5 rad and the equilibrium, found to 1e-8 or better.
    moved = model.dynamics()
    moved.set_inputs({"motor": 1.0})
    with pytest.raises(kreisel.ArgumentError, match="inputs of the model"):
        moved.linear("static")
    with pytest.raises(kreisel.ArgumentError, match="static"):
        moved.linear("rest")


def driven_wheel(torque: str, **inputs: float) -> kreisel.Model:
    """A wheel of 2 kg m² about z without gravity, with a torque that follows from inputs."""
    model = kreisel.Model("wheel").gravity(acceleration=[0, 0, 0])
    for name, value in inputs.items():
        model.input(name, value=value)
    model.body("wheel", mass=1, inertia=[2, 2, 2])
    model.revolute("hinge", bodies=["ground", "wheel"], point=[0, 0, 0], axis=[0, 0, 1])
    model.joint_force(joint="hinge", torque=torque)
    return model


@pytest.mark.parametrize(
    ("torque", "value", "slope"),
    [
        ("u^3", 0.0, 0.0),
        ("u^3", 2.0, 12.0),
        ("sqrt(u)", 0.5, 0.5 / np.sqrt(0.5)),
        ("sin(u)", 0.3, np.cos(0.3)),
        ("1e-9*u^2", 4e6, 8e-3),
        ("10*hinge.angle + 3*u", 7.0, 3.0),
    ],
)
def test_columns_of_inputs_are_derivatives(torque: str, value: float, slope: float) -> None:
    dynamics = driven_wheel(torque, u=value).dynamics()
    linear = dynamics.linear([0.2])
    # Central differences: h² = 1e-10, and ε/h = 2e-11 of the torque.
    assert linear.B[1, 0] == pytest.approx(slope / 2, rel=1e-8, abs=1e-9)
    assert dynamics.inputs == {"u": value}


def test_a_spring_is_linear_wherever_it_has_turned_to() -> None:
    dynamics = driven_wheel("-10*hinge.angle").dynamics()
    for angle in (0.0, np.pi, 4.0, -30.0):
        assert dynamics.holding([angle])[0] == pytest.approx(10 * angle, abs=1e-9)
        # 2e-11 of a torque of 300 Nm.
        assert dynamics.linear([angle]).A[1, 0] == pytest.approx(-5, abs=1e-7)


def four_bar() -> kreisel.Model:
    """A parallelogram of massless-like rockers of 1 m on a base of 2 m, whose coupler of 3 kg stays level."""
    model = kreisel.Model("parallelogram")
    small = [1e-9, 1e-9, 1e-9]
    model.body("left", mass=1e-9, inertia=small, position=[0, 0, 0.5])
    model.body("right", mass=1e-9, inertia=small, position=[2, 0, 0.5])
    model.body("coupler", mass=3, inertia=[0.1, 0.2, 0.1], position=[1, 0, 1])
    for name, bodies, point in (("a", ["ground", "left"], [0, 0, 0]), ("b", ["ground", "right"], [2, 0, 0]),
                                ("c", ["left", "coupler"], [0, 0, 1]), ("d", ["right", "coupler"], [2, 0, 1])):
        model.revolute(name, bodies=bodies, point=point, axis=[0, 1, 0])
    return model


def floating() -> kreisel.Model:
    """A free body with an arm on a hinge, by three slides and three hinges with massless bodies."""
    model, axes, last = kreisel.Model("drone"), np.eye(3), "ground"
    for place, kind in enumerate(["prismatic"] * 3 + ["revolute"] * 3):
        body = "drone" if place == 5 else f"frame-{place}"
        if place < 5:
            model.body(body, massless=True, position=[0, 0, 0])
        point = {"point": [0, 0, 0]} if kind == "revolute" else {}
        getattr(model, kind)("xyzabc"[place], bodies=[last, body], axis=list(axes[place % 3]), **point)
        last = body
    model.body("drone", mass=2, inertia=[0.1, 0.2, 0.3], position=[0, 0, 0])
    return model


def test_a_free_body_by_slides_and_hinges_obeys_newton_and_euler() -> None:
    dynamics = floating().dynamics([*"xyzabc"])
    assert dynamics.coordinates == [*(f"{name}.displacement" for name in "xyz"), *(f"{name}.angle" for name in "abc")]
    inertia, random = np.diag([0.1, 0.2, 0.3]), np.random.default_rng(5)
    for _ in range(5):
        q, v = random.uniform(-1, 1, 6), random.uniform(-2, 2, 6)
        a = dynamics.forward(q, v)
        # Free fall of the centre, whatever the angles do.
        assert np.allclose(a[:3], [0, 0, -G], atol=1e-9)
        # α = J a + J̇ v, with differences along the motion: 1e-5 s squared, and rounding.
        h = 1e-5
        jacobian, ahead, behind = (dynamics.jacobian(q + t * v, "drone")[:3] for t in (0, h, -h))
        spin, alpha = jacobian @ v, jacobian @ a + (ahead - behind) @ v / (2 * h)
        w, *u = dynamics.pose(q, "drone")[3:]
        x, y, z = u
        turn = np.eye(3) + 2 * w * np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) + 2 * (np.outer(u, u) - np.dot(u, u) * np.eye(3))
        world = turn @ inertia @ turn.T
        assert np.allclose(world @ alpha + np.cross(spin, world @ spin), 0, atol=1e-7)
        assert dynamics.kinetic_energy(q, v) == pytest.approx(v[:3] @ v[:3] + 0.5 * spin @ world @ spin, rel=1e-12)


def test_what_hangs_on_a_free_body_moves_no_centre_of_mass() -> None:
    model = floating()
    model.body("arm", mass=0.5, inertia=[0.01, 0.02, 0.03], position=[0.3, 0, 0])
    model.revolute("elbow", bodies=["drone", "arm"], point=[0.1, 0, 0], axis=[0, 1, 1])
    dynamics, random = model.dynamics([*"xyzabc", "elbow"]), np.random.default_rng(6)
    q, v = random.uniform(-1, 1, 7), random.uniform(-1, 1, 7)
    tau = np.array([0, 0, 0, 0, 0, 0, 3.0])
    a = dynamics.forward(q, v, tau)

    # The momentum by differences along the motion.
    def momentum(t: float) -> np.ndarray:
        at, rate = q + t * v + t * t / 2 * a, v + t * a
        return 2 * dynamics.velocity(at, rate, "drone")[3:] + 0.5 * dynamics.velocity(at, rate, "arm")[3:]

    h = 1e-5
    assert np.allclose((momentum(h) - momentum(-h)) / (2 * h), [0, 0, -2.5 * G], atol=1e-6)
    assert np.allclose(dynamics.inverse(q, v, a), tau, atol=1e-9)


@pytest.mark.parametrize("angle", [0.0, 0.4, -1.1])
def test_loops_are_closed(angle: float) -> None:
    """The coupler moves on a circle of 1 m without turning: M = 3, and m g sin φ holds it."""
    dynamics = four_bar().dynamics()
    assert dynamics.coordinates == ["a.angle"]
    q, v = np.array([angle]), np.array([0.8])
    assert dynamics.mass_matrix(q)[0, 0] == pytest.approx(3, abs=1e-7)
    assert dynamics.inverse(q, v, [0.5])[0] == pytest.approx(3 * 0.5 - 3 * G * np.sin(angle), abs=1e-6)
    assert dynamics.forward(q, v)[0] == pytest.approx(G * np.sin(angle), abs=1e-6)
    assert np.allclose(dynamics.pose(q, "coupler")[:3], [1 + np.sin(angle), 0, np.cos(angle)], atol=1e-9)


def test_a_redundant_loop_is_held_and_keeps_its_rate() -> None:
    dynamics = four_bar().dynamics()
    for angle in (0.0, 0.4, -1.1):
        expected = -3 * G * np.sin(angle)
        assert dynamics.holding([angle])[0] == pytest.approx(expected, abs=1e-6)
        assert dynamics.bias([angle], [0.8])[0] == pytest.approx(expected, abs=1e-6)
        # Joints a and b carry the coupler between them, whatever their shares along the line through them.
        reactions = dynamics.reactions([angle], [0], [0])
        assert reactions[:2, 5].sum() == pytest.approx(3 * G, abs=1e-5)


def test_two_motors_on_one_motion_share_with_the_least_sum_of_squares() -> None:
    dynamics = four_bar().dynamics(["a", "b"])
    both = dynamics.inverse([0.4, 0.4], [0.8, 0.8], [0.5, 0.5])
    assert both.sum() == pytest.approx(3 * 0.5 - 3 * G * np.sin(0.4), abs=1e-5)
    with pytest.raises(kreisel.ArgumentError, match="inverse dynamics alone"):
        dynamics.mass_matrix([0.4, 0.4])
    with pytest.raises(kreisel.ArgumentError, match="cannot reach"):
        dynamics.inverse([0.4, 0.5], [0, 0], [0, 0])
    with pytest.raises(kreisel.ArgumentError, match="rates of the coordinates contradict"):
        dynamics.inverse([0.4, 0.4], [0.8, 0.1], [0, 0])
    with pytest.raises(kreisel.ArgumentError, match="accelerations of the coordinates contradict"):
        dynamics.inverse([0.4, 0.4], [0.8, 0.8], [0.5, 1])


def test_what_makes_no_sense_is_refused_with_words() -> None:
    model = double_pendulum()
    dynamics = model.dynamics()
    for wrong in ([1.0], np.zeros((2, 3)), np.zeros((0, 2)), np.zeros((1, 1, 2)), [float("nan"), 0]):
        with pytest.raises(kreisel.ArgumentError):
            dynamics.mass_matrix(wrong)
    with pytest.raises(kreisel.ArgumentError, match="do not fit together"):
        dynamics.forward(np.zeros((2, 2)), np.zeros((3, 2)))
    with pytest.raises(KeyError, match="toe"):
        dynamics.pose([0, 0], "toe")
    with pytest.raises(KeyError, match="motor"):
        dynamics.set_inputs({"moter": 1})
    with pytest.raises(kreisel.ArgumentError, match="there is `shoulder.angle`, `elbow.angle`"):
        model.dynamics(["wrist"])
    with pytest.raises(kreisel.ArgumentError, match="twice"):
        model.dynamics(["elbow", "elbow.angle"])
    with pytest.raises(kreisel.ArgumentError, match="1 more degrees of freedom"):
        model.dynamics(["elbow"])
    free = wheel()
    free.body("stone", mass=1, inertia=[1, 1, 1])
    with pytest.raises(kreisel.ArgumentError, match="6 more degrees of freedom"):
        free.dynamics()
    with pytest.raises(kreisel.ModelError):
        kreisel.Model("empty").dynamics()


def test_a_run_starts_at_coordinates_that_are_given() -> None:
    model = double_pendulum()
    result = model.simulate(end_time=0.01, step=1e-3, initial={"shoulder": 0.3, "elbow.angle-rate": 2})
    assert result["shoulder.angle"][0] == pytest.approx(0.3, abs=1e-14)
    assert result["elbow.angle-rate"][0] == pytest.approx(2, abs=1e-13) and abs(result["elbow.angle"][0]) < 1e-14
    stepper = model.stepper(step=1e-3, initial={"shoulder.angle": 0.3, "elbow": -0.2})
    assert np.allclose(stepper.coordinates(), [0.3, -0.2], atol=1e-14)
    assert np.allclose(pickle.loads(pickle.dumps(stepper)).coordinates(), [0.3, -0.2], atol=1e-14)
    # It replaces what the model says, and loops follow.
    drawn = four_bar()
    start = drawn.stepper(step=1e-3, initial={"a": 0.5})
    assert np.allclose(start.poses(["coupler"])[0][:3], [1 + np.sin(0.5), 0, np.cos(0.5)], atol=1e-9)
    for wrong in ({"wrist": 1.0}, {"shoulder": float("nan")}, {"shoulder.length": 1.0}, {"shoulder": "30 mm"}):
        with pytest.raises(kreisel.ModelError, match="initial"):
            model.simulate(end_time=0.01, initial=wrong)
    with pytest.raises(kreisel.ModelError, match="half a turn"):
        model.stepper(step=1e-3, initial={"shoulder": 4.0})
    no_numbers: list[Any] = [[0.3], None, {}, 10**400]
    for value in no_numbers:
        with pytest.raises(kreisel.ArgumentError, match="initial value of `shoulder`"):
            model.simulate(end_time=0.01, initial={"shoulder": value})
    assert model.stepper(step=1e-3, initial={"shoulder": "30 deg"}).coordinates()[0] == pytest.approx(np.radians(30), abs=1e-14)


def test_a_stepper_and_the_functions_agree_on_a_model_file(models: Path) -> None:
    model = kreisel.Model.read(models / "double-pendulum.toml")
    dynamics = model.dynamics()
    q = np.full(len(dynamics.coordinates), 0.2)
    assert np.isfinite(dynamics.forward(q, 0 * q)).all()
    mass = dynamics.mass_matrix(q)
    assert np.array_equal(mass, mass.T) and (np.linalg.eigvalsh(mass) > 0).all()
    assert pendulum().dynamics().mass_matrix([1.0])[0, 0] == pytest.approx(0.01 + 2 * 0.25, rel=1e-13)


BASE, ARM, ROD, PLATE, WIDE = 0.2, 0.3, 0.8, 0.06, 0.05
ARM_MASS, ROD_MASS, PLATE_MASS = 0.8, 0.2, 1.0


def delta_robot() -> kreisel.Model:
    """Three arms about tangents of the base, two parallel rods on each, which keep the plate level; arms are drawn level."""
    model = kreisel.Model("delta")
    depth = np.sqrt(ROD**2 - (BASE + ARM - PLATE) ** 2)
    thin = [1e-3, 1e-3, 1e-6]
    model.body("plate", mass=PLATE_MASS, inertia=[1e-3, 1e-3, 2e-3], position=[0, 0, -depth])
    for i in range(3):
        angle = 2 * np.pi * i / 3
        out, along = np.array([np.cos(angle), np.sin(angle), 0]), np.array([-np.sin(angle), np.cos(angle), 0])
        model.body(f"arm-{i}", mass=ARM_MASS, inertia=[6e-3] * 3, position=(BASE + ARM / 2) * out)
        model.revolute(f"motor-{i}", bodies=["ground", f"arm-{i}"], point=BASE * out, axis=along)
        for side, name in ((-1, "a"), (1, "b")):
            elbow, hand = (BASE + ARM) * out + side * WIDE * along, PLATE * out + side * WIDE * along - [0, 0, depth]
            rod = f"rod-{name}-{i}"
            axis = (elbow - hand) / ROD
            model.body(rod, mass=ROD_MASS, inertia=thin, position=(elbow + hand) / 2,
                       orientation={"z_axis": axis, "x_axis": np.cross(along, axis)})
            model.universal(f"elbow-{name}-{i}", bodies=[f"arm-{i}", rod], point=elbow,
                            first_axis=along, second_axis=np.cross(along, axis))
            model.spherical(f"hand-{name}-{i}", bodies=[rod, "plate"], point=hand)
    return model


def test_a_delta_robot_moves_as_its_closed_form_says() -> None:
    motors = [f"motor-{i}" for i in range(3)]
    dynamics = delta_robot().dynamics(motors)
    assert delta_robot().dynamics().coordinates[:1] == ["motor-0.angle"]
    for angle in (0.0, 0.35, -0.5):
        q = np.full(3, angle)
        # A turn about the tangent lifts or sinks what points outwards: x − sin for z by the right hand.
        reach = BASE + ARM * np.cos(angle) - PLATE
        height = -ARM * np.sin(angle) - np.sqrt(ROD**2 - reach**2)
        pose = dynamics.pose(q, "plate")
        assert np.allclose(pose, [0, 0, height, 1, 0, 0, 0], atol=1e-9)
        slope = -ARM * np.cos(angle) - reach * ARM * np.sin(angle) / np.sqrt(ROD**2 - reach**2)
        jacobian = dynamics.jacobian(q, "plate")
        assert jacobian[5].sum() == pytest.approx(slope, rel=1e-9) and np.abs(jacobian[:3]).max() < 1e-9
        # Virtual work: rods sink by the mean of their ends.
        arms, elbow = -ARM_MASS * G * ARM / 2 * np.cos(angle), -ARM * np.cos(angle)
        holding = arms + G * (2 * ROD_MASS * (elbow + slope) / 2 + PLATE_MASS * slope / 3)
        assert np.allclose(dynamics.holding(q), holding, rtol=1e-9)


def test_a_delta_robot_keeps_the_laws_at_crooked_states() -> None:
    dynamics = delta_robot().dynamics([f"motor-{i}" for i in range(3)])
    q, v, a = np.array([0.3, -0.2, 0.1]), np.array([1.0, -0.5, 2.0]), np.array([3.0, 1.0, -2.0])
    mass = dynamics.mass_matrix(q)
    assert dynamics.kinetic_energy(q, v) == pytest.approx(0.5 * v @ mass @ v, rel=1e-9)
    tau = dynamics.inverse(q, v, a)
    assert np.allclose(tau, mass @ a + dynamics.bias(q, v), rtol=1e-8)
    assert np.allclose(dynamics.forward(q, v, tau), a, rtol=1e-8)
    # Power: τ v is the growth of energy along the motion.
    step = 1e-5
    ends = [(q + s * step * v + 0.5 * step**2 * a, v + s * step * a) for s in (1, -1)]
    energies = [dynamics.kinetic_energy(x, y) + dynamics.potential_energy(x) for x, y in ends]
    assert (energies[0] - energies[1]) / (2 * step) == pytest.approx(tau @ v, rel=1e-6)
    # The hands meet where three spheres do: not if the elbows lie on a circle that is larger than they are.
    far = [1.3, 2.7, -0.5]
    around = [2 * np.pi * i / 3 for i in range(3)]
    out = [BASE - PLATE + ARM * np.cos(angle) for angle in far]
    elbows = [np.array([r * np.cos(a), r * np.sin(a), -ARM * np.sin(angle)]) for r, a, angle in zip(out, around, far)]
    sides = [elbows[i] - elbows[i - 1] for i in range(3)]
    lengths = [np.linalg.norm(side) for side in sides]
    assert np.prod(lengths) / (2 * np.linalg.norm(np.cross(sides[0], sides[1]))) > 2 * ROD
    with pytest.raises(kreisel.ArgumentError, match="cannot reach"):
        dynamics.mass_matrix(far)


def test_wanted_points_and_poses_are_reached() -> None:
    dynamics = double_pendulum().dynamics()
    goal = [0.5, 0, -0.6]
    q = dynamics.reach({"lower.tip": goal}, [0.1, 0.1])
    assert np.allclose(dynamics.pose(q, "lower.tip")[:3], goal, atol=1e-9)
    # The law of cosines gives the elbow, up to its sign.
    elbow = np.arccos((0.25 + 0.36 - L1**2 - L2**2) / (2 * L1 * L2))
    assert abs(q[1]) == pytest.approx(elbow, abs=1e-8)
    for bounds in ((0.0, 3.0), (-3.0, 0.0)):
        start = [0.0, 0.5 * sum(bounds)]
        bent = dynamics.reach({"lower.tip": goal}, start, limits={"elbow": bounds})
        assert bounds[0] <= bent[1] <= bounds[1] and abs(bent[1]) == pytest.approx(elbow, abs=1e-8)
    wanted = np.array([0.4, -0.9])
    pose = dynamics.pose(wanted, "lower.tip")
    assert np.allclose(dynamics.reach({"lower.tip": pose}, [0, 0]), wanted, atol=1e-7)
    with pytest.raises(kreisel.ArgumentError, match="0.2 m or rad are left"):
        dynamics.reach({"lower.tip": [1.2, 0, 0]}, [0.3, 0.3])
    with pytest.raises(kreisel.ArgumentError, match="at their limits"):
        dynamics.reach({"lower.tip": goal}, [0, 0], limits={"elbow": (-0.1, 0.1)})
    for wrong in ({}, {"lower.tip": [1, 2]}, {"lower.tip": [0, 0, 0, 1, 1, 0, 0]}):
        with pytest.raises(kreisel.ArgumentError):
            dynamics.reach(wrong, [0, 0])
    with pytest.raises(kreisel.ArgumentError, match="within the limits"):
        dynamics.reach({"lower.tip": goal}, [0, 1], limits={"elbow": (-0.1, 0.1)})
    with pytest.raises(KeyError, match="wrist"):
        dynamics.reach({"lower.tip": goal}, [0, 0], limits={"wrist": (0, 1)})


def test_the_plate_of_a_delta_robot_is_put_somewhere() -> None:
    dynamics = delta_robot().dynamics([f"motor-{i}" for i in range(3)])
    goal = [0.1, -0.05, -0.75]
    q = dynamics.reach({"plate": goal}, [0, 0, 0])
    assert np.allclose(dynamics.pose(q, "plate")[:3], goal, atol=1e-9)
    # The rods have their length: elbow and hand of each arm.
    for i, angle in enumerate(q):
        out = np.array([np.cos(2 * np.pi * i / 3), np.sin(2 * np.pi * i / 3), 0])
        elbow = (BASE + ARM * np.cos(angle)) * out - [0, 0, ARM * np.sin(angle)]
        assert np.linalg.norm(elbow - goal - PLATE * out) == pytest.approx(ROD, abs=1e-9)


def test_exceptions_of_functions_come_out_of_every_question() -> None:
    """And one of them ends the question for all states."""
    model, calls = driven_wheel("table"), []

    def table(angle: float) -> float:
        calls.append(angle)
        if abs(angle) > 5:
            raise LookupError("the table ends at 5 rad")
        return 2 * angle

    model.function("table", table, arguments=["hinge.angle"])
    dynamics = model.dynamics()
    assert dynamics.forward([3.0], [0.0])[0] == pytest.approx(3.0)
    with pytest.raises(LookupError, match="ends at 5"):
        dynamics.forward([6.0], [0.0])
    # Nothing of it is left.
    assert dynamics.forward([-4.0], [0.0])[0] == pytest.approx(-4.0)
    calls.clear()
    with pytest.raises(LookupError, match="ends at 5"):
        dynamics.holding(np.full((20000, 1), 6.0))
    assert len(calls) < 10000


def test_many_states_can_be_interrupted() -> None:
    dynamics = delta_robot().dynamics([f"motor-{i}" for i in range(3)])
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        dynamics.holding(np.tile([0.3, -0.2, 0.1], (200_000, 1)))
    timer.join()
    assert time.monotonic() - began < 20
    assert dynamics.holding([0.0, 0.0, 0.0]).shape == (3,)


def test_a_start_without_a_jacobian_leads_to_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    dynamics, start = double_pendulum().dynamics(), [0.1, 0.1]
    jacobian = dynamics.jacobian

    def singular_at_start(q: np.ndarray, frame: str) -> np.ndarray:
        if np.array_equal(q, start):
            raise kreisel.ArgumentError("a dead centre")
        return jacobian(q, frame)

    monkeypatch.setattr(dynamics, "jacobian", singular_at_start)
    goal = [0.5, 0, -0.6]
    q = dynamics.reach({"lower.tip": goal}, start)
    assert np.allclose(dynamics.pose(q, "lower.tip")[:3], goal, atol=1e-9)
