//! The page of the documentation that the table writes.

use std::path::Path;

use crate::rows::{How, Row};

const HEAD: &str = "# Plugins that misbehave

Every fault of a provider process ends in an error that names the provider and the call, in bounded time. No process
remains, the state loses nothing, and no secret and no control character reaches the terminal. Each row below is a test:
`cargo test -p cli --test misbehaving` runs a plugin with this fault, through the client or through the real executable,
and compares the result with this page. `UPDATE_EXPECT=1 cargo test -p cli --test misbehaving` writes the page.
";

/// The result of a row.
pub(crate) struct Found<'a> {
    pub(crate) row: &'a Row,
    pub(crate) said: String,
    pub(crate) after: String,
}

/// The maximum length of a text on the page.
const LONGEST: usize = 900;

/// The text of the page.
pub(crate) fn page(found: &[Found<'_>]) -> String {
    let mut page = HEAD.to_owned();
    let mut part = "";
    for it in found {
        if it.row.part != part {
            part = it.row.part;
            page.push_str(&format!(
                "\n## {part}\n\n| the plugin … | Mayfly says | and then |\n|---|---|---|\n"
            ));
        }
        page.push_str(&line(it));
        page.push('\n');
    }
    page
}

/// The line of the page for a row.
pub(crate) fn line(found: &Found<'_>) -> String {
    format!("| {} | {} | {} |", found.row.way, cell(&found.said), found.after)
}

fn cell(text: &str) -> String {
    let mut shown: String = text.trim().chars().take(LONGEST).collect();
    if shown.len() < text.trim().len() {
        shown.push_str(" …");
    }
    let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
    lines.join("<br>").replace('|', "\\|").replace("<br><br>", "<br>")
}

/// A text without the parts that differ between runs.
pub(crate) fn settled(text: &str, root: &Path) -> String {
    let text = text.replace(&root.display().to_string(), "TMP");
    // Timing decides which of the two errors occurs.
    let text = text.replace("Broken pipe (os error 32)", "connection reset").replace(
        "connection error: stream closed because of a broken pipe",
        "http2 error: connection error detected: frame with invalid size",
    );
    let mut settled = String::with_capacity(text.len());
    let mut rest = text.as_str();
    // Remove process IDs.
    while let Some(at) = rest.find("TMP/bad") {
        let (before, after) = rest.split_at(at + "TMP/bad".len());
        settled.push_str(before);
        settled.push_str("ID");
        rest = after.trim_start_matches(|it: char| it.is_ascii_digit());
    }
    settled.push_str(rest);
    settled
}

/// A short name for the context in which a row is tested.
pub(crate) fn place(row: &Row) -> String {
    match &row.how {
        How::Start => "start".to_owned(),
        How::Call(ask) => format!("{ask:?}"),
        How::Command(_) => "command".to_owned(),
    }
}
