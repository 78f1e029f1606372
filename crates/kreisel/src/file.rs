//! Opening files: regular ones only, and files of a run never through a link.
//!
//! A pipe in the place of a model would be waited for without end, and a link in the place of a result would
//! lead a writer to somebody else's file.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Opens a file that the user names, for reading: it may be a link, but not to a pipe, a device or a folder.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    flags(&mut options, rustix::fs::OFlags::NONBLOCK);
    regular(options.open(path)?)
}

/// Opens a file of a run with options: one that is there has to be a regular file of the folder's owner or of
/// the user's own, with no other name. No link is followed.
pub(crate) fn open_own(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    flags(options, rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW);
    #[cfg(not(unix))]
    if path.symlink_metadata().is_ok_and(|data| data.is_symlink()) {
        return Err(link());
    }
    let file = regular(options.open(path).map_err(|error| if is_link(path) { link() } else { error })?)?;
    #[cfg(unix)]
    check_owner(&file, path)?;
    Ok(file)
}

/// Opens a file of a run for reading.
pub(crate) fn read_own(path: &Path) -> io::Result<File> {
    open_own(OpenOptions::new().read(true), path)
}

/// The bytes of a file of a run that is not larger than a limit.
pub(crate) fn own_bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // It may grow while it is read.
    read_own(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let words =
            format!("it is larger than {} MB, the most that is read of such a file", most / 1_000_000);
        return Err(io::Error::new(io::ErrorKind::InvalidData, words));
    }
    Ok(bytes)
}

/// How much memory the content of a JSON text may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JsonLimit {
    /// At most so many bytes in all.
    pub most: usize,
    /// Bytes that an object takes, and any other value.
    pub object: usize,
    pub value: usize,
}

impl JsonLimit {
    /// For texts whose content is kept as it comes: a map of few keys takes a node of a tree, any other value a
    /// slot in a list that may be twice as long as what is in it.
    pub const FREE: Self = Self { most: 1_000_000_000, object: 800, value: 72 };

    /// Whether the content of a text has room. A text of two bytes for each value would take dozens of times
    /// its length otherwise.
    pub fn fits(self, text: &[u8]) -> bool {
        let (mut is_text, mut is_escaped, mut bytes) = (false, false, text.len());
        for letter in text {
            match letter {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = is_text,
                b'"' => is_text = !is_text,
                b'{' if !is_text => bytes = bytes.saturating_add(self.object),
                b'[' | b',' | b':' if !is_text => bytes = bytes.saturating_add(self.value),
                _ => {}
            }
        }
        bytes <= self.most
    }
}

#[cfg(unix)]
fn flags(options: &mut OpenOptions, flags: rustix::fs::OFlags) {
    use std::os::unix::fs::OpenOptionsExt;
    options.custom_flags(flags.bits().cast_signed());
}

fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|data| data.is_symlink())
}

fn link() -> io::Error {
    refused("it is a symbolic link; files of a run are not opened through links")
}

fn regular(file: File) -> io::Result<File> {
    let kind = file.metadata()?.file_type();
    match kind.is_file() {
        true => Ok(file),
        false if kind.is_dir() => Err(refused("it is a folder")),
        false => Err(refused("it is not a regular file")),
    }
}

#[cfg(unix)]
fn check_owner(file: &File, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let data = file.metadata()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if data.nlink() > 1 {
        return Err(refused("it has another name beside this one"));
    }
    let is_ours = data.uid() == rustix::process::geteuid().as_raw() || data.uid() == folder.metadata()?.uid();
    if is_ours { Ok(()) } else { Err(refused("it belongs to another user")) }
}

fn refused(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_many_small_values_are_too_large_where_long_texts_are_not() {
        let limit = JsonLimit { most: 2000, object: 800, value: 72 };
        assert!(limit.fits(format!("[\"{}\"]", "[{,:\\\"".repeat(200)).as_bytes()));
        assert!(!limit.fits(format!("[{}0]", "0,".repeat(30)).as_bytes()));
        assert!(!limit.fits(b"[{},{},{}]"));
        assert!(limit.fits(b"[{},{}]"));
    }

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        std::fs::write(&path, [b' '; 10]).unwrap();
        assert_eq!(own_bytes(&path, 10).unwrap().len(), 10);
        assert_eq!(own_bytes(&path, 9).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    /// Only who may give files away can try it; everybody else tries nothing.
    #[test]
    #[cfg(unix)]
    fn a_file_of_another_user_is_refused_unless_the_folder_is_theirs_too() {
        use std::os::unix::fs::chown;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        std::fs::write(&path, "{}").unwrap();
        assert!(read_own(&path).is_ok());
        let other = Some(64321);
        if chown(&path, other, None).is_err() {
            return;
        }
        for mut options in [OpenOptions::new().read(true).clone(), OpenOptions::new().write(true).clone()] {
            let error = open_own(&mut options, &path).unwrap_err();
            assert_eq!(error.to_string(), "it belongs to another user");
        }
        assert_eq!(std::fs::read(&path).unwrap(), b"{}");
        chown(folder.path(), other, None).unwrap();
        assert!(read_own(&path).is_ok());
    }

    #[test]
    #[cfg(unix)]
    fn a_pipe_is_no_file_and_nobody_waits_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        for opened in [open_regular(&path), read_own(&path)] {
            assert_eq!(opened.unwrap_err().to_string(), "it is not a regular file");
        }
    }
}
