//! The changes of formatting as a unified diff.
//!
//! The formatter returns the parts that it replaces, so no diff algorithm has to search for them. The time is
//! linear in the length of the file.

use std::{fmt::Write as _, ops::Range};

use syntax::{TextRange, TextSize};

/// The number of unchanged lines shown around a change.
const CONTEXT: usize = 3;

/// A range of old lines, and the range of new lines that replaces it.
#[derive(Clone, Debug)]
struct Change {
    old: Range<usize>,
    new: Range<usize>,
}

/// The diff between a text without syntax errors and its formatted text. Empty if they are equal.
pub(super) fn unified(shown: &str, old: &str, new: &str) -> String {
    let changes = changes(old, new);
    if changes.is_empty() {
        return String::new();
    }
    let (old, new) = (lines(old), lines(new));
    let mut out = format!("--- old/{shown}\n+++ new/{shown}\n");
    for hunk in changes.chunk_by(|a, b| b.old.start - a.old.end <= 2 * CONTEXT) {
        write_hunk(&mut out, hunk, &old, &new);
    }
    out
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// The changed line ranges, in order and without overlaps.
fn changes(old: &str, new: &str) -> Vec<Change> {
    let all = TextRange::up_to(TextSize::new(u32::try_from(old.len()).unwrap_or(u32::MAX)));
    let edits = syntax::format_range(old, all).unwrap_or_default();
    let (mut old_lines, mut new_lines) = (LineCounter::of(old), LineCounter::of(new));
    let mut changes: Vec<Change> = Vec::new();
    // The offset in the new text minus the offset in the old text.
    let mut ahead = 0_isize;
    for edit in edits {
        let (start, end) = (usize::from(edit.range.start()), usize::from(edit.range.end()));
        let new_start = start.saturating_add_signed(ahead);
        let new_end = new_start + edit.replacement.len();
        ahead += edit.replacement.len() as isize - (end - start) as isize;
        let change = Change {
            old: old_lines.line_at(start)..old_lines.line_at(end) + 1,
            new: new_lines.line_at(new_start)..new_lines.line_at(new_end) + 1,
        };
        match changes.last_mut().filter(|last| last.old.end >= change.old.start) {
            Some(last) => {
                last.old.end = change.old.end;
                last.new.end = change.new.end;
            }
            None => changes.push(change),
        }
    }
    let (old, new) = (lines(old), lines(new));
    changes.into_iter().map(|it| trimmed(it, &old, &new)).collect()
}

/// Removes the lines from a change that are equal at its start and end.
fn trimmed(mut change: Change, old: &[&str], new: &[&str]) -> Change {
    change.old.end = change.old.end.min(old.len());
    change.new.end = change.new.end.min(new.len());
    while !change.old.is_empty() && !change.new.is_empty() {
        if old[change.old.start] == new[change.new.start] {
            change.old.start += 1;
            change.new.start += 1;
        } else if old[change.old.end - 1] == new[change.new.end - 1] {
            change.old.end -= 1;
            change.new.end -= 1;
        } else {
            break;
        }
    }
    change
}

/// Counts the lines before offsets that must not decrease from call to call.
struct LineCounter<'t> {
    bytes: &'t [u8],
    at: usize,
    line: usize,
}

impl<'t> LineCounter<'t> {
    fn of(text: &'t str) -> Self {
        LineCounter { bytes: text.as_bytes(), at: 0, line: 0 }
    }

    fn line_at(&mut self, at: usize) -> usize {
        self.line += self.bytes[self.at..at].iter().filter(|byte| **byte == b'\n').count();
        self.at = at;
        self.line
    }
}

fn write_hunk(out: &mut String, changes: &[Change], old: &[&str], new: &[&str]) {
    let [first, ..] = changes else { return };
    let last = &changes[changes.len() - 1];
    let before = first.old.start.min(CONTEXT);
    let after = (old.len() - last.old.end).min(CONTEXT);
    let old_range = first.old.start - before..last.old.end + after;
    let new_range = first.new.start - before..last.new.end + after;
    let _ = writeln!(out, "@@ -{} +{} @@", span(&old_range), span(&new_range));
    let mut at = old_range.start;
    for change in changes {
        old[at..change.old.start].iter().for_each(|line| write_line(out, ' ', line));
        old[change.old.clone()].iter().for_each(|line| write_line(out, '-', line));
        new[change.new.clone()].iter().for_each(|line| write_line(out, '+', line));
        at = change.old.end;
    }
    old[at..old_range.end].iter().for_each(|line| write_line(out, ' ', line));
}

/// The first line and the line count for a hunk header. A count of one is left out.
fn span(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

fn write_line(out: &mut String, sign: char, line: &str) {
    out.push(sign);
    out.push_str(line);
    if !line.ends_with('\n') {
        out.push_str("\n\\ No newline at end of file\n");
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(old: &str, expected: Expect) {
        let new = syntax::format(old).expect("is correct");
        expected.assert_eq(&unified("main.tf", old, &new));
    }

    #[test]
    fn diff_shows_changed_lines_with_context() {
        check("a = 1\n", expect![""]);
        check(
            "a=1\nb = 2\nc= 3",
            expect![[r#"
                --- old/main.tf
                +++ new/main.tf
                @@ -1,3 +1,3 @@
                -a=1
                +a = 1
                 b = 2
                -c= 3
                \ No newline at end of file
                +c = 3
                \ No newline at end of file
            "#]],
        );
    }

    #[test]
    fn distant_changes_have_separate_hunks() {
        let between = "\n# c".repeat(12);
        check(
            &format!("a=1{between}\nb=\"${{\nx}}\"\n"),
            expect![[r#"
                --- old/main.tf
                +++ new/main.tf
                @@ -1,4 +1,4 @@
                -a=1
                +a = 1
                 # c
                 # c
                 # c
                @@ -11,5 +11,4 @@
                 # c
                 # c
                 # c
                -b="${
                -x}"
                +b = x
            "#]],
        );
    }
}
