//! Lowers type constraints. Their keywords and calls are read statically, not evaluated.

use std::sync::Arc;

use db::Summary;
use syntax::{AstNode, TextRange, flat::ast};
use values::{ObjectType, Str, Type, convert};

use crate::{
    fix::Fix,
    item::{ConstValue, DefaultStep, Defaults, TypeConstraint},
    lower::{item_ctx::ItemCtx, literal, problem::Problem},
};

/// The `type` argument of a variable. Any type if it is absent.
pub(super) fn constraint(ctx: &mut ItemCtx<'_>, attr: Option<ast::Attribute>) -> TypeConstraint {
    let any = TypeConstraint { ty: Type::Dynamic, defaults: None, written: false };
    let Some(value) = attr.and_then(|attr| attr.value()) else { return any };
    // Old modules write `list` and `map` without an element type.
    let element = match value.name_token().as_ref().map(|word| word.text()) {
        Some("list") => Some(Type::list(Type::Dynamic)),
        Some("map") => Some(Type::map(Type::Dynamic)),
        _ => None,
    };
    if let Some(ty) = element {
        return TypeConstraint { ty, defaults: None, written: true };
    }
    written(ctx, &value).unwrap_or(TypeConstraint { written: true, ..any })
}

/// A type expression, here the second argument of `convert`. `None` if it is invalid, which is reported.
pub(super) fn written(ctx: &mut ItemCtx<'_>, value: &ast::Expr) -> Option<TypeConstraint> {
    let mut defaults = Defaults::default();
    let ty = parse(ctx, value, &mut defaults)?;
    Some(TypeConstraint { ty, defaults: present(defaults), written: true })
}

fn present(defaults: Defaults) -> Option<Arc<Defaults>> {
    let empty = defaults.attributes.is_empty() && defaults.children.is_empty();
    (!empty).then(|| Arc::new(defaults))
}

fn parse(ctx: &mut ItemCtx<'_>, value: &ast::Expr, defaults: &mut Defaults) -> Option<Type> {
    let range = value.syntax().text_range();
    if let Some(word) = value.name_token() {
        return keyword(ctx, word.text(), range);
    }
    if let Some(text) = literal::literal_string(value) {
        return quoted(ctx, &text, range);
    }
    let ast::Expr::Call(call) = value else {
        return invalid(
            ctx,
            range,
            "A type specification is either a primitive type keyword (bool, number, string), complex type \
                                    constructor call, or the keyword any.",
        );
    };
    let name = call.name()?;
    let args: Vec<ast::Expr> = call.args().collect();
    match (&*name, args.as_slice()) {
        ("list" | "set" | "map", [element]) => {
            let mut inner = Defaults::default();
            let element = parse(ctx, element, &mut inner)?;
            child(defaults, DefaultStep::Element, inner);
            Some(match &*name {
                "list" => Type::list(element),
                "set" => Type::set(element),
                _ => Type::map(element),
            })
        }
        ("list" | "set" | "map", _) => invalid(
            ctx,
            range,
            &format!(
                "The {name} type constructor requires one argument specifying the element type."
            ),
        ),
        ("tuple", [ast::Expr::Tuple(elements)]) => tuple(ctx, elements, defaults),
        ("tuple", _) => {
            invalid(ctx, range, "Tuple type constructor requires a list of element types.")
        }
        ("object", [ast::Expr::Object(object)]) => self::object(ctx, object, defaults),
        ("object", _) => invalid(
            ctx,
            range,
            "Object type constructor requires a map whose keys are attribute names and whose values are types.",
        ),
        ("optional", _) => invalid(
            ctx,
            range,
            "Keyword \"optional\" is valid only as a modifier for object type attributes.",
        ),
        ("string" | "number" | "bool" | "any", _) => invalid(
            ctx,
            range,
            &format!("Primitive type keyword \"{name}\" does not expect arguments."),
        ),
        _ => {
            let detail = format!("Keyword \"{name}\" is not a valid type constructor.");
            misspelled(ctx, range, &name, &detail)
        }
    }
}

fn invalid(ctx: &mut ItemCtx<'_>, range: TextRange, detail: &str) -> Option<Type> {
    ctx.problem(Problem::new(Summary::INVALID_TYPE_CONSTRAINT, range, detail));
    None
}

/// The words that form types. `optional` is not among them, because it forms no type of its own.
pub(super) const WORDS: [&str; 9] =
    ["string", "number", "bool", "any", "list", "map", "set", "object", "tuple"];

/// Reports an unknown type name, with a suggestion if there is a close name.
fn misspelled(ctx: &mut ItemCtx<'_>, range: TextRange, word: &str, detail: &str) -> Option<Type> {
    let close = crate::suggest::closest(word, WORDS);
    let hint = crate::suggest::question(close);
    let problem = Problem::new(Summary::INVALID_TYPE_CONSTRAINT, range, format!("{detail}{hint}"));
    ctx.problem(problem.fixed_by(Fix::first(word, close)));
    None
}

