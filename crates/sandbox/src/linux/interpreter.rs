//! The program that executes another one: the dynamic loader of an ELF file, or the interpreter of a script.

use std::{
    ffi::OsStr,
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

/// The type of the program header that names the loader.
const PT_INTERP: u32 = 3;
/// The greatest length of a path, and of the first line of a script.
const LONGEST: u64 = 4096;
/// More program headers than any linker writes.
const MOST_HEADERS: u16 = 512;

/// Returns the interpreter that a program names. `None` for a static program, or a file that is not understood: the
/// kernel then executes it without one, or not at all.
pub(super) fn of(program: &Path) -> Option<PathBuf> {
    let mut file = File::open(program).ok()?;
    let mut begin = [0; 64];
    let length = read_up_to(&mut file, &mut begin)?;
    match &begin[..length] {
        [b'#', b'!', ..] => script(&mut file),
        // 64 bits, least significant byte first: the only form on the systems that have filters of system calls.
        [0x7f, b'E', b'L', b'F', 2, 1, ..] if length == begin.len() => elf(&mut file, &begin),
        _ => None,
    }
}

fn read_up_to(file: &mut File, buffer: &mut [u8]) -> Option<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match file.read(&mut buffer[length..]).ok()? {
            0 => break,
            read => length += read,
        }
    }
    Some(length)
}

fn script(file: &mut File) -> Option<PathBuf> {
    file.seek(SeekFrom::Start(2)).ok()?;
    let mut line = Vec::new();
    file.take(LONGEST).read_to_end(&mut line).ok()?;
    let line = line.split(|it| *it == b'\n').next()?;
    path(line.trim_ascii_start().split(u8::is_ascii_whitespace).next()?)
}

fn elf(file: &mut File, header: &[u8; 64]) -> Option<PathBuf> {
    let table = u64::from_le_bytes(header[32..40].try_into().ok()?);
    let size = u16::from_le_bytes(header[54..56].try_into().ok()?);
    let count = u16::from_le_bytes(header[56..58].try_into().ok()?);
    for index in 0..count.min(MOST_HEADERS) {
        let mut entry = [0; 56];
        let offset = table.checked_add(u64::from(index) * u64::from(size))?;
        file.seek(SeekFrom::Start(offset)).ok()?;
        file.read_exact(&mut entry).ok()?;
        if u32::from_le_bytes(entry[..4].try_into().ok()?) == PT_INTERP {
            let offset = u64::from_le_bytes(entry[8..16].try_into().ok()?);
            let length = u64::from_le_bytes(entry[32..40].try_into().ok()?);
            file.seek(SeekFrom::Start(offset)).ok()?;
            let mut name = Vec::new();
            file.take(length.min(LONGEST)).read_to_end(&mut name).ok()?;
            return path(name.split(|it| *it == 0).next()?);
        }
    }
    None
}

fn path(bytes: &[u8]) -> Option<PathBuf> {
    let path = Path::new(OsStr::from_bytes(bytes));
    path.is_absolute().then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpreters_are_found() {
        let this = std::env::current_exe().expect("is known");
        if cfg!(target_env = "gnu") {
            let loader = of(&this).expect("a test is a dynamic program");
            assert!(loader.exists(), "{loader:?}");
            assert_eq!(of(&loader), None, "the loader is static");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        let check = |content: &[u8], expected: Option<&str>| {
            std::fs::write(&file, content).expect("writable");
            assert_eq!(of(&file).as_deref(), expected.map(Path::new), "{content:?}");
        };
        check(b"#! /bin/sh -e\nexit\n", Some("/bin/sh"));
        check(b"#!/bin/sh", Some("/bin/sh"));
        check(b"#!sh\n", None);
        check(b"", None);
        check(b"\x7fELF\x02\x01", None);
        let mut endless = [0xff; 64];
        endless[..6].copy_from_slice(b"\x7fELF\x02\x01");
        check(&endless, None);
    }
}
