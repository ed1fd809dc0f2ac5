//! Expressions: operators, traversals, calls and the forms whose parts only their separators tell apart.

use rowan::NodeOrToken;
use smol_str::SmolStr;

use super::*;
use crate::SyntaxElement;
use crate::syntax_kind::SyntaxKind::*;

/// What a literal is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LiteralKind {
    /// A number, as written. [`crate::literal::is_number`] tells whether the text is one.
    Number(SmolStr),
    /// `true` or `false`.
    Bool(bool),
    /// `null`.
    Null,
}

impl Literal {
    /// The token of the literal.
    pub fn token(&self) -> Option<SyntaxToken> {
        support::first_token(&self.syntax, |it| !it.is_trivia())
    }

    /// What the literal is.
    pub fn kind(&self) -> Option<LiteralKind> {
        let token = self.token()?;
        Some(match token.kind() {
            NUMBER => LiteralKind::Number(SmolStr::new(token.text())),
            TRUE_KW => LiteralKind::Bool(true),
            FALSE_KW => LiteralKind::Bool(false),
            NULL_KW => LiteralKind::Null,
            _ => return None,
        })
    }
}

impl Reference {
    /// The name.
    pub fn name(&self) -> Option<SmolStr> {
        self.ident_token().map(|token| SmolStr::new(token.text()))
    }
}

/// The operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `!`
    Not,
}

impl Unary {
    /// The operator and its token.
    pub fn op(&self) -> Option<(UnaryOp, SyntaxToken)> {
        let token = support::first_token(&self.syntax, |it| matches!(it, MINUS | BANG))?;
        let op = if token.kind() == MINUS { UnaryOp::Neg } else { UnaryOp::Not };
        Some((op, token))
    }
}

/// The operators with two operands; [`BinaryOp::symbol`] shows each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    Or,
    And,
    Eq,
    NotEq,
    Lt,
    Gt,
    LtEq,
    GtEq,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

impl BinaryOp {
    /// The operator that a token of this kind stands for.
    pub(crate) fn of(kind: SyntaxKind) -> Option<Self> {
        Some(match kind {
            PIPE2 => Self::Or,
            AMP2 => Self::And,
            EQ2 => Self::Eq,
            NEQ => Self::NotEq,
            LT => Self::Lt,
            GT => Self::Gt,
            LTEQ => Self::LtEq,
            GTEQ => Self::GtEq,
            PLUS => Self::Add,
            MINUS => Self::Sub,
            STAR => Self::Mul,
            SLASH => Self::Div,
            PERCENT => Self::Rem,
            _ => return None,
        })
    }

    /// The operator as it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Or => "||",
            Self::And => "&&",
            Self::Eq => "==",
            Self::NotEq => "!=",
            Self::Lt => "<",
            Self::Gt => ">",
            Self::LtEq => "<=",
            Self::GtEq => ">=",
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Rem => "%",
        }
    }
}

impl Binary {
    /// The operator and its token.
    pub fn op(&self) -> Option<(BinaryOp, SyntaxToken)> {
        let token = support::first_token(&self.syntax, |it| BinaryOp::of(it).is_some())?;
        Some((BinaryOp::of(token.kind())?, token))
    }
}

impl Conditional {
    /// The part before `?`.
    pub fn condition(&self) -> Option<Expr> {
        between(&self.syntax, None, Some(QUESTION))
    }

    /// The part between `?` and `:`.
    pub fn then_expr(&self) -> Option<Expr> {
        between(&self.syntax, Some(QUESTION), Some(COLON))
    }

    /// The part after `:`.
    pub fn else_expr(&self) -> Option<Expr> {
        between(&self.syntax, Some(COLON), None)
    }
}

