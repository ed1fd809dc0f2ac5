//! Opens zip files from untrusted sources.
//!
//! The reader of the format loads the list of entries (the central directory) into memory when it opens a file, and
//! allocates for the number of entries that the end of the file announces. Both are compared with a bound first.

use std::cell::Cell;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::rc::Rc;

use zip::ZipArchive;

/// The most bytes that are read to open a file: for 200,000 entries, a name of a hundred bytes each.
const MAX_DIRECTORY: u64 = 32 << 20;

/// The size of the end of a file in which the reader looks for end records, and a little more.
const TAIL: u64 = (1 << 16) + 256;

/// The signature of the end record, and its size without the comment.
const END: [u8; 4] = *b"PK\x05\x06";
const END_SIZE: usize = 22;

/// The record that leads to the end record of the 64-bit form. It is directly before the end record.
const LOCATOR: [u8; 4] = *b"PK\x06\x07";
const LOCATOR_SIZE: usize = 20;

/// The end record of the 64-bit form without extensions. It is directly before the locator.
const END_64: [u8; 4] = *b"PK\x06\x06";
const END_64_SIZE: usize = 56;

/// The size of an entry of the list without its name.
const ENTRY_SIZE: u64 = 46;

/// An open zip file.
pub(crate) type ZipFile<R> = ZipArchive<BufReader<Bounded<R>>>;

/// Opens a zip file with at most this many entries.
pub(crate) fn open<R: Read + Seek>(file: R, most: usize) -> io::Result<ZipFile<R>> {
    open_within(file, most, MAX_DIRECTORY)
}

fn open_within<R: Read + Seek>(mut file: R, most: usize, bytes: u64) -> io::Result<ZipFile<R>> {
    check_end_records(&mut file, most as u64)?;
    let size = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    let limit = Rc::new(Cell::new(Limit { left: bytes, exceeded: TOO_LONG }));
    let reader = BufReader::new(Bounded { file, limit: Rc::clone(&limit) });
    let zip = ZipArchive::new(reader)?;
    let again = zip.len() as u64 * READ_AGAIN;
    limit.set(Limit { left: size.saturating_add(again), exceeded: OVERLAPPING });
    match zip.len() > most {
        true => Err(too_many(most as u64)),
        false => Ok(zip),
    }
}

/// The number of bytes that may still be read, and the error for more.
#[derive(Clone, Copy)]
struct Limit {
    left: u64,
    exceeded: &'static str,
}

const TOO_LONG: &str = "its list of entries is too long";
/// Entries that share their bytes unpack to more than the file has, or take longer than it is long.
const OVERLAPPING: &str = "its entries overlap";

/// The bytes around the begin of an entry that may be read more than once, because the reader has a buffer.
const READ_AGAIN: u64 = 1 << 16;

/// A file of which only so many bytes can be read.
pub(crate) struct Bounded<R> {
    file: R,
    limit: Rc<Cell<Limit>>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        let limit = self.limit.get();
        let left = limit.left.checked_sub(read as u64);
        let left = left.ok_or_else(|| io::Error::other(limit.exceeded))?;
        self.limit.set(Limit { left, ..limit });
        Ok(read)
    }
}

impl<R: Seek> Seek for Bounded<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Checks every end record that the reader might use. It tries them from the end of the file, and goes on after one
/// that does not lead to a list.
fn check_end_records(file: &mut (impl Read + Seek), most: u64) -> io::Result<()> {
    let begin = file.seek(SeekFrom::End(0))?.saturating_sub(TAIL);
    file.seek(SeekFrom::Start(begin))?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail)?;
    file.rewind()?;
    for (at, record) in tail.windows(END_SIZE).enumerate().filter(|(_, it)| it.starts_with(&END)) {
        let has_64_bits = number::<2>(record, 10) == 0xffff
            || number::<4>(record, 12) == 0xffff_ffff
            || number::<4>(record, 16) == 0xffff_ffff;
        let before = &tail[..at];
        let locator = before.len().checked_sub(LOCATOR_SIZE).map(|it| before.split_at(it));
        match locator.filter(|(_, it)| has_64_bits && it.starts_with(&LOCATOR)) {
            Some((before, locator)) => check_end_64(begin, before, locator, most)?,
            None if number::<2>(record, 10) > most => return Err(too_many(most)),
            None => {}
        }
    }
    Ok(())
}

/// Checks an end record of the 64-bit form, at the end of the part of the file that begins at `begin`. It must be one
/// that the reader uses; otherwise the reader would search for another.
fn check_end_64(begin: u64, before: &[u8], locator: &[u8], most: u64) -> io::Result<()> {
    let at = before.len().checked_sub(END_64_SIZE).ok_or_else(unusual)?;
    let record = &before[at..];
    let offset = begin + at as u64;
    let (here, count) = (number::<8>(record, 24), number::<8>(record, 32));
    let (size, start) = (number::<8>(record, 40), number::<8>(record, 48));
    if count > most {
        return Err(too_many(most));
    }
    if size > MAX_DIRECTORY {
        return Err(too_long());
    }
    let is_usual = record.starts_with(&END_64)
        && number::<8>(record, 4) == (END_64_SIZE - 12) as u64
        && number::<8>(record, 16) == 0
        && here == count
        && number::<4>(locator, 4) == 0
        && number::<8>(locator, 8) == offset
        && number::<4>(locator, 16) <= 1
        && start.checked_add(count * ENTRY_SIZE).is_some_and(|end| end <= offset);
    if is_usual { Ok(()) } else { Err(unusual()) }
}

