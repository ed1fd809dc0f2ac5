//! Lowered expressions: what an expression says, without its ranges.
//!
//! One item (a resource, a local, an output, …) owns one arena of expressions, so two items never share an id and
//! an edit inside one block cannot change the ids of another. Ranges are in the [`SourceMap`](crate::SourceMap),
//! which is asked only when something is shown to a person.

use std::fmt;

use rustc_hash::FxHashSet;
use values::{
    Number, Str,
    ops::{BinaryOp, UnaryOp},
};

use crate::item::TypeConstraint;

/// An expression of one item; an index into [`Exprs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExprId(pub u32);

/// Something of an item that is not an expression but has a place in the text: an attribute's name, a block's header,
/// a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A place inside one item that a diagnostic can point at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum At {
    /// An expression.
    Expr(ExprId),
    /// A name, header or label.
    Node(NodeId),
    /// The last step of an access: `.c` of `a.b.c`, `[0]` of `a[0]`.
    Step(ExprId),
    /// What an access is made to: `a.b` of `a.b.c`.
    Base(ExprId),
    /// The name of the function of a call.
    Callee(ExprId),
    /// The parenthesis that closes a call.
    Closer(ExprId),
    /// Both results of a conditional.
    Arms(ExprId),
}

impl At {
    /// The part of an expression that a problem of this id is about, which is the reference's too.
    pub(crate) fn of_problem(id: &str, expr: ExprId) -> At {
        match id {
            "unsupported-attribute"
            | "missing-map-element"
            | "attribute-of-null"
            | "index-of-null"
            | "invalid-index" => At::Step(expr),
            "missing-instance-key" => At::Base(expr),
            "unknown-function" => At::Callee(expr),
            "not-enough-function-arguments" => At::Closer(expr),
            "inconsistent-conditional-result-types" => At::Arms(expr),
            _ => At::Expr(expr),
        }
    }

    /// The expression that it is, or is a part of.
    pub fn expr(self) -> Option<ExprId> {
        match self {
            At::Node(_) => None,
            At::Expr(it)
            | At::Step(it)
            | At::Base(it)
            | At::Callee(it)
            | At::Closer(it)
            | At::Arms(it) => Some(it),
        }
    }
}

impl From<ExprId> for At {
    fn from(expr: ExprId) -> At {
        At::Expr(expr)
    }
}

impl From<NodeId> for At {
    fn from(node: NodeId) -> At {
        At::Node(node)
    }
}

/// A name bound inside an item: a `for` variable, a `dynamic` iterator, or the element of a splat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolId(pub u32);

/// The expressions of one item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exprs {
    arena: Vec<Expr>,
    /// Names of the symbols, by [`SymbolId`]; for messages and completion.
    symbols: Vec<Str>,
    calls_providers: bool,
}

impl Exprs {
    pub(crate) fn new(arena: Vec<Expr>, symbols: Vec<Str>) -> Exprs {
        let is_call =
            |it: &Expr| matches!(it, Expr::Call(call) if call.name.starts_with("provider::"));
        let calls_providers = arena.iter().any(is_call);
        Exprs { arena, symbols, calls_providers }
    }

    /// Whether functions of providers are among the calls.
    pub fn calls_providers(&self) -> bool {
        self.calls_providers
    }

    /// How many expressions there are; ids run from 0 to this.
    pub fn len(&self) -> usize {
        self.arena.len()
    }

    /// Whether the item has no expression.
    pub fn is_empty(&self) -> bool {
        self.arena.is_empty()
    }

    /// Every expression with its id; children come before their parents.
    pub fn iter(&self) -> impl Iterator<Item = (ExprId, &Expr)> {
        self.arena.iter().enumerate().map(|(index, expr)| (ExprId(index as u32), expr))
    }