/// The first expression after a token of kind `after` and before one of kind `before`.
fn between(
    parent: &SyntaxNode,
    after: Option<SyntaxKind>,
    before: Option<SyntaxKind>,
) -> Option<Expr> {
    let mut children = parent.children_with_tokens();
    if let Some(after) = after {
        children.find(|it| it.kind() == after)?;
    }
    children.take_while(|it| Some(it.kind()) != before).find_map(|it| Expr::cast(it.into_node()?))
}

impl ArgList {
    /// Whether the last argument is expanded: `f(list...)`.
    pub fn is_expanded(&self) -> bool {
        self.dot3_token().is_some()
    }
}

impl Call {
    /// The name, with `::` between its parts and no blanks: `provider::aws::arn_parse`.
    pub fn name(&self) -> Option<SmolStr> {
        Some(self.func_name()?.text())
    }

    /// The arguments.
    pub fn args(&self) -> impl Iterator<Item = Expr> + use<> {
        self.arg_list().into_iter().flat_map(|list| list.args())
    }

    /// Whether the last argument is expanded: `f(list...)`.
    pub fn is_expanded(&self) -> bool {
        self.arg_list().is_some_and(|list| list.is_expanded())
    }
}

impl FuncName {
    /// The name, with `::` between its parts and no blanks.
    pub fn text(&self) -> SmolStr {
        let tokens = support::tokens(&self.syntax).filter(|token| !token.kind().is_trivia());
        let mut out = String::new();
        tokens.for_each(|token| out.push_str(token.text()));
        out.into()
    }

    /// The tokens of the names alone: `provider`, `aws`, `arn_parse`.
    pub fn segments(&self) -> impl Iterator<Item = SyntaxToken> + use<> {
        support::tokens(&self.syntax).filter(|token| token.kind() == IDENT)
    }
}

impl AttrStep {
    /// The name after the dot.
    pub fn name(&self) -> Option<SmolStr> {
        self.ident_token().map(|token| SmolStr::new(token.text()))
    }
}

impl LegacyIndexStep {
    /// The number after the dot, as written: usually digits only, but `x.1e0` is legal and means 1.
    pub fn number(&self) -> Option<SmolStr> {
        self.number_token().map(|token| SmolStr::new(token.text()))
    }
}

/// One thing done to the value so far; splats own what they repeat for each element.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Access {
    /// `.name`
    Attr(AttrStep),
    /// `.0`
    LegacyIndex(LegacyIndexStep),
    /// `[expr]`
    Index(IndexStep),
    /// `[*]` with every step after it.
    Splat(SplatStep, Vec<Access>),
    /// `.*` with the `.name` and `.0` steps right after it; a `[…]` that follows applies to the resulting list.
    AttrSplat(AttrSplatStep, Vec<Access>),
}

impl Traversal {
    /// The steps with the ones that a splat repeats inside it (HCL: `x.*.n[0]` indexes the list, `x[*].n[0]` each element).
    pub fn accesses(&self) -> Vec<Access> {
        accesses(&mut self.steps().peekable(), false)
    }
}

fn accesses(steps: &mut std::iter::Peekable<AstChildren<Step>>, attr_splat: bool) -> Vec<Access> {
    let mut out = Vec::new();
    while let Some(step) = steps
        .next_if(|step| !attr_splat || matches!(step, Step::AttrStep(_) | Step::LegacyIndexStep(_)))
    {
        out.push(match step {
            Step::AttrStep(step) => Access::Attr(step),
            Step::LegacyIndexStep(step) => Access::LegacyIndex(step),
            Step::IndexStep(step) => Access::Index(step),
            Step::SplatStep(step) => Access::Splat(step, accesses(steps, false)),
            Step::AttrSplatStep(step) => Access::AttrSplat(step, accesses(steps, true)),
        });
    }
    out
}

/// A traversal that starts at a name and takes no splat: what `depends_on`, `provider` and references accept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StaticTraversal {
    /// The name it starts at. `true`, `false` and `null` count as names here, as in HCL.
    pub root: SyntaxToken,
    /// The steps; the index of an index step may be any expression, which the caller judges.
    pub steps: Vec<Step>,
}

