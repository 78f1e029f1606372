//! The models of `models/`, and those of `validation/` that the book teaches with, which the program carries
//! with it.

/// A model that comes with the program.
#[derive(Clone, Copy, Debug)]
pub struct ShippedModel {
    /// Its name, that of the file without its ending.
    pub name: &'static str,
    /// The whole file.
    pub text: &'static str,
}

impl ShippedModel {
    /// The first line of its comment: what it is.
    pub fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches(['#', ' '])
    }
}

macro_rules! shipped {
    ($($name:literal $(of $folder:literal)?)*) => {
        /// All of them, by name.
        pub const MODELS: &[ShippedModel] = &[$(ShippedModel { name: $name, text: text!($name $($folder)?) }),*];
    };
}

macro_rules! text {
    ($name:literal) => {
        include_str!(concat!("../../../models/", $name, ".toml"))
    };
    ($name:literal $folder:literal) => {
        include_str!(concat!("../../../", $folder, "/", $name, ".toml"))
    };
}

shipped! {
    "active-suspension"
    "bathe-45"
    "beam-stop"
    "bouncing-ball"
    "bricard-6r"
    "bridge-crane"
    "cam-beam"
    "cantilever-roll"
    "capsule-chain"
    "car"
    "chain-revolute"
    "chain-spherical"
    "chaplygin-sleigh"
    "coin"
    "crane"
    "crank-row"
    "dc-motor-crank"
    "delta-robot"
    "door"
    "double-pendulum"
    "engine"
    "flyball-governor"
    "flying-beam"
    "foucault-pendulum"
    "four-bar"
    "four-bar-chain"
    "four-bar-misaligned"
    "four-cylinder-engine"
    "gear-pair"
    "grid"
    "heavy-top"
    "latch"
    "lee-frame"
    "pendulum"
    "princeton-beam"
    "right-angle-beam"
    "robot-arm"
    "rolling-disc"
    "rotor" of "validation/ross"
    "screw-press"
    "settling-balls"
    "six-axis-robot"
    "slider-crank-spatial"
    "slipping-ball"
    "spin-up-beam"
    "stewart-platform"
    "tennis-racket"
    "turntable-ball"
    "universal-joint"
    "wind-turbine"
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_model_of_the_folder_is_shipped() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
        let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let models = paths.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
        let mut names: Vec<String> =
            models.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        names.push("rotor".to_owned());
        names.sort();
        assert_eq!(MODELS.iter().map(|model| model.name).collect::<Vec<_>>(), names);
    }

    #[test]
    fn every_model_says_in_its_first_line_what_it_is() {
        for model in MODELS {
            assert!(model.text.starts_with("# ") && model.title().len() > 10, "{}", model.name);
        }
    }
}
