//! Machines made at random from a seed, of parts that fit together: smooth ones, whose motion can be computed
//! to many digits, and ones of all kinds of parts.

use std::fmt::{Display, Write};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A tree of up to five bodies on hinges, balls and slides with springs, or a four-bar, that falls for two
/// seconds.
pub fn smooth(seed: u64) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut text = "[simulation]\nend-time = 2\n".to_owned();
    if seed % 4 == 3 {
        four_bar(&mut rng, &mut text);
        return text;
    }
    let mut places: Vec<[f64; 3]> = Vec::new();
    for index in 0..rng.random_range(1..=5) {
        let parent = if index == 0 || rng.random_range(0.0..1.0) < 0.2 { None } else { Some(index - 1) };
        let origin = parent.map_or([0.0; 3], |parent: usize| places[parent]);
        let place: [f64; 3] = std::array::from_fn(|axis| origin[axis] + rng.random_range(-0.5..0.5));
        body(&mut rng, &mut text, index, place);
        places.push(place);
        let point: [f64; 3] = std::array::from_fn(|axis| 0.5 * (origin[axis] + place[axis]));
        let axis: [f64; 3] = std::array::from_fn(|_| rng.random_range(0.1..1.0));
        let parent = parent.map_or("ground".to_owned(), |parent| format!("b{parent}"));
        let kind = ["revolute", "revolute", "spherical", "cylindrical", "prismatic"][rng.random_range(0..5)];
        let _ = writeln!(
            text,
            "[[{kind}]]\nname = 'j{index}'\nbodies = ['{parent}', 'b{index}']\npoint = {point:?}"
        );
        if kind != "spherical" {
            let _ = writeln!(text, "axis = {axis:?}");
        }
        let slides = matches!(kind, "cylindrical" | "prismatic");
        if slides || rng.random_range(0.0..1.0) < 0.3 {
            let (stiffness, damping) = (rng.random_range(20.0..200.0), rng.random_range(0.0..1.0));
            let _ = writeln!(
                text,
                "[[spring-damper]]\nbodies = ['ground', 'b{index}']\npoints = [[0.7, -0.6, 1.1], {place:?}]\nstiffness = {stiffness}\ndamping = {damping}"
            );
        }
    }
    text
}

fn body(rng: &mut ChaCha8Rng, text: &mut String, name: usize, place: [f64; 3]) {
    let mass = rng.random_range(0.5..2.0);
    let inertia: [f64; 3] = std::array::from_fn(|_| rng.random_range(0.05..0.09));
    let _ = writeln!(
        text,
        "[[body]]\nname = 'b{name}'\nmass = {mass}\ninertia = {inertia:?}\nposition = {place:?}"
    );
}

/// Ground, crank, coupler and rocker in the plane y = 0, each body in the middle of its bar.
fn four_bar(rng: &mut ChaCha8Rng, text: &mut String) {
    let corner = |rng: &mut ChaCha8Rng, x: f64, z: f64| {
        [x + rng.random_range(-0.1..0.1), 0.0, z + rng.random_range(-0.1..0.1)]
    };
    let corners = [(0.0, 0.0), (0.3, 0.3), (1.0, 0.7), (1.2, 0.0)].map(|(x, z)| corner(rng, x, z));
    for bar in 0..3 {
        let place = std::array::from_fn(|axis| 0.5 * (corners[bar][axis] + corners[bar + 1][axis]));
        body(rng, text, bar, place);
    }
    for (index, corner) in corners.iter().enumerate() {
        let name = |bar: usize| if bar < 3 { format!("b{bar}") } else { "ground".to_owned() };
        let bodies = [name(index.wrapping_sub(1)), name(index)];
        let _ = writeln!(
            text,
            "[[revolute]]\nname = 'j{index}'\nbodies = {bodies:?}\npoint = {corner:?}\naxis = [0, 1, 0]"
        );
    }
}

/// How long a machine of [`varied`] moves, in s.
pub const END: f64 = 0.2;

