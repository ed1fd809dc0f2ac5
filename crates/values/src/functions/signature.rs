//! The vocabulary of signatures.

use std::fmt;

use super::call::{Call, FunctionError};
use crate::{Type, Value, rules::RuleId};

/// A function of the library.
pub struct Function {
    /// The name as a configuration calls it.
    pub name: &'static str,
    /// One line on what it does.
    pub doc: &'static str,
    /// The parameters that every call gives.
    pub params: &'static [Parameter],
    /// The parameter that any number of further arguments belongs to.
    pub variadic: Option<Parameter>,
    /// The rule by which the result is marked.
    pub rule: RuleId,
    /// Where it can be called.
    pub place: Place,
    pub(super) returns: Returns,
    /// Whether the result may be null.
    pub(super) nullable: bool,
    /// The memory that a call takes.
    pub(super) needs: Needs,
    pub(super) body: Body,
}

/// A parameter of a function.
#[derive(Clone, Copy)]
pub struct Parameter {
    /// The name used in messages.
    pub name: &'static str,
    /// What arguments are converted to.
    pub shape: Shape,
    /// Whether null is an argument like any other.
    pub allows_null: bool,
    /// Whether the argument keeps its own marks, which reach the result only if it is chosen.
    pub is_carried: bool,
    pub(super) unknowns: Unknowns,
}

/// The type of a parameter or a result, as a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Any type, no conversion.
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
    /// A type, which is no value.
    Type,
}

/// Where a function can be called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In every expression.
    Everywhere,
    /// In every expression but those of the console.
    Configuration,
    /// In the console only.
    Console,
    /// Nowhere any more: a call says what to write instead.
    Removed,
}

/// When an argument that is not known makes the result unknown without asking the function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknowns {
    /// If any part of it is unknown.
    Deep,
    /// If it is unknown itself.
    Shallow,
    /// Never: the function looks for itself.
    Lazy,
}

/// The memory that a call must find free before it begins. A body that makes more reserves that itself.
#[derive(Clone, Copy)]
pub(super) enum Needs {
    /// None: the result is an argument or a part of one, or says something of one without a walk through it.
    Nothing,
    /// That of the outermost containers: their elements are shared.
    Outermost,
    /// That of all values in the arguments, none of them shared; their texts are.
    Walked,
    /// That of the arguments, nothing of them shared.
    Unshared,
    /// So many bytes.
    Bytes(fn(&[Value]) -> u64),
}

/// The type of a result.
#[derive(Clone, Copy)]
pub(super) enum Returns {
    Fixed(Shape),
    /// From the arguments, converted and without marks. Those that are not known stand for their types.
    From(fn(&[Value]) -> Result<Type, FunctionError>),
}

/// What computes a result.
#[derive(Clone, Copy)]
pub(super) enum Body {
    Plain(fn(&Call<'_>) -> Result<Value, FunctionError>),
    /// A form of expression that only looks like a call.
    Form,
}

impl Shape {
    /// The type to convert to. What is no value is not converted.
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
    /// A function whose result is never null and takes the marks of all arguments, which is what most are.
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

    /// The parameter that the argument at `position` belongs to.
    #[must_use]
    pub fn parameter(&self, position: usize) -> Option<&Parameter> {
        self.params.get(position).or(self.variadic.as_ref())
    }

    /// The type of the result, where the arguments do not decide it.
    #[must_use]
    pub fn result(&self) -> Option<Type> {
        match self.returns {
            Returns::Fixed(shape) => Some(shape.ty()),
            Returns::From(_) => None,
        }
    }

    /// Whether configurations are to call it: neither the console's nor one that was removed.
    #[must_use]
    pub fn is_for_configurations(&self) -> bool {
        matches!(self.place, Place::Everywhere | Place::Configuration)
    }

    /// Whether the function is a form of expression, which [`Function::call`] refuses.
    #[must_use]
    pub fn is_form(&self) -> bool {
        matches!(self.body, Body::Form)
    }
}
