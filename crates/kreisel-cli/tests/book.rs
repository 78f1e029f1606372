//! What the book lists is what the program has: experiments and the keys of the model file.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use kreisel::machine::part;
use kreisel::model::schema::reference_page;
use kreisel_cli::reproduce::markdown_table;
use std::fs;
use std::path::Path;

/// Compares the part of a page between its marks with fresh text.
///
/// With `KREISEL_REFRESH` set the part is rewritten instead; `cargo xtask refresh` does that.
fn assert_fresh(page: &str, mark: &str, fresh: &str) {
    let start = format!("<!-- {mark}: written by `cargo xtask refresh` -->\n");
    let end = format!("<!-- end of {mark} -->\n");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src").join(page);
    let text = fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once(&start).expect("the page has the mark where the part starts");
    let (part, after) = rest.split_once(&end).expect("the page has the mark where the part ends");
    if std::env::var_os("KREISEL_REFRESH").is_some() {
        fs::write(&page, format!("{before}{start}{fresh}{end}{after}")).unwrap();
    } else {
        assert_eq!(part, fresh, "run `cargo xtask refresh`");
    }
}

#[test]
fn the_book_lists_every_experiment() {
    assert_fresh("reproducing.md", "experiments", &markdown_table());
}

#[test]
fn the_book_lists_every_part_and_its_keys() {
    assert_fresh("model-file.md", "reference", &reference_page(&part::kinds()));
}
