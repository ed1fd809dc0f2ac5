//! Lowers expressions from the syntax tree to the arena of an item.

use db::Summary;
use smallvec::SmallVec;
use syntax::{
    AstNode, TextRange,
    flat::{
        ast,
        template::{self, Part, Template},
    },
};
use values::{
    Number, Str, Text,
    ops::{BinaryOp, UnaryOp},
};

use crate::{
    expr::{Call, Expr, ExprId, ForObject, ForTuple, Literal, ObjectItem, SymbolId, TemplatePart},
    lower::{item_ctx::ItemCtx, problem::Problem, reference, types},
};

/// The collection of a `for` expression and the names that it binds.
struct ForNames {
    collection: ExprId,
    key: Option<SymbolId>,
    value: SymbolId,
    /// The number of names in scope before, for [`ItemCtx::leave`].
    depth: usize,
}

impl ItemCtx<'_> {
    /// Lowers an expression that is missing after a syntax error.
    pub(super) fn expr_opt(&mut self, expr: Option<ast::Expr>, around: TextRange) -> ExprId {
        match expr {
            Some(expr) => self.expr(&expr),
            None => self.alloc(Expr::Missing, TextRange::empty(around.end())),
        }
    }

    /// Lowers an expression.
    pub(super) fn expr(&mut self, expr: &ast::Expr) -> ExprId {
        let range = expr.syntax().text_range();
        match expr {
            ast::Expr::Literal(it) => self.literal(it, range),
            ast::Expr::Reference(it) => reference::traversal(self, Some(it), &[], range),
            ast::Expr::Traversal(it) => self.traversal(it, range),
            ast::Expr::Call(it) => self.call(it, range),
            ast::Expr::Unary(it) => self.unary(it, range),
            ast::Expr::Binary(it) => self.binary(it, range),
            ast::Expr::Conditional(it) => {
                let condition = self.expr_opt(it.condition(), range);
                let then = self.expr_opt(it.then_expr(), range);
                let otherwise = self.expr_opt(it.else_expr(), range);
                self.alloc(Expr::Conditional { condition, then, otherwise }, range)
            }
            ast::Expr::Paren(it) => self.expr_opt(it.expr(), range),
            ast::Expr::Tuple(it) => {
                let elements = it.elements().map(|element| self.expr(&element)).collect();
                self.alloc(Expr::Tuple(elements), range)
            }
            ast::Expr::Object(it) => self.object(it, range),
            ast::Expr::ForTuple(it) => self.for_tuple(it, range),
            ast::Expr::ForObject(it) => self.for_object(it, range),
            ast::Expr::QuotedTemplate(it) => self.quoted(it, range),
            ast::Expr::Heredoc(it) => self.template(&template::heredoc(it), range),
        }
    }

    fn literal(&mut self, literal: &ast::Literal, range: TextRange) -> ExprId {
        let value = match literal.kind() {
            Some(ast::LiteralKind::Null) => Literal::Null,
            Some(ast::LiteralKind::Bool(value)) => Literal::Bool(value),
            // Other invalid numbers are already reported by the parser.
            Some(ast::LiteralKind::Number(text)) => match Number::parse(&text) {
                Some(number) => Literal::Number(number),
                None => return self.no_number(range),
            },
            None => return self.alloc(Expr::Missing, range),
        };
        self.alloc(Expr::Literal(value), range)
    }

    /// Reports a number whose exponent is out of range. The parser has reported other invalid numbers.
    fn no_number(&mut self, range: TextRange) -> ExprId {
        if !self.problems.iter().any(|it| it.range == range) {
            self.problem(Problem::new(
                Summary::INVALID_NUMBER,
                range,
                "Failed to recognize the value of this number literal: its exponent is too large \
                 or too small. Write a number that can be held.",
            ));
        }
        self.alloc(Expr::Missing, range)
    }

    /// Adds a string constant that the syntax implies, such as the bare key of an object.
    pub(super) fn string(&mut self, text: Text, range: TextRange) -> ExprId {
        self.alloc(Expr::Literal(Literal::String(text)), range)
    }

    fn traversal(&mut self, traversal: &ast::Traversal, range: TextRange) -> ExprId {
        let steps: SmallVec<[ast::Step; 4]> = traversal.steps().collect();
        match traversal.base() {
            Some(ast::Expr::Reference(root)) => {
                reference::traversal(self, Some(&root), &steps, range)
            }
            Some(base) => {
                let start = base.syntax().text_range();
                let base = self.expr(&base);
                self.steps(base, start, &steps)
            }
            None => self.alloc(Expr::Missing, range),
        }
    }

    /// Applies traversal steps to a lowered base. `start` is the range of the base.
    pub(super) fn steps(
        &mut self,
        mut base: ExprId,
        start: TextRange,
        steps: &[ast::Step],
    ) -> ExprId {
        for (index, step) in steps.iter().enumerate() {
            let range = start.cover(step.syntax().text_range());
            base = match step {
                ast::Step::AttrStep(it) => match it.name() {
                    Some(name) => self.alloc(Expr::GetAttr { base, name: Str::from(name) }, range),
                    None => self.alloc(Expr::Missing, range),
                },
                ast::Step::LegacyIndexStep(it) => {
                    let key_range = it.syntax().text_range();
                    let number = it.number().and_then(|number| Number::parse(&number));
                    let key = match number {
                        Some(number) => {
                            self.alloc(Expr::Literal(Literal::Number(number)), key_range)
                        }
                        None => self.no_number(key_range),
                    };
                    self.alloc(Expr::Index { base, key }, range)
                }
                ast::Step::IndexStep(it) => {
                    let key = self.expr_opt(it.index(), it.syntax().text_range());
                    self.alloc(Expr::Index { base, key }, range)
                }
                ast::Step::SplatStep(_) => {
                    return self.splat(base, start, step, &steps[index + 1..]);
                }
                ast::Step::AttrSplatStep(_) => {
                    let rest = &steps[index + 1..];
                    let taken = rest
                        .iter()
                        .take_while(|step| {
                            matches!(step, ast::Step::AttrStep(_) | ast::Step::LegacyIndexStep(_))
                        })
                        .count();
                    let splat = self.splat(base, start, step, &rest[..taken]);
                    let start =
                        start.cover(rest[..taken].last().unwrap_or(step).syntax().text_range());
                    return self.steps(splat, start, &rest[taken..]);
                }
            };
        }
        base
    }

    /// Lowers `base[*]` with the steps that apply to each element.
    fn splat(
        &mut self,
        base: ExprId,
        start: TextRange,
        step: &ast::Step,
        inner: &[ast::Step],
    ) -> ExprId {
        let here = start.cover(step.syntax().text_range());
        let item = self.symbol("*".into());
        let element = self.alloc(Expr::Symbol(item), here);
        let each = self.steps(element, here, inner);
        let end = inner.last().map_or(here, |last| start.cover(last.syntax().text_range()));
        self.alloc(Expr::Splat { base, item, each }, end)
    }

    fn call(&mut self, call: &ast::Call, range: TextRange) -> ExprId {
        let name = call.name().unwrap_or_default();
        if let Some(written) = call.func_name() {
            self.node(written.syntax().text_range());
        }
        let name: Str = name.strip_prefix("core::").unwrap_or(&name).into();
        let written: Vec<ast::Expr> = call.args().collect();
        let expand = call.is_expanded() && !written.is_empty();
        // The elements of an expanded argument are values, so the second argument of `convert` is then not a type.
        let takes_type = &*name == "convert" && !(expand && written.len() == 2);
        let args = written.iter().enumerate().map(|(position, arg)| match position {
            1 if takes_type => self.type_argument(arg),
            _ => self.expr(arg),
        });
        let args: Box<[ExprId]> = args.collect();
        self.alloc(Expr::Call(Box::new(Call { name, args, expand })), range)
    }

    fn type_argument(&mut self, arg: &ast::Expr) -> ExprId {
        let ty = types::written(self, arg).map(Box::new);
        self.alloc(Expr::Type(ty), arg.syntax().text_range())
    }

    fn unary(&mut self, unary: &ast::Unary, range: TextRange) -> ExprId {
        let operand = self.expr_opt(unary.operand(), range);
        let op = match unary.op().map(|(op, _)| op) {
            Some(ast::UnaryOp::Not) => UnaryOp::Not,
            Some(ast::UnaryOp::Neg) => UnaryOp::Negate,
            None => return self.alloc(Expr::Missing, range),
        };
        self.alloc(Expr::Unary { op, operand }, range)
    }

    fn binary(&mut self, binary: &ast::Binary, range: TextRange) -> ExprId {
        let left = self.expr_opt(binary.lhs(), range);
        let right = self.expr_opt(binary.rhs(), range);
        let op = match binary.op().map(|(op, _)| op) {
            Some(ast::BinaryOp::Or) => BinaryOp::Or,
            Some(ast::BinaryOp::And) => BinaryOp::And,
            Some(ast::BinaryOp::Eq) => BinaryOp::Equal,
            Some(ast::BinaryOp::NotEq) => BinaryOp::NotEqual,
            Some(ast::BinaryOp::Lt) => BinaryOp::Less,
            Some(ast::BinaryOp::LtEq) => BinaryOp::LessOrEqual,
            Some(ast::BinaryOp::Gt) => BinaryOp::Greater,
            Some(ast::BinaryOp::GtEq) => BinaryOp::GreaterOrEqual,
            Some(ast::BinaryOp::Add) => BinaryOp::Add,
            Some(ast::BinaryOp::Sub) => BinaryOp::Subtract,
            Some(ast::BinaryOp::Mul) => BinaryOp::Multiply,
            Some(ast::BinaryOp::Div) => BinaryOp::Divide,
            Some(ast::BinaryOp::Rem) => BinaryOp::Modulo,
            None => return self.alloc(Expr::Missing, range),
        };
        self.alloc(Expr::Binary { op, left, right }, range)
    }

    fn object(&mut self, object: &ast::Object, range: TextRange) -> ExprId {
        let mut items = Vec::new();
        for item in object.items() {
            let item_range = item.syntax().text_range();
            let Some(key) = item.key() else { continue };
            let key_range = key.syntax().text_range();
            let key = match key.name_token() {
                Some(name) => self.string(name.text().into(), key_range),
                None => {
                    let expr = key.expr();
                    if let Some(ast::Expr::Traversal(_)) = expr {
                        self.problem(Problem::new(
                            Summary::AMBIGUOUS_ATTRIBUTE_KEY,
                            key_range,
                            "If this expression is intended to be a reference, wrap it in \
                             parentheses. If it's instead intended as a literal name containing \
                             periods, wrap it in quotes to create a string literal.",
                        ));
                    }
                    self.expr_opt(expr, key_range)
                }
            };
            let value = self.expr_opt(item.value(), item_range);
            items.push(ObjectItem { key, value });
        }
        self.alloc(Expr::Object(items.into()), range)
    }

    fn for_tuple(&mut self, it: &ast::ForTuple, range: TextRange) -> ExprId {
        let Some(ForNames { collection, key, value, depth }) = self.for_intro(it.intro(), range)
        else {
            return self.alloc(Expr::Missing, range);
        };
        let body = self.expr_opt(it.value(), range);
        let condition = it.cond().map(|cond| self.expr_opt(cond.expr(), range));
        self.leave(depth);
        self.alloc(
            Expr::ForTuple(Box::new(ForTuple { key, value, collection, body, condition })),
            range,
        )
    }

    fn for_object(&mut self, it: &ast::ForObject, range: TextRange) -> ExprId {
        let Some(ForNames { collection, key, value, depth }) = self.for_intro(it.intro(), range)
        else {
            return self.alloc(Expr::Missing, range);
        };
        let item_key = self.expr_opt(it.key(), range);
        let item_value = self.expr_opt(it.value(), range);
        let condition = it.cond().map(|cond| self.expr_opt(cond.expr(), range));
        self.leave(depth);
        let group = it.is_grouped();
        let parts = ForObject { key, value, collection, item_key, item_value, group, condition };
        self.alloc(Expr::ForObject(Box::new(parts)), range)
    }

    /// Lowers `for k, v in collection` and binds the names.
    fn for_intro(&mut self, intro: Option<ast::ForIntro>, range: TextRange) -> Option<ForNames> {
        let intro = intro?;
        let collection = self.expr_opt(intro.collection(), range);
        let depth = self.depth();
        let value = intro.value_name()?;
        let key = intro.key_name().map(|name| self.bind(name.text().into()));
        let value = self.bind(value.text().into());
        Some(ForNames { collection, key, value, depth })
    }

    fn quoted(&mut self, it: &ast::QuotedTemplate, range: TextRange) -> ExprId {
        match template::with_plain_text(it, |text| Text::from(text)) {
            Some(text) => self.string(text, range),
            None => self.template(&template::quoted(it), range),
        }
    }

    /// Lowers a template. A template that consists of one interpolation keeps the type of its value, as HCL
    /// defines.
    pub(super) fn template(&mut self, template: &Template, range: TextRange) -> ExprId {
        match template.as_wrap() {
            Some(interpolation) => self.expr_opt(interpolation.expr.clone(), range),
            None => self.text(&template.parts, range),
        }
    }

    /// Lowers template parts that form a string.
    fn text(&mut self, parts: &[Part], range: TextRange) -> ExprId {
        match parts {
            [] => self.string("".into(), range),
            [Part::Literal(text)] => self.string(text.as_str().into(), range),
            parts => {
                let parts = parts.iter().map(|part| self.template_part(part, range)).collect();
                self.alloc(Expr::Template(parts), range)
            }
        }
    }

    fn template_part(&mut self, part: &Part, range: TextRange) -> TemplatePart {
        match part {
            Part::Literal(text) => TemplatePart::Literal(text.as_str().into()),
            Part::Interpolation(it) => {
                TemplatePart::Expr(self.expr_opt(it.expr.clone(), it.node.syntax().text_range()))
            }
            Part::If(it) => {
                let condition = self.expr_opt(it.condition.clone(), it.node.syntax().text_range());
                let then = self.text(&it.then_parts, range);
                let otherwise = self.text(it.else_parts.as_deref().unwrap_or_default(), range);
                TemplatePart::Expr(
                    self.alloc(Expr::Conditional { condition, then, otherwise }, range),
                )
            }
            Part::For(it) => TemplatePart::Expr(self.template_for(it, range)),
        }
    }

    fn template_for(&mut self, it: &template::For, range: TextRange) -> ExprId {
        let collection = self.expr_opt(it.collection.clone(), it.node.syntax().text_range());
        let Some(value) = &it.value_name else { return self.alloc(Expr::Missing, range) };
        let depth = self.depth();
        let key = it.key_name.as_ref().map(|name| self.bind(name.text().into()));
        let value = self.bind(value.text().into());
        let body = self.text(&it.parts, range);
        self.leave(depth);
        let parts = ForTuple { key, value, collection, body, condition: None };
        let tuple = self.alloc(Expr::ForTuple(Box::new(parts)), range);
        self.alloc(Expr::TemplateJoin(tuple), range)
    }
}
