//! Typed reading of keys, orientations, laws, and what is made from the kinds' tables.

use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use proptest::prelude::*;

use super::*;
use crate::model::kind_faults::kind_faults;
use crate::model::reader::NumberOrWord;
use crate::model::schema::{reference_page, schema};
use crate::model::{Law, SignalLaw};

fn with_reader<T>(keys: &str, read: impl FnOnce(&PartReader<'_>) -> T) -> T {
    let document = document(&format!("[[gadget]]\n{keys}\n"));
    read(&PartReader::new(&document.parts()[0]).unwrap())
}

#[test]
fn values_are_read_in_base_units() {
    let keys = "mass = '500 g'\nstiffness = '5 N/mm'\nteeth = '2*9'\nposition = ['10 cm', 0.5, '1 in']\n\
                lengths = [1, '2 mm']\nbushing = [[1, 2], [3, '2^2']]\nfixed = true\n\
                group = 'so3xr3'\ntitle = 'spoke'\nbody = 'top.tip'\naxis = [0, 0, 2]";
    with_reader(keys, |reader| {
        assert_eq!(reader.number("mass").unwrap(), 0.5);
        assert_eq!(reader.optional_number("stiffness").unwrap(), Some(5000.0));
        assert_eq!(reader.count("teeth").unwrap(), 18);
        assert_eq!(reader.vector3("position").unwrap(), Vector3::new(0.1, 0.5, 0.0254));
        assert_eq!(reader.numbers("lengths").unwrap(), [1.0, 0.002]);
        assert_eq!(reader.matrix("bushing").unwrap()[(1, 1)], 4.0);
        assert!(reader.boolean("fixed").unwrap());
        assert_eq!(reader.choice("group").unwrap(), "so3xr3");
        assert_eq!(reader.text("title").unwrap().content(), "spoke");
        assert_eq!(reader.reference("body").unwrap().name, "top.tip");
        assert_eq!(reader.direction("axis").unwrap(), Vector3::z());
        assert!(reader.has("mass") && !reader.has("density"));
    });
}

#[test]
fn an_inertia_has_three_forms() {
    let read = |value: &str| {
        with_reader(&format!("inertia = {value}"), |reader| reader.symmetric3("inertia").unwrap())
    };
    let full = Matrix3::new(1.0, 0.1, 0.2, 0.1, 2.0, 0.3, 0.2, 0.3, 3.0);
    assert_eq!(read("[1, '2 kg*m^2', 3]"), Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 3.0)));
    assert_eq!(read("[1, 2, 3, 0.1, 0.2, 0.3]"), full);
    assert_eq!(read("[[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 3]]"), full);
}

#[test]
fn keys_left_out_have_their_default_or_nothing() {
    with_reader("", |reader| {
        assert_eq!(reader.number("mass").unwrap(), 1.0);
        assert_eq!(reader.vector3("position").unwrap(), Vector3::zeros());
        assert_eq!(reader.choice("group").unwrap(), "se3");
        assert!(!reader.boolean("fixed").unwrap());
        assert_eq!(reader.optional_number("stiffness").unwrap(), None);
        assert!(reader.optional_law("motion").unwrap().is_none());
        assert!(reader.reference("body").unwrap_err().to_string().contains("needs the key `body`"));
        assert!(reader.tables("marker").unwrap().is_empty());
    });
    let document = document("[settings]\nend-time = '2 min'\nstep = '1 ms'\n");
    let reader = PartReader::new(&document.parts()[0]).unwrap();
    assert_eq!(reader.number("end-time").unwrap(), 120.0);
    assert_eq!(reader.number_or_word("step").unwrap(), NumberOrWord::Number(1e-3));
}

