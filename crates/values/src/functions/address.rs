//! IP addresses and prefixes, parsed and formatted as Go does. Numbers with leading zeros are decimal.

use num_bigint::BigUint;
use num_traits::One;

/// An address of 4 or 16 bytes. An IPv4-mapped IPv6 address keeps its 16 bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Address(pub(super) Vec<u8>);

/// A network: its first address, and the number of leading bits that all of its addresses share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Prefix {
    pub(super) first: Address,
    pub(super) length: usize,
}

impl Address {
    /// Parses an address of either family.
    pub(super) fn parse(text: &str) -> Option<Address> {
        let four = || four_bytes(text).map(|bytes| Address(bytes.to_vec()));
        four().or_else(|| sixteen_bytes(text).map(|bytes| Address(bytes.to_vec())))
    }

    /// Returns the address for a number. `None` if the number needs more bits.
    pub(super) fn of_number(number: &BigUint, bits: usize) -> Option<Address> {
        let digits = number.to_bytes_be();
        // The number zero has one digit already.
        let missing = (bits / 8).checked_sub(digits.len())?;
        let mut bytes = vec![0; missing];
        bytes.extend(digits);
        Some(Address(bytes))
    }

    pub(super) fn bits(&self) -> usize {
        self.0.len() * 8
    }

    pub(super) fn to_number(&self) -> BigUint {
        BigUint::from_bytes_be(&self.0)
    }

    /// Returns the four bytes of an IPv4 address in either form. `None` for any other address.
    pub(super) fn as_four(&self) -> Option<&[u8]> {
        match &self.0[..] {
            four @ [_, _, _, _] => Some(four),
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, four @ ..] => Some(four),
            _ => None,
        }
    }

    /// Formats the address as Go does. An IPv4-mapped address is written as IPv4.
    pub(super) fn to_text(&self) -> String {
        if let Some(four) = self.as_four() {
            let parts: Vec<String> = four.iter().map(u8::to_string).collect();
            return parts.join(".");
        }
        let groups = self.0.chunks(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
        hexadecimal(&groups.collect::<Vec<u16>>())
    }
}

/// Formats groups and abbreviates the longest run of zeros, or the first of several.
fn hexadecimal(groups: &[u16]) -> String {
    let (mut start, mut length) = (0, 0);
    for at in 0..groups.len() {
        let run = groups[at..].iter().take_while(|group| **group == 0).count();
        if run > length {
            (start, length) = (at, run);
        }
    }
    let joined = |groups: &[u16]| {
        let parts: Vec<String> = groups.iter().map(|group| format!("{group:x}")).collect();
        parts.join(":")
    };
    if length < 2 {
        return joined(groups);
    }
    format!("{}::{}", joined(&groups[..start]), joined(&groups[start + length..]))
}

impl Prefix {
    /// Parses an address with a prefix length. Address bits beyond the length are cleared.
    pub(super) fn parse(text: &str) -> Result<Prefix, String> {
        let invalid = || format!("invalid CIDR address: {text}");
        let (address, length) = text.split_once('/').ok_or_else(invalid)?;
        let address = Address::parse(address).ok_or_else(invalid)?;
        let length = decimal(length).filter(|it| *it <= address.bits()).ok_or_else(invalid)?;
        Ok(Prefix::around(&address, length))
    }

    /// Returns the network of the given length that contains an address.
    pub(super) fn around(address: &Address, length: usize) -> Prefix {
        let mut bytes = address.0.clone();
        for (i, byte) in bytes.iter_mut().enumerate() {
            let kept = length.saturating_sub(i * 8).min(8);
            *byte &= u8::try_from(0xff00_u32 >> kept & 0xff).unwrap_or(0);
        }
        Prefix { first: Address(bytes), length }
    }

    pub(super) fn last(&self) -> Address {
        let hosts = (BigUint::one() << (self.first.bits() - self.length)) - BigUint::one();
        Address::of_number(&(self.first.to_number() | hosts), self.first.bits())
            .unwrap_or_else(|| self.first.clone())
    }

    /// Returns true if the network contains an address of the same family.
    pub(super) fn contains(&self, address: &Address) -> bool {
        Prefix::around(address, self.length).first == self.first
    }

    /// Returns the netmask.
    pub(super) fn mask(&self) -> Address {
        Prefix::around(&Address(vec![0xff; self.first.0.len()]), self.length).first
    }

    /// Formats the network. An IPv4-mapped network is written as IPv4.
    pub(super) fn to_text(&self) -> String {
        let is_mapped = self.first.0.len() == 16 && self.first.as_four().is_some();
        let length = if is_mapped { self.length.saturating_sub(96) } else { self.length };
        format!("{}/{length}", self.first.to_text())
    }
}

/// Parses a number that consists of digits only.
fn decimal(text: &str) -> Option<usize> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

fn four_bytes(text: &str) -> Option<[u8; 4]> {
    let parts: Option<Vec<u8>> =
        text.split('.').map(|part| u8::try_from(decimal(part)?).ok()).collect();
    parts?.try_into().ok()
}

/// Parses groups of up to 16 bits. `::` stands for omitted zero groups; the last two groups may be an IPv4
/// address.
fn sixteen_bytes(text: &str) -> Option<[u8; 16]> {
    let (front, back) = match text.split_once("::") {
        Some((front, back)) => (front, Some(back)),
        None => (text, None),
    };
    let front = groups(front, back.is_none())?;
    let back = back.map(|back| groups(back, true)).transpose_option()?;
    let mut bytes = [0; 16];
    match back {
        None if front.len() == 16 => bytes.copy_from_slice(&front),
        Some(back) if front.len() + back.len() < 16 => {
            bytes[..front.len()].copy_from_slice(&front);
            bytes[16 - back.len()..].copy_from_slice(&back);
        }
        _ => return None,
    }
    Some(bytes)
}

/// Transposes `Option<Option<T>>`: a missing input gives `Some(None)`, and a failed parse gives `None`.
trait TransposeOption<T> {
    fn transpose_option(self) -> Option<Option<T>>;
}

impl<T> TransposeOption<T> for Option<Option<T>> {
    fn transpose_option(self) -> Option<Option<T>> {
        match self {
            None => Some(None),
            Some(None) => None,
            Some(found) => Some(found),
        }
    }
}

fn groups(text: &str, may_end_with_four: bool) -> Option<Vec<u8>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    let parts: Vec<&str> = text.split(':').collect();
    let mut bytes = Vec::new();
    for (i, part) in parts.iter().enumerate() {
        if part.contains('.') {
            let is_last = i + 1 == parts.len();
            bytes.extend(four_bytes(part).filter(|_| is_last && may_end_with_four)?);
            continue;
        }
        let is_hexadecimal = !part.is_empty() && part.bytes().all(|it| it.is_ascii_hexdigit());
        let group = is_hexadecimal.then(|| u16::from_str_radix(part, 16).ok())??;
        bytes.extend(group.to_be_bytes());
    }
    Some(bytes)
}
