//! Searches for secrets in all places where a process can leave them: files and their names, archives, output,
//! memory.

use std::{
    fs::{self, File},
    io::{Read, Seek, SeekFrom},
    os::unix::fs::{FileExt, FileTypeExt},
    path::Path,
};

use base64::prelude::{BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD, Engine};

use crate::bench::{Bench, Ended};

/// Secrets, by the name of their origin.
///
/// Each has a core of letters and digits, which is the same in raw, JSON-escaped and percent-encoded form. The
/// core is enclosed in characters that each of these encodings escapes.
pub(crate) struct Canaries {
    cores: Vec<(String, String)>,
}

/// A found secret: the name of its origin and the encoding.
type Found = String;

impl Canaries {
    pub(crate) fn new() -> Canaries {
        Canaries { cores: Vec::new() }
    }

    /// Creates a secret, enclosed in characters that every form of quoting changes.
    pub(crate) fn add(&mut self, origin: &str) -> String {
        let core = format!("Kanarek{}{}", self.cores.len(), uuid::Uuid::new_v4().simple());
        self.cores.push((origin.to_owned(), core.clone()));
        format!("<\"{core}\\&é>")
    }

    /// Adds a secret that was not created here.
    pub(crate) fn know(&mut self, origin: &str, secret: &str) {
        assert!(secret.len() >= 6, "too short to be looked for");
        self.cores.push((origin.to_owned(), secret.to_owned()));
    }

    /// The secrets of the given origins.
    pub(crate) fn of(&self, origins: &[&str]) -> Canaries {
        let wanted = self.cores.iter().filter(|(origin, _)| origins.contains(&origin.as_str()));
        Canaries { cores: wanted.cloned().collect() }
    }

    fn finder(&self) -> Finder {
        let mut spellings = Vec::new();
        for (origin, core) in &self.cores {
            for spelling in spellings_of(core) {
                spellings.push((spelling, origin.clone()));
            }
        }
        Finder::new(spellings)
    }

    /// Creates a secret that looks like an identifier, as tokens do.
    pub(crate) fn add_word(&mut self, origin: &str) -> String {
        let core = format!("Kanarek{}{}", self.cores.len(), uuid::Uuid::new_v4().simple());
        self.cores.push((origin.to_owned(), core.clone()));
        core
    }

    /// Fails if a command printed a secret.
    #[track_caller]
    pub(crate) fn assert_not_printed(&self, ended: &Ended) {
        let found = self.found_in(ended.printed().as_bytes());
        assert!(found.is_empty(), "printed: {found:?}\n{}", ended.printed());
    }

    /// The secrets in some bytes.
    pub(crate) fn found_in(&self, bytes: &[u8]) -> Vec<Found> {
        self.finder().find(bytes)
    }

    /// Fails if a file of the bench, or its name, contains a secret. Files that the test itself wrote are ignored.
    #[track_caller]
    pub(crate) fn assert_not_written(&self, bench: &Bench) {
        let finder = self.finder();
        let mut found = Vec::new();
        let mut looked_at = 0;
        walk(bench.root(), &mut |path| {
            let mut hits = finder.find(path.to_string_lossy().as_bytes());
            if let Ok(bytes) = fs::read(path)
                && !bench.is_given(path, &bytes)
            {
                looked_at += 1;
                hits.extend(finder.find_deep(&bytes));
            }
            found.extend(hits.into_iter().map(|hit| format!("{}: {hit}", path.display())));
        });
        assert!(looked_at > 0, "there is nothing to search");
        assert!(found.is_empty(), "written: {found:#?}");
    }

    /// The secrets in the memory of a process, without its arguments and environment. `None` if the memory cannot
    /// be read.
    pub(crate) fn in_memory(&self, pid: u32) -> Option<Vec<Found>> {
        let finder = self.finder();
        let mut found = Vec::new();
        read_memory(pid, &mut |bytes| found.extend(finder.find(bytes)))?;
        found.sort();
        found.dedup();
        Some(found)
    }
}

/// Returns true if a text is in the memory of a process. Used to verify that a search without results works.
pub(crate) fn memory_has(pid: u32, text: &str) -> Option<bool> {
    let finder = Finder::new(vec![(text.as_bytes().to_vec(), text.to_owned())]);
    let mut has = false;
    read_memory(pid, &mut |bytes| has |= !finder.find(bytes).is_empty())?;
    Some(has)
}

