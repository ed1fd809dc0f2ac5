//! The kinds of tokens and nodes.

#[rustfmt::skip]
mod generated;

pub use self::generated::SyntaxKind;

impl SyntaxKind {
    /// Returns true if the grammar ignores the token: blanks, newlines, comments, a byte order mark.
    ///
    /// Newlines end items and separate object items, but the parser reads them from a bit of the token after them.
    pub fn is_trivia(self) -> bool {
        matches!(self, Self::WHITESPACE | Self::NEWLINE | Self::COMMENT | Self::BOM)
    }

    /// Returns true if the token can be a name. HCL has no reserved words.
    pub fn is_name(self) -> bool {
        matches!(
            self,
            Self::IDENT
                | Self::FOR_KW
                | Self::IN_KW
                | Self::IF_KW
                | Self::ELSE_KW
                | Self::ENDIF_KW
                | Self::ENDFOR_KW
                | Self::TRUE_KW
                | Self::FALSE_KW
                | Self::NULL_KW
        )
    }

    /// Returns true if the token is literal text of a template.
    pub fn is_template_literal(self) -> bool {
        matches!(self, Self::QUOTED_LIT | Self::STRING_LIT)
    }
}

impl From<SyntaxKind> for rowan::SyntaxKind {
    fn from(kind: SyntaxKind) -> Self {
        Self(kind as u16)
    }
}
