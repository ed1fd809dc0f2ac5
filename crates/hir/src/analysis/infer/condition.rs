//! Conditions on expressions of the source: when an expression is true, has elements, or fails, in runs in which
//! every value that it reads is known.
//!
//! They are computed only where the result decides whether something is ephemeral.

use std::{fmt::Write as _, sync::Arc};

use values::{
    Str, Type, Value,
    ops::{BinaryOp, UnaryOp},
};

use crate::{
    analysis::{
        infer::{Certainty, Infer, constructor::key_text},
        value::{
            Abstract,
            inside::Presence,
            when::{Ephemerality, Subject, Test, When},
        },
    },
    eval::traversal::{traversal_text, traversals},
    expr::{Expr, ExprId, Exprs, Literal, SymbolId},
    item::ConstValue,
};

/// The longest text of an expression that a condition names.
const LONGEST: usize = 60;

/// The depth to which an expression is examined for the condition that it has elements, or fails.
const DEEPEST: usize = 4;

impl Infer<'_> {
    /// The condition that an expression is true.
    pub(super) fn truth(&self, id: ExprId) -> When {
        match &self.exprs[id] {
            Expr::Literal(Literal::Bool(true)) => When::Always,
            Expr::Literal(Literal::Bool(false)) => When::Never,
            Expr::Unary { op: UnaryOp::Not, operand } => self.truth(*operand).not(),
            Expr::Binary { op: BinaryOp::And, left, right } => {
                self.truth(*left).and(&self.truth(*right))
            }
            Expr::Binary { op: BinaryOp::Or, left, right } => {
                self.truth(*left).or(&self.truth(*right))
            }
            Expr::Binary { op: BinaryOp::Equal, left, right } => self.equal(id, *left, *right),
            Expr::Binary { op: BinaryOp::NotEqual, left, right } => {
                self.equal(id, *left, *right).not()
            }
            _ => self.tested(id, Test::True),
        }
    }

    /// The condition that two sides are equal. If one side is a literal, it becomes a test of the other side.
    fn equal(&self, id: ExprId, left: ExprId, right: ExprId) -> When {
        let (subject, literal) = match (&self.exprs[left], &self.exprs[right]) {
            (_, Expr::Literal(literal)) => (left, literal),
            (Expr::Literal(literal), _) => (right, literal),
            _ if self.is_unequal(id) => return self.tested(id, Test::True).not(),
            _ => return self.tested(id, Test::True),
        };
        let constant = match literal {
            Literal::Null => return self.tested(subject, Test::Null),
            Literal::Bool(value) => Value::bool(*value),
            Literal::Number(number) => Value::number(number.clone()),
            Literal::String(text) => Value::string(text.clone()),
        };
        self.tested(subject, Test::Equals(ConstValue(constant)))
    }

    fn is_unequal(&self, id: ExprId) -> bool {
        matches!(self.exprs[id], Expr::Binary { op: BinaryOp::NotEqual, .. })
    }

    /// The condition that a test of an expression holds.
    pub(super) fn tested(&self, id: ExprId, test: Test) -> When {
        match text(self.exprs, id, 0) {
            Some(text) => self.tested_as(id, &text, test),
            None => self.depends(id),
        }
    }

    /// Returns true if a message may show a constant. The marks of the collections of enclosing loops count, too,
    /// because elements do not have them.
    pub(super) fn is_showable(&self, value: &Abstract) -> bool {
        value.is_showable() && !self.around.has_secrets()
    }

    /// Returns true if a message may show the names and the number of the parts of a value.
    pub(super) fn has_showable_shape(&self, value: &Abstract) -> bool {
        value.has_showable_shape() && !self.around.has_secrets()
    }

    /// The condition that a test of an expression holds. If the test would show a secret, only the references that
    /// the expression reads are named.
    pub(super) fn tested_if(&self, is_showable: bool, id: ExprId, test: Test) -> When {
        if is_showable { self.tested(id, test) } else { self.depends(id) }
    }

    fn tested_as(&self, id: ExprId, text: &str, test: Test) -> When {
        if text.len() > LONGEST {
            return self.depends(id);
        }
        let subject = Subject {
            item: self.env.item(),
            expr: id,
            text: text.into(),
            reads: self.reads_of(id),
            names: free_names(self.exprs, id),
            is_statement: is_comparison(&self.exprs[id]),
        };
        When::atom(Arc::new(subject), test)
    }

    /// A condition that depends in an unknown way on the references that an expression reads.
    pub(super) fn depends(&self, id: ExprId) -> When {
        When::depends(self.reads_of(id))
    }

    /// Names the references that may decide in a value whose ephemerality is vague. Leaves out references that are
    /// ephemeral in any case, unless there are no others.
    pub(super) fn named(&mut self, id: ExprId, value: Abstract) -> Abstract {
        let (mut decides, mut all) = (Vec::new(), Vec::new());
        for at in traversals(self.exprs, id) {
            let Some(text) = traversal_text(self.exprs, at) else { continue };
            // A reference that is vague itself is the one that decides.
            if at == id || self.reinfer(at).ephemeral.here() != &When::Always {
                decides.push(Str::from(text.as_str()));
            }
            all.push(Str::from(text));
        }
        let reads = if decides.is_empty() { all } else { decides };
        let ephemeral = value.ephemeral.map(|when| match when.is_vague() {
            true => when.weakened_by(reads.iter().cloned()),
            false => when.clone(),
        });
        Abstract { ephemeral, ..value }
    }

    /// Forgets the formula of a condition, and adds the references that the expressions in `by` read.
    pub(super) fn weakened_by(&self, when: &When, by: impl IntoIterator<Item = ExprId>) -> When {
        if when.is_never() {
            return When::Never;
        }
        when.weakened_by(by.into_iter().flat_map(|id| self.reads_of(id)))
    }

    /// A collection of an unknown number of elements like `element`, which was inferred with `names` bound to a
    /// part of the collection at `at`. It has elements if `filled` holds.
    pub(super) fn each_where(
        &self,
        ty: Type,
        element: Abstract,
        filled: &When,
        names: &[SymbolId],
        at: ExprId,
    ) -> Abstract {
        if element.ephemeral.is_never() {
            return Abstract::each(ty, element);
        }
        let element = element.outside_of(names, &self.reads_of(at));
        let inside = filled.and(&element.ephemeral.somewhere());
        let ephemeral = Ephemerality::new(When::Never, inside);
        Abstract { ephemeral, ..Abstract::each(ty, element) }
    }

    /// The references that an expression reads, except those that start with a bound name.
    pub(super) fn reads_of(&self, id: ExprId) -> Vec<Str> {
        let is_outside = |at: &ExprId| !starts_with_name(self.exprs, *at);
        let found = traversals(self.exprs, id).into_iter().filter(is_outside);
        found.filter_map(|at| traversal_text(self.exprs, at)).map(Str::from).collect()
    }

    /// The condition that a collection has elements.
    pub(in crate::analysis) fn has_elements(&mut self, id: ExprId, value: &Abstract) -> When {
        self.has_elements_within(id, value, DEEPEST)
    }

    fn has_elements_within(&mut self, id: ExprId, value: &Abstract, depth: usize) -> When {
        match (value.known_length(), &value.ty) {
            (Some(0), _) => return When::Never,
            (Some(_), _) => return When::Always,
            (None, Type::Tuple(types)) if !types.is_empty() => return When::Always,
            (None, Type::Object(object)) if object.iter().next().is_some() => return When::Always,
            _ => {}
        }
        let exprs = self.exprs;
        let nearer = depth.saturating_sub(1);
        match &exprs[id] {
            _ if depth == 0 => {}
            Expr::Call(call) if keeps_one_of_each(&call.name) && !call.expand => {
                let mut filled = When::Never;
                for arg in &call.args {
                    filled = filled.or(&self.has_elements_reinferred(*arg, nearer));
                }
                return filled;
            }
            Expr::ForTuple(it) if it.condition.is_none() => {
                return self.has_elements_reinferred(it.collection, nearer);
            }
            Expr::ForObject(it) if it.condition.is_none() => {
                return self.has_elements_reinferred(it.collection, nearer);
            }
            Expr::Conditional { condition, then, otherwise } => {
                let then = self.has_elements_reinferred(*then, nearer);
                let otherwise = self.has_elements_reinferred(*otherwise, nearer);
                return self.truth(*condition).choose(&then, &otherwise);
            }
            _ => {}
        }
        self.tested(id, Test::Empty).not()
    }

    fn has_elements_reinferred(&mut self, id: ExprId, depth: usize) -> When {
        let value = self.reinfer(id);
        self.has_elements_within(id, &value, depth)
    }

    /// Infers an expression once more, without reporting problems.
    fn reinfer(&mut self, id: ExprId) -> Abstract {
        let problems = self.problems.len();
        let value = self.with_certainty(Certainty::Hidden, |it| it.expr(id));
        self.problems.truncate(problems);
        value
    }

    /// The condition that the evaluation of an expression fails.
    pub(super) fn failure(&mut self, id: ExprId) -> When {
        self.failure_within(id, DEEPEST)
    }

    fn failure_within(&mut self, id: ExprId, depth: usize) -> When {
        let exprs = self.exprs;
        let nearer = depth.saturating_sub(1);
        match &exprs[id] {
            Expr::Literal(_) | Expr::Ref(_) | Expr::Symbol(_) => When::Never,
            _ if depth == 0 => self.depends(id),
            Expr::Tuple(items) => {
                let all = items.iter().map(|item| self.failure_within(*item, nearer));
                all.fold(When::Never, |any, it| any.or(&it))
            }
            Expr::Object(items) if items.iter().all(|it| is_name(&exprs[it.key])) => {
                let all = items.iter().map(|item| self.failure_within(item.value, nearer));
                all.fold(When::Never, |any, it| any.or(&it))
            }
            Expr::GetAttr { base, name }
                if !matches!(exprs[*base], Expr::Ref(crate::Ref::Module(_))) =>
            {
                self.access_failure(id, *base, name, nearer)
            }
            Expr::Index { base, key } => {
                let value = self.reinfer(*key);
                let Some(constant) = value.constant.as_ref() else { return self.depends(id) };
                if !self.is_showable(&value) {
                    return self.depends(id);
                }
                match (constant.0.as_number().and_then(|it| it.to_usize()), key_text(&value)) {
                    (Some(position), _) => self.position_failure(id, *base, position, nearer),
                    // While an object is unknown, no key is known to be missing.
                    (None, Some(name)) if self.may_lack(*base, &name) => self.depends(id),
                    (None, Some(name)) => self.access_failure(id, *base, &name, nearer),
                    _ => self.depends(id),
                }
            }
            _ => self.depends(id),
        }
    }

    /// Returns true if the base, which is no constant, is of an object type without this attribute.
    fn may_lack(&mut self, base: ExprId, name: &Str) -> bool {
        let value = self.reinfer(base);
        let lacks = matches!(&value.ty, Type::Object(object) if object.get(name).is_none());
        lacks && value.constant.is_none()
    }

    fn access_failure(&mut self, id: ExprId, base: ExprId, name: &Str, depth: usize) -> When {
        let value = self.reinfer(base);
        let lacks = match &value.ty {
            _ if !value.failing.is_typed_early || value.is_null() => return self.depends(id),
            Type::Map(_) => self.tested(base, Test::HasKey(name.clone())).not(),
            Type::Object(object) if object.get(name).is_none() => When::Always,
            Type::Object(_) if value.presence >= Presence::NotNull => When::Never,
            Type::Object(_) => self.tested(base, Test::Null),
            _ => return self.depends(id),
        };
        self.failure_within(base, depth).or(&lacks)
    }

    fn position_failure(
        &mut self,
        id: ExprId,
        base: ExprId,
        position: usize,
        depth: usize,
    ) -> When {
        let value = self.reinfer(base);
        let lacks = match &value.ty {
            _ if !value.failing.is_typed_early || value.is_null() => return self.depends(id),
            Type::List(_) => self.tested(base, Test::HasMoreThan(position)).not(),
            Type::Tuple(types) if types.len() <= position => When::Always,
            Type::Tuple(_) if value.presence >= Presence::NotNull => When::Never,
            Type::Tuple(_) => self.tested(base, Test::Null),
            _ => return self.depends(id),
        };
        self.failure_within(base, depth).or(&lacks)
    }
}

