"""The parts of a model as methods: written by `cargo xtask refresh` from the library's own tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat

from numpy.typing import NDArray

if TYPE_CHECKING:
    from ._model import Model

Number = SupportsFloat | str
"""A number in base units, or a text: an expression of parameters, perhaps with a unit."""
Numbers = Sequence[Number] | NDArray[Any]
"""Several numbers."""
Rows = Sequence[Numbers] | NDArray[Any]
"""Rows of numbers."""
Table = Mapping[str, Any]
"""A table in braces; underscores in its keys stand for dashes."""
Law = Number | Table
"""A function of time: a number, an expression of `t`, or a table of points or speeds."""


class Parts:
    """One method for each kind of part, one argument for each key."""

    def _add(self, kind: str, once: bool, entries: Mapping[str, Any]) -> Model:
        raise NotImplementedError

    def simulation(
        self,
        *,
        start_time: Number | None = None,
        end_time: Number | None = None,
        step: Number | None = None,
        accuracy: Number | None = None,
        rtol: Number | None = None,
        atol: Number | None = None,
        accuracy_of: Literal["positions", "velocities", "reactions", "all"] | None = None,
        min_step: Number | None = None,
        max_step: Number | None = None,
        initial_step: Number | None = None,
        output_step: Number | None = None,
        method: Literal["index2", "index3", "soi2", "hht-i3", "hht-soi2", "updated-lagrangian", "bdf2", "bdf3", "explicit8", "extrapolated", "symplectic", "auto"] | None = None,
        past_mass: Literal["kept", "renewed"] | None = None,
        parametrization: Literal["rotation-vector", "crv"] | None = None,
        form: Literal["two-field", "three-field"] | None = None,
        scaling: Literal["left-right-velocities", "left-right", "left", "unscaled"] | None = None,
        columns: Literal["three", "two"] | None = None,
        spectral_radius: Number | None = None,
        hht_alpha: Number | None = None,
        alpha_parameters: Numbers | None = None,
        starting_values: Literal["order-preserving", "improved-acceleration", "implicit", "trivial"] | None = None,
        predictor: Literal["adaptive", "linear", "constant", "zero"] | None = None,
        iteration_matrix: Literal["mixed", "exact", "simplified"] | None = None,
        matrix_renewal: Literal["when-cheaper", "when-slow", "every-step", "every-iteration"] | None = None,
        line_search: bool | None = None,
        newton_stop: Literal["estimated-error", "small-increment", "small-residual"] | None = None,
        residual_tolerances: Numbers | None = None,
        velocity_projection: Numbers | None = None,
        newton_rtol: Number | None = None,
        newton_atol: Number | None = None,
        mass_scale: Number | None = None,
        stiffness_scale: Number | None = None,
        group: Literal["se3", "so3xr3"] | None = None,
        planar: Literal["xy", "xz", "yz"] | None = None,
        off_at_start: Sequence[str] | None = None,
        default_sensors: bool | None = None,
        start: Literal["given", "static"] | None = None,
        error_estimate: bool | None = None,
    ) -> Model:
        """How the machine is run; flags of the command line override it.

        - `start_time` [s]: Time at which the run starts. Default: `0`.
        - `end_time` [s]: Time at which the run ends.
        - `step` [s]: Step size, or `auto`, as if not given, to let the error decide on it: that of the whole run (`accuracy`), or of each step (`rtol`).
        - `accuracy`: Error of positions (relative to the diagonal of the machine, or to how far its parts move if that is larger) and of angles (in rad) that the run is to keep to the end: its steps follow from coarser runs. In place of a number for `step` and of `rtol`. Default: `1e-3`.
        - `rtol`: Lets the error of each step decide on its size, one by one, without a look at the whole run: it stays below 0.3 `rtol`^1.5, relative to the machine's length (or the distance from the origin, if larger) and to 1 rad. In place of `accuracy`. Default: `1e-4`.
        - `atol`: Added to `rtol`, in lengths of the machine and rad. Default: `1e-8`.
        - `accuracy_of`: What `accuracy` is of: positions and angles alone, or also velocities, reactions, or both, in parts of their largest values. Velocities of what vibrates and forces of impacts may take far more steps, or never get there. Default: `"positions"`.
        - `min_step` [s]: Where the error decides on steps: smallest step; 1e-10 of the run if not given.
        - `max_step` [s]: Where the error decides on steps: largest step; a tenth of the run if not given.
        - `initial_step` [s]: Where the error decides on steps: first step, cut until its error is small enough; 0.6 % of the run if not given.
        - `output_step` [s]: Distance of output times; if not given a thousandth of the run where steps follow from `accuracy`, and otherwise every step.
        - `method`: Formulation of the constraints: `index2` keeps positions and velocities; `index3` keeps positions only and is cheaper; `soi2` keeps both and suits forces that depend on reactions; `hht-i3` is a relative of `index3`; `hht-soi2` is a relative of `soi2`; `updated-lagrangian` is `index3` in local coordinates of each step, to compare with (group `so3xr3`); `bdf2` is the two-step backward differentiation formula, which damps more: always with a `spectral-radius` of 0; `bdf3` is the one of three steps, of third order, for machines whose vibrations are damped; `explicit8` is explicit and of order 8: for rigid machines without stiff parts, and the cheapest where much accuracy is wanted; it damps nothing, and `spectral-radius` and the settings of Newton's iteration have no say; `extrapolated` runs `index2` with three step sizes at once and shows what they tend to, of order 4: for stiff machines, such as those with stiff springs, where much accuracy is wanted; `symplectic` keeps the energy of rigid machines without friction over any time, with a number for `step`: for long motions; it damps nothing, and `spectral-radius` has no say; `auto` takes `explicit8` where nothing is stiff, bends or touches and the error is to be below 3e-3 (1e-5 with algebraic states and with friction by normal forces), `index2` elsewhere, and changes over during a run where stiffness appears or vanishes; with a number for `step` it is `index2`. Default: `"auto"`.
        - `past_mass`: Mass matrix that goes with the acceleration of the step before in `soi2`, `hht-i3` and `hht-soi2`: that of that step, or a new one. Default: `"kept"`.
        - `parametrization`: Local coordinates of rotations in `updated-lagrangian`: the rotation vector or the conformal rotation vector. Default: `"rotation-vector"`.
        - `form`: Unknowns of a step of `bdf2`: positions and multipliers, or velocities as well. Default: `"two-field"`.
        - `scaling`: Scaling of equations and unknowns of `bdf2`, to study: only the first (with two fields the first two) makes round-off independent of the step. Default: `"left-right-velocities"`.
        - `columns`: Solutions that `extrapolated` combines: three, with steps h, h/2 and h/4, are of order 4, two of order 3. Default: `"three"`.
        - `spectral_radius`: Damping of high frequencies: 1 none, 0 strongest; at most 0.98 where the error decides on steps. Default: `0.9`.
        - `hht_alpha`: α of the method of Hilber, Hughes and Taylor, 0 to 1/3, in place of `spectral-radius`, which then is (1 − α)/(1 + α).
        - `alpha_parameters`: α_m, α_f, β and γ of the generalized-α methods, in place of those that `spectral-radius` gives.
        - `starting_values`: Starting values of the generalized-α methods: those that keep second order in every component; accelerations improved alone, or found with the first step; or `trivial` ones, with transients in the reactions. Default: `"order-preserving"`.
        - `predictor`: First guess of Newton's iteration: accelerations and reactions as would have been best for the last step, along a line, constant, or zero. Default: `"adaptive"`.
        - `iteration_matrix`: Matrix of Newton's iteration: exact but for the section forces of beams, exact, or simplified, without damping, stiffness and curvature. Default: `"mixed"`.
        - `matrix_renewal`: When the matrix of Newton's iteration is made anew. Default: `"when-cheaper"`.
        - `line_search`: Whether corrections of Newton's iteration that lead uphill are cut. Default: `true`.
        - `newton_stop`: When Newton's iteration ends: when the error that is left is small, when a correction is, or when the residual is (see `residual-tolerances`). Default: `"estimated-error"`.
        - `residual_tolerances`: With `newton-stop = "small-residual"`: norms of forces and moments that are not balanced (N, N m) and of violated constraints (m, rad) below which the iteration ends.
        - `velocity_projection` [s]: Times at which velocities are projected onto the hidden constraints, to study: with `index3` reactions lose an order for some hundred steps.
        - `newton_rtol`: Relative tolerance of Newton's iteration. Default: `1e-10`.
        - `newton_atol`: Absolute tolerance of Newton's iteration, in units of the machine's length. Default: `1e-12`.
        - `mass_scale` [kg]: m of the scaling k + m/h² of forces in Newton's iteration; the mean mass of the bodies if left out; 0 for a scaling by k alone.
        - `stiffness_scale` [N/m]: k of the scaling k + m/h² of forces in Newton's iteration; the mean stiffness at the start if left out.
        - `group`: Lie group of bodies that do not name their own. Default: `"se3"`.
        - `planar`: Plane of the world that all bodies stay parallel to, for machines that are flat. Joints keep what moves in the plane and no more, so that a linkage on hinges has no redundant equations: hinges stand across the plane, slides lie in it, and parts of machines in space are refused. What acts across the plane is held by it, as a table holds a weight, and shows in no joint.
        - `off_at_start`: Forces, springs, joints, drives and locks that are switched off when the run starts; events switch them on.
        - `default_sensors`: Whether positions, joint coordinates, reactions, energies and residuals are recorded beside the sensors of the model. Default: `true`.
        - `start`: Where the run starts: at the positions of the model, or (`static`) at the equilibrium under the loads at `start-time`. Default: `"given"`.
        - `error_estimate`: Whether the run is repeated with larger steps to estimate its error; it takes about twice as long. Default: `false`.
        """
        entries = {
            "start-time": start_time,
            "end-time": end_time,
            "step": step,
            "accuracy": accuracy,
            "rtol": rtol,
            "atol": atol,
            "accuracy-of": accuracy_of,
            "min-step": min_step,
            "max-step": max_step,
            "initial-step": initial_step,
            "output-step": output_step,
            "method": method,
            "past-mass": past_mass,
            "parametrization": parametrization,
            "form": form,
            "scaling": scaling,
            "columns": columns,
            "spectral-radius": spectral_radius,
            "hht-alpha": hht_alpha,
            "alpha-parameters": alpha_parameters,
            "starting-values": starting_values,
            "predictor": predictor,
            "iteration-matrix": iteration_matrix,
            "matrix-renewal": matrix_renewal,
            "line-search": line_search,
            "newton-stop": newton_stop,
            "residual-tolerances": residual_tolerances,
            "velocity-projection": velocity_projection,
            "newton-rtol": newton_rtol,
            "newton-atol": newton_atol,
            "mass-scale": mass_scale,
            "stiffness-scale": stiffness_scale,
            "group": group,
            "planar": planar,
            "off-at-start": off_at_start,
            "default-sensors": default_sensors,
            "start": start,
            "error-estimate": error_estimate,
        }
        return self._add("simulation", True, entries)

    def gravity(
        self,
        *,
        acceleration: Numbers,
    ) -> Model:
        """Acceleration of gravity; without this table it is 9.80665 m/s² along -z.

        - `acceleration` [m/s^2]: Acceleration vector in world axes.
        """
        entries = {
            "acceleration": acceleration,
        }
        return self._add("gravity", True, entries)

    def table(
        self,
        name: str | None = None,
        *,
        points: Rows | None = None,
        x: Numbers | None = None,
        y: Numbers | None = None,
        values: Rows | None = None,
        file: str | None = None,
        x_column: str | None = None,
        value_column: str | None = None,
        x_unit: str | None = None,
        y_unit: str | None = None,
        value_unit: str | None = None,
        interpolation: Literal["smooth", "linear"] | None = None,
        outside: Literal["hold", "continue", "repeat"] | None = None,
        y_outside: Literal["hold", "continue", "repeat"] | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """A function given by points, which expressions call by its name: `gas(crank.angle)`. It has one argument, with `points` or a file of two columns; or two arguments x and y, with `x`, `y` and `values` or a file of more columns: a grid.

        - `points`: Argument and value of each point; arguments ascend.
        - `x`: First arguments of a grid, ascending.
        - `y`: Second arguments of a grid, ascending.
        - `values`: Values of a grid: one row for each x, in it one number for each y.
        - `file`: File with the numbers in columns, separated by commas, semicolons or tabs. A first row of words names the columns, perhaps with units (`angle [deg]`). A grid has the values of y in its first row, those of x in its first column.
        - `x_column`: Name of the column with the arguments, of a file with several.
        - `value_column`: Name of the column with the values, of a file with several.
        - `x_unit`: Unit of the (first) arguments, such as `deg`; base units if neither this nor the file says one.
        - `y_unit`: Unit of the second arguments.
        - `value_unit`: Unit of the values.
        - `interpolation`: Between the points: `smooth`, a cubic spline, or `linear`, straight lines. Default: `"smooth"`.
        - `outside`: Outside of the points: `hold` the end value, `continue` with the end slope, or `repeat` the whole, whose last value is then the first. Default: `"hold"`.
        - `y_outside`: The same along y, of a grid. Default: `"hold"`.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "points": points,
            "x": x,
            "y": y,
            "values": values,
            "file": file,
            "x-column": x_column,
            "value-column": value_column,
            "x-unit": x_unit,
            "y-unit": y_unit,
            "value-unit": value_unit,
            "interpolation": interpolation,
            "outside": outside,
            "y-outside": y_outside,
            "repeat": repeat,
            "when": when,
        }
        return self._add("table", False, entries)

    def input(
        self,
        name: str | None = None,
        *,
        value: Number | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """A number that is set from outside while the machine runs, by a controller or another program. Expressions of forces, loads of beams, states and events use it by its name; whoever steps the machine sets it, and it keeps its value until it is set again.

        - `value`: Value until it is set, in the base unit of where it is used. Default: `0`.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "value": value,
            "repeat": repeat,
            "when": when,
        }
        return self._add("input", False, entries)

    def body(
        self,
        name: str | None = None,
        *,
        mass: Number | None = None,
        inertia: Numbers | Rows | None = None,
        density: Number | None = None,
        centre_of_mass: Numbers | None = None,
        lumps: Sequence[Table] | None = None,
        massless: bool | None = None,
        shape: Table | None = None,
        shapes: Sequence[Table] | None = None,
        colour: str | None = None,
        visible: bool | None = None,
        position: Numbers | None = None,
        orientation: Table | None = None,
        velocity: Numbers | None = None,
        angular_velocity: Numbers | None = None,
        velocity_axes: Literal["world", "body"] | None = None,
        fixed: bool | None = None,
        group: Literal["se3", "so3xr3"] | None = None,
        markers: Sequence[Table] | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """A rigid body. It needs `mass` and `inertia`, or a `shape` or `shapes` with `density` or `mass`, or is `massless`; `lumps` add to these. `position`, markers, shapes and lumps count from its origin. With `mass` and `inertia`, or one `shape`, the origin is the centre of mass. With `shapes`, `lumps` or `centre-of-mass` it is the point from which these count: the centre of mass follows, and the marker `origin` stands at the origin. Sensors of the body show the centre of mass.

        - `mass` [kg]: Mass.
        - `inertia` [kg*m^2]: Inertia about the centre of mass (without `lumps`) in body axes: xx, yy, zz; or xx, yy, zz, xy, xz, yz (`[2, 3, 4, 0.1, 0, -0.2]`), the last three as in the matrix, so that products of inertia ∫xy dm come with a minus; or the rows of the matrix. That of the shape, filled evenly, if not given.
        - `density` [kg/m^3]: Density of the shape or shapes, in place of `mass` and `inertia`.
        - `centre_of_mass` [m]: Where the centre of mass of `mass` and `inertia` stands, from the origin of the body in body axes; at the origin if not given.
        - `lumps`: Masses in points that move with the body; they add to its mass and inertia.
          - `mass` [kg]: Mass.
          - `position` [m]: Position from the origin of the body, in body axes. Default: `[0, 0, 0]`.
        - `massless`: Whether the body has no inertia at all, such as the cross of a universal joint; joints must hold it in every direction. Default: `false`.
        - `shape`: What the body looks like, and what it weighs unless `inertia` is given.
          - `kind`: What it is; the axis of a cylinder, capsule, cone or frustum is z.
          - `radius` [m]: Radius of a sphere, cylinder, capsule or of the base of a cone.
          - `radii` [m]: Radii of a frustum: at its base and, `length` further along z, at its top.
          - `size` [m]: Full edge lengths of a box along x, y and z.
          - `length` [m]: Length of a cylinder, height of a cone or frustum; of a capsule the part between its half spheres.
          - `file`: STL file (text or binary) of a closed surface, in the folder of the model or below.
          - `unit` [m]: Unit of length of an STL file. Default: `1`.
          - `position` [m]: Where the shape's centroid stands in body axes, if the body has its own `inertia`; the centre of mass otherwise.
          - `orientation`: Rotation from the shape's axes to body axes.
          - `colour`: Colour in pictures: `"#3465a4"` (red, green and blue), or `black`, `white`, `grey`, `silver`, `red`, `orange`, `yellow`, `green`, `teal`, `blue`, `purple`, `brown`; one that tells bodies apart if not given.
          - `visible`: Whether it is drawn; what it weighs stays. Default: `true`.
        - `shapes`: Several shapes, each with its own place, density and colour, in place of `shape`; masses and inertias add up. With `inertia` they are for pictures. With the `mass` of the body alone they share it evenly by volume.
          - `kind`: What it is; the axis of a cylinder, capsule, cone or frustum is z.
          - `radius` [m]: Radius of a sphere, cylinder, capsule or of the base of a cone.
          - `radii` [m]: Radii of a frustum: at its base and, `length` further along z, at its top.
          - `size` [m]: Full edge lengths of a box along x, y and z.
          - `length` [m]: Length of a cylinder, height of a cone or frustum; of a capsule the part between its half spheres.
          - `file`: STL file (text or binary) of a closed surface, in the folder of the model or below.
          - `unit` [m]: Unit of length of an STL file. Default: `1`.
          - `position` [m]: Where the shape's own origin stands, from the origin of the body in body axes: the centre of a sphere, box, cylinder or capsule, the middle of the base of a cone or frustum, the origin of an STL file. Default: `[0, 0, 0]`.
          - `orientation`: Rotation from the shape's axes to body axes.
          - `density` [kg/m^3]: Density of this shape; that of the body if neither it nor `mass` is given.
          - `mass` [kg]: Mass of this shape, in place of its density.
          - `colour`: Colour in pictures: `"#3465a4"` (red, green and blue), or `black`, `white`, `grey`, `silver`, `red`, `orange`, `yellow`, `green`, `teal`, `blue`, `purple`, `brown`; one that tells bodies apart if not given.
          - `visible`: Whether it is drawn; what it weighs stays. Default: `true`.
        - `colour`: Colour in pictures: `"#3465a4"` (red, green and blue), or `black`, `white`, `grey`, `silver`, `red`, `orange`, `yellow`, `green`, `teal`, `blue`, `purple`, `brown`; one that tells bodies apart if not given.
        - `visible`: Whether it is drawn; what it weighs stays. Default: `true`.
        - `position` [m]: Initial position of the body's origin, which is the centre of mass unless `shapes`, `lumps` or `centre-of-mass` say otherwise; a guess, which assembly may change, if not given. Default: `[0, 0, 0]`.
        - `orientation`: Initial rotation from body axes to world axes; a guess if not given.
        - `velocity` [m/s]: Initial velocity of the centre of mass; what the joints and the stated velocities ask for if not given, zero where they ask for nothing.
        - `angular_velocity` [rad/s]: Initial angular velocity; likewise if not given.
        - `velocity_axes`: Axes in which the velocities are given. Default: `"world"`.
        - `fixed`: Whether assembly must leave the initial position and orientation, and the velocities that are given, exactly as they are. Default: `false`.
        - `group`: Lie group of the body; that of the simulation if not given.
        - `markers`: Named frames on the body.
          - `name`: Name of the marker; it is referred to as `body.marker`.
          - `position` [m]: Position from the origin of the body, in body axes. Default: `[0, 0, 0]`.
          - `orientation`: Rotation from marker axes to body axes.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "mass": mass,
            "inertia": inertia,
            "density": density,
            "centre-of-mass": centre_of_mass,
            "lumps": lumps,
            "massless": massless,
            "shape": shape,
            "shapes": shapes,
            "colour": colour,
            "visible": visible,
            "position": position,
            "orientation": orientation,
            "velocity": velocity,
            "angular-velocity": angular_velocity,
            "velocity-axes": velocity_axes,
            "fixed": fixed,
            "group": group,
            "markers": markers,
            "repeat": repeat,
            "when": when,
        }
        return self._add("body", False, entries)

    def point_mass(
        self,
        name: str | None = None,
        *,
        mass: Number,
        position: Numbers | None = None,
        velocity: Numbers | None = None,
        fixed: bool | None = None,
        colour: str | None = None,
        visible: bool | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """A mass in a point; its axes stay those of the world, and torques on it have no effect.

        - `mass` [kg]: Mass.
        - `position` [m]: Initial position; a guess, which assembly may change, if not given. Default: `[0, 0, 0]`.
        - `velocity` [m/s]: Initial velocity in world axes; what the joints and the stated velocities ask for if not given, zero where they ask for nothing.
        - `fixed`: Whether assembly must leave the initial position, and the velocity if it is given, exactly as they are. Default: `false`.
        - `colour`: Colour in pictures: `"#3465a4"` (red, green and blue), or `black`, `white`, `grey`, `silver`, `red`, `orange`, `yellow`, `green`, `teal`, `blue`, `purple`, `brown`; one that tells bodies apart if not given.
        - `visible`: Whether it is drawn; what it weighs stays. Default: `true`.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "mass": mass,
            "position": position,
            "velocity": velocity,
            "fixed": fixed,
            "colour": colour,
            "visible": visible,
            "repeat": repeat,
            "when": when,
        }
        return self._add("point-mass", False, entries)

    def marker(
        self,
        name: str | None = None,
        *,
        body: str | None = None,
        position: Numbers | None = None,
        orientation: Table | None = None,
        axes: Literal["body", "world"] | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """A named frame on a body or on the ground; other parts refer to it as `body.marker` or `ground.marker`.

        - `body`: The body that carries it, or `ground`. Default: `"ground"`.
        - `position` [m]: Position, in the axes that `axes` names: from the origin of the body, or of the world. Default: `[0, 0, 0]`.
        - `orientation`: Rotation from marker axes to the axes that `axes` names.
        - `axes`: Axes of `position` and `orientation`: those of the body, or the world at the initial configuration. Default: `"body"`.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "body": body,
            "position": position,
            "orientation": orientation,
            "axes": axes,
            "repeat": repeat,
            "when": when,
        }
        return self._add("marker", False, entries)

    def beam(
        self,
        name: str | None = None,
        *,
        section: Table,
        from_: Numbers | None = None,
        to: Numbers | None = None,
        points: Rows | None = None,
        curve: Literal["line", "arc", "spline"] | None = None,
        elements: int | str | None = None,
        order: int | str | None = None,
        up: Numbers | None = None,
        twist: Numbers | None = None,
        start: str | None = None,
        end: str | None = None,
        damping: Table | None = None,
        load: Table | None = None,
        velocity: Numbers | None = None,
        angular_velocity: Numbers | None = None,
        group: Literal["se3", "so3xr3"] | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """A flexible beam whose sections have x along its axis. Joints, forces and sensors name its sections as `beam.start`, `beam.end`, `beam.node-3` (from 0 to the number of elements times `order`) or `beam.at-0.5` (part of its length).

        - `from_` [m]: Where a straight beam starts; at the marker of `start` if not given.
        - `to` [m]: Where a straight beam ends; at the marker of `end` if not given.
        - `points` [m]: Points through which the axis runs, in place of `from` and `to`.
        - `curve`: How the points are joined: straight with corners, by the arc of a circle through three, or smoothly. Default: `"line"`.
        - `elements`: Number of elements along the whole beam; if not given, at least one for each straight piece. Default: `8`.
        - `order`: 2 for elements with three nodes, 1 for elements with two: half as many nodes, and larger errors of motions on as many. Default: `2`.
        - `section`: What every section resists and weighs.
          - `shape`: Outline of the section, with `youngs-modulus`, `poisson-ratio` and `density`, in place of stiffnesses and masses.
          - `radius` [m]: Radius of a circle.
          - `outer_radius` [m]: Outer radius of a tube.
          - `inner_radius` [m]: Inner radius of a tube.
          - `width` [m]: Extent of a rectangle or I along y.
          - `height` [m]: Extent of a rectangle or I along z.
          - `flange_thickness` [m]: Thickness along z of each flange of an I. Its torsional constant is that of thin walls, (2 b t³ + (h − t) s³)/3 with width b, height h, flanges t and web s, free to warp and without fillets: an I of 100 × 100 mm with t = 10 mm, s = 6 mm has 7.31e-8 m⁴.
          - `web_thickness` [m]: Thickness along y of the web of an I.
          - `youngs_modulus` [Pa]: Young's modulus of the shape's material.
          - `poisson_ratio`: Poisson's ratio of the shape's material.
          - `density` [kg/m^3]: Density of the shape's material.
          - `axial_stiffness` [N]: EA: resistance to stretch.
          - `shear_stiffness` [N]: GA along y and along z, shear correction included.
          - `torsional_stiffness` [N*m^2]: GJ: resistance to twist.
          - `bending_stiffness` [N*m^2]: EI about y and about z.
          - `elastic_centre` [m]: Where a pull stretches without bending, as y and z from the axis. Default: `[0, 0]`.
          - `shear_centre` [m]: Where a transverse force bends without twist, as y and z from the axis. Default: `[0, 0]`.
          - `mass_per_length` [kg/m]: Mass per length.
          - `inertia_per_length` [m*kg]: Moments of inertia per length about the centre of mass, in section axes (x along the beam).
          - `mass_centre` [m]: Centre of mass, as y and z from the axis. Default: `[0, 0]`.
          - `stiffness_matrix`: Whole stiffness in N, Nm and Nm² over twist rate, curvatures about y and z, stretch, shears along y and z, in place of the single ones.
          - `mass_matrix`: Whole mass per length in kg/m, kg and kg m over rotations and translations, in place of the single ones.
        - `up`: Direction to which the z axis of every section points as nearly as it can. If not given, that of the first section looks along z of the world (along x if the beam starts along z) and is carried along the axis without twist.
        - `twist` [rad]: Angles about the axis by which the first and the last section are turned; between them it grows with the length. Default: `[0, 0]`.
        - `start`: Body, marker, end of another beam or `ground` to which the start is clamped; free or held by joints if not given.
        - `end`: Body, marker, end of another beam or `ground` to which the end is clamped; free or held by joints if not given.
        - `damping`: Damping within the beam.
          - `time` [s]: Kelvin–Voigt damping: section forces grow by this time times the stiffness times the rate of strain.
          - `rate` [Hz]: Damping by this rate times the momentum; it also brakes rigid motion.
          - `frequencies` [Hz]: Two frequencies in Hz whose damping ratios are given, in place of `time` and `rate`.
          - `ratios`: Damping ratios at the two frequencies.
        - `load`: A load spread evenly over the length.
          - `force` [N/m]: Force per length, of time and inputs.
          - `torque` [N]: Torque per length, of time and inputs.
          - `axes`: Axes of the vectors: the world's, which keeps their direction, or those of the sections, which they follow. Default: `"world"`.
        - `velocity` [m/s]: Initial velocity of the start in a rigid motion of the whole beam; zero if only `angular-velocity` is given. Without both its nodes start at rest where nothing moves them.
        - `angular_velocity` [rad/s]: Initial angular velocity of this motion; zero if only `velocity` is given.
        - `group`: Lie group of the nodes; that of the simulation if not given.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "from": from_,
            "to": to,
            "points": points,
            "curve": curve,
            "elements": elements,
            "order": order,
            "section": section,
            "up": up,
            "twist": twist,
            "start": start,
            "end": end,
            "damping": damping,
            "load": load,
            "velocity": velocity,
            "angular-velocity": angular_velocity,
            "group": group,
            "repeat": repeat,
            "when": when,
        }
        return self._add("beam", False, entries)

    def fixed(
        self,
        name: str | None = None,
        *,
        bodies: Sequence[str],
        point: Numbers | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """No relative motion: the second body is welded to the first. Two markers are brought together; sections of beams are welded as they are drawn, at any angle.

        - `bodies`: The two bodies, or their markers (`crank.pin`), or `ground`; coordinates are those of the second relative to the first, the reaction is what acts on the second.
        - `point` [m]: Where the reaction is measured, in the world at the initial configuration; without it and without markers the second body's centre of mass. The motion does not depend on it.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "bodies": bodies,
            "point": point,
            "repeat": repeat,
            "when": when,
        }
        return self._add("fixed", False, entries)

    def revolute(
        self,
        name: str | None = None,
        *,
        bodies: Sequence[str],
        point: Numbers | None = None,
        axis: Numbers | None = None,
        x_axis: Numbers | None = None,
        angle: Number | None = None,
        angle_rate: Number | None = None,
        rate: Number | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """Rotation about the joint's z axis; measures `angle`, full turns counted, and its rate `angle-rate`, for short `rate`.

        - `bodies`: The two bodies, or their markers (`crank.pin`), or `ground`; coordinates are those of the second relative to the first, the reaction is what acts on the second.
        - `point` [m]: Where the joint stands, in the world at the initial configuration; needed where no marker says it.
        - `axis`: Direction of the joint's z axis in the world at the initial configuration; z of the markers, or of the world, if not given.
        - `x_axis`: Direction of the joint's x axis in the world at the initial configuration, as nearly as it stands at right angles to the z axis; the frame is turned the shortest way if not given.
        - `angle` [rad]: Initial value of the coordinate: what lies beyond the joint, seen from the ground, is moved until the joint shows it, and loops are closed. As it is drawn if not given.
        - `angle_rate` [rad/s]: Initial rate of the coordinate, a stated velocity. What the joints and the stated velocities ask for if not given.
        - `rate` [rad/s]: Another word for the initial rate of the only coordinate.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "bodies": bodies,
            "point": point,
            "axis": axis,
            "x-axis": x_axis,
            "angle": angle,
            "angle-rate": angle_rate,
            "rate": rate,
            "repeat": repeat,
            "when": when,
        }
        return self._add("revolute", False, entries)

    def prismatic(
        self,
        name: str | None = None,
        *,
        bodies: Sequence[str],
        point: Numbers | None = None,
        axis: Numbers | None = None,
        x_axis: Numbers | None = None,
        displacement: Number | None = None,
        displacement_rate: Number | None = None,
        rate: Number | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """Displacement along the joint's z axis without rotation; measures `displacement` and its rate `displacement-rate`, for short `rate`.

        - `bodies`: The two bodies, or their markers (`crank.pin`), or `ground`; coordinates are those of the second relative to the first, the reaction is what acts on the second.
        - `point` [m]: Where the reaction is measured, in the world at the initial configuration; without it and without markers the second body's centre of mass. The motion does not depend on it.
        - `axis`: Direction of the joint's z axis in the world at the initial configuration; z of the markers, or of the world, if not given.
        - `x_axis`: Direction of the joint's x axis in the world at the initial configuration, as nearly as it stands at right angles to the z axis; the frame is turned the shortest way if not given.
        - `displacement` [m]: Initial value of the coordinate: what lies beyond the joint, seen from the ground, is moved until the joint shows it, and loops are closed. As it is drawn if not given.
        - `displacement_rate` [m/s]: Initial rate of the coordinate, a stated velocity. What the joints and the stated velocities ask for if not given.
        - `rate` [m/s]: Another word for the initial rate of the only coordinate.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "bodies": bodies,
            "point": point,
            "axis": axis,
            "x-axis": x_axis,
            "displacement": displacement,
            "displacement-rate": displacement_rate,
            "rate": rate,
            "repeat": repeat,
            "when": when,
        }
        return self._add("prismatic", False, entries)

    def cylindrical(
        self,
        name: str | None = None,
        *,
        bodies: Sequence[str],
        point: Numbers | None = None,
        axis: Numbers | None = None,
        x_axis: Numbers | None = None,
        angle: Number | None = None,
        angle_rate: Number | None = None,
        displacement: Number | None = None,
        displacement_rate: Number | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """Rotation about and displacement along the joint's z axis; measures `angle` and `displacement` with the rates `angle-rate` and `displacement-rate`. Its torque counts about the joint's point on the second body, which slides along the axis with it: a force F across the axis after a displacement s has no moment s F there.

        - `bodies`: The two bodies, or their markers (`crank.pin`), or `ground`; coordinates are those of the second relative to the first, the reaction is what acts on the second.
        - `point` [m]: Where the joint stands, in the world at the initial configuration; needed where no marker says it.
        - `axis`: Direction of the joint's z axis in the world at the initial configuration; z of the markers, or of the world, if not given.
        - `x_axis`: Direction of the joint's x axis in the world at the initial configuration, as nearly as it stands at right angles to the z axis; the frame is turned the shortest way if not given.
        - `angle` [rad]: Initial value of the coordinate: what lies beyond the joint, seen from the ground, is moved until the joint shows it, and loops are closed. As it is drawn if not given.
        - `angle_rate` [rad/s]: Initial rate of the coordinate, a stated velocity. What the joints and the stated velocities ask for if not given.
        - `displacement` [m]: Initial value of the coordinate: what lies beyond the joint, seen from the ground, is moved until the joint shows it, and loops are closed. As it is drawn if not given.
        - `displacement_rate` [m/s]: Initial rate of the coordinate, a stated velocity. What the joints and the stated velocities ask for if not given.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "bodies": bodies,
            "point": point,
            "axis": axis,
            "x-axis": x_axis,
            "angle": angle,
            "angle-rate": angle_rate,
            "displacement": displacement,
            "displacement-rate": displacement_rate,
            "repeat": repeat,
            "when": when,
        }
        return self._add("cylindrical", False, entries)

    def spherical(
        self,
        name: str | None = None,
        *,
        bodies: Sequence[str],
        point: Numbers | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """Rotation about a point.

        - `bodies`: The two bodies, or their markers (`crank.pin`), or `ground`; coordinates are those of the second relative to the first, the reaction is what acts on the second.
        - `point` [m]: Where the joint stands, in the world at the initial configuration; needed where no marker says it.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "bodies": bodies,
            "point": point,
            "repeat": repeat,
            "when": when,
        }
        return self._add("spherical", False, entries)

    def universal(
        self,
        name: str | None = None,
        *,
        bodies: Sequence[str],
        point: Numbers | None = None,
        first_axis: Numbers | None = None,
        second_axis: Numbers | None = None,
        first_angle: Number | None = None,
        first_angle_rate: Number | None = None,
        second_angle: Number | None = None,
        second_angle_rate: Number | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """Two crossing axes at right angles, one on each body (Cardan, Hooke); measures `first-angle` of the cross on the first body and `second-angle` of the second body on the cross, with the rates `first-angle-rate` and `second-angle-rate`.

        - `bodies`: The two bodies, or their markers (`crank.pin`), or `ground`; coordinates are those of the second relative to the first, the reaction is what acts on the second.
        - `point` [m]: Where the joint stands, in the world at the initial configuration; needed where no marker says it.
        - `first_axis`: Axis on the first body about which the cross turns (the joint's x axis), in the world at the initial configuration; x of the markers, or of the world, if not given.
        - `second_axis`: Axis on the second body about which it turns on the cross (the joint's y axis), at right angles to the first; y of the markers, or of the world, if not given.
        - `first_angle` [rad]: Initial value of the coordinate: what lies beyond the joint, seen from the ground, is moved until the joint shows it, and loops are closed. As it is drawn if not given.
        - `first_angle_rate` [rad/s]: Initial rate of the coordinate, a stated velocity. What the joints and the stated velocities ask for if not given.
        - `second_angle` [rad]: Initial value of the coordinate: what lies beyond the joint, seen from the ground, is moved until the joint shows it, and loops are closed. As it is drawn if not given.
        - `second_angle_rate` [rad/s]: Initial rate of the coordinate, a stated velocity. What the joints and the stated velocities ask for if not given.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "bodies": bodies,
            "point": point,
            "first-axis": first_axis,
            "second-axis": second_axis,
            "first-angle": first_angle,
            "first-angle-rate": first_angle_rate,
            "second-angle": second_angle,
            "second-angle-rate": second_angle_rate,
            "repeat": repeat,
            "when": when,
        }
        return self._add("universal", False, entries)

    def planar(
        self,
        name: str | None = None,
        *,
        bodies: Sequence[str],
        point: Numbers | None = None,
        axis: Numbers | None = None,
        x_axis: Numbers | None = None,
        x: Number | None = None,
        x_rate: Number | None = None,
        y: Number | None = None,
        y_rate: Number | None = None,
        angle: Number | None = None,
        angle_rate: Number | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """Displacement in a plane of the first body and rotation about its normal; measures `x`, `y` and `angle` with the rates `x-rate`, `y-rate` and `angle-rate`.

        - `bodies`: The two bodies, or their markers (`crank.pin`), or `ground`; coordinates are those of the second relative to the first, the reaction is what acts on the second.
        - `point` [m]: Where the reaction is measured, in the world at the initial configuration; without it and without markers the second body's centre of mass. The motion does not depend on it.
        - `axis`: Normal of the plane (the joint's z axis) in the world at the initial configuration; z of the markers, or of the world, if not given.
        - `x_axis`: Direction of the joint's x axis in the world at the initial configuration, as nearly as it stands at right angles to the z axis; the frame is turned the shortest way if not given.
        - `x` [m]: Initial value of the coordinate: what lies beyond the joint, seen from the ground, is moved until the joint shows it, and loops are closed. As it is drawn if not given.
        - `x_rate` [m/s]: Initial rate of the coordinate, a stated velocity. What the joints and the stated velocities ask for if not given.
        - `y` [m]: Initial value of the coordinate: what lies beyond the joint, seen from the ground, is moved until the joint shows it, and loops are closed. As it is drawn if not given.
        - `y_rate` [m/s]: Initial rate of the coordinate, a stated velocity. What the joints and the stated velocities ask for if not given.
        - `angle` [rad]: Initial value of the coordinate: what lies beyond the joint, seen from the ground, is moved until the joint shows it, and loops are closed. As it is drawn if not given.
        - `angle_rate` [rad/s]: Initial rate of the coordinate, a stated velocity. What the joints and the stated velocities ask for if not given.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "bodies": bodies,
            "point": point,
            "axis": axis,
            "x-axis": x_axis,
            "x": x,
            "x-rate": x_rate,
            "y": y,
            "y-rate": y_rate,
            "angle": angle,
            "angle-rate": angle_rate,
            "repeat": repeat,
            "when": when,
        }
        return self._add("planar", False, entries)

    def screw(
        self,
        name: str | None = None,
        *,
        bodies: Sequence[str],
        lead: Number,
        point: Numbers | None = None,
        axis: Numbers | None = None,
        x_axis: Numbers | None = None,
        angle: Number | None = None,
        angle_rate: Number | None = None,
        displacement: Number | None = None,
        displacement_rate: Number | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """Rotation about the joint's z axis with a proportional displacement along it; measures `angle` and `displacement` with the rates `angle-rate` and `displacement-rate`.

        - `bodies`: The two bodies, or their markers (`crank.pin`), or `ground`; coordinates are those of the second relative to the first, the reaction is what acts on the second.
        - `point` [m]: Where the joint stands, in the world at the initial configuration; needed where no marker says it.
        - `axis`: Direction of the joint's z axis in the world at the initial configuration; z of the markers, or of the world, if not given.
        - `x_axis`: Direction of the joint's x axis in the world at the initial configuration, as nearly as it stands at right angles to the z axis; the frame is turned the shortest way if not given.
        - `lead` [m]: Displacement along z per turn about z; negative for a left-handed thread.
        - `angle` [rad]: Initial value of the coordinate: what lies beyond the joint, seen from the ground, is moved until the joint shows it, and loops are closed. As it is drawn if not given.
        - `angle_rate` [rad/s]: Initial rate of the coordinate, a stated velocity. What the joints and the stated velocities ask for if not given.
        - `displacement` [m]: Initial value of the coordinate: what lies beyond the joint, seen from the ground, is moved until the joint shows it, and loops are closed. As it is drawn if not given.
        - `displacement_rate` [m/s]: Initial rate of the coordinate, a stated velocity. What the joints and the stated velocities ask for if not given.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "bodies": bodies,
            "point": point,
            "axis": axis,
            "x-axis": x_axis,
            "lead": lead,
            "angle": angle,
            "angle-rate": angle_rate,
            "displacement": displacement,
            "displacement-rate": displacement_rate,
            "repeat": repeat,
            "when": when,
        }
        return self._add("screw", False, entries)

    def distance(
        self,
        name: str | None = None,
        *,
        bodies: Sequence[str],
        points: Rows | None = None,
        length: Law | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """Keeps the distance of two points, like a massless rod between ball joints; measures `length` and its rate `length-rate`, for short `rate`.

        - `bodies`: The two bodies, or their markers (`crank.pin`), or `ground`; without a marker and `points` it ends at the centre of mass, on the ground at the origin.
        - `points` [m]: The two ends, in the world at the initial configuration, in place of markers.
        - `length` [m]: Distance of the points, constant or by a law of time; that of the initial configuration if not given.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "bodies": bodies,
            "points": points,
            "length": length,
            "repeat": repeat,
            "when": when,
        }
        return self._add("distance", False, entries)

    def point_on_line(
        self,
        name: str | None = None,
        *,
        bodies: Sequence[str],
        point: Numbers | None = None,
        axis: Numbers | None = None,
        x_axis: Numbers | None = None,
        displacement: Number | None = None,
        displacement_rate: Number | None = None,
        rate: Number | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """Keeps a point of the second body on the joint's z axis, which moves with the first; measures `displacement` and its rate `displacement-rate`, for short `rate`.

        - `bodies`: The two bodies, or their markers (`crank.pin`), or `ground`; coordinates are those of the second relative to the first, the reaction is what acts on the second.
        - `point` [m]: Where the joint stands, in the world at the initial configuration; needed where no marker says it.
        - `axis`: Direction of the joint's z axis in the world at the initial configuration; z of the markers, or of the world, if not given.
        - `x_axis`: Direction of the joint's x axis in the world at the initial configuration, as nearly as it stands at right angles to the z axis; the frame is turned the shortest way if not given.
        - `displacement` [m]: Initial value of the coordinate: what lies beyond the joint, seen from the ground, is moved until the joint shows it, and loops are closed. As it is drawn if not given.
        - `displacement_rate` [m/s]: Initial rate of the coordinate, a stated velocity. What the joints and the stated velocities ask for if not given.
        - `rate` [m/s]: Another word for the initial rate of the only coordinate.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "bodies": bodies,
            "point": point,
            "axis": axis,
            "x-axis": x_axis,
            "displacement": displacement,
            "displacement-rate": displacement_rate,
            "rate": rate,
            "repeat": repeat,
            "when": when,
        }
        return self._add("point-on-line", False, entries)

    def point_on_plane(
        self,
        name: str | None = None,
        *,
        bodies: Sequence[str],
        point: Numbers | None = None,
        axis: Numbers | None = None,
        x_axis: Numbers | None = None,
        x: Number | None = None,
        x_rate: Number | None = None,
        y: Number | None = None,
        y_rate: Number | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """Keeps a point of the second body in a plane of the first; measures `x` and `y` with the rates `x-rate` and `y-rate`.

        - `bodies`: The two bodies, or their markers (`crank.pin`), or `ground`; coordinates are those of the second relative to the first, the reaction is what acts on the second.
        - `point` [m]: Where the joint stands, in the world at the initial configuration; needed where no marker says it.
        - `axis`: Normal of the plane (the joint's z axis) in the world at the initial configuration; z of the markers, or of the world, if not given.
        - `x_axis`: Direction of the joint's x axis in the world at the initial configuration, as nearly as it stands at right angles to the z axis; the frame is turned the shortest way if not given.
        - `x` [m]: Initial value of the coordinate: what lies beyond the joint, seen from the ground, is moved until the joint shows it, and loops are closed. As it is drawn if not given.
        - `x_rate` [m/s]: Initial rate of the coordinate, a stated velocity. What the joints and the stated velocities ask for if not given.
        - `y` [m]: Initial value of the coordinate: what lies beyond the joint, seen from the ground, is moved until the joint shows it, and loops are closed. As it is drawn if not given.
        - `y_rate` [m/s]: Initial rate of the coordinate, a stated velocity. What the joints and the stated velocities ask for if not given.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "bodies": bodies,
            "point": point,
            "axis": axis,
            "x-axis": x_axis,
            "x": x,
            "x-rate": x_rate,
            "y": y,
            "y-rate": y_rate,
            "repeat": repeat,
            "when": when,
        }
        return self._add("point-on-plane", False, entries)

    def rolling(
        self,
        name: str | None = None,
        *,
        bodies: Sequence[str],
        radius: Number,
        shape: Literal["disc", "sphere"] | None = None,
        wheel_axis: Numbers | None = None,
        point: Numbers | None = None,
        axis: Numbers | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """A thin disc or a sphere of the second body rolls without slipping on a plane of the first, and never leaves it. The force is that of the plane on the wheel, the torque is taken about the wheel's centre. `contact-point` is where it touches, in the world.

        - `bodies`: The two bodies, or their markers (`crank.pin`), or `ground`; coordinates are those of the second relative to the first, the reaction is what acts on the second.
        - `radius` [m]: Radius of the wheel about its centre: the second body's marker, or its centre of mass.
        - `shape`: What rolls: `disc` or `sphere`. Default: `"disc"`.
        - `wheel_axis`: Axis of a disc in the world at the initial configuration; z of the second body's marker, or of the body, if not given.
        - `point` [m]: A point of the plane, in the world at the initial configuration; the origin of the first body's marker, or of the ground, if not given.
        - `axis`: Normal of the plane, towards the wheel, in the world at the initial configuration; z of the first body's marker, or of the world, if not given.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "bodies": bodies,
            "radius": radius,
            "shape": shape,
            "wheel-axis": wheel_axis,
            "point": point,
            "axis": axis,
            "repeat": repeat,
            "when": when,
        }
        return self._add("rolling", False, entries)

    def knife_edge(
        self,
        name: str | None = None,
        *,
        bodies: Sequence[str],
        point: Numbers | None = None,
        axis: Numbers | None = None,
        x_axis: Numbers | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """A blade on the second body glides along itself and not sideways: skate, sleigh, runner. Joints such as `[[planar]]` keep it on its surface.

        - `bodies`: The two bodies, or their markers (`crank.pin`), or `ground`; coordinates are those of the second relative to the first, the reaction is what acts on the second.
        - `point` [m]: Where the joint stands, in the world at the initial configuration; needed where no marker says it.
        - `axis`: Normal of the plane (the joint's z axis) in the world at the initial configuration; z of the markers, or of the world, if not given.
        - `x_axis`: Direction of the blade in the world at the initial configuration, at right angles to the normal; x of the markers, or of the world, if not given.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "bodies": bodies,
            "point": point,
            "axis": axis,
            "x-axis": x_axis,
            "repeat": repeat,
            "when": when,
        }
        return self._add("knife-edge", False, entries)

    def gear(
        self,
        name: str | None = None,
        *,
        joints: Sequence[str],
        ratio: Number,
        offset: Number | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """Keeps the angles of two joints in a ratio: wheels, belts, worms. Its torque is what acts on the second body of the second joint.

        - `joints`: The two joints; with the angle after a dot (`joint.second-angle`) where one has several.
        - `ratio`: Turns of the second joint per turn of the first; negative if they turn against each other, like two wheels with outer teeth.
        - `offset` [rad]: Angle of the second joint where that of the first is zero; from the initial configuration if not given.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "joints": joints,
            "ratio": ratio,
            "offset": offset,
            "repeat": repeat,
            "when": when,
        }
        return self._add("gear", False, entries)

    def coupling(
        self,
        name: str | None = None,
        *,
        joints: Sequence[str],
        factors: Numbers,
        offset: Number | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """Keeps a weighted sum of joint coordinates constant: racks, pulleys, differentials. Its force and torque are what acts on the second body of the first joint.

        - `joints`: The joints, each with its coordinate after a dot (`slide.displacement`) where it has several.
        - `factors`: Factor of each coordinate in the sum; coordinates count in m and rad.
        - `offset`: Value of the sum; from the initial configuration if not given.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "joints": joints,
            "factors": factors,
            "offset": offset,
            "repeat": repeat,
            "when": when,
        }
        return self._add("coupling", False, entries)

    def velocity_coupling(
        self,
        name: str | None = None,
        *,
        rates: Sequence[str],
        factors: Numbers,
        value: Law | None = None,
        axes: Literal["world", "body"] | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """Keeps a weighted sum of rates and velocities at a value, constant or by a law of time: steering, rolling without a wheel, prescribed speeds.

        - `rates`: What the sum is of, named like a sensor: `crank.angle-rate`, `slide.displacement-rate`, `cart.velocity.x`, `cart.tip.velocity.y`, `cart.angular-velocity.z`.
        - `factors`: Factor of each rate in the sum; rates count in m/s and rad/s.
        - `value`: Value of the sum, constant or by a law of time; 0 if not given.
        - `axes`: Axes of the velocities of bodies and markers: `world`, or `body` for those of the body or marker itself. Default: `"world"`.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "rates": rates,
            "factors": factors,
            "value": value,
            "axes": axes,
            "repeat": repeat,
            "when": when,
        }
        return self._add("velocity-coupling", False, entries)

    def drive(
        self,
        name: str | None = None,
        *,
        joint: str | None = None,
        point: str | None = None,
        body: str | None = None,
        angle: Law | None = None,
        displacement: Law | None = None,
        path: Sequence[Law] | None = None,
        axis: Numbers | None = None,
        euler: Sequence[Law] | None = None,
        sequence: Literal["xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx", "yxy", "yzy", "zxz", "zyz"] | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """Leads a joint's coordinate, the path of a point or the whole motion of a body by laws of time; its reaction is what the drive must exert, and it measures the `power` of that.

        - `joint`: The joint that is driven; with the coordinate after a dot (`table.x`) where `angle` or `displacement` could mean several.
        - `point`: The marker or body (its centre of mass) that is led along `path`.
        - `body`: The body that is led in all six coordinates: its centre of mass along `path`, its rotation by `axis` and `angle` or by `euler`; what is not given stays as it is initially.
        - `angle` [rad]: Angle of the joint, or of the body's turn about `axis` from its initial orientation; any number of turns.
        - `displacement` [m]: Displacement of the joint.
        - `path` [m]: Coordinates of the point in the world.
        - `axis`: Axis in the world about which the body turns; z if not given.
        - `euler` [rad]: Three angles of turns from the initial orientation, about axes that are those of the world at first, not of the body, and are each carried along by the turns before: with `sequence = "zxz"` and `[a, b, c]` the body's rotation is Rz(a) Rx(b) Rz(c) times the initial one.
        - `sequence`: Axes of the Euler angles, first turn first.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "joint": joint,
            "point": point,
            "body": body,
            "angle": angle,
            "displacement": displacement,
            "path": path,
            "axis": axis,
            "euler": euler,
            "sequence": sequence,
            "repeat": repeat,
            "when": when,
        }
        return self._add("drive", False, entries)

    def spring_damper(
        self,
        name: str | None = None,
        *,
        bodies: Sequence[str] | None = None,
        points: Rows | None = None,
        joint: str | None = None,
        stiffness: Number | None = None,
        damping: Number | None = None,
        free_length: Number | None = None,
        preload: Number | None = None,
        force: Law | None = None,
        damping_force: Law | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """A spring and damper along the line between two points, or along the displacement of a joint; it pulls with stiffness × elongation + damping × rate + preload, or by expressions or curves of these. Measures this `force` and, between points, its `length` and `length-rate`, for short `rate`.

        - `bodies`: The two bodies, or their markers (`crank.pin`), or `ground`; without a marker and `points` it ends at the centre of mass, on the ground at the origin.
        - `points` [m]: The two ends, in the world at the initial configuration, in place of markers.
        - `joint`: In place of `bodies`: the joint along whose displacement it acts; with the coordinate after a dot (`table.x`) where several would do.
        - `stiffness` [N/m]: Stiffness of a linear spring.
        - `damping` [N*s/m]: Damping of a linear damper.
        - `free_length` [m]: Length, or displacement of the joint, from which the elongation counts; the initial one if not given.
        - `preload` [N]: Force with which it pulls at the free length.
        - `force`: Pulling force over the elongation, in place of `stiffness`: an expression of `elongation` and `length` (or displacement of the joint) such as `"2e4*elongation + 5e6*elongation^3"`, or `{ points = [[-0.01, -200], [0, 0], [0.01, 300]] }`. A natural cubic spline runs through the points, which may swing beyond them where they turn sharply; `interpolation = "linear"` joins them by straight lines. Outside the force keeps its last value, with `outside = "continue"` its last slope.
        - `damping_force`: Pulling force over the rate of the length, in place of `damping`: a curve, or an expression of `rate`, `elongation` and `length` such as `"800*rate*(1 + elongation/0.1)"`. All of it is lost.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "bodies": bodies,
            "points": points,
            "joint": joint,
            "stiffness": stiffness,
            "damping": damping,
            "free-length": free_length,
            "preload": preload,
            "force": force,
            "damping-force": damping_force,
            "repeat": repeat,
            "when": when,
        }
        return self._add("spring-damper", False, entries)

    def torsional_spring_damper(
        self,
        name: str | None = None,
        *,
        joint: str,
        stiffness: Number | None = None,
        damping: Number | None = None,
        free_angle: Number | None = None,
        preload: Number | None = None,
        torque: Law | None = None,
        damping_torque: Law | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """A spring and damper about the angle of a joint; it turns the second body back with stiffness × (angle − free angle) + damping × rate + preload. Measures this `torque`.

        - `joint`: The joint in which it acts; with the coordinate after a dot (`table.x`) where several would do.
        - `stiffness` [Nm/rad]: Stiffness of a linear spring.
        - `damping` [Nm*s/rad]: Damping of a linear damper.
        - `free_angle` [rad]: Angle from which the deflection counts, full turns included; the initial one if not given.
        - `preload` [Nm]: Torque against the angle at the free angle.
        - `torque`: Torque against the angle over the deflection, in place of `stiffness`: a curve, or an expression of `deflection` and `angle` such as `"30*sin(deflection)"`.
        - `damping_torque`: Torque against the angle over its rate, in place of `damping`: a curve, or an expression of `rate`, `deflection` and `angle`. All of it is lost.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "joint": joint,
            "stiffness": stiffness,
            "damping": damping,
            "free-angle": free_angle,
            "preload": preload,
            "torque": torque,
            "damping-torque": damping_torque,
            "repeat": repeat,
            "when": when,
        }
        return self._add("torsional-spring-damper", False, entries)

    def state(
        self,
        name: str | None = None,
        *,
        rate: Law,
        initial: Number | None = None,
        scale: Number | None = None,
        unit: str | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """A first-order state: its rate is an expression of `t`, measured quantities and states (`"-3*charge.value + crank.angle-rate"`). Its value is the signal `NAME.value`, which forces and other states may use.

        - `initial`: Value at the start. Default: `0`.
        - `rate`: Rate per second.
        - `scale`: Size against which its error is judged where it is small. Default: `1`.
        - `unit`: Unit in result files. Default: `"1"`.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "initial": initial,
            "rate": rate,
            "scale": scale,
            "unit": unit,
            "repeat": repeat,
            "when": when,
        }
        return self._add("state", False, entries)

    def algebraic(
        self,
        name: str | None = None,
        *,
        zero_of: Law,
        guess: Number | None = None,
        scale: Number | None = None,
        unit: str | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """An algebraic unknown `NAME.value`: at every time the value for which an expression of `t`, measured quantities, states and the unknown itself vanishes.

        - `zero_of`: The expression that vanishes.
        - `guess`: First guess at the start. Default: `0`.
        - `scale`: Size against which its error is judged where it is small. Default: `1`.
        - `unit`: Unit in result files. Default: `"1"`.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "zero-of": zero_of,
            "guess": guess,
            "scale": scale,
            "unit": unit,
            "repeat": repeat,
            "when": when,
        }
        return self._add("algebraic", False, entries)

    def transfer_function(
        self,
        name: str | None = None,
        *,
        input: Law,
        numerator: Numbers,
        denominator: Numbers,
        initial: Numbers | None = None,
        unit: str | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """A transfer function b(s)/a(s) from its input to the signal `NAME.output`; it may have as many zeros as poles, but not more.

        - `input`: Input: a number, a law of time, or an expression of `t`, measured quantities and states.
        - `numerator`: Coefficients of b(s), the highest power first.
        - `denominator`: Coefficients of a(s), the highest power first.
        - `initial`: States at the start, `[0, 0]` for a step response of second order. If left out the block is steady: its output is b(0)/a(0) times the input of the start, and zero where a(0) = 0, as in an integrator.
        - `unit`: Unit in result files. Default: `"1"`.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "input": input,
            "numerator": numerator,
            "denominator": denominator,
            "initial": initial,
            "unit": unit,
            "repeat": repeat,
            "when": when,
        }
        return self._add("transfer-function", False, entries)

    def state_space(
        self,
        name: str | None = None,
        *,
        a: Numbers,
        b: Numbers,
        c: Numbers,
        input: Law | None = None,
        inputs: Sequence[Law] | None = None,
        d: Numbers | None = None,
        initial: Numbers | None = None,
        unit: str | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """A linear block ẋ = A x + B u, y = C x + D u from its inputs u to the signal `NAME.output`, or with several outputs `NAME.output-1` and so on; the states are the signals `NAME.state-1` and so on.

        - `input`: The input, where there is only one; as in `[[transfer-function]]`.
        - `inputs`: The inputs, where there are several.
        - `a`: A, row by row in one array.
        - `b`: B, likewise: a row per state, a number per input.
        - `c`: C, likewise: a row per output, a number per state.
        - `d`: D, likewise: a row per output, a number per input; zeros if left out.
        - `initial`: x at the start, `[0, 0]` say. If left out the block is steady, x = −A⁻¹B u with the inputs of the start; zeros where A has no inverse.
        - `unit`: Unit in result files. Default: `"1"`.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "input": input,
            "inputs": inputs,
            "a": a,
            "b": b,
            "c": c,
            "d": d,
            "initial": initial,
            "unit": unit,
            "repeat": repeat,
            "when": when,
        }
        return self._add("state-space", False, entries)

    def pid(
        self,
        name: str | None = None,
        *,
        error: Law,
        proportional: Number | None = None,
        integral: Number | None = None,
        derivative: Number | None = None,
        filter_time: Number | None = None,
        initial: Numbers | None = None,
        unit: str | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """A controller: the signal `NAME.output` is proportional · e + integral · ∫e dt + derivative · ė with the error e, where ė is taken through a filter 1/(1 + T s).

        - `error`: Error: setpoint less measured quantity, as an expression.
        - `proportional`: Gain of the error. Default: `0`.
        - `integral`: Gain of the integrated error. Default: `0`.
        - `derivative`: Gain of the filtered rate of the error. Default: `0`.
        - `filter_time` [s]: Time constant T of the filter; needed with `derivative`.
        - `initial`: States at the start: the integral of the error and, with `derivative`, the filtered error: `[0, 0]`. If left out the integral starts at zero and the filter at the error of the start, so that no derivative kicks.
        - `unit`: Unit in result files. Default: `"1"`.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "error": error,
            "proportional": proportional,
            "integral": integral,
            "derivative": derivative,
            "filter-time": filter_time,
            "initial": initial,
            "unit": unit,
            "repeat": repeat,
            "when": when,
        }
        return self._add("pid", False, entries)

    def force(
        self,
        name: str | None = None,
        *,
        body: str,
        point: Numbers | None = None,
        force: Sequence[Law] | None = None,
        torque: Sequence[Law] | None = None,
        axes: Literal["world", "body"] | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """A force, a torque or both on a body; each component is a number, a law of time, or an expression of `t`, joint coordinates (`crank.angle`, `crank.angle-rate`) and positions and velocities (`arm.tip.position.z`). Measures the vectors `force` and `torque` in world axes, and its `power`.

        - `body`: The body on which it acts, at its centre of mass, or a marker (`crank.pin`).
        - `point` [m]: Where it acts, in the world at the initial configuration, in place of a marker.
        - `force` [N]: Force vector.
        - `torque` [Nm]: Torque vector.
        - `axes`: Axes of the vectors: the world's, which keeps their direction, or those of the marker or body, which they follow. Default: `"world"`.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "body": body,
            "point": point,
            "force": force,
            "torque": torque,
            "axes": axes,
            "repeat": repeat,
            "when": when,
        }
        return self._add("force", False, entries)

    def joint_force(
        self,
        name: str | None = None,
        *,
        joint: str,
        force: Law | None = None,
        torque: Law | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """A force along the displacement of a joint, or a torque about its angle, on the second body and back on the first: an actuator. It is a number, a law of time, or an expression of `t` and measured quantities (`"-20*crank.angle-rate"`). Measures this `force` or `torque`, and its `power`.

        - `joint`: The joint in which it acts; with the coordinate after a dot (`table.x`) where several would do.
        - `force` [N]: Force along a displacement.
        - `torque` [Nm]: Torque about an angle.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "joint": joint,
            "force": force,
            "torque": torque,
            "repeat": repeat,
            "when": when,
        }
        return self._add("joint-force", False, entries)

    def bushing(
        self,
        name: str | None = None,
        *,
        bodies: Sequence[str],
        point: Numbers | None = None,
        orientation: Table | None = None,
        translational_stiffness: Numbers | Rows | None = None,
        rotational_stiffness: Numbers | Rows | None = None,
        coupling_stiffness: Rows | None = None,
        translational_damping: Numbers | Rows | None = None,
        rotational_damping: Numbers | Rows | None = None,
        coupling_damping: Rows | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """Springs and dampers against all six relative motions of two frames; rotations are measured by the rotation vector (axis times angle), which is followed beyond half a turn. Up to nearly a full turn any rotation will do; more than that only where a joint keeps the frames on one axis, and there a `[[torsional-spring-damper]]` in the joint is simpler. Measures the `force` and the `torque` on its second body, at the second frame, in world axes.

        - `bodies`: The two bodies, or their markers (`crank.pin`), or `ground`; matrices are in axes of the frame on the first.
        - `point` [m]: Where both frames stand, undeformed, in the world at the initial configuration; with two markers the frames are theirs.
        - `orientation`: Rotation from the frames' axes to world axes at the initial configuration; that of the marker, or of the world, if not given.
        - `translational_stiffness` [N/m]: Force per displacement. Default: `[0, 0, 0]`.
        - `rotational_stiffness` [Nm/rad]: Torque per rotation. Default: `[0, 0, 0]`.
        - `coupling_stiffness` [m*kg*s^-2*rad^-1]: Force (rows) per rotation (columns); its transpose is torque per displacement.
        - `translational_damping` [N*s/m]: Force per velocity. Default: `[0, 0, 0]`.
        - `rotational_damping` [Nm*s/rad]: Torque per rate of the rotation vector, not per angular velocity: the two agree where the frames turn about one axis or by small angles, `[0.5, 0.5, 0.5]` then being 0.5 Nm per rad/s. Default: `[0, 0, 0]`.
        - `coupling_damping` [m*kg*s^-1*rad^-1]: Force (rows) per rate of the rotation vector (columns); its transpose is torque per velocity.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "bodies": bodies,
            "point": point,
            "orientation": orientation,
            "translational-stiffness": translational_stiffness,
            "rotational-stiffness": rotational_stiffness,
            "coupling-stiffness": coupling_stiffness,
            "translational-damping": translational_damping,
            "rotational-damping": rotational_damping,
            "coupling-damping": coupling_damping,
            "repeat": repeat,
            "when": when,
        }
        return self._add("bushing", False, entries)

    def joint_friction(
        self,
        name: str | None = None,
        *,
        joint: str,
        force: Law | None = None,
        torque: Law | None = None,
        friction: Number | None = None,
        radius: Number | None = None,
        bearing_length: Number | None = None,
        transition_speed: Number | None = None,
        transition_rate: Number | None = None,
        friction_law: Literal["coulomb", "lugre"] | None = None,
        static_friction: Number | None = None,
        stribeck_speed: Number | None = None,
        bristle_stiffness: Number | None = None,
        bristle_damping: Number | None = None,
        viscous_friction: Number | None = None,
        stribeck_exponent: Number | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """Coulomb friction in a joint, made smooth around rest: force × tanh(speed / transition speed) against a displacement, or torque × tanh(rate / transition rate) against an angle. The force or torque is given, or follows from a coefficient of `friction` and the force that the joint transmits: in a prismatic, revolute or spherical joint. Then the laws of contacts are at hand, with static friction and bristles. Measures the `force` or `torque` against the motion; in a spherical joint the vector of the `torque` on the second body, in world axes.

        - `joint`: The joint in which it acts; with the coordinate after a dot (`table.x`) where several would do.
        - `force`: Force of sliding, against a displacement: a number, an expression of `speed` (never negative) such as `"20 + 15*exp(-speed/0.02)"`, or a curve over it.
        - `torque`: Torque of sliding, against an angle: likewise, over the angular `speed`.
        - `friction`: Coefficient of friction, times the force that the joint transmits.
        - `radius` [m]: Radius of the pin or ball at which the coefficient of friction acts, in a revolute or spherical joint.
        - `bearing_length` [m]: Length of the bearing, which takes a moment as two forces at its ends; without it moments do not press.
        - `transition_speed` [m/s]: Speed at which 76 % of the force act; below it the joint creeps. Default: `1e-3`.
        - `transition_rate` [rad/s]: Angular speed at which 76 % of the torque act; below it the joint creeps. Default: `1e-2`.
        - `friction_law`: Law of friction: `coulomb` by the sliding velocity, made smooth around rest; `lugre` by bristles that bend, slip and spring back, so that surfaces stick: without creep if `bristle-damping` ends the swing of what they carry. Default: `"coulomb"`.
        - `static_friction`: Coefficient of friction near rest, the same as `friction` or larger; that of sliding if not given.
        - `stribeck_speed` [m/s]: Speed at which static friction has fallen by two thirds towards that of sliding; ten transition speeds, or 1 mm/s for `lugre`, if not given.
        - `bristle_stiffness` [m^-1]: Stiffness of the bristles of `lugre`, per normal force, in 1/m. Default: `1e5`.
        - `bristle_damping` [m^-1*s]: Damping of the bristles of `lugre`, per normal force, in s/m; √(σ₀/g) with g = 9.80665 m/s² if not given, 101 s/m for the default stiffness, which ends the swing of what rests by its weight. With less bristles swing on, with √(g σ₀) rad/s, and what swings creeps.
        - `viscous_friction` [m^-1*s]: Friction of `lugre` that grows with the speed, per normal force, in s/m. Default: `0`.
        - `stribeck_exponent`: Exponent of the fall from static friction to that of sliding, for `lugre`. Default: `2`.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "joint": joint,
            "force": force,
            "torque": torque,
            "friction": friction,
            "radius": radius,
            "bearing-length": bearing_length,
            "transition-speed": transition_speed,
            "transition-rate": transition_rate,
            "friction-law": friction_law,
            "static-friction": static_friction,
            "stribeck-speed": stribeck_speed,
            "bristle-stiffness": bristle_stiffness,
            "bristle-damping": bristle_damping,
            "viscous-friction": viscous_friction,
            "stribeck-exponent": stribeck_exponent,
            "repeat": repeat,
            "when": when,
        }
        return self._add("joint-friction", False, entries)

    def end_stop(
        self,
        name: str | None = None,
        *,
        joint: str,
        stiffness: Number,
        lower: Number | None = None,
        upper: Number | None = None,
        damping: Number | None = None,
        transition_depth: Number | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """Elastic bounds of the displacement of a joint. Measures the `force` against it: positive beyond the upper bound, negative beyond the lower.

        - `joint`: The joint in which it acts; with the coordinate after a dot (`table.x`) where several would do.
        - `lower` [m]: Lower bound; none if not given.
        - `upper` [m]: Upper bound; none if not given.
        - `stiffness` [N/m]: Stiffness beyond a bound.
        - `damping` [N*s/m]: Damping beyond a bound; the stop pushes back but never pulls. Default: `0`.
        - `transition_depth` [m]: Depth beyond a bound at which half of the damping acts, so that it begins without a jump. Default: `1e-4`.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "joint": joint,
            "lower": lower,
            "upper": upper,
            "stiffness": stiffness,
            "damping": damping,
            "transition-depth": transition_depth,
            "repeat": repeat,
            "when": when,
        }
        return self._add("end-stop", False, entries)

    def torsional_end_stop(
        self,
        name: str | None = None,
        *,
        joint: str,
        stiffness: Number,
        lower: Number | None = None,
        upper: Number | None = None,
        damping: Number | None = None,
        transition_depth: Number | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """Elastic bounds of the angle of a joint; full turns count. Measures the `torque` against it: positive beyond the upper bound, negative beyond the lower.

        - `joint`: The joint in which it acts; with the coordinate after a dot (`table.x`) where several would do.
        - `lower` [rad]: Lower bound; none if not given.
        - `upper` [rad]: Upper bound; none if not given.
        - `stiffness` [Nm/rad]: Stiffness beyond a bound.
        - `damping` [Nm*s/rad]: Damping beyond a bound; the stop pushes back but never pulls. Default: `0`.
        - `transition_depth` [rad]: Depth beyond a bound at which half of the damping acts, so that it begins without a jump. Default: `1e-3`.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "joint": joint,
            "lower": lower,
            "upper": upper,
            "stiffness": stiffness,
            "damping": damping,
            "transition-depth": transition_depth,
            "repeat": repeat,
            "when": when,
        }
        return self._add("torsional-end-stop", False, entries)

    def contact(
        self,
        name: str | None = None,
        *,
        bodies: Sequence[str],
        first_shape: Table | None = None,
        second_shape: Table | None = None,
        law: Literal["linear", "hertz", "flores"] | None = None,
        stiffness: Number | None = None,
        damping: Number | None = None,
        transition_depth: Number | None = None,
        youngs_modulus: Number | None = None,
        poisson_ratio: Number | None = None,
        restitution: Number | None = None,
        rest_speed: Number | None = None,
        effective_radius: Number | None = None,
        friction: Number | None = None,
        static_friction: Number | None = None,
        stribeck_speed: Number | None = None,
        transition_speed: Number | None = None,
        friction_law: Literal["coulomb", "lugre"] | None = None,
        bristle_stiffness: Number | None = None,
        bristle_damping: Number | None = None,
        viscous_friction: Number | None = None,
        stribeck_exponent: Number | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """Two shapes that push each other where they overlap, with friction. Measures `force` (on the second body), `normal-force` and `depth`.

        - `bodies`: The two bodies, or their markers (`crank.pin`), or `ground`; a beam touches with a sphere at each of its nodes. The measured force is what acts on the second.
        - `first_shape`: What of the first body touches; its own `shape` if not given, a point for a point mass, the plane z = 0 for the ground.
          - `kind`: What touches; a plane is z = 0 with matter below, axes of capsules and cylinders are z.
          - `radius` [m]: Radius of a sphere, capsule or cylinder.
          - `length` [m]: Length of a cylinder; of a capsule the part between its half spheres.
          - `size` [m]: Full edge lengths of a box along x, y and z.
          - `position` [m]: Where the shape's centre (or a point of the plane) stands in axes of the body or marker. Default: `[0, 0, 0]`.
          - `orientation`: Rotation from the shape's axes to those of the body or marker.
        - `second_shape`: What of the second body touches; likewise.
          - `kind`: What touches; a plane is z = 0 with matter below, axes of capsules and cylinders are z.
          - `radius` [m]: Radius of a sphere, capsule or cylinder.
          - `length` [m]: Length of a cylinder; of a capsule the part between its half spheres.
          - `size` [m]: Full edge lengths of a box along x, y and z.
          - `position` [m]: Where the shape's centre (or a point of the plane) stands in axes of the body or marker. Default: `[0, 0, 0]`.
          - `orientation`: Rotation from the shape's axes to those of the body or marker.
        - `law`: Normal force: `linear` is a spring and a damper; `hertz` that of rounded elastic bodies, with losses (Hunt, Crossley) such that rebounds have exactly the given restitution; `flores` the same with the losses of Flores. Default: `"linear"`.
        - `stiffness` [N/m]: Force per depth of the linear law.
        - `damping` [N*s/m]: Damping of the linear law; surfaces push but never pull. Default: `0`.
        - `transition_depth` [m]: Depth at which half of the damping of the linear law acts, so that it begins without a jump. Default: `1e-6`.
        - `youngs_modulus` [Pa]: Young's modulus of both bodies for `hertz` and `flores`; beside a rigid one the other's may be halved.
        - `poisson_ratio`: Poisson's ratio of both bodies for `hertz` and `flores`. Default: `0.3`.
        - `restitution`: Speed after over speed before an impact, from 0 to 1, for `hertz` and `flores`; below 0.01 it is taken as 0.01. Default: `1`.
        - `rest_speed` [m/s]: Speed of meeting below which `hertz` and `flores` see no impact: the losses grow no further. Default: `1e-3`.
        - `effective_radius` [m]: R with 1/R = 1/R₁ + 1/R₂ for `hertz` and `flores`; from the shapes if not given, needed for corners and edges.
        - `friction`: Coefficient of sliding friction. Default: `0`.
        - `static_friction`: Coefficient of friction near rest, the same as `friction` or larger; that of sliding if not given.
        - `stribeck_speed` [m/s]: Speed at which static friction has fallen by two thirds towards that of sliding; ten transition speeds, or 1 mm/s for `lugre`, if not given.
        - `transition_speed` [m/s]: Speed at which 76 % of the friction act; below it surfaces creep. Default: `1e-3`.
        - `friction_law`: Law of friction: `coulomb` by the sliding velocity, made smooth around rest; `lugre` by bristles that bend, slip and spring back, so that surfaces stick: without creep if `bristle-damping` ends the swing of what they carry. Default: `"coulomb"`.
        - `bristle_stiffness` [m^-1]: Stiffness of the bristles of `lugre`, per normal force, in 1/m. Default: `1e5`.
        - `bristle_damping` [m^-1*s]: Damping of the bristles of `lugre`, per normal force, in s/m; √(σ₀/g) with g = 9.80665 m/s² if not given, 101 s/m for the default stiffness, which ends the swing of what rests by its weight. With less bristles swing on, with √(g σ₀) rad/s, and what swings creeps.
        - `viscous_friction` [m^-1*s]: Friction of `lugre` that grows with the speed, per normal force, in s/m. Default: `0`.
        - `stribeck_exponent`: Exponent of the fall from static friction to that of sliding, for `lugre`. Default: `2`.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "bodies": bodies,
            "first-shape": first_shape,
            "second-shape": second_shape,
            "law": law,
            "stiffness": stiffness,
            "damping": damping,
            "transition-depth": transition_depth,
            "youngs-modulus": youngs_modulus,
            "poisson-ratio": poisson_ratio,
            "restitution": restitution,
            "rest-speed": rest_speed,
            "effective-radius": effective_radius,
            "friction": friction,
            "static-friction": static_friction,
            "stribeck-speed": stribeck_speed,
            "transition-speed": transition_speed,
            "friction-law": friction_law,
            "bristle-stiffness": bristle_stiffness,
            "bristle-damping": bristle_damping,
            "viscous-friction": viscous_friction,
            "stribeck-exponent": stribeck_exponent,
            "repeat": repeat,
            "when": when,
        }
        return self._add("contact", False, entries)

    def contact_group(
        self,
        name: str | None = None,
        *,
        members: Sequence[str],
        law: Literal["linear", "hertz", "flores"] | None = None,
        stiffness: Number | None = None,
        damping: Number | None = None,
        transition_depth: Number | None = None,
        youngs_modulus: Number | None = None,
        poisson_ratio: Number | None = None,
        restitution: Number | None = None,
        impact_speed: Number | None = None,
        effective_radius: Number | None = None,
        friction: Number | None = None,
        friction_law: Literal["coulomb", "lugre"] | None = None,
        static_friction: Number | None = None,
        stribeck_speed: Number | None = None,
        transition_speed: Number | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """Bodies of which any two may touch, and ground they may fall on; who is near whom is found in the course of the run. Bodies that a joint holds together pass through each other.

        - `members`: Bodies with a `shape`, `ground` and its markers (planes z = 0); a star at the end of a name stands for anything: `ball-*`.
        - `law`: Normal force: `linear` is a spring and a damper; `hertz` that of rounded elastic bodies, with losses (Hunt, Crossley) such that rebounds have exactly the given restitution; `flores` the same with the losses of Flores. Default: `"linear"`.
        - `stiffness` [N/m]: Force per depth of the linear law.
        - `damping` [N*s/m]: Damping of the linear law; surfaces push but never pull. Default: `0`.
        - `transition_depth` [m]: Depth at which half of the damping of the linear law acts, so that it begins without a jump. Default: `1e-6`.
        - `youngs_modulus` [Pa]: Young's modulus of both bodies for `hertz` and `flores`; beside a rigid one the other's may be halved.
        - `poisson_ratio`: Poisson's ratio of both bodies for `hertz` and `flores`. Default: `0.3`.
        - `restitution`: Speed after over speed before an impact, from 0 to 1, for `hertz` and `flores`; below 0.01 it is taken as 0.01. Default: `1`.
        - `impact_speed` [m/s]: Speed of meeting at which the `restitution` of `hertz` and `flores` holds; slower impacts lose less. Default: `1`.
        - `effective_radius` [m]: R with 1/R = 1/R₁ + 1/R₂ for `hertz` and `flores`; from the shapes if not given, needed for corners and edges.
        - `friction`: Coefficient of sliding friction. Default: `0`.
        - `friction_law`: Law of friction: `coulomb` by the sliding velocity, made smooth around rest; `lugre` by bristles that bend, slip and spring back, so that surfaces stick: without creep if `bristle-damping` ends the swing of what they carry. Default: `"coulomb"`.
        - `static_friction`: Coefficient of friction near rest, the same as `friction` or larger; that of sliding if not given.
        - `stribeck_speed` [m/s]: Speed at which static friction has fallen by two thirds towards that of sliding; ten transition speeds, or 1 mm/s for `lugre`, if not given.
        - `transition_speed` [m/s]: Speed at which 76 % of the friction act; below it surfaces creep. Default: `1e-3`.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "members": members,
            "law": law,
            "stiffness": stiffness,
            "damping": damping,
            "transition-depth": transition_depth,
            "youngs-modulus": youngs_modulus,
            "poisson-ratio": poisson_ratio,
            "restitution": restitution,
            "impact-speed": impact_speed,
            "effective-radius": effective_radius,
            "friction": friction,
            "friction-law": friction_law,
            "static-friction": static_friction,
            "stribeck-speed": stribeck_speed,
            "transition-speed": transition_speed,
            "repeat": repeat,
            "when": when,
        }
        return self._add("contact-group", False, entries)

    def tyre(
        self,
        name: str | None = None,
        *,
        bodies: Sequence[str],
        radius: Number,
        vertical_stiffness: Number,
        longitudinal_stiffness: Number,
        cornering_stiffness: Number,
        vertical_damping: Number | None = None,
        friction: Number | None = None,
        nominal_load: Number | None = None,
        relaxation_length: Number | None = None,
        damping_time: Number | None = None,
        contact_length: Number | None = None,
        rolling_resistance: Number | None = None,
        height: Law | None = None,
        direction: Numbers | None = None,
        wheel_axis: Numbers | None = None,
        point: Numbers | None = None,
        axis: Numbers | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """A tyre on a road: it springs, and carries by slip along and across as a brush of even stiffness does, up to `friction` times the load in any direction. Forces build up over `relaxation-length`, so that a wheel also stands, brakes to rest and is parked. Camber turns the load, and makes no side force of its own. Forward is where `wheel-axis` × normal points: a wheel whose axis points to the left rolls forward by positive angular rates. Measures the `force` and `torque` on the wheel about its centre, `load`, `deflection` (negative for the gap), `slip`, `slip-angle`, `longitudinal-force`, `lateral-force` (to the left) and `aligning-torque`.

        - `bodies`: The road, a body or `ground`, and the wheel, or their markers; the centre of the wheel is its marker or its centre of mass.
        - `radius` [m]: Radius of the wheel without load.
        - `vertical_stiffness` [N/m]: Load by deflection.
        - `vertical_damping` [N*s/m]: Load by the rate of the deflection; the road pushes and never pulls. Default: `0`.
        - `friction`: Largest force along the road in parts of the load. Default: `1`.
        - `longitudinal_stiffness` [N]: Longitudinal force by slip, where slip is small: slip is (V_r − V)/V_r of the rolling speed V_r.
        - `cornering_stiffness` [m*kg*s^-2*rad^-1]: Lateral force by slip angle, where it is small.
        - `nominal_load` [N]: Load at which both slip stiffnesses are those: they are in proportion to the load then, and do not depend on it if this is not given.
        - `relaxation_length` [m]: Way along which forces come within 37 % of what the slip wants; the radius if not given.
        - `damping_time` [s]: Damping of the carcass along the road in parts of its stiffness, which ends the swing of a wheel that stands. Default: `5e-3`.
        - `contact_length` [m]: Length of the contact, a sixth of which is the lever of small lateral forces; the chord that the road cuts from the circle if not given.
        - `rolling_resistance`: Resistance against rolling in parts of the load. Default: `0`.
        - `height`: Height of the road over its plane, over the way `x` along `direction` from `point`: an expression such as `"0.05*sin(2*x)"`, or `{ points = [[0, 0], [1, 0.1]] }`. The wheel follows the height and slope below its centre: bumps are longer than the contact.
        - `direction`: Direction along which `x` counts, in the world at the initial configuration; x of the first body's marker, or of the world, if not given.
        - `wheel_axis`: Axis of the wheel in the world at the initial configuration; z of the second body's marker, or of the body, if not given.
        - `point` [m]: A point of the road's plane, in the world at the initial configuration; the origin of the first body's marker, or of the ground, if not given.
        - `axis`: Normal of the road's plane, towards the wheel, in the world at the initial configuration; z of the first body's marker, or of the world, if not given.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "bodies": bodies,
            "radius": radius,
            "vertical-stiffness": vertical_stiffness,
            "vertical-damping": vertical_damping,
            "friction": friction,
            "longitudinal-stiffness": longitudinal_stiffness,
            "cornering-stiffness": cornering_stiffness,
            "nominal-load": nominal_load,
            "relaxation-length": relaxation_length,
            "damping-time": damping_time,
            "contact-length": contact_length,
            "rolling-resistance": rolling_resistance,
            "height": height,
            "direction": direction,
            "wheel-axis": wheel_axis,
            "point": point,
            "axis": axis,
            "repeat": repeat,
            "when": when,
        }
        return self._add("tyre", False, entries)

    def lock(
        self,
        name: str | None = None,
        *,
        joint: str,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """Holds a joint's coordinate where it is when the lock is switched on; one that is on at the start holds the initial value.

        - `joint`: The joint in which it acts; with the coordinate after a dot (`table.x`) where several would do.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "joint": joint,
            "repeat": repeat,
            "when": when,
        }
        return self._add("lock", False, entries)

    def sensor(
        self,
        name: str | None = None,
        *,
        quantity: str,
        of: str | None = None,
        relative_to: str | None = None,
        axes: str | None = None,
        unit: str | None = None,
        side: Literal["larger", "before", "after"] | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """A quantity to be recorded. Without a name its signals are called after what it measures: `top.tip.velocity.x`.

        - `quantity`: What is measured. Of a body or marker: `position`, `orientation`, `rotation-vector`, `angle-x`, `angle-y`, `angle-z`, `velocity`, `angular-velocity`, `acceleration`, `angular-acceleration`. Of a section of a beam (`beam.end`, `beam.at-0.5`) also `strain`, `force`, `torque`, `displacement`, `rotation` (strain, force and torque in section axes, the others from its initial place). Of a joint: its coordinates and rates such as `angle` and `angle-rate`, `force`, `torque`. Of a contact: `force` on its second body, `normal-force`, `depth`. Of a contact group: `contacts` (how many pairs touch), `normal-force` (the sum of all), `depth` (the largest). Of a spring-damper, joint force, end stop or friction in a joint: its `force` along a displacement or `torque` about an angle; of a spring-damper between points also `length` and `length-rate`. Of a bushing: `force` and `torque` on its second body. Of a force, joint force or drive: its `power`. `angle-x` of a body or marker is the angle by which it has turned about the x axis of `relative-to`, full turns counted (that of its y axis in the plane across). Of a body also its `momentum`, and its `angular-momentum` about its centre of mass. Of the machine: `energy`, `constraint`, `solver`, `momentum`, `angular-momentum` (the solver: step size, Newton iterations and steps taken back since the last record; the angular momentum: about the origin of the world). Without `of` also the name of an expression of `[expressions]`.
        - `of`: The body, marker (`top.tip`), joint, drive, force or other part that is measured; nothing for quantities of the machine.
        - `relative_to`: Body or marker from which a motion is observed; the ground if not given.
        - `axes`: Axes of the components: `world`, `joint` for reactions, or those of a body or marker; those of `relative-to` if not given.
        - `unit`: Of a named expression: the unit of its value in tables and plots, a base unit such as `N*m`; `1` if not given.
        - `side`: Of `strain`, `force` and `torque` at a node of a beam: on which side of it. What acts on the node makes the two differ; the larger one is shown if nothing is said. Default: `"larger"`.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "quantity": quantity,
            "of": of,
            "relative-to": relative_to,
            "axes": axes,
            "unit": unit,
            "side": side,
            "repeat": repeat,
            "when": when,
        }
        return self._add("sensor", False, entries)

    def event(
        self,
        name: str | None = None,
        *,
        zero_of: str,
        direction: Literal["both", "rising", "falling"] | None = None,
        tolerance: Number | None = None,
        stop: bool | None = None,
        switch_on: Sequence[str] | None = None,
        switch_off: Sequence[str] | None = None,
        set: Any | None = None,
        repeat: int | str | None = None,
        when: Number | None = None,
    ) -> Model:
        """A time at which an expression passes zero: steps land on it, `run.json` lists it, and it can stop the run, switch parts and change parameters.

        - `zero_of`: Expression of `t`, joint coordinates (`crank.angle - pi/2`), positions, velocities and reactions, by the names of their signals, and of inputs; setting an input is no passage.
        - `direction`: Which passages count: from below zero (`rising`), from above (`falling`) or `both`. Default: `"both"`.
        - `tolerance` [s]: Accuracy of the time at which it is located. Default: `1e-9`.
        - `stop`: Whether the run ends here. Default: `false`.
        - `switch_on`: Forces, springs, joints, drives and locks to switch on; joints must fit without an impulse.
        - `switch_off`: Forces, springs, joints, drives and locks to switch off.
        - `set`: New values of parameters (`{ k = 200 }`), numbers or expressions of the values at the start; only forces, springs, dampers, bushings, friction and stops may use such a parameter, so that nothing jumps but forces.
        - `repeat`: Makes this many of it; `i` counts them from 0.
        - `when`: Condition: it exists only if this is not 0.
        """
        entries = {
            "name": name,
            "zero-of": zero_of,
            "direction": direction,
            "tolerance": tolerance,
            "stop": stop,
            "switch-on": switch_on,
            "switch-off": switch_off,
            "set": set,
            "repeat": repeat,
            "when": when,
        }
        return self._add("event", False, entries)
