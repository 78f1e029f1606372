"""Reads the files of tests/doors/results_vtkhdf.rs with VTK, h5py and NumPy and compares them with the closed form.

usage: read_back.py TRAJECTORY.vtkhdf TRAJECTORY.csv STEPS        needs the packages h5py, numpy, vtk
"""

import sys

import h5py
import numpy as np
import vtk
from vtk.util.numpy_support import vtk_to_numpy

NAMES = ["crank", "rod", "beam.at-0", "beam.at-0.5", "Träger-1"]
UNITS = {
    "time": "s",
    "crank.angle": "rad",
    "crank.torque.z": "N m",
    "energy.total": "J",
    "crank.mass": "kg",
    "brake": "1",
}
RATE = 2.0
CORNERS = 2 + 8  # ends of the beam, and corners of the cube on the first node
# Both sides round sines and cosines of numbers up to 1100 to the last digit; speeds are twice as large.
TOLERANCE = 4 * np.finfo(float).eps
# What is drawn has single precision.
DRAWN = np.finfo(np.float32).eps
MIN_FRAMES = 1000


def expected_signals(time):
    return {
        "time": time,
        "crank.angle": RATE * time,
        "crank.torque.z": np.sin(3.0 * time),
        "energy.total": 1e-300 * (1.0 + time),
        "crank.mass": 7.5 + 0.0 * time,
        "brake": np.where(time < 1500 / 128.0, 1.0, 3.5),
    }


def expected_nodes(time):
    k = np.arange(len(NAMES), dtype=float)
    angle = RATE * time + k
    sin, cos, zero = np.sin(angle), np.cos(angle), 0.0 * k
    return {
        "position": np.column_stack([cos, sin, k]),
        "rotation": np.column_stack([np.cos(angle / 2), zero, zero, np.sin(angle / 2)]),
        "velocity": np.column_stack([-RATE * sin, RATE * cos, zero]),
        "angular-velocity": np.column_stack([zero, zero, zero + RATE]),
    }


def close(name, got, expected, tolerance=TOLERANCE):
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance, err_msg=name)


def frames(steps):
    """The output times that are drawn: one of so many that at least a thousand are, and the last."""
    stride = 1
    while (steps - 1) // stride >= 2 * MIN_FRAMES - 1:
        stride *= 2
    return sorted({*range(0, steps, stride), steps - 1})


def check_signal(name, got, expected):
    # The energy is of the order 1e-300 to show that no digits are lost on small numbers.
    absolute = 0.0 if name == "energy.total" else TOLERANCE
    np.testing.assert_allclose(got, expected, rtol=TOLERANCE, atol=absolute, err_msg=name)


def check_csv(path, steps):
    with open(path, encoding="utf-8") as file:
        heads = file.readline().rstrip("\n").split(",")
    assert heads[: len(UNITS)] == [f"{name} [{unit}]" for name, unit in UNITS.items()], heads
    columns = np.loadtxt(path, delimiter=",", skiprows=1, unpack=True, ndmin=2)
    for column, (name, values) in zip(columns, expected_signals(np.arange(steps) / 128.0).items()):
        check_signal(name, column, values)
    nan, inf, minus_inf = columns[len(UNITS) :]
    assert np.isnan(nan).all() and (inf == np.inf).all() and (minus_inf == -np.inf).all()


def check_h5py(path, steps):
    with h5py.File(path, "r") as file:
        assert set(file["signals"]) == set(UNITS), list(file["signals"])
        time = np.arange(steps) / 128.0
        for name, values in expected_signals(time).items():
            dataset = file["signals"][name]
            assert dataset.attrs["unit"] == UNITS[name], (name, dataset.attrs["unit"])
            assert dataset.shape == (steps,)
            check_signal(name, dataset[:], values)
        assert list(file["nodes/name"].asstr()) == NAMES
        assert file.attrs["program"] == "kreisel"
        assert file.attrs["format-version"] == 3
        assert file["VTKHDF/Points"].dtype == np.float32
        assert file["VTKHDF/Points"].attrs["unit"] == "m"
        close("times drawn", file["VTKHDF/Steps/Values"][:], time[frames(steps)])
        for name, values in expected_nodes(time[-1]).items():
            assert file["nodes"][name].shape[0] == steps * len(NAMES)
            close(name, file["nodes"][name][-len(NAMES):], values)


