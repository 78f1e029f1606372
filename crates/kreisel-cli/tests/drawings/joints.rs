//! Joints, couplings and drives.

use super::Drawing;
use super::pen::{AXES, FORCE, INK, MEASURE, Pen, Solid};
use super::stage::Stage;
use kreisel::lie::{Pose, Vector3};

/// Orange, of what belongs to neither body.
const OTHER: [f64; 3] = [0.96, 0.77, 0.53];

/// A slab on the ground as the first body.
macro_rules! on_slab {
    ($parts:expr) => {
        concat!(
            "[[body]]\nname = 'first'\ndensity = 1\nshapes = [{ kind = 'box', size = [1.2, 0.9, 0.1] }]\n",
            "[[fixed]]\nname = 'base'\nbodies = ['ground', 'first']\n",
            $parts
        )
    };
}

/// A slab with a pin, and a lever that turns on it.
macro_rules! lever {
    ($parts:expr) => {
        concat!(
            "[[body]]\nname = 'first'\ndensity = 1\nshapes = [{ kind = 'box', size = [1.1, 0.9, 0.1] },\n",
            "{ kind = 'cylinder', radius = 0.07, length = 0.36, position = [0, 0, 0.2] }]\n",
            "[[fixed]]\nname = 'base'\nbodies = ['ground', 'first']\n",
            "[[body]]\nname = 'second'\ndensity = 1\nposition = [0, 0, 0.2]\n",
            "shapes = [{ kind = 'box', size = [0.95, 0.2, 0.1], position = [0.3, 0, 0] }]\n",
            $parts
        )
    };
}

/// A rail along x, and a carriage on it.
macro_rules! carriage {
    ($parts:expr) => {
        concat!(
            "[[body]]\nname = 'first'\ndensity = 1\nshapes = [{ kind = 'box', size = [1.9, 0.26, 0.12] }]\n",
            "[[fixed]]\nname = 'base'\nbodies = ['ground', 'first']\n",
            "[[body]]\nname = 'second'\ndensity = 1\nposition = [-0.5, 0, 0.11]\n",
            "shapes = [{ kind = 'box', size = [0.42, 0.4, 0.22] }]\n",
            $parts
        )
    };
}

pub(super) use {carriage, lever, on_slab};

fn unit(axis: usize) -> Vector3 {
    Vector3::from_fn(|k, _| if k == axis { 1.0 } else { 0.0 })
}

/// From the origin of the first frame along its axes, one after the other, to that of the second.
fn way(stage: &Stage, pen: &mut Pen, joint: &str) {
    let [first, second] = stage.frames(joint);
    let x = first.rotation * unit(0) * stage.value(&format!("{joint}.x"));
    let y = first.rotation * unit(1) * stage.value(&format!("{joint}.y"));
    assert!((first.position + x + y - second.position).norm() < 1e-6);
    pen.span(&first.position, &(first.position + x), [0.0, 14.0], "x");
    pen.span(&(first.position + x), &second.position, [-9.0, -8.0], "y");
}

fn coil(radius: f64, turns: f64, from: f64, to: f64, at: &Pose) -> Vec<Vector3> {
    let count = (24.0 * turns) as usize;
    let point = |k: usize| {
        let part = k as f64 / count as f64;
        let (sin, cos) = (std::f64::consts::TAU * turns * part).sin_cos();
        at.transform_point(&Vector3::new(radius * cos, radius * sin, from + part * (to - from)))
    };
    (0..=count).map(point).collect()
}

