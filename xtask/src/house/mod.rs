//! `cargo xtask house`: counts what keeps the library easy to change, and holds it to limits that may only
//! shrink.
//!
//! Everything is read from the source, without what only tests compile. Arrows between rooms, methods of
//! traits, open fields and names defined twice can fail; the rest is printed. The limits stand in
//! `limits.rs`, the rooms in `rooms.rs`.

mod arrows;
mod item;
mod limits;
mod mention;
mod rooms;
mod source;
mod token;

use crate::{root, say};
use item::Item;
use source::File;
use std::collections::BTreeMap;

const LIBRARY: &str = "crates/kreisel";

const USAGE: &str = "\
cargo xtask house            count, and compare with the limits
cargo xtask house --arrows   also every place of an arrow against the table
cargo xtask house --names    also every name defined twice with its places
cargo xtask house --files    also the files that mention a thing, and the structs with the vectors of a motion
";

/// Counts, prints and fails where a limit is passed.
pub fn run(options: &[&str]) -> Result<(), String> {
    if options.iter().any(|option| !["--arrows", "--names", "--files"].contains(option)) {
        return Err(USAGE.to_owned());
    }
    let house = House::read()?;
    let mut report = Report::default();
    house.arrows(&mut report, options.contains(&"--arrows"));
    house.traits(&mut report);
    house.structs(&mut report);
    house.motions(&mut report, options.contains(&"--files"));
    house.names(&mut report, options.contains(&"--names"));
    house.method(&mut report, options.contains(&"--files"));
    house.things(&mut report, options.contains(&"--files"));
    house.lines(&mut report);
    say(&report.text());
    if report.faults.is_empty() { Ok(()) } else { Err(report.faults.join("\n")) }
}

/// What was counted.
#[derive(Default)]
struct Report {
    rows: Vec<[String; 4]>,
    lists: String,
    hints: Vec<String>,
    faults: Vec<String>,
}

impl Report {
    fn row(&mut self, measure: &str, now: impl ToString, most: impl ToString, end: impl ToString) {
        self.rows.push([measure.to_owned(), now.to_string(), most.to_string(), end.to_string()]);
    }

    /// Compares numbers with their limits: above is a fault, below a hint to lower them.
    fn limit<const N: usize>(&mut self, what: &str, now: [usize; N], most: [usize; N]) {
        let shown = |numbers: [usize; N]| numbers.map(|number| number.to_string()).join(" and ");
        let pairs = || now.iter().zip(&most);
        if pairs().any(|(now, most)| now > most) {
            self.faults.push(format!("{what}: {}, at most {}", shown(now), shown(most)));
        } else if pairs().any(|(now, most)| now < most) {
            self.hints.push(format!("{what}: {}; lower the limit of {}", shown(now), shown(most)));
        }
    }

    /// Places of the library are shown without its folder.
    fn list(&mut self, title: &str, lines: impl IntoIterator<Item = String>) {
        let folder = format!("{LIBRARY}/src/");
        let lines: String =
            lines.into_iter().map(|line| format!("  {}\n", line.replace(&folder, ""))).collect();
        self.lists += &format!("\n{title}:\n{lines}");
    }

    /// A table that can be pasted into a page.
    fn text(&self) -> String {
        let head = ["measure", "now", "at most", "end"].map(str::to_owned);
        let width = |column: usize| {
            let cells = self.rows.iter().chain([&head]).map(|row| row[column].chars().count());
            cells.max().unwrap_or_default()
        };
        let widths = [0, 1, 2, 3].map(width);
        let line = |row: &[String; 4]| {
            let cells = row.iter().zip(widths).map(|(cell, width)| format!(" {cell:width$} |"));
            format!("|{}\n", cells.collect::<String>())
        };
        let rule: String = widths.iter().map(|width| format!("{}|", "-".repeat(width + 2))).collect();
        let rows: String = self.rows.iter().map(line).collect();
        let hints: String = self.hints.iter().map(|hint| format!("\n{hint}\n")).collect();
        format!("{}|{rule}\n{rows}{}{hints}", line(&head), self.lists)
    }
}

/// The source.
struct House {
    library: Vec<File>,
    doors: Vec<File>,
    items: Vec<Item>,
}