#[test]
fn tables_inside_a_part_are_read_in_order() {
    let keys = "[[gadget.marker]]\nname = 'a'\n[[gadget.marker]]\nname = 'b'\nposition = [0, 0, 1]";
    with_reader(keys, |reader| {
        let markers = reader.tables("marker").unwrap();
        let names: Vec<String> =
            markers.iter().map(|it| it.text("name").unwrap().content().to_string()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(markers[1].vector3("position").unwrap(), Vector3::z());
    });
}

#[test]
fn tables_inside_a_part_may_be_repeated() {
    let keys = "repeat = 3\nname = 'wheel{i}'\n\
                [[gadget.marker]]\nname = 'spoke{i}'\nrepeat = 4\nwhen = 'i != 2'\nposition = ['cos(i*pi/2)', 0, 0]\n\
                [[gadget.marker]]\nname = 'hub{i}'";
    let document = document(&format!("[[gadget]]\n{keys}\n"));
    let reader = PartReader::new(&document.parts()[2]).unwrap();
    let markers = reader.tables("marker").unwrap();
    let names: Vec<String> =
        markers.iter().map(|it| it.text("name").unwrap().content().to_string()).collect();
    assert_eq!(names, ["spoke0", "spoke1", "spoke3", "hub2"]);
    assert_eq!(markers[0].vector3("position").unwrap(), Vector3::x());
}

fn orientation(form: &str) -> UnitQuaternion<f64> {
    with_reader(&format!("orientation = {form}"), |reader| reader.orientation("orientation").unwrap())
}

proptest! {
    #[test]
    fn all_forms_of_an_orientation_mean_the_same_rotation(
        x in -1.0..1.0, y in -1.0..1.0, z in 0.1..1.0, angle in -3.0..3.0_f64,
    ) {
        let axis = Vector3::new(x, y, z);
        let expected = UnitQuaternion::from_scaled_axis(axis.normalize() * angle);
        let matrix = expected.to_rotation_matrix();
        let row = |row: usize| format!("[{}, {}, {}]", matrix[(row, 0)], matrix[(row, 1)], matrix[(row, 2)]);
        let column =
            |column: usize| format!("[{}, {}, {}]", matrix[(0, column)], matrix[(1, column)], matrix[(2, column)]);
        // Intrinsic z, y, x: nalgebra's angles are roll, pitch, yaw about x, y, z with R = Rz Ry Rx.
        let (roll, pitch, yaw) = expected.euler_angles();
        let forms = [
            format!("{{ quaternion = [{}, {}, {}, {}] }}", expected.w, expected.i, expected.j, expected.k),
            format!("{{ axis = [{x}, {y}, {z}], angle = {angle} }}"),
            format!("{{ axis = [{x}, {y}, {z}], angle = '{} deg' }}", angle.to_degrees()),
            format!("{{ euler = [{yaw}, {pitch}, {roll}], sequence = 'zyx' }}"),
            format!("{{ matrix = [{}, {}, {}] }}", row(0), row(1), row(2)),
            format!("{{ z-axis = {}, x-axis = {} }}", column(2), column(0)),
            format!("{{ y-axis = {}, z-axis = {} }}", column(1), column(2)),
            format!("{{ x-axis = {}, y-axis = {} }}", column(0), column(1)),
        ];
        for form in forms {
            // Roundings; Euler angles lose up to half the digits near the pole.
            prop_assert!(orientation(&form).angle_to(&expected) < 1e-7, "{}", form);
        }
    }

    #[test]
    fn an_axis_points_where_it_is_told_the_shortest_way(x in -1.0..1.0, y in -1.0..1.0, z in -1.0..1.0) {
        let wanted = Vector3::new(x, y, z);
        prop_assume!(wanted.norm() > 1e-3);
        for (name, axis) in [("x", Vector3::x()), ("y", Vector3::y()), ("z", Vector3::z())] {
            let rotation = orientation(&format!("{{ {name}-axis = [{x}, {y}, {z}] }}"));
            // A few roundings of numbers of size one; the angle of nearly opposite ones is less exact.
            prop_assert!((rotation * axis - wanted.normalize()).norm() < 2e-15);
            prop_assert!((rotation.angle() - axis.angle(&wanted)).abs() < 1e-7);
        }
    }

    #[test]
    fn of_two_axes_the_first_is_exact_and_the_other_as_near_as_it_can_be(
        a in prop::array::uniform3(-1.0..1.0_f64), b in prop::array::uniform3(-1.0..1.0_f64),
    ) {
        let (first, second) = (Vector3::from(a), Vector3::from(b));
        prop_assume!(first.cross(&second).norm() > 1e-2);
        let text = |v: [f64; 3]| format!("[{}, {}, {}]", v[0], v[1], v[2]);
        for (exact, near) in [(2, 0), (2, 1), (0, 1)] {
            let name = |k: usize| ["x", "y", "z"][k];
            // The order in which they are written does not count.
            let form = format!("{{ {}-axis = {}, {}-axis = {} }}", name(near), text(b), name(exact), text(a));
            let matrix = orientation(&form).to_rotation_matrix();
            let axis = |k: usize| matrix.matrix().column(k).into_owned();
            // Roundings, times a hundred where the two are nearly parallel.
            prop_assert!((axis(exact) - first.normalize()).norm() < 1e-14);
            let nearest = second - axis(exact) * axis(exact).dot(&second);
            prop_assert!((axis(near) - nearest.normalize()).norm() < 1e-12);
        }
    }
}

#[test]
fn the_z_axis_keeps_its_digits_near_the_poles() {
    for lean in [1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 1e-300] {
        for z in [1.0, -1.0] {
            let rotation = orientation(&format!("{{ z-axis = [{lean:e}, 0, {z}] }}"));
            let found = rotation * Vector3::z();
            // Near a pole x/z is the tangent of the angle from it: all digits of it are kept.
            assert!((found.x / found.z * z / lean - 1.0).abs() < 2e-15, "{lean:e}, {z}: {found}");
            // The shortest rotation turns about y alone.
            assert_eq!((rotation.i, rotation.k), (0.0, 0.0), "{lean:e}, {z}");
        }
    }
}

#[test]
fn the_z_axis_may_point_down() {
    let rotation = orientation("{ z-axis = [0, 0, -1] }");
    // Exact but for rounding.
    assert!((rotation * Vector3::z() + Vector3::z()).norm() < 1e-15);
}

#[test]
fn euler_angles_turn_about_carried_axes() {
    // First a quarter turn about z, then one about the new x, which is the old y: z goes to x.
    let rotation = orientation("{ euler = ['90 deg', '90 deg', 0], sequence = 'zxz' }");
    assert!((rotation * Vector3::z() - Vector3::x()).norm() < 1e-15);
}

#[test]
fn laws_have_their_short_and_their_long_forms() {
    let law = |value: &str| with_reader(&format!("motion = {value}"), |reader| reader.law("motion").unwrap());
    let at = |value: &str, time: f64| law(value).evaluate(time).value;
    assert_eq!(at("0.5", 3.0), 0.5);
    assert_eq!(at("'180 deg'", 3.0), std::f64::consts::PI);
    assert_eq!(at("'2*t + 1'", 3.0), 7.0);
    assert_eq!(at("'90*t deg'", 2.0), std::f64::consts::PI);
    assert_eq!(at("{ speed = 2, start = 1 }", 3.0), 7.0);
    assert_eq!(at("{ speed = '60 rpm' }", 1.0), std::f64::consts::TAU);
    assert_eq!(at("{ speed = -5, smooth-start = '500 ms' }", 2.0), -5.0 * 1.75);
    assert_eq!(at("{ speed = -5, smooth-start = 0.5, start-time = 1, start = 2 }", 3.0), 2.0 - 5.0 * 1.75);
    let points = "points = [[0, 0], ['1000 ms', 1], [2, 0]], interpolation = 'linear'";
    assert_eq!(at(&format!("{{ {points} }}"), 0.5), 0.5);
    assert_eq!(at(&format!("{{ {points} }}"), 5.0), 0.0);
    assert_eq!(at(&format!("{{ {points}, outside = 'continue' }}"), 3.0), -1.0);
    assert_eq!(law(&format!("{{ {points} }}")).corners(0.0, 5.0), [0.0, 1.0, 2.0]);
    assert!(matches!(law("{ points = [[0, 0], [1, 1], [2, 0]] }"), Law::Table(_)));
}

#[test]
fn a_signal_is_a_law_unless_it_measures() {
    let signal =
        |value: &str| with_reader(&format!("force = {value}"), |reader| reader.signal("force").unwrap());
    assert!(matches!(signal("'10*sin(t) kN'"), SignalLaw::Law(_)));
    assert!(matches!(signal("{ points = [[0, 0], [1, '1 kN']] }"), SignalLaw::Law(_)));
    assert!(matches!(signal("'-3*crank.rate'"), SignalLaw::Measured(_)));
    assert!(matches!(signal("'-3*crank-pin.rate + t'"), SignalLaw::Measured(_)));
}

#[test]
fn three_laws_or_signals_make_a_vector() {
    let keys = "path = [0, '2*t m', { speed = '1 m/s' }]\nload = [0, 't N', 'a.rate']";
    with_reader(keys, |reader| {
        let values = reader.law3("path").unwrap().map(|law| law.evaluate(3.0).value);
        assert_eq!(values, [0.0, 6.0, 3.0]);
        let [_, second, third] = reader.signal3("load").unwrap();
        assert!(matches!(second, SignalLaw::Law(_)) && matches!(third, SignalLaw::Measured(_)));
    });
}

#[test]
fn curves_are_functions_of_their_argument() {
    let keys = "curve = { points = [['-1 mm', '-1 kN'], [0, 0], ['1 mm', '1 kN']], outside = 'continue' }";
    with_reader(keys, |reader| {
        let [force, stiffness, _] = reader.curve("curve").unwrap().evaluate(2e-3);
        // Rounding of numbers of the size 1e6.
        assert!((force - 2000.0).abs() < 1e-9 && (stiffness - 1e6).abs() < 1e-6);
    });
}

#[test]
fn the_schema_describes_every_key_of_every_kind() {
    let schema = schema(KINDS);
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let gadget = &schema["properties"]["gadget"]["items"];
    for key in GADGET.keys.iter().chain(crate::model::kind::COMMON_KEYS) {
        assert!(gadget["properties"][key.name].is_object(), "{}", key.name);
    }
    assert_eq!(gadget["properties"]["mass"]["default"], 1);
    assert_eq!(gadget["properties"]["group"]["enum"][1], "so3xr3");
    assert_eq!(gadget["properties"]["mass"]["description"], "A key of the sample. [kg]");
    assert_eq!(gadget["additionalProperties"], false);
    assert_eq!(schema["properties"]["settings"]["required"][0], "end-time");
    // Every reference inside the schema leads somewhere.
    let text = schema.to_string();
    for reference in text.split("\"#/$defs/").skip(1) {
        let name = &reference[..reference.find('"').unwrap()];
        assert!(schema["$defs"][name].is_object(), "{name}");
    }
}

#[test]
fn the_reference_page_lists_every_key_and_function() {
    let page = reference_page(KINDS);
    for word in ["## `[[gadget]]`", "## `[settings]`", "`marker.position`", "`N/m`", "`atan2(x, y)`", "`g0`"]
    {
        assert!(page.contains(word), "{word}\n{page}");
    }
}

#[test]
fn tables_of_kinds_are_checked_for_faults() {
    assert_eq!(kind_faults(&GADGET), Vec::<String>::new());
    assert_eq!(kind_faults(&SETTINGS), Vec::<String>::new());
    static BAD: PartKind = PartKind {
        name: "Bad_kind",
        doc: "",
        occurrence: Occurrence::Many,
        keys: &[
            key("name", ValueKind::Text, Need::Optional),
            key("mass", ValueKind::Number(Dimension::MASS), Need::Default("'5 mm'")),
            key("group", ValueKind::Choice(&["a"]), Need::Default("'b'")),
            key("size", ValueKind::Count, Need::Default("[")),
        ],
    };
    let faults = kind_faults(&BAD);
    let expected = ["`Bad_kind`", "no description", "`name`", "mass (kg)", "one of `a`", "not valid TOML"];
    assert_eq!(faults.len(), expected.len(), "{faults:?}");
    for (fault, word) in faults.iter().zip(expected) {
        assert!(fault.contains(word), "{fault}");
    }
}
