//! The blocks of a Markdown file.

/// A block of configuration.
pub(crate) struct Block {
    /// The files in it, in the order in which they stand.
    pub(crate) files: Vec<File>,
}

/// A file of a block.
pub(crate) struct File {
    /// Its path, relative to the root module.
    pub(crate) path: String,
    /// Its text.
    pub(crate) text: String,
    /// The line of the Markdown file that its first line is.
    pub(crate) first_line: usize,
}

/// The `hcl` blocks of a Markdown text. A line `# file: mod/main.tf` or `//- /mod/main.tf` begins another file.
pub(crate) fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in markdown.lines().enumerate() {
        match &mut open {
            None if line.trim() == "```hcl" => {
                open = Some(Block { files: vec![File::new("main.tf", index + 2)] })
            }
            None => {}
            Some(_) if line.trim() == "```" => {
                blocks.extend(open.take().map(Block::without_empty_files))
            }
            Some(block) => match path_of(line) {
                Some(path) => block.files.push(File::new(path, index + 2)),
                None => {
                    let file = block.files.last_mut().expect("a block begins with a file");
                    file.text.push_str(line);
                    file.text.push('\n');
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
        File { path: path.to_owned(), text: String::new(), first_line }
    }
}

impl Block {
    fn without_empty_files(mut self) -> Block {
        let many = self.files.len() > 1;
        self.files.retain(|file| !many || !file.text.trim().is_empty());
        self
    }

    /// The block in the form of a fixture.
    pub(crate) fn fixture(&self) -> String {
        self.files.iter().map(|file| format!("//- /{}\n{}", file.path, file.text)).collect()
    }
}
