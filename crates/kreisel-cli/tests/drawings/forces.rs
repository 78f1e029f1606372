//! Forces, contacts and beams.

use super::Drawing;
use super::joints::{carriage, lever, on_slab};
use super::pen::{AXES, FORCE, INK, MEASURE, Pen, Solid};
use kreisel::lie::{Pose, Vector3};

const RUBBER: [f64; 3] = [0.96, 0.77, 0.53];

fn unit(axis: usize) -> Vector3 {
    Vector3::from_fn(|k, _| if k == axis { 1.0 } else { 0.0 })
}

/// A coil and a dashpot side by side between two points.
fn spring_and_damper(pen: &mut Pen, from: &Vector3, to: &Vector3) {
    let along = (to - from).normalize();
    let aside = along.cross(&Vector3::y()).normalize() * 0.09;
    let point = |part: f64| from + part * (to - from);
    let zigzag = |k: i32| {
        point(0.2 + 0.6 * f64::from(k) / 12.0)
            + aside
            + aside
                * match k {
                    0 | 12 => 0.0,
                    k if k % 2 == 0 => -0.6,
                    _ => 0.6,
                }
    };
    let coil: Vec<Vector3> =
        [point(0.1) + aside].into_iter().chain((0..=12).map(zigzag)).chain([point(0.9) + aside]).collect();
    pen.line(&coil, INK, false);
    let pot = |part: f64, side: f64| point(part) - aside + side * 0.5 * aside;
    pen.line(&[point(0.1) - aside, point(0.5) - aside], INK, false);
    pen.line(&[pot(0.5, -0.7), pot(0.5, 0.7)], INK, false);
    pen.line(&[pot(0.38, -1.0), pot(0.62, -1.0), pot(0.62, 1.0), pot(0.38, 1.0)], INK, false);
    pen.line(&[point(0.62) - aside, point(0.9) - aside], INK, false);
    for part in [0.1, 0.9] {
        pen.line(&[point(part) + aside, point(part) - aside], INK, false);
        pen.line(&[point(part), point(if part < 0.5 { 0.0 } else { 1.0 })], INK, false);
    }
}

