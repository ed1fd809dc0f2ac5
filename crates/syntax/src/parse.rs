//! The entry points of the parser. Each takes a text and returns a tree with its errors.

use std::marker::PhantomData;
use std::sync::Arc;

use rowan::GreenNode;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{AstNode, Attribute, ExprFile, SourceFile, TemplateFile};
use crate::chunk;
use crate::error::SyntaxError;
use crate::green::GreenCache;
use crate::lexer::{self, Mode, Tokens};
use crate::parser::{Event, LocatedError, Parser, SpareBuffers};
use crate::{SyntaxKind, SyntaxNode, grammar, lexical, sink};

/// A tree and the errors of its text. It is cheap to clone and can be sent between threads.
#[derive(Debug)]
pub struct Parse<T> {
    green: GreenNode,
    errors: Arc<[SyntaxError]>,
    marker: PhantomData<fn() -> T>,
}

impl<T> Clone for Parse<T> {
    fn clone(&self) -> Self {
        Self { green: self.green.clone(), errors: Arc::clone(&self.errors), marker: PhantomData }
    }
}

impl<T> PartialEq for Parse<T> {
    fn eq(&self, other: &Self) -> bool {
        self.green == other.green && self.errors == other.errors
    }
}

impl<T> Eq for Parse<T> {}

impl<T> Parse<T> {
    pub(crate) fn new(green: GreenNode, errors: Vec<SyntaxError>) -> Self {
        Self { green, errors: errors.into(), marker: PhantomData }
    }

    /// Returns the root of the tree.
    pub fn syntax(&self) -> SyntaxNode {
        SyntaxNode::new_root(self.green.clone())
    }

    /// Returns the errors, in the order in which reading the text finds them. Ranges are relative to the parsed
    /// text.
    pub fn errors(&self) -> &[SyntaxError] {
        &self.errors
    }

    /// Returns the tree without positions, which can be shared and compared.
    pub fn green(&self) -> &GreenNode {
        &self.green
    }
}

impl<T: AstNode> Parse<T> {
    /// Returns the typed root.
    pub fn tree(&self) -> T {
        T::cast(self.syntax()).expect("each entry point makes the root that its type promises")
    }
}

/// Parses a file: concatenates its chunks and adds the errors for attributes that are set in two different chunks.
pub fn parse_file(text: &str) -> Parse<SourceFile> {
    let lexed = lexer::lex(text, Mode::File);
    let tokens = lexed.as_tokens(text);
    let cut = chunk::cut(tokens);
    if !cut.unclosed.contains(&true) {
        // A correct text has the same tree when it is parsed as a whole.
        let mut cache = GreenCache::for_text(text.len());
        let (green, errors) = parse_tokens(tokens, true, grammar::source_file, &mut cache);
        if errors.is_empty() {
            return Parse::new(green, errors);
        }
    }
    let ends = cut.tokens.iter().skip(1).copied().chain([tokens.len()]);
    let mut cache = GreenCache::for_text(text.len());
    let (mut children, mut errors) = (Vec::new(), Vec::new());
    for ((start, end), unclosed) in cut.tokens.iter().zip(ends).zip(&cut.unclosed) {
        let run = tokens.run(*start..end);
        let (green, found) = match unclosed {
            true => parse_chunk_with(run.text, &mut cache),
            false => parse_tokens(run, true, grammar::source_file, &mut cache),
        };
        errors.extend(
            found
                .iter()
                .map(|error| ChunkError { chunk: run.base, error: error.shifted(run.base.into()) }),
        );
        children.extend(green.children().map(|child| child.to_owned()));
    }
    let green = GreenNode::new(SyntaxKind::SOURCE_FILE.into(), children);
    for error in redefined_in_file(&SyntaxNode::new_root(green.clone()), &errors) {
        let at = cut.starts.partition_point(|start| *start <= error.range.start().into());
        errors.push(ChunkError { chunk: cut.starts[at.saturating_sub(1)], error });
    }
    errors.sort_by_key(|it| it.chunk);
    Parse::new(green, errors.into_iter().map(|it| it.error).collect())
}

/// An error within a file.
struct ChunkError {
    /// The start of the chunk to which the error belongs.
    chunk: u32,
    error: SyntaxError,
}

/// Returns the errors for attributes that are set in two chunks. A chunk reports only those within it.
fn redefined_in_file(root: &SyntaxNode, known: &[ChunkError]) -> Vec<SyntaxError> {
    let known = known.iter().map(|it| &it.error).filter(|error| error.related.is_some());
    let known: FxHashSet<_> = known.map(|error| error.range).collect();
    let mut first_of = FxHashMap::default();
    let mut errors = Vec::new();
    let names = root.children().filter_map(Attribute::cast).filter_map(|it| it.name_token());
    for name in names {
        let range = name.text_range();
        let first = *first_of.entry(name.text().to_owned()).or_insert(range);
        if first != range && !known.contains(&range) {
            errors.push(SyntaxError::attribute_redefined(name.text(), range, first));
        }
    }
    errors
}

/// Parses a chunk that [`crate::split`] returned, or any text as one chunk.
pub fn parse_chunk(text: &str) -> Parse<SourceFile> {
    let (green, errors) = parse_chunk_with(text, &mut GreenCache::for_text(text.len()));
    Parse::new(green, errors)
}

fn parse_chunk_with(text: &str, cache: &mut GreenCache) -> (GreenNode, Vec<SyntaxError>) {
    let lexed = lexer::lex(text, Mode::File);
    parse_tokens(lexed.as_tokens(text), true, grammar::source_file, cache)
}

/// Parses one expression, which may span several lines.
pub fn parse_expression(text: &str) -> Parse<ExprFile> {
    parse_with(text, Mode::Expression, grammar::expression_file)
}

/// Parses a name with steps, as in a string of the JSON syntax.
pub fn parse_traversal(text: &str) -> Parse<ExprFile> {
    parse_with(text, Mode::Expression, grammar::traversal_file)
}

/// Parses a template without quotes: a template file, or a string of the JSON syntax.
pub fn parse_template(text: &str) -> Parse<TemplateFile> {
    parse_with(text, Mode::Template, grammar::template_file)
}

fn parse_with<T>(text: &str, mode: Mode, root: fn(&mut Parser<'_>)) -> Parse<T> {
    let lexed = lexer::lex(text, mode);
    let (green, errors) =
        parse_tokens(lexed.as_tokens(text), false, root, &mut GreenCache::for_text(text.len()));
    Parse::new(green, errors)
}

/// Returns the tree of a run of tokens, and its errors in order.
pub(crate) fn parse_tokens(
    tokens: Tokens<'_>,
    newlines: bool,
    root: fn(&mut Parser<'_>),
    cache: &mut GreenCache,
) -> (GreenNode, Vec<SyntaxError>) {
    let (events, errors) = parse_events(tokens, newlines, root, &mut SpareBuffers::default());
    (sink::build(tokens, events, cache), errors)
}

/// Returns the events that build the tree of a run of tokens, and the errors in order.
pub(crate) fn parse_events(
    tokens: Tokens<'_>,
    newlines: bool,
    root: fn(&mut Parser<'_>),
    spare: &mut SpareBuffers,
) -> (Vec<Event>, Vec<SyntaxError>) {
    let (events, mut found) = Parser::run(tokens, newlines, root, spare);
    let of_tokens = lexical::errors(tokens).into_iter();
    found.extend(of_tokens.map(|error| LocatedError { at: error.range.start(), error }));
    found.sort_by_key(|found| found.at);
    (events, found.into_iter().map(|found| found.error).collect())
}
