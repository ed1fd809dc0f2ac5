//! Functions that encode and decode texts in other character encodings.

use base64::{Engine, engine::general_purpose::STANDARD};
use encoding_rs::{Encoding, REPLACEMENT, UTF_16BE, UTF_16LE, X_USER_DEFINED};

use super::{
    base64_text,
    call::{Call, FunctionError},
    signature::{Function, Parameter, Returns, Shape},
};
use crate::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new(
        "textencodebase64",
        &[Parameter::string("string"), Parameter::string("encoding")],
        Returns::Fixed(Shape::String),
        textencodebase64,
        "Encodes a string in a character encoding, and the result in Base64.",
    ),
    Function::new(
        "textdecodebase64",
        &[Parameter::string("source"), Parameter::string("encoding")],
        Returns::Fixed(Shape::String),
        textdecodebase64,
        "Decodes Base64 of a text in a character encoding.",
    ),
];

/// An encoding by its IANA name. Encodings that the web standard replaces by others have their own variants.
enum Charset {
    Ascii,
    Latin1,
    /// ISO 8859-9, which differs from ISO 8859-1 in six letters.
    Latin5,
    /// Big-endian, after a byte order mark.
    Utf16,
    Web(&'static Encoding),
}

const TURKISH: [(u8, char); 6] =
    [(0xd0, 'Ğ'), (0xdd, 'İ'), (0xde, 'Ş'), (0xf0, 'ğ'), (0xfd, 'ı'), (0xfe, 'ş')];

impl Charset {
    fn named(name: &str) -> Option<Charset> {
        Some(match &*name.to_ascii_lowercase() {
            "us-ascii" | "ascii" | "us" | "iso646-us" | "ansi_x3.4-1968" | "ansi_x3.4-1986"
            | "iso_646.irv:1991" | "iso-ir-6" | "ibm367" | "cp367" | "csascii" => Charset::Ascii,
            "iso-8859-1" | "iso_8859-1" | "iso_8859-1:1987" | "latin1" | "l1" | "iso-ir-100"
            | "ibm819" | "cp819" | "csisolatin1" => Charset::Latin1,
            "iso-8859-9" | "iso_8859-9" | "iso_8859-9:1989" | "latin5" | "l5" | "iso-ir-148"
            | "csisolatin5" => Charset::Latin5,
            "utf-16" | "csutf16" => Charset::Utf16,
            name if name.trim() != name => return None,
            name => {
                let encoding = Encoding::for_label(name.as_bytes())?;
                let is_text = encoding != REPLACEMENT && encoding != X_USER_DEFINED;
                return is_text.then_some(Charset::Web(encoding));
            }
        })
    }

    fn name(&self) -> &'static str {
        match self {
            Charset::Ascii => "US-ASCII",
            Charset::Latin1 => "ISO_8859-1:1987",
            Charset::Latin5 => "ISO_8859-9:1989",
            Charset::Utf16 => "UTF-16",
            Charset::Web(encoding) => encoding.name(),
        }
    }

    fn encode(&self, text: &str) -> Option<Vec<u8>> {
        match self {
            Charset::Ascii => text.is_ascii().then(|| text.as_bytes().to_vec()),
            Charset::Latin1 => text.chars().map(|c| u8::try_from(c).ok()).collect(),
            Charset::Latin5 => text.chars().map(turkish_byte).collect(),
            Charset::Utf16 => Some([vec![0xfe, 0xff], big_endian(text)].concat()),
            Charset::Web(encoding) if *encoding == UTF_16BE => Some(big_endian(text)),
            Charset::Web(encoding) if *encoding == UTF_16LE => {
                Some(text.encode_utf16().flat_map(u16::to_le_bytes).collect())
            }
            Charset::Web(encoding) => {
                let is_loose = is_windows(encoding) && text.contains(|c| is_control(u32::from(c)));
                let (bytes, _, has_unmappable) = encoding.encode(text);
                (!has_unmappable && !is_loose).then(|| bytes.into_owned())
            }
        }
    }

    fn decode(&self, bytes: &[u8]) -> Option<String> {
        let text = match self {
            Charset::Ascii if !bytes.is_ascii() => return None,
            Charset::Ascii | Charset::Latin1 => bytes.iter().copied().map(char::from).collect(),
            Charset::Latin5 => bytes.iter().copied().map(turkish_letter).collect(),
            Charset::Utf16 => match bytes {
                [0xff, 0xfe, rest @ ..] => web(UTF_16LE, rest)?,
                [0xfe, 0xff, rest @ ..] | rest => web(UTF_16BE, rest)?,
            },
            Charset::Web(encoding) => web(encoding, bytes)?,
        };
        (!text.contains('\u{fffd}')).then_some(text)
    }
}

fn turkish_byte(c: char) -> Option<u8> {
    if let Some((byte, _)) = TURKISH.iter().find(|(_, letter)| *letter == c) {
        return Some(*byte);
    }
    u8::try_from(c).ok().filter(|byte| TURKISH.iter().all(|(taken, _)| taken != byte))
}

fn turkish_letter(byte: u8) -> char {
    let letter = TURKISH.iter().find(|(taken, _)| *taken == byte);
    letter.map_or_else(|| char::from(byte), |(_, letter)| *letter)
}

fn big_endian(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_be_bytes).collect()
}

fn is_control(code: u32) -> bool {
    (0x80..0xa0).contains(&code)
}

/// The web standard maps each unassigned byte of a Windows code page to a control character; IANA's tables leave
/// it unassigned.
fn is_windows(encoding: &'static Encoding) -> bool {
    encoding.name().starts_with("windows-")
}

fn web(encoding: &'static Encoding, bytes: &[u8]) -> Option<String> {
    let (text, has_errors) = encoding.decode_without_bom_handling(bytes);
    let is_loose = is_windows(encoding) && text.contains(|c| is_control(u32::from(c)));
    (!has_errors && !is_loose).then(|| text.into_owned())
}

fn charset(call: &Call<'_>) -> Result<Charset, FunctionError> {
    let name = call.text(1);
    Charset::named(name).ok_or_else(|| {
        let name = call.quoted(name);
        let message =
            format!("{name} is not a supported IANA encoding name or alias in this version");
        FunctionError::at(1, message)
    })
}

fn textencodebase64(call: &Call<'_>) -> Result<Value, FunctionError> {
    let charset = charset(call)?;
    let bytes = charset.encode(call.text(0)).ok_or_else(|| {
        let name = charset.name();
        let message =
            format!("the given string contains characters that cannot be represented in {name}");
        FunctionError::at(0, message)
    })?;
    Ok(Value::string(STANDARD.encode(bytes)))
}

fn textdecodebase64(call: &Call<'_>) -> Result<Value, FunctionError> {
    let charset = charset(call)?;
    let bytes = base64_text::decode(call.text(0)).map_err(|offset| {
        let message = format!("the given value is has an invalid base64 symbol at offset {offset}");
        FunctionError::at(0, message)
    })?;
    let text = charset.decode(&bytes).ok_or_else(|| {
        let name = charset.name();
        let message = format!("the given string contains symbols that are not defined for {name}");
        FunctionError::at(0, message)
    })?;
    Ok(Value::string(text))
}