fn keyword(ctx: &mut ItemCtx<'_>, word: &str, range: TextRange) -> Option<Type> {
    match word {
        "string" => Some(Type::String),
        "number" => Some(Type::Number),
        "bool" => Some(Type::Bool),
        "any" => Some(Type::Dynamic),
        "list" | "set" | "map" => invalid(
            ctx,
            range,
            &format!(
                "The {word} type constructor requires one argument specifying the element type."
            ),
        ),
        "object" | "tuple" => invalid(
            ctx,
            range,
            &format!(
                "The {word} type constructor requires one argument specifying its {}.",
                if word == "object" {
                    "attribute types as a map"
                } else {
                    "element types as a list"
                }
            ),
        ),
        other => {
            let detail = format!("The keyword \"{other}\" is not a valid type specification.");
            misspelled(ctx, range, other, &detail)
        }
    }
}

fn quoted(ctx: &mut ItemCtx<'_>, text: &str, range: TextRange) -> Option<Type> {
    let ty = match text {
        "string" => Some(Type::String),
        "list" => Some(Type::list(Type::String)),
        "map" => Some(Type::map(Type::String)),
        _ => None,
    };
    match ty {
        Some(ty) => {
            ctx.problem(Problem::new(
                Summary::QUOTED_TYPE_CONSTRAINT,
                range,
                format!("Quoted type constraints are no longer supported. Remove the quotes around \"{text}\"."),
            ));
            Some(ty)
        }
        None => invalid(
            ctx,
            range,
            "A type is written without quotes: string, list(number), object({ name = string }).",
        ),
    }
}

fn tuple(ctx: &mut ItemCtx<'_>, elements: &ast::Tuple, defaults: &mut Defaults) -> Option<Type> {
    let mut types = Vec::new();
    for (position, element) in elements.elements().enumerate() {
        let mut inner = Defaults::default();
        types.push(parse(ctx, &element, &mut inner)?);
        child(defaults, DefaultStep::Position(position as u32), inner);
    }
    Some(Type::tuple(types))
}

fn object(ctx: &mut ItemCtx<'_>, object: &ast::Object, defaults: &mut Defaults) -> Option<Type> {
    let mut attributes: Vec<(Str, Type)> = Vec::new();
    let mut optional: Vec<Str> = Vec::new();
    for item in object.items() {
        let key = item.key()?;
        let key_range = key.syntax().text_range();
        let Some(name) = key.name_token() else {
            return invalid(ctx, key_range, "Object constructor map keys must be attribute names.");
        };
        let name = Str::from(name.text());
        if attributes.iter().any(|(existing, _)| *existing == name) {
            return invalid(ctx, key_range, "Object constructor map keys must be unique.");
        }
        let value = item.value()?;
        let mut inner = Defaults::default();
        let ty = match optional_modifier(&value) {
            Some(args) => {
                optional.push(name.clone());
                optional_attribute(ctx, &name, &value, &args, defaults, &mut inner)?
            }
            None => parse(ctx, &value, &mut inner)?,
        };
        child(defaults, DefaultStep::Attr(name.clone()), inner);
        attributes.push((name, ty));
    }
    Some(Type::Object(Arc::new(ObjectType::new(attributes).with_optional(optional))))
}

fn optional_modifier<'t>(value: &ast::Expr<'t>) -> Option<Vec<ast::Expr<'t>>> {
    match value {
        ast::Expr::Call(call) if call.name().as_deref() == Some("optional") => {
            Some(call.args().collect())
        }
        _ => None,
    }
}

fn optional_attribute(
    ctx: &mut ItemCtx<'_>,
    name: &Str,
    value: &ast::Expr,
    args: &[ast::Expr],
    defaults: &mut Defaults,
    inner: &mut Defaults,
) -> Option<Type> {
    let range = value.syntax().text_range();
    let (ty, default) = match args {
        [ty] => (parse(ctx, ty, inner)?, None),
        [ty, default] => (parse(ctx, ty, inner)?, Some(default)),
        _ => {
            return invalid(
                ctx,
                range,
                "Optional attribute modifier requires the attribute type as its argument, \
                 optionally followed by its default value.",
            );
        }
    };
    if let Some(default) = default {
        let id = ctx.expr(default);
        let exprs = ctx.exprs_so_far();
        let constant =
            Some(crate::eval::constant(&exprs, id)).filter(|it| it.diagnostics.is_empty());
        let constraint =
            TypeConstraint { ty: ty.clone(), defaults: present(inner.clone()), written: true };
        let converted = constant.map(|it| match it.value.is_null() {
            true => convert::convert(&it.value, &ty.without_optional()),
            false => crate::eval::apply_type(&constraint, it.value),
        });
        match converted {
            Some(Ok(value)) => defaults.attributes.push((name.clone(), ConstValue(value))),
            Some(Err(error)) => ctx.problem(Problem::new(
                Summary::INVALID_OPTIONAL_DEFAULT,
                default.syntax().text_range(),
                format!("This default value is not compatible with the attribute's type constraint: {error}."),
            )),
            None => ctx.problem(Problem::new(
                Summary::INVALID_OPTIONAL_DEFAULT,
                default.syntax().text_range(),
                "A default is a constant: it may neither refer to anything nor call a function.",
            )),
        }
    }
    Some(ty)
}

fn child(defaults: &mut Defaults, step: DefaultStep, inner: Defaults) {
    if let Some(inner) = present(inner) {
        defaults.children.push((step, inner));
    }
}
