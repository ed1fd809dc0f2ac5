//! The fields of a struct and their options.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, quote};
use syn::{
    Attribute, Error, Expr, ExprLit, Field, GenericArgument, Ident, Lit, LitStr, PathArguments,
    Result, Type, meta::ParseNestedMeta, punctuated::Punctuated, token::Comma,
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
    /// Nested blocks with their smallest and largest number.
    Blocks { min: TokenStream, max: TokenStream },
    /// The attributes of another struct.
    Flattened,
}

impl Described {
    pub(crate) fn of(field: &Field) -> Result<Described> {
        let ident = field.ident.clone();
        let ident = ident.ok_or_else(|| Error::new_spanned(field, "a model has named fields"))?;
        let mut options = Options::default();
        let (mut is_block, mut is_flattened) = (false, false);
        for attribute in &field.attrs {
            if attribute.path().is_ident("attribute") {
                attribute.parse_nested_meta(|meta| options.read(&meta))?;
            } else if attribute.path().is_ident("block") {
                is_block = true;
                read_limits(attribute, &mut options)?;
            } else if attribute.path().is_ident("flatten") {
                is_flattened = true;
            }
        }
        let name = ident.to_string().trim_start_matches("r#").to_owned();
        let name = options.name.take().unwrap_or(name);
        let kind = match (is_block, is_flattened) {
            (true, _) => Kind::Blocks { min: limit(options.min), max: limit(options.max) },
            (_, true) => Kind::Flattened,
            _ => Kind::Attribute {
                default: options.default.as_ref().map(|it| default_value(&field.ty, it)),
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

    /// The type of the values that are neither null nor unknown.
    pub(crate) fn known_type(&self) -> &Type {
        let mut ty = &self.ty;
        while let Some(inner) = wrapped(ty, "Option").or_else(|| wrapped(ty, "MaybeUnknown")) {
            ty = inner;
        }
        ty
    }
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

fn read_name(meta: &ParseNestedMeta<'_>, options: &mut Options) -> Result<()> {
    options.name = Some(meta.value()?.parse::<LitStr>()?.value());
    Ok(())
}

/// The options of an attribute.
#[derive(Default)]
struct Options {
    name: Option<String>,
    required: Option<Span>,
    optional: bool,
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
const VALIDATORS: [(&str, &str); 3] =
    [("between", "WholeBetween"), ("length", "LengthBetween"), ("count", "CountBetween")];

const KNOWN: &str = "an attribute has the options required, optional, computed, default, sensitive, write_only, \
                     identity, requires_replace, requires_replace_if_configured, keeps_state, modify, one_of, between, \
                     length, count, check, validate, deprecated and name";

impl Options {
    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let Some(option) = meta.path.get_ident() else { return Err(meta.error(KNOWN)) };
        match option.to_string().as_str() {
            "required" => self.required = Some(option.span()),
            "optional" => self.optional = true,
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
        let is_set = self.optional || self.default.is_some();
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
            let default = default_value(&field.ty, default);
            calls.extend(quote!(.default_value(#default)));
        }
        let description = description(&field.attrs);
        if !description.is_empty() {
            calls.extend(quote!(.description(#description)));
        }
        calls.extend(self.calls);
        Ok(calls)
    }

    /// Refuses what no object could have.
    fn check(&self, field: &Field, ident: &Ident) -> Result<()> {
        let can_be_null = has_null(&field.ty);
        match (self.write_only, self.computed) {
            (Some(span), _) if !can_be_null => {
                let text = format!(
                    "`{ident}` is write-only, so it is null in states: its type must be Option"
                );
                Err(Error::new(span, text))
            }
            (_, Some(span)) if !can_be_null && self.default.is_none() => {
                let text = format!(
                    "`{ident}` is computed, so it is unknown until the provider has chosen it: its type must be Option"
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
    let ty = wrapped(ty, "Option").unwrap_or(ty);
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

/// Returns true for types whose values can be null or unknown.
fn has_null(ty: &Type) -> bool {
    wrapped(ty, "Option").is_some()
        || wrapped(ty, "MaybeUnknown").is_some()
        || is_named(ty, "Value")
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
