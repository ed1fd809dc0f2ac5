//! The names of verdicts on disk, in 256 files of records of the same size.
//!
//! ```text
//!   3f.verdicts   name (16 bytes), day of the last use (4 bytes) │ name, day │ …
//! ```
//!
//! A file is read when one of its names is first looked up. New records are appended; the last record of a name counts.
//! A file that became too long is rewritten.
//!
//! **Invariant:** the content of a file and concurrent writers can only make a verdict missing. A damaged record would
//! have to contain the keyed hash of a configuration.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use rustc_hash::FxHashMap;
use rustix::fs::OFlags;

use crate::schema_cache;

/// The name of a verdict: the beginning of a keyed hash.
pub(super) type Name = [u8; 16];

/// The days since 1970 in UTC.
pub(super) type Day = u32;

/// The size of a record: its name and its day.
const RECORD: usize = size_of::<Name>() + size_of::<Day>();

/// The number of files.
const SHARDS: usize = 256;

/// The number of records that a rewrite keeps.
const MOST: usize = 512;

/// The number of records above [`MOST`] after which a file is rewritten.
const SLACK: usize = 64;

/// The size in bytes of which more is not read. Commands that run at the same time may exceed [`SLACK`].
const LONGEST: u64 = 1 << 20;

/// The number of new records that are written at once.
const BATCH: usize = 16;

/// The number of days after which an unused verdict no longer counts.
const LONGEST_UNUSED: Day = 30;

/// The verdicts of all files. New ones are on disk when this value is dropped.
pub(super) struct Shards {
    directory: PathBuf,
    shards: Vec<Mutex<Shard>>,
    today: Day,
}

/// The verdicts of one file.
#[derive(Default)]
struct Shard {
    /// The days of the last use. `None` before the file is read.
    known: Option<FxHashMap<Name, Day>>,
    /// Records that are not on disk.
    new: Vec<(Name, Day)>,
}

impl Shards {
    pub(super) fn new(directory: PathBuf, today: Day) -> Shards {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Shards { directory, shards, today }
    }

    /// Returns true if a verdict exists, and notes that it was used today.
    pub(super) fn has(&self, name: &Name) -> bool {
        let mut shard = self.lock(name);
        let path = self.path(name);
        let known = shard.known.get_or_insert_with(|| days_in(&path));
        let Some(used) = known.get_mut(name).filter(|it| counts(**it, self.today)) else {
            return false;
        };
        if *used < self.today {
            *used = self.today;
            shard.new.push((*name, self.today));
        }
        true
    }

    /// Adds a verdict.
    pub(super) fn add(&self, name: Name) {
        let mut shard = self.lock(&name);
        if let Some(known) = &mut shard.known {
            known.insert(name, self.today);
        }
        shard.new.push((name, self.today));
        if shard.new.len() >= BATCH {
            shard.save(&self.path(&name), self.today);
        }
    }

    fn lock(&self, name: &Name) -> MutexGuard<'_, Shard> {
        let shard = &self.shards[usize::from(name[0])];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, name: &Name) -> PathBuf {
        path(&self.directory, name[0])
    }
}

impl Drop for Shards {
    fn drop(&mut self) {
        for (index, shard) in (0..=u8::MAX).zip(&mut self.shards) {
            let shard = shard.get_mut().unwrap_or_else(PoisonError::into_inner);
            if !shard.new.is_empty() {
                shard.save(&path(&self.directory, index), self.today);
            }
        }
    }
}

impl Shard {
    /// Writes the new records. A failure is ignored, because it only makes later commands slower.
    fn save(&mut self, path: &Path, today: Day) {
        let new = std::mem::take(&mut self.new);
        let _ = append(path, &new).and_then(|length| match length > (MOST + SLACK) * RECORD {
            true => rewrite(path, today),
            false => Ok(()),
        });
    }
}

fn path(directory: &Path, index: u8) -> PathBuf {
    directory.join(format!("{index:02x}.verdicts"))
}

