//! Packs entries deterministically: equal entries give equal bytes.

use std::{
    error::Error,
    fmt,
    fs::File,
    io::{self, BufWriter, Read, Seek, Write},
    path::{Path, PathBuf},
};

use flate2::{Compression, GzBuilder};
use zip::{CompressionMethod, DateTime, ZipWriter, write::SimpleFileOptions};

use super::{
    collect::{Body, Entry},
    order::Format,
};

/// The compression level. It is explicit, because another default would change the bytes.
const LEVEL: u32 = 6;

/// The time of all entries in seconds since 1970: 1980-01-01, the earliest time in a zip file.
const TIME: u64 = 315_532_800;

/// The value "unknown" for the operating system in a gzip header.
const NO_SYSTEM: u8 = 255;

/// Zip files store sizes from this limit on in another format, which must be chosen before the entry is written.
const LARGE: u64 = u32::MAX as u64;

/// An error that prevented packing.
#[derive(Debug)]
pub(super) enum PackError {
    /// A file of an entry cannot be read.
    Unreadable(PathBuf, io::Error),
    /// The archive cannot be written.
    Unwritable(io::Error),
}

/// Writes an archive of sorted entries.
///
/// # Errors
/// If a file cannot be read or the archive cannot be written.
pub(super) fn pack(
    format: Format,
    entries: &[Entry],
    archive: impl Write + Seek,
) -> Result<(), PackError> {
    let archive = BufWriter::new(archive);
    let packed = match format {
        Format::Zip => zip(entries, archive),
        Format::TarGz => tar_gz(entries, archive),
    };
    packed.map_err(PackError::of)
}

fn zip(entries: &[Entry], archive: impl Write + Seek) -> io::Result<()> {
    let mut zip = ZipWriter::new(archive);
    for entry in entries {
        let mut source = Source::open(entry)?;
        let options = SimpleFileOptions::DEFAULT
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(i64::from(LEVEL)))
            .last_modified_time(DateTime::DEFAULT)
            .unix_permissions(entry.mode.0)
            .large_file(source.left >= LARGE);
        zip.start_file(&entry.name, options)?;
        io::copy(&mut source, &mut zip)?;
    }
    zip.finish()?.flush()
}

fn tar_gz(entries: &[Entry], archive: impl Write) -> io::Result<()> {
    let gzip = GzBuilder::new().mtime(0).operating_system(NO_SYSTEM);
    let mut tar = tar::Builder::new(gzip.write(archive, Compression::new(LEVEL)));
    for entry in entries {
        let mut source = Source::open(entry)?;
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_size(source.left);
        header.set_mode(entry.mode.0);
        header.set_mtime(TIME);
        header.set_uid(0);
        header.set_gid(0);
        tar.append_data(&mut header, &entry.name, &mut source)?;
    }
    tar.into_inner()?.finish()?.flush()
}

/// A reader of an entry's bytes. It fails unless the entry has exactly the announced length.
struct Source<'a> {
    from: Box<dyn Read + 'a>,
    path: &'a Path,
    left: u64,
}

impl Source<'_> {
    fn open(entry: &Entry) -> io::Result<Source<'_>> {
        match &entry.body {
            Body::Text(text) => {
                let from = Box::new(text.as_bytes());
                Ok(Source { from, path: Path::new(""), left: text.len() as u64 })
            }
            Body::File(path, length) => {
                let from = File::open(path).map_err(|it| SourceError::wrap(path, it))?;
                Ok(Source { from: Box::new(from), path, left: *length })
            }
        }
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer).map_err(|it| SourceError::wrap(self.path, it))?;
        let changed = || {
            let why = io::Error::other("it was changed while it was read");
            SourceError::wrap(self.path, why)
        };
        if read == 0 && !buffer.is_empty() && self.left > 0 {
            return Err(changed());
        }
        self.left = self.left.checked_sub(read as u64).ok_or_else(changed)?;
        Ok(read)
    }
}

/// A read error. The type distinguishes it from write errors after both have passed through an archive writer.
#[derive(Debug)]
struct SourceError {
    path: PathBuf,
    error: io::Error,
}

