//! An encoder for protocol buffers. It can write messages that generated code cannot.

/// A message that is being written.
#[derive(Clone, Default)]
pub(crate) struct Message(pub(crate) Vec<u8>);

impl Message {
    pub(crate) fn new() -> Message {
        Message::default()
    }

    /// Adds a length-delimited field: bytes, text or a message.
    pub(crate) fn bytes(mut self, field: u64, value: &[u8]) -> Message {
        self.varint(field << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    pub(crate) fn text(self, field: u64, value: &str) -> Message {
        self.bytes(field, value.as_bytes())
    }

    pub(crate) fn message(self, field: u64, value: &Message) -> Message {
        self.bytes(field, &value.0)
    }

    /// Adds a number or a flag.
    pub(crate) fn number(mut self, field: u64, value: u64) -> Message {
        self.varint(field << 3);
        self.varint(value);
        self
    }

    /// Adds an entry of a map with string keys.
    pub(crate) fn entry(self, field: u64, key: &str, value: &Message) -> Message {
        self.message(field, &Message::new().text(1, key).message(2, value))
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

/// The last length-delimited field with a number in a message. Empty if there is none.
pub(crate) fn field(mut message: &[u8], wanted: u64) -> &[u8] {
    let mut found: &[u8] = &[];
    while let Some(tag) = varint(&mut message) {
        match tag & 7 {
            0 => {
                varint(&mut message);
            }
            2 => {
                let length = varint(&mut message).unwrap_or(0) as usize;
                let Some((value, rest)) = message.split_at_checked(length) else { break };
                message = rest;
                if tag >> 3 == wanted {
                    found = value;
                }
            }
            _ => break,
        }
    }
    found
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
