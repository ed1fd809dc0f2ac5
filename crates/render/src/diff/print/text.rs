//! Layout of strings: quoted, line by line, or as the JSON that they contain.

use state::{with_temporary_symbols, without_temporary_plans};
use values::{Text, Value};

use crate::{
    diff::{
        Act, Node,
        change::Change,
        dynamic,
        print::{Options, Printer, indent},
        sequence,
    },
    style::{Paint, visible},
};

/// The form in which a string is shown.
enum Reading<'t> {
    Null,
    Quoted(&'t str),
    /// A string of several lines, trimmed.
    Lines(&'t str),
    Json(Value),
}

fn read(text: Option<&Text>) -> Reading<'_> {
    let Some(text) = text else { return Reading::Null };
    if text.starts_with(['{', '['])
        && let Ok(json) = values::json::decode_implied(text.as_bytes())
    {
        return Reading::Json(json);
    }
    match text.contains('\n') {
        true => Reading::Lines(text.trim()),
        false => Reading::Quoted(text),
    }
}

impl Printer<'_> {
    /// Appends the form of a string, or of two strings if it changes.
    pub(super) fn push_text(
        &self,
        out: &mut String,
        node: &Node,
        before: Option<&Text>,
        after: Option<&Text>,
        depth: usize,
        options: Options,
    ) {
        let (shown, suffix) = match node.act {
            Act::Create | Act::NoOp => (after, String::new()),
            Act::Delete => (before, self.null_suffix(node.act, options)),
            Act::Update => {
                return out.push_str(&self.updated_text(node, before, after, depth, options));
            }
        };
        match read(shown) {
            Reading::Json(json) => {
                let before = (node.act != Act::Create).then_some(&json);
                let after = (node.act != Act::Delete).then_some(&json);
                out.push_str(&self.document(node, before, after, depth, options));
            }
            Reading::Lines(text) => {
                let lines = self.same_lines(text, depth, options);
                out.push_str(&self.heredoc(node, lines, depth, options));
            }
            other => {
                self.push_simple(out, &other);
                // `null -> null` would carry no information.
                if !matches!(other, Reading::Null) {
                    out.push_str(&suffix);
                }
                out.push_str(&self.forces(node.replace, options));
            }
        }
    }

    fn updated_text(
        &self,
        node: &Node,
        before: Option<&Text>,
        after: Option<&Text>,
        depth: usize,
        options: Options,
    ) -> String {
        let forces = self.forces(node.replace, options);
        match (read(before), read(after)) {
            (Reading::Json(before), Reading::Json(after)) => {
                self.document(node, Some(&before), Some(&after), depth, options)
            }
            (Reading::Json(_), _) | (_, Reading::Json(_)) => {
                let gone = Options { no_null: true, ..options };
                let mut text = String::new();
                self.push_text(&mut text, &bare(Act::Delete), before, None, depth, gone);
                [" ", &self.arrow(), " "].iter().for_each(|it| text.push_str(it));
                self.push_text(&mut text, &bare(Act::Create), None, after, depth, options);
                text
            }
            (
                old @ (Reading::Quoted(_) | Reading::Null),
                new @ (Reading::Quoted(_) | Reading::Null),
            ) => {
                if let Some(text) = self.moved_temporary(before, after) {
                    return format!("{text}{forces}");
                }
                let mut text = String::new();
                self.push_simple(&mut text, &old);
                [" ", &self.arrow(), " "].iter().for_each(|it| text.push_str(it));
                self.push_simple(&mut text, &new);
                text + &forces
            }
            _ => {
                let trimmed =
                    |it: Option<&Text>| it.map(|it| it.trim().to_owned()).unwrap_or_default();
                let lines = self.changed_lines(&trimmed(before), &trimmed(after), depth, options);
                self.heredoc(node, lines, depth, options)
            }
        }
    }

    fn push_simple(&self, out: &mut String, reading: &Reading<'_>) {
        match reading {
            Reading::Quoted(text) => values::push_go_quoted(out, text),
            _ => self.style.push(out, Paint::Dim, &["null"]),
        }
    }

    /// Renders a change between two strings that differ only in the id of a plan's temporary directory. `None` for
    /// other changes.
    fn moved_temporary(&self, before: Option<&Text>, after: Option<&Text>) -> Option<String> {
        let (before, after) = (before?, after?);
        let prefix = &*temporary_prefix(self.data_dir)?;
        let erased = |text: &str| without_temporary_plans(prefix, text);
        let note = self.style.paint(Paint::Dim, "# only the plan's temporary directory differs");
        let is_moved = after.contains(prefix) && erased(before) == erased(after);
        is_moved.then(|| {
            let shown = with_temporary_symbols(prefix, after);
            format!("{} {note}", values::go_quoted(&shown))
        })
    }

    fn same_lines(&self, text: &str, depth: usize, options: Options) -> Vec<String> {
        text.split('\n').map(|line| self.text_line(Act::NoOp, line, depth, options)).collect()
    }

    fn changed_lines(
        &self,
        before: &str,
        after: &str,
        depth: usize,
        options: Options,
    ) -> Vec<String> {
        let before: Vec<&str> = before.split('\n').collect();
        let after: Vec<&str> = after.split('\n').collect();
        let line = |pair: sequence::Pair| match (pair.before, pair.after) {
            (Some(i), Some(_)) => self.text_line(Act::NoOp, before[i], depth, options),
            (Some(i), None) => self.text_line(Act::Delete, before[i], depth, options),
            (None, Some(j)) => self.text_line(Act::Create, after[j], depth, options),
            (None, None) => String::new(),
        };
        sequence::lines(&before, &after).into_iter().map(line).collect()
    }

    fn text_line(&self, act: Act, line: &str, depth: usize, options: Options) -> String {
        format!("{}{}{}\n", indent(depth + 1), self.symbol(act, options), visible(line))
    }

    fn heredoc(&self, node: &Node, lines: Vec<String>, depth: usize, options: Options) -> String {
        let forces = self.forces(node.replace, options);
        let end = self.closing("EOT", node, depth, options);
        format!("<<-EOT{forces}\n{}{end}", lines.concat())
    }

    /// Renders a string that contains JSON as a call of `jsonencode`.
    fn document(
        &self,
        node: &Node,
        before: Option<&Value>,
        after: Option<&Value>,
        depth: usize,
        options: Options,
    ) -> String {
        let inner = dynamic::value(&Change::of_documents(before, after));
        let is_whitespace = inner.act == Act::NoOp && node.act == Act::Update;
        let note = match (is_whitespace, node.replace) {
            (true, true) => " # whitespace changes force replacement".to_owned(),
            (true, false) => " # whitespace changes".to_owned(),
            (false, _) => String::new(),
        };
        let forces = if is_whitespace { String::new() } else { self.forces(node.replace, options) };
        let inner_options = Options {
            no_null: true,
            forces: false,
            // If only whitespace changes, the document is shown as a whole; otherwise it would be empty.
            unchanged: options.unchanged || is_whitespace,
            ..options
        };
        let text = self.node(&inner, depth + 1, inner_options);
        if !text.contains('\n') {
            return format!("jsonencode({text}){note}{forces}");
        }
        // For a creation or deletion, the symbol is already in front of the call.
        let act = match node.act {
            Act::Update if !is_whitespace => Act::Update,
            _ => Act::NoOp,
        };
        let symbol = self.symbol(act, options);
        let end = self.closing(")", node, depth, options);
        format!("jsonencode({note}\n{}{symbol}{text}{forces}\n{end}", indent(depth + 1))
    }
}

/// The prefix of the temporary directories of plans, `PREFIX/ID/…`. `None` if the data directory is unknown.
fn temporary_prefix(data_dir: &str) -> Option<String> {
    (!data_dir.is_empty()).then(|| format!("{}/tmp/", data_dir.trim_end_matches('/')))
}

/// A node without content, which only carries its action.
fn bare(act: Act) -> Node {
    Node { act, replace: false, shape: super::Shape::WriteOnly }
}
