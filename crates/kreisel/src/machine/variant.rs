//! Parameters that events change while a machine runs.
//!
//! Each combination of values that events can bring about is a variant. The machine is read once more with
//! those values, and the elements of the parts that use them become versions of the ones that act at the
//! start. Only parts that push with finite forces, and rates of states, may change so: positions and
//! velocities go on where they are, without an impulse.

use std::collections::HashSet;

use super::event_draft::EventDraft;
use super::{MachineBuilder, PartEntry};
use crate::model::error::{Mistake, ModelError, ModelErrors};
use crate::model::{Document, GivenParameter, Part, PartKind};

/// Most variants of a machine: each takes the memory of the parts that change.
const MAX: usize = 64;

/// The variants of a machine, numbered with the first parameter running fastest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variants {
    parameters: Vec<Changed>,
}

/// A parameter that events change.
#[derive(Clone, Debug)]
struct Changed {
    name: String,
    /// Its value at the start, then those that events give it.
    values: Vec<f64>,
    /// The first table that changes it.
    given: GivenParameter,
}

/// What an event does to a parameter: which one, and which of its values it gets.
pub(crate) type ParameterChange = (usize, usize);

impl Variants {
    /// Parameters and values of all events.
    pub fn from_events(events: &[EventDraft], document: &Document) -> Result<Self, ModelErrors> {
        let mut parameters: Vec<Changed> = Vec::new();
        let mut errors = ModelErrors::new();
        for given in events.iter().flat_map(|event| &event.set) {
            let Some(&start) = document.parameters().get(&given.name) else {
                let mistake = Mistake::UnknownName { what: "parameter", name: given.name.clone() };
                let error = ModelError::new(mistake, given.name_place.clone());
                let names = document.parameters().keys().map(String::as_str);
                errors.push(error.with_nearest(&given.name, names));
                continue;
            };
            let index = parameters.iter().position(|known| known.name == given.name).unwrap_or_else(|| {
                let (name, given) = (given.name.clone(), given.clone());
                parameters.push(Changed { name, values: vec![start], given });
                parameters.len() - 1
            });
            let values = &mut parameters[index].values;
            if !values.contains(&given.value) {
                values.push(given.value);
            }
        }
        errors.into_result()?;
        let variants = Self { parameters };
        if variants.count() > MAX {
            return Err(variants.too_many().into());
        }
        Ok(variants)
    }

    /// What the tables of an event mean.
    pub fn settings(&self, set: &[GivenParameter]) -> Vec<ParameterChange> {
        let setting = |given: &GivenParameter| {
            let index = self.parameters.iter().position(|known| known.name == given.name)?;
            let values = &self.parameters[index].values;
            Some((index, values.iter().position(|value| *value == given.value)?))
        };
        set.iter().filter_map(setting).collect()
    }

    /// The variant after a parameter was set in another one.
    pub fn after(&self, variant: usize, (parameter, value): ParameterChange) -> usize {
        let stride: usize = self.parameters[..parameter].iter().map(|known| known.values.len()).product();
        let present = variant / stride % self.parameters[parameter].values.len();
        variant + stride * value - stride * present
    }

