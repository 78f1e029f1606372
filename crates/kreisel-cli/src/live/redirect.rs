//! A small file that leads a browser to an address which is nobody else's business.
//!
//! Arguments of programs are seen by every user of a computer, for as long as the programs live. A browser is
//! therefore told the path of a file that only its owner can read, and the file holds the address.

use super::server::token;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The file, which goes with its folder when this is dropped.
pub struct Redirect {
    folder: PathBuf,
    file: PathBuf,
}

impl Redirect {
    /// Writes the file into a new folder among the temporary ones.
    pub fn to(address: &str) -> io::Result<Self> {
        let folder = std::env::temp_dir().join(format!("kreisel-{}", token()));
        private(&mut DirBuilder::new()).create(&folder)?;
        let made = Self { file: folder.join("watch.html"), folder };
        let mut file = own(OpenOptions::new().write(true).create_new(true)).open(&made.file)?;
        let page = format!(
            "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta http-equiv=\"refresh\" content=\"0; url={address}\">\n<title>Kreisel</title>\n\
             <p>The page is <a href=\"{address}\">here</a>.</p>\n"
        );
        file.write_all(page.as_bytes())?;
        Ok(made)
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.file
    }
}

impl Drop for Redirect {
    fn drop(&mut self) {
        // What stays behind leads nowhere: the server is gone with the program.
        let _ = fs::remove_file(&self.file);
        let _ = fs::remove_dir(&self.folder);
    }
}

/// For nobody else to look into.
#[cfg(unix)]
fn private(builder: &mut DirBuilder) -> &mut DirBuilder {
    std::os::unix::fs::DirBuilderExt::mode(builder, 0o700)
}

/// For nobody else to read.
#[cfg(unix)]
fn own(options: &mut OpenOptions) -> &mut OpenOptions {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600)
}

/// Temporary folders of Windows belong to their users.
#[cfg(not(unix))]
fn private(builder: &mut DirBuilder) -> &mut DirBuilder {
    builder
}

#[cfg(not(unix))]
fn own(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}
