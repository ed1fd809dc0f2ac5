//! The types that describe function signatures.

use std::fmt;

use super::call::{Call, FunctionError};
use crate::{Type, Value, rules::RuleId};

/// A function of the library.
pub struct Function {
    /// The name in configurations.
    pub name: &'static str,
    /// A description in one line.
    pub doc: &'static str,
    /// The parameters that every call must provide.
    pub params: &'static [Parameter],
    /// The parameter for any number of further arguments.
    pub variadic: Option<Parameter>,
    /// The rule that determines the marks of the result.
    pub rule: RuleId,
    /// The contexts in which the function can be called.
    pub place: Place,
    pub(super) returns: Returns,
    /// True if the result may be null.
    pub(super) nullable: bool,
    /// The memory that a call needs.
    pub(super) needs: Needs,
    pub(super) body: Body,
}

/// A parameter of a function.
#[derive(Clone, Copy)]
pub struct Parameter {
    /// The name in messages.
    pub name: &'static str,
    /// The type that arguments are converted to.
    pub shape: Shape,
    /// True if null is a valid argument.
    pub allows_null: bool,
    /// True if the argument keeps its own marks. They reach the result only if the argument is chosen.
    pub is_carried: bool,
    pub(super) unknowns: Unknowns,
}

/// The type of a parameter or a result, as a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Any type, without conversion.
    Any,
    /// `bool`
    Bool,
    /// `number`
    Number,
    /// `string`
    String,
    /// `list(any)`
    List,
    /// `set(any)`
    Set,
    /// `map(any)`
    Map,
    /// `list(string)`
    ListOfString,
    /// `list(number)`
    ListOfNumber,
    /// `list(bool)`
    ListOfBool,
    /// `set(string)`
    SetOfString,
    /// `map(list(string))`
    MapOfListsOfString,
    /// A type expression, which is not a value.
    Type,
}

/// The context in which a function can be called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Every expression.
    Everywhere,
    /// Every expression except those of the console.
    Configuration,
    /// Only the console.
    Console,
    /// No context: the function was removed, and a call reports the replacement.
    Removed,
}

/// The unknown arguments for which the result is unknown without a call of the body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknowns {
    /// An argument with any unknown part.
    Deep,
    /// An argument that is itself unknown.
    Shallow,
    /// None: the body handles unknown arguments.
    Lazy,
}

/// The memory that must be available before a call begins. A body that allocates more reserves that itself.
#[derive(Clone, Copy)]
pub(super) enum Needs {
    /// None: the result is an argument or a part of one, or a fact about one that needs no walk through it.
    Nothing,
    /// The size of the outermost containers: their elements are shared.
    Outermost,
    /// The size of all values in the arguments without sharing; only their texts are shared.
    Walked,
    /// The size of the arguments without any sharing.
    Unshared,
    /// The number of bytes that the function returns.
    Bytes(fn(&[Value]) -> u64),
}

/// The type of a result.
#[derive(Clone, Copy)]
pub(super) enum Returns {
    Fixed(Shape),
    /// Computed from the arguments, converted and without marks. Unknown arguments stand for their types.
    From(fn(&[Value]) -> Result<Type, FunctionError>),
}

/// The implementation of a function.
#[derive(Clone, Copy)]
pub(super) enum Body {
    Plain(fn(&Call<'_>) -> Result<Value, FunctionError>),
    /// A form of expression with the syntax of a call.
    Form,
}

impl Shape {
    /// Returns the type to convert to; `Dynamic` for a type expression, which is not converted.
    #[must_use]
    pub fn ty(self) -> Type {
        match self {
            Shape::Any | Shape::Type => Type::Dynamic,
            Shape::Bool => Type::Bool,
            Shape::Number => Type::Number,
            Shape::String => Type::String,
            Shape::List => Type::list(Type::Dynamic),
            Shape::Set => Type::set(Type::Dynamic),
            Shape::Map => Type::map(Type::Dynamic),
            Shape::ListOfString => Type::list(Type::String),
            Shape::ListOfNumber => Type::list(Type::Number),
            Shape::ListOfBool => Type::list(Type::Bool),
            Shape::SetOfString => Type::set(Type::String),
            Shape::MapOfListsOfString => Type::map(Type::list(Type::String)),
        }
    }
}

impl Parameter {
    pub(super) const fn new(name: &'static str, shape: Shape) -> Parameter {
        Parameter { name, shape, allows_null: false, is_carried: false, unknowns: Unknowns::Deep }
    }

    pub(super) const fn any(name: &'static str) -> Parameter {
        Parameter::new(name, Shape::Any)
    }

    pub(super) const fn string(name: &'static str) -> Parameter {
        Parameter::new(name, Shape::String)
    }

    pub(super) const fn number(name: &'static str) -> Parameter {
        Parameter::new(name, Shape::Number)
    }

    pub(super) const fn nullable(self) -> Parameter {
        Parameter { allows_null: true, ..self }
    }

    pub(super) const fn carried(self) -> Parameter {
        Parameter { is_carried: true, ..self }
    }

    pub(super) const fn shallow(self) -> Parameter {
        Parameter { unknowns: Unknowns::Shallow, ..self }
    }

    pub(super) const fn lazy(self) -> Parameter {
        Parameter { unknowns: Unknowns::Lazy, ..self }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Function {
    /// Creates a function whose result is never null and has the marks of all arguments. Most functions are of
    /// this kind.
    pub(super) const fn new(
        name: &'static str,
        params: &'static [Parameter],
        returns: Returns,
        body: fn(&Call<'_>) -> Result<Value, FunctionError>,
        doc: &'static str,
    ) -> Function {
        Function {
            name,
            doc,
            params,
            variadic: None,
            rule: RuleId::Function,
            place: Place::Everywhere,
            returns,
            nullable: false,
            needs: Needs::Walked,
            body: Body::Plain(body),
        }
    }

    pub(super) const fn variadic(self, parameter: Parameter) -> Function {
        Function { variadic: Some(parameter), ..self }
    }

    pub(super) const fn rule(self, rule: RuleId) -> Function {
        Function { rule, ..self }
    }

    pub(super) const fn only_in(self, place: Place) -> Function {
        Function { place, ..self }
    }

    pub(super) const fn nullable(self) -> Function {
        Function { nullable: true, ..self }
    }

    pub(super) const fn needs(self, needs: Needs) -> Function {
        Function { needs, ..self }
    }

    /// Returns the parameter for the argument at `position`. `None` if there is no such parameter.
    #[must_use]
    pub fn parameter(&self, position: usize) -> Option<&Parameter> {
        self.params.get(position).or(self.variadic.as_ref())
    }

    /// Returns the type of the result, or `None` if it depends on the arguments.
    #[must_use]
    pub fn result(&self) -> Option<Type> {
        match self.returns {
            Returns::Fixed(shape) => Some(shape.ty()),
            Returns::From(_) => None,
        }
    }

    /// Returns true if configurations can call the function: it is neither for the console only nor removed.
    #[must_use]
    pub fn is_for_configurations(&self) -> bool {
        matches!(self.place, Place::Everywhere | Place::Configuration)
    }

    /// Returns true if the function is a form of expression, which [`Function::call`] refuses.
    #[must_use]
    pub fn is_form(&self) -> bool {
        matches!(self.body, Body::Form)
    }
}