/// The number of `N` bytes at an offset of a record.
fn number<const N: usize>(record: &[u8], at: usize) -> u64 {
    let bytes = record.iter().skip(at).take(N).rev();
    bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn too_many(most: u64) -> io::Error {
    io::Error::other(format!("it has more than {most} entries"))
}

fn too_long() -> io::Error {
    io::Error::other(TOO_LONG)
}

fn unusual() -> io::Error {
    io::Error::other("its end has an unusual form")
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    /// The names in a zip file, or the error.
    fn opened(bytes: &[u8], most: usize) -> String {
        match open(Cursor::new(bytes), most) {
            Ok(zip) => zip.file_names().flatten().collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string(),
        }
    }

    fn packed<const N: usize>(names: [&str; N]) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for name in names {
            zip.start_file(name, SimpleFileOptions::default()).expect("in memory");
            zip.write_all(b"x").expect("in memory");
        }
        zip.finish().expect("in memory").into_inner()
    }

    /// The end of a file in the 64-bit form, which is at `offset` and announces a list of entries.
    fn end_64(offset: u64, count: u64, size: u64, start: u64) -> Vec<u8> {
        let mut end = Vec::new();
        end.extend(END_64);
        end.extend(44_u64.to_le_bytes());
        end.extend([0; 12]);
        for number in [count, count, size, start] {
            end.extend(number.to_le_bytes());
        }
        end.extend(LOCATOR);
        end.extend([0; 4]);
        end.extend(offset.to_le_bytes());
        end.extend([1, 0, 0, 0]);
        end.extend(END);
        end.extend([0; 4]);
        end.extend([0xff; 12]);
        end.extend([0; 2]);
        end
    }

    #[test]
    fn ordinary_file_is_opened() {
        assert_eq!(opened(&packed(["a", "b"]), 2), "a b");
        assert_eq!(opened(&packed([]), 2), "");
        assert!(opened(b"no zip file", 2).contains("invalid Zip archive"));
    }

    #[test]
    fn file_in_the_64_bit_form_is_opened() {
        let mut file = packed(["a", "b"]);
        let end = file.split_off(file.len() - END_SIZE);
        let (size, start) = (number::<4>(&end, 12), number::<4>(&end, 16));
        file.extend(end_64(file.len() as u64, 2, size, start));
        assert_eq!(opened(&file, 2), "a b");
        assert_eq!(opened(&file, 1), "it has more than 1 entries");
    }

    #[test]
    fn announced_number_of_entries_is_bounded() {
        let mut file = packed(["a"]);
        let count = file.len() - END_SIZE + 8;
        file[count..count + 4].copy_from_slice(&[0xfe, 0xff, 0xfe, 0xff]);
        assert_eq!(opened(&file, 60_000), "it has more than 60000 entries");
        assert_eq!(
            opened(&end_64(0, 1 << 40, 1 << 20, 0), 60_000),
            "it has more than 60000 entries"
        );
        let size = opened(&end_64(0, 1 << 10, 1 << 40, 0), 60_000);
        assert_eq!(size, "its list of entries is too long");
    }

    /// An end record that the reader would pass over, so that another one counts.
    #[test]
    fn end_record_that_leads_elsewhere_is_refused() {
        assert_eq!(opened(&end_64(1, 1, 46, 0), 10), "its end has an unusual form");
        let hidden = [end_64(0, 1 << 40, 46, 0), vec![0; 100], end_64(198, 1, 46, 0)].concat();
        assert_eq!(opened(&hidden, 10), "it has more than 10 entries");
    }

    #[test]
    fn entries_that_share_their_bytes_are_refused() {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let stored =
            SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        zip.start_file("a", stored).expect("in memory");
        zip.write_all(&vec![b'x'; 1 << 20]).expect("in memory");
        let file = zip.finish().expect("in memory").into_inner();
        let mut zip = open(Cursor::new(&file), 10).expect("is a zip file");
        let mut read = || {
            let mut entry = zip.by_index(0)?;
            io::copy(&mut entry, &mut io::sink())
        };
        // An entry that is read again stands for another one at the same place.
        assert_eq!(read().expect("is read once"), 1 << 20);
        let error = read().expect_err("the file is shorter").to_string();
        assert!(error.ends_with("its entries overlap"), "{error}");
    }

    #[test]
    fn size_of_the_list_is_bounded() {
        let names = ["a", "b", "c", "d"].map(|it| it.repeat(8000));
        let file = packed(names.each_ref().map(String::as_str));
        let open = |most| open_within(Cursor::new(&file), 10, most).map(|it| it.len());
        assert_eq!(open(1 << 20).expect("is short enough"), 4);
        let error = open(20_000).expect_err("is too long").to_string();
        assert!(error.ends_with("its list of entries is too long"), "{error}");
    }
}
