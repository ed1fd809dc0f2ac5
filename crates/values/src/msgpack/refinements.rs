//! Encodes unknown values as an extension that holds their refinements.

use std::cmp::Ordering;

use super::{
    LOWER, MAX_LENGTH, MIN_LENGTH, NULLNESS, PREFIX, REFINED, UPPER,
    encode::{array_header, infallible, map_header, wire_length, write_number, write_text},
    reader::Reader,
};
use crate::{Bound, CodecError, Path, Refinements, Type, Value, text};

/// The maximum size of an extension, as in cty.
const MAX_BODY: usize = 1024;
/// The maximum length of a prefix. Longer prefixes are cut, so that they fit into an extension.
const MAX_PREFIX: usize = 256;

/// Encodes an unknown value.
pub(super) fn write(known: &Refinements, out: &mut Vec<u8>) {
    let entries = entries(known);
    if entries.is_empty() {
        out.extend([0xd4, 0x00, 0x00]);
        return;
    }
    let mut body = Vec::new();
    map_header(entries.len(), &mut body);
    for entry in entries {
        body.extend(entry);
    }
    infallible(rmp::encode::write_ext_meta(out, wire_length(body.len()), REFINED));
    out.extend(body);
}

fn entries(known: &Refinements) -> Vec<Vec<u8>> {
    let mut entries = Vec::new();
    let mut entry = |key: i64, write: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = Vec::new();
        infallible(rmp::encode::write_sint(&mut bytes, key));
        write(&mut bytes);
        entries.push(bytes);
    };
    if known.is_not_null() {
        entry(NULLNESS, &|out| out.push(0xc2));
    }
    for (key, bound) in [(LOWER, known.lower()), (UPPER, known.upper())] {
        if let Some(bound) = bound.filter(|bound| !bound.value.is_infinite()) {
            entry(key, &|out| write_bound(bound, out));
        }
    }
    if !known.prefix().is_empty() {
        entry(PREFIX, &|out| write_text(wire_prefix(known.prefix()), out));
    }
    if known.min_length() != 0 {
        entry(MIN_LENGTH, &|out| infallible(rmp::encode::write_uint(out, known.min_length())));
    }
    if let Some(length) = known.max_length() {
        entry(MAX_LENGTH, &|out| infallible(rmp::encode::write_uint(out, length)));
    }
    entries
}

fn write_bound(bound: &Bound, out: &mut Vec<u8>) {
    array_header(2, out);
    write_number(&bound.value, out);
    out.push(if bound.inclusive { 0xc3 } else { 0xc2 });
}

fn wire_prefix(prefix: &str) -> &str {
    if prefix.len() <= MAX_PREFIX {
        return prefix;
    }
    let end = (0..MAX_PREFIX).rev().find(|i| prefix.is_char_boundary(*i)).unwrap_or(0);
    text::safe_prefix(&prefix[..end])
}

/// Decodes the body of an extension to an unknown value of type `ty`.
pub(super) fn read(kind: i8, body: &[u8], ty: &Type, path: &Path) -> Result<Value, CodecError> {
    if body.len() > MAX_BODY {
        return Err(CodecError::new(path, "unknown value refinements are too large"));
    }
    if body.len() <= 1 || kind != REFINED || *ty == Type::Dynamic {
        return Ok(Value::unknown(ty.clone()));
    }
    let (known, null) = read_entries(&mut Reader::new(body), path)?;
    if null {
        return if known == Refinements::NONE {
            Ok(Value::null(ty.clone()))
        } else {
            Err(inconsistent(path))
        };
    }
    if known.is_contradictory() || !known.fits(ty) {
        return Err(inconsistent(path));
    }
    Ok(Value::unknown_with(ty.clone(), known))
}

fn inconsistent(path: &Path) -> CodecError {
    CodecError::new(path, "inconsistent refinements of an unknown value")
}

fn read_entries(reader: &mut Reader<'_>, path: &Path) -> Result<(Refinements, bool), CodecError> {
    let mut known = Refinements::NONE;
    let mut null = false;
    for _ in 0..reader.map_header(path)? {
        match reader.integer(path)? {
            NULLNESS if reader.bool(path)? => null = true,
            NULLNESS => known = known.not_null(),
            PREFIX => {
                let prefix = reader.text(path)?;
                known = known.with_prefix(prefix);
            }
            LOWER => {
                let (value, inclusive) = read_bound(reader, path)?;
                known = known.with_lower(value, inclusive);
            }
            UPPER => {
                let (value, inclusive) = read_bound(reader, path)?;
                known = known.with_upper(value, inclusive);
            }
            MIN_LENGTH => known = known.with_min_length(read_length(reader, path)?),
            MAX_LENGTH => known = known.with_max_length(read_length(reader, path)?),
            _ => reader.skip(path)?,
        }
    }
    if null && known.is_not_null() {
        return Err(inconsistent(path));
    }
    Ok((known, null))
}

fn read_bound(reader: &mut Reader<'_>, path: &Path) -> Result<(crate::Number, bool), CodecError> {
    if reader.array_header(path)? != 2 {
        return Err(CodecError::new(path, "a bound is a pair of a number and a bool"));
    }
    let value = reader.number(path)?;
    Ok((value, reader.bool(path)?))
}

fn read_length(reader: &mut Reader<'_>, path: &Path) -> Result<u64, CodecError> {
    let length = reader.number(path)?;
    let length =
        length.to_i64().filter(|_| length.compare(&crate::Number::zero()) != Ordering::Less);
    length.map(i64::unsigned_abs).ok_or_else(|| CodecError::new(path, "a length is a whole number"))
}
