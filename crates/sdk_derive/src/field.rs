//! The fields of a struct and their options.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, quote};
use syn::{
    Attribute, Error, Expr, ExprLit, Field, GenericArgument, Ident, Lit, LitStr, PathArguments,
    Result, Type, meta::ParseNestedMeta, punctuated::Punctuated, spanned::Spanned as _,
    token::Comma,
};

use crate::description::description;

/// A field of a struct.
pub(crate) struct Described {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    /// The name of the attribute or block.
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

/// The meaning of a field.
pub(crate) enum Kind {
    /// An attribute, as calls of the methods of `mayfly_sdk::schema::Attribute`, with the encoded value of its default.
    Attribute { calls: TokenStream, default: Option<TokenStream> },
    /// Nested blocks with their smallest and largest number, and the calls of methods of `mayfly_sdk::schema::Block`.
    Blocks { min: TokenStream, max: TokenStream, calls: TokenStream },
    /// The attributes of another struct, perhaps with a prefix before their names.
    Flattened { prefix: Option<LitStr> },
}

impl Kind {
    pub(crate) fn is_flattened(&self) -> bool {
        matches!(self, Kind::Flattened { .. })
    }
}

impl Described {
    pub(crate) fn of(field: &Field) -> Result<Described> {
        let ident = field.ident.clone();
        let ident = ident.ok_or_else(|| Error::new_spanned(field, "a model has named fields"))?;
        let mut options = Options::default();
        let (mut role, mut prefix) = (None, None);
        for attribute in &field.attrs {
            let Some(name) = ROLES.iter().find(|it| attribute.path().is_ident(it)) else {
                continue;
            };
            match role.replace(*name) {
                Some(other) if other != *name => {
                    let text = format!("a field has `#[{other}]` or `#[{name}]`, not both");
                    return Err(Error::new_spanned(attribute, text));
                }
                _ => {}
            }
            match *name {
                "attribute" => attribute.parse_nested_meta(|meta| options.read(&meta))?,
                "block" => read_limits(attribute, &mut options)?,
                _ => prefix = read_prefix(attribute)?,
            }
        }
        let name = options.name.take();
        let name = name.unwrap_or_else(|| ident.to_string().trim_start_matches("r#").to_owned());
        let kind = match role {
            Some("block") => Kind::Blocks {
                min: limit(options.min),
                max: limit(options.max),
                calls: described(field),
            },
            Some("flatten") => Kind::Flattened { prefix },
            _ => Kind::Attribute {
                default: options.default.as_ref().map(|it| default_value(known(&field.ty), it)),
                calls: options.calls_for(field, &ident)?,
            },
        };
        Ok(Described { ident, ty: field.ty.clone(), name, kind })
    }

    /// The name of the constant for the key.
    pub(crate) fn constant(&self) -> Ident {
        let name = self.ident.to_string().trim_start_matches("r#").to_uppercase();
        Ident::new(&name, self.ident.span())
    }

    /// The span of code about this field: an unsuitable type is an error at the type.
    pub(crate) fn place(&self) -> Span {
        Span::call_site().located_at(self.ty.span())
    }

