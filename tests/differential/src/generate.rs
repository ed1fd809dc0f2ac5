//! Random cases: a configuration, followed by edits and commands.
//!
//! [`blocks`] generates blocks and [`expressions`] the expressions in them; [`providers`] and [`playground`]
//! generate the blocks of providers; [`edits`] changes a configuration as a user would.
//!
//! The generator has no type table. The first letter of a name gives the kind of its value (`s` string, `n`
//! number, `b` bool, `l` list, `m` map), so a name and the references to it stay meaningful after edits. A block
//! refers only to blocks with a smaller key, so that few configurations have a cycle.

mod blocks;
mod edits;
mod expressions;
mod playground;
mod providers;

use std::collections::BTreeSet;

use fastrand::Rng;

use crate::{
    model::{Block, Case, Module, Step},
    program::SAVED,
};

/// Optional features of the generator: parts of the language and of the command line.
pub const FEATURES: &[&str] = &[
    "create_before_destroy",
    "replace_triggered_by",
    "moved",
    "removed",
    "refresh_only",
    "target",
    "import",
    "state",
    "drift",
    "go",
    "playground",
];

/// The first word of a step that changes files as other people would.
pub(crate) const OUTSIDE_COMMAND: &str = "outside";

/// The changes that other people make.
pub(crate) const OUTSIDE: &[&str] = &["remove", "change", "remove all"];

/// The enabled features.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    /// The names of the enabled features, from [`FEATURES`].
    pub features: BTreeSet<String>,
}

impl Vocabulary {
    fn has(&self, feature: &str) -> bool {
        self.features.contains(feature)
    }
}

/// Generates the case with a seed and a number.
#[must_use]
pub fn case(seed: u64, number: u64, vocabulary: &Vocabulary) -> Case {
    // Neighbouring seeds of `Rng` have similar beginnings, so the seed is mixed first.
    let mut mixer = Rng::with_seed(seed);
    let seed = mixer.u64(..) ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut generator = Generator { random: Rng::with_seed(seed), vocabulary, next_key: 0 };
    generator.case()
}

/// The command `plan` or `apply`, with a value for each variable without a default.
pub(crate) fn with_values(command: &str, step: &Step) -> Vec<String> {
    let mut command = vec![command.to_owned()];
    for block in step.modules[0].blocks.iter().filter(|it| it.kind() == "variable") {
        if block.argument("default").is_some() {
            continue;
        }
        let name = block.labels()[0];
        let value = match name.chars().next() {
            Some('n') => "1",
            Some('b') => "true",
            Some('l') => "[\"a\"]",
            Some('m') => "{a=\"x\"}",
            _ => "a",
        };
        command.push(format!("-var={name}={value}"));
    }
    command
}

/// The random source of a case, and the counter of block keys.
pub(crate) struct Generator<'a> {
    pub(crate) random: Rng,
    vocabulary: &'a Vocabulary,
    next_key: u32,
}

