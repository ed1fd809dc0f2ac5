//! Reads MessagePack items from bytes, without trusting the lengths that they claim.

use rmp::Marker;

use crate::{CodecError, Number, Path, Text, codec::MAX_DEPTH};

/// A cursor over bytes.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    pub(super) fn peek(&self) -> Option<Marker> {
        self.rest.first().map(|byte| Marker::from_u8(*byte))
    }

    fn marker(&mut self, path: &Path) -> Result<Marker, CodecError> {
        Ok(Marker::from_u8(self.take(1, path)?[0]))
    }

    fn take(&mut self, length: usize, path: &Path) -> Result<&'a [u8], CodecError> {
        let Some((taken, rest)) = self.rest.split_at_checked(length) else {
            return Err(CodecError::new(path, "unexpected end of data"));
        };
        self.rest = rest;
        Ok(taken)
    }

    /// Reads a big-endian unsigned integer of `width` bytes.
    fn unsigned(&mut self, width: usize, path: &Path) -> Result<u64, CodecError> {
        Ok(self.take(width, path)?.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    /// Reads a big-endian signed integer of `width` bytes.
    fn signed(&mut self, width: usize, path: &Path) -> Result<i64, CodecError> {
        let shift = 64 - 8 * width;
        Ok((self.unsigned(width, path)? << shift).cast_signed() >> shift)
    }

    fn length(&mut self, width: usize, path: &Path) -> Result<usize, CodecError> {
        let length = self.unsigned(width, path)?;
        usize::try_from(length).map_err(|_| CodecError::new(path, "unexpected end of data"))
    }

    /// Reads a nil if it is next. Returns true if it was.
    pub(super) fn take_nil(&mut self) -> bool {
        let is_nil = self.peek() == Some(Marker::Null);
        if is_nil {
            self.rest = &self.rest[1..];
        }
        is_nil
    }

    /// Reads the type and the body of an extension. `None` if the next item is not an extension.
    pub(super) fn take_extension(
        &mut self,
        path: &Path,
    ) -> Result<Option<(i8, &'a [u8])>, CodecError> {
        let width = match self.peek() {
            Some(
                Marker::FixExt1
                | Marker::FixExt2
                | Marker::FixExt4
                | Marker::FixExt8
                | Marker::FixExt16,
            ) => 0,
            Some(Marker::Ext8) => 1,
            Some(Marker::Ext16) => 2,
            Some(Marker::Ext32) => 4,
            _ => return Ok(None),
        };
        let length = match self.marker(path)? {
            Marker::FixExt1 => 1,
            Marker::FixExt2 => 2,
            Marker::FixExt4 => 4,
            Marker::FixExt8 => 8,
            Marker::FixExt16 => 16,
            _ => self.length(width, path)?,
        };
        let kind = self.take(1, path)?[0].cast_signed();
        Ok(Some((kind, self.take(length, path)?)))
    }

    pub(super) fn bool(&mut self, path: &Path) -> Result<bool, CodecError> {
        match self.marker(path)? {
            Marker::True => Ok(true),
            Marker::False => Ok(false),
            _ => Err(CodecError::new(path, "bool is required")),
        }
    }

    pub(super) fn integer(&mut self, path: &Path) -> Result<i64, CodecError> {
        self.number(path)?.to_i64().ok_or_else(|| CodecError::new(path, "an integer is required"))
    }

    /// Reads an integer, a float, or text that is a number.
    pub(super) fn number(&mut self, path: &Path) -> Result<Number, CodecError> {
        let wrong = || CodecError::new(path, "number is required");
        match self.peek() {
            Some(Marker::FixPos(value)) => {
                self.marker(path)?;
                Ok(Number::from(u64::from(value)))
            }
            Some(Marker::FixNeg(value)) => {
                self.marker(path)?;
                Ok(Number::from(i64::from(value)))
            }
            Some(Marker::F32 | Marker::F64) => self.float(path),
            Some(Marker::U8 | Marker::U16 | Marker::U32 | Marker::U64) => {
                let width = 1 << (self.take(1, path)?[0] - 0xcc);
                Ok(Number::from(self.unsigned(width, path)?))
            }
            Some(Marker::I8 | Marker::I16 | Marker::I32 | Marker::I64) => {
                let width = 1 << (self.take(1, path)?[0] - 0xd0);
                Ok(Number::from(self.signed(width, path)?))
            }
            Some(marker) if is_text(marker) => Number::parse(&self.text(path)?).ok_or_else(wrong),
            _ => Err(wrong()),
        }
    }

    fn float(&mut self, path: &Path) -> Result<Number, CodecError> {
        let value = match self.marker(path)? {
            Marker::F32 => {
                f64::from(f32::from_bits(u32::try_from(self.unsigned(4, path)?).unwrap_or(0)))
            }
            _ => f64::from_bits(self.unsigned(8, path)?),
        };
        if value.is_nan() {
            return Err(CodecError::new(path, "number is required"));
        }
        Ok(Number::from(value))
    }

    /// Reads the bytes of a string or a binary.
    pub(super) fn bytes(&mut self, path: &Path) -> Result<&'a [u8], CodecError> {
        let length = match self.marker(path)? {
            Marker::FixStr(length) => usize::from(length),
            Marker::Str8 | Marker::Bin8 => self.length(1, path)?,
            Marker::Str16 | Marker::Bin16 => self.length(2, path)?,
            Marker::Str32 | Marker::Bin32 => self.length(4, path)?,
            _ => return Err(CodecError::new(path, "string is required")),
        };
        self.take(length, path)
    }

    /// Reads text. Bytes that are not UTF-8 are an error.
    pub(super) fn text(&mut self, path: &Path) -> Result<Text, CodecError> {
        let text = std::str::from_utf8(self.bytes(path)?);
        text.map(Text::from).map_err(|_| CodecError::new(path, "string is not valid UTF-8"))
    }

    pub(super) fn array_header(&mut self, path: &Path) -> Result<usize, CodecError> {
        match self.marker(path)? {
            Marker::FixArray(length) => Ok(usize::from(length)),
            Marker::Array16 => self.length(2, path),
            Marker::Array32 => self.length(4, path),
            _ => Err(CodecError::new(path, "a list of values is required")),
        }
    }

    pub(super) fn map_header(&mut self, path: &Path) -> Result<usize, CodecError> {
        match self.marker(path)? {
            Marker::FixMap(length) => Ok(usize::from(length)),
            Marker::Map16 => self.length(2, path),
            Marker::Map32 => self.length(4, path),
            _ => Err(CodecError::new(path, "a map of values is required")),
        }
    }

    /// Skips one item of any kind.
    pub(super) fn skip(&mut self, path: &Path) -> Result<(), CodecError> {
        self.skip_at(path, 0)
    }

    fn skip_at(&mut self, path: &Path, depth: usize) -> Result<(), CodecError> {
        if depth > MAX_DEPTH {
            return Err(CodecError::new(path, "value is nested too deeply"));
        }
        if self.take_extension(path)?.is_some() {
            return Ok(());
        }
        let items = match self.peek() {
            Some(marker) if is_text(marker) => return self.bytes(path).map(drop),
            Some(Marker::FixArray(_) | Marker::Array16 | Marker::Array32) => {
                self.array_header(path)?
            }
            Some(Marker::FixMap(_) | Marker::Map16 | Marker::Map32) => {
                self.map_header(path)?.saturating_mul(2)
            }
            Some(Marker::Null | Marker::True | Marker::False | Marker::Reserved) => {
                return self.marker(path).map(drop);
            }
            _ => return self.number(path).map(drop),
        };
        (0..items).try_for_each(|_| self.skip_at(path, depth + 1))
    }
}

/// Returns true for strings and binaries, which cty does not distinguish.
fn is_text(marker: Marker) -> bool {
    matches!(
        marker,
        Marker::FixStr(_)
            | Marker::Str8
            | Marker::Str16
            | Marker::Str32
            | Marker::Bin8
            | Marker::Bin16
            | Marker::Bin32
    )
}
