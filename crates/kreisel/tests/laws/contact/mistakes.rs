//! Wrong contacts, each with the words that its message must have.

use super::read;

const BALL: &str = "
[simulation]
end-time = 1
[[body]]
name = 'ball'
mass = 1
shape = { kind = 'sphere', radius = 0.1 }
position = [0, 0, 0.1]
[[body]]
name = 'cone'
mass = 1
shape = { kind = 'cone', radius = 0.1, length = 0.2 }
position = [0, 0, 1]
";

const MISTAKES: &[(&str, &[&str])] = &[
    ("bodies = ['ground', 'ball']", &["`law`", "`stiffness`"]),
    (
        "bodies = ['ground', 'ball']\nstiffness = 1e5\nfriction = -0.1",
        &["`friction`", "zero or positive", "-0.1"],
    ),
    (
        "bodies = ['ground', 'ball']\nstiffness = 1e5\nfriction = 0.5\nstatic-friction = 0.4",
        &["`static-friction`", "at least the `friction` 0.5"],
    ),
    (
        "bodies = ['ground', 'ball']\nlaw = 'hertz'\nyoungs-modulus = 1e9\nrestitution = 1.2",
        &["`restitution`", "from 0 (no rebound) to 1 (no loss)", "1.2"],
    ),
    (
        "bodies = ['ground', 'ball']\nlaw = 'flores'\nyoungs-modulus = 1e9\nrestitution = -0.1",
        &["`restitution`", "from 0"],
    ),
    ("bodies = ['ground', 'ball']\nlaw = 'hertz'", &["`youngs-modulus`"]),
    (
        "bodies = ['ground', 'ball']\nlaw = 'hertz'\nyoungs-modulus = 1e9\npoisson-ratio = 0.6",
        &["`poisson-ratio`", "at most 0.5"],
    ),
    ("bodies = ['ground', 'ball']\nstiffness = 1e5\nrestitution = 0.5", &["`restitution`", "no effect"]),
    ("bodies = ['ground', 'bal']\nstiffness = 1e5", &["no body `bal`", "ball"]),
    ("bodies = ['ball', 'ball']\nstiffness = 1e5", &["two different bodies"]),
    (
        "bodies = ['ground', 'cone']\nstiffness = 1e5",
        &["`second-shape`", "`cone` has no `shape` that can touch"],
    ),
    (
        "bodies = ['ground', 'ball']\nstiffness = 1e5\nsecond-shape = { kind = 'sphere', radius = -1 }",
        &["`radius`", "positive"],
    ),
    (
        "bodies = ['ground', 'ball']\nstiffness = 1e5\nsecond-shape = { kind = 'plane' }",
        &["shapes that can touch", "two planes"],
    ),
    (
        "bodies = ['ground', 'ball']\nstiffness = 1e5\nfirst-shape = { kind = 'plane', position = [0, 0, 0.08] }",
        &["start apart or barely touch", "`ground` and `ball` overlap by 0.0800 m"],
    ),
    (
        "bodies = ['ground', 'cone']\nlaw = 'hertz'\nyoungs-modulus = 1e9\nsecond-shape = { kind = 'box', size = [1, 1, 1] }",
        &["for rounded surfaces", "`effective-radius`"],
    ),
];

#[test]
fn mistakes_in_contacts_are_explained() {
    for (keys, words) in MISTAKES {
        let text = format!("{BALL}[[contact]]\nname = 'touch'\n{keys}\n");
        let message = read(&text).err().unwrap_or_else(|| panic!("accepted: {keys}"));
        for word in *words {
            assert!(message.contains(word), "{keys}\nmisses {word:?} in\n{message}");
        }
    }
}

#[test]
fn mistakes_in_the_friction_of_joints_are_explained() {
    let machine = "[simulation]\nend-time = 1\n[[body]]\nname = 'a'\nmass = 1\ninertia = [1, 1, 1]
        [[revolute]]\nname = 'hinge'\nbodies = ['ground', 'a']\npoint = [0, 0, 0]\naxis = [0, 1, 0]\n";
    for (keys, words) in [
        ("friction = -0.1\nradius = 0.1", ["`friction`", "zero or positive"]),
        ("friction = 0.1", ["`radius`", "hinge"]),
        (
            "friction = 0.3\nstatic-friction = 0.2\nradius = 0.1",
            ["`static-friction`", "at least the `friction` 0.3"],
        ),
        ("friction = 0\nradius = 0.1\nfriction-law = 'lugre'", ["`friction`", "positive"]),
        ("torque = 1\nfriction-law = 'lugre'", ["`friction-law`", "no effect"]),
    ] {
        let text = format!("{machine}[[joint-friction]]\njoint = 'hinge'\n{keys}\n");
        let message = read(&text).err().unwrap_or_else(|| panic!("accepted: {keys}"));
        assert!(words.iter().any(|word| message.contains(word)), "{keys}: {message}");
        assert!(message.contains(words[0]), "{keys}: {message}");
    }
}
