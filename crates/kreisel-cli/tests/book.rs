//! The book's table of experiments is the registry's.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use kreisel_cli::reproduce::markdown_table;
use std::fs;
use std::path::Path;

const START: &str = "<!-- experiments: written by `cargo xtask refresh` -->\n";
const END: &str = "<!-- end of experiments -->\n";

/// With `KREISEL_REFRESH` set the table is rewritten instead of compared; `cargo xtask refresh` does that.
#[test]
fn the_book_lists_every_experiment() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src/reproducing.md");
    let text = fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once(START).expect("the page has the mark where the table starts");
    let (table, after) = rest.split_once(END).expect("the page has the mark where the table ends");
    let fresh = markdown_table();
    if std::env::var_os("KREISEL_REFRESH").is_some() {
        fs::write(&page, format!("{before}{START}{fresh}{END}{after}")).unwrap();
    } else {
        assert_eq!(table, fresh, "run `cargo xtask refresh`");
    }
}
