//! Edits that follow the layout of the surrounding text: indentation, aligned `=` and blank lines.

use syntax::{
    AstNode, SyntaxKind, SyntaxNode, TextRange, TextSize,
    ast::{self, HasItems},
};

use crate::{Cursor, Edit};

/// One level of indentation.
pub(super) const INDENT: &str = "  ";

/// The indentation of the line that contains a place.
pub(super) fn indentation(root: &SyntaxNode, at: TextSize) -> String {
    let before = root.text().slice(..at).to_string();
    let line = before.rsplit_once('\n').map_or(before.as_str(), |(_, line)| line);
    line[..line.len() - line.trim_start().len()].to_owned()
}

/// An argument to add to a block.
pub(super) struct NewArgument {
    pub(super) name: String,
    /// The text of the value.
    pub(super) value: String,
}

/// Adds arguments to a block after its leading arguments, aligned with them.
pub(super) fn add_arguments(
    tree: &Cursor<'_>,
    block: &ast::Block,
    arguments: &[NewArgument],
) -> Option<Vec<Edit>> {
    let lines = |indent: &str, column: usize| -> String {
        let lines = arguments.iter().map(|NewArgument { name, value }| {
            let pad = " ".repeat(column.saturating_sub(name.chars().count()));
            format!("\n{indent}{name}{pad} = {value}")
        });
        lines.collect()
    };
    let body = block.body()?;
    if is_one_line(block) {
        return Some(vec![in_one_line(tree, block, &lines)?]);
    }
    let longest = arguments.iter().map(|it| it.name.chars().count()).max()?;
    let items = body.body_items();
    let last = items.take_while(|it| matches!(it, ast::BodyItem::Attribute(_))).last();
    match last {
        Some(last) => {
            let attribute = ast::Attribute::cast(last.syntax().clone())?;
            let indent = indentation(&tree.root, last.syntax().text_range().start());
            let group = Group::of(&attribute);
            let width = group.width_with(longest);
            let text = lines(&indent, width);
            let mut edits = group.widen(tree, width);
            edits.push(insert(tree, line_end(&tree.root, last.syntax().text_range().end()), text));
            Some(edits)
        }
        None => {
            let brace = block.open_brace()?.text_range().end();
            let indent = indentation(&tree.root, block.syntax().text_range().start()) + INDENT;
            let blank = if body.body_items().next().is_some() { "\n" } else { "" };
            let text = lines(&indent, longest) + blank;
            Some(vec![insert(tree, line_end(&tree.root, brace), text)])
        }
    }
}

/// Adds a nested block at the end of a block.
pub(super) fn add_block(tree: &Cursor<'_>, block: &ast::Block, lines: &[String]) -> Option<Edit> {
    let outer = indentation(&tree.root, block.syntax().text_range().start());
    let text: String = lines.iter().map(|line| format!("\n{outer}{INDENT}{line}")).collect();
    if is_one_line(block) {
        return in_one_line(tree, block, &|_, _| text.clone());
    }
    let last = block.body()?.body_items().last();
    let (at, blank) = match last {
        Some(last) => (line_end(&tree.root, last.syntax().text_range().end()), "\n"),
        None => (line_end(&tree.root, block.open_brace()?.text_range().end()), ""),
    };
    Some(insert(tree, at, format!("{blank}{text}")))
}

/// Returns true if the braces of a block are on one line.
fn is_one_line(block: &ast::Block) -> bool {
    let (Some(open), Some(close)) = (block.open_brace(), block.close_brace()) else { return false };
    let range = TextRange::new(open.text_range().end(), close.text_range().start());
    let inside = block.syntax().text().slice(range - block.syntax().text_range().start());
    !inside.contains_char('\n')
}

/// Expands a one-line block over several lines and adds lines to it.
fn in_one_line(
    tree: &Cursor<'_>,
    block: &ast::Block,
    lines: &dyn Fn(&str, usize) -> String,
) -> Option<Edit> {
    let (open, close) = (block.open_brace()?.text_range(), block.close_brace()?.text_range());
    let outer = indentation(&tree.root, block.syntax().text_range().start());
    let indent = format!("{outer}{INDENT}");
    let inside = tree.root.text().slice(TextRange::new(open.end(), close.start())).to_string();
    let existing = match inside.trim() {
        "" => String::new(),
        inside => format!("\n{indent}{inside}"),
    };
    let text = format!("{existing}{}\n{outer}", lines(&indent, 0));
    let range = tree.file_range(TextRange::new(open.end(), close.start()));
    Some(Edit::replace(range, text))
}

/// Arguments on consecutive lines whose `=` are aligned.
struct Group {
    members: Vec<ast::Attribute>,
}

