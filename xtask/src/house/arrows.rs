//! Arrows: which room names something of which other room, by `crate::`, `super::`, `self::` or a child of
//! the module.

use super::rooms;
use super::source::File;
use super::token::{Kind, Token, closing};
use std::collections::BTreeMap;

/// From which room to which.
pub type Arrow = (String, String);

/// All arrows between different rooms with their places, each line once.
pub fn all(files: &[File]) -> BTreeMap<Arrow, Vec<String>> {
    let mut arrows: BTreeMap<Arrow, Vec<String>> = BTreeMap::new();
    for file in files {
        let from = rooms::of(&file.module);
        for (path, line) in paths(file) {
            let to = rooms::of(&path);
            if to != from {
                arrows.entry((from.clone(), to)).or_default().push(format!("{}:{line}", file.path));
            }
        }
    }
    arrows.values_mut().for_each(Vec::dedup);
    arrows
}

/// Every path of a file that begins at a known module, from the root of the crate on.
fn paths(file: &File) -> Vec<(Vec<String>, usize)> {
    let children: Vec<&str> = file.children().collect();
    let mut scan = Scan { tokens: &file.tokens, children: &children, found: Vec::new() };
    scan.module(0, file.tokens.len(), &file.module);
    scan.found
}

struct Scan<'a> {
    tokens: &'a [Token],
    children: &'a [&'a str],
    found: Vec<(Vec<String>, usize)>,
}

impl Scan<'_> {
    fn is(&self, at: usize, text: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(text))
    }

    /// Whether a path goes on after the word at `at`.
    fn goes_on(&self, at: usize) -> bool {
        self.is(at + 1, ":") && self.is(at + 2, ":")
    }

    /// The words from `at` to `end`, which stand in `module`.
    fn module(&mut self, mut at: usize, end: usize, module: &[String]) {
        while at < end {
            if self.is(at, "pub") && self.is(at + 1, "(") && self.is(at + 2, "in") {
                // Who may see a thing is no import.
                at = closing(self.tokens, at + 1) + 1;
            } else if self.is(at, "mod") && self.is(at + 2, "{") {
                let close = closing(self.tokens, at + 2);
                let inner = [module, &[self.tokens[at + 1].text.clone()]].concat();
                self.module(at + 3, close, &inner);
                at = close + 1;
            } else if let Some(start) = self.start(at, module) {
                at = self.path(at, start);
            } else {
                at += 1;
            }
        }
    }

    /// The module in which a path begins whose first word stands at `at`.
    fn start(&self, at: usize, module: &[String]) -> Option<Vec<String>> {
        let token = &self.tokens[at];
        let is_inside =
            at > 0 && (self.is(at - 1, ":") && self.is(at.wrapping_sub(2), ":") || self.is(at - 1, "."));
        if token.kind != Kind::Word || is_inside || !self.goes_on(at) {
            return None;
        }
        match token.text.as_str() {
            "crate" => Some(Vec::new()),
            "self" => Some(module.to_vec()),
            "super" => Some(module[..module.len().saturating_sub(1)].to_vec()),
            child if self.children.contains(&child) => Some([module, &[child.to_owned()]].concat()),
            _ => None,
        }
    }

    /// Follows the path after the word at `at`, which led to `module`, and gives the word after it.
    fn path(&mut self, mut at: usize, mut module: Vec<String>) -> usize {
        while self.goes_on(at) {
            at += 3;
            if self.is(at, "{") {
                return self.group(at, &module);
            }
            let Some(token) = self.tokens.get(at).filter(|token| token.kind == Kind::Word) else { break };
            if token.text == "super" {
                module.pop();
            } else {
                module.push(token.text.clone());
            }
        }
        self.found.push((module, self.line(at)));
        at + 1
    }

    /// The paths in braces after a module, and the word after them.
    fn group(&mut self, open: usize, module: &[String]) -> usize {
        let close = closing(self.tokens, open);
        let mut at = open + 1;
        while at < close {
            let text = self.tokens[at].text.clone();
            at = match text.as_str() {
                "," => at + 1,
                // `name as other`: the other name leads nowhere.
                "as" => at + 2,
                "self" | "*" => {
                    self.found.push((module.to_vec(), self.line(at)));
                    at + 1
                }
                "super" => self.path(at, module[..module.len().saturating_sub(1)].to_vec()),
                _ => self.path(at, [module, &[text]].concat()),
            };
        }
        close + 1
    }

    fn line(&self, at: usize) -> usize {
        self.tokens.get(at.min(self.tokens.len() - 1)).map_or(0, |token| token.line)
    }
}

/// What is wrong: arrows against the table that the list does not excuse, excuses without an arrow, unknown
/// rooms.
pub fn faults(arrows: &BTreeMap<Arrow, Vec<String>>, excused: &[(&str, &str)]) -> Vec<String> {
    let mut faults = Vec::new();
    for ((from, to), places) in arrows {
        let is_excused = excused.iter().any(|(first, second)| first == from && second == to);
        if let Some(unknown) = [from, to].into_iter().find(|name| !rooms::is_known(name)) {
            faults.push(format!("the table of rooms has no `{unknown}`: {}", places[0]));
        } else if !rooms::may_import(from, to) && !is_excused {
            faults.push(format!("`{from}` must not import `{to}`: {}", places.join(", ")));
        }
    }
    for (from, to) in excused {
        let arrow = ((*from).to_owned(), (*to).to_owned());
        if rooms::may_import(from, to) || !arrows.contains_key(&arrow) {
            faults.push(format!(
                "`{from}` no longer needs an excuse to import `{to}`: take it out of the list"
            ));
        }
    }
    faults
}

