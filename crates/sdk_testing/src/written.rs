//! The search for secrets in what a core has written.

use std::io::{Cursor, Read as _};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value as Json;

/// The deepest encoding of a text in another one that is searched: base64 in private data has two.
const DEEPEST: usize = 4;

/// The shortest run of base64 that is decoded: shorter ones are words.
const SHORTEST: usize = 8;

/// Returns true if the bytes contain a secret: as they are, in an entry of a zip archive, or in base64, as
/// private data is stored.
pub(crate) fn finds(bytes: &[u8], secret: &str) -> bool {
    entries(bytes).iter().any(|it| is_in(it, secret, 0))
}

/// Returns the entries of a zip archive, or other bytes themselves. The configuration in a saved plan is left out: a
/// test writes its secrets there.
fn entries(bytes: &[u8]) -> Vec<Vec<u8>> {
    let Ok(mut archive) = zip::ZipArchive::new(Cursor::new(bytes)) else {
        return vec![bytes.to_owned()];
    };
    let count = archive.len();
    let read = |index| {
        let mut content = Vec::new();
        let mut entry = archive.by_index(index).ok()?;
        let is_configuration = entry.name().is_ok_and(|it| it.starts_with("tfconfig/"));
        entry.read_to_end(&mut content).ok().filter(|_| !is_configuration)?;
        Some(content)
    };
    (0..count).filter_map(read).collect()
}

fn is_in(bytes: &[u8], secret: &str, depth: usize) -> bool {
    if spellings(secret).iter().any(|it| bytes.windows(it.len()).any(|part| part == it.as_bytes()))
    {
        return true;
    }
    let mut runs = bytes.split(|it| !is_base64(*it)).filter(|it| it.len() >= SHORTEST);
    depth < DEEPEST && runs.any(|it| decoded(it).is_some_and(|it| is_in(&it, secret, depth + 1)))
}

/// A secret as it is, and as a text of JSON and of Rust has it.
fn spellings(secret: &str) -> [String; 3] {
    let quoted = |text: String| text[1..text.len() - 1].to_owned();
    let json = Json::from(secret).to_string();
    [secret.to_owned(), quoted(json), quoted(format!("{secret:?}"))]
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}

/// Decodes a run of the characters of base64. What follows its last whole group is left out.
fn decoded(run: &[u8]) -> Option<Vec<u8>> {
    STANDARD.decode(&run[..run.len() / 4 * 4]).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn secrets_are_found_in_texts_archives_and_private_data() {
        let inner = STANDARD.encode("{\"key\":\"hunter2\"}");
        let private = STANDARD.encode(format!("{{\"entry\":\"{inner}\"}}"));
        let state = format!("{{\"resources\":[{{\"private\":\"{private}\"}}]}}");
        assert!(finds(state.as_bytes(), "hunter2"));
        // As in a message of protocol buffers.
        assert!(finds(format!("\u{1}\u{2}{private}\u{0}").as_bytes(), "hunter2"));
        assert!(finds(br#"{"a":"one\"two"}"#, "one\"two"));
        assert!(!finds(state.as_bytes(), "hunter3"));

        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file("tfplan", options).expect("fits");
        archive.write_all(b"... hunter2 ...").expect("fits");
        archive.start_file("tfconfig/m-/main.tf", options).expect("fits");
        archive.write_all(b"hunter3").expect("fits");
        let bytes = archive.finish().expect("fits").into_inner();
        assert!(finds(&bytes, "hunter2") && !finds(&bytes, "hunter3"));
    }
}
