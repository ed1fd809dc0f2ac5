//! Unpacks archives from untrusted sources.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use tar::EntryType;

use super::contents::{LEFT_OUT, MAX_FILES, stays_inside};
use crate::hash::largest_unpacked;
use crate::package::{create, inner_path};
use crate::zip_file;

/// The size limit of an unpacked module package.
pub(super) const MAX_BYTES: u64 = 4 << 30;

/// The supported archive formats, recognized by the end of the file name or by `archive=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Archive {
    Zip,
    Tar,
    TarGz,
}

/// Archive formats of other tools that are not supported.
const OTHERS: [&str; 6] = ["tar.bz2", "tbz2", "tar.xz", "txz", "tar.zst", "bz2"];

impl Archive {
    /// Returns the format of a file by its name. `None` if it is not an archive.
    pub(super) fn of(name: &str) -> Result<Option<Archive>, String> {
        let ends = |ending: &str| name.strip_suffix(ending).is_some_and(|it| it.ends_with('.'));
        if let Some(ending) = OTHERS.iter().find(|it| ends(it)) {
            return Err(format!(
                "archives of the kind {ending} cannot be unpacked; pack it as .zip or .tar.gz"
            ));
        }
        let kinds = [("zip", Archive::Zip), ("tar.gz", Archive::TarGz), ("tgz", Archive::TarGz)];
        let mut kinds = kinds.into_iter().chain([("tar", Archive::Tar)]);
        Ok(kinds.find(|(ending, _)| ends(ending)).map(|(_, kind)| kind))
    }

    /// Returns the format of a file by its first bytes. `None` if it is not an archive. The file is read from its
    /// beginning, and is at its beginning afterwards.
    pub(super) fn by_content(file: &mut (impl Read + Seek)) -> io::Result<Option<Archive>> {
        let mut head = Vec::new();
        file.take(512).read_to_end(&mut head)?;
        file.rewind()?;
        Ok(match head.as_slice() {
            [b'P', b'K', 3 | 5, 4 | 6, ..] => Some(Archive::Zip),
            [0x1f, 0x8b, ..] => Some(Archive::TarGz),
            head if head.get(257..262) == Some(b"ustar") => Some(Archive::Tar),
            _ => None,
        })
    }

    /// Unpacks an archive to an empty directory.
    pub(crate) fn unpack(self, mut archive: impl Read + Seek, target: &Path) -> io::Result<()> {
        let packed = archive.seek(SeekFrom::End(0))?;
        archive.rewind()?;
        if self != Archive::Zip {
            let mut reader = BufReader::new(&mut archive);
            check_tar(
                match self {
                    Archive::TarGz => Box::new(MultiGzDecoder::new(&mut reader)),
                    _ => Box::new(&mut reader),
                },
                largest_unpacked(packed).min(MAX_BYTES),
            )?;
            archive.rewind()?;
        }
        let left = largest_unpacked(packed).min(MAX_BYTES);
        let mut unpacking = Unpacking { target, left, entries: 0, links: Vec::new() };
        match self {
            Archive::Zip => unpacking.zip(archive)?,
            Archive::Tar => unpacking.tar(BufReader::new(archive))?,
            Archive::TarGz => unpacking.tar(MultiGzDecoder::new(BufReader::new(archive)))?,
        }
        unpacking.finish()
    }
}

/// The longest accepted name, and the longest accepted list of attributes, of an entry of a tar file.
const MAX_EXTENSION: u64 = 1 << 20;

/// Checks the headers of a tar file: the reader of its entries loads long names and attributes into memory, and reads
/// over the entries that are left out.
fn check_tar(reader: Box<dyn Read + '_>, most: u64) -> io::Result<()> {
    let mut left = most;
    let mut count = 0;
    for entry in tar::Archive::new(reader).entries()?.raw(true) {
        let mut entry = entry?;
        let size = entry.header().entry_size()?;
        let is_extension = matches!(
            entry.header().entry_type(),
            EntryType::GNULongName
                | EntryType::GNULongLink
                | EntryType::XHeader
                | EntryType::XGlobalHeader
        );
        if is_extension && size > MAX_EXTENSION {
            return Err(io::Error::other("it has an entry whose name or attributes are too long"));
        }
        if matches!(entry.header().entry_type(), EntryType::XHeader | EntryType::XGlobalHeader) {
            check_attributes(&mut entry)?;
        }
        count += 1;
        if count > 3 * MAX_FILES {
            return Err(io::Error::other(format!("it has more than {MAX_FILES} entries")));
        }
        left = left.checked_sub(size).ok_or_else(too_large)?;
    }
    Ok(())
}

