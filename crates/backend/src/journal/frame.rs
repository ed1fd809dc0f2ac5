//! The layout of the entries in a journal file.
//!
//! ```text
//!   "MFJ" format │ number │ length │ checksum of these │ checksum of the entry │ entry
//!     3      1   │   4    │   4    │         4         │           4           │ length     bytes, little endian
//! ```
//!
//! The header has its own checksum, so that a damaged length is not used and the next entry is found after a
//! damaged one.

const MAGIC: &[u8; 3] = b"MFJ";
const FORMAT: u8 = 1;
pub(super) const HEADER: usize = 20;

/// The result of reading a journal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// The complete entries. Bytes after them were never a complete entry.
    Entries(Vec<Vec<u8>>),
    /// The entry at this offset was damaged after it was written, because later entries follow.
    Damaged { offset: usize },
    /// The journal has a format that this version does not support.
    Newer { format: u8 },
}

/// Returns an entry with its header. `None` if the entry is too long.
pub(crate) fn frame(number: u32, entry: &[u8]) -> Option<Vec<u8>> {
    let length = u32::try_from(entry.len()).ok()?;
    let mut bytes = Vec::with_capacity(HEADER + entry.len());
    bytes.extend_from_slice(MAGIC);
    bytes.push(FORMAT);
    bytes.extend_from_slice(&number.to_le_bytes());
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(entry).to_le_bytes());
    bytes.extend_from_slice(entry);
    Some(bytes)
}

/// Reads a whole journal.
pub(crate) fn read(bytes: &[u8]) -> Reading {
    if let Some(format) = bytes.strip_prefix(MAGIC).and_then(|it| it.first())
        && *format != FORMAT
        && Header::read(bytes, 0, *format).is_some()
    {
        return Reading::Newer { format: *format };
    }
    let mut entries = Vec::new();
    let mut offset = 0;
    let mut number = 0;
    while offset < bytes.len() {
        match complete_entry(bytes, offset, number) {
            Some(entry) => {
                offset += HEADER + entry.len();
                entries.push(entry.to_vec());
                number += 1;
            }
            None if is_followed(bytes, offset, number) => return Reading::Damaged { offset },
            None => break,
        }
    }
    Reading::Entries(entries)
}

struct Header {
    number: u32,
    length: usize,
    checksum: u32,
}

impl Header {
    /// Reads the header at an offset. `None` if there is no valid header.
    fn read(bytes: &[u8], offset: usize, format: u8) -> Option<Header> {
        let header: &[u8; HEADER] =
            bytes.get(offset..offset.checked_add(HEADER)?)?.try_into().ok()?;
        let word = |at: usize| -> Option<u32> {
            Some(u32::from_le_bytes(header.get(at..at + 4)?.try_into().ok()?))
        };
        let is_header = header.starts_with(MAGIC)
            && header[3] == format
            && word(12)? == crc32fast::hash(&header[..12]);
        is_header.then_some(Header {
            number: word(4)?,
            length: usize::try_from(word(8)?).ok()?,
            checksum: word(16)?,
        })
    }
}

fn complete_entry(bytes: &[u8], offset: usize, number: u32) -> Option<&[u8]> {
    let header = Header::read(bytes, offset, FORMAT).filter(|it| it.number == number)?;
    let start = offset + HEADER;
    let entry = bytes.get(start..start.checked_add(header.length)?)?;
    (crc32fast::hash(entry) == header.checksum).then_some(entry)
}

/// Returns true if a later entry begins after this offset. A header is enough: it was written when all entries
/// before it were durable.
fn is_followed(bytes: &[u8], offset: usize, number: u32) -> bool {
    let rest = bytes.get(offset + 1..).unwrap_or_default();
    let begins = rest.windows(MAGIC.len()).enumerate().filter(|(_, it)| it == MAGIC);
    begins.filter_map(|(at, _)| Header::read(rest, at, FORMAT)).any(|header| header.number > number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRIES: [&[u8]; 4] = [b"begin", b"", b"MFJ\x01 looks like one", &[0; 70]];

    fn journal() -> (Vec<u8>, Vec<usize>) {
        let mut bytes = Vec::new();
        let mut ends = Vec::new();
        for (number, entry) in (0..).zip(ENTRIES) {
            bytes.extend(frame(number, entry).expect("is short"));
            ends.push(bytes.len());
        }
        (bytes, ends)
    }

    #[test]
    fn written_journal_frames_are_read_back() {
        let entries = ENTRIES.iter().map(|it| it.to_vec()).collect();
        assert_eq!(read(&journal().0), Reading::Entries(entries));
        assert_eq!(read(b""), Reading::Entries(Vec::new()));
    }

    #[test]
    fn truncated_journal_has_the_complete_entries() {
        let (bytes, ends) = journal();
        for cut in 0..bytes.len() {
            let count = ends.iter().filter(|end| **end <= cut).count();
            let entries = ENTRIES[..count].iter().map(|it| it.to_vec()).collect();
            assert_eq!(read(&bytes[..cut]), Reading::Entries(entries), "cut at {cut}");
        }
    }

    #[test]
    fn changed_byte_is_damage_except_in_the_last_entry() {
        let (bytes, ends) = journal();
        let last = ends[ends.len() - 2];
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x40;
            match read(&changed) {
                Reading::Damaged { offset } => assert!(offset <= at && at < last, "{at}"),
                Reading::Entries(entries) => {
                    assert!(at >= last, "{at} went unseen");
                    assert_eq!(entries.len(), ENTRIES.len() - 1, "{at}");
                }
                Reading::Newer { .. } => panic!("{at} is no format"),
            }
        }
    }

    #[test]
    fn trailing_zeros_end_the_journal() {
        let (bytes, ends) = journal();
        let mut torn = bytes[..ends[1] + 7].to_vec();
        torn.resize(ends[1] + 4096, 0);
        let Reading::Entries(entries) = read(&torn) else { panic!("it is no damage") };
        assert_eq!(entries.len(), 2);
    }

    #[test]
    fn later_journal_format_is_recognized() {
        let mut header = b"MFJ\x02\0\0\0\0\x05\0\0\0".to_vec();
        header.extend(crc32fast::hash(&header).to_le_bytes());
        header.extend([0; 9]);
        assert_eq!(read(&header), Reading::Newer { format: 2 });
        // If the first byte is damaged, the format is not detected.
        header[4] = 1;
        assert_eq!(read(&header), Reading::Entries(Vec::new()));
    }

    #[test]
    fn journal_reader_never_panics() {
        let (bytes, _) = journal();
        for start in 0..bytes.len() {
            let _ = read(&bytes[start..]);
        }
    }
}
