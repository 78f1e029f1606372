"""The command that comes with the package."""

import subprocess
import sys
from pathlib import Path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the command as a process of its own."""
    return subprocess.run([sys.executable, "-m", "kreisel", *arguments], cwd=folder, capture_output=True, text=True)


def test_the_command_runs_a_model(tmp_path: Path) -> None:
    assert run(tmp_path, "new", "swing").returncode == 0
    done = run(tmp_path, "run", "swing.toml", "--end-time", "100 ms")
    assert done.returncode == 0, done.stderr
    assert "verdict" in done.stdout
    assert (tmp_path / "results/swing/report.html").is_file()


def test_exit_codes_are_those_of_the_command(tmp_path: Path) -> None:
    missing = run(tmp_path, "run", "nothing.toml")
    assert missing.returncode == 2
    assert "there is no file" in missing.stderr
    assert run(tmp_path, "--version").stdout.startswith("kreisel ")