    /// Whether one of these expressions is this one, or stands inside of it.
    pub(crate) fn has_any_inside(&self, id: ExprId, wanted: &FxHashSet<ExprId>) -> bool {
        let mut open = vec![id];
        while let Some(expr) = open.pop().filter(|_| !wanted.is_empty()) {
            if wanted.contains(&expr) {
                return true;
            }
            self[expr].for_each_child(&mut |child| open.push(child));
        }
        false
    }

    /// How many symbols the item binds.
    pub fn symbol_count(&self) -> usize {
        self.symbols.len()
    }

    /// The name under which a symbol was written.
    pub fn symbol_name(&self, symbol: SymbolId) -> &Str {
        &self.symbols[symbol.0 as usize]
    }
}

impl std::ops::Index<ExprId> for Exprs {
    type Output = Expr;

    fn index(&self, id: ExprId) -> &Expr {
        &self.arena[id.0 as usize]
    }
}

/// One lowered expression. Parentheses are gone; a template of exactly one interpolation is that expression
/// (`reference`: hcl 2, "Template unwrap").
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A syntax error stands here and was reported; it means an unknown value of any type.
    Missing,
    /// A constant.
    Literal(Literal),
    /// Text with interpolations; always a string.
    Template(Box<[TemplatePart]>),
    /// `%{ for }`: the strings of a tuple, joined without separator.
    TemplateJoin(ExprId),
    /// A reference to something outside of the expression.
    Ref(Ref),
    /// A name bound by `for`, `dynamic` or a splat.
    Symbol(SymbolId),
    /// `base.name`.
    GetAttr { base: ExprId, name: Str },
    /// `base[key]` and the legacy `base.0`.
    Index { base: ExprId, key: ExprId },
    /// `base[*]…` and `base.*…`: `each` is evaluated for every element, bound to `item`.
    Splat { base: ExprId, item: SymbolId, each: ExprId },
    /// `[a, b]`.
    Tuple(Box<[ExprId]>),
    /// `{ k = v }`; later duplicates win.
    Object(Box<[ObjectItem]>),
    /// `[for k, v in c : body if cond]`.
    ForTuple(Box<ForTuple>),
    /// `{for k, v in c : key => value... if cond}`.
    ForObject(Box<ForObject>),
    /// `!x`, `-x`.
    Unary { op: UnaryOp, operand: ExprId },
    /// `a + b`.
    Binary { op: BinaryOp, left: ExprId, right: ExprId },
    /// `c ? a : b`.
    Conditional { condition: ExprId, then: ExprId, otherwise: ExprId },
    /// `name(args...)`.
    Call(Box<Call>),
    /// A type, which `convert` takes as its second argument. `None` where what stands there is none, which was reported.
    Type(Option<Box<TypeConstraint>>),
}

impl Expr {
    /// Visits the direct children, in source order.
    pub fn for_each_child(&self, visit: &mut impl FnMut(ExprId)) {
        match self {
            Expr::Missing | Expr::Literal(_) | Expr::Ref(_) | Expr::Symbol(_) | Expr::Type(_) => {}
            Expr::Template(parts) => parts.iter().for_each(|part| {
                if let TemplatePart::Expr(expr) = part {
                    visit(*expr);
                }
            }),
            Expr::TemplateJoin(inner)
            | Expr::GetAttr { base: inner, .. }
            | Expr::Unary { operand: inner, .. } => visit(*inner),
            Expr::Index { base, key } => [*base, *key].into_iter().for_each(visit),
            Expr::Splat { base, each, .. } => [*base, *each].into_iter().for_each(visit),
            Expr::Tuple(elements) => elements.iter().copied().for_each(visit),
            Expr::Object(items) => items.iter().for_each(|item| {
                visit(item.key);
                visit(item.value);
            }),
            Expr::ForTuple(it) => {
                [it.collection, it.body].into_iter().chain(it.condition).for_each(visit)
            }
            Expr::ForObject(it) => {
                [it.collection, it.item_key, it.item_value]
                    .into_iter()
                    .chain(it.condition)
                    .for_each(visit);
            }
            Expr::Binary { left, right, .. } => [*left, *right].into_iter().for_each(visit),
            Expr::Conditional { condition, then, otherwise } => {
                [*condition, *then, *otherwise].into_iter().for_each(visit)
            }
            Expr::Call(call) => call.args.iter().copied().for_each(visit),
        }
    }
}