/// A machine of any parts: a tree with joints of all kinds, a loop, a beam, a wheel or a blade, with forces,
/// stops, friction, contacts, controllers, drives, locks and events in them.
pub struct Varied {
    rng: ChaCha8Rng,
    /// The model.
    pub text: String,
    /// Whether shapes touch, joints rub or stop, or something switches: then errors are those of an instant.
    pub jumps: bool,
    /// Whether it has beams, whose fastest vibrations no step follows.
    pub bends: bool,
    /// Names of bodies with their places.
    bodies: Vec<(String, [f64; 3])>,
    /// Angles and displacements of joints that nothing leads or couples yet.
    angles: Vec<String>,
    displacements: Vec<String>,
    count: usize,
}

/// The machine of a seed.
pub fn varied(seed: u64) -> Varied {
    let mut machine = Varied {
        rng: ChaCha8Rng::seed_from_u64(seed),
        text: format!("[simulation]\nend-time = {END}\n"),
        jumps: false,
        bends: false,
        bodies: Vec::new(),
        angles: Vec::new(),
        displacements: Vec::new(),
        count: 0,
    };
    match seed % 8 {
        4 => machine.loop_in_a_plane(),
        5 => machine.loop_in_space(),
        6 => machine.flexible(),
        7 => machine.nonholonomic(),
        _ => machine.tree(5),
    }
    for _ in 0..machine.rng.random_range(0..6) {
        machine.add_something();
    }
    machine
}

impl Varied {
    fn number(&mut self, low: f64, high: f64) -> f64 {
        // Few digits: a failure is read by people.
        let value: f64 = self.rng.random_range(low..high);
        (value * 1e3).round() / 1e3
    }

    fn vector(&mut self, low: f64, high: f64) -> [f64; 3] {
        std::array::from_fn(|_| self.number(low, high))
    }

