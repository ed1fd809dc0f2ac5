//! Lowered expressions, without source ranges.
//!
//! Each item (a resource, a local, an output, …) has its own arena of expressions. Two items never share an id,
//! and an edit of one block cannot change the ids of another. Ranges are in the [`SourceMap`](crate::SourceMap),
//! which is read only to render diagnostics.

use std::fmt;

use db::Rule;
use rustc_hash::FxHashSet;
use values::{
    Number, Str, Text, Value,
    ops::{BinaryOp, UnaryOp},
};

use crate::item::TypeConstraint;

/// An expression of one item; an index into [`Exprs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExprId(pub u32);

/// A part of an item that is not an expression but has a source range: an attribute's name, a block's header, a
/// label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A location inside an item that a diagnostic can point at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum At {
    /// An expression.
    Expr(ExprId),
    /// An attribute name, header or label.
    Node(NodeId),
    /// The last step of an access: `.c` of `a.b.c`, `[0]` of `a[0]`.
    Step(ExprId),
    /// The base of an access: `a.b` of `a.b.c`.
    Base(ExprId),
    /// The function name of a call.
    Callee(ExprId),
    /// The closing parenthesis of a call.
    Closer(ExprId),
    /// Both results of a conditional expression.
    Arms(ExprId),
}

impl At {
    /// The part of an expression at which a diagnostic with this id is located. Equals the location in OpenTofu.
    pub(crate) fn of_problem(id: Rule, expr: ExprId) -> At {
        match id {
            Rule::UnsupportedAttribute
            | Rule::MissingMapElement
            | Rule::AttributeOfNull
            | Rule::IndexOfNull
            | Rule::InvalidIndex => At::Step(expr),
            Rule::MissingInstanceKey => At::Base(expr),
            Rule::UnknownFunction => At::Callee(expr),
            Rule::NotEnoughFunctionArguments => At::Closer(expr),
            Rule::InconsistentConditionalResultTypes => At::Arms(expr),
            _ => At::Expr(expr),
        }
    }

    /// The expression that the location belongs to. `None` for a node.
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
    /// The names of the symbols, by [`SymbolId`], for messages and completion.
    symbols: Vec<Str>,
    calls_providers: bool,
}

impl Exprs {
    /// The expressions of an item that is made from parts of others.
    pub fn new(arena: Vec<Expr>, symbols: Vec<Str>) -> Exprs {
        let is_call =
            |it: &Expr| matches!(it, Expr::Call(call) if call.name.starts_with("provider::"));
        let calls_providers = arena.iter().any(is_call);
        Exprs { arena, symbols, calls_providers }
    }

    /// Returns true if an expression calls a provider function.
    pub fn calls_providers(&self) -> bool {
        self.calls_providers
    }

    /// The number of expressions. The ids are smaller than this.
    pub fn len(&self) -> usize {
        self.arena.len()
    }

    /// Returns true if the item has no expressions.
    pub fn is_empty(&self) -> bool {
        self.arena.is_empty()
    }

    /// All expressions with their ids, children before their parents.
    pub fn iter(&self) -> impl Iterator<Item = (ExprId, &Expr)> {
        self.arena.iter().enumerate().map(|(index, expr)| (ExprId(index as u32), expr))
    }

    /// Returns true if `wanted` contains the expression `id` or one of its descendants.
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

    /// The number of symbols that the item binds.
    pub fn symbol_count(&self) -> usize {
        self.symbols.len()
    }

    /// The name of a symbol in the source.
    pub fn symbol_name(&self, symbol: SymbolId) -> &Str {
        &self.symbols[symbol.0 as usize]
    }
}

impl std::ops::Index<ExprId> for Exprs {
    type Output = Expr;

    #[inline]
    fn index(&self, id: ExprId) -> &Expr {
        &self.arena[id.0 as usize]
    }
}

