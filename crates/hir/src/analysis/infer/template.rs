//! String templates.

use db::Summary;
use values::{Kind, Type, Value, convert, rules::RuleId};

use crate::{
    analysis::{
        infer::{
            Infer,
            flow::{Contribution, Flow},
        },
        value::{
            Abstract,
            failing::Failing,
            inside::{Inside, Presence},
            marks::TriMarks,
        },
    },
    expr::{ExprId, TemplatePart},
};

impl Infer<'_> {
    pub(super) fn template(&mut self, id: ExprId, parts: &[TemplatePart]) -> Abstract {
        let mut flow = Flow::default();
        let mut failing = Failing::NEVER;
        let mut text = Some(String::new());
        for part in parts {
            match part {
                TemplatePart::Literal(piece) => push(&mut text, Some(piece)),
                TemplatePart::Expr(expr) => {
                    let value = self.expr(*expr);
                    self.check_template_part(*expr, &value);
                    flow.add(self.contribution(RuleId::Template, &value), &value);
                    failing = failing.reading(&value);
                    push(&mut text, constant_text(&value).as_deref());
                }
            }
        }
        // A template is a string even if its evaluation fails.
        let failing = failing.of_same_type();
        let is_constant = text.is_some();
        let value = match text {
            Some(text) => Abstract::constant(Value::string(text)),
            None => some_text(),
        };
        if is_constant && value.constant.is_none() {
            self.hint_at_size(id);
        }
        flow.onto(Abstract { failing, ..value })
    }

    /// Infers `%{ for }`, which joins the elements of the tuple.
    pub(super) fn template_join(&mut self, tuple: ExprId) -> Abstract {
        let tuple = self.expr(tuple);
        let mut flow = Flow::default();
        flow.add(self.contribution(RuleId::Template, &tuple), &tuple);
        if let Inside::Items(items) = &tuple.inside {
            for item in items.iter() {
                flow.add(self.contribution(RuleId::Template, item), &tuple);
            }
        }
        if !matches!(tuple.inside, Inside::Items(_)) {
            let each =
                Contribution { marks: TriMarks::NONE, when: tuple.ephemeral.inside().clone() };
            flow.add(self.contribution_on(RuleId::Template, each), &tuple);
        }
        flow.add_maybe(&tuple);
        let failing = Failing::NEVER.reading(&tuple).of_same_type();
        flow.onto(Abstract { failing, ..some_text() })
    }

    fn check_template_part(&mut self, expr: ExprId, value: &Abstract) {
        let detail = if value.is_null() {
            "The expression result is null. Cannot include a null value in a string template."
        } else if !value.ty.is_primitive() && value.ty != Type::Dynamic {
            "Cannot include the given value in a string template: string required."
        } else {
            return;
        };
        self.fails(expr, Summary::INVALID_TEMPLATE_INTERPOLATION, detail);
    }
}

/// The value of a template that is not constant. It is never null.
fn some_text() -> Abstract {
    Abstract { presence: Presence::NotNull, ..Abstract::of_type(Type::String) }
}

fn push(text: &mut Option<String>, piece: Option<&str>) {
    match (text.as_mut(), piece) {
        (Some(text), Some(piece)) => text.push_str(piece),
        _ => *text = None,
    }
}

fn constant_text(value: &Abstract) -> Option<String> {
    let text = convert::convert(value.plain_constant()?, &Type::String).ok()?;
    match text.kind() {
        Kind::String(text) => Some(text.to_string()),
        _ => None,
    }
}
