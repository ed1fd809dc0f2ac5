//! Properties that hold for all bytes that are read as a journal or a lock. The fuzz targets (`fuzz/`) and
//! `tests/hostile` run these functions.

use crate::LockInfo;
use crate::journal::frame::{Reading, frame, read};

/// The start of a header.
const HEAD: &[u8] = b"MFJ\x01";

/// Checks that the entries that were read are the start of the journal, byte for byte, and that entries that are
/// framed here are all read.
///
/// # Panics
///
/// If the property does not hold.
pub fn check_journal_frames(bytes: &[u8]) {
    match read(bytes) {
        Reading::Entries(entries) => {
            let whole = framed(&entries);
            assert!(bytes.starts_with(&whole), "{entries:x?} of {bytes:x?}");
        }
        Reading::Damaged { offset } => assert!(offset < bytes.len()),
        Reading::Newer { .. } => {}
    }
    let entries: Vec<Vec<u8>> = bytes.split(|it| *it == 0xff).map(<[u8]>::to_vec).collect();
    let whole = framed(&entries);
    assert_eq!(read(&whole), Reading::Entries(entries.clone()));
    // An entry that contains a header, or that completes one together with its own header, looks like damage if it
    // is cut. Real entries are text, in which no header can occur.
    if whole.windows(HEAD.len()).filter(|it| *it == HEAD).count() > entries.len() {
        return;
    }
    // A run that was killed while it wrote an entry leaves the entries before it.
    let cut = &whole[..whole.len() - 1];
    assert_eq!(read(cut), Reading::Entries(entries[..entries.len() - 1].to_vec()));
}

fn framed(entries: &[Vec<u8>]) -> Vec<u8> {
    let numbered = (0..).zip(entries);
    numbered.flat_map(|(number, entry)| frame(number, entry).expect("it is short")).collect()
}

/// Checks that a lock is written again without loss.
///
/// # Panics
///
/// If the property does not hold.
pub fn check_lock(bytes: &[u8]) {
    let Some(info) = LockInfo::from_json(bytes) else { return };
    assert_eq!(LockInfo::from_json(info.to_json().as_bytes()).as_ref(), Some(&info));
    assert!(info.to_string().contains(&info.id));
}