impl House {
    fn read() -> Result<Self, String> {
        let root = root();
        let library = source::read_crate(&root, LIBRARY)?;
        let folders = std::fs::read_dir(root.join("crates")).map_err(|error| format!("crates: {error}"))?;
        let mut names: Vec<String> = folders
            .flatten()
            .map(|folder| format!("crates/{}", folder.file_name().to_string_lossy()))
            .collect();
        names.retain(|folder| folder != LIBRARY && root.join(folder).join("Cargo.toml").exists());
        names.sort();
        let mut doors = Vec::new();
        for folder in &names {
            doors.extend(source::read_crate(&root, folder)?);
        }
        Ok(Self { items: library.iter().flat_map(item::items).collect(), library, doors })
    }

    fn arrows(&self, report: &mut Report, listed: bool) {
        let all = arrows::all(&self.library);
        let (kinds, places) =
            arrows::against(&all).fold((0, 0), |(kinds, sum), (_, places)| (kinds + 1, sum + places.len()));
        let most = format!("{} kinds", limits::ARROWS.len());
        report.row("arrows against the table", format!("{kinds} kinds, {places} lines"), most, 0);
        report.faults.extend(arrows::faults(&all, limits::ARROWS));
        if listed {
            let line = |((from, to), places): (&arrows::Arrow, &Vec<String>)| {
                format!("{from} -> {to}: {}", places.join(", "))
            };
            report.list("arrows against the table", arrows::against(&all).map(line));
        }
    }

    fn traits(&self, report: &mut Report) {
        for limit in limits::TRAITS {
            let measure = format!("methods (needed) of `{}`", limit.name);
            let shown = |(total, needed): (usize, usize)| format!("{total} ({needed})");
            let found = self.items.iter().find(|item| item.keyword == "trait" && item.name == limit.name);
            let count = |item: &Item| {
                (item.methods.len(), item.methods.iter().filter(|method| method.is_needed).count())
            };
            let now = found.map(count);
            report.row(&measure, now.map_or("–".to_owned(), shown), shown(limit.most), shown(limit.end));
            if let Some((total, needed)) = now {
                let (most, most_needed) = limit.most;
                let what = format!("methods and needed methods of `{}`", limit.name);
                report.limit(&what, [total, needed], [most, most_needed]);
            }
        }
    }

    fn structs(&self, report: &mut Report) {
        for limit in limits::STRUCTS {
            let measure = format!("fields (open) of `{}`", limit.name);
            let is_meant = |item: &&Item| {
                item.keyword == "struct" && item.name == limit.name && rooms::of(&item.module) == limit.room
            };
            let Some(item) = self.items.iter().find(is_meant) else {
                report.row(&measure, "–", format!("({})", limit.most_open), limit.end);
                continue;
            };
            let open = item.fields.iter().filter(|field| item.is_public && field.is_open).count();
            let now = format!("{} ({open})", item.fields.len());
            report.row(&measure, now, format!("({})", limit.most_open), limit.end);
            report.limit(&format!("open fields of `{}`", limit.name), [open], [limit.most_open]);
        }
    }

    fn motions(&self, report: &mut Report, listed: bool) {
        let found: Vec<&Item> = self.items.iter().filter(|item| has_motion(item)).collect();
        report.row("structs with the vectors of a motion", found.len(), "", limits::MOTION_END);
        if listed {
            let line = |item: &Item| format!("{} {}", item.name, item.place);
            report.list("structs with the vectors of a motion", found.into_iter().map(line));
        }
    }

    fn names(&self, report: &mut Report, listed: bool) {
        let names = names_twice(&self.items);
        let public = names.values().filter(|items| items.iter().any(|item| item.is_public)).count();
        let (most, most_public) = (limits::NAMES_TWICE, limits::PUBLIC_NAMES_TWICE);
        report.row("names defined twice", names.len(), most, limits::NAMES_TWICE_END);
        report.row("of them with a public definition", public, most_public, 0);
        let what = "names defined twice and with a public definition (`--names` shows them)";
        report.limit(what, [names.len(), public], [most, most_public]);
        if listed {
            let line = |(name, items): (&&str, &Vec<&Item>)| {
                let places: Vec<String> = items.iter().map(|item| item.shown()).collect();
                format!("{name}: {}", places.join(", "))
            };
            report.list("names defined twice", names.iter().map(line));
        }
    }

    fn method(&self, report: &mut Report, listed: bool) {
        let own = |item: &&Item| item.keyword == "struct" && item.name == "Method";
        let own: Vec<&str> =
            self.items.iter().filter(own).filter_map(|item| item.place.split(':').next()).collect();
        let others = self.library.iter().filter(|file| !own.contains(&file.path.as_str()));
        let found = mention::paths(others, "Method");
        let lines: usize = found.values().map(Vec::len).sum();
        let now = format!("{lines} in {} files", found.len());
        report.row("lines with `Method::` outside its own file", now, "", 0);
        if listed {
            report.list("`Method::` outside its own file", shown_mentions(&found));
        }
    }

