use mayfly_sdk::{Choice, Model};

#[derive(Model)]
struct UnknownOption {
    #[attribute(sensetive)] //~ an attribute has the options required, optional, computed
    a: String,
    b: String,
}

#[derive(Model)]
struct NotAName {
    #[attribute(a::b)] //~ an attribute has the options
    a: String,
}

#[derive(Model)]
struct NoList {
    #[attribute] //~ expected attribute arguments in parentheses
    a: String,
}

#[derive(Model)]
struct ValueMissing {
    #[attribute(default)] //~ expected `=`
    a: String,
}

#[derive(Model)]
struct ValueTooMany {
    #[attribute(sensitive = true)] //~ expected `,`
    a: String,
}

#[derive(Model)]
struct ArgumentsMissing {
    #[attribute(between)] //~ expected parentheses
    a: i64,
}

#[derive(Model)]
struct Twice {
    #[attribute(default = 1, default = 2)] //~ this option is given twice
    a: i64,
}

#[derive(Model)]
struct TwiceApart {
    #[attribute(sensitive)]
    #[attribute(sensitive)] //~ this option is given twice
    a: i64,
}

#[derive(Model)]
struct RequiredAndOptional {
    #[attribute(
        required, //~ `a` cannot be this and also optional
        optional
    )]
    a: Option<String>,
}

#[derive(Model)]
struct RequiredWithDefault {
    #[attribute(default = 1, required)] //~ `a` cannot be this and also have a default
    a: i64,
}

#[derive(Model)]
struct ComputedWriteOnly {
    #[attribute(computed, write_only)] //~ `a` cannot be this and also computed
    a: Option<String>,
}

#[derive(Model)]
struct WriteOnlyNotNull {
    #[attribute(write_only)] //~ `a` is write-only, so it is null in states: its type must be Option
    a: String,
}

#[derive(Model)]
struct ComputedNotNull {
    #[attribute(computed)] //~ `r#type` is computed, so it is unknown until the provider has chosen it
    r#type: String,
}

#[derive(Model)]
struct BadName {
    #[attribute(name = "Big Name")] //~ a name has lowercase letters, digits and underscores
    a: String,
}

#[derive(Model)]
struct EmptyName {
    #[block(name = "")] //~ a name has lowercase letters
    a: Option<UnknownOption>,
}

#[derive(Model)]
struct EqualNames {
    #[attribute(name = "b")]
    a: String,
    b: String, //~ another field has the name `b` too
}

#[derive(Model)]
struct TwoRoles {
    #[attribute(sensitive)]
    #[block] //~ a field has `#[attribute]` or `#[block]`, not both
    a: Option<UnknownOption>,
}

#[derive(Model)]
struct TwoOtherRoles {
    #[flatten]
    #[block] //~ a field has `#[flatten]` or `#[block]`, not both
    a: UnknownOption,
}

#[derive(Model)]
struct FlattenWithOptions {
    #[flatten(all)] //~ a flattened struct has the option prefix
    a: UnknownOption,
}

#[derive(Model)]
struct BadBlockOption {
    #[block(least = 1)] //~ a block has the options min, max and name
    a: Vec<UnknownOption>,
}

#[derive(Model)]
#[model(versions = 1)] //~ a model has the options version, deprecated
struct BadModelOption {
    a: String,
}

#[derive(Model)]
#[model(version = 1, version = 2)] //~ this option is given twice
struct TwoVersions {
    a: String,
}

#[derive(Model)]
#[model(exactly_one_of(a, c))] //~ the struct has no such field
struct UnknownField {
    a: Option<String>,
}

#[derive(Model)]
#[model(exactly_one_of("a", "c"))] //~ the struct has no such field
struct UnknownQuotedField {
    a: Option<String>,
}

#[derive(Model)]
#[model(conflicting(a))] //~ this rule is about two attributes or more
struct TooFew {
    a: Option<String>,
}

#[derive(Model)]
#[model(requires(a, b, c))] //~ this rule is about two attributes
struct TooMany {
    a: Option<String>,
    b: Option<String>,
    c: Option<String>,
}

#[derive(Model)]
struct Tuple(String); //~ a model is a struct with named fields

#[derive(Model)]
enum Variants { //~ a model is a struct with named fields
    A,
}

#[derive(Model)]
struct Parameters<T> { //~ a model has no parameters
    a: Option<T>,
}

#[derive(Choice)]
struct NoEnum; //~ a choice is an enum

#[derive(Choice)]
enum NoVariants {} //~ a choice is an enum with variants

#[derive(Choice)]
enum WithFields {
    A,
    B(String), //~ a variant of a choice has no fields
}

#[derive(Choice)]
enum EqualTexts {
    A,
    #[choice("a")]
    B, //~ another variant has the text "a" too
}

#[derive(Choice)]
enum BadText {
    #[choice(a)] //~ expected string literal
    A,
}
