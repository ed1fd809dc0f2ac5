//! Parses templates: strings, heredocs, and the sequences in them.

use rowan::TextRange;

use super::expr::expr;
use super::forms::for_names;
use crate::error::SyntaxError;
use crate::parser::{CompletedMarker, Parser, TokenSet};
use crate::syntax_kind::SyntaxKind::{self, *};

/// Parses `"…"`.
pub(super) fn quoted(p: &mut Parser<'_>) -> CompletedMarker {
    let quoted = p.start();
    p.in_brackets(|p| {
        p.bump();
        parts(p, CLOSE_QUOTE);
    });
    quoted.complete(p, QUOTED_TEMPLATE)
}

/// Parses `<<EOT … EOT`.
pub(super) fn heredoc(p: &mut Parser<'_>) -> CompletedMarker {
    let heredoc = p.start();
    p.in_brackets(|p| {
        p.bump();
        parts(p, HEREDOC_CLOSE);
    });
    heredoc.complete(p, HEREDOC)
}

/// Parses literals and sequences up to and including `end`.
pub(super) fn parts(p: &mut Parser<'_>, end: SyntaxKind) {
    let first = p.nth_range(0);
    let failures = p.failures();
    let mut pairing = Pairing::default();
    let mut last = None;
    loop {
        // After the newline that ends a string too early, no token belongs to the string, not even a quote.
        let cut = end == CLOSE_QUOTE && p.newline_before_nth(0);
        match p.nth(0) {
            _ if cut => return split_string(p, last),
            QUOTED_LIT | STRING_LIT => p.bump(),
            INTERP_OPEN => {
                last = Some(Opener { pos: p.pos(), range: p.nth_range(0) });
                if !sequence(p, |p| interpolation(p, end, first)).1 {
                    return;
                }
            }
            DIRECTIVE_OPEN => {
                let start = p.nth_range(0);
                let (kind, closed) = sequence(p, directive);
                if !closed {
                    return;
                }
                pairing.take(kind, start.cover(p.previous_range()));
            }
            kind if kind == end => break,
            _ => {
                return p.error_at(
                    p.nth_range(0),
                    "Unterminated template string",
                    "No closing marker was found for the string.",
                );
            }
        }
    }
    // As HCL does: errors inside the sequences come before errors in how directives pair.
    if p.failures() == failures {
        pairing.finish(p.nth_range(0));
        pairing.errors.into_iter().for_each(|error| p.error_with_place(error));
    }
    if end != EOF {
        p.bump();
    }
}

pub(super) const MULTI_LINE: &str = "Quoted strings may not be split over multiple lines. To \
                                     produce a multi-line string, either use the \\n escape to \
                                     represent a newline character or use the \"heredoc\" multi-line template syntax.";

/// The token that opens an interpolation.
struct Opener {
    /// The position among the tokens.
    pos: usize,
    range: TextRange,
}

/// Reports a newline in a quoted string. If the last sequence spans a line's end, it most likely took a closing
/// brace that belongs elsewhere, so the error is reported where the sequence begins.
fn split_string(p: &mut Parser<'_>, last_sequence: Option<Opener>) {
    const SPLIT: &str = "Invalid multi-line string";
    match last_sequence.filter(|it| p.has_newline_since(it.pos)) {
        Some(opener) => p.error_at(opener.range, SPLIT, UNCLOSED_ON_LINE),
        None => p.error_at(p.newline_run(), SPLIT, MULTI_LINE),
    }
}

const UNCLOSED_ON_LINE: &str = "There is no closing brace or quote for the interpolation that \
                                begins here: the brace that ends it is on a later line, and no \
                                quote follows. Close both, as in \"${…}\".";

