//! Seeded mutations of inputs, as a fuzzer makes them.

use fastrand::Rng;

/// Byte sequences that have a meaning to at least one reader.
const PIECES: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b"(",
    b")",
    b"\"",
    b"\\",
    b"${",
    b"%{",
    b"<<E\n",
    b"\n",
    b"\r\n",
    b"\r",
    b",",
    b":",
    b"=",
    b"|",
    b".",
    b"/",
    b"..",
    b"../",
    b"*",
    b"#",
    b"//",
    b"/*",
    b"-",
    b"@",
    b"\0",
    b"\xff",
    b"\xfe",
    b"\x80",
    b"\xc1",
    b"\xc0",
    b"\x92",
    b"\xc7",
    b"\xdd\xff\xff\xff\xff",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    "é".as_bytes(),
    "\u{301}".as_bytes(),
    "\u{feff}".as_bytes(),
    b"\\u0000",
    b"\\ud800",
    b"hunter2",
    b"hunter\\u0032",
    b"null",
    b"true",
    b"1e999999999",
    b"-0",
    b"18446744073709551616",
    b"1.5",
    b"0x",
    b"Inf",
    b"[0]",
    b"[\"a\"]",
    b"var.a",
    b"local.b",
    b"for x in y : ",
    b"dynamic",
    b"\"list\"",
    b"\"object\"",
    b"{}",
    b"[]",
];

/// Returns `bytes` with one to four small changes; some of them insert pieces of `other`.
pub fn mutated(bytes: &[u8], other: &[u8], random: &mut Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.usize(..4) {
        change(&mut bytes, other, random);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, other: &[u8], random: &mut Rng) {
    let (a, b) = (random.usize(..bytes.len() + 1), random.usize(..bytes.len() + 1));
    let (from, to) = (a.min(b), a.max(b));
    let few = (from + 1 + random.usize(..8)).min(bytes.len());
    let piece = PIECES[random.usize(..PIECES.len())];
    match random.usize(..8) {
        0 | 1 => drop(bytes.splice(from..from, piece.iter().copied())),
        2 => drop(bytes.splice(from..few, piece.iter().copied())),
        3 => drop(bytes.drain(from..few)),
        4 => bytes.truncate(to),
        5 => {
            let again: Vec<u8> = bytes[from..to.min(from + 64)].to_vec();
            bytes.splice(from..from, again);
        }
        6 => {
            let (c, d) = (random.usize(..other.len() + 1), random.usize(..64));
            let lent = &other[c..(c + d).min(other.len())];
            bytes.splice(from..from, lent.iter().copied());
        }
        _ => {
            if let Some(byte) = bytes.get_mut(from) {
                *byte = random.usize(..256) as u8;
            }
        }
    }
}
