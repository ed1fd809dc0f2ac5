//! Shrinks a case while its difference stays: drops steps, edits, blocks, arguments and flags, and simplifies
//! values.

use std::collections::BTreeSet;

use crate::model::{Block, Case, Module};

/// Returns the smallest case found that `is_same` accepts, within a number of attempts.
pub(crate) fn shrunk(case: Case, attempts: usize, is_same: &mut dyn FnMut(&Case) -> bool) -> Case {
    let mut search = Search { case, left: attempts, is_same };
    loop {
        let before = search.case.clone();
        search.steps();
        search.blocks();
        search.nested();
        search.edits();
        search.flags();
        search.values();
        if search.case == before || search.left == 0 {
            return search.case;
        }
    }
}

struct Search<'a> {
    case: Case,
    left: usize,
    is_same: &'a mut dyn FnMut(&Case) -> bool,
}

impl Search<'_> {
    /// Replaces the current case by the candidate if that shows the difference. Returns true if it does.
    fn attempt(&mut self, candidate: Case) -> bool {
        if self.left == 0 || candidate == self.case || candidate.steps.is_empty() {
            return false;
        }
        self.left -= 1;
        let is_same = (self.is_same)(&candidate);
        if is_same {
            self.case = candidate;
        }
        is_same
    }

    fn steps(&mut self) {
        let mut at = self.case.steps.len();
        while at > 0 {
            at -= 1;
            let mut candidate = self.case.clone();
            candidate.steps.remove(at);
            self.attempt(candidate);
        }
    }

    /// Drops top-level blocks and modules from every step.
    fn blocks(&mut self) {
        for folder in ["m1", "m2"] {
            let candidate = self.with_modules(|modules| modules.retain(|it| it.folder != folder));
            self.attempt(candidate);
        }
        let keys: BTreeSet<u32> =
            self.modules().flat_map(|it| &it.blocks).map(|it| it.key).collect();
        let keys: Vec<u32> = keys.into_iter().rev().collect();
        // Tries halves first, because most blocks are irrelevant to a difference.
        let mut size = keys.len().div_ceil(2);
        while size > 0 {
            for part in keys.chunks(size) {
                let candidate = self.with_modules(|modules| {
                    for module in modules {
                        module.blocks.retain(|it| !part.contains(&it.key));
                    }
                });
                self.attempt(candidate);
            }
            size /= 2;
        }
    }

    /// Drops nested blocks and arguments from every step.
    fn nested(&mut self) {
        let mut parts: BTreeSet<(u32, Option<String>)> = BTreeSet::new();
        for step in &self.case.steps {
            step.each_block(&mut |block| {
                parts.extend(block.blocks.iter().map(|it| (it.key, None)));
                parts.extend(block.arguments.iter().map(|it| (block.key, Some(it.name.clone()))));
            });
        }
        for (key, argument) in parts {
            let candidate = self.with_blocks(&mut |block| match &argument {
                Some(name) if block.key == key => block.arguments.retain(|it| it.name != *name),
                Some(_) => {}
                None => block.blocks.retain(|it| it.key != key),
            });
            self.attempt(candidate);
        }
    }

    /// Replaces the configuration of a step by that of the previous or the next step.
    fn edits(&mut self) {
        for at in 1..self.case.steps.len() {
            for [from, to] in [[at - 1, at], [at, at - 1]] {
                let mut candidate = self.case.clone();
                candidate.steps[to].modules = candidate.steps[from].modules.clone();
                self.attempt(candidate);
            }
        }
    }

    fn flags(&mut self) {
        for at in 0..self.case.steps.len() {
            let mut flag = self.case.steps[at].command.len();
            while flag > 1 {
                flag -= 1;
                let is_plan_file = |it: &String| it == crate::program::SAVED;
                if self.case.steps[at].command.get(flag).is_some_and(is_plan_file) {
                    continue;
                }
                let mut candidate = self.case.clone();
                candidate.steps[at].command.remove(flag);
                self.attempt(candidate);
            }
        }
    }

    /// Replaces a value by a literal, in every step that has this value.
    fn values(&mut self) {
        let mut values: BTreeSet<(u32, String, String)> = BTreeSet::new();
        for step in &self.case.steps {
            step.each_block(&mut |block| {
                let all = block.arguments.iter();
                values.extend(all.map(|it| (block.key, it.name.clone(), it.value.clone())));
            });
        }
        for (key, name, value) in values {
            for simple in ["1", "\"a\"", "true", "[\"a\"]"] {
                if value.len() <= simple.len() {
                    continue;
                }
                let candidate = self.with_blocks(&mut |block| {
                    for it in &mut block.arguments {
                        if block.key == key && it.name == name && it.value == value {
                            simple.clone_into(&mut it.value);
                        }
                    }
                });
                if self.attempt(candidate) {
                    break;
                }
            }
        }
    }

    fn modules(&self) -> impl Iterator<Item = &Module> {
        self.case.steps.iter().flat_map(|it| &it.modules)
    }

    fn with_modules(&self, change: impl Fn(&mut Vec<Module>)) -> Case {
        let mut candidate = self.case.clone();
        for step in &mut candidate.steps {
            change(&mut step.modules);
        }
        candidate
    }

    fn with_blocks(&self, change: &mut dyn FnMut(&mut Block)) -> Case {
        fn each(blocks: &mut [Block], change: &mut dyn FnMut(&mut Block)) {
            for block in blocks {
                change(block);
                each(&mut block.blocks, change);
            }
        }
        let mut candidate = self.case.clone();
        for module in candidate.steps.iter_mut().flat_map(|it| &mut it.modules) {
            each(&mut module.blocks, change);
        }
        candidate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Vocabulary, case};

    #[test]
    fn case_shrinks_to_the_steps_of_its_difference() {
        let is_needed = |it: &Case| {
            it.steps.iter().any(|it| {
                it.command[0] == "apply" && it.files().values().any(|it| it.contains("count = "))
            })
        };
        let number = (0..).find(|it| is_needed(&case(1, *it, &Vocabulary::default())));
        let whole = case(1, number.expect("one of them has both"), &Vocabulary::default());
        let small = shrunk(whole, 10_000, &mut |it| is_needed(it));
        assert_eq!(small.steps.len(), 1);
        assert_eq!(small.steps[0].command, ["apply"]);
        let text = small.steps[0].files().into_values().collect::<String>();
        assert_eq!(text.lines().count(), 3, "a block, its `count`, and its end: {text}");
    }
}