    fn chance(&mut self, part: f64) -> bool {
        self.rng.random_range(0.0..1.0) < part
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.rng.random_range(0..choices.len())]
    }

    fn name(&mut self, word: &str) -> String {
        self.count += 1;
        format!("{word}{}", self.count)
    }

    /// Adds a part with a name; gives the name.
    fn part(&mut self, kind: &str, keys: impl Display) -> String {
        let name = self.name("p");
        let _ = writeln!(self.text, "[[{kind}]]\nname = '{name}'\n{keys}");
        name
    }

    fn body(&mut self, place: [f64; 3], more: &str) -> String {
        let (mass, inertia) = (self.number(0.5, 2.0), self.vector(0.05, 0.09));
        let name = self.name("b");
        let _ = writeln!(
            self.text,
            "[[body]]\nname = '{name}'\nmass = {mass}\ninertia = {inertia:?}\nposition = {place:?}\n{more}"
        );
        self.bodies.push((name.clone(), place));
        name
    }

    /// Bodies that hang on each other or on the ground by joints of any kind.
    fn tree(&mut self, most: usize) {
        for _ in 0..self.rng.random_range(1..=most) {
            let parent = match self.bodies.last().cloned() {
                Some(parent) if self.chance(0.8) => parent,
                _ => ("ground".to_owned(), [0.0; 3]),
            };
            let shift = self.vector(-0.5, 0.5);
            let place: [f64; 3] = std::array::from_fn(|axis| parent.1[axis] + shift[axis] + 0.1);
            let child = self.body(place, "");
            self.joint(&parent, &(child, place));
        }
    }

    fn joint(&mut self, parent: &(String, [f64; 3]), child: &(String, [f64; 3])) {
        let point: [f64; 3] = std::array::from_fn(|axis| 0.5 * (parent.1[axis] + child.1[axis]));
        let axis = self.vector(0.1, 1.0);
        let bodies = format!("bodies = ['{}', '{}']", parent.0, child.0);
        let kind = self.one_of(&[
            "revolute",
            "revolute",
            "revolute",
            "prismatic",
            "cylindrical",
            "spherical",
            "universal",
            "planar",
            "screw",
            "distance",
            "point-on-line",
            "point-on-plane",
            "fixed",
        ]);
        let keys = match kind {
            "revolute" | "cylindrical" | "point-on-line" | "point-on-plane" => {
                format!("point = {point:?}\naxis = {axis:?}")
            }
            "screw" => format!("point = {point:?}\naxis = {axis:?}\nlead = 0.1"),
            "prismatic" | "planar" => format!("axis = {axis:?}"),
            "spherical" | "universal" => format!("point = {point:?}"),
            "distance" => format!("points = [{:?}, {:?}]", parent.1, child.1),
            _ => String::new(),
        };
        let name = self.part(kind, format!("{bodies}\n{keys}"));
        let (angles, displacements): (&[&str], &[&str]) = match kind {
            "revolute" => (&["angle"], &[]),
            "prismatic" | "point-on-line" => (&[], &["displacement"]),
            "cylindrical" => (&["angle"], &["displacement"]),
            "universal" => (&["first-angle", "second-angle"], &[]),
            "planar" => (&["angle"], &["x", "y"]),
            "screw" => (&["angle"], &[]),
            "point-on-plane" => (&[], &["x", "y"]),
            _ => (&[], &[]),
        };
        self.angles.extend(angles.iter().map(|word| format!("{name}.{word}")));
        self.displacements.extend(displacements.iter().map(|word| format!("{name}.{word}")));
    }

    fn loop_in_a_plane(&mut self) {
        four_bar(&mut self.rng, &mut self.text);
        // A body of it takes forces as any other.
        self.bodies.push(("b1".to_owned(), [0.65, 0.0, 0.5]));
        self.count = 3;
    }

    /// A chain on balls whose last body hangs by a rod as well.
    fn loop_in_space(&mut self) {
        let mut parent = ("ground".to_owned(), [0.0; 3]);
        for _ in 0..self.rng.random_range(2..=3) {
            let shift = self.vector(0.2, 0.6);
            let place: [f64; 3] = std::array::from_fn(|axis| parent.1[axis] + shift[axis]);
            let child = (self.body(place, ""), place);
            let point: [f64; 3] = std::array::from_fn(|axis| 0.5 * (parent.1[axis] + place[axis]));
            let keys = format!("bodies = ['{}', '{}']\npoint = {point:?}", parent.0, child.0);
            self.part("spherical", keys);
            parent = child;
        }
        let anchor = [1.5, -0.7, 1.9];
        self.part(
            "distance",
            format!("bodies = ['ground', '{}']\npoints = [{anchor:?}, {:?}]", parent.0, parent.1),
        );
    }

    /// A beam that is clamped to the ground or hangs in a joint, with a body at its end.
    fn flexible(&mut self) {
        self.bends = true;
        let length = self.number(0.5, 1.5);
        let (elements, order) = (self.rng.random_range(1..=4), self.rng.random_range(1..=2));
        let clamp = if self.chance(0.5) { "start = 'ground'\n" } else { "" };
        let modulus = self.one_of(&[1e6, 1e7, 1e8]);
        let name = self.name("beam");
        let _ = writeln!(
            self.text,
            "[[beam]]\nname = '{name}'\nfrom = [0, 0, 0]\nto = [{length}, 0, 0]\n{clamp}order = {order}\nelements = {elements}\n\
             section = {{ shape = 'circle', radius = 0.02, youngs-modulus = {modulus:e}, poisson-ratio = 0.3, density = 2000 }}"
        );
        if clamp.is_empty() {
            let kind = self.one_of(&["revolute", "spherical"]);
            let axis = if kind == "revolute" { "axis = [0, 1, 0]" } else { "" };
            self.part(kind, format!("bodies = ['ground', '{name}.start']\n{axis}"));
        }
        if self.chance(0.5) {
            let place = [length + 0.2, 0.0, 0.0];
            let tip = self.body(place, "");
            let kind = self.one_of(&["fixed", "spherical"]);
            self.part(kind, format!("bodies = ['{name}.end', '{tip}']"));
        }
    }

    /// A disc or a ball that rolls, a sleigh on a blade, or a body whose speed is prescribed.
    fn nonholonomic(&mut self) {
        let radius = self.number(0.2, 0.5);
        let spin = self.number(0.5, 3.0);
        match self.rng.random_range(0..4) {
            3 => {
                let more = format!("angular-velocity = [0, {spin}, 0]\nvelocity = [1, 0, 0]");
                let wheel = self.body([0.0, 0.0, radius - 0.01], &more);
                let (along, across) = (self.number(50.0, 200.0), self.number(50.0, 200.0));
                let keys = format!(
                    "bodies = ['ground', '{wheel}']\nwheel-axis = [0, 1, 0]\nradius = {radius}\nvertical-stiffness = 1000\nvertical-damping = 5\nlongitudinal-stiffness = {along}\ncornering-stiffness = {across}"
                );
                self.part("tyre", keys);
                self.jumps = true;
            }
            0 => {
                let shape = self.one_of(&["disc", "sphere"]);
                let more = format!("angular-velocity = [0, {spin}, 0]\nvelocity = [{}, 0, 0]", spin * radius);
                let wheel = self.body([0.0, 0.0, radius], &more);
                let axis = if shape == "disc" { "wheel-axis = [0, 1, 0]\n" } else { "" };
                let keys = format!(
                    "bodies = ['ground', '{wheel}']\nshape = '{shape}'\nradius = {radius}\n{axis}point = [0, 0, 0]"
                );
                self.part("rolling", keys);
            }
            1 => {
                let more = format!("angular-velocity = [0, 0, {spin}]\nvelocity = [1, 0, 0]");
                let sleigh = self.body([0.0; 3], &more);
                self.part("planar", format!("bodies = ['ground', '{sleigh}']"));
                // Where the blade stands nothing glides sideways: there the body turns about the blade.
                self.part("knife-edge", format!("bodies = ['ground', '{sleigh}']\npoint = [0, 0, 0]"));
            }
            _ => {
                let cart = self.body([0.0; 3], "");
                let slide = self.part("planar", format!("bodies = ['ground', '{cart}']"));
                self.part(
                    "velocity-coupling",
                    format!("rates = ['{cart}.velocity.x']\nfactors = [1]\nvalue = '0.3*t'"),
                );
                self.angles.push(format!("{slide}.angle"));
            }
        }
    }

    /// Adds a part, or some that belong together, to whatever is there.
    fn add_something(&mut self) {
        let body = self.bodies.first().cloned();
        let pick = self.rng.random_range(0..26);
        match (pick, body) {
            (0, Some((body, place))) => {
                let (stiffness, damping) = (self.number(20.0, 200.0), self.number(0.0, 1.0));
                self.part(
                    "spring-damper",
                    format!(
                        "bodies = ['ground', '{body}']\npoints = [[0.7, -0.6, 1.1], {place:?}]\nstiffness = {stiffness}\ndamping = {damping}"
                    ),
                );
            }
            (1, Some((body, place))) => {
                let (stiffness, turning) = (self.vector(20.0, 200.0), self.vector(1.0, 10.0));
                self.part(
                    "bushing",
                    format!(
                        "bodies = ['ground', '{body}']\npoint = {place:?}\ntranslational-stiffness = {stiffness:?}\nrotational-stiffness = {turning:?}"
                    ),
                );
            }
            (2, Some((body, _))) => {
                let (push, drag) = (self.number(-3.0, 3.0), self.number(0.1, 2.0));
                self.part(
                    "force",
                    format!("body = '{body}'\nforce = ['{push}*sin(8*t)', '-{drag}*{body}.velocity.y', 0]\ntorque = [0, '0.1*cos(9*t)', 0]"),
                );
            }
            (3, Some((body, _))) => {
                let quantity = self.one_of(&["velocity", "acceleration", "angular-velocity", "momentum"]);
                self.part("sensor", format!("quantity = '{quantity}'\nof = '{body}'"));
            }
            (4, Some((body, _))) => {
                let state = self.part("state", format!("initial = 1\nrate = '-{}*t'", 2));
                self.part("force", format!("body = '{body}'\nforce = [0, 0, '0.5*{state}.value']"));
            }
            (5, Some((body, _))) => {
                let root = self.part("algebraic", format!("zero-of = 'ROOT.value - 0.3*{body}.position.x'"));
                self.text = self.text.replace("ROOT.value", &format!("{root}.value"));
                self.part("force", format!("body = '{body}'\nforce = ['{root}.value', 0, 0]"));
            }
            (6, Some((body, _))) => {
                let filter = self.part(
                    "transfer-function",
                    format!("input = '{body}.position.z'\nnumerator = [2]\ndenominator = [0.1, 1]"),
                );
                self.part("force", format!("body = '{body}'\nforce = [0, 0, '-{filter}.output']"));
            }
            (7, Some((body, _))) => {
                let block = self.part(
                    "state-space",
                    format!("input = '{body}.position.x'\na = [-4, 1, 0, -3]\nb = [0, 1]\nc = [1, 0]"),
                );
                self.part("force", format!("body = '{body}'\nforce = [0, '-{block}.output', 0]"));
            }
            (8, Some((body, _))) => {
                let table = self.part("table", "points = [[0, 0], [0.05, 1], [0.1, 0.5], [0.2, 2]]");
                self.part("force", format!("body = '{body}'\nforce = ['{table}(t)', 0, 0]"));
            }
            (9, Some((body, _))) => {
                let input = self.part("input", "value = 0.7");
                self.part("force", format!("body = '{body}'\nforce = [0, '{input}', 0]"));
            }
            (10, Some((body, place))) => {
                // A plane some centimetres below a ball on the body.
                self.jumps = true;
                let (gap, radius) = (self.number(0.002, 0.05), 0.1);
                let floor = place[2] - radius - gap;
                let law = self.one_of(&[
                    "stiffness = 2000\ndamping = 5",
                    "law = 'hertz'\nyoungs-modulus = 1e6\nrestitution = 0.5",
                ]);
                let friction = self.one_of(&["", "friction = 0.3\ntransition-speed = 0.05"]);
                self.part(
                    "contact",
                    format!(
                        "bodies = ['ground', '{body}']\nfirst-shape = {{ kind = 'plane', position = [0, 0, {floor}] }}\n\
                         second-shape = {{ kind = 'sphere', radius = {radius} }}\n{law}\n{friction}"
                    ),
                );
            }
            (11, _) => {
                self.jumps = true;
                for (x, z) in [(9.0, 0.11), (9.05, 0.34)] {
                    let shape = "shape = { kind = 'sphere', radius = 0.1 }";
                    let _ = writeln!(
                        self.text,
                        "[[body]]\nname = 'ball{}-{}'\nmass = 1\ninertia = [0.004, 0.004, 0.004]\nposition = [{x}, 0, {z}]\n{shape}",
                        self.count,
                        if z < 0.2 { "low" } else { "high" }
                    );
                }
                let members =
                    format!("members = ['ground', 'ball{}-*']\nstiffness = 3000\ndamping = 5", self.count);
                self.part("contact-group", members);
            }
            (12, _) => {
                let place = self.vector(3.0, 4.0);
                let mass = self.number(0.2, 1.0);
                let bob = self.part("point-mass", format!("mass = {mass}\nposition = {place:?}"));
                self.part(
                    "spring-damper",
                    format!("bodies = ['ground', '{bob}']\npoints = [[3, 3, 5], {place:?}]\nstiffness = 80\ndamping = 0.1"),
                );
            }
            (13, Some((body, place))) => {
                let mark = self.part("marker", format!("body = '{body}'\nposition = [0.1, 0, 0.05]"));
                let end: [f64; 3] = std::array::from_fn(|axis| place[axis] + 0.8);
                let post = self.part("marker", format!("position = {end:?}"));
                self.part(
                    "spring-damper",
                    format!("bodies = ['ground.{post}', '{body}.{mark}']\nstiffness = 50"),
                );
            }
            (14, Some((body, _))) => {
                let given = "given";
                if !self.text.contains("[[function]]") {
                    let _ = writeln!(
                        self.text,
                        "[[function]]\nname = '{given}'\narguments = ['t', '{body}.position.x']"
                    );
                    self.part("force", format!("body = '{body}'\nforce = ['{given}', 0, 0]"));
                }
            }
            (15, _) if !self.text.contains("[gravity]") => {
                let acceleration = self.vector(-9.0, 9.0);
                let _ = writeln!(self.text, "[gravity]\nacceleration = {acceleration:?}");
            }
            _ => self.add_to_a_joint(pick),
        }
    }

    fn add_to_a_joint(&mut self, pick: usize) {
        let angle = (!self.angles.is_empty()).then(|| self.rng.random_range(0..self.angles.len()));
        let slide =
            (!self.displacements.is_empty()).then(|| self.rng.random_range(0..self.displacements.len()));
        match (pick % 9, angle, slide) {
            (0, Some(at), _) => {
                let (joint, stiffness) = (self.angles[at].clone(), self.number(1.0, 20.0));
                self.part(
                    "torsional-spring-damper",
                    format!("joint = '{joint}'\nstiffness = {stiffness}\ndamping = 0.1"),
                );
            }
            (1, Some(at), _) => {
                self.jumps = true;
                let (joint, torque) = (self.angles[at].clone(), self.number(0.1, 1.0));
                self.part(
                    "joint-friction",
                    format!("joint = '{joint}'\ntorque = {torque}\ntransition-rate = 0.1"),
                );
            }
            (2, Some(at), _) => {
                self.jumps = true;
                let (joint, upper) = (self.angles[at].clone(), self.number(0.02, 0.2));
                self.part(
                    "torsional-end-stop",
                    format!(
                        "joint = '{joint}'\nlower = -{upper}\nupper = {upper}\nstiffness = 300\ndamping = 0.5"
                    ),
                );
            }
            (3, Some(at), _) => {
                let joint = self.angles[at].clone();
                self.part(
                    "joint-force",
                    format!("joint = '{joint}'\ntorque = '0.4*sin(6*t) - 0.05*{joint}-rate'"),
                );
            }
            (4, Some(at), _) => {
                // What is led takes no other lead.
                let joint = self.angles.swap_remove(at);
                self.part("drive", format!("joint = '{joint}'\nangle = '1.5*t^2'"));
            }
            (5, Some(at), _) => {
                self.jumps = true;
                let joint = self.angles.swap_remove(at);
                let brake = self.part("lock", format!("joint = '{joint}'"));
                self.part("event", format!("zero-of = 't - 0.0505'\nswitch-off = ['{brake}']"));
            }
            (6, Some(at), _) => {
                let joint = self.angles[at].clone();
                let control = self.part(
                    "pid",
                    format!("error = '0.2 - {joint}'\nproportional = 3\nintegral = 2\nderivative = 0.2\nfilter-time = 0.02"),
                );
                self.part("joint-force", format!("joint = '{joint}'\ntorque = '{control}.output'"));
            }
            (7, Some(_), _) if self.angles.len() > 1 => {
                let (first, second) = (self.angles.swap_remove(0), self.angles.swap_remove(0));
                let ratio = self.one_of(&[1.0, -2.0, 0.5]);
                if self.chance(0.5) {
                    self.part("gear", format!("joints = ['{first}', '{second}']\nratio = {ratio}"));
                } else {
                    self.part(
                        "coupling",
                        format!("joints = ['{first}', '{second}']\nfactors = [1, {ratio}]"),
                    );
                }
            }
            (_, _, Some(at)) => {
                let joint = self.displacements[at].clone();
                match self.rng.random_range(0..3) {
                    0 => {
                        let stiffness = self.number(50.0, 400.0);
                        self.part(
                            "spring-damper",
                            format!("joint = '{joint}'\nstiffness = {stiffness}\ndamping = 0.5"),
                        );
                    }
                    1 => {
                        self.jumps = true;
                        let upper = self.number(0.01, 0.1);
                        self.part(
                            "end-stop",
                            format!("joint = '{joint}'\nlower = -{upper}\nupper = {upper}\nstiffness = 3000\ndamping = 5"),
                        );
                    }
                    _ => {
                        self.part(
                            "joint-force",
                            format!("joint = '{joint}'\nforce = '2*sin(7*t) - 0.3*{joint}-rate'"),
                        );
                    }
                }
            }
            _ => {}
        }
    }
}
