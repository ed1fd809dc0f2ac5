//! The tokens outside templates.

use logos::Logos;

use crate::syntax_kind::SyntaxKind;

/// A token of main mode; [`MainToken::kind`] returns its kind in the tree.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MainToken {
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

impl MainToken {
    pub(super) fn kind(self) -> SyntaxKind {
        match self {
            Self::Whitespace => SyntaxKind::WHITESPACE,
            Self::Newline => SyntaxKind::NEWLINE,
            Self::LineComment | Self::BlockComment => SyntaxKind::COMMENT,
            Self::Ident => SyntaxKind::IDENT,
            Self::Number => SyntaxKind::NUMBER,
            Self::Quote => SyntaxKind::OPEN_QUOTE,
            Self::Heredoc => SyntaxKind::HEREDOC_OPEN,
            Self::StripEnd => SyntaxKind::SEQ_END,
            Self::LBrace => SyntaxKind::L_BRACE,
            Self::RBrace => SyntaxKind::R_BRACE,
            Self::LBrack => SyntaxKind::L_BRACK,
            Self::RBrack => SyntaxKind::R_BRACK,
            Self::LParen => SyntaxKind::L_PAREN,
            Self::RParen => SyntaxKind::R_PAREN,
            Self::Dot => SyntaxKind::DOT,
            Self::Comma => SyntaxKind::COMMA,
            Self::Star => SyntaxKind::STAR,
            Self::Slash => SyntaxKind::SLASH,
            Self::Percent => SyntaxKind::PERCENT,
            Self::Plus => SyntaxKind::PLUS,
            Self::Minus => SyntaxKind::MINUS,
            Self::Eq => SyntaxKind::EQ,
            Self::Lt => SyntaxKind::LT,
            Self::Gt => SyntaxKind::GT,
            Self::Bang => SyntaxKind::BANG,
            Self::Question => SyntaxKind::QUESTION,
            Self::Colon => SyntaxKind::COLON,
            Self::Eq2 => SyntaxKind::EQ2,
            Self::Neq => SyntaxKind::NEQ,
            Self::LtEq => SyntaxKind::LTEQ,
            Self::GtEq => SyntaxKind::GTEQ,
            Self::Amp2 => SyntaxKind::AMP2,
            Self::Pipe2 => SyntaxKind::PIPE2,
            Self::Colon2 => SyntaxKind::COLON2,
            Self::Dot3 => SyntaxKind::DOT3,
            Self::FatArrow => SyntaxKind::FAT_ARROW,
        }
    }
}
