//! Layout of a compared value as lines.

pub(crate) mod block;
pub(crate) mod collection;
pub(crate) mod text;

use std::{borrow::Cow, fmt::Write as _};

use values::{MarkKind, Str};

use crate::{
    diff::{Act, Node, Scalar, Secret, Shape},
    style::{Paint, Style, code, constant, in_color},
};

/// Options for the layout of a node and its parts.
#[derive(Clone, Copy, Default)]
pub(super) struct Options {
    /// True if unchanged parts are shown too.
    pub(super) unchanged: bool,
    /// True if no part gets a symbol, because nothing changes.
    pub(super) no_symbols: bool,
    /// True if an outer part already shows `-> null`.
    pub(super) no_null: bool,
    /// True if an outer part forces replacement and this part has to show it.
    pub(super) forces: bool,
}

/// The name of a node, padded so that the values of its siblings are below each other.
#[derive(Clone, Copy)]
pub(super) struct Name<'n> {
    pub(super) text: &'n str,
    /// The columns of the longest name of a sibling.
    pub(super) width: usize,
}

/// Writes nodes in a style.
pub(super) struct Printer<'a> {
    pub(super) style: &'a Style,
    /// The data directory of the plan to which the values belong; empty if it is not known.
    pub(super) data_dir: &'a str,
}

