//! Functions that choose one of their arguments.

use super::{
    call::{Call, FunctionError},
    signature::{Body, Function, Needs, Parameter, Place, Returns},
};
use crate::{Kind, Type, Value, convert, rules::RuleId};

const EXPRESSIONS: Parameter = Parameter::any("expressions").nullable().lazy();

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "try",
        doc: "Returns the first of its arguments that can be evaluated without an error.",
        params: &[],
        variadic: Some(EXPRESSIONS),
        rule: RuleId::Try,
        place: Place::Everywhere,
        returns: Returns::From(open),
        nullable: true,
        needs: Needs::Nothing,
        body: Body::Form,
    },
    Function {
        name: "can",
        doc: "Returns true if its argument can be evaluated without an error.",
        params: &[Parameter::any("expression").nullable().lazy()],
        variadic: None,
        rule: RuleId::Can,
        place: Place::Everywhere,
        returns: Returns::Fixed(super::Shape::Bool),
        nullable: false,
        needs: Needs::Nothing,
        body: Body::Form,
    },
    Function {
        name: "type",
        doc: "Shows the type of a value.",
        params: &[Parameter::any("value").nullable().lazy()],
        variadic: None,
        rule: RuleId::Function,
        place: Place::Console,
        returns: Returns::Fixed(super::Shape::String),
        nullable: false,
        needs: Needs::Nothing,
        body: Body::Form,
    },
    Function::new(
        "coalesce",
        &[],
        Returns::From(common),
        coalesce,
        "Returns the first argument that is neither null nor an empty string.",
    )
    .variadic(Parameter::any("vals").nullable().lazy())
    .needs(Needs::Nothing),
    Function::new(
        "coalescelist",
        &[],
        Returns::From(common_list),
        coalesce_list,
        "Returns the first list that is not empty.",
    )
    .variadic(Parameter::any("vals").nullable().lazy())
    .needs(Needs::Nothing),
];

fn open(_args: &[Value]) -> Result<Type, FunctionError> {
    Ok(Type::Dynamic)
}

fn common(args: &[Value]) -> Result<Type, FunctionError> {
    if args.is_empty() {
        return Err(FunctionError::new("at least one argument is required"));
    }
    let types: Vec<Type> = args.iter().map(Value::ty).collect();
    convert::unify(&types)
        .ok_or_else(|| FunctionError::new("all arguments must have the same type"))
}

fn coalesce(call: &Call<'_>) -> Result<Value, FunctionError> {
    for (i, arg) in call.args.iter().enumerate() {
        let arg =
            convert::convert(arg, &call.ty).map_err(|error| FunctionError::at(i, error.message))?;
        match arg.kind() {
            Kind::Null => {}
            Kind::Unknown(_) => return Ok(call.unknown()),
            Kind::String(text) if text.is_empty() => {}
            _ => return Ok(arg),
        }
    }
    Err(FunctionError::new("no non-null, non-empty-string arguments"))
}

fn common_list(args: &[Value]) -> Result<Type, FunctionError> {
    if args.is_empty() {
        return Err(FunctionError::new("at least one argument is required"));
    }
    let types: Vec<Type> = args.iter().map(Value::ty).collect();
    for (arg, ty) in args.iter().zip(&types) {
        let is_open = *ty == Type::Dynamic && !arg.is_null();
        if !is_open && !matches!(ty, Type::List(_) | Type::Tuple(_)) {
            return Err(FunctionError::new("coalescelist arguments must be lists or tuples"));
        }
    }
    let first = types[0].clone();
    Ok(if types.iter().all(|ty| *ty == first) { first } else { Type::Dynamic })
}

fn coalesce_list(call: &Call<'_>) -> Result<Value, FunctionError> {
    for arg in call.args {
        match arg.kind() {
            Kind::Null => {}
            Kind::Unknown(_) => return Ok(call.unknown()),
            _ if arg.stored_length() == Some(0) => {}
            _ => return Ok(arg.clone()),
        }
    }
    Err(FunctionError::new("no non-null arguments"))
}