impl Generator<'_> {
    fn case(&mut self) -> Case {
        let mut modules = self.configuration();
        let mut steps = Vec::new();
        let count = 2 + self.random.usize(..4);
        let mut is_saved = false;
        while steps.len() < count {
            // A saved plan is applied before the configuration changes.
            if !steps.is_empty() && !is_saved && self.one_in(4, 3) {
                for _ in 0..=self.random.usize(..2) {
                    self.edit(&mut modules);
                }
            }
            if !steps.is_empty() && !is_saved && self.vocabulary.has("drift") && self.one_in(3, 1) {
                let change = self.pick(OUTSIDE).to_owned();
                let command = vec![OUTSIDE_COMMAND.to_owned(), change];
                steps.push(Step { modules: modules.clone(), command });
            }
            let command = self.command(&modules[0], steps.is_empty(), is_saved);
            is_saved = command.iter().any(|it| it.starts_with("-out="));
            steps.push(Step { modules: modules.clone(), command });
        }
        Case { steps }
    }

    fn command(&mut self, root: &Module, is_first: bool, is_saved: bool) -> Vec<String> {
        let mut command: Vec<String> = Vec::new();
        let mut push = |it: &str| command.push(it.to_owned());
        if is_saved && self.random.usize(..6) > 0 {
            ["apply", "-json", SAVED][..].iter().for_each(|it| push(it));
            return command;
        }
        if !is_first && self.vocabulary.has("state") && self.one_in(4, 1) {
            return self.state_command(root);
        }
        match self.random.usize(..if is_first { 12 } else { 20 }) {
            0 => push("validate"),
            1..=3 => {
                push("plan");
                push(&format!("-out={SAVED}"));
            }
            4 => push("plan"),
            5..=11 => push("apply"),
            12 | 13 => push("destroy"),
            14 => ["plan", "-destroy", &format!("-out={SAVED}")].into_iter().for_each(push),
            15 => ["output", "-json"].into_iter().for_each(push),
            16 => ["show", "-json"].into_iter().for_each(push),
            17 | 18 if self.vocabulary.has("refresh_only") => match self.random.usize(..4) {
                0 => ["plan", "-refresh-only", &format!("-out={SAVED}")].into_iter().for_each(push),
                1 => push("refresh"),
                _ => ["apply", "-refresh-only"].into_iter().for_each(push),
            },
            17 => ["state", "list"].into_iter().for_each(push),
            _ => push("apply"),
        }
        self.flags(&mut command, root);
        command
    }

    fn flags(&mut self, command: &mut Vec<String>, root: &Module) {
        let name = command[0].clone();
        if name == "validate" {
            command.push("-json".to_owned());
        }
        if !matches!(&*name, "plan" | "apply" | "destroy" | "refresh") {
            return;
        }
        if self.one_in(6, 5) {
            command.push("-json".to_owned());
        }
        let changes = name != "destroy"
            && name != "refresh"
            && !command.iter().any(|it| it == "-destroy" || it == "-refresh-only");
        if changes && self.one_in(8, 1) {
            let address = self.instance(root);
            command.extend(address.map(|it| format!("-replace={it}")));
        }
        if self.vocabulary.has("target") && self.one_in(3, 1) {
            self.targets(command, root);
        }
        let can_skip = name != "refresh" && !command.iter().any(|it| it == "-refresh-only");
        if can_skip && self.one_in(12, 1) {
            command.push("-refresh=false".to_owned());
        }
        if name == "plan" && self.one_in(6, 1) {
            command.push("-detailed-exitcode".to_owned());
        }
        self.variables(command, root);
    }

    /// A command that changes the state without a provider, or imports an object into it.
    fn state_command(&mut self, root: &Module) -> Vec<String> {
        let address = self.instance(root).unwrap_or_else(|| "terraform_data.s0".to_owned());
        let other = self.instance(root).unwrap_or_else(|| "terraform_data.s1".to_owned());
        let words = match self.random.usize(..12) {
            0..=2 => vec!["taint", &*address],
            3 | 4 => vec!["untaint", &*address],
            5 | 6 => vec!["state", "rm", &*address],
            7 | 8 => vec!["state", "mv", &*address, &*other],
            9 => vec!["state", "show", &*address],
            _ => vec!["import", &*address, "from-outside"],
        };
        let mut command: Vec<String> = words.into_iter().map(str::to_owned).collect();
        if command[0] == "import" {
            let mut variables = vec![command[0].clone()];
            self.variables(&mut variables, root);
            command.splice(..1, variables);
        }
        command
    }

    /// Adds one or two addresses of modules, resources or instances, for one of the two options.
    fn targets(&mut self, command: &mut Vec<String>, root: &Module) {
        let option = self.pick(&["target", "exclude"]);
        for _ in 0..=self.random.usize(..2) {
            let calls: Vec<&Block> =
                root.blocks.iter().filter(|it| it.kind() == "module").collect();
            let address = match calls.len() {
                0 => self.instance(root),
                _ if self.one_in(2, 1) => self.instance(root),
                count => {
                    let call = calls[self.random.usize(..count)].labels().join(".");
                    Some(format!("module.{call}{}", self.pick(&["", "", "[0]", "[\"a\"]"])))
                }
            };
            // Without its key, an address names all instances.
            let address = match self.one_in(3, 1) {
                true => address.map(|it| it.split('[').next().unwrap_or_default().to_owned()),
                false => address,
            };
            command.extend(address.map(|it| format!("-{option}={it}")));
        }
    }

    /// Adds `-var` for each variable without a default, and for some others.
    fn variables(&mut self, command: &mut Vec<String>, root: &Module) {
        for block in root.blocks.iter().filter(|it| it.kind() == "variable") {
            let needed = block.argument("default").is_none();
            if self.one_in(20, if needed { 19 } else { 4 }) {
                let name = block.labels()[0];
                let value = match name.chars().next() {
                    Some('n') => self.random.usize(..4).to_string(),
                    Some('b') => self.random.bool().to_string(),
                    Some('l') => self.pick(&["[]", "[\"a\"]", "[\"b\",\"c\"]"]).to_owned(),
                    Some('m') => self.pick(&["{}", "{a=\"x\"}", "{a=\"y\",b=\"z\"}"]).to_owned(),
                    _ => self.pick(&["a", "b", "new", ""]).to_owned(),
                };
                command.push(format!("-var={name}={value}"));
            }
        }
        if self.one_in(60, 1) {
            command.push("-var=undeclared=1".to_owned());
        }
    }

    /// The address of an instance that may exist.
    fn instance(&mut self, root: &Module) -> Option<String> {
        let resources: Vec<&Block> =
            root.blocks.iter().filter(|it| it.kind() == "resource").collect();
        if resources.is_empty() {
            return None;
        }
        let block = resources[self.random.usize(..resources.len())];
        let address = block.labels().join(".");
        let key = if block.argument("count").is_some() {
            "[0]"
        } else if block.argument("for_each").is_some() {
            "[\"a\"]"
        } else {
            ""
        };
        Some(format!("{address}{key}"))
    }

    /// True with probability `n` / `of`.
    pub(crate) fn one_in(&mut self, of: usize, n: usize) -> bool {
        self.random.usize(..of) < n
    }

    pub(crate) fn pick<'b>(&mut self, all: &[&'b str]) -> &'b str {
        all[self.random.usize(..all.len())]
    }

    fn key(&mut self) -> u32 {
        self.next_key += 1;
        self.next_key
    }
}
