// The tokens outside templates, for `logos`. `cargo xtask codegen` generates the lexer from them
// (`crates/syntax/src/lexer/main/generated.rs`).

/// A token of main mode; [`MainToken::kind`] returns its kind in the tree.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::lexer) enum MainToken {
    #[regex(r"[ \t]+")]
    Whitespace,
    #[regex(r"\r?\n")]
    Newline,
    #[regex(r"(#|//)[^\n]*", allow_greedy = true)]
    LineComment,
    #[token("/*")]
    BlockComment,
    // HCL's own tables are those of Unicode 9. These are newer and so accept more.
    #[regex(r"[\p{ID_Start}_][\p{ID_Continue}\-]*")]
    Ident,
    // Accepts more than numbers, as HCL does: `1..2` and `1e5e5` are one token, which the validation refuses.
    #[regex(r"[0-9](\.*([0-9]|[eE][+\-]?[0-9]))*")]
    Number,
    #[token("\"")]
    Quote,
    // The newline must follow the marker directly.
    #[regex(r"<<-?[\p{ID_Start}_][\p{ID_Continue}\-]*\r?\n")]
    Heredoc,
    #[token("~}")]
    StripEnd,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token("[")]
    LBrack,
    #[token("]")]
    RBrack,
    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token(".")]
    Dot,
    #[token(",")]
    Comma,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("=")]
    Eq,
    #[token("<")]
    Lt,
    #[token(">")]
    Gt,
    #[token("!")]
    Bang,
    #[token("?")]
    Question,
    #[token(":")]
    Colon,
    #[token("==")]
    Eq2,
    #[token("!=")]
    Neq,
    #[token("<=")]
    LtEq,
    #[token(">=")]
    GtEq,
    #[token("&&")]
    Amp2,
    #[token("||")]
    Pipe2,
    #[token("::")]
    Colon2,
    #[token("...")]
    Dot3,
    #[token("=>")]
    FatArrow,
}
