//! Accessors for expressions: operators, traversals, calls, and the forms whose parts are only told apart by their
//! separators.

use rowan::NodeOrToken;
use smol_str::SmolStr;

use super::*;
use crate::syntax_kind::SyntaxKind::*;

/// The value of a literal token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LiteralKind {
    /// A number, as written. [`crate::literal::is_number`] checks whether the text is a valid number.
    Number(SmolStr),
    /// `true` or `false`.
    Bool(bool),
    /// `null`.
    Null,
}

impl<N: TreeNode> Literal<N> {
    /// Returns the token of the literal.
    pub fn token(&self) -> Option<N::Token> {
        self.syntax.first_token_by_kind(&|it| !it.is_trivia())
    }

    /// Returns the value of the literal.
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

impl<N: TreeNode> Reference<N> {
    /// Returns the name that the reference begins with.
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

impl<N: TreeNode> Unary<N> {
    /// Returns the operator and its token.
    pub fn op(&self) -> Option<(UnaryOp, N::Token)> {
        let token = self.syntax.first_token_by_kind(&|it| matches!(it, MINUS | BANG))?;
        let op = if token.kind() == MINUS { UnaryOp::Neg } else { UnaryOp::Not };
        Some((op, token))
    }
}

/// The operators with two operands; [`BinaryOp::symbol`] returns the text of each.
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
    /// Returns the operator that a token of this kind denotes.
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

    /// Returns the text of the operator.
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

impl<N: TreeNode> Binary<N> {
    /// Returns the operator and its token.
    pub fn op(&self) -> Option<(BinaryOp, N::Token)> {
        let token = self.syntax.first_token_by_kind(&|it| BinaryOp::of(it).is_some())?;
        Some((BinaryOp::of(token.kind())?, token))
    }
}

impl<N: TreeNode> Conditional<N> {
    /// Returns the part before `?`.
    pub fn condition(&self) -> Option<Expr<N>> {
        between(&self.syntax, None, Some(QUESTION))
    }

    /// Returns the part between `?` and `:`.
    pub fn then_expr(&self) -> Option<Expr<N>> {
        between(&self.syntax, Some(QUESTION), Some(COLON))
    }

    /// Returns the part after `:`.
    pub fn else_expr(&self) -> Option<Expr<N>> {
        between(&self.syntax, Some(COLON), None)
    }
}

/// Returns the first expression after a token of kind `after` and before one of kind `before`.
fn between<N: TreeNode>(
    parent: &N,
    after: Option<SyntaxKind>,
    before: Option<SyntaxKind>,
) -> Option<Expr<N>> {
    let mut children = parent.elements();
    if let Some(after) = after {
        children.find(|it| kind_of(it) == after)?;
    }
    children.take_while(|it| Some(kind_of(it)) != before).find_map(|it| Expr::cast(it.into_node()?))
}

fn kind_of<N: TreeNode>(element: &NodeOrToken<N, N::Token>) -> SyntaxKind {
    match element {
        NodeOrToken::Node(node) => node.kind(),
        NodeOrToken::Token(token) => token.kind(),
    }
}

impl<N: TreeNode> ArgList<N> {
    /// Returns true if the last argument is expanded: `f(list...)`.
    pub fn is_expanded(&self) -> bool {
        self.dot3_token().is_some()
    }
}

impl<N: TreeNode> Call<N> {
    /// Returns the name with `::` between its segments and without blanks: `provider::aws::arn_parse`.
    pub fn name(&self) -> Option<SmolStr> {
        Some(self.func_name()?.text())
    }

    /// Returns the arguments.
    pub fn args(&self) -> impl Iterator<Item = Expr<N>> + use<N> {
        self.arg_list().into_iter().flat_map(|list| list.args())
    }

    /// Returns true if the last argument is expanded: `f(list...)`.
    pub fn is_expanded(&self) -> bool {
        self.arg_list().is_some_and(|list| list.is_expanded())
    }
}

impl<N: TreeNode> FuncName<N> {
    /// Returns the name with `::` between its segments and without blanks.
    pub fn text(&self) -> SmolStr {
        let tokens = support::tokens(&self.syntax).filter(|token| !token.kind().is_trivia());
        let mut out = String::new();
        tokens.for_each(|token| out.push_str(token.text()));
        out.into()
    }

