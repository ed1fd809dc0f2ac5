//! Expressions as constants or as lists of their references.

use hir::{Entry, Expr, ExprId, Exprs, Ref, expr::Literal, item::Body};
use provider::Nesting;
use serde_json::{Map, Value as Json, json};

use crate::json;

/// The expressions of one item.
pub(super) struct Expressions<'a> {
    exprs: &'a Exprs,
}

impl<'a> Expressions<'a> {
    pub(super) fn of(entry: &'a Entry) -> Expressions<'a> {
        Expressions { exprs: &entry.item.exprs }
    }

    /// `{"constant_value": …}`, `{"references": […]}`, or an empty object if the expression is neither. It has
    /// both fields if a constant condition leaves the references of a conditional unused.
    pub(super) fn json(&self, expr: ExprId) -> Json {
        let mut references = Vec::new();
        self.collect(expr, &mut references);
        let mut fields = Map::new();
        if references.is_empty() || self.has_conditional(expr) {
            let constant = hir::eval::constant(self.exprs, expr);
            let value = json::known(&constant.value).filter(|_| !constant.has_errors());
            fields.extend(value.map(|it| ("constant_value".to_owned(), it)));
        }
        if !references.is_empty() {
            fields.insert("references".to_owned(), json!(references));
        }
        Json::Object(fields)
    }

    fn has_conditional(&self, expr: ExprId) -> bool {
        let mut found = matches!(self.exprs[expr], Expr::Conditional { .. });
        self.exprs[expr].for_each_child(&mut |expr| found |= self.has_conditional(expr));
        found
    }

    /// The attributes and blocks of a body. Without a schema, every block type is a list.
    pub(super) fn body(&self, body: &Body, schema: Option<&provider::Block>) -> Map<String, Json> {
        let mut fields: Map<String, Json> =
            body.attrs.iter().map(|it| (it.name.to_string(), self.json(it.value))).collect();
        for block in &body.blocks {
            let nested = schema.and_then(|it| it.blocks().get(&block.kind));
            let inside = Json::Object(self.body(&block.body, nested.map(|it| &it.block)));
            let nesting = nested.map_or(Nesting::List, |it| it.nesting);
            match (nesting, block.labels.first()) {
                (Nesting::Single | Nesting::Group, _) => {
                    fields.insert(block.kind.to_string(), inside);
                }
                (Nesting::Map, Some(label)) => {
                    let group = fields.entry(&*block.kind).or_insert_with(|| json!({}));
                    group.as_object_mut().map(|it| it.insert(label.to_string(), inside));
                }
                _ => {
                    let group = fields.entry(&*block.kind).or_insert_with(|| json!([]));
                    group.as_array_mut().into_iter().for_each(|it| it.push(inside.clone()));
                }
            }
        }
        fields.sort_keys();
        fields
    }

    /// Collects the references in source order, each followed by its prefixes.
    fn collect(&self, expr: ExprId, found: &mut Vec<String>) {
        if let Some(traversal) = self.traversal(expr) {
            return push_prefixes(&traversal, found);
        }
        self.exprs[expr].for_each_child(&mut |expr| self.collect(expr, found));
    }

    /// The reference and its constant steps. `None` if the expression is not a plain reference.
    fn traversal(&self, expr: ExprId) -> Option<Traversal<'a>> {
        let exprs: &'a Exprs = self.exprs;
        let mut steps = Vec::new();
        let mut expr = expr;
        loop {
            match &exprs[expr] {
                Expr::Ref(reference) => {
                    steps.reverse();
                    return Some(Traversal { reference, steps });
                }
                Expr::GetAttr { base, name } => {
                    steps.push(Step::Attr(name));
                    expr = *base;
                }
                Expr::Index { base, key } => {
                    let Expr::Literal(key) = &exprs[*key] else { return None };
                    steps.push(Step::Index(key_text(key)?));
                    expr = *base;
                }
                _ => return None,
            }
        }
    }
}

struct Traversal<'a> {
    reference: &'a Ref,
    steps: Vec<Step<'a>>,
}

enum Step<'a> {
    Attr(&'a str),
    Index(String),
}

fn key_text(key: &Literal) -> Option<String> {
    match key {
        Literal::Number(number) => Some(format!("[{number}]")),
        Literal::String(text) => Some(format!("[{}]", addr::quote(text))),
        Literal::Null | Literal::Bool(_) => None,
    }
}

fn push_prefixes(traversal: &Traversal<'_>, found: &mut Vec<String>) {
    let subject = subject_length(traversal);
    let text = |length: usize| {
        let mut text = traversal.reference.to_string();
        for step in &traversal.steps[..length] {
            match step {
                Step::Attr(name) => text.push_str(&format!(".{name}")),
                Step::Index(key) => text.push_str(key),
            }
        }
        text
    };
    found.extend((subject..=traversal.steps.len()).rev().map(text));
    // Also lists the whole resource or module call of an instance or output.
    match traversal.reference {
        Ref::Resource(_) | Ref::Module(_) if subject > 0 => found.push(text(subject - 1)),
        _ => {}
    }
}

/// The number of steps that belong to the referenced object: the key of a resource or module, and the output of a
/// module.
fn subject_length(traversal: &Traversal<'_>) -> usize {
    let is_index = |at: usize| matches!(traversal.steps.get(at), Some(Step::Index(_)));
    let key = usize::from(is_index(0));
    match traversal.reference {
        Ref::Resource(_) => key,
        Ref::Module(_) => {
            key + usize::from(matches!(traversal.steps.get(key), Some(Step::Attr(_))))
        }
        _ => 0,
    }
}