impl Group {
    /// The group that contains an argument.
    fn of(attribute: &ast::Attribute) -> Group {
        let mut members = vec![attribute.clone()];
        let mut first = attribute.clone();
        while let Some(before) = neighbour(first.syntax().prev_sibling(), &first) {
            members.push(before.clone());
            first = before;
        }
        let mut last = attribute.clone();
        while let Some(after) = neighbour(last.syntax().next_sibling(), &last) {
            members.push(after.clone());
            last = after;
        }
        let mut columns = members.iter().map(column);
        let first = columns.next();
        if columns.any(|it| Some(it) != first) {
            // The arguments are not aligned, so the edit must not align them.
            members = vec![attribute.clone()];
        }
        Group { members }
    }

    /// The width of the names in the group after an argument with a name of length `longest` joins it.
    fn width_with(&self, longest: usize) -> usize {
        let own = self.members.iter().filter_map(column);
        own.max().unwrap_or_default().max(longest)
    }

    /// Moves the `=` of all members to fit names of the given width.
    fn widen(&self, tree: &Cursor<'_>, width: usize) -> Vec<Edit> {
        let narrow = self.members.iter().filter(|it| column(it).is_some_and(|own| own < width));
        narrow.filter_map(|it| named(tree, it, it.name()?.as_str(), width)).collect()
    }
}

/// The sibling argument if it is on an adjacent line and both arguments take one line.
fn neighbour(sibling: Option<SyntaxNode>, of: &ast::Attribute) -> Option<ast::Attribute> {
    let sibling = ast::Attribute::cast(sibling?)?;
    let (a, b) = (sibling.syntax().text_range(), of.syntax().text_range());
    let between = TextRange::new(a.end().min(b.end()), a.start().max(b.start()));
    let parent = of.syntax().parent()?;
    let text = parent.text().slice(between - parent.text_range().start()).to_string();
    let is_next = text.matches('\n').count() == 1;
    let is_line = |it: &ast::Attribute| !it.syntax().text().contains_char('\n');
    (is_next && is_line(&sibling) && is_line(of)).then_some(sibling)
}

/// The column of an argument's `=`: the width of the padded name. `None` if no blank precedes the `=`.
fn column(attribute: &ast::Attribute) -> Option<usize> {
    let name = attribute.name_token()?.text_range();
    let before = attribute.syntax().text().slice(..equals(attribute)?.start() - name.start());
    before.to_string().chars().count().checked_sub(1)
}

fn equals(attribute: &ast::Attribute) -> Option<TextRange> {
    let mut tokens = attribute.syntax().children_with_tokens();
    tokens.find(|it| it.kind() == SyntaxKind::EQ).map(|it| it.text_range())
}

/// Replaces the name of an argument, padded to a width.
fn named(tree: &Cursor<'_>, attribute: &ast::Attribute, name: &str, width: usize) -> Option<Edit> {
    let start = attribute.name_token()?.text_range().start();
    let range = tree.file_range(TextRange::new(start, equals(attribute)?.start()));
    Some(Edit::replace(range, format!("{name:width$} ")))
}

/// Renames an argument and, if `further` is set, adds another argument after it. Both are aligned with their
/// group.
pub(super) fn rename_argument(
    tree: &Cursor<'_>,
    attribute: &ast::Attribute,
    name: &str,
    further: Option<NewArgument>,
) -> Option<Vec<Edit>> {
    let mut group = Group::of(attribute);
    let longest = further.as_ref().map_or(0, |it| it.name.chars().count());
    let longest = longest.max(name.chars().count());
    // The width of the old name no longer counts.
    let alone = group.members.len() == 1;
    let width = if alone { longest } else { group.width_with(longest) };
    let mut edits = vec![named(tree, attribute, name, width)?];
    group.members.retain(|it| it.syntax() != attribute.syntax());
    edits.extend(group.widen(tree, width));
    if let Some(NewArgument { name, value }) = further {
        let range = attribute.syntax().text_range();
        let indent = indentation(&tree.root, range.start());
        let text = format!("\n{indent}{name:width$} = {value}");
        edits.push(insert(tree, line_end(&tree.root, range.end()), text));
    }
    Some(edits)
}

/// Removes a node. If it is alone on its line, the line goes with it, including a trailing comment, and one of two
/// surrounding blank lines.
pub(super) fn remove(tree: &Cursor<'_>, node: &SyntaxNode) -> Edit {
    let range = node.text_range();
    let text = tree.root.text().to_string();
    let end = usize::from(line_end(&tree.root, range.end()));
    let before = text[..range.start().into()].trim_end_matches([' ', '\t']);
    let after = text[end..].trim_start_matches([' ', '\t']);
    let starts_line = before.is_empty() || before.ends_with('\n');
    let newline = ["\r\n", "\n"].into_iter().find(|it| after.starts_with(it));
    let place = |at: usize| TextSize::from(at as u32);
    let start = place(before.len());
    let range = match (starts_line, newline) {
        (true, _) if after.is_empty() || newline.is_some() => {
            let rest = text.len() - after.len() + newline.map_or(0, str::len);
            // The newline before a top-level block belongs to the previous block.
            let outer = if tree.start > 0 { "\n" } else { "" };
            let blank = blank_line_before(&format!("{outer}{before}"))
                .filter(|_| is_blank_next(&text[rest..]));
            TextRange::new(start - place(blank.unwrap_or_default()), place(rest))
        }
        // Text before the node on its line keeps its newline and its distance to the next line.
        _ => TextRange::new(start, range.end()),
    };
    Edit::replace(tree.file_range(range), "")
}