    /// Returns the tokens of the name's segments: `provider`, `aws`, `arn_parse`.
    pub fn segments(&self) -> impl Iterator<Item = N::Token> + use<N> {
        support::tokens(&self.syntax).filter(|token| token.kind() == IDENT)
    }
}

impl<N: TreeNode> AttrStep<N> {
    /// Returns the name after the dot.
    pub fn name(&self) -> Option<SmolStr> {
        self.ident_token().map(|token| SmolStr::new(token.text()))
    }
}

impl<N: TreeNode> LegacyIndexStep<N> {
    /// Returns the number after the dot, as written: usually digits only, but `x.1e0` is legal and means 1.
    pub fn number(&self) -> Option<SmolStr> {
        self.number_token().map(|token| SmolStr::new(token.text()))
    }
}

/// One access to the value of the preceding part of a traversal. A splat owns the accesses that it repeats for
/// each element.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Access<N = SyntaxNode> {
    /// `.name`
    Attr(AttrStep<N>),
    /// `.0`
    LegacyIndex(LegacyIndexStep<N>),
    /// `[expr]`
    Index(IndexStep<N>),
    /// `[*]` with all steps after it.
    Splat(SplatStep<N>, Vec<Access<N>>),
    /// `.*` with the `.name` and `.0` steps right after it. A `[…]` that follows applies to the resulting list.
    AttrSplat(AttrSplatStep<N>, Vec<Access<N>>),
}

impl<N: TreeNode> Traversal<N> {
    /// Returns the steps as accesses, with the steps that a splat repeats nested in the splat. As HCL defines,
    /// `x.*.n[0]` indexes the list and `x[*].n[0]` indexes each element.
    pub fn accesses(&self) -> Vec<Access<N>> {
        accesses(&mut self.steps().peekable(), false)
    }
}

fn accesses<N: TreeNode>(
    steps: &mut std::iter::Peekable<AstChildren<Step<N>, N>>,
    attr_splat: bool,
) -> Vec<Access<N>> {
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

/// A traversal that starts at a name and contains no splat. `depends_on`, `provider` and references accept this
/// form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StaticTraversal<N: TreeNode = SyntaxNode> {
    /// The name at the start. `true`, `false` and `null` count as names here, as HCL defines.
    pub root: N::Token,
    /// The steps. The index of an index step may be any expression; the caller decides which ones it accepts.
    pub steps: Vec<Step<N>>,
}

impl<N: TreeNode> Expr<N> {
    /// Returns the expression as a static traversal. `None` if it contains a splat or does not start at a name; a
    /// parenthesized expression is not a static traversal.
    pub fn as_static_traversal(&self) -> Option<StaticTraversal<N>> {
        let (base, steps) = match self {
            Expr::Traversal(it) => (it.base()?, it.steps().collect()),
            other => (other.clone(), Vec::new()),
        };
        if steps.iter().any(|step| matches!(step, Step::SplatStep(_) | Step::AttrSplatStep(_))) {
            return None;
        }
        Some(StaticTraversal { root: base.name_token()?, steps })
    }

    /// Returns the token of a bare name, as in `string` of a type constraint. `true`, `false` and `null` count as
    /// names.
    pub fn name_token(&self) -> Option<N::Token> {
        match self {
            Expr::Reference(it) => it.ident_token(),
            Expr::Literal(it) => it.token().filter(|token| token.kind() != NUMBER),
            _ => None,
        }
    }
}

impl<N: TreeNode> ObjectKey<N> {
    /// Returns the token of a key that is a bare name. Such a name is the key itself, not a reference.
    pub fn name_token(&self) -> Option<N::Token> {
        self.ident_token()
    }
}

impl<N: TreeNode> ForObject<N> {
    /// Returns the part before `=>`.
    pub fn key(&self) -> Option<Expr<N>> {
        between(&self.syntax, None, Some(FAT_ARROW))
    }

    /// Returns the part after `=>`.
    pub fn value(&self) -> Option<Expr<N>> {
        between(&self.syntax, Some(FAT_ARROW), None)
    }

    /// Returns true if equal keys are grouped: `{for k, v in m : k => v...}`.
    pub fn is_grouped(&self) -> bool {
        self.dot3_token().is_some()
    }
}

/// Returns the two names of `for k, v in`: the name of the key, `None` if there is only one name, and the name of
/// the value.
fn for_names<N: TreeNode>(syntax: &N) -> (Option<N::Token>, Option<N::Token>) {
    let mut names =
        support::tokens(syntax).take_while(|it| it.kind() != IN_KW).filter(|it| it.kind() == IDENT);
    let first = names.next();
    match support::token(syntax, COMMA) {
        Some(_) => (first, names.next()),
        None => (None, first),
    }
}

impl<N: TreeNode> ForIntro<N> {
    /// Returns the name of the key or index, or `None` if there is only one name.
    pub fn key_name(&self) -> Option<N::Token> {
        for_names(&self.syntax).0
    }

    /// Returns the name of the value.
    pub fn value_name(&self) -> Option<N::Token> {
        for_names(&self.syntax).1
    }
}

impl<N: TreeNode> TemplateFor<N> {
    /// Returns the name of the key or index, or `None` if there is only one name.
    pub fn key_name(&self) -> Option<N::Token> {
        for_names(&self.syntax).0
    }

    /// Returns the name of the value.
    pub fn value_name(&self) -> Option<N::Token> {
        for_names(&self.syntax).1
    }
}

impl<N: TreeNode> TemplateNode<N> {
    /// Returns true if a `~` trims the literal before this sequence.
    pub fn strips_before(&self) -> bool {
        let opens = |kind| matches!(kind, INTERP_OPEN | DIRECTIVE_OPEN);
        let open = self.syntax().first_token_by_kind(&opens);
        open.is_some_and(|token| token.text().ends_with('~'))
    }

    /// Returns true if a `~` trims the literal after this sequence.
    pub fn strips_after(&self) -> bool {
        support::token(self.syntax(), SEQ_END).is_some_and(|token| token.text().starts_with('~'))
    }
}

/// Returns the literal tokens and the sequences of a template, in order.
pub(crate) fn template_elements<N: TreeNode>(
    syntax: &N,
) -> impl Iterator<Item = NodeOrToken<N, N::Token>> + use<N> {
    syntax.elements().filter(|it| match it {
        NodeOrToken::Token(token) => token.kind().is_template_literal(),
        NodeOrToken::Node(node) => <TemplateNode>::can_cast(node.kind()),
    })
}

impl<N: TreeNode> Heredoc<N> {
    /// Returns true for `<<-`, which removes the common indentation.
    pub fn is_flush(&self) -> bool {
        self.heredoc_open_token().is_some_and(|token| token.text().starts_with("<<-"))
    }
}
