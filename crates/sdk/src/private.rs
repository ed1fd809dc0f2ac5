//! Private state: the provider's data beside an object, as JSON entries.

use base64::{Engine, engine::general_purpose::STANDARD};
use provider::Private;
use serde_json::Value as Json;
use sorted::TreeMap;

/// Private entries by name. They are encoded as in the plugin framework: a JSON object of base64 of JSON, or no
/// bytes if there are no entries. The type has no `Debug`, because entries may be secret.
#[derive(Clone, Default)]
pub struct PrivateState {
    entries: TreeMap<String, Json>,
    is_damaged: bool,
}

impl PrivateState {
    /// Returns an entry.
    #[must_use]
    pub fn entry(&self, name: &str) -> Option<&Json> {
        self.entries.get(name)
    }

    /// Returns true if the bytes have entries that cannot be read. For most providers, the entries are lost then.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    /// Returns a string entry.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.entries.get(name).and_then(Json::as_str)
    }

    /// Sets an entry.
    pub fn set(&mut self, name: &str, entry: impl Into<Json>) {
        self.entries.insert(name.to_owned(), entry.into());
    }

    /// Removes an entry.
    pub fn remove(&mut self, name: &str) {
        self.entries.remove(name);
    }

    /// Decodes the bytes that [`PrivateState::encode`] returned. Other bytes, such as those of an older provider,
    /// give no entries.
    #[must_use]
    pub fn decode(private: &Private) -> PrivateState {
        if private.is_empty() {
            return PrivateState::default();
        }
        let read: Result<TreeMap<String, String>, _> = serde_json::from_slice(private.as_bytes());
        let Ok(read) = read else {
            return PrivateState { is_damaged: true, ..PrivateState::default() };
        };
        let count = read.len();
        let entry = |(name, text): (String, String)| {
            let json = serde_json::from_slice(&STANDARD.decode(text).ok()?).ok()?;
            Some((name, json))
        };
        let entries: TreeMap<String, Json> = read.into_iter().filter_map(entry).collect();
        PrivateState { is_damaged: entries.len() != count, entries }
    }

    /// Encodes the entries.
    #[must_use]
    pub fn encode(&self) -> Private {
        if self.entries.is_empty() {
            return Private::default();
        }
        let entry = |(name, json): (&String, &Json)| {
            (name.clone(), Json::from(STANDARD.encode(json.to_string())))
        };
        let entries: serde_json::Map<String, Json> = self.entries.iter().map(entry).collect();
        Private::new(Json::Object(entries).to_string().into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_state_round_trips_and_is_empty_without_entries() {
        assert!(PrivateState::default().encode().is_empty());
        let mut state = PrivateState::default();
        state.set("lease", "l-1");
        state.set("count", 3);
        let read = PrivateState::decode(&state.encode());
        assert_eq!(read.text("lease"), Some("l-1"));
        assert_eq!(read.entry("count"), Some(&Json::from(3)));
        assert!(!read.is_damaged());
    }

    #[test]
    fn foreign_private_state_bytes_are_ignored() {
        for bytes in
            [&b"\xff"[..], b"[]", b"{\"schema_version\":\"1\"}", b"{\"a\":1}", b"{\"a\":\"!!\"}"]
        {
            let read = PrivateState::decode(&Private::new(bytes));
            assert!(read.encode().is_empty() && read.is_damaged());
        }
    }
}
