"""What all peers' scripts share: what is asked for, and the lines in which they answer."""
import argparse


def request():
    """What was asked for: `runs`, and the benchmarks (all if none is named)."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5, help="repetitions, one line each")
    parser.add_argument("benchmarks", nargs="*", help="names of benchmarks")
    return parser.parse_args()


def report(benchmark, program, seconds, steps, error):
    print(benchmark, program, f"{1e6 * seconds / steps:.6f}", f"{error:.6e}", sep="\t", flush=True)


def cannot(benchmark, program, why):
    """States what a program cannot do instead of leaving its row out."""
    print(benchmark, program, "cannot", why, sep="\t", flush=True)
