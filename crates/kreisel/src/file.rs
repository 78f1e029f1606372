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

/// The bytes of a file of a run.
pub(crate) fn own_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_own(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
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