/// Refuses attributes with a size. It replaces the one in the header, so the sizes that were checked would not be those
/// that count.
fn check_attributes(attributes: &mut impl Read) -> io::Result<()> {
    let mut bytes = Vec::new();
    attributes.take(MAX_EXTENSION).read_to_end(&mut bytes)?;
    for attribute in tar::PaxExtensions::new(&bytes) {
        if attribute?.key_bytes() == b"size" {
            return Err(io::Error::other("it has an entry with two sizes"));
        }
    }
    Ok(())
}

fn too_large() -> io::Error {
    io::Error::other("it unpacks to more than an archive of its size can have")
}

/// The state of unpacking an archive.
struct Unpacking<'t> {
    target: &'t Path,
    /// The number of bytes that may still be unpacked.
    left: u64,
    entries: usize,
    /// Links are created last, so that nothing is written through one.
    links: Vec<(PathBuf, String)>,
}

impl Unpacking<'_> {
    fn zip(&mut self, archive: impl Read + Seek) -> io::Result<()> {
        let mut zip = zip_file::open(archive, MAX_FILES)?;
        for index in 0..zip.len() {
            let mut entry = zip.by_index(index)?;
            let name = entry.name()?.into_owned();
            if entry.is_symlink() {
                let mut target = String::new();
                entry.take(1 << 12).read_to_string(&mut target)?;
                self.link(&name, target)?;
            } else if entry.is_dir() {
                self.directory(&name)?;
            } else {
                let mode = entry.unix_mode().unwrap_or(0o644);
                self.file(&name, mode, &mut entry)?;
            }
        }
        Ok(())
    }

    fn tar(&mut self, reader: impl Read) -> io::Result<()> {
        let mut tar = tar::Archive::new(reader);
        for entry in tar.entries()? {
            let mut entry = entry?;
            let name = String::from_utf8(entry.path_bytes().into_owned());
            let name = name.map_err(|_| io::Error::other("it has a name that is not UTF-8"))?;
            match entry.header().entry_type() {
                EntryType::Regular | EntryType::Continuous => {
                    let mode = entry.header().mode()?;
                    self.file(&name, mode, &mut entry)?;
                }
                EntryType::Directory => self.directory(&name)?,
                EntryType::Symlink => {
                    let target = entry.link_name_bytes().unwrap_or_default().into_owned();
                    let target = String::from_utf8(target);
                    self.link(&name, target.map_err(|_| unsafe_entry(&name))?)?;
                }
                // A global header holds metadata of the archive, not a file.
                EntryType::XGlobalHeader => {}
                _ => return Err(unsafe_entry(&name)),
            }
        }
        Ok(())
    }

    /// Returns the path for an entry. `None` if the entry is left out.
    fn path(&mut self, name: &str) -> io::Result<Option<PathBuf>> {
        self.entries += 1;
        if self.entries > MAX_FILES {
            return Err(io::Error::other(format!("it has more than {MAX_FILES} entries")));
        }
        // `tar c .` starts its names with this.
        let inner = name.trim_start_matches("./");
        if inner.is_empty() {
            return Ok(None);
        }
        let path = inner_path(inner).ok_or_else(|| unsafe_entry(name))?;
        let is_ours = path.iter().any(|part| LEFT_OUT.iter().any(|it| part == *it));
        Ok((!is_ours).then(|| self.target.join(path)))
    }

    fn directory(&mut self, name: &str) -> io::Result<()> {
        let Some(path) = self.path(name)? else { return Ok(()) };
        std::fs::create_dir_all(path)
    }

    fn file(&mut self, name: &str, mode: u32, content: &mut dyn Read) -> io::Result<()> {
        let Some(path) = self.path(name)? else { return Ok(()) };
        let mut file = create(&path, mode)
            .map_err(|error| io::Error::other(format!("its entry {name:?}: {error}")))?;
        let written = io::copy(&mut content.take(self.left + 1), &mut file)?;
        self.left = self.left.checked_sub(written).ok_or_else(too_large)?;
        Ok(())
    }

    fn link(&mut self, name: &str, target: String) -> io::Result<()> {
        let inner = name.trim_start_matches("./");
        if !stays_inside(inner, &target) {
            return Err(io::Error::other(format!("its link {name:?} points outside of it")));
        }
        let path = self.path(name)?;
        self.links.extend(path.map(|path| (path, target)));
        Ok(())
    }

    fn finish(self) -> io::Result<()> {
        // Create the directories for all links before the first link, so that none is created through a link.
        for parent in self.links.iter().filter_map(|(path, _)| path.parent()) {
            std::fs::create_dir_all(parent)?;
        }
        for (path, target) in self.links {
            std::os::unix::fs::symlink(target, &path).map_err(|error| {
                let name = path.strip_prefix(self.target).unwrap_or(&path);
                io::Error::other(format!("its link {:?}: {error}", name.display()))
            })?;
        }
        Ok(())
    }
}

fn unsafe_entry(name: &str) -> io::Error {
    io::Error::other(format!(
        "its entry {name:?} is outside of it, or is neither a file, a directory nor a link"
    ))
}