def check_vtk(path, steps):
    reader = vtk.vtkHDFReader()
    assert reader.CanReadFile(path), "vtkHDFReader refuses the file"
    reader.SetFileName(path)
    reader.UpdateInformation()
    drawn = frames(steps)
    assert reader.GetNumberOfSteps() == len(drawn), reader.GetNumberOfSteps()
    times = [step / 128.0 for step in drawn]
    if steps > 1:  # VTK announces no time axis for a single step
        information, key = reader.GetOutputInformation(0), vtk.vtkStreamingDemandDrivenPipeline.TIME_STEPS()
        assert [information.Get(key, step) for step in range(information.Length(key))] == times
    for frame in sorted({0, len(drawn) // 3, len(drawn) // 2, len(drawn) - 1}):
        reader.UpdateTimeStep(times[frame])
        check_step(reader.GetOutput(), times[frame])


def check_step(data, time):
    assert isinstance(data, vtk.vtkPolyData), data.GetClassName()
    assert data.GetNumberOfPoints() == len(NAMES) + CORNERS
    assert (data.GetNumberOfVerts(), data.GetNumberOfLines(), data.GetNumberOfPolys()) == (3, 1, 12)
    line = vtk_to_numpy(data.GetLines().GetConnectivityArray())
    assert list(line) == [5, 6], line
    expected = expected_nodes(time)
    points = vtk_to_numpy(data.GetPoints().GetData())
    velocities = vtk_to_numpy(data.GetPointData().GetArray("velocity"))
    close("position", points[: len(NAMES)], expected["position"], DRAWN)
    close("velocity", velocities[: len(NAMES)], expected["velocity"], DRAWN)
    close("beam", points[len(NAMES) : len(NAMES) + 2], expected["position"][2:4], DRAWN)
    strain = vtk_to_numpy(data.GetPointData().GetArray("strain"))
    np.testing.assert_allclose(strain[len(NAMES) : len(NAMES) + 2], [[0, 0, 0.5, 0, 0.5, 0.5]] * 2, atol=DRAWN)
    assert data.GetPointData().GetArray("section-force").GetNumberOfComponents() == 6
    cube = points[len(NAMES) + 2 :]
    # The cube's centre circles with the node; its corners are half a diagonal away.
    close("centre", cube.mean(axis=0), expected["position"][0], DRAWN)
    close("diagonal", np.linalg.norm(cube - expected["position"][0], axis=1), np.full(8, 0.2 * np.sqrt(3)), DRAWN)
    assert list(vtk_to_numpy(data.GetPointData().GetArray("id"))) == [*range(len(NAMES)), 2, 3] + [0] * 8
    for name, value in expected_signals(time).items():
        if name != "time":
            close(name, vtk_to_numpy(data.GetFieldData().GetArray(name)), [value])


def check_picture(path, steps):
    """Draws the file off-screen at two times: the cube is seen, and it moves."""
    reader = vtk.vtkHDFReader()
    reader.SetFileName(path)
    mapper = vtk.vtkPolyDataMapper()
    mapper.SetInputConnection(reader.GetOutputPort())
    mapper.ScalarVisibilityOff()
    actor = vtk.vtkActor()
    actor.SetMapper(mapper)
    actor.GetProperty().SetColor(1.0, 0.5, 0.0)
    renderer = vtk.vtkRenderer()
    renderer.AddActor(actor)
    renderer.SetBackground(1.0, 1.0, 1.0)
    renderer.GetActiveCamera().SetPosition(0.0, 0.0, 20.0)
    window = vtk.vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetSize(200, 200)
    window.AddRenderer(renderer)
    pictures = []
    drawn = frames(steps)
    for step in (0, drawn[min(len(drawn) - 1, 100)]):
        reader.UpdateTimeStep(step / 128.0)
        window.Render()
        grab = vtk.vtkWindowToImageFilter()
        grab.SetInput(window)
        grab.ReadFrontBufferOff()
        grab.Update()
        pictures.append(vtk_to_numpy(grab.GetOutput().GetPointData().GetScalars()).copy())
    drawn = [(picture[:, 2] < 128).sum() for picture in pictures]
    assert min(drawn) > 50, drawn
    assert steps == 1 or (pictures[0] != pictures[1]).any(), "the picture does not move"


def main():
    path, table, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
    check_csv(table, steps)
    check_h5py(path, steps)
    check_vtk(path, steps)
    check_picture(path, steps)
    print(f"{steps} steps read by VTK {vtk.vtkVersion.GetVTKVersion()}, h5py {h5py.__version__}, NumPy {np.__version__}")


main()