    fn things(&self, report: &mut Report, listed: bool) {
        for thing in limits::THINGS {
            let is_stranger =
                |file: &&File| limits::STRANGERS.iter().any(|folder| file.path.starts_with(folder));
            let files = self.library.iter().chain(&self.doors).filter(|file| !is_stranger(file));
            let found = mention::mentions(files, thing.words);
            let places: usize = found.values().map(Vec::len).sum();
            let measure = format!("files by hand: {} (`{}`)", thing.what, thing.words[0]);
            report.row(&measure, format!("{} ({places} lines)", found.len()), "", thing.end);
            if listed {
                report.list(&format!("{} `{}`", thing.what, thing.words[0]), shown_mentions(&found));
            }
        }
    }

    fn lines(&self, report: &mut Report) {
        let mut lines: BTreeMap<String, usize> = BTreeMap::new();
        for file in &self.library {
            *lines.entry(rooms::of(&file.module)).or_default() += token::code_lines(&file.tokens);
        }
        let papers = limits::PAPERS.iter().filter_map(|room| lines.get(*room)).sum::<usize>();
        report.row("code lines of the library", lines.values().sum::<usize>(), "", limits::LINES_END);
        report.row("of them the papers'", papers, "", 0);
        for (room, lines) in &lines {
            report.row(&format!("of them `{room}`"), lines, "", "");
        }
    }
}

impl Item {
    fn shown(&self) -> String {
        format!("{}{} {}", if self.is_public { "pub " } else { "" }, self.keyword, self.place)
    }
}

fn has_motion(item: &Item) -> bool {
    let is_vector = |type_text: &str| ["Vec<f64>", "&[f64]", "&mut[f64]"].contains(&type_text);
    let is_motion = |field: &&item::Field| {
        limits::MOTION_FIELDS.contains(&field.name.as_str()) && is_vector(&field.type_text)
    };
    item.fields.iter().filter(is_motion).count() >= 3
}

/// Names that more than one type or trait has.
fn names_twice(items: &[Item]) -> BTreeMap<&str, Vec<&Item>> {
    let mut names: BTreeMap<&str, Vec<&Item>> = BTreeMap::new();
    items.iter().for_each(|item| names.entry(&item.name).or_default().push(item));
    names.retain(|_, items| items.len() > 1);
    names
}

fn shown_mentions(found: &BTreeMap<&str, Vec<usize>>) -> impl Iterator<Item = String> {
    found.iter().map(|(path, lines)| {
        let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
        format!("{path}: {}", lines.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &str) -> Vec<Item> {
        item::items(&File::new("file.rs", &["dae"], text))
    }

    #[test]
    fn names_of_types_and_traits_are_told_apart() {
        let items = items("struct A; enum B {} pub trait A {} struct C; fn f() { type C = u8; }");
        let names = names_twice(&items);
        assert_eq!(names.keys().copied().collect::<Vec<_>>(), ["A", "C"]);
    }

    #[test]
    fn three_vectors_make_a_motion() {
        let text =
            "struct A<'a> { velocity: &'a [f64], states: Vec<f64>, multipliers: &'a mut [f64], time: f64 }
            struct B { velocity: Vec<f64>, states: Vec<f64>, acceleration: usize }";
        let found: Vec<_> = items(text).iter().map(has_motion).collect();
        assert_eq!(found, [true, false]);
    }

    #[test]
    fn above_a_limit_is_a_fault_and_below_a_hint() {
        let mut report = Report::default();
        report.limit("a", [3, 2], [3, 2]);
        assert!(report.faults.is_empty() && report.hints.is_empty());
        report.limit("b", [3, 1], [3, 2]);
        assert_eq!(report.hints, ["b: 3 and 1; lower the limit of 3 and 2"]);
        report.limit("c", [2, 3], [3, 2]);
        assert_eq!(report.faults, ["c: 2 and 3, at most 3 and 2"]);
    }

    #[test]
    fn the_table_can_be_pasted() {
        let mut report = Report::default();
        report.row("a", 1, "≤ 2", "");
        assert_eq!(
            report.text(),
            "| measure | now | at most | end |\n|---------|-----|---------|-----|\n| a       | 1   | ≤ 2     |     |\n"
        );
    }
}
