//! The zip archive around a plan. The reader accepts only archives as the writer creates them.

use std::io::{Cursor, Read, Write};

use sorted::TreeMap;
use zip::read::ZipFile;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::error::EncodeError;
use crate::plan::file::PlanFileError;

/// The limit on the number of entries. No configuration has so many files.
const MAX_ENTRIES: usize = 200_000;
/// The size to which every plan file may unpack.
const MAX_UNPACKED: u64 = 256 << 20;
/// The factor by which a larger plan file may grow when it is unpacked.
const MAX_RATIO: u64 = 200;

/// The end record of a zip file without a comment.
const END: &[u8] = b"PK\x05\x06";
const END_SIZE: usize = 22;

const FILE_TYPE: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const LINK: u32 = 0o120_000;
const PRIVATE: u32 = 0o600;
const EXECUTABLE: u32 = 0o700;

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Executable,
    /// A symbolic link. The content is its target.
    Symlink,
}

/// Entries by name. Names are relative and use slashes.
pub(crate) type Entries = TreeMap<String, Entry>;

/// The kind and the content of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) kind: Kind,
    pub(crate) content: Vec<u8>,
}

/// An entry to pack.
pub(crate) struct NewEntry<'a> {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) content: &'a [u8],
}

/// Packs entries. Equal entries give equal bytes, because neither times nor owners are recorded.
pub(crate) fn pack<'a>(
    entries: impl IntoIterator<Item = NewEntry<'a>>,
) -> Result<Vec<u8>, EncodeError> {
    let fault = |it: &dyn std::fmt::Display| EncodeError::Archive(it.to_string());
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for NewEntry { name, kind, content } in entries {
        if !is_safe(&name) {
            return Err(fault(&format_args!("{name:?} is not a name for an entry")));
        }
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            // A plan is written and read once, so speed matters more than size.
            .compression_level(Some(1));
        if kind == Kind::Symlink {
            let target = String::from_utf8_lossy(content);
            zip.add_symlink(name, target, options).map_err(|it| fault(&it))?;
            continue;
        }
        let mode = if kind == Kind::Executable { EXECUTABLE } else { PRIVATE };
        zip.start_file(name, options.unix_permissions(mode)).map_err(|it| fault(&it))?;
        zip.write_all(content).map_err(|it| fault(&it))?;
    }
    Ok(zip.finish().map_err(|it| fault(&it))?.into_inner())
}

/// Unpacks all entries, or returns the first error.
pub(crate) fn unpack(bytes: &[u8]) -> Result<Entries, PlanFileError> {
    unpack_within(bytes, MAX_UNPACKED.max(MAX_RATIO.saturating_mul(bytes.len() as u64)))
}

/// Unpacks at most `left` bytes.
pub(crate) fn unpack_within(bytes: &[u8], mut left: u64) -> Result<Entries, PlanFileError> {
    if !bytes.starts_with(b"PK\x03\x04") {
        return Err(PlanFileError::NotAPlan);
    }
    let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(|it| damaged("", it.to_string()))?;
    check_whole(&mut zip)?;
    // The zip crate searches for the end record from the back and ignores bytes after it.
    if !bytes.last_chunk::<END_SIZE>().is_some_and(|it| it.starts_with(END)) {
        return Err(damaged("", "it has data around its entries"));
    }
    let mut entries = Entries::new();
    for index in 0..zip.len() {
        let entry = zip.by_index(index).map_err(|it| damaged("", it.to_string()))?;
        let name = String::from_utf8(entry.name_raw().to_vec())
            .map_err(|_| damaged("", "an entry's name is not UTF-8"))?;
        let kind = check_entry(&name, &entry)?;
        let content = read_entry(&name, entry, &mut left)?;
        entries.insert(name, Entry { kind, content });
    }
    Ok(entries)
}

/// Checks that an archive is, byte for byte, what [`pack`] makes of its entries. The checksums of the entries do not
/// cover its headers.
pub(crate) fn check_canonical(bytes: &[u8], entries: &Entries) -> Result<(), PlanFileError> {
    let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|it| damaged("", it.to_string()))?;
    let in_order = (0..zip.len()).filter_map(|index| {
        let name = zip.name_for_index(index)?.ok()?;
        let (name, Entry { kind, content }) = entries.get_key_value(&*name)?;
        Some(NewEntry { name: name.clone(), kind: *kind, content })
    });
    let packed = pack(in_order).map_err(|it| damaged("", it.to_string()))?;
    match packed == bytes {
        true => Ok(()),
        false => Err(damaged("", "its headers are not as they were written")),
    }
}

fn check_whole(zip: &mut ZipArchive<Cursor<&[u8]>>) -> Result<(), PlanFileError> {
    if zip.len() > MAX_ENTRIES {
        return Err(damaged("", format!("it has {} entries", zip.len())));
    }
    if zip.offset() != 0
        || !zip.comment().is_empty()
        || zip.raw_zip64_extensible_data_sector().is_some()
    {
        return Err(damaged("", "it has data around its entries"));
    }
    zip.validate_header_consistency().map_err(|it| damaged("", it.to_string()))
}

fn check_entry(name: &str, entry: &ZipFile<'_, Cursor<&[u8]>>) -> Result<Kind, PlanFileError> {
    if !is_safe(name) {
        return Err(damaged(name, "the name leads elsewhere"));
    }
    if entry.encrypted()
        || !entry.comment().is_empty()
        || entry.extra_data().is_some_and(|it| !it.is_empty())
    {
        return Err(damaged(name, "the entry has metadata that plans do not have"));
    }
    if !matches!(entry.compression(), CompressionMethod::Stored | CompressionMethod::Deflated) {
        return Err(damaged(name, "the entry is compressed in a way that plans are not"));
    }
    let mode = entry.unix_mode().unwrap_or(0);
    match (mode & FILE_TYPE, mode & !FILE_TYPE) {
        (REGULAR, PRIVATE) => Ok(Kind::File),
        (REGULAR, EXECUTABLE) => Ok(Kind::Executable),
        (LINK, _) => Ok(Kind::Symlink),
        _ => Err(damaged(name, format!("the entry's mode is {mode:o}"))),
    }
}

/// Reads an entry to its end, where the checksum is verified. Reads at most the size in its header and the rest of
/// the total limit.
fn read_entry(
    name: &str,
    entry: ZipFile<'_, Cursor<&[u8]>>,
    left: &mut u64,
) -> Result<Vec<u8>, PlanFileError> {
    let size = entry.size();
    if size > *left {
        return Err(damaged(name, "the plan would unpack to more than its size allows"));
    }
    *left -= size;
    let mut content = Vec::new();
    entry.take(size + 1).read_to_end(&mut content).map_err(|it| damaged(name, it.to_string()))?;
    if content.len() as u64 != size {
        return Err(damaged(name, "the entry's size is wrong"));
    }
    Ok(content)
}

/// Returns true if a name is relative, stays inside of the archive, and means the same on every system.
pub(crate) fn is_safe(name: &str) -> bool {
    let is_plain = |it: &str| !it.is_empty() && it != "." && it != "..";
    let has_drive = name.split('/').next().is_some_and(|it| it.contains(':'));
    let is_odd = |it: char| it.is_control() || it == '\\';
    name.split('/').all(is_plain) && !has_drive && !name.contains(is_odd) && name.len() < 4096
}

pub(crate) fn damaged(entry: &str, cause: impl Into<String>) -> PlanFileError {
    PlanFileError::Damaged { entry: entry.to_owned(), cause: cause.into() }
}