    /// Gives a builder the versions of its elements in all variants.
    pub fn add_versions(
        &self,
        builder: &mut MachineBuilder,
        document: &Document,
        parts: &[&'static PartEntry],
    ) -> Result<(), ModelErrors> {
        for variant in 1..self.count() {
            let given = self.given(variant);
            let blame = |errors| with_values(errors, &given);
            let other = document.with_parameters(&given).map_err(blame)?;
            let names = self.changed_parts(document, &other, parts)?;
            let other =
                MachineBuilder::read(&other, parts, &builder.signals().outside().clone()).map_err(blame)?;
            let versions = builder.add_variant(variant, other, |name| names.contains(name));
            versions.map_err(|part| self.other_machine(&part))?;
        }
        Ok(())
    }

    fn count(&self) -> usize {
        let sizes = self.parameters.iter().map(|known| known.values.len());
        sizes.fold(1, usize::saturating_mul)
    }

    fn given(&self, variant: usize) -> Vec<GivenParameter> {
        let mut rest = variant;
        let given = |known: &Changed| {
            let value = known.values[rest % known.values.len()];
            rest /= known.values.len();
            GivenParameter { value, ..known.given.clone() }
        };
        self.parameters.iter().map(given).collect()
    }

    /// Names of the parts that are different in another document; an error if one cannot change.
    fn changed_parts(
        &self,
        document: &Document,
        other: &Document,
        kinds: &[&PartEntry],
    ) -> Result<HashSet<String>, ModelErrors> {
        let changeable: Vec<&PartKind> =
            kinds.iter().filter(|entry| entry.changeable).map(|entry| entry.kind).collect();
        let mut errors = ModelErrors::new();
        let mut names = HashSet::new();
        let (parts, others) = (document.parts(), other.parts());
        for (part, other) in parts.iter().zip(others) {
            if part.name() != other.name() || part.kind() != other.kind() {
                return Err(self.other_machine(part.name()).into());
            }
            let Some(parameter) = difference(part, other) else { continue };
            if changeable.contains(&part.kind()) {
                names.insert(part.name().to_string());
            } else {
                errors.push(self.unchangeable(part, &parameter, &changeable));
            }
        }
        errors.into_result()?;
        match parts.get(others.len()).or(others.get(parts.len())) {
            Some(part) => Err(self.other_machine(part.name()).into()),
            None => Ok(names),
        }
    }

    fn unchangeable(&self, part: &Part, parameter: &str, changeable: &[&PartKind]) -> ModelError {
        let what = format!("the {} `{}`", part.kind().name, part.name());
        let requirement = format!("free of `{parameter}`, which an event sets");
        let kinds: Vec<String> = changeable.iter().map(|kind| kind.header()).collect();
        let error = ModelError::unsuitable(what, requirement, "one that uses it", part.name_place());
        let error = error.with_hint(format!("while a machine runs these can change: {}", kinds.join(", ")));
        match self.parameters.first() {
            Some(changed) => error.with_related(changed.given.name_place.clone(), "set here"),
            None => error,
        }
    }

    /// The values make other parts, not the same ones with other forces.
    fn other_machine(&self, part: &str) -> ModelError {
        let place = self.parameters.first().map(|changed| changed.given.name_place.clone());
        let found = format!("one of which parts there are, such as `{part}`");
        ModelError::unsuitable("`set` of an event", "a change of forces", found, &place.unwrap_or_default())
            .with_hint("use another parameter in `repeat`, `when` and names")
    }

    fn too_many(&self) -> ModelError {
        let requirement = format!("at most {MAX} combinations of values");
        let place = self.parameters.last().map(|changed| changed.given.name_place.clone());
        let what = "`set` of all events together";
        ModelError::unsuitable(what, requirement, self.count(), &place.unwrap_or_default())
            .with_hint("let parameters that change together be expressions of one")
    }
}

/// Mistakes that come with the values of events say so.
fn with_values(errors: ModelErrors, given: &[GivenParameter]) -> ModelErrors {
    let values: Vec<String> = given.iter().map(|given| format!("{} = {}", given.name, given.value)).collect();
    let mut told = ModelErrors::new();
    for error in errors.iter().cloned() {
        let place = given[0].value_place.clone();
        told.push(error.with_related(place, format!("once events have set {}", values.join(", "))));
    }
    told
}

/// The parameter through which a part differs from the same part with other values.
fn difference(part: &Part, other: &Part) -> Option<String> {
    let (here, there) = (part.context().scope(), other.context().scope());
    let changed = here.parameters.iter().filter(|(name, value)| there.parameters.get(*name) != Some(value));
    let mut used = changed.map(|(name, _)| name).filter(|name| part.context().has_used(name));
    let moved = (here.placement != there.placement).then_some("the place of its file");
    used.next().cloned().or(moved.map(str::to_string))
}
