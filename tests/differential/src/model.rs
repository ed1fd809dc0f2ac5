//! A case as data: the configuration of each step, and the command that it runs.
//!
//! A step contains its whole configuration, not the edit that led to it. So the shrinker can drop any step, block
//! or argument without knowledge of the generator. A block keeps its key through all edits, by which the shrinker
//! finds it in every step.

use std::{collections::BTreeMap, fmt::Write as _};

/// The files of one directory, by path.
pub(crate) type Files = BTreeMap<String, String>;

/// A sequence of edits and commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// A configuration, and the command that is run on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The modules of the configuration, the root module first.
    pub modules: Vec<Module>,
    /// The arguments of the executable, without those that every run has.
    pub command: Vec<String>,
}

/// A module of a configuration, in its own directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The directory; empty for the root module.
    pub folder: String,
    /// The top-level blocks.
    pub blocks: Vec<Block>,
}

/// A block of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The key: unique within a case, and kept through edits. Blocks are sorted by it.
    pub key: u32,
    /// The type and the labels.
    pub header: String,
    /// The arguments of the block.
    pub arguments: Vec<Argument>,
    /// The nested blocks.
    pub blocks: Vec<Block>,
}

/// An argument of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The name of the argument.
    pub name: String,
    /// The text of its expression.
    pub value: String,
}

impl Module {
    /// The path of the file with the module's blocks.
    #[must_use]
    pub fn path(&self) -> String {
        if self.folder.is_empty() {
            "main.tf".to_owned()
        } else {
            format!("{}/main.tf", self.folder)
        }
    }

    fn text(&self) -> String {
        let mut out = String::new();
        for block in &self.blocks {
            block.write(&mut out, 0);
        }
        out
    }
}

impl Block {
    /// The value of an argument. `None` if the block has no such argument.
    pub fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.iter().find(|it| it.name == name).map(|it| &*it.value)
    }

    /// The type of the block: `resource`, `variable`, …
    pub fn kind(&self) -> &str {
        self.header.split(' ').next().unwrap_or_default()
    }

    /// The labels, without quotes.
    pub fn labels(&self) -> Vec<&str> {
        self.header.split('"').skip(1).step_by(2).collect()
    }

    /// The first nested block with a header.
    pub fn nested(&self, header: &str) -> Option<&Block> {
        self.blocks.iter().find(|it| it.header == header)
    }

    fn write(&self, out: &mut String, depth: usize) {
        let indent = "  ".repeat(depth);
        let _ = writeln!(out, "{indent}{} {{", self.header);
        for Argument { name, value } in &self.arguments {
            let _ = writeln!(out, "{indent}  {name} = {value}");
        }
        for block in &self.blocks {
            block.write(out, depth + 1);
        }
        let _ = writeln!(out, "{indent}}}");
    }
}

impl Step {
    /// The files of the configuration.
    #[must_use]
    pub fn files(&self) -> Files {
        self.modules.iter().map(|it| (it.path(), it.text())).collect()
    }

    /// Calls `visit` with every block of the configuration, including nested ones.
    pub(crate) fn each_block<'a>(&'a self, visit: &mut impl FnMut(&'a Block)) {
        fn each<'a>(blocks: &'a [Block], visit: &mut impl FnMut(&'a Block)) {
            for block in blocks {
                visit(block);
                each(&block.blocks, visit);
            }
        }
        for module in &self.modules {
            each(&module.blocks, visit);
        }
    }
}
