//! Simulates typing, and computes the problems of the text after each keystroke.
//!
//! A stroke changes the text of one resource with its locals and its output, and finally restores it. The expected
//! problems follow from the text alone, without the server that is later compared with them.
//!
//! **Invariant:** each keystroke changes the problems, so that the server must publish. A key that changes nothing
//! alone (a blank) comes together with the next one.

use std::ops::Range;

use super::workload::{Kind, item};

/// A problem: the code of its diagnostic and its byte range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Problem {
    pub(crate) code: &'static str,
    pub(crate) range: Range<usize>,
}

/// A text after a keystroke, with all its problems in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct State {
    pub(crate) text: String,
    pub(crate) problems: Vec<Problem>,
}

/// A random number generator with a fixed seed.
pub(crate) struct Random(fastrand::Rng);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(fastrand::Rng::with_seed(seed))
    }

    /// Returns a number below `bound`, which must be above zero.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0.usize(..bound)
    }

    fn letter(&mut self) -> char {
        char::from(b'a' + self.below(26) as u8)
    }
}

const UNDECLARED: &str = "undeclared-reference";
const SYNTAX: &str = "syntax-error";
/// A reference to a local value that does not exist.
const GONE: &str = "local.gone";

type Stroke = fn(&Original, &mut Random) -> Vec<State>;

/// All kinds of strokes.
const STROKES: &[Stroke] = &[
    words_in_a_string,
    reference_erased_and_typed_again,
    reference_completed,
    label_of_a_resource,
    name_of_a_local,
    block_typed,
    blocks_pasted,
    bracket_and_quote_lost,
];

/// Returns the texts of one resource during a random stroke. The last text equals the original.
pub(crate) fn stroke(index: usize, random: &mut Random) -> Vec<State> {
    let stroke = STROKES[random.below(STROKES.len())];
    stroke(&Original::of(index), random)
}

/// Returns a letter typed into the label of a resource and its removal. A reference elsewhere breaks and is
/// restored.
pub(crate) fn label_broken(index: usize, random: &mut Random) -> Vec<State> {
    label_of_a_resource(&Original::of(index), random).into_iter().take(2).collect()
}

/// The original text.
struct Original {
    index: usize,
    text: String,
}

impl Original {
    fn of(index: usize) -> Original {
        Original { index, text: item(Kind::Builtin, index) }
    }

    /// Returns the offset of a piece that occurs once in the text.
    fn find(&self, piece: &str) -> usize {
        self.text.find(piece).expect("the piece is part of each resource")
    }

    fn unchanged(&self) -> State {
        State { text: self.text.clone(), problems: Vec::new() }
    }

    /// Returns the text with a range replaced.
    fn with(&self, replaced: Range<usize>, with: &str, problems: Vec<Problem>) -> State {
        let mut text = self.text.clone();
        text.replace_range(replaced, with);
        State { text, problems }
    }
}

fn undeclared(start: usize, length: usize) -> Problem {
    Problem { code: UNDECLARED, range: start..start + length }
}

/// Changes `"${var.name}-7"` to `"words ${var.name}-7${local.gone}"`. The problem moves with each letter.
fn words_in_a_string(original: &Original, random: &mut Random) -> Vec<State> {
    let index = original.index;
    let start = original.find("\"${var.name}") + 1;
    let behind = format!("${{var.name}}-{index}");
    let length = 3 + random.below(8);
    let words: String = (0..length).map(|_| random.letter()).collect();
    let typed = |count: usize| {
        let with = format!("{}{behind}${{{GONE}}}", &words[..count]);
        let at = start + count + behind.len() + "${".len();
        original.with(start..start + behind.len(), &with, vec![undeclared(at, GONE.len())])
    };
    let there = (0..=length).map(typed);
    let back = (0..length).rev().map(typed);
    there.chain(back).chain([original.unchanged()]).collect()
}

/// Erases letters, `var.name`, `var.nam`, `var.na`, and types them again.
fn reference_erased_and_typed_again(original: &Original, random: &mut Random) -> Vec<State> {
    let whole = "var.name";
    let start = original.find(whole);
    let least = whole.len() - 1 - random.below(3);
    let typed = |count: usize| {
        original.with(start..start + whole.len(), &whole[..count], vec![undeclared(start, count)])
    };
    let there = (least..whole.len()).rev().map(typed);
    let back = (least + 1..whole.len()).map(typed);
    there.chain(back).chain([original.unchanged()]).collect()
}