/// A constant as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number at the precision of its text.
    Number(Number),
    /// A string without interpolation.
    String(Str),
}

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplatePart {
    /// Literal text, escapes and strip markers applied.
    Literal(Str),
    /// `${ … }`, `%{ if }` (a conditional over two templates) or `%{ for }` (a [`Expr::TemplateJoin`]).
    Expr(ExprId),
}

/// One `key = value` of an object constructor. A bare word as key is a string literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectItem {
    /// The key.
    pub key: ExprId,
    /// The value.
    pub value: ExprId,
}

/// What [`Expr::ForTuple`] holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForTuple {
    /// The first of two names.
    pub key: Option<SymbolId>,
    /// The only or second name.
    pub value: SymbolId,
    /// What is iterated.
    pub collection: ExprId,
    /// Evaluated for every element.
    pub body: ExprId,
    /// The `if` clause.
    pub condition: Option<ExprId>,
}

/// What [`Expr::ForObject`] holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForObject {
    /// The first of two names.
    pub key: Option<SymbolId>,
    /// The only or second name.
    pub value: SymbolId,
    /// What is iterated.
    pub collection: ExprId,
    /// The key of each resulting attribute.
    pub item_key: ExprId,
    /// The value of each resulting attribute.
    pub item_value: ExprId,
    /// Whether `...` groups values of equal keys.
    pub group: bool,
    /// The `if` clause.
    pub condition: Option<ExprId>,
}

/// A function call. `try`, `can` and `convert` are calls too; the evaluators treat them specially.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The name as written, with `::` for namespaces; `core::` is already removed.
    pub name: Str,
    /// The arguments.
    pub args: Box<[ExprId]>,
    /// Whether the last argument is expanded with `...`.
    pub expand: bool,
}

/// The root of a reference; further steps are [`Expr::GetAttr`] and [`Expr::Index`] above it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ref {
    /// `var.name`
    Variable(Str),
    /// `local.name`
    Local(Str),
    /// `type.name`, `data.type.name`, `ephemeral.type.name`: one object, or the collection of its instances.
    Resource(addr::Resource),
    /// `module.name`: an object of its outputs, or the collection of its instances.
    Module(Str),
    /// `each.key`
    EachKey,
    /// `each.value`
    EachValue,
    /// `count.index`
    CountIndex,
    /// `self`
    SelfObject,
    /// `path.module`
    PathModule,
    /// `path.root`
    PathRoot,
    /// `path.cwd`
    PathCwd,
    /// `path.temp`: the module instance's temporary directory (path-temp RFC).
    PathTemp,
    /// `terraform.workspace`, `tofu.workspace`
    Workspace,
    /// `terraform.applying`, `tofu.applying`: an ephemeral bool (RFC, "tofu.applying").
    Applying,
}

/// As it is written; `terraform.` stands for `tofu.` too.
impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ref::Variable(name) => write!(f, "var.{name}"),
            Ref::Local(name) => write!(f, "local.{name}"),
            Ref::Resource(resource) => write!(f, "{resource}"),
            Ref::Module(name) => write!(f, "module.{name}"),
            Ref::EachKey => f.write_str("each.key"),
            Ref::EachValue => f.write_str("each.value"),
            Ref::CountIndex => f.write_str("count.index"),
            Ref::SelfObject => f.write_str("self"),
            Ref::PathModule => f.write_str("path.module"),
            Ref::PathRoot => f.write_str("path.root"),
            Ref::PathCwd => f.write_str("path.cwd"),
            Ref::PathTemp => f.write_str("path.temp"),
            Ref::Workspace => f.write_str("terraform.workspace"),
            Ref::Applying => f.write_str("terraform.applying"),
        }
    }
}