/// Parses a sequence, in which newlines have no meaning. Returns its kind, and true if it was closed, so that the
/// template continues.
fn sequence(
    p: &mut Parser<'_>,
    read: impl FnOnce(&mut Parser<'_>) -> SyntaxKind,
) -> (SyntaxKind, bool) {
    let sequence = p.start();
    p.with_newlines(false, |p| {
        p.bump();
        if p.is_deep() {
            p.nesting_error();
            p.skip_to(TokenSet::EMPTY);
            let closed = p.eat(SEQ_END);
            sequence.complete(p, ERROR);
            return (ERROR, closed);
        }
        let kind = read(p);
        let closed = p.eat(SEQ_END);
        sequence.complete(p, kind);
        (kind, closed)
    })
}

fn interpolation(p: &mut Parser<'_>, end: SyntaxKind, first: TextRange) -> SyntaxKind {
    let failures = p.failures();
    let opener = p.previous_range();
    expr(p);
    if p.failures() == failures && !p.at(SEQ_END) {
        unclosed_interpolation(p, end, first, opener);
    }
    if p.failures() > failures {
        p.skip_to(TokenSet::new(&[CLOSE_QUOTE, HEREDOC_CLOSE]));
    }
    INTERPOLATION
}

fn unclosed_interpolation(
    p: &mut Parser<'_>,
    end: SyntaxKind,
    first: TextRange,
    opener: TextRange,
) {
    const UNCLOSED: &str = "Unclosed template interpolation sequence";
    const EXTRA: &str = "Extra characters after interpolation expression";
    match p.current() {
        EOF => p.error_at(
            first,
            UNCLOSED,
            "There is no closing brace for this interpolation sequence before the end of the file. \
             This might be caused by incorrect nesting inside the given expression.",
        ),
        // The next line is an argument of the body, so the closing brace is missing before it.
        _ if end == CLOSE_QUOTE && p.at_body_item_line() => {
            p.error_at(opener, EXTRA, UNCLOSED_ON_LINE);
        }
        COLON => p.error(
            EXTRA,
            "Template interpolation doesn't expect a colon at this location. Did you intend this \
             to be a literal sequence to be processed as part of another language? If so, you can \
             escape it by starting with \"$${\" instead of just \"${\".",
        ),
        OPEN_QUOTE | CLOSE_QUOTE if end == CLOSE_QUOTE => p.error_at(
            first,
            UNCLOSED,
            "There is no closing brace for this interpolation sequence before the end of the \
             quoted template. This might be caused by incorrect nesting inside the given expression.",
        ),
        _ => p.error(
            EXTRA,
            "Expected a closing brace to end the interpolation expression, but found extra \
             characters.\n\nThis can happen when you include interpolation syntax for another \
             language, such as shell scripting, but forget to escape the interpolation start \
             token. If this is an embedded sequence for another language, escape it by starting \
             with \"$${\" instead of just \"${\".",
        ),
    }
}

/// A kind of directive.
struct Directive {
    /// The word that it begins with.
    word: &'static str,
    /// The token of the word.
    keyword: SyntaxKind,
    node: SyntaxKind,
}

const DIRECTIVES: &[Directive] = &[
    Directive { word: "if", keyword: IF_KW, node: TEMPLATE_IF },
    Directive { word: "for", keyword: FOR_KW, node: TEMPLATE_FOR },
    Directive { word: "else", keyword: ELSE_KW, node: TEMPLATE_ELSE },
    Directive { word: "endif", keyword: ENDIF_KW, node: TEMPLATE_END_IF },
    Directive { word: "endfor", keyword: ENDFOR_KW, node: TEMPLATE_END_FOR },
];

fn directive(p: &mut Parser<'_>) -> SyntaxKind {
    let failures = p.failures();
    let kind = directive_inside(p);
    if p.failures() == failures && !p.at(SEQ_END) {
        extra_in_directive(p, kind);
    }
    if p.failures() > failures {
        p.skip_to(TokenSet::new(&[CLOSE_QUOTE, HEREDOC_CLOSE]));
    }
    kind
}

fn directive_inside(p: &mut Parser<'_>) -> SyntaxKind {
    if !p.at_name() {
        p.error(
            "Invalid template directive",
            "A template directive keyword (\"if\", \"for\", etc) is expected at the beginning of a %{ sequence.",
        );
        return ERROR;
    }
    let word = p.current();
    let Some(&Directive { keyword, node, .. }) = DIRECTIVES.iter().find(|it| it.keyword == word)
    else {
        unknown_directive(p);
        return ERROR;
    };
    p.bump_as(keyword);
    match node {
        TEMPLATE_IF => {
            expr(p);
        }
        TEMPLATE_FOR => for_directive(p),
        _ => {}
    }
    node
}

fn for_directive(p: &mut Parser<'_>) {
    const FOR: &str = "Invalid 'for' directive";
    if !for_names(
        p,
        FOR,
        "For directive requires variable name after 'for'.",
        "For directive requires value variable name after comma.",
    ) {
        return;
    }
    if !p.at(IN_KW) {
        p.error(FOR, "For directive requires 'in' keyword after names.");
        return;
    }
    p.bump_as(IN_KW);
    expr(p);
}

fn unknown_directive(p: &mut Parser<'_>) {
    let word = p.text();
    // HCL suggests the first keyword that is similar enough.
    let near = DIRECTIVES
        .iter()
        .find(|it| crate::levenshtein::distance_within(word, it.word, 2).is_some());
    let hint = near.map(|it| format!(" Did you mean \"{}\"?", it.word)).unwrap_or_default();
    let detail = format!("{word:?} is not a valid template control keyword.{hint}");
    p.error("Invalid template control keyword", detail);
}

fn extra_in_directive(p: &mut Parser<'_>, kind: SyntaxKind) {
    let keyword = DIRECTIVES.iter().find(|it| it.node == kind).map_or("template", |it| it.word);
    p.error(
        format!("Extra characters in {keyword} marker"),
        "Expected a closing brace to end the sequence, but found extra characters.",
    );
}

/// The open directives. The tree holds directives as a flat list, so a directive without an end does not affect
/// the structure of the rest.
#[derive(Default)]
struct Pairing {
    open: Vec<OpenDirective>,
    errors: Vec<SyntaxError>,
}

struct OpenDirective {
    keyword: &'static str,
    range: TextRange,
    has_else: bool,
}

impl Pairing {
    fn take(&mut self, kind: SyntaxKind, range: TextRange) {
        match kind {
            TEMPLATE_IF => self.open.push(OpenDirective { keyword: "if", range, has_else: false }),
            TEMPLATE_FOR => {
                self.open.push(OpenDirective { keyword: "for", range, has_else: false })
            }
            TEMPLATE_ELSE => self.take_else(range),
            TEMPLATE_END_IF => self.take_end("if", "endif", range),
            TEMPLATE_END_FOR => self.take_end("for", "endfor", range),
            _ => {}
        }
    }

    fn take_else(&mut self, range: TextRange) {
        const SUMMARY: &str = "Unexpected else directive";
        let error = match self.open.last_mut() {
            None => SyntaxError::new(SUMMARY, UNBALANCED, range),
            Some(open) if open.keyword == "for" => SyntaxError::new(
                SUMMARY,
                "An else clause is not expected for a for directive.",
                range,
            ),
            Some(open) if open.has_else => {
                let before = "Already in the else clause for the if started at ";
                SyntaxError::with_place(SUMMARY, before, ".", range, open.range)
            }
            Some(open) => {
                open.has_else = true;
                return;
            }
        };
        self.errors.push(error);
    }

    fn take_end(&mut self, keyword: &str, end: &str, range: TextRange) {
        let summary = format!("Unexpected {end} directive");
        let error = match self.open.last() {
            None => SyntaxError::new(summary, UNBALANCED, range),
            Some(open) if open.keyword == keyword => {
                self.open.pop();
                return;
            }
            Some(open) => {
                let before = match open.keyword {
                    "if" => "Expecting an endif directive for the if started at ",
                    _ => "Expecting an endfor directive corresponding to the for directive at ",
                };
                SyntaxError::with_place(summary, before, ".", range, open.range)
            }
        };
        self.errors.push(error);
    }

    /// Reports the innermost directive that is open at the end of the template, unless there is another error,
    /// which then explains it.
    fn finish(&mut self, end: TextRange) {
        let Some(open) = self.open.last().filter(|_| self.errors.is_empty()) else { return };
        let before = format!("The {} directive at ", open.keyword);
        let after = format!(" is missing its corresponding end{} directive.", open.keyword);
        self.errors.push(SyntaxError::with_place(
            "Unexpected end of template",
            &before,
            &after,
            end,
            open.range,
        ));
    }
}

const UNBALANCED: &str = "The control directives within this template are unbalanced.";