impl SourceError {
    fn wrap(path: &Path, error: io::Error) -> io::Error {
        if error.kind() == io::ErrorKind::Interrupted {
            return error;
        }
        io::Error::other(SourceError { path: path.to_owned(), error })
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

impl Error for SourceError {}

impl PackError {
    fn of(error: io::Error) -> PackError {
        match error.downcast::<SourceError>() {
            Ok(source) => PackError::Unreadable(source.path, source.error),
            Err(error) => PackError::Unwritable(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeMap,
        fs,
        io::Cursor,
        os::unix::fs::PermissionsExt,
        time::{Duration, SystemTime},
    };

    use globset::GlobSet;

    use super::*;
    use crate::{
        archive::{
            collect::entries,
            order::{ArchiveRequest, Contents, Directory},
        },
        files::Mode,
    };

    const FORMATS: [Format; 2] = [Format::Zip, Format::TarGz];

    /// The entries of an archive in order: name, mode and content.
    type Unpacked = Vec<(String, u32, String)>;

    fn packed(format: Format, entries: &[Entry]) -> Vec<u8> {
        let mut archive = Cursor::new(Vec::new());
        pack(format, entries, &mut archive).expect("is packed");
        archive.into_inner()
    }

    fn unpacked(format: Format, archive: &[u8]) -> Unpacked {
        let text = |mut it: Box<dyn Read + '_>| {
            let mut text = String::new();
            it.read_to_string(&mut text).expect("is text");
            text
        };
        match format {
            Format::Zip => {
                let mut zip = zip::ZipArchive::new(Cursor::new(archive)).expect("is a zip");
                let indices = 0..zip.len();
                let mut entry = |index| {
                    let file = zip.by_index(index).expect("is there");
                    assert_eq!(file.last_modified(), Some(DateTime::DEFAULT));
                    let mode = file.unix_mode().expect("has one") & 0o7777;
                    (file.name().expect("is UTF-8").into_owned(), mode, text(Box::new(file)))
                };
                indices.map(&mut entry).collect()
            }
            Format::TarGz => {
                let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(archive));
                let files = tar.entries().expect("is a tar");
                let entry = |file: io::Result<tar::Entry<'_, _>>| {
                    let file = file.expect("is whole");
                    let header = file.header();
                    let owner = (header.uid().ok(), header.gid().ok(), header.mtime().ok());
                    assert_eq!(owner, (Some(0), Some(0), Some(TIME)));
                    let mode = header.mode().expect("has one");
                    let name = file.path().expect("has one").to_string_lossy().into_owned();
                    (name, mode, text(Box::new(file)))
                };
                files.map(entry).collect()
            }
        }
    }

    fn order(path: &Path, mode: Option<Mode>) -> ArchiveRequest {
        let directory =
            Directory { path: path.to_owned(), excludes: GlobSet::empty(), follow: true };
        ArchiveRequest {
            format: Format::Zip,
            contents: Contents::Directory(directory),
            attribute: values::Path::root().attr("source_dir"),
            mode,
            output: PathBuf::from("no-such-folder/out"),
        }
    }

    /// Creates a directory with these files in this order, with this time and these modes.
    fn folder(names: &[&str], seconds: u64, executable: u32, other: u32) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("can be made");
        for name in names {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("has one")).expect("can be made");
            fs::write(&path, name.repeat(99)).expect("can be written");
            let mode = if name.ends_with("sh") { executable } else { other };
            fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("can be set");
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            File::open(&path).and_then(|it| it.set_modified(time)).expect("can be set");
        }
        folder
    }

    #[test]
    fn equal_content_gives_equal_archive_bytes() {
        let long = format!("{}end", "folder/".repeat(40));
        let one = folder(&["b/run.sh", "a.txt", "é", &long], 1_000_000_000, 0o755, 0o644);
        let other = folder(&[&long, "é", "a.txt", "b/run.sh"], 1_700_000_000, 0o700, 0o660);
        for (format, mode) in FORMATS.iter().flat_map(|it| [(*it, None), (*it, Some(Mode(0o666)))])
        {
            let of = |folder: &tempfile::TempDir| {
                let entries = entries(&order(folder.path(), mode)).unwrap_or_default();
                packed(format, &entries)
            };
            assert_eq!(of(&one), of(&other), "{format:?}");
            let content = unpacked(format, &of(&one));
            let modes: BTreeMap<_, _> = content.iter().map(|it| (&*it.0, it.1)).collect();
            let (plain, executable) = mode.map_or((0o644, 0o755), |it| (it.0, it.0));
            let expected =
                [("a.txt", plain), ("b/run.sh", executable), (&*long, plain), ("é", plain)];
            assert_eq!(modes, BTreeMap::from(expected), "{format:?}");
            assert!(content.is_sorted() && content.iter().all(|it| it.2 == it.0.repeat(99)));
        }
    }

    fn entry(name: &str, body: Body) -> Entry {
        Entry { name: name.to_owned(), mode: Mode(0o644), body }
    }

    #[test]
    fn text_entries_are_packed_unchanged() {
        let texts =
            [entry("dir/a", Body::Text("é\n".into())), entry("empty", Body::Text("".into()))];
        let expected = [("dir/a".into(), 0o644, "é\n".into()), ("empty".into(), 0o644, "".into())];
        for format in FORMATS {
            assert_eq!(unpacked(format, &packed(format, &texts)), expected, "{format:?}");
        }
    }

    #[test]
    fn changed_or_missing_file_while_packing_is_an_error() {
        let folder = tempfile::tempdir().expect("can be made");
        let path = folder.path().join("f");
        fs::write(&path, "four").expect("can be written");
        let none = folder.path().join("none");
        let changed = "it was changed while it was read";
        for (path, length, why) in
            [(&path, 3, changed), (&path, 5, changed), (&none, 4, "No such file or directory")]
        {
            for format in FORMATS {
                let entries = [entry("f", Body::File(path.clone(), length))];
                let failed = pack(format, &entries, Cursor::new(Vec::new()));
                let Err(PackError::Unreadable(named, error)) = failed else {
                    unreachable!("{format:?} of {length} bytes is not packed")
                };
                assert_eq!(&named, path);
                assert!(error.to_string().starts_with(why), "{error}");
            }
        }
    }

    /// A writer to a full disk.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for Full {
        fn seek(&mut self, _: io::SeekFrom) -> io::Result<u64> {
            Ok(0)
        }
    }

    #[test]
    fn unwritable_archive_is_not_reported_as_a_file_error() {
        for format in FORMATS {
            let failed = pack(format, &[entry("f", Body::Text("text".into()))], Full);
            assert!(matches!(failed, Err(PackError::Unwritable(_))), "{format:?}");
        }
    }
}
