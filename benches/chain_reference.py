"""Tips of the benchmark chains by a method of high order in joint angles; writes chain_reference.json.

Needs nothing but NumPy and SciPy and shares no idea with the programs that are compared: the chain moves in the plane
of its first position and gravity, so N angles describe it. Accelerations follow from the balance of forces and
moments of every link with the forces in the joints as unknowns (a sparse linear system), the motion from DOP853 with
tolerances of 1e-11. A chain of ball joints falls in a plane that is tilted about the x axis by 0.3 rad.
"""
import json
import pathlib

import numpy as np
from scipy.integrate import solve_ivp
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import splu

LENGTH, WIDTH, MASS, GRAVITY, TILT = 0.1, 0.05, 1.0, 9.81, 0.3
CASES = [(10, 1.0), (100, 1.0), (1000, 0.1), (4000, 0.02)]


def angular_accelerations(angles, rates):
    """Unknowns of link i: acceleration of its centre (2), angular acceleration, force in the joint before it (2)."""
    count = len(angles)
    inertia = MASS * (WIDTH**2 + LENGTH**2) / 12
    half = 0.5 * LENGTH * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    across = np.stack([-half[:, 1], half[:, 0]], axis=1)
    rows, columns, values = [], [], []
    right = np.zeros(5 * count)
    first = 5 * np.arange(count)

    def put(row, column, value, keep=slice(None)):
        rows.append(row[keep])
        columns.append(column[keep])
        values.append(np.broadcast_to(value, row.shape)[keep])

    later, earlier = slice(1, None), slice(None, -1)
    for axis in range(2):
        gravity = -GRAVITY if axis == 1 else 0.0
        # m a = m g + f_i - f_{i+1}
        put(first + axis, first + axis, MASS)
        put(first + axis, first + 3 + axis, -1.0)
        put(first + axis, first + 8 + axis, 1.0, earlier)
        right[first + axis] = MASS * gravity
        # Joint i: a_i - across_i alpha_i + half_i w_i^2 equals the same at the end of link i - 1, or rest.
        put(first + 3 + axis, first + axis, 1.0)
        put(first + 3 + axis, first + 2, -across[:, axis])
        right[first + 3 + axis] -= half[:, axis] * rates**2
        put(first + 3 + axis, first - 5 + axis, -1.0, later)
        rows.append(first[1:] + 3 + axis)
        columns.append(first[1:] - 3)
        values.append(-across[:-1, axis])
        right[first[1:] + 3 + axis] -= half[:-1, axis] * rates[:-1] ** 2
    # J alpha = (-half_i) x f_i + half_i x (-f_{i+1})
    put(first + 2, first + 2, inertia)
    for axis, arm in ((0, -half[:, 1]), (1, half[:, 0])):
        put(first + 2, first + 3 + axis, arm)
        put(first + 2, first + 8 + axis, arm, earlier)
    rows, columns, values = (np.concatenate(parts) for parts in (rows, columns, values))
    matrix = coo_matrix((values, (rows, columns)), shape=(5 * count, 5 * count)).tocsc()
    return splu(matrix, permc_spec="NATURAL").solve(right)[2::5]


def tip(count, end_time):
    def rates(_, state):
        angles, speeds = state[:count], state[count:]
        return np.concatenate([speeds, angular_accelerations(angles, speeds)])

    run = solve_ivp(rates, (0, end_time), np.zeros(2 * count), method="DOP853", rtol=1e-11, atol=1e-12)
    angles = run.y[:count, -1]
    return LENGTH * np.cos(angles).sum(), LENGTH * np.sin(angles).sum()


def main():
    found = {}
    for count, end_time in CASES:
        x, y = tip(count, end_time)
        found[f"revolute-{count}"] = [x, y, 0.0]
        found[f"spherical-{count}"] = [x, y * np.cos(TILT), y * np.sin(TILT)]
    path = pathlib.Path(__file__).with_name("chain_reference.json")
    path.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