fn counts(used: Day, today: Day) -> bool {
    today.saturating_sub(used) <= LONGEST_UNUSED
}

/// Opens a file, but nothing else that has its name.
fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = options.mode(0o600).custom_flags(flags.bits().cast_signed()).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// Appends records to a file, and returns its length.
fn append(path: &Path, records: &[(Name, Day)]) -> io::Result<usize> {
    let open = || open(path, File::options().append(true).create(true));
    let mut file = open().or_else(|error| match (error.kind(), path.parent()) {
        (io::ErrorKind::NotFound, Some(directory)) => {
            fs::create_dir_all(directory).and_then(|()| open())
        }
        _ => Err(error),
    })?;
    let length = file.metadata()?.len() as usize;
    // After an incomplete record, no later one would be found.
    let padding = (RECORD - length % RECORD) % RECORD;
    let mut bytes = vec![0; padding];
    records.iter().for_each(|(name, day)| push_record(&mut bytes, name, *day));
    file.write_all(&bytes)?;
    Ok(length + bytes.len())
}

/// Rewrites a file with its most recently used verdicts.
fn rewrite(path: &Path, today: Day) -> io::Result<()> {
    let mut records: Vec<(Day, Name)> =
        days_in(path).into_iter().map(|(name, day)| (day.min(today), name)).collect();
    records.retain(|(day, _)| counts(*day, today));
    sorted::sort_by(&mut records, |a, b| b.cmp(a));
    records.truncate(MOST);
    let mut bytes = Vec::new();
    records.iter().for_each(|(day, name)| push_record(&mut bytes, name, *day));
    schema_cache::keep(path, &bytes)
}

fn push_record(bytes: &mut Vec<u8>, name: &Name, day: Day) {
    bytes.extend_from_slice(name);
    bytes.extend_from_slice(&day.to_le_bytes());
}

