//! What holds for all bytes that are read as a journal or a lock. The fuzz targets (`fuzz/`) and `tests/hostile` run the same
//! functions.

use crate::LockInfo;
use crate::journal::frame::{Reading, frame, read};

/// What a header begins with.
const HEAD: &[u8] = b"MFJ\x01";

/// The entries of a journal are what it begins with, byte for byte; what follows them was never whole. Entries that are framed here
/// are all read.
///
/// # Panics
///
/// Where that does not hold.
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
    // An entry that holds a header of its own, or ends one that its own begins, looks like damage where it is cut off. Entries are
    // text, in which no header can be.
    if whole.windows(HEAD.len()).filter(|it| *it == HEAD).count() > entries.len() {
        return;
    }
    // A run that was killed while it wrote leaves the entries before.
    let cut = &whole[..whole.len() - 1];
    assert_eq!(read(cut), Reading::Entries(entries[..entries.len() - 1].to_vec()));
}

fn framed(entries: &[Vec<u8>]) -> Vec<u8> {
    let numbered = (0..).zip(entries);
    numbered.flat_map(|(number, entry)| frame(number, entry).expect("it is short")).collect()
}

/// What a lock says is kept when it is written.
///
/// # Panics
///
/// Where that does not hold.
pub fn check_lock(bytes: &[u8]) {
    let Some(info) = LockInfo::from_json(bytes) else { return };
    assert_eq!(LockInfo::from_json(info.to_json().as_bytes()).as_ref(), Some(&info));
    assert!(info.to_string().contains(&info.id));
}
