//! A page of `docs/diagnostics`.
//!
//! ```text
//! # the-id
//!
//! Error: The summary
//!
//! What it means, why there is such a rule, the ways out. Then either an `hcl` block that shows it and a mended one,
//! or a paragraph that begins with "No example:" and says why there is none.
//! ```

use conformance::markdown_files;

use super::uses::is_id;
use crate::spec::block::{Block, blocks};

const PAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/diagnostics");

/// The beginning of a paragraph that gives the reason for missing examples.
pub(crate) const NO_EXAMPLE: &str = "No example:";

/// The maximal line length: outside of terminals, pages are shown without wrapping.
const WIDEST: usize = 110;

/// The minimal number of words; a shorter page would not add to the message itself.
const FEWEST_WORDS: usize = 25;

/// A page of `docs/diagnostics`.
pub(crate) struct Page {
    /// The id that the page explains, which is the name of its file.
    pub(crate) id: String,
    /// The path, as shown in failure messages.
    pub(crate) path: String,
    text: String,
}

/// All pages, by id.
pub(crate) fn pages() -> Vec<Page> {
    let page = |(path, text): (String, String)| {
        let name = path.rsplit('/').next().unwrap_or_default();
        let id = name.trim_end_matches(".md").to_owned();
        Page { path: format!("docs/diagnostics/{name}"), id, text }
    };
    let files = markdown_files(PAGES).into_iter().filter(|(path, _)| !path.ends_with("README.md"));
    files.map(page).collect()
}

impl Page {
    /// The configurations in the page.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        blocks(&self.text)
    }

    /// The lines between the title and the text.
    pub(crate) fn summaries(&self) -> Vec<&str> {
        self.text.split("\n\n").nth(1).unwrap_or_default().lines().collect()
    }

    /// Returns true if the page gives a reason for missing examples.
    pub(crate) fn says_no_example(&self) -> bool {
        self.text.split("\n\n").any(|it| it.starts_with(NO_EXAMPLE))
    }

    /// The violations of the page's form, one line each.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut fault = |what: String| faults.push(format!("{}: {what}\n", self.path));
        let paragraphs: Vec<&str> = self.text.trim_end().split("\n\n").collect();
        if !is_id(&self.id) {
            fault("its name is no id".to_owned());
        }
        if paragraphs[0] != format!("# {}", self.id) {
            fault(format!("it does not begin with \"# {}\"", self.id));
        }
        let says =
            |line: &str| ["Error: ", "Warning: ", "Hint: "].iter().any(|it| line.starts_with(it));
        if !paragraphs.get(1).is_some_and(|it| it.lines().all(says)) {
            fault("the summaries do not follow".to_owned());
        }
        let words: usize = prose(&self.text).map(|it| it.split_whitespace().count()).sum();
        if words < FEWEST_WORDS {
            fault(format!("it has {words} words, and a page has at least {FEWEST_WORDS}"));
        }
        if let Some(line) = self.text.lines().find(|it| it.chars().count() > WIDEST) {
            fault(format!("a line has more than {WIDEST} characters: {line}"));
        }
        faults
    }
}

/// The lines that are not part of the title, the summaries or an example.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_inside = false;
    text.lines().skip(3).filter(move |line| {
        let is_fence = line.starts_with("```");
        is_inside ^= is_fence;
        !is_inside && !is_fence
    })
}
