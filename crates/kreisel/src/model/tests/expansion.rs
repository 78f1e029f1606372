//! Parameters, includes, repetitions and conditions give the parts that one would write by hand.

use std::fs;

use nalgebra::{Point3, Vector3};

use super::*;
use crate::model::{GivenParameter, Place, Text};

fn names(document: &Document) -> Vec<&str> {
    document.parts().iter().map(|part| part.name()).collect()
}

fn masses(document: &Document) -> Vec<f64> {
    document.parts().iter().map(|part| PartReader::new(part).unwrap().number("mass").unwrap()).collect()
}

#[test]
fn parameters_may_use_each_other_in_any_order() {
    let text = "[parameters]\na = '2*b'\nb = 'c + 1'\nc = '500 mm'\nm = 3\n[[gadget]]\nmass = 'a + m'\n";
    let document = document(text);
    assert_eq!(document.parameters()["a"], 3.0);
    assert_eq!(masses(&document), [6.0]);
}

#[test]
fn a_parameter_may_have_the_name_of_a_unit() {
    let document = document("[parameters]\nm = 'kg'\nkg = '2 kg'\n[[gadget]]\nmass = '3*m kg'\n");
    assert_eq!(masses(&document), [6.0]);
}

#[test]
fn a_long_chain_of_parameters_is_resolved() {
    let mut text = String::from("[parameters]\np0 = 1\n");
    (1..5000).for_each(|k| text.push_str(&format!("p{k} = 'p{} + 1'\n", k - 1)));
    text.push_str("[[gadget]]\nmass = 'p4999'\n");
    assert_eq!(masses(&document(&text)), [5000.0]);
}

#[test]
fn overrides_replace_parameters() {
    let text = "[parameters]\na = 1\nb = '2*a'\n[[gadget]]\nmass = 'b'\n";
    let read = |overrides| Document::from_text("test.toml", text, KINDS, overrides).unwrap();
    assert_eq!(masses(&read(&[("a", "3 + 1")])), [8.0]);
    assert_eq!(masses(&read(&[("b", "a + 0.5 kg")])), [1.5]);
}

#[test]
fn repeated_parts_count_from_zero() {
    let text = "[parameters]\nN = 3\n[[gadget]]\nname = 'link{i}'\nrepeat = 'N'\nmass = '1 + i'\n\
                position = ['i*100 mm', 0, 0]\nbodies = ['link{i-1}', 'link{i+1}']\n";
    let document = document(text);
    assert_eq!(names(&document), ["link0", "link1", "link2"]);
    assert_eq!(masses(&document), [1.0, 2.0, 3.0]);
    let reader = PartReader::new(&document.parts()[2]).unwrap();
    assert_eq!(reader.vector3("position").unwrap(), Vector3::new(0.2, 0.0, 0.0));
    let references = reader.references("bodies").unwrap();
    assert_eq!(references.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["link1", "link3"]);
}

#[test]
fn conditions_drop_parts() {
    let text = "[parameters]\nwith-damper = 0\n\
                [[gadget]]\nname = 'a{i}'\nrepeat = 4\nwhen = 'i > 0 && mod(i, 2) == 1'\n\
                [[gadget]]\nname = 'b'\nwhen = 'with-damper'\n\
                [[gadget]]\nname = 'c'\nwhen = false\n\
                [[gadget]]\nname = 'd'\nwhen = true\n\
                [[gadget]]\nname = 'e{i}'\nrepeat = 0\n";
    assert_eq!(names(&document(text)), ["a1", "a3", "d"]);
}

#[test]
fn parts_without_a_name_are_numbered() {
    let text = "[[gadget]]\n[[gadget]]\nname = 'gadget-2'\n[[gadget]]\n[settings]\nend-time = 1\n";
    assert_eq!(names(&document(text)), ["gadget-1", "gadget-2", "gadget-3", "settings"]);
}

#[test]
fn a_hundred_thousand_parts_are_written_out() {
    let text = "[[gadget]]\nname = 'x{i}'\nrepeat = 100000\n";
    assert_eq!(document(text).parts().len(), 100_000);
}

/// Folder with a sub-assembly and a model that uses it.
fn folder(main: &str) -> (tempfile::TempDir, Document) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("parts")).unwrap();
    let wheel = "[parameters]\nradius = 0.5\nmass = 'density*radius'\n\
                 [[gadget]]\nname = 'hub'\nmass = 'mass'\n\
                 [[gadget]]\nname = 'rim'\nbodies = ['hub', 'ground']\nforce = '2*hub.angle + energy.total'\n\
                 [settings]\nend-time = 3\n";
    fs::write(folder.path().join("parts/wheel.toml"), wheel).unwrap();
    let pair = "[[include]]\nfile = 'wheel.toml'\nprefix = 'l-'\nposition = [0, 1, 0]\n\
                [[include]]\nfile = 'wheel.toml'\nprefix = 'r-'\nposition = [0, -1, 0]\n\
                rotation = { axis = [0, 0, 1], angle = '180 deg' }\n";
    fs::write(folder.path().join("parts/pair.toml"), pair).unwrap();
    fs::write(folder.path().join("main.toml"), main).unwrap();
    let document = Document::read(folder.path().join("main.toml"), KINDS, &[])
        .unwrap_or_else(|errors| panic!("{errors}"));
    (folder, document)
}

