use mayfly_sdk::{Choice, Function, FunctionError, Model, Secret};

struct Foreign;

#[derive(Model)]
struct Inner {
    a: String,
}

#[derive(Model)]
struct WithBlocks {
    #[block]
    inner: Vec<Inner>,
}

#[derive(Model)]
struct NoAttribute {
    a: Foreign, //~ `Foreign` is not a type for the values of an attribute
}

#[derive(Model)]
struct NoAttributeWithBlocks {
    a: Option<WithBlocks>, //~ a struct needs `#[derive(Model)]` and no blocks
}

#[derive(Model)]
struct NoBlocks {
    #[block]
    a: Inner, //~ `Inner` is not a type for nested blocks //~ nested blocks are `Option<M>`, `Vec<M>`
}

#[derive(Model)]
struct NoModel {
    #[flatten]
    a: Foreign, //~ `Foreign` does not describe objects of a schema
}

#[derive(Model)]
struct DefaultOfAnotherType {
    #[attribute(default = true)] //~ mismatched types
    a: i64,
}

#[derive(Model)]
struct TextAsDefault {
    #[attribute(default = "x")] //~ is not satisfied
    a: Shade,
}

#[derive(Choice, Clone, Copy)]
enum Shade {
    Light,
}

#[derive(Model)]
struct CheckOfAnotherType {
    #[attribute(check = is_even)] //~ expected function signature `for<'a> fn(&'a str) -> _`
    a: i64,
}

fn is_even(number: i64) -> Result<(), String> {
    if number % 2 == 0 { Ok(()) } else { Err("it is odd".to_owned()) }
}

fn functions() {
    Function::new("f", |a: Foreign| Ok::<_, FunctionError>(true)); //~ cannot be the body of a provider function
    Function::new("f", || true); //~ cannot be the body of a provider function
}

fn shown(secret: &Secret) -> String {
    format!("{secret:?}") //~ `Secret` doesn't implement `Debug`
}

fn displayed(secret: &Secret) -> String {
    format!("{secret}") //~ `Secret` doesn't implement `std::fmt::Display`
}