pub const ALL: &[Drawing] = &[
    Drawing {
        kind: "fixed",
        model: on_slab!(
            "[[body]]\nname = 'second'\ndensity = 1\nposition = [0.1, 0, 0.3]\nshapes = [{ kind = 'box', size = [0.3, 0.3, 0.5] }]\n\
             [[fixed]]\nname = 'joint'\nbodies = ['first', 'second']\npoint = [0.1, 0, 0.05]\n"
        ),
        view: [-30.0, 26.0],
        marks: |stage, pen| {
            let [frame, _] = stage.frames("joint");
            pen.triad(&frame, 0.5, "");
            let from = frame.position + Vector3::new(-0.02, 0.0, 0.0);
            let force = stage.vector("joint.force").normalize();
            pen.arrow(&from, &(from + 0.8 * force), FORCE, "force");
        },
    },
    Drawing {
        kind: "revolute",
        model: lever!(
            "[[revolute]]\nname = 'joint'\nbodies = ['first', 'second']\npoint = [0, 0, 0.38]\nangle = '38 deg'\n"
        ),
        view: [-24.0, 34.0],
        marks: |stage, pen| {
            let [first, second] = stage.frames("joint");
            pen.triad(&first, 0.6, "");
            pen.arrow(&second.position, &second.transform_point(&(0.68 * unit(0))), AXES[0], "x₂");
            stage.angle(pen, "joint", 0.46, "angle");
            stage.reaction(pen, "joint", 0.34, "force");
        },
    },
    Drawing {
        kind: "prismatic",
        model: carriage!(
            "[[prismatic]]\nname = 'joint'\nbodies = ['first', 'second']\npoint = [-0.5, 0, 0.22]\naxis = [1, 0, 0]\ndisplacement = 0.7\n"
        ),
        view: [-22.0, 30.0],
        marks: |stage, pen| {
            let [first, second] = stage.frames("joint");
            pen.triad(&first, 0.3, "");
            pen.triad(&second, 0.3, "₂");
            let lift = Vector3::new(0.0, 0.0, -0.31);
            let ends =
                [first.position + lift, second.position + lift].map(|end| end + Vector3::new(0.0, -0.2, 0.0));
            assert!(stage.value("joint.displacement") > 0.0);
            pen.span(&ends[0], &ends[1], [0.0, 14.0], "displacement");
        },
    },
    Drawing {
        kind: "cylindrical",
        model: "[[body]]\nname = 'first'\ndensity = 1\nshapes = [{ kind = 'cylinder', radius = 0.07, length = 1.8, orientation = { z-axis = [1, 0, 0] } }]\n\
                [[fixed]]\nname = 'base'\nbodies = ['ground', 'first']\n\
                [[body]]\nname = 'second'\ndensity = 1\nposition = [-0.5, 0, 0]\nshapes = [{ kind = 'cylinder', radius = 0.17, length = 0.3, orientation = { z-axis = [1, 0, 0] } },\n\
                { kind = 'box', size = [0.14, 0.1, 0.36], position = [0, 0, 0.3] }]\n\
                [[cylindrical]]\nname = 'joint'\nbodies = ['first', 'second']\npoint = [-0.5, 0, 0]\naxis = [1, 0, 0]\nx-axis = [0, 0, 1]\nangle = '40 deg'\ndisplacement = 0.75\n",
        view: [32.0, 26.0],
        marks: |stage, pen| {
            let [first, second] = stage.frames("joint");
            pen.triad(&first, 0.42, "");
            let there = Pose::new(first.rotation, second.position);
            pen.line(&[there.position, there.transform_point(&(0.5 * unit(0)))], AXES[0], true);
            pen.arrow(&second.position, &second.transform_point(&(0.62 * unit(0))), AXES[0], "x₂");
            stage.angle(pen, "joint", 0.46, "angle");
            let lift = Vector3::new(0.0, 0.0, -0.27);
            pen.span(&(first.position + lift), &(second.position + lift), [0.0, 14.0], "displacement");
        },
    },
    Drawing {
        kind: "spherical",
        model: "[[body]]\nname = 'first'\ndensity = 1\nshapes = [{ kind = 'box', size = [0.9, 0.8, 0.1] }, { kind = 'cylinder', radius = 0.1, length = 0.2, position = [0, 0, 0.14] }]\n\
                [[fixed]]\nname = 'base'\nbodies = ['ground', 'first']\n\
                [[body]]\nname = 'second'\ndensity = 1\nposition = [0, 0, 0.36]\norientation = { z-axis = [0.75, 0.2, 0.8] }\n\
                shapes = [{ kind = 'sphere', radius = 0.15 }, { kind = 'cylinder', radius = 0.06, length = 0.6, position = [0, 0, 0.4] }]\n\
                [[spherical]]\nname = 'joint'\nbodies = ['first', 'second']\npoint = [0, 0, 0.36]\n",
        view: [-24.0, 24.0],
        marks: |stage, pen| {
            let [first, _] = stage.frames("joint");
            pen.triad(&first, 0.44, "");
            let force = stage.vector("joint.force").normalize();
            pen.arrow(&first.position, &(first.position + 0.55 * force), FORCE, "force");
        },
    },
    Drawing {
        kind: "universal",
        model: "[[body]]\nname = 'first'\ndensity = 1\nshapes = [{ kind = 'cylinder', radius = 0.08, length = 0.5, position = [-0.52, 0, 0], orientation = { z-axis = [1, 0, 0] } },\n\
                { kind = 'box', size = [0.08, 0.14, 0.54], position = [-0.23, 0, 0] }, { kind = 'box', size = [0.28, 0.14, 0.06], position = [-0.08, 0, 0.24] }, { kind = 'box', size = [0.28, 0.14, 0.06], position = [-0.08, 0, -0.24] }]\n\
                [[fixed]]\nname = 'base'\nbodies = ['ground', 'first']\n\
                [[body]]\nname = 'second'\ndensity = 1\nshapes = [{ kind = 'cylinder', radius = 0.08, length = 0.5, position = [0.52, 0, 0], orientation = { z-axis = [1, 0, 0] } },\n\
                { kind = 'box', size = [0.08, 0.54, 0.14], position = [0.23, 0, 0] }, { kind = 'box', size = [0.28, 0.06, 0.14], position = [0.08, 0.24, 0] }, { kind = 'box', size = [0.28, 0.06, 0.14], position = [0.08, -0.24, 0] }]\n\
                [[universal]]\nname = 'joint'\nbodies = ['first', 'second']\npoint = [0, 0, 0]\nfirst-axis = [0, 0, 1]\nsecond-axis = [0, 1, 0]\nfirst-angle = '24 deg'\nsecond-angle = '22 deg'\n",
        view: [-32.0, 28.0],
        marks: |stage, pen| {
            let [first, second] = stage.frames("joint");
            let (x, y) = (first.rotation * unit(0), second.rotation * unit(1));
            let towards =
                |way: &Vector3| nalgebra::UnitQuaternion::rotation_between(&Vector3::z(), way).unwrap();
            for way in [x, y] {
                pen.solid(
                    &Solid::cylinder(0.04, 0.56).placed(&Pose::new(towards(&way), first.position)),
                    OTHER,
                );
            }
            pen.arrow(&first.position, &(first.position + 0.62 * x), AXES[0], "first-axis");
            pen.arrow(&first.position, &(first.position + 0.72 * y), AXES[1], "second-axis");
            let still = first.rotation * unit(1);
            let angle = stage.value("joint.first-angle");
            assert!((nalgebra::UnitQuaternion::from_scaled_axis(x * angle) * still - y).norm() < 1e-6);
            pen.line(&[first.position, first.position + 0.62 * still], AXES[1], true);
            pen.arc(&first.position, &x, &(0.52 * still), angle, "", MEASURE);
            pen.beside(&(first.position + 0.62 * still), [-10.0, -12.0], "first-angle", MEASURE);
            let angle = stage.value("joint.second-angle");
            let across = x.cross(&y);
            let turned = nalgebra::UnitQuaternion::from_scaled_axis(y * angle) * across;
            assert!((turned - second.rotation * unit(2)).norm() < 1e-6);
            let (from, to) = (across * across.x.signum(), turned * across.x.signum());
            pen.line(&[first.position, first.position + 0.95 * from], INK, true);
            pen.line(&[first.position, first.position + 0.95 * to], INK, true);
            pen.arc(&first.position, &y, &(0.88 * from), angle, "second-angle", MEASURE);
        },
    },
    Drawing {
        kind: "planar",
        model: concat!(
            "[[body]]\nname = 'first'\ndensity = 1\nshapes = [{ kind = 'box', size = [1.7, 1.3, 0.08] }]\n[[fixed]]\nname = 'base'\nbodies = ['ground', 'first']\n",
            "[[body]]\nname = 'second'\ndensity = 1\nposition = [-0.5, -0.35, 0.12]\nshapes = [{ kind = 'box', size = [0.5, 0.34, 0.16] }]\n",
            "[[planar]]\nname = 'joint'\nbodies = ['first', 'second']\npoint = [-0.5, -0.35, 0.04]\nx = 0.75\ny = 0.5\nangle = '35 deg'\n"
        ),
        view: [-24.0, 40.0],
        marks: |stage, pen| {
            let [first, second] = stage.frames("joint");
            pen.triad(&first, 0.3, "");
            way(stage, pen, "joint");
            pen.line(&[second.position, second.position + first.rotation * unit(0) * 0.55], AXES[0], true);
            pen.arrow(&second.position, &second.transform_point(&(0.55 * unit(0))), AXES[0], "x₂");
            stage.angle(pen, "joint", 0.42, "angle");
        },
    },
    Drawing {
        kind: "screw",
        model: "[[body]]\nname = 'first'\ndensity = 1\nshapes = [{ kind = 'cylinder', radius = 0.1, length = 1.9, orientation = { z-axis = [1, 0, 0] } }]\n\
                [[fixed]]\nname = 'base'\nbodies = ['ground', 'first']\n\
                [[body]]\nname = 'second'\ndensity = 1\nposition = [-0.4, 0, 0]\nshapes = [{ kind = 'cylinder', radius = 0.2, length = 0.22, orientation = { z-axis = [1, 0, 0] } },\n\
                { kind = 'box', size = [0.12, 0.1, 0.3], position = [0, 0, 0.3] }]\n\
                [[screw]]\nname = 'joint'\nbodies = ['first', 'second']\npoint = [-0.4, 0, 0]\naxis = [1, 0, 0]\nx-axis = [0, 0, 1]\nlead = 2.4\nangle = '60 deg'\n",
        view: [32.0, 24.0],
        marks: |stage, pen| {
            let [first, second] = stage.frames("joint");
            pen.line_around(&coil(0.101, 3.0, -0.5, 0.17, &first), &first, INK);
            pen.line_around(&coil(0.101, 3.0, 0.63, 1.3, &first), &first, INK);
            pen.triad(&first, 0.4, "");
            pen.line(&[second.position, second.position + first.rotation * unit(0) * 0.5], AXES[0], true);
            pen.arrow(&second.position, &second.transform_point(&(0.6 * unit(0))), AXES[0], "x₂");
            stage.angle(pen, "joint", 0.46, "angle");
            let lift = Vector3::new(0.0, 0.0, -0.3);
            let (turn, displacement) = (stage.value("joint.angle"), stage.value("joint.displacement"));
            assert!((displacement - 2.4 * turn / std::f64::consts::TAU).abs() < 1e-6);
            pen.span(
                &(first.position + lift),
                &(second.position + lift),
                [0.0, 15.0],
                "displacement = lead × angle / 2π",
            );
        },
    },
    Drawing {
        kind: "distance",
        model: on_slab!(
            "[[body]]\nname = 'second'\ndensity = 1\nposition = [0.75, 0, 0.75]\nshapes = [{ kind = 'box', size = [0.3, 0.3, 0.3] }]\n\
             [[distance]]\nname = 'joint'\nbodies = ['first', 'second']\npoints = [[-0.3, 0, 0.05], [0.75, 0, 0.6]]\n"
        ),
        view: [-24.0, 24.0],
        marks: |stage, pen| {
            let [first, second] = stage.frames("joint");
            let (from, to) = (first.position, second.position);
            let middle = Pose::new(first.rotation, 0.5 * (from + to));
            pen.solid(&Solid::cylinder(0.025, (to - from).norm()).placed(&middle), OTHER);
            for end in [from, to] {
                pen.solid(&Solid::sphere(0.05).placed(&Pose::new(first.rotation, end)), OTHER);
            }
            let aside = Vector3::new(0.07, 0.0, -0.14);
            assert!((stage.value("joint.length") - (to - from).norm()).abs() < 1e-6);
            pen.span(&(from + aside), &(to + aside), [10.0, 12.0], "length");
        },
    },
    Drawing {
        kind: "point-on-line",
        model: on_slab!(
            "[[body]]\nname = 'second'\ndensity = 1\nposition = [-0.2, 0, 0.72]\norientation = { axis = [0, 1, 0], angle = '25 deg' }\nshapes = [{ kind = 'box', size = [0.2, 0.2, 0.7] }]\n\
             [[point-on-line]]\nname = 'joint'\nbodies = ['first', 'second']\npoint = [-0.36, 0, 0.38]\naxis = [1, 0, 0]\ndisplacement = 0.5\n"
        ),
        view: [-24.0, 26.0],
        marks: |stage, pen| {
            let [first, second] = stage.frames("joint");
            let [back, on] = [-0.35, 1.05].map(|part| first.transform_point(&(part * unit(2))));
            pen.line(&[back, on], INK, true);
            pen.triad(&first, 0.3, "");
            pen.solid(&Solid::sphere(0.05).placed(&Pose::new(first.rotation, second.position)), OTHER);
            let lift = Vector3::new(0.0, 0.0, -0.12);
            let displacement = stage.value("joint.displacement");
            assert!(
                (first.position + first.rotation * unit(2) * displacement - second.position).norm() < 1e-6
            );
            pen.span(&(first.position + lift), &(second.position + lift), [0.0, 14.0], "displacement");
        },
    },
    Drawing {
        kind: "point-on-plane",
        model: concat!(
            "[[body]]\nname = 'first'\ndensity = 1\nshapes = [{ kind = 'box', size = [1.6, 1.2, 0.08] }]\n[[fixed]]\nname = 'base'\nbodies = ['ground', 'first']\n",
            "[[body]]\nname = 'second'\ndensity = 1\nposition = [-0.3, -0.25, 0.38]\norientation = { axis = [0, 1, 0], angle = '28 deg' }\nshapes = [{ kind = 'box', size = [0.2, 0.2, 0.6] }]\n",
            "[[point-on-plane]]\nname = 'joint'\nbodies = ['first', 'second']\npoint = [-0.47, -0.25, 0.04]\nx = 0.6\ny = 0.45\n"
        ),
        view: [-24.0, 36.0],
        marks: |stage, pen| {
            let [first, second] = stage.frames("joint");
            pen.triad(&first, 0.3, "");
            pen.solid(&Solid::sphere(0.05).placed(&Pose::new(first.rotation, second.position)), OTHER);
            way(stage, pen, "joint");
        },
    },
    Drawing {
        kind: "rolling",
        model: on_slab!(
            "[[body]]\nname = 'second'\ndensity = 1\nposition = [0, 0, 0.41]\norientation = { z-axis = [0, -1, 0] }\nshapes = [{ kind = 'cylinder', radius = 0.36, length = 0.05 }]\n\
             velocity = [0.36, 0, 0]\nangular-velocity = [0, 1, 0]\n\
             [[rolling]]\nname = 'joint'\nbodies = ['first', 'second']\nradius = 0.36\npoint = [0, 0, 0.05]\n[[sensor]]\nname = 'v'\nof = 'second'\nquantity = 'velocity'\n[[sensor]]\nname = 'w'\nof = 'second'\nquantity = 'angular-velocity'\n"
        ),
        view: [-30.0, 24.0],
        marks: |stage, pen| {
            let wheel = stage.body("second");
            let axis = wheel.rotation * unit(2);
            pen.arrow(&wheel.position, &(wheel.position + 0.45 * axis), AXES[2], "wheel-axis");
            let foot = wheel.position - Vector3::new(0.0, 0.0, 0.36);
            pen.span(&(wheel.position + 0.03 * axis), &(foot + 0.03 * axis), [-28.0, 0.0], "radius");
            let speed = stage.vector("v.velocity").normalize();
            let spin = stage.vector("w.angular-velocity");
            assert!((0.36 * spin.cross(&Vector3::z()) - stage.vector("v.velocity")).norm() < 1e-6);
            pen.arc(&wheel.position, &spin, &Vector3::new(-0.3, 0.0, 0.32), 1.3, "rolls", MEASURE);
            pen.arrow(&wheel.position, &(wheel.position + 0.55 * speed), MEASURE, "velocity");
            let force = stage.vector("joint.force").normalize();
            pen.arrow(&foot, &(foot + 0.3 * force), FORCE, "force");
        },
    },
    Drawing {
        kind: "knife-edge",
        model: on_slab!(
            "[[body]]\nname = 'second'\ndensity = 1\nposition = [0, 0, 0.3]\norientation = { z-axis = [0, 0, 1], x-axis = [1, 0.35, 0] }\n\
             shapes = [{ kind = 'box', size = [0.6, 0.03, 0.16], position = [0, 0, -0.16] }, { kind = 'box', size = [0.5, 0.3, 0.12] }]\n\
             [[planar]]\nname = 'ice'\nbodies = ['first', 'second']\n\
             [[knife-edge]]\nname = 'joint'\nbodies = ['first', 'second']\npoint = [0, 0, 0.05]\nx-axis = [1, 0.35, 0]\n"
        ),
        view: [-30.0, 30.0],
        marks: |stage, pen| {
            let body = stage.body("second");
            let foot = body.transform_point(&Vector3::new(0.0, 0.0, -0.25));
            let [x, y] = [0, 1].map(|axis| body.rotation * unit(axis));
            pen.span(&(foot - 0.55 * x), &(foot + 0.55 * x), [70.0, -6.0], "x: glides");
            pen.arrow(&foot, &(foot + 0.45 * y), AXES[1], "");
            pen.arrow(&foot, &(foot - 0.5 * y), AXES[1], "y: does not slip");
        },
    },
    Drawing {
        kind: "gear",
        model: "[[body]]\nname = 'first'\ndensity = 1\nshapes = [{ kind = 'box', size = [1.7, 0.9, 0.06] }]\n[[fixed]]\nname = 'base'\nbodies = ['ground', 'first']\n\
                [[body]]\nname = 'second'\ndensity = 1\nposition = [-0.35, 0, 0.12]\nshapes = [{ kind = 'cylinder', radius = 0.4, length = 0.1 }]\n\
                [[body]]\nname = 'third'\ndensity = 1\nposition = [0.25, 0, 0.12]\nshapes = [{ kind = 'cylinder', radius = 0.2, length = 0.1 }]\n\
                [[revolute]]\nname = 'one'\nbodies = ['first', 'second']\npoint = [-0.35, 0, 0.17]\nangle = '30 deg'\n\
                [[revolute]]\nname = 'two'\nbodies = ['first', 'third']\npoint = [0.25, 0, 0.17]\nangle = '-60 deg'\n\
                [[gear]]\nname = 'gear'\njoints = ['one', 'two']\nratio = -2\n",
        view: [-20.0, 46.0],
        marks: |stage, pen| {
            for (joint, radius, words) in [("one", 0.3, "first"), ("two", 0.26, "second")] {
                let [first, second] = stage.frames(joint);
                pen.line(&[first.position, first.transform_point(&(radius * unit(0)))], AXES[0], true);
                pen.arrow(&second.position, &second.transform_point(&(1.2 * radius * unit(0))), AXES[0], "");
                pen.arrow(&first.position, &first.transform_point(&(0.32 * unit(2))), AXES[2], "z");
                stage.angle(pen, joint, radius, words);
            }
            assert!((stage.value("two.angle") + 2.0 * stage.value("one.angle")).abs() < 1e-6);
            pen.beside(
                &Vector3::new(0.0, -0.5, 0.0),
                [0.0, 34.0],
                "angles, ratio = −2: second = −2 × first + offset",
                INK,
            );
        },
    },
    Drawing {
        kind: "coupling",
        model: "[[body]]\nname = 'first'\ndensity = 1\nshapes = [{ kind = 'box', size = [1.7, 1.0, 0.06] }]\n[[fixed]]\nname = 'base'\nbodies = ['ground', 'first']\n\
                [[body]]\nname = 'second'\ndensity = 1\nposition = [0, 0.12, 0.12]\nshapes = [{ kind = 'cylinder', radius = 0.3, length = 0.1 }]\n\
                [[body]]\nname = 'third'\ndensity = 1\nposition = [-0.25, -0.24, 0.12]\nshapes = [{ kind = 'box', size = [0.9, 0.12, 0.1] }]\n\
                [[revolute]]\nname = 'pinion'\nbodies = ['first', 'second']\npoint = [0, 0.12, 0.17]\nangle = '60 deg'\n\
                [[prismatic]]\nname = 'rack'\nbodies = ['first', 'third']\npoint = [-0.25, -0.24, 0.17]\naxis = [1, 0, 0]\ndisplacement = '0.3*pi/3'\n\
                [[coupling]]\nname = 'joint'\njoints = ['pinion', 'rack']\nfactors = [0.3, -1]\n",
        view: [-20.0, 46.0],
        marks: |stage, pen| {
            let [first, second] = stage.frames("pinion");
            pen.line(&[first.position, first.transform_point(&(0.28 * unit(0)))], AXES[0], true);
            pen.arrow(&second.position, &second.transform_point(&(0.36 * unit(0))), AXES[0], "");
            stage.angle(pen, "pinion", 0.24, "");
            pen.beside(&first.position, [0.0, -74.0], "pinion.angle", MEASURE);
            let [first, second] = stage.frames("rack");
            let aside = Vector3::new(0.0, -0.08, -0.06);
            assert!((0.3 * stage.value("pinion.angle") - stage.value("rack.displacement")).abs() < 1e-6);
            pen.span(&(first.position + aside), &(second.position + aside), [0.0, 15.0], "rack.displacement");
            pen.beside(
                &Vector3::new(0.0, -0.55, 0.0),
                [0.0, 42.0],
                "factors = [0.3, −1]: 0.3 × angle − displacement = offset",
                INK,
            );
        },
    },
    Drawing {
        kind: "velocity-coupling",
        model: "[[body]]\nname = 'first'\ndensity = 1\nshapes = [{ kind = 'box', size = [1.7, 1.0, 0.06] }]\n[[fixed]]\nname = 'base'\nbodies = ['ground', 'first']\n\
                [[body]]\nname = 'second'\ndensity = 1\nposition = [-0.1, 0, 0.13]\nvelocity = [0.4, 0, 0]\nshapes = [{ kind = 'box', size = [0.7, 0.4, 0.14] }]\n\
                [[planar]]\nname = 'floor'\nbodies = ['first', 'second']\n\
                [[velocity-coupling]]\nname = 'joint'\nrates = ['second.velocity.x', 'second.angular-velocity.z']\nfactors = [1, -0.5]\n[[sensor]]\nname = 'v'\nof = 'second'\nquantity = 'velocity'\n[[sensor]]\nname = 'w'\nof = 'second'\nquantity = 'angular-velocity'\n",
        view: [-20.0, 40.0],
        marks: |stage, pen| {
            let top = stage.body("second").transform_point(&Vector3::new(0.0, 0.0, 0.07));
            let (speed, turn) = (stage.vector("v.velocity"), stage.vector("w.angular-velocity"));
            assert!((speed.x - 0.5 * turn.z).abs() < 1e-6 && turn.z > 0.0);
            pen.arrow(&top, &(top + Vector3::new(0.6, 0.0, 0.0)), MEASURE, "velocity.x");
            pen.arc(&top, &turn, &Vector3::new(0.26, 0.0, 0.0), 4.2, "angular-velocity.z", MEASURE);
            pen.beside(
                &Vector3::new(0.0, -0.55, 0.0),
                [0.0, 34.0],
                "factors = [1, −0.5]: velocity.x − 0.5 × angular-velocity.z = value",
                INK,
            );
        },
    },
    Drawing {
        kind: "drive",
        model: lever!(
            "[[revolute]]\nname = 'pin'\nbodies = ['first', 'second']\npoint = [0, 0, 0.38]\nangle = '40 deg'\nrate = 2\n\
                       [[drive]]\nname = 'joint'\njoint = 'pin'\nangle = '40[deg] + 2*t + 20*t^2'\n"
        ),
        view: [-24.0, 34.0],
        marks: |stage, pen| {
            let [first, second] = stage.frames("pin");
            pen.triad(&first, 0.58, "");
            pen.arrow(&second.position, &second.transform_point(&(0.66 * unit(0))), AXES[0], "x₂");
            stage.angle(pen, "pin", 0.46, "angle(t)");
            let torque = stage.vector("joint.torque");
            assert!(torque.z > 0.0);
            let aside = second.rotation * Vector3::new(-0.2, 0.0, 0.0);
            let above = first.transform_point(&Vector3::new(0.0, 0.0, 0.3));
            pen.arc(&above, &torque, &aside, 4.0, "", FORCE);
            pen.beside(&above, [-66.0, -6.0], "torque", FORCE);
        },
    },
];