/// Reads the days of the last use from a file. Empty if it cannot be read.
fn days_in(path: &Path) -> FxHashMap<Name, Day> {
    let mut bytes = Vec::with_capacity((MOST + SLACK) * RECORD);
    if let Ok(file) = open(path, File::options().read(true)) {
        // The part that was read counts if there is an error.
        let _ = file.take(LONGEST).read_to_end(&mut bytes);
    }
    let (records, _) = bytes.as_chunks::<RECORD>();
    let record = |record: &[u8; RECORD]| {
        let (name, day) = record.split_first_chunk()?;
        Some((*name, Day::from_le_bytes(*day.first_chunk()?)))
    };
    records.iter().filter_map(record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name of the first file.
    fn name(number: u64) -> Name {
        let mut name = [0; 16];
        name[8..].copy_from_slice(&number.to_be_bytes());
        name
    }

    /// Runs a command on one of the days.
    fn on<T>(directory: &Path, day: Day, act: impl FnOnce(&Shards) -> T) -> T {
        act(&Shards::new(directory.to_owned(), day))
    }

    fn has(directory: &Path, day: Day, number: u64) -> bool {
        on(directory, day, |it| it.has(&name(number)))
    }

    fn file(directory: &Path) -> PathBuf {
        path(directory, 0)
    }

    fn records(directory: &Path) -> usize {
        fs::read(file(directory)).expect("is there").len() / RECORD
    }

    #[test]
    fn added_verdicts_are_found_by_this_command_and_later_ones() {
        let directory = tempfile::tempdir().expect("a directory");
        let directory = directory.path().join("not/yet/there");
        on(&directory, 7, |shards| {
            let far = [255; 16];
            assert!(!shards.has(&name(1)) && !shards.has(&far));
            shards.add(name(1));
            shards.add(far);
            assert!(shards.has(&name(1)) && shards.has(&far) && !shards.has(&name(2)));
        });
        assert!(has(&directory, 7, 1) && !has(&directory, 7, 2));
        assert!(on(&directory, 7, |it| it.has(&[255; 16])));
        assert_eq!(fs::read_dir(&directory).expect("lists").count(), 2);
    }

    #[test]
    fn use_is_recorded_once_a_day() {
        let directory = tempfile::tempdir().expect("a directory");
        let directory = directory.path();
        on(directory, 7, |it| it.add(name(1)));
        for (day, expected) in [(7, 1), (7, 1), (8, 2), (8, 2), (3, 2), (9, 3), (39, 4)] {
            on(directory, day, |it| assert!(it.has(&name(1)) && it.has(&name(1))));
            assert_eq!(records(directory), expected, "{day}");
        }
        assert!(!has(directory, 70, 1), "it was not used for 31 days");
    }

    #[test]
    fn long_file_keeps_the_most_recently_used_verdicts() {
        let directory = tempfile::tempdir().expect("a directory");
        let directory = directory.path();
        on(directory, 135, |it| (0..10).for_each(|number| it.add(name(number))));
        on(directory, 160, |it| (10..MOST as u64).for_each(|number| it.add(name(number))));
        assert!(has(directory, 165, 3), "an old one is used again");
        on(directory, 170, |it| (1000..1000 + 80).for_each(|number| it.add(name(number))));
        assert!(records(directory) <= MOST + SLACK);
        for (number, stays) in [(0, false), (2, false), (3, true), (511, true), (1059, true)] {
            assert_eq!(has(directory, 170, number), stays, "{number}");
        }
    }

    #[test]
    fn number_of_verdicts_is_bounded() {
        let directory = tempfile::tempdir().expect("a directory");
        let directory = directory.path();
        for day in 1..4 {
            let first = u64::from(day) * 10_000;
            on(directory, day, |it| (first..first + 1000).for_each(|number| it.add(name(number))));
            assert!(records(directory) <= MOST + SLACK);
        }
        assert!(has(directory, 4, 30_999) && !has(directory, 4, 20_000));
    }

    #[test]
    fn incomplete_records_hide_no_others() {
        let directory = tempfile::tempdir().expect("a directory");
        let directory = directory.path();
        on(directory, 7, |it| it.add(name(1)));
        let torn = [fs::read(file(directory)).expect("is there"), vec![9; 5]].concat();
        fs::write(file(directory), torn).expect("writes");
        assert!(has(directory, 7, 1));
        on(directory, 7, |it| it.add(name(2)));
        assert!(has(directory, 7, 1) && has(directory, 7, 2));
        fs::write(file(directory), "not a record, and no others").expect("writes");
        assert!(!has(directory, 7, 1));
    }

    #[test]
    fn other_things_than_files_are_not_touched() {
        let directory = tempfile::tempdir().expect("a directory");
        let (directory, other) = (directory.path(), directory.path().join("other"));
        fs::write(&other, "mine").expect("writes");
        std::os::unix::fs::symlink(&other, file(directory)).expect("links");
        on(directory, 7, |it| it.add(name(1)));
        assert!(!has(directory, 7, 1));
        assert_eq!(fs::read(&other).expect("is there"), b"mine");
        fs::remove_file(file(directory)).expect("is ours");
        let (place, kind) = (rustix::fs::CWD, rustix::fs::FileType::Fifo);
        rustix::fs::mknodat(place, file(directory), kind, 0o600.into(), 0).expect("makes a pipe");
        on(directory, 7, |it| it.add(name(1)));
        assert!(!has(directory, 7, 1), "nothing waits for the other end of a pipe");
    }

    #[test]
    fn commands_at_the_same_time_keep_the_verdicts_of_both() {
        let directory = tempfile::tempdir().expect("a directory");
        let directory = directory.path();
        on(directory, 7, |first| {
            on(directory, 7, |second| {
                assert!(!first.has(&name(1)) && !second.has(&name(2)));
                first.add(name(1));
                second.add(name(2));
            });
        });
        assert!(has(directory, 7, 1) && has(directory, 7, 2));
    }
}