    /// The type of the values that are neither null nor unknown.
    pub(crate) fn known_type(&self) -> &Type {
        known(&self.ty)
    }
}

/// The attributes that give a field its role.
const ROLES: [&str; 3] = ["attribute", "block", "flatten"];

/// The type without null and unknown values.
fn known(mut ty: &Type) -> &Type {
    while let Some(inner) = wrapped(ty, "Option").or_else(|| wrapped(ty, "MaybeUnknown")) {
        ty = inner;
    }
    ty
}

/// The call that sets the description.
fn described(field: &Field) -> TokenStream {
    let text = description(&field.attrs);
    if text.is_empty() { TokenStream::new() } else { quote!(.description(#text)) }
}

/// A limit of the number of blocks. 0 stands for none.
fn limit(limit: Option<Expr>) -> TokenStream {
    limit.map_or_else(|| quote!(0), |it| it.into_token_stream())
}

fn read_limits(attribute: &Attribute, options: &mut Options) -> Result<()> {
    if matches!(attribute.meta, syn::Meta::Path(_)) {
        return Ok(());
    }
    attribute.parse_nested_meta(|meta| match () {
        () if meta.path.is_ident("min") => meta.value()?.parse().map(|it| options.min = Some(it)),
        () if meta.path.is_ident("max") => meta.value()?.parse().map(|it| options.max = Some(it)),
        () if meta.path.is_ident("name") => read_name(&meta, options),
        () => Err(meta.error("a block has the options min, max and name")),
    })
}

/// Reads the option of a flattened struct.
fn read_prefix(attribute: &Attribute) -> Result<Option<LitStr>> {
    let mut prefix = None;
    if matches!(attribute.meta, syn::Meta::Path(_)) {
        return Ok(prefix);
    }
    attribute.parse_nested_meta(|meta| match meta.path.is_ident("prefix") {
        true => meta.value()?.parse().map(|it| prefix = Some(it)),
        false => Err(meta.error("a flattened struct has the option prefix")),
    })?;
    Ok(prefix)
}

fn read_name(meta: &ParseNestedMeta<'_>, options: &mut Options) -> Result<()> {
    let name: LitStr = meta.value()?.parse()?;
    let (text, is_letter) = (name.value(), |it: char| it.is_ascii_lowercase() || it == '_');
    if !text.starts_with(is_letter) || !text.chars().all(|it| is_letter(it) || it.is_ascii_digit())
    {
        let text = "a name has lowercase letters, digits and underscores, and begins with no digit";
        return Err(Error::new(name.span(), text));
    }
    options.name = Some(text);
    Ok(())
}

/// The options of an attribute.
#[derive(Default)]
struct Options {
    name: Option<String>,
    /// The options that were read, for which more than one place in a list makes no sense.
    once: Vec<String>,
    required: Option<Span>,
    optional: Option<Span>,
    computed: Option<Span>,
    write_only: Option<Span>,
    default: Option<Expr>,
    min: Option<Expr>,
    max: Option<Expr>,
    /// The calls for the other options, in their order.
    calls: TokenStream,
}

/// The options without a value that are methods of the same name.
const FLAGS: [&str; 5] =
    ["sensitive", "identity", "requires_replace", "requires_replace_if_configured", "keeps_state"];

/// The options whose value is the argument of a method.
const WITH_VALUE: [(&str, &str); 4] = [
    ("modify", "modifier"),
    ("validate", "validator"),
    ("check", "check"),
    ("deprecated", "deprecated"),
];

/// The options with arguments that are validators.
const VALIDATORS: [(&str, &str); 4] = [
    ("between", "WholeBetween"),
    ("range", "NumberBetween"),
    ("length", "LengthBetween"),
    ("count", "CountBetween"),
];

/// The options that a field can have more than once.
const REPEATABLE: [&str; 3] = ["modify", "validate", "check"];

pub(crate) const REPEATED: &str = "this option is given twice";

const KNOWN: &str = "an attribute has the options required, optional, computed, default, sensitive, write_only, \
                     identity, requires_replace, requires_replace_if_configured, keeps_state, modify, one_of, between, \
                     range, length, count, check, validate, deprecated and name";

impl Options {
    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let Some(option) = meta.path.get_ident() else { return Err(meta.error(KNOWN)) };
        let name = option.to_string();
        if self.once.contains(&name) {
            return Err(meta.error(REPEATED));
        }
        if !REPEATABLE.contains(&name.as_str()) {
            self.once.push(name.clone());
        }
        match name.as_str() {
            "required" => self.required = Some(option.span()),
            "optional" => self.optional = Some(option.span()),
            "computed" => self.computed = Some(option.span()),
            "write_only" => self.write_only = Some(option.span()),
            "default" => self.default = Some(meta.value()?.parse()?),
            "name" => read_name(meta, self)?,
            "one_of" => {
                let texts = arguments(meta)?;
                self.calls.extend(quote!(.validator(::mayfly_sdk::validate::OneOf(&[#texts]))));
            }
            name => self.read_call(meta, option, name)?,
        }
        Ok(())
    }

    /// Reads an option that becomes a call of a method.
    fn read_call(&mut self, meta: &ParseNestedMeta<'_>, option: &Ident, name: &str) -> Result<()> {
        if FLAGS.contains(&name) {
            self.calls.extend(quote!(.#option()));
            return Ok(());
        }
        if let Some((_, method)) = WITH_VALUE.iter().find(|(it, _)| *it == name) {
            let (method, value) =
                (Ident::new(method, option.span()), meta.value()?.parse::<Expr>()?);
            self.calls.extend(quote!(.#method(#value)));
            return Ok(());
        }
        let Some((_, validator)) = VALIDATORS.iter().find(|(it, _)| *it == name) else {
            return Err(meta.error(KNOWN));
        };
        let (validator, limits) = (Ident::new(validator, option.span()), arguments(meta)?);
        self.calls.extend(quote!(.validator(::mayfly_sdk::validate::#validator(#limits))));
        Ok(())
    }

    /// Returns the calls that describe the attribute.
    fn calls_for(self, field: &Field, ident: &Ident) -> Result<TokenStream> {
        self.check(field, ident)?;
        let mut calls = TokenStream::new();
        let is_set = self.optional.is_some() || self.default.is_some();
        let has_none = self.required.is_none() && self.computed.is_none() && !is_set;
        match () {
            () if self.required.is_some() || has_none && !has_null(&field.ty) => {
                calls.extend(quote!(.required()))
            }
            () if is_set || has_none => calls.extend(quote!(.optional())),
            () => {}
        }
        if self.computed.is_some() {
            calls.extend(quote!(.computed()));
        }
        if self.write_only.is_some() {
            calls.extend(quote!(.write_only()));
        }
        if let Some(default) = &self.default {
            let default = default_value(known(&field.ty), default);
            calls.extend(quote!(.default_value(#default)));
        }
        calls.extend(described(field));
        calls.extend(self.calls);
        Ok(calls)
    }

    /// Returns an option and the name of one that contradicts it.
    fn contradiction(&self) -> Option<(Span, &'static str)> {
        let default = self.default.as_ref().map(|_| "have a default");
        let optional = self.optional.map(|_| "optional");
        let computed = self.computed.map(|_| "computed");
        let required = self.required.zip(optional.or(computed).or(default));
        required.or_else(|| self.write_only.zip(computed.or(default)))
    }

    /// Refuses what no object could have.
    fn check(&self, field: &Field, ident: &Ident) -> Result<()> {
        let can_be_null = has_null(&field.ty);
        let can_be_open = can_be_null || wrapped(&field.ty, "MaybeUnknown").is_some();
        if let Some((span, other)) = self.contradiction() {
            return Err(Error::new(span, format!("`{ident}` cannot be this and also {other}")));
        }
        match (self.write_only, self.computed) {
            (Some(span), _) if !can_be_null => {
                let text = format!(
                    "`{ident}` is write-only, so it is null in states: its type must be Option"
                );
                Err(Error::new(span, text))
            }
            (_, Some(span)) if !can_be_open && self.default.is_none() => {
                let text = format!(
                    "`{ident}` is computed, so it is unknown until the provider has chosen it: its \
                     type must be Option or MaybeUnknown"
                );
                Err(Error::new(span, text))
            }
            _ => Ok(()),
        }
    }
}

fn arguments(meta: &ParseNestedMeta<'_>) -> Result<Punctuated<Expr, Comma>> {
    let content;
    syn::parenthesized!(content in meta.input);
    Punctuated::parse_terminated(&content)
}

/// The encoded value of a default. A text can be written as a literal for any type that is made from one.
fn default_value(ty: &Type, default: &Expr) -> TokenStream {
    let value = match default {
        Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) => {
            quote!(::core::convert::Into::into(#default))
        }
        _ => default.to_token_stream(),
    };
    quote! {
        {
            let value: #ty = #value;
            ::mayfly_sdk::AttributeValue::encode(&value)
        }
    }
}

/// Returns true for types whose values can be null.
fn has_null(ty: &Type) -> bool {
    let is_optional = wrapped(ty, "Option").is_some() || is_named(ty, "Value");
    is_optional || wrapped(ty, "MaybeUnknown").is_some_and(has_null)
}

fn is_named(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|it| it.ident == name))
}

/// Returns the argument of a generic type with this name.
fn wrapped<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|it| it.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }
}
