//! The configuration blocks of a Markdown file.

use super::expectation::{Expectation, expectations, is_comment};

/// A block of configuration.
pub(crate) struct Block {
    /// The last phase that is run.
    pub(crate) run: Run,
    /// The files of the block, in order.
    pub(crate) files: Vec<File>,
}

/// The phases of a run; each includes the previous ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Run {
    /// Static analysis.
    Analysis,
    /// A plan, unless analysis finds an error.
    Plan,
    /// A plan and an apply.
    Apply,
}

impl Run {
    /// The phase that the opening fence names. `None` if the line does not open a block of configuration.
    fn of(line: &str) -> Option<Run> {
        match line.trim().strip_prefix("```")? {
            "hcl" => Some(Run::Analysis),
            "hcl plan" => Some(Run::Plan),
            "hcl apply" => Some(Run::Apply),
            _ => None,
        }
    }
}

/// A file of a block.
pub(crate) struct File {
    /// The path, relative to the root module.
    pub(crate) path: String,
    /// The text in the Markdown file.
    written: String,
    /// The text for the analysis.
    pub(crate) text: String,
    /// The line number of its first line in the Markdown file.
    pub(crate) first_line: usize,
}

/// The `hcl` blocks of a Markdown text with their phases; the default is analysis. A line `# file: mod/main.tf` or
/// `//- /mod/main.tf` begins another file.
pub(crate) fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in markdown.lines().enumerate() {
        match &mut open {
            None => {
                let files = || vec![File::new("main.tf", index + 2)];
                open = Run::of(line).map(|run| Block { run, files: files() });
            }
            Some(_) if line.trim() == "```" => blocks.extend(open.take().map(Block::complete)),
            Some(block) => match path_of(line) {
                Some(path) => block.files.push(File::new(path, index + 2)),
                None => {
                    let file = block.files.last_mut().expect("a block begins with a file");
                    file.written.push_str(line);
                    file.written.push('\n');
                }
            },
        }
    }
    blocks
}

fn path_of(line: &str) -> Option<&str> {
    line.strip_prefix("# file: ").or_else(|| line.strip_prefix("//- /")).map(str::trim)
}

impl File {
    fn new(path: &str, first_line: usize) -> File {
        File { path: path.to_owned(), written: String::new(), text: String::new(), first_line }
    }

    /// Derives the text for the analysis. Removes comments from a file in the JSON syntax, and adds the invisible
    /// bytes that the path names. Line numbers stay the same.
    fn complete(mut self) -> File {
        let (path, bytes) = self.path.split_once(" with ").unwrap_or((&self.path, ""));
        let is_json = path.ends_with(".json");
        let kept = self.written.lines().map(|line| match is_json && is_comment(line) {
            true => "",
            false => line,
        });
        let (before, end) = match bytes {
            "a byte order mark" => ("\u{feff}", "\n"),
            "CRLF" => ("", "\r\n"),
            "" => ("", "\n"),
            other => panic!("{other:?} is nothing that a file can be with"),
        };
        self.text = kept.fold(before.to_owned(), |text, line| text + line + end);
        self.path = path.to_owned();
        self
    }

    /// The expectations in its comments, each with the index of its line.
    pub(crate) fn expectations(&self) -> Vec<(usize, Expectation)> {
        expectations(&self.written)
    }
}

impl Block {
    fn complete(mut self) -> Block {
        let many = self.files.len() > 1;
        self.files.retain(|file| !many || !file.written.trim().is_empty());
        self.files = self.files.into_iter().map(File::complete).collect();
        self
    }

    /// The block as a fixture.
    pub(crate) fn fixture(&self) -> String {
        self.files.iter().map(|file| format!("//- /{}\n{}", file.path, file.text)).collect()
    }
}