pub const ALL: &[Drawing] = &[
    Drawing {
        kind: "spring-damper",
        model: "[[body]]\nname = 'first'\ndensity = 1\nposition = [-0.85, 0, 0]\nshapes = [{ kind = 'box', size = [0.3, 0.4, 0.4] }]\n\
                [[fixed]]\nname = 'base'\nbodies = ['ground', 'first']\n\
                [[body]]\nname = 'second'\ndensity = 1\nposition = [0.85, 0, 0]\nshapes = [{ kind = 'box', size = [0.3, 0.4, 0.4] }]\n\
                [[spring-damper]]\nname = 'spring'\nbodies = ['first', 'second']\npoints = [[-0.7, 0, 0], [0.7, 0, 0]]\nfree-length = 1\nstiffness = 10\ndamping = 1\n\
                [[sensor]]\nname = 'pull'\nof = 'spring'\nquantity = 'force'\n[[sensor]]\nname = 'far'\nof = 'spring'\nquantity = 'length'\n",
        view: [-16.0, 22.0],
        marks: |stage, pen| {
            let (from, to) = (Vector3::new(-0.7, 0.0, 0.0), Vector3::new(0.7, 0.0, 0.0));
            spring_and_damper(pen, &from, &to);
            assert!(stage.value("pull.force") > 0.0 && (stage.value("far.length") - 1.4).abs() < 1e-6);
            let below = Vector3::new(0.0, -0.2, -0.3);
            pen.span(&(from + below), &(to + below), [0.0, 14.0], "length");
            let above = Vector3::new(0.0, 0.0, 0.3);
            pen.arrow(&(from + above), &(from + above + 0.4 * unit(0)), FORCE, "");
            pen.arrow(&(to + above), &(to + above - 0.4 * unit(0)), FORCE, "");
            pen.beside(&above, [0.0, -14.0], "force > 0 pulls", FORCE);
        },
    },
    Drawing {
        kind: "torsional-spring-damper",
        model: lever!(
            "[[revolute]]\nname = 'pin'\nbodies = ['first', 'second']\npoint = [0, 0, 0.38]\nangle = '45 deg'\n\
                       [[torsional-spring-damper]]\nname = 'spring'\njoint = 'pin'\nstiffness = 10\nfree-angle = 0\n\
                       [[sensor]]\nname = 'back'\nof = 'spring'\nquantity = 'torque'\n"
        ),
        view: [-24.0, 36.0],
        marks: |stage, pen| {
            let [first, second] = stage.frames("pin");
            pen.triad(&first, 0.55, "");
            pen.arrow(&second.position, &second.transform_point(&(0.66 * unit(0))), AXES[0], "x₂");
            stage.angle(pen, "pin", 0.48, "angle");
            let spiral = |k: i32| {
                let (sin, cos) = (f64::from(k) / 40.0 * 3.5 * std::f64::consts::TAU).sin_cos();
                let radius = 0.06 + 0.1 * f64::from(k) / 40.0;
                first.transform_point(&Vector3::new(radius * cos, radius * sin, 0.01))
            };
            pen.line(&(0..=40).map(spiral).collect::<Vec<_>>(), INK, false);
            assert!(stage.value("back.torque") > 0.0);
            let aside = first.rotation * Vector3::new(-0.24, 0.14, 0.0);
            pen.arc(
                &first.position,
                &(first.rotation * unit(2)),
                &aside,
                -2.2,
                "torque > 0 turns back",
                FORCE,
            );
        },
    },
    Drawing {
        kind: "force",
        model: "[[body]]\nname = 'second'\ndensity = 1\nshapes = [{ kind = 'box', size = [0.9, 0.5, 0.3] }]\norientation = { axis = [0, 0, 1], angle = '25 deg' }\n\
                [[marker]]\nname = 'tip'\nbody = 'second'\nposition = [0.45, 0, 0]\n\
                [[force]]\nname = 'push'\nbody = 'second.tip'\nforce = [0.5, 0, 0.3]\ntorque = [0, 0, 1]\naxes = 'body'\n",
        view: [-24.0, 28.0],
        marks: |stage, pen| {
            let at = stage.marker("second", "tip");
            pen.triad(&at, 0.32, "");
            let (force, torque) = (stage.vector("push.force"), stage.vector("push.torque"));
            pen.arrow(&at.position, &(at.position + 1.1 * force), FORCE, "force");
            let above = at.transform_point(&Vector3::new(0.0, 0.0, 0.42));
            pen.arc(&above, &torque, &Vector3::new(-0.1, -0.1, 0.0), 4.4, "torque", FORCE);
        },
    },
    Drawing {
        kind: "joint-force",
        model: carriage!(
            "[[prismatic]]\nname = 'slide'\nbodies = ['first', 'second']\npoint = [-0.5, 0, 0.22]\naxis = [1, 0, 0]\ndisplacement = 0.5\n\
                          [[joint-force]]\nname = 'motor'\njoint = 'slide'\nforce = 5\n[[sensor]]\nname = 'push'\nof = 'motor'\nquantity = 'force'\n\
                          [[sensor]]\nname = 'pace'\nof = 'second'\nquantity = 'acceleration'\n"
        ),
        view: [-22.0, 30.0],
        marks: |stage, pen| {
            let [first, second] = stage.frames("slide");
            pen.triad(&first, 0.3, "");
            assert!(stage.value("push.force") > 0.0 && stage.value("pace.acceleration.x") > 0.0);
            let aside = Vector3::new(0.0, -0.22, -0.11);
            pen.arrow(
                &(second.position + aside),
                &(second.position + aside + 0.6 * unit(0)),
                FORCE,
                "force > 0",
            );
            let foot = Vector3::new(0.1, -0.14, -0.02);
            pen.arrow(&(foot), &(foot - 0.5 * unit(0)), FORCE, "back on the first");
        },
    },
    Drawing {
        kind: "bushing",
        model: on_slab!(
            "[[body]]\nname = 'second'\ndensity = 1\nposition = [0.16, 0, 0.58]\norientation = { axis = [0, 1, 0], angle = '16 deg' }\nshapes = [{ kind = 'box', size = [0.8, 0.5, 0.12] }]\n\
             [[marker]]\nname = 'under'\nbody = 'second'\nposition = [0, 0, -0.06]\n[[marker]]\nname = 'over'\nbody = 'first'\nposition = [0, 0, 0.35]\n\
             [[bushing]]\nname = 'mount'\nbodies = ['first.over', 'second.under']\ntranslational-stiffness = [1, 1, 1]\n\
             [[sensor]]\nname = 'push'\nof = 'mount'\nquantity = 'force'\n"
        ),
        view: [-24.0, 22.0],
        marks: |stage, pen| {
            let (first, second) = (stage.marker("first", "over"), stage.marker("second", "under"));
            pen.solid(
                &Solid::cylinder(0.2, 0.38).placed(&Pose::new(first.rotation, Vector3::new(0.05, 0.0, 0.24))),
                RUBBER,
            );
            pen.triad(&first, 0.3, "");
            pen.triad(&second, 0.62, "₂");
            // It pulls the second frame back to the first.
            let away = second.position - first.position;
            assert!(stage.vector("push.force").dot(&away) < 0.0);
        },
    },
    Drawing {
        kind: "joint-friction",
        model: carriage!(
            "[[prismatic]]\nname = 'slide'\nbodies = ['first', 'second']\npoint = [-0.5, 0, 0.22]\naxis = [1, 0, 0]\ndisplacement = 0.5\nrate = 1\n\
                          [[joint-friction]]\nname = 'drag'\njoint = 'slide'\nforce = 3\n[[sensor]]\nname = 'pace'\nof = 'second'\nquantity = 'acceleration'\n"
        ),
        view: [-22.0, 30.0],
        marks: |stage, pen| {
            let [first, second] = stage.frames("slide");
            pen.triad(&first, 0.3, "");
            assert!(stage.value("slide.displacement-rate") > 0.0 && stage.value("pace.acceleration.x") < 0.0);
            let aside = Vector3::new(0.0, -0.22, -0.11);
            pen.arrow(&second.position, &(second.position + 0.6 * unit(0)), MEASURE, "rate > 0");
            pen.arrow(
                &(second.position + aside),
                &(second.position + aside - 0.5 * unit(0)),
                FORCE,
                "friction",
            );
        },
    },
    Drawing {
        kind: "end-stop",
        model: carriage!(
            "[[prismatic]]\nname = 'slide'\nbodies = ['first', 'second']\npoint = [-0.5, 0, 0.22]\naxis = [1, 0, 0]\ndisplacement = 1.02\n\
                          [[end-stop]]\nname = 'stop'\njoint = 'slide'\nlower = -0.1\nupper = 1\nstiffness = 1000\n[[sensor]]\nname = 'push'\nof = 'stop'\nquantity = 'force'\n"
        ),
        view: [-22.0, 30.0],
        marks: |stage, pen| {
            let [first, second] = stage.frames("slide");
            pen.triad(&first, 0.3, "");
            for (bound, words) in [(-0.1, "lower"), (1.0, "upper")] {
                let at = first.position + bound * unit(0);
                let out = if bound < 0.0 { -0.27 } else { 0.27 };
                pen.solid(
                    &Solid::cuboid([0.08, 0.4, 0.26])
                        .placed(&Pose::new(Default::default(), at + Vector3::new(out, 0.0, -0.03))),
                    RUBBER,
                );
                pen.beside(&(at + Vector3::new(out, -0.2, -0.22)), [0.0, 16.0], words, MEASURE);
            }
            assert!(stage.value("push.force") > 0.0);
            let aside = Vector3::new(0.0, -0.22, -0.11);
            pen.arrow(
                &(second.position + aside),
                &(second.position + aside - 0.6 * unit(0)),
                FORCE,
                "force > 0",
            );
        },
    },
    Drawing {
        kind: "torsional-end-stop",
        model: lever!(
            "[[revolute]]\nname = 'pin'\nbodies = ['first', 'second']\npoint = [0, 0, 0.38]\nangle = '42 deg'\n\
                       [[torsional-end-stop]]\nname = 'stop'\njoint = 'pin'\nlower = '-30 deg'\nupper = '40 deg'\nstiffness = 1000\n\
                       [[sensor]]\nname = 'back'\nof = 'stop'\nquantity = 'torque'\n"
        ),
        view: [-24.0, 40.0],
        marks: |stage, pen| {
            let [first, second] = stage.frames("pin");
            pen.triad(&first, 0.5, "");
            pen.arrow(&second.position, &second.transform_point(&(0.66 * unit(0))), AXES[0], "x₂");
            for (bound, words) in [(-30.0_f64, "lower"), (40.0, "upper")] {
                let way = Vector3::new(bound.to_radians().cos(), bound.to_radians().sin(), 0.0);
                pen.line(&[first.position, first.transform_point(&(0.9 * way))], MEASURE, true);
                pen.beside(&first.transform_point(&(0.98 * way)), [0.0, 0.0], words, MEASURE);
            }
            assert!(stage.value("back.torque") > 0.0);
            let aside = first.rotation * Vector3::new(-0.24, 0.14, 0.0);
            pen.arc(
                &first.position,
                &(first.rotation * unit(2)),
                &aside,
                -2.2,
                "torque > 0 turns back",
                FORCE,
            );
        },
    },
    Drawing {
        kind: "contact",
        model: on_slab!(
            "[[body]]\nname = 'second'\ndensity = 1\nposition = [0, 0, 0.29]\nvelocity = [1, 0, 0]\nshapes = [{ kind = 'sphere', radius = 0.25 }]\n\
             [[contact]]\nname = 'touch'\nbodies = ['first', 'second']\nfirst-shape = { kind = 'plane', position = [0, 0, 0.05] }\n\
             second-shape = { kind = 'sphere', radius = 0.25 }\nlaw = 'linear'\nstiffness = 1000\nfriction = 0.5\n[[sensor]]\nname = 'deep'\nof = 'touch'\nquantity = 'depth'\n"
        ),
        view: [-24.0, 22.0],
        marks: |stage, pen| {
            let ball = stage.body("second").position;
            let foot = ball - Vector3::new(0.0, 0.0, 0.25);
            let force = stage.vector("touch.force");
            assert!(stage.value("deep.depth") > 0.0 && force.z > 0.0 && force.x < 0.0);
            pen.arrow(&foot, &(foot + 0.75 * unit(2)), FORCE, "normal-force");
            pen.arrow(&foot, &(foot - 0.5 * unit(0)), FORCE, "friction");
            pen.arrow(&ball, &(ball + 0.55 * unit(0)), MEASURE, "velocity");
        },
    },
    Drawing {
        kind: "tyre",
        model: on_slab!(
            "[[body]]\nname = 'second'\ndensity = 1\nposition = [0, 0, 0.4]\norientation = { z-axis = [-0.3, 1, 0] }\nshapes = [{ kind = 'cylinder', radius = 0.36, length = 0.05 }]\n\
             velocity = [1, 0, 0]\nangular-velocity = [-0.8, 2.67, 0]\n\
             [[tyre]]\nname = 'tyre'\nbodies = ['first', 'second']\nradius = 0.36\npoint = [0, 0, 0.05]\nvertical-stiffness = 1e4\nlongitudinal-stiffness = 1000\ncornering-stiffness = 1000\n\
             [[sensor]]\nname = 'load'\nof = 'tyre'\nquantity = 'load'\n[[sensor]]\nname = 'side'\nof = 'tyre'\nquantity = 'lateral-force'\n\
             [[sensor]]\nname = 'back'\nof = 'tyre'\nquantity = 'aligning-torque'\n"
        ),
        view: [-30.0, 30.0],
        marks: |stage, pen| {
            let wheel = stage.body("second");
            let axis = wheel.rotation * unit(2);
            let forward = axis.cross(&Vector3::z());
            let foot = wheel.position - Vector3::new(0.0, 0.0, 0.35);
            pen.arrow(&wheel.position, &(wheel.position + 0.45 * axis), AXES[2], "wheel-axis");
            pen.line(&[foot, foot + 0.6 * forward], MEASURE, true);
            pen.arrow(&foot, &(foot + 0.6 * unit(0)), MEASURE, "velocity");
            assert!(stage.value("load.load") > 0.0 && stage.value("side.lateral-force") > 0.0);
            assert!(stage.value("back.aligning-torque") < 0.0);
            pen.arrow(&foot, &(foot + 0.75 * unit(2)), FORCE, "load");
            pen.arrow(&foot, &(foot + 0.45 * axis), FORCE, "lateral-force");
        },
    },
    Drawing {
        kind: "contact-group",
        model: on_slab!(
            "[[body]]\nname = 'ball-{i}'\nrepeat = 3\ndensity = 1\nposition = ['-0.3 + 0.26*i', '0.05*i', '0.25 + 0.16*i']\nshape = { kind = 'sphere', radius = 0.15 }\n\
             [[contact-group]]\nname = 'group'\nmembers = ['ground', 'ball-*']\nlaw = 'linear'\nstiffness = 1000\n"
        ),
        view: [-24.0, 22.0],
        marks: |stage, pen| {
            let [one, two, three] = [0, 1, 2].map(|k| stage.body(&format!("ball-{k}")).position);
            for (a, b) in [(one, two), (two, three)] {
                let (middle, way) = (0.5 * (a + b), (b - a).normalize());
                pen.arrow(&middle, &(middle + 0.3 * way), FORCE, "");
                pen.arrow(&middle, &(middle - 0.3 * way), FORCE, "");
            }
            pen.beside(
                &Vector3::new(0.0, -0.45, 0.0),
                [0.0, 30.0],
                "members = [\"ground\", \"ball-*\"]: any two may touch",
                INK,
            );
        },
    },
    Drawing {
        kind: "beam",
        model: "[[beam]]\nname = 'rod'\nfrom = [0, 0, 0]\nto = [2, 0, 0]\nstart = 'ground'\nelements = 4\norder = 1\n\
                section = { shape = 'rectangle', width = 0.14, height = 0.24, youngs-modulus = 1e9, poisson-ratio = 0.3, density = 1000 }\n\
                [[fixed]]\nname = 'tip'\nbodies = ['ground', 'rod.end']\n",
        view: [-30.0, 26.0],
        marks: |stage, pen| {
            let sections = stage.sections();
            for pair in sections.windows(2) {
                let length = (pair[1].position - pair[0].position).norm();
                let middle = Pose::new(pair[0].rotation, 0.5 * (pair[0].position + pair[1].position));
                pen.solid(&Solid::cuboid([length, 0.14, 0.24]).placed(&middle), [0.55, 0.72, 0.93]);
            }
            for (place, section) in sections.iter().enumerate() {
                if place == 0 || place == 2 || place == 4 {
                    pen.triad(section, 0.3, "");
                }
                let words =
                    ["rod.start = rod.node-0", "rod.node-1", "rod.at-0.5", "rod.node-3", "rod.end"][place];
                pen.beside(&(section.position + Vector3::new(0.0, -0.07, -0.12)), [0.0, 22.0], words, INK);
            }
        },
    },
];