fn spellings_of(core: &str) -> Vec<Vec<u8>> {
    let hex: String = core.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut found =
        vec![core.as_bytes().to_vec(), hex.to_uppercase().into_bytes(), hex.into_bytes()];
    for alignment in 0..3 {
        let mut bytes = vec![0; alignment];
        bytes.extend_from_slice(core.as_bytes());
        for engine in [&BASE64_STANDARD_NO_PAD, &BASE64_URL_SAFE_NO_PAD] {
            let text = engine.encode(&bytes).into_bytes();
            // The first and last characters depend on adjacent bytes.
            let (first, last) =
                ([0, 2, 3][alignment], text.len() - usize::from(!bytes.len().is_multiple_of(3)));
            found.push(text[first..last].to_vec());
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Finds many texts in one pass, fast enough for a debug build.
struct Finder {
    spellings: Vec<(Vec<u8>, String)>,
    /// True for each pair of bytes with which a spelling begins.
    begins: Vec<bool>,
}

impl Finder {
    fn new(spellings: Vec<(Vec<u8>, String)>) -> Finder {
        let mut begins = vec![false; 1 << 16];
        for (spelling, _) in &spellings {
            begins[usize::from(spelling[0]) << 8 | usize::from(spelling[1])] = true;
        }
        Finder { spellings, begins }
    }

    fn find(&self, bytes: &[u8]) -> Vec<Found> {
        let mut found = Vec::new();
        for at in 0..bytes.len().saturating_sub(1) {
            if self.begins[usize::from(bytes[at]) << 8 | usize::from(bytes[at + 1])] {
                let here =
                    self.spellings.iter().filter(|(spelling, _)| bytes[at..].starts_with(spelling));
                found.extend(here.map(|(spelling, origin)| {
                    format!("{origin} as {}", String::from_utf8_lossy(spelling))
                }));
            }
        }
        found
    }

    /// Like `find`, and also searches the entries of zip files.
    fn find_deep(&self, bytes: &[u8]) -> Vec<Found> {
        let mut found = self.find(bytes);
        if bytes.starts_with(b"PK") {
            let mut zip = zip::ZipArchive::new(std::io::Cursor::new(bytes)).expect("a zip");
            for index in 0..zip.len() {
                let mut entry = zip.by_index(index).expect("an entry");
                let name = String::from_utf8_lossy(entry.name_raw()).into_owned();
                let mut content = Vec::new();
                entry.read_to_end(&mut content).expect("unpacks");
                found.extend(self.find(name.as_bytes()));
                found
                    .extend(self.find_deep(&content).into_iter().map(|it| format!("{name}: {it}")));
            }
        }
        found
    }
}

fn walk(directory: &Path, visit: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(&path, visit),
            Ok(kind) if kind.is_file() => visit(&path),
            Ok(kind) => {
                assert!(kind.is_socket() || kind.is_symlink(), "{} is what?", path.display())
            }
            Err(_) => {}
        }
    }
}

/// Reads the pages of a process that were ever written to. `None` if that is not permitted.
fn read_memory(pid: u32, visit: &mut dyn FnMut(&[u8])) -> Option<()> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    let memory = File::open(format!("/proc/{pid}/mem")).ok()?;
    let mut present = Present::open(pid)?;
    let apart = arguments_and_environment(pid)?;
    for line in maps.lines() {
        let mut fields = line.split_whitespace();
        let (Some(range), Some(rights)) = (fields.next(), fields.next()) else { continue };
        if !rights.starts_with("rw") || line.contains("[vvar") {
            continue;
        }
        let (start, end) = range.split_once('-')?;
        let (start, end) =
            (u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
        for (start, end) in present.runs(start, end)? {
            let mut bytes = vec![0; usize::try_from(end - start).ok()?];
            // A page may disappear during the search.
            if memory.read_exact_at(&mut bytes, start).is_err() {
                continue;
            }
            for &(from, to) in &apart {
                let (from, to) = (from.clamp(start, end) - start, to.clamp(start, end) - start);
                bytes[usize::try_from(from).ok()?..usize::try_from(to).ok()?].fill(0);
            }
            visit(&bytes);
        }
    }
    Some(())
}

const PAGE: u64 = 4096;

/// Finds the pages of a process that have content. Most of a large stack was never touched.
struct Present {
    pagemap: File,
}

impl Present {
    fn open(pid: u32) -> Option<Present> {
        Some(Present { pagemap: File::open(format!("/proc/{pid}/pagemap")).ok()? })
    }

    fn runs(&mut self, start: u64, end: u64) -> Option<Vec<(u64, u64)>> {
        self.pagemap.seek(SeekFrom::Start(start / PAGE * 8)).ok()?;
        let mut entries = vec![0; usize::try_from((end - start) / PAGE * 8).ok()?];
        self.pagemap.read_exact(&mut entries).ok()?;
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for (index, entry) in entries.chunks_exact(8).enumerate() {
            // Bit 63: in memory; bit 62: swapped out.
            if entry[7] & 0xc0 == 0 {
                continue;
            }
            let at = start + index as u64 * PAGE;
            match runs.last_mut() {
                Some((_, end)) if *end == at => *end += PAGE,
                _ => runs.push((at, at + PAGE)),
            }
        }
        Some(runs)
    }
}

/// The memory ranges with the arguments and the environment of a process.
fn arguments_and_environment(pid: u32) -> Option<Vec<(u64, u64)>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is in parentheses and may contain spaces.
    let fields: Vec<u64> =
        stat.rsplit_once(") ")?.1.split(' ').map(|it| it.trim().parse().unwrap_or(0)).collect();
    let field = |number: usize| fields.get(number - 3).copied();
    Some(vec![(field(48)?, field(49)?), (field(50)?, field(51)?)])
}
