"""What the peers' scripts for work against precision share: machines and references, the ladder of finer and finer
runs, and the lines in which they answer."""
import argparse
import json
import pathlib

import numpy as np

# Runs shorter than this, in s, are made several times, and the least time counts.
SHORT, REPETITIONS = 0.05, 5
# No run that would take longer than this, in s, is begun.
LONG = 6.0


def request():
    """What was asked for: machines by name, and errors from large to small."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--errors", default="1e-3,1e-5", help="errors to reach, with commas")
    parser.add_argument("machines", nargs="*", help="names of machines (all if none is named)")
    return parser.parse_args()


def references():
    return json.loads(pathlib.Path(__file__).with_name("precision_reference.json").read_text())


def matrices(quaternions):
    """Rotation matrices of quaternions w, x, y, z."""
    w, x, y, z = np.asarray(quaternions).T
    return np.moveaxis(np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]), 2, 0)


def error_of(positions, rotations, exact_positions, exact_rotations, size):
    """Largest distance of a body from where it should be, in sizes and in rad."""
    ways = np.linalg.norm(np.asarray(positions) - exact_positions, axis=1) / size
    # |R - R'| is 2 sqrt(2) sin(angle / 2) in the norm of all entries.
    turns = np.linalg.norm(np.asarray(rotations) - exact_rotations, axis=(1, 2)) / np.sqrt(8)
    return max(ways.max(), (2 * np.arcsin(np.minimum(turns, 1))).max())


def error_at_end(reference, end):
    """Error of what a run came to: positions and rotations, or the energy."""
    if "energy" in reference:
        return abs(end / reference["energy"] - 1)
    exact = np.array(reference["poses"])
    return error_of(*end, exact[:, 4:], matrices(exact[:, :4]), reference["size"])


def ladder(machine, program, errors, settings, run):
    """Runs with finer and finer settings until the smallest error is met three times or runs take too long.

    `run(setting)` gives the CPU seconds and the error, or None where it fails.
    """
    smallest, met, before = min(map(float, errors.split(","))), 0, []
    for setting in settings:
        found = run(setting)
        if found is None or not np.isfinite(found[1]):
            continue
        seconds, error = found
        for _ in range(REPETITIONS - 1):
            if seconds > SHORT:
                break
            seconds = min(seconds, run(setting)[0])
        print(machine, program, f"{seconds:.6e}", f"{error:.6e}", sep="\t", flush=True)
        met = met + 1 if error < smallest else 0
        growth = seconds / before[-1] if before else 2
        if met == 3 or seconds * max(growth, 1) > LONG:
            return
        before.append(seconds)


def powers_of_two(first, most=2**24):
    while first <= most:
        yield first
        first *= 2


def cannot(machine, program, why):
    """States what a program cannot do instead of leaving its row out."""
    print(machine, program, "cannot", why, sep="\t", flush=True)