/// Types `local.`, `local.t`, … `local.text_`, and then completes the name from a list.
fn reference_completed(original: &Original, _: &mut Random) -> Vec<State> {
    let whole = format!("local.text_{}", original.index);
    let start = original.find(&format!("input = {whole}")) + "input = ".len();
    let typed = |count: usize| {
        let replaced = start..start + whole.len();
        original.with(replaced, &whole[..count], reference(start, count))
    };
    let keys = ("local.".len()..="local.text_".len()).map(typed);
    keys.chain([original.unchanged()]).collect()
}

/// Returns the problems of the first letters of `local.text_7` at the end of a line.
fn reference(start: usize, count: usize) -> Vec<Problem> {
    let whole = Problem { code: "invalid-reference", range: start..start + count };
    match count {
        ..=5 => vec![whole],
        // The missing name is a syntax error, which also covers that `local` alone is not a reference.
        6 => vec![Problem { code: SYNTAX, range: start + 6..start + 7 }],
        _ => vec![undeclared(start, count)],
    }
}

/// Types letters into the label of a resource and removes each again. References to it are broken in between.
fn label_of_a_resource(original: &Original, random: &mut Random) -> Vec<State> {
    let label = original.find("\"terraform_data\" \"item_") + "\"terraform_data\" \"".len();
    let reference = format!("terraform_data.item_{}", original.index);
    let user = original.find(&format!("value = {reference}")) + "value = ".len();
    letters_put_and_removed(original, random, label, &[undeclared(user + 1, reference.len())])
}

/// Types letters into the name of a local value and removes each again.
fn name_of_a_local(original: &Original, random: &mut Random) -> Vec<State> {
    let which = ["name", "text"][random.below(2)];
    let name = original.find(&format!("{which}_{} =", original.index));
    let reference = format!("local.{which}_{}", original.index);
    let users: Vec<usize> = original.text.match_indices(&reference).map(|(at, _)| at).collect();
    let broken: Vec<Problem> = users.iter().map(|at| undeclared(at + 1, reference.len())).collect();
    letters_put_and_removed(original, random, name, &broken)
}

/// Types one letter after the other into a word of four letters, and removes each before the next.
fn letters_put_and_removed(
    original: &Original,
    random: &mut Random,
    word: usize,
    broken: &[Problem],
) -> Vec<State> {
    let mut states = Vec::new();
    for _ in 0..3 {
        let at = word + 1 + random.below(4);
        let letter = random.letter().to_string();
        states.push(original.with(at..at, &letter, broken.to_vec()));
        states.push(original.unchanged());
    }
    states
}

/// Types a new output key by key, pastes another value over its value, and removes it again.
fn block_typed(original: &Original, _: &mut Random) -> Vec<State> {
    let header = format!("output \"new_{}\"", original.index);
    let value = format!("local.text_{}", original.index);
    let mut keys = header_typed(&header);
    keys.extend(body_typed(&header, &value));
    let pasted = format!("{header} {{\n  value = ");
    let at = pasted.len();
    keys.push((format!("{pasted}{GONE}\n}}"), vec![undeclared(at, GONE.len())]));
    let end = original.text.len();
    let state = |(typed, mut problems): (String, Vec<Problem>)| {
        for Problem { range, .. } in &mut problems {
            *range = range.start + end..range.end + end;
        }
        original.with(end..end, &format!("{typed}\n\n"), problems)
    };
    keys.into_iter().map(state).chain([original.unchanged()]).collect()
}

/// Types `o`, `ou`, … `output "new_7" `. The text after it is on another line.
fn header_typed(header: &str) -> Vec<(String, Vec<Problem>)> {
    let keyword = "output".len();
    let problem = |range| Problem { code: SYNTAX, range };
    let mut keys = Vec::new();
    for count in 1..=keyword {
        keys.push((header[..count].to_owned(), vec![problem(0..count)]));
    }
    // A blank alone changes no problem, so it comes with the quote.
    for count in keyword + 2..=header.len() {
        keys.push((header[..count].to_owned(), vec![problem(count..count + 1)]));
    }
    keys.push((format!("{header} "), vec![problem(header.len() + 1..header.len() + 2)]));
    keys
}