/// Returns true for functions whose result has an element if one of their arguments has.
fn keeps_one_of_each(name: &str) -> bool {
    const NAMES: [&str; 12] = [
        "concat",
        "merge",
        "reverse",
        "sort",
        "distinct",
        "toset",
        "tolist",
        "tomap",
        "values",
        "keys",
        "setunion",
        "sensitive",
    ];
    NAMES.contains(&name)
}

fn is_name(key: &Expr) -> bool {
    matches!(key, Expr::Literal(Literal::String(_)))
}

fn is_comparison(expr: &Expr) -> bool {
    let Expr::Binary { op, .. } = expr else { return false };
    !matches!(op, BinaryOp::And | BinaryOp::Or) && op.result_type() == Type::Bool
}

fn starts_with_name(exprs: &Exprs, mut id: ExprId) -> bool {
    loop {
        match &exprs[id] {
            Expr::GetAttr { base, .. } | Expr::Index { base, .. } => id = *base,
            it => return matches!(it, Expr::Symbol(_)),
        }
    }
}

/// The names in an expression that an enclosing construct binds.
fn free_names(exprs: &Exprs, root: ExprId) -> Vec<SymbolId> {
    let (mut found, mut bound) = (Vec::new(), Vec::new());
    let mut rest = vec![root];
    while let Some(id) = rest.pop() {
        match &exprs[id] {
            Expr::Symbol(symbol) => found.push(*symbol),
            Expr::Splat { item, .. } => bound.push(*item),
            Expr::ForTuple(it) => bound.extend(it.key.into_iter().chain([it.value])),
            Expr::ForObject(it) => bound.extend(it.key.into_iter().chain([it.value])),
            _ => {}
        }
        exprs[id].for_each_child(&mut |child| rest.push(child));
    }
    found.retain(|name| !bound.contains(name));
    sorted::sort(&mut found);
    found.dedup();
    found
}

