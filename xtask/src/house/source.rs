//! The files of a crate that are compiled without tests, found from its root along `mod name;`.

use super::token::{Kind, Token, closing, tokens, without_tests};
use std::path::{Path, PathBuf};

/// A file of a crate.
pub struct File {
    /// Its path from the root of the project.
    pub path: String,
    /// Its module: `["machine", "part", "spring"]`; nothing at the root of the crate.
    pub module: Vec<String>,
    /// Its words without tests.
    pub tokens: Vec<Token>,
}

impl File {
    /// A file with this text.
    pub fn new(path: &str, module: &[&str], text: &str) -> Self {
        let module = module.iter().map(|name| (*name).to_owned()).collect();
        Self { path: path.to_owned(), module, tokens: without_tests(&tokens(text)) }
    }

    /// The place of a word.
    pub fn place(&self, token: &Token) -> String {
        format!("{}:{}", self.path, token.line)
    }

    /// Modules that it declares within itself.
    pub fn children(&self) -> impl Iterator<Item = &str> {
        let is_module = |words: &&[Token]| {
            words[0].is("mod") && words[1].kind == Kind::Word && (words[2].is(";") || words[2].is("{"))
        };
        self.tokens.windows(3).filter(is_module).map(|words| words[1].text.as_str())
    }
}

/// All files of the crate in `folder`, a path from `root`: of its library, its program or both.
pub fn read_crate(root: &Path, folder: &str) -> Result<Vec<File>, String> {
    let source = root.join(folder).join("src");
    let mut files: Vec<File> = Vec::new();
    for name in ["lib.rs", "main.rs"] {
        let path = source.join(name);
        if path.exists() {
            read_module(root, &path, &source, &[], &mut files)?;
        }
    }
    if files.is_empty() {
        return Err(format!("{folder}/src has neither lib.rs nor main.rs"));
    }
    Ok(files)
}

/// Reads a file and those that it declares; these lie in `folder`.
fn read_module(
    root: &Path,
    path: &Path,
    folder: &Path,
    module: &[&str],
    files: &mut Vec<File>,
) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let shown = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
    let file = File::new(&shown, module, &text);
    let declared = declared(&file.tokens);
    files.push(file);
    for names in declared {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let base: PathBuf = folder.join(names.join("/"));
        let candidates = [base.with_extension("rs"), base.join("mod.rs")];
        let path = candidates.iter().find(|path| path.exists());
        let path =
            path.ok_or_else(|| format!("{shown} declares a module that has no file: {}", names.join("::")))?;
        read_module(root, path, &base, &[module, &names].concat(), files)?;
    }
    Ok(())
}

/// Modules in files of their own, with the modules around them within this file.
fn declared(tokens: &[Token]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at + 2 < tokens.len() {
        let name = &tokens[at + 1];
        if tokens[at].is("mod") && name.kind == Kind::Word {
            if tokens[at + 2].is(";") {
                found.push(vec![name.text.clone()]);
            } else if tokens[at + 2].is("{") {
                let end = closing(tokens, at + 2);
                let within = declared(&tokens[at + 3..end]);
                found.extend(within.into_iter().map(|inner| [vec![name.text.clone()], inner].concat()));
                at = end;
            }
        }
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_along_declarations_and_those_of_tests_are_not() {
        let folder = std::env::temp_dir().join(format!("kreisel-house-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let path = folder.join("one/src").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("lib.rs", "mod a; pub mod b; #[cfg(test)] mod laws;");
        write("a.rs", "pub(super) mod deep; mod here { mod far; }");
        write("a/deep.rs", "fn f() {}");
        write("a/here/far.rs", "");
        write("b/mod.rs", "#[cfg(test)] mod tests;");
        write("b/tests.rs", "");
        write("laws.rs", "");
        write("forgotten.rs", "");
        let files = read_crate(&folder, "one");
        std::fs::remove_dir_all(&folder).unwrap();
        let files = files.unwrap();
        let found: Vec<_> = files.iter().map(|file| (file.path.as_str(), file.module.join("::"))).collect();
        let wanted = [
            ("one/src/lib.rs", ""),
            ("one/src/a.rs", "a"),
            ("one/src/a/deep.rs", "a::deep"),
            ("one/src/a/here/far.rs", "a::here::far"),
            ("one/src/b/mod.rs", "b"),
        ];
        assert_eq!(found, wanted.map(|(path, module)| (path, module.to_owned())));
    }
}