/// Types `{`, the value letter by letter, and `}`. Before the last key, the block is not closed.
fn body_typed(header: &str, value: &str) -> Vec<(String, Vec<Problem>)> {
    let brace = header.len() + 1;
    let open = || Problem { code: SYNTAX, range: brace..brace + 1 };
    let mut keys = vec![(format!("{header} {{"), vec![open()])];
    let line = format!("{header} {{\n  ");
    let (name, start) = ("value", line.len());
    for count in 1..=name.len() {
        let problem = Problem { code: SYNTAX, range: start..start + count };
        keys.push((format!("{line}{}", &name[..count]), vec![open(), problem]));
    }
    for typed in ["value =", "value = "] {
        let at = start + typed.len();
        let problem = Problem { code: SYNTAX, range: at..at + 1 };
        keys.push((format!("{line}{typed}"), vec![open(), problem]));
    }
    let at = start + "value = ".len();
    for count in 1..="local.text_".len() {
        let problems = std::iter::once(open()).chain(reference(at, count)).collect();
        keys.push((format!("{line}value = {}", &value[..count]), problems));
    }
    keys.push((format!("{line}value = {value}"), vec![open()]));
    keys.push((format!("{line}value = {value}\n}}"), Vec::new()));
    keys
}

/// Pastes and removes two blocks: one with a reference to nothing, and a copy of an existing one.
fn blocks_pasted(original: &Original, _: &mut Random) -> Vec<State> {
    let (index, end) = (original.index, original.text.len());
    let head = format!("output \"pasted_{index}\" {{\n  value = ");
    let new = format!("{head}{GONE}\n}}\n\n");
    let copied = &original.text[original.find("output \"")..];
    let header = format!("output \"item_{index}\"").len();
    let duplicate = Problem { code: "duplicate-declaration", range: end..end + header };
    vec![
        original.with(end..end, &new, vec![undeclared(end + head.len(), GONE.len())]),
        original.unchanged(),
        original.with(end..end, copied, vec![duplicate]),
        original.unchanged(),
    ]
}

/// Erases a brace and types it again, then the end of a string.
fn bracket_and_quote_lost(original: &Original, _: &mut Random) -> Vec<State> {
    let resource = original.find("resource \"");
    let open = resource + original.text[resource..].find('{').expect("a block has a brace");
    let close = open + original.text[open..].find('}').expect("a block has a brace");
    let quote = original.find("\n  text_") - 1;
    vec![
        original.with(close..close + 1, "", vec![Problem { code: SYNTAX, range: open..open + 1 }]),
        original.unchanged(),
        original.with(
            quote..quote + 1,
            "",
            vec![Problem { code: SYNTAX, range: quote..quote + 1 }],
        ),
        original.unchanged(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(state: &State) -> Vec<(&str, usize, &str)> {
        let said = |it: &'_ Problem| (it.code, it.range.start, &state.text[it.range.clone()]);
        state.problems.iter().map(said).collect()
    }

    #[test]
    fn each_stroke_changes_diagnostics_and_restores_the_text() {
        for stroke in STROKES {
            let original = Original::of(1_207);
            let mut before = original.unchanged();
            for state in stroke(&original, &mut Random::new(7)) {
                // Compare lines and columns: after a line break, the same bytes are another range.
                assert_ne!(said(&before), said(&state), "{:?}", state.text);
                assert!(state.problems.is_sorted_by_key(|it| it.range.start), "{state:?}");
                before = state;
            }
            assert_eq!(before, original.unchanged());
        }
    }

    #[test]
    fn expected_undeclared_ranges_are_whole_references() {
        for stroke in STROKES {
            for state in stroke(&Original::of(12), &mut Random::new(3)) {
                let undeclared = state.problems.iter().filter(|it| it.code == UNDECLARED);
                for Problem { range, .. } in undeclared {
                    let reference = &state.text[range.clone()];
                    let behind = state.text[range.end..].chars().next();
                    assert!(
                        ["var.", "local.", "terraform_data."]
                            .iter()
                            .any(|it| reference.starts_with(it)),
                        "{reference}"
                    );
                    assert!(behind.is_none_or(|it| !it.is_alphanumeric()), "{reference}");
                }
            }
        }
    }
}
