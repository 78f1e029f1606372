"""Forces written in Python, inside Newton's iteration."""

from __future__ import annotations

import pickle

import kreisel
import numpy as np
import pytest


def oscillator(force: str) -> kreisel.Model:
    """A mass on a stiffening spring, pulled back by a force along x."""
    model = kreisel.Model("oscillator")
    model.gravity(acceleration=[0, 0, 0])
    model.point_mass("mass", mass=2, position=[1, 0, 0])
    model.force("spring", body="mass", force=[force, 0, 0])
    return model


def stiffening(x: float, v: float) -> float:
    return -50 * x - 20 * x**3 - 0.3 * v


def stiffening_slopes(x: float, v: float) -> list[float]:
    return [-50 - 60 * x**2, -0.3]


ARGUMENTS = ["mass.position.x", "mass.velocity.x"]
EXPRESSION = "-50*mass.position.x - 20*mass.position.x^3 - 0.3*mass.velocity.x"


@pytest.mark.parametrize("slopes", [None, stiffening_slopes])
def test_a_force_in_python_moves_a_mass_as_the_expression_does(slopes) -> None:  # type: ignore[no-untyped-def]
    model = kreisel.Model("oscillator")
    model.gravity(acceleration=[0, 0, 0])
    model.point_mass("mass", mass=2, position=[1, 0, 0])
    model.function("pull", stiffening, arguments=ARGUMENTS, slopes=slopes)
    model.force("spring", body="mass", force=["pull", 0, 0])
    result = model.simulate(end_time=1, step=1e-3)
    expected = oscillator(EXPRESSION).simulate(end_time=1, step=1e-3)
    # Newton ends at 1e-10; the derivatives decide on its way only.
    assert np.abs(result["mass.position.x"] - expected["mass.position.x"]).max() < 1e-8
    if slopes is None:
        # Differences are as good as derivatives: the same number of iterations, but for a few.
        counts = [run.statistics["newton-iterations"] for run in (result, expected)]
        assert abs(counts[0] - counts[1]) <= 0.02 * counts[1]


def test_a_function_stands_in_expressions_beside_time_and_inputs() -> None:
    model = kreisel.Model("cart")
    model.gravity(acceleration=[0, 0, 0])
    model.point_mass("cart", mass=1)
    model.input("gain", value=2)
    model.function("wave", lambda t, gain: gain * t, arguments=["t", "gain"])
    model.force("push", body="cart", force=["3*wave + gain - 2", 0, 0])
    model.sensor(quantity="velocity", of="cart")
    result = model.simulate(end_time=1, step=1e-3)
    # ẍ = 6 t
    assert result["cart.velocity.x"][-1] == pytest.approx(3.0, abs=1e-9)


def with_function(function) -> kreisel.Model:  # type: ignore[no-untyped-def]
    model = kreisel.Model("ball")
    model.point_mass("ball", mass=1)
    model.function("push", function, arguments=["t"])
    model.force("f", body="ball", force=["push", 0, 0])
    return model


def test_an_exception_in_a_function_ends_the_run_and_is_raised() -> None:
    def fail(t: float) -> float:
        if t > 0.05:
            raise RuntimeError("no wind any more")
        return 1.0

    with pytest.raises(RuntimeError, match="no wind"):
        with_function(fail).simulate(end_time=1, step=1e-2)
    with pytest.raises(RuntimeError, match="no wind"):
        with_function(fail).stepper(step=1e-2).advance(1.0)


@pytest.mark.parametrize("wrong", [lambda t: "much", lambda t: None, lambda: 1.0, lambda t: [1.0, 2.0]])
def test_a_function_that_gives_no_number_is_a_type_error(wrong) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(TypeError):
        with_function(wrong).simulate(end_time=0.1)


def test_a_function_that_gives_nan_fails_the_step() -> None:
    with pytest.raises((kreisel.StartError, kreisel.StepError)):
        with_function(lambda t: float("nan")).simulate(end_time=0.1)


def test_slopes_of_the_wrong_length_are_refused() -> None:
    model = kreisel.Model("ball")
    model.point_mass("ball", mass=1)
    model.function("push", lambda x: -x, arguments=["ball.position.x"], slopes=lambda x: [1.0, 2.0])
    model.force("f", body="ball", force=["push", 0, 0])
    with pytest.raises(kreisel.ArgumentError, match="1 numbers"):
        model.simulate(end_time=0.1)


def test_wrong_arguments_are_model_errors() -> None:
    for arguments in (["ball.positon.x"], ["ball.acceleration.x"], []):
        model = kreisel.Model("ball")
        model.point_mass("ball", mass=1)
        model.function("push", lambda *_: 0.0, arguments=arguments)
        model.force("f", body="ball", force=["push", 0, 0])
        if arguments:
            with pytest.raises(kreisel.ModelError):
                model.check()
        else:
            model.check()
    with pytest.raises(kreisel.ArgumentError):
        kreisel.Model().function("f", 3, arguments=[])  # type: ignore[arg-type]


def test_a_file_with_a_function_of_python_says_who_must_give_it() -> None:
    text = with_function(lambda t: 0.0).to_toml()
    with pytest.raises(kreisel.ModelError, match="given by the program"):
        kreisel.Model.from_text(text).check()


def module_level(t: float) -> float:
    return t


def test_models_with_functions_of_modules_pickle() -> None:
    model = with_function(module_level)
    twin = pickle.loads(pickle.dumps(model))
    assert np.array_equal(
        model.simulate(end_time=0.1)["ball.position.x"], twin.simulate(end_time=0.1)["ball.position.x"]
    )
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(with_function(lambda t: t))


def test_a_state_whose_rate_is_written_in_python_decays_as_it_must() -> None:
    model = kreisel.Model("cooling")
    model.point_mass("ball", mass=1, fixed=True)
    model.input("air", value=0.25)
    model.function("cool", lambda heat, air: -2 * (heat - air), arguments=["heat.value", "air"])
    model.state("heat", initial=1, rate="cool")
    result = model.simulate(end_time=1, step=1e-2)
    # ċ = −2 (c − u); the method is of second order, and 2 h = 0.02.
    exact = 0.25 + 0.75 * np.exp(-2 * result.time)
    assert np.abs(result["heat.value"] - exact).max() < 1e-4


def test_one_argument_may_be_given_without_a_list() -> None:
    ends = []
    for arguments in ("mass.position.x", ["mass.position.x"]):
        model = oscillator("pull").function("pull", lambda x: -50 * x, arguments=arguments)
        ends.append(model.simulate(end_time=0.1, step=1e-3)["mass.position.x"][-1])
    assert ends[0] == ends[1]