/// A lowered expression. Parentheses are dropped. A template that consists of exactly one interpolation lowers to
/// the interpolated expression, as HCL defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A syntax error, which is already reported. It evaluates to an unknown value of any type.
    Missing,
    /// A constant.
    Literal(Literal),
    /// A template with interpolations; its value is always a string.
    Template(Box<[TemplatePart]>),
    /// The strings of a tuple, joined without separator. The lowered form of `%{ for }`.
    TemplateJoin(ExprId),
    /// A reference to a definition outside of the expression.
    Ref(Ref),
    /// A name bound by `for`, `dynamic` or a splat.
    Symbol(SymbolId),
    /// `base.name`.
    GetAttr { base: ExprId, name: Str },
    /// `base[key]` and the legacy `base.0`.
    Index { base: ExprId, key: ExprId },
    /// `base[*]…` and `base.*…`: `each` is evaluated for every element, which is bound to `item`.
    Splat { base: ExprId, item: SymbolId, each: ExprId },
    /// `[a, b]`.
    Tuple(Box<[ExprId]>),
    /// `{ k = v }`; the last of duplicate keys wins.
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
    /// A type constraint, the second argument of `convert`. `None` if it is invalid, which is already reported.
    Type(Option<Box<TypeConstraint>>),
}

impl Expr {
    /// Visits the direct children in source order.
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

/// A constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, with the precision of its text.
    Number(Number),
    /// A string without interpolation.
    String(Text),
}

impl Literal {
    /// Returns true if the value takes so little memory that no budget has to count it.
    pub(crate) fn is_short(&self) -> bool {
        match self {
            Literal::String(text) => text.len() < 1024,
            Literal::Null | Literal::Bool(_) | Literal::Number(_) => true,
        }
    }

    /// The value of the constant.
    pub(crate) fn value(&self) -> Value {
        match self {
            Literal::Null => Value::null(values::Type::Dynamic),
            Literal::Bool(value) => Value::bool(*value),
            Literal::Number(number) => Value::number(number.clone()),
            Literal::String(text) => Value::string(text.clone()),
        }
    }
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplatePart {
    /// Literal text, after escapes and strip markers are applied.
    Literal(Str),
    /// `${ … }`, `%{ if }` (a conditional over two templates) or `%{ for }` (a [`Expr::TemplateJoin`]).
    Expr(ExprId),
}

/// A `key = value` pair of an object constructor. A bare word as the key lowers to a string literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectItem {
    /// The key.
    pub key: ExprId,
    /// The value.
    pub value: ExprId,
}

/// The parts of [`Expr::ForTuple`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForTuple {
    /// The key variable, if the expression has two variables.
    pub key: Option<SymbolId>,
    /// The value variable.
    pub value: SymbolId,
    /// The collection that is iterated over.
    pub collection: ExprId,
    /// The element expression.
    pub body: ExprId,
    /// The `if` clause, if any.
    pub condition: Option<ExprId>,
}

/// The parts of [`Expr::ForObject`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForObject {
    /// The key variable, if the expression has two variables.
    pub key: Option<SymbolId>,
    /// The value variable.
    pub value: SymbolId,
    /// The collection that is iterated over.
    pub collection: ExprId,
    /// The key of each attribute.
    pub item_key: ExprId,
    /// The value of each attribute.
    pub item_value: ExprId,
    /// Set if `...` groups the values of equal keys.
    pub group: bool,
    /// The `if` clause, if any.
    pub condition: Option<ExprId>,
}

/// A function call. `try`, `can` and `convert` are calls too, but the evaluators treat them specially.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The name in the source, with `::` for namespaces; a `core::` prefix is removed.
    pub name: Str,
    /// The arguments.
    pub args: Box<[ExprId]>,
    /// Set if `...` expands the last argument.
    pub expand: bool,
}

/// The root of a reference; further steps are [`Expr::GetAttr`] and [`Expr::Index`] above it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ref {
    /// `var.name`
    Variable(Str),
    /// `local.name`
    Local(Str),
    /// `type.name`, `data.type.name` or `ephemeral.type.name`: an object, or the collection of its instances.
    Resource(Box<addr::Resource>),
    /// `module.name`: an object of the outputs, or the collection of the module's instances.
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
    /// `path.temp`: the temporary directory of the module instance.
    PathTemp,
    /// `terraform.workspace`, `tofu.workspace`
    Workspace,
    /// `terraform.applying`, `tofu.applying`: an ephemeral bool, true during apply, as the ephemeral resources RFC
    /// defines.
    Applying,
    /// `output.name`: an output of the root module. Only in test files.
    Output(Str),
    /// `run.name`: the outputs of an earlier run of the test file. Only in test files.
    Run(Str),
}

/// Formats a reference as in the source. `terraform.` also stands for `tofu.`.
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
            Ref::Output(name) => write!(f, "output.{name}"),
            Ref::Run(name) => write!(f, "run.{name}"),
        }
    }
}
