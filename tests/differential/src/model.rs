//! A case as data: configurations that change from step to step, and the command that each step runs.
//!
//! A step holds its whole configuration, not the edit that led to it. So the shrinker can drop any step, block or argument
//! without knowing how the generator came there. A block keeps its key through all edits, which is how the shrinker finds it
//! in every step.

use std::{collections::BTreeMap, fmt::Write as _};

/// The files of one directory, by path.
pub(crate) type Files = BTreeMap<String, String>;

/// One sequence of edits and commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub steps: Vec<Step>,
}

/// A configuration, and what is run on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub modules: Vec<Module>,
    /// The arguments of the executable, without those that every run has.
    pub command: Vec<String>,
}

/// A directory with blocks; the first one of a step is the root module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Empty for the root module.
    pub folder: String,
    pub blocks: Vec<Block>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Unique within a case, kept through edits. Blocks are in the order of their keys.
    pub key: u32,
    /// The type and the labels.
    pub header: String,
    pub arguments: Vec<Argument>,
    pub blocks: Vec<Block>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    pub name: String,
    pub value: String,
}

impl Module {
    /// The path of the file that the blocks are written to.
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
    #[must_use]
    pub fn files(&self) -> Files {
        self.modules.iter().map(|it| (it.path(), it.text())).collect()
    }

    /// Calls `visit` with every block of the configuration, nested ones included.
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