/// The length of the newline that forms the blank line at the end of a text. `None` if the text does not end with
/// a blank line.
fn blank_line_before(before: &str) -> Option<usize> {
    ["\r\n", "\n"].into_iter().find(|it| before.ends_with(&it.repeat(2))).map(str::len)
}

/// Returns true if the next line is blank, is missing, or closes the block.
fn is_blank_next(rest: &str) -> bool {
    let line = rest.split('\n').next().unwrap_or_default();
    line.trim().is_empty() || line.trim() == "}"
}

/// Inserts a top-level block after another one.
pub(crate) fn after_block(tree: &Cursor<'_>, block: &SyntaxNode, text: &str) -> Edit {
    let at = line_end(&tree.root, block.text_range().end());
    let rest = following(tree, at);
    let gap = if is_blank_next(rest.strip_prefix('\n').unwrap_or(&rest)) { "" } else { "\n" };
    insert(tree, at, format!("\n\n{text}{gap}"))
}

/// The next two lines of text after a place in a block. They may belong to the next block.
fn following(tree: &Cursor<'_>, at: TextSize) -> String {
    let own = tree.root.text().slice(at..).to_string();
    let document = tree.document;
    let mut next = document.blocks().skip_while(|(block, _)| *block != tree.block).skip(1);
    let next = next.next().map(|(block, _)| block.text(document.db).to_string());
    (own + &next.unwrap_or_default()).replace('\r', "").split_inclusive('\n').take(2).collect()
}

/// Inserts a top-level block before another one and its leading comments.
pub(super) fn before_block(tree: &Cursor<'_>, block: &SyntaxNode, text: &str) -> Edit {
    let mut start = block.text_range().start();
    let mut newlines = 0;
    let before = std::iter::successors(
        block.first_token().and_then(|it| it.prev_token()),
        syntax::SyntaxToken::prev_token,
    );
    for token in before {
        newlines += token.text().matches('\n').count();
        match token.kind() {
            SyntaxKind::COMMENT => (start, newlines) = (token.text_range().start(), 0),
            SyntaxKind::NEWLINE | SyntaxKind::WHITESPACE if newlines < 2 => {}
            _ => break,
        }
    }
    insert(tree, start, format!("{text}\n\n"))
}

/// The end of the line after a place, before its newline. If anything but a comment follows on the line, the place
/// itself.
fn line_end(root: &SyntaxNode, at: TextSize) -> TextSize {
    let after = root.text().slice(at..).to_string();
    let line = after.split('\n').next().unwrap_or_default().trim_end_matches('\r');
    let rest = line.trim_start();
    match rest.starts_with('#') || rest.starts_with("//") {
        true => at + TextSize::of(line),
        false => at,
    }
}

pub(super) fn insert(tree: &Cursor<'_>, at: TextSize, text: impl Into<String>) -> Edit {
    Edit::replace(tree.file_range(TextRange::empty(at)), text)
}

/// The text of an expression that replaces another one, in parentheses where precedence or a newline would
/// otherwise change its meaning.
pub(super) fn in_place_of(place: &SyntaxNode, expr: &ast::Expr) -> String {
    let text = expr.syntax().text().to_string();
    let parent = place.parent().map(|it| it.kind());
    let is_whole = matches!(
        expr,
        ast::Expr::Reference(_)
            | ast::Expr::Traversal(_)
            | ast::Expr::Call(_)
            | ast::Expr::Paren(_)
    ) || matches!(
        expr,
        ast::Expr::Literal(_)
            | ast::Expr::Tuple(_)
            | ast::Expr::Object(_)
            | ast::Expr::QuotedTemplate(_)
    ) && parent != Some(SyntaxKind::TRAVERSAL);
    let stands_alone = !matches!(
        parent,
        Some(
            SyntaxKind::TRAVERSAL
                | SyntaxKind::BINARY
                | SyntaxKind::UNARY
                | SyntaxKind::CONDITIONAL
        )
    );
    // Outside of brackets, a newline ends an expression.
    let is_open =
        matches!(expr, ast::Expr::Binary(_) | ast::Expr::Conditional(_) | ast::Expr::Unary(_));
    match is_whole || stands_alone && !(is_open && text.contains('\n')) {
        true => text,
        false => format!("({text})"),
    }
}