/// Those against the table.
pub fn against(arrows: &BTreeMap<Arrow, Vec<String>>) -> impl Iterator<Item = (&Arrow, &Vec<String>)> {
    arrows.iter().filter(|((from, to), _)| !rooms::may_import(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrows(module: &[&str], text: &str) -> Vec<String> {
        let found = paths(&File::new("file.rs", module, text));
        let from = rooms::of(module);
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for to in found.iter().map(|(path, _)| rooms::of(path)).filter(|to| *to != from) {
            *counts.entry(to).or_default() += 1;
        }
        counts.into_iter().map(|(to, count)| format!("{from} {to} {count}")).collect()
    }

    #[test]
    fn imports_are_found_in_groups_and_in_groups_of_groups() {
        assert_eq!(arrows(&["system"], "use crate::dae::Dae;"), ["system dae 1"]);
        assert_eq!(
            arrows(&["system"], "use crate::{dae::Dae, lie::Pose};"),
            ["system dae 1", "system lie 1"]
        );
        assert_eq!(
            arrows(&["system"], "use crate::{dae::{Dae, shape::{self, Shape}}, lie, solve::*};"),
            ["system dae 3", "system lie 1", "system solve 1"]
        );
        assert_eq!(arrows(&["system"], "use {crate::dae::Dae as Any, std::fmt};"), ["system dae 1"]);
        assert_eq!(
            arrows(&["system"], "use crate::{dae::Dae as Any, lie as groups};"),
            ["system dae 1", "system lie 1"]
        );
    }

    #[test]
    fn paths_inside_of_code_and_imports_that_are_passed_on_count() {
        assert_eq!(arrows(&["system"], "pub(crate) use crate::lie::Pose;"), ["system lie 1"]);
        assert_eq!(
            arrows(&["dae"], "fn f() -> crate::lie::Pose { vec![crate::solve::a::B::new()] }"),
            ["dae lie 1", "dae solve 1"]
        );
        assert_eq!(arrows(&["dae"], "macro_rules! m { () => { $crate::lie::Pose } }"), ["dae lie 1"]);
    }

    #[test]
    fn steps_up_and_down_count_where_they_leave_the_room() {
        assert_eq!(arrows(&["machine", "event"], "use super::super::part::Draft;"), ["machine part 1"]);
        assert_eq!(
            arrows(&["machine", "event"], "use super::{Sensor, super::part::{beam, body}};"),
            ["machine part 2"]
        );
        assert_eq!(arrows(&["part", "beam"], "use super::super::machine::Machine;"), ["part machine 1"]);
        assert_eq!(arrows(&["part", "beam"], "use super::body;"), Vec::<String>::new());
        assert_eq!(
            arrows(&["part"], "mod beam; use beam::KIND; fn f() { self::beam::kinds() }"),
            Vec::<String>::new()
        );
        assert_eq!(arrows(&["machine"], "fn f() { x.part::<u8>() }"), Vec::<String>::new());
        assert_eq!(
            arrows(&["dae"], "mod inner { use super::super::lie::Pose; use super::Point; }"),
            ["dae lie 1"]
        );
    }

    #[test]
    fn tests_comments_texts_and_visibility_do_not_count() {
        let none = Vec::<String>::new();
        assert_eq!(arrows(&["dae"], "#[cfg(test)] mod tests { use crate::machine::Machine; }"), none);
        assert_eq!(arrows(&["dae"], "#[cfg(test)] use crate::machine::{Machine, Run};"), none);
        assert_eq!(
            arrows(&["dae"], "/// See [`crate::machine::Machine`].\n//! use crate::lie::Pose;\nfn f() {}"),
            none
        );
        assert_eq!(arrows(&["dae"], "const A: &str = \"use crate::lie::Pose;\";"), none);
        assert_eq!(arrows(&["machine", "part"], "pub(in crate::machine) fn f() {}"), none);
    }

    #[test]
    fn a_new_arrow_and_an_excuse_without_one_are_faults() {
        let file = File::new(
            "dae.rs",
            &["dae"],
            "use crate::lie::Pose; use crate::machine::Machine; use crate::attic::Old;",
        );
        let arrows = all(&[file]);
        assert_eq!(
            faults(&arrows, &[("dae", "machine"), ("lie", "dae")]),
            [
                "the table of rooms has no `attic`: dae.rs:1",
                "`lie` no longer needs an excuse to import `dae`: take it out of the list",
            ]
        );
        assert_eq!(faults(&arrows, &[])[1], "`dae` must not import `machine`: dae.rs:1");
        assert_eq!(against(&arrows).count(), 2);
    }
}
