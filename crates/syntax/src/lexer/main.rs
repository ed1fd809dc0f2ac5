//! The tokens outside templates.

#[expect(
    unused,
    unused_qualifications,
    clippy::all,
    reason = "the library writes code for all kinds of tokens"
)]
mod generated;

pub(in crate::lexer) use generated::MainToken;

use crate::syntax_kind::SyntaxKind;

impl MainToken {
    pub(in crate::lexer) fn kind(self) -> SyntaxKind {
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