/// The text of an expression on one line. `None` if it is too deep, or of a form that is not shown.
fn text(exprs: &Exprs, id: ExprId, depth: usize) -> Option<String> {
    if depth > DEEPEST {
        return None;
    }
    let part = |id: &ExprId| text(exprs, *id, depth + 1);
    // An operand that is an operation itself is put in parentheses.
    let operand = |id: &ExprId| match &exprs[*id] {
        Expr::Binary { .. } | Expr::Conditional { .. } => Some(format!("({})", part(id)?)),
        _ => part(id),
    };
    match &exprs[id] {
        Expr::Literal(Literal::Null) => Some("null".to_owned()),
        Expr::Literal(Literal::Bool(value)) => Some(value.to_string()),
        Expr::Literal(Literal::Number(number)) => Some(number.to_string()),
        Expr::Literal(Literal::String(text)) => Some(addr::quote(text)),
        Expr::Unary { op, operand: of } => {
            let sign = if *op == UnaryOp::Not { "!" } else { "-" };
            Some(format!("{sign}{}", operand(of)?))
        }
        Expr::Binary { op, left, right } => {
            Some(format!("{} {} {}", operand(left)?, sign(*op), operand(right)?))
        }
        Expr::Index { base, key } => Some(format!("{}[{}]", operand(base)?, part(key)?)),
        Expr::GetAttr { base, name } => Some(format!("{}.{name}", operand(base)?)),
        // The argument of `sensitive` must not appear in a message, although it is in the source.
        Expr::Call(call) if &*call.name == "sensitive" && has_literal(exprs, id) => None,
        Expr::Call(call) if !call.expand => {
            let args: Option<Vec<String>> = call.args.iter().map(part).collect();
            Some(format!("{}({})", call.name, args?.join(", ")))
        }
        Expr::Tuple(items) => {
            let items: Option<Vec<String>> = items.iter().map(part).collect();
            Some(format!("[{}]", items?.join(", ")))
        }
        Expr::Object(items) if items.is_empty() => Some("{}".to_owned()),
        Expr::Object(items) => {
            let mut text = "{ ".to_owned();
            for (position, item) in items.iter().enumerate() {
                let comma = if position > 0 { ", " } else { "" };
                let key = match &exprs[item.key] {
                    Expr::Literal(Literal::String(key)) if addr::is_identifier(key) => {
                        key.to_string()
                    }
                    Expr::Literal(_) => part(&item.key)?,
                    _ => format!("({})", part(&item.key)?),
                };
                let _ = write!(text, "{comma}{key} = {}", part(&item.value)?);
            }
            Some(text + " }")
        }
        Expr::Ref(_) | Expr::Symbol(_) => traversal_text(exprs, id),
        _ => None,
    }
}

/// Returns true if an expression contains a literal or a template.
fn has_literal(exprs: &Exprs, root: ExprId) -> bool {
    let mut rest = vec![root];
    while let Some(id) = rest.pop() {
        if matches!(exprs[id], Expr::Literal(_) | Expr::Template(_)) {
            return true;
        }
        exprs[id].for_each_child(&mut |child| rest.push(child));
    }
    false
}

fn sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Modulo => "%",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "!=",
        BinaryOp::Less => "<",
        BinaryOp::LessOrEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterOrEqual => ">=",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
    }
}
