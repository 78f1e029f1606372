//! A file with those that it includes: they are read as if their elements stood in place of `<include>`.

use crate::Request;
use crate::xml::{self, Element};
use kreisel::model::document::read_bytes;
use kreisel::model::{Mistake, ModelError, ModelErrors, SourceFile};
use roxmltree::Document;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most files, and most bytes of all together.
const MOST: (usize, u64) = (200, 64 << 20);

/// Texts of all files, the first of which includes the others.
pub struct Files {
    texts: Vec<Arc<SourceFile>>,
    /// Places of included files by what is written.
    places: HashMap<String, usize>,
}

impl Files {
    /// Reads a file and all that it includes, which lie in its folder or below.
    pub fn gather(request: &Request<'_>) -> Result<Self, ModelErrors> {
        let mut files = Self { texts: vec![Arc::clone(request.file)], places: HashMap::new() };
        let mut size = request.file.text().len() as u64;
        let mut next = 0;
        while let Some(file) = files.texts.get(next).cloned() {
            next += 1;
            let document = xml::parse(&file)?;
            let root = Element::root(&document, &file);
            for include in root.descendants().filter(|element| element.tag() == "include") {
                let written = include.needed("file")?;
                // MuJoCo forbids the same for a file that is included twice.
                if files.places.contains_key(written) {
                    return Err(include.mistake(format!("the file `{written}` is included twice")).into());
                }
                let path =
                    beside(request.beside, written).map_err(|reason| refused(include, written, &reason))?;
                let too_many = || include.mistake("too many files, or too large ones, are included");
                if files.texts.len() >= MOST.0 {
                    return Err(too_many().into());
                }
                let bytes =
                    read_bytes(&path, MOST.1.saturating_sub(size)).map_err(|mistake| match mistake {
                        Mistake::FileTooLarge { .. } => too_many(),
                        Mistake::Unreadable(reason) => refused(include, written, &reason),
                        mistake => refused(include, written, &mistake.to_string()),
                    })?;
                size += bytes.len() as u64;
                let text =
                    String::from_utf8(bytes).map_err(|_| refused(include, written, "it is not UTF-8"))?;
                files.places.insert(written.to_owned(), files.texts.len());
                files.texts.push(SourceFile::new(path.display().to_string(), text));
            }
        }
        Ok(files)
    }

    /// The elements of all files.
    pub fn parse(&self) -> Result<Documents<'_>, ModelErrors> {
        let documents = self.texts.iter().map(xml::parse).collect::<Result<Vec<_>, _>>()?;
        Ok(Documents { files: self, documents })
    }
}

fn refused(include: Element<'_>, written: &str, reason: &str) -> ModelError {
    include.mistake(format!("the file `{written}` cannot be included: {reason}"))
}

/// The file that is meant, in the folder of the first or below.
fn beside(folder: Option<&Path>, written: &str) -> Result<PathBuf, String> {
    let folder = folder.ok_or("a text has no folder")?;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let find = |path: &Path| path.canonicalize().map_err(|error| error.to_string());
    let (root, path) = (find(folder)?, find(&folder.join(written))?);
    if !path.starts_with(&root) {
        return Err("it lies outside of the folder of the robot".to_owned());
    }
    Ok(path)
}

/// Parsed files.
pub struct Documents<'f> {
    files: &'f Files,
    documents: Vec<Document<'f>>,
}

impl Documents<'_> {
    /// The elements as one tree.
    pub fn tree(&self) -> Tree<'_> {
        let roots = self.documents.iter().zip(&self.files.texts);
        let roots = roots.map(|(document, file)| Element::root(document, file)).collect();
        Tree { roots, places: &self.files.places }
    }
}

/// The elements of a file with those of included ones.
pub struct Tree<'d> {
    roots: Vec<Element<'d>>,
    places: &'d HashMap<String, usize>,
}

impl<'d> Tree<'d> {
    /// The outermost element.
    pub fn root(&self) -> Element<'d> {
        self.roots[0]
    }

    /// Elements inside of one, with those of included files in their places.
    pub fn elements(&self, element: Element<'d>) -> Vec<Element<'d>> {
        let mut found = Vec::new();
        // Files are included once, so that this ends.
        let mut waiting: Vec<Element<'d>> = element.elements().collect();
        waiting.reverse();
        while let Some(next) = waiting.pop() {
            match next.word("file").filter(|_| next.tag() == "include").and_then(|file| self.places.get(file))
            {
                Some(&place) => {
                    let mut inside: Vec<Element<'d>> = self.roots[place].elements().collect();
                    inside.reverse();
                    waiting.append(&mut inside);
                }
                None => found.push(next),
            }
        }
        found
    }

    /// Sections of a name: a file may have several.
    pub fn sections(&self, tag: &str) -> Vec<Element<'d>> {
        self.elements(self.root()).into_iter().filter(|section| section.tag() == tag).collect()
    }
}