impl Printer<'_> {
    /// Renders a node without its name. The first line starts at the caller's column; further lines are indented.
    pub(super) fn node(&self, node: &Node, depth: usize, options: Options) -> String {
        // The size of a small block, which most nodes are.
        let mut text = String::with_capacity(256);
        self.push_node(&mut text, node, depth, options);
        text
    }

    /// Appends what [`Printer::node`] returns.
    fn push_node(&self, text: &mut String, node: &Node, depth: usize, options: Options) {
        match &node.shape {
            Shape::Plain { before, after } => self.push_plain(text, node, before, after, options),
            Shape::Block { attributes, groups } => {
                self.push_block(text, node, attributes, groups, depth, options);
            }
            Shape::Text { before, after } => {
                self.push_text(text, node, before.as_ref(), after.as_ref(), depth, options);
            }
            Shape::Unknown(before) => {
                self.push_unknown(text, node, before.as_deref(), depth, options);
            }
            _ => text.push_str(&self.other_node(node, depth, options)),
        }
    }

    /// Renders a node that [`Printer::push_node`] does not append part by part.
    fn other_node(&self, node: &Node, depth: usize, options: Options) -> String {
        match &node.shape {
            Shape::Plain { .. } | Shape::Text { .. } | Shape::Unknown(_) | Shape::Block { .. } => {
                self.node(node, depth, options)
            }
            Shape::Secret(secret) => {
                let label = match secret.kind {
                    MarkKind::Ephemeral => "(ephemeral value)",
                    _ => "(sensitive value)",
                };
                self.with_suffixes(label, node, options)
            }
            Shape::WriteOnly => self.with_suffixes("(write-only attribute)", node, options),
            Shape::TypeChange(before, after) => {
                let before = self.node(before, depth, Options { no_null: true, ..options });
                let after = self.node(after, depth, options);
                format!("{before} {} {after}", self.arrow())
            }
            Shape::Object { attributes, from_schema } => {
                self.object(node, attributes, *from_schema, depth, options)
            }
            Shape::Map { elements, from_schema } => {
                self.map(node, elements, *from_schema, depth, options)
            }
            Shape::List { elements, from_schema } => {
                self.list(node, elements, *from_schema, depth, options)
            }
            Shape::Set { elements, from_schema } => {
                self.set(node, elements, *from_schema, depth, options)
            }
            Shape::SecretBlock(_) => self.secret_block(node, depth, options),
            Shape::UnknownBlocks => {
                format!("(known after apply){}", self.forces(node.replace, options))
            }
        }
    }

    /// Appends a named node on its own lines, with its symbol and its warnings.
    pub(super) fn push_line(
        &self,
        text: &mut String,
        name: Name<'_>,
        node: &Node,
        depth: usize,
        options: Options,
    ) {
        text.push_str(&self.warnings(node, depth));
        text.push_str(&indent(depth));
        text.push_str(self.symbol(node.act, options));
        text.push_str(name.text);
        text.push_str(&spaces(name.width.saturating_sub(name.text.chars().count())));
        text.push_str(" = ");
        self.push_node(text, node, depth, options);
        text.push('\n');
    }

    fn push_plain(
        &self,
        text: &mut String,
        node: &Node,
        before: &Scalar,
        after: &Scalar,
        options: Options,
    ) {
        match node.act {
            Act::Create => self.push_scalar(text, after),
            Act::Delete => {
                self.push_scalar(text, before);
                text.push_str(&self.null_suffix(node.act, options));
            }
            Act::NoOp => self.push_scalar(text, before),
            Act::Update => {
                self.push_scalar(text, before);
                let _ = write!(text, " {} ", self.arrow());
                self.push_scalar(text, after);
            }
        }
        text.push_str(&self.forces(node.replace, options));
    }

    fn push_scalar(&self, text: &mut String, scalar: &Scalar) {
        match scalar {
            Some(scalar) => text.push_str(scalar),
            None => text.push_str(&self.style.paint(Paint::Dim, "null")),
        }
    }

    fn push_unknown(
        &self,
        text: &mut String,
        node: &Node,
        before: Option<&Node>,
        depth: usize,
        options: Options,
    ) {
        if node.act != Act::Create {
            match before {
                Some(before) => {
                    let options = Options { no_null: true, ..options };
                    self.push_node(text, before, depth, options);
                }
                None => self.style.push(text, Paint::Dim, &["null"]),
            }
            [" ", &self.arrow(), " "].iter().for_each(|it| text.push_str(it));
        }
        text.push_str("(known after apply)");
        text.push_str(&self.forces(node.replace, options));
    }

    fn with_suffixes(&self, label: &str, node: &Node, options: Options) -> String {
        format!(
            "{label}{}{}",
            self.null_suffix(node.act, options),
            self.forces(node.replace, options)
        )
    }

    /// Renders a block that is secret as a whole.
    fn secret_block(&self, node: &Node, depth: usize, options: Options) -> String {
        let pad = format!("{}{}", indent(depth), self.symbol(Act::NoOp, options));
        let forces = self.forces(node.replace, options);
        format!(
            "{{{forces}\n{pad}  # At least one attribute in this block is (or was) \
             sensitive,\n{pad}  # so its contents will not be displayed.\n{pad}}}"
        )
    }

    fn arrow(&self) -> String {
        self.style.paint(Paint::Yellow, "->")
    }

    fn null_suffix(&self, act: Act, options: Options) -> String {
        match act == Act::Delete && !options.no_null {
            true => self.style.paint(Paint::Dim, " -> null"),
            false => String::new(),
        }
    }

    fn forces(&self, replace: bool, options: Options) -> String {
        match replace || options.forces {
            true => self.style.paint(Paint::Red, " # forces replacement"),
            false => String::new(),
        }
    }

    fn symbol(&self, act: Act, options: Options) -> &'static str {
        match act {
            _ if options.no_symbols => "",
            Act::NoOp => "    ",
            Act::Create => constant!(self.style, "  ", "+" in Green, " "),
            Act::Delete => constant!(self.style, "  ", "-" in Red, " "),
            Act::Update => constant!(self.style, "  ", "~" in Yellow, " "),
        }
    }

    /// The warning lines above a part whose secrecy changes. Empty if it does not change.
    fn warnings(&self, node: &Node, depth: usize) -> String {
        let (secret, what) = match &node.shape {
            Shape::Secret(it) => (it, "attribute value"),
            Shape::SecretBlock(it) => (it, "block"),
            _ => return String::new(),
        };
        if secret.before == secret.after || matches!(node.act, Act::Create | Act::Delete) {
            return String::new();
        }
        let pad = indent(depth);
        let warning = self.style.paint(Paint::Yellow, "Warning");
        let unchanged = if secret.is_same && what == "attribute value" {
            " The value is unchanged."
        } else {
            ""
        };
        match secret.before {
            true => format!(
                "{pad}  # {warning}: this {what} will no longer be marked as sensitive\n{pad}  # \
                 after applying this change.{unchanged}\n"
            ),
            false => format!(
                "{pad}  # {warning}: this {what} will be marked as sensitive and will not\n{pad}  \
                 # display in UI output after applying this change.{unchanged}\n"
            ),
        }
    }

    /// The line `# (2 unchanged attributes hidden)`. Empty if nothing is hidden.
    fn hidden(&self, n: usize, noun: &str, depth: usize, options: Options) -> String {
        if n == 0 {
            return String::new();
        }
        let plural = if n == 1 { "" } else { "s" };
        let text =
            self.style.paint(Paint::Dim, &format!("# ({n} unchanged {noun}{plural} hidden)"));
        format!("{}{}{text}\n", indent(depth), self.symbol(Act::NoOp, options))
    }
}

/// The indentation: four columns per level. The symbol takes four more.
fn indent(depth: usize) -> Cow<'static, str> {
    spaces(depth * 4)
}

fn spaces(columns: usize) -> Cow<'static, str> {
    const SPACES: &str = "                                                                ";
    match SPACES.get(..columns) {
        Some(spaces) => spaces.into(),
        None => " ".repeat(columns).into(),
    }
}

/// The name as a configuration would write it: quoted unless it is an identifier.
pub(super) fn name_of(key: &Str) -> Cow<'_, str> {
    match addr::is_identifier(key) {
        true => Cow::Borrowed(key),
        false => Cow::Owned(values::go_quoted(key)),
    }
}

pub(super) fn widest(names: &[Cow<'_, str>]) -> usize {
    names.iter().map(|it| it.chars().count()).max().unwrap_or(0)
}