#[test]
fn an_included_file_gets_prefix_parameters_and_references() {
    let main = "[parameters]\ndensity = 8\n\
                [[include]]\nfile = 'parts/wheel.toml'\nprefix = 'front-'\nparameters = { radius = '2 m', density = 4 }\n\
                [[gadget]]\nname = 'frame'\nmass = 5\n[settings]\nend-time = 1\n";
    let (_folder, document) = folder(main);
    assert_eq!(names(&document), ["front-hub", "front-rim", "frame", "settings"]);
    let reader = |index: usize| PartReader::new(&document.parts()[index]).unwrap();
    // 4 · 2 m: both are set by the include, one of them over the parameter of the model.
    assert_eq!(reader(0).number("mass").unwrap(), 8.0);
    let references = reader(1).references("bodies").unwrap();
    assert_eq!(references[0].name, "front-hub");
    assert!(references[1].is_ground());
    // The end time of the sub-assembly serves only when it is run alone.
    assert_eq!(document.left_out().len(), 1);
    assert_eq!(document.sources().len(), 2);
}

#[test]
fn measured_names_in_an_included_file_mean_its_own_parts_first() {
    let main = "[parameters]\ndensity = 8\n[[include]]\nfile = 'parts/wheel.toml'\nprefix = 'front-'\n";
    let (_folder, document) = folder(main);
    let signal = PartReader::new(&document.parts()[1]).unwrap().signal("force").unwrap();
    let crate::model::SignalLaw::Measured(expression) = signal else { panic!("{signal:?}") };
    let known = ["front-hub.angle", "energy.total", "hub.angle"];
    let candidates = || known.map(String::from).to_vec();
    let quantities =
        crate::model::Quantities { known: &|name| known.contains(&name), candidates: &candidates };
    let compiled = expression.compile(quantities).unwrap();
    assert_eq!(compiled.variables(), ["front-hub.angle", "energy.total"]);
    assert_eq!(compiled.value(&[3.0, 1.0]), 7.0);
    let none =
        crate::model::Quantities { known: &|_| false, candidates: &|| vec!["front-hub.angel".to_string()] };
    let error = expression.compile(none).unwrap_err();
    assert_eq!(error.hint(), Some("did you mean `hub.angel`?"));
}

#[test]
fn placements_of_nested_includes_multiply() {
    let main = "[parameters]\ndensity = 1\n\
                [[include]]\nfile = 'parts/pair.toml'\nprefix = 'axle{i}-'\nrepeat = 2\n\
                position = ['i*3', 0, 0]\nrotation = { axis = [0, 0, 1], angle = '90 deg' }\n";
    let (_folder, document) = folder(main);
    assert_eq!(
        names(&document),
        [
            "axle0-l-hub",
            "axle0-l-rim",
            "axle0-r-hub",
            "axle0-r-rim",
            "axle1-l-hub",
            "axle1-l-rim",
            "axle1-r-hub",
            "axle1-r-rim",
        ]
    );
    let place =
        |index: usize, point: Point3<f64>| document.parts()[index].context().scope().placement * point;
    // Left wheel of the second axle: (1, 0, 0) in the wheel is (1, 1, 0) in the pair; a quarter turn makes
    // it (−1, 1, 0), and the axle stands at x = 3.
    let left = place(4, Point3::new(1.0, 0.0, 0.0));
    assert!((left - Point3::new(2.0, 1.0, 0.0)).norm() < 1e-14, "{left}");
    // Right wheel: half a turn gives (−1, −1, 0) in the pair, (1, −1, 0) after the quarter turn.
    let right = place(6, Point3::new(1.0, 0.0, 0.0));
    assert!((right - Point3::new(4.0, -1.0, 0.0)).norm() < 1e-14, "{right}");
}

#[test]
fn what_is_laid_over_a_key_is_read_and_blamed_as_the_key() {
    let text = |content: &str| Text::standalone("--end-time", content);
    let models = ["[settings]\nend-time = 1\n[[gadget]]\n", "[[gadget]]\n"];
    for model in models.map(|model| format!("[parameters]\na = 2\n{model}")) {
        let mut document = document(&model);
        document.overlay(&SETTINGS, "end-time", text("3*a"), Vec::new());
        document.overlay(&SETTINGS, "quiet", Text::standalone("--quiet", "true"), Vec::new());
        let given = GivenParameter {
            name: "a".into(),
            name_place: Place::default(),
            value: 5.0,
            value_place: Place::default(),
        };
        let other = document.with_parameters(&[given]).unwrap();
        for (document, end) in [(&document, 6.0), (&other, 15.0)] {
            let part = document.parts_of("settings").next().unwrap();
            let reader = PartReader::new(part).unwrap();
            assert_eq!(reader.number("end-time").unwrap(), end);
            assert!(reader.boolean("quiet").unwrap());
        }
        assert!(document.parts_of("settings").next().unwrap().context().has_used("a"));
        document.overlay(&SETTINGS, "end-time", text("3 m"), Vec::new());
        let errors = read_all(&document).unwrap_err().to_string();
        assert!(errors.starts_with("--end-time:1:3: the unit must be one of time"), "{errors}");
    }
}