impl Expr {
    /// The expression as a static traversal. Parentheses make it none.
    pub fn as_static_traversal(&self) -> Option<StaticTraversal> {
        let (base, steps) = match self {
            Expr::Traversal(it) => (it.base()?, it.steps().collect()),
            other => (other.clone(), Vec::new()),
        };
        if steps.iter().any(|step| matches!(step, Step::SplatStep(_) | Step::AttrSplatStep(_))) {
            return None;
        }
        Some(StaticTraversal { root: base.name_token()?, steps })
    }

    /// The token of a bare name, as in `string` of a type constraint; `null` and the like count.
    pub fn name_token(&self) -> Option<SyntaxToken> {
        match self {
            Expr::Reference(it) => it.ident_token(),
            Expr::Literal(it) => it.token().filter(|token| token.kind() != NUMBER),
            _ => None,
        }
    }
}

impl ObjectKey {
    /// The token of a key that is a bare name and so stands for itself.
    pub fn name_token(&self) -> Option<SyntaxToken> {
        self.ident_token()
    }
}

impl ForObject {
    /// The part before `=>`.
    pub fn key(&self) -> Option<Expr> {
        between(&self.syntax, None, Some(FAT_ARROW))
    }

    /// The part after `=>`.
    pub fn value(&self) -> Option<Expr> {
        between(&self.syntax, Some(FAT_ARROW), None)
    }

    /// Whether equal keys are grouped: `{for k, v in m : k => v...}`.
    pub fn is_grouped(&self) -> bool {
        self.dot3_token().is_some()
    }
}

/// The names of `for k, v in`: the key's, if there are two, and the value's.
fn for_names(syntax: &SyntaxNode) -> (Option<SyntaxToken>, Option<SyntaxToken>) {
    let mut names =
        support::tokens(syntax).take_while(|it| it.kind() != IN_KW).filter(|it| it.kind() == IDENT);
    let first = names.next();
    match support::token(syntax, COMMA) {
        Some(_) => (first, names.next()),
        None => (None, first),
    }
}

impl ForIntro {
    /// The name of the key or index, where two names are given.
    pub fn key_name(&self) -> Option<SyntaxToken> {
        for_names(&self.syntax).0
    }

    /// The name of the value.
    pub fn value_name(&self) -> Option<SyntaxToken> {
        for_names(&self.syntax).1
    }
}

impl TemplateFor {
    /// The name of the key or index, where two names are given.
    pub fn key_name(&self) -> Option<SyntaxToken> {
        for_names(&self.syntax).0
    }

    /// The name of the value.
    pub fn value_name(&self) -> Option<SyntaxToken> {
        for_names(&self.syntax).1
    }
}

impl TemplateNode {
    /// Whether a `~` asks to trim the literal before this sequence.
    pub fn strips_before(&self) -> bool {
        let opens = |kind| matches!(kind, INTERP_OPEN | DIRECTIVE_OPEN);
        let open = support::first_token(self.syntax(), opens);
        open.is_some_and(|token| token.text().ends_with('~'))
    }

    /// Whether a `~` asks to trim the literal after this sequence.
    pub fn strips_after(&self) -> bool {
        support::token(self.syntax(), SEQ_END).is_some_and(|token| token.text().starts_with('~'))
    }
}

/// Literal tokens and sequences of a template, in order.
pub(crate) fn template_elements(
    syntax: &SyntaxNode,
) -> impl Iterator<Item = SyntaxElement> + use<> {
    syntax.children_with_tokens().filter(|it| match it {
        NodeOrToken::Token(token) => token.kind().is_template_literal(),
        NodeOrToken::Node(node) => TemplateNode::can_cast(node.kind()),
    })
}

impl Heredoc {
    /// Whether it is `<<-`, which takes the common indentation away.
    pub fn is_flush(&self) -> bool {
        self.heredoc_open_token().is_some_and(|token| token.text().starts_with("<<-"))
    }
}
