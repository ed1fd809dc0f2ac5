//! Enums as texts from a list.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Ident, LitStr, Result, Variant};

pub(crate) fn implement(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "a choice is an enum"));
    };
    if data.variants.is_empty() || !input.generics.params.is_empty() {
        let text = "a choice is an enum with variants and without parameters";
        return Err(Error::new_spanned(&input.ident, text));
    }
    let name = &input.ident;
    let variants: Vec<&Ident> = data.variants.iter().map(|it| &it.ident).collect();
    let texts = data.variants.iter().map(text).collect::<Result<Vec<String>>>()?;
    let twice = (1..texts.len()).find(|index| texts[..*index].contains(&texts[*index]));
    if let Some(index) = twice {
        let text = format!("another variant has the text {:?} too", texts[index]);
        return Err(Error::new_spanned(variants[index], text));
    }
    Ok(quote! {
        impl ::mayfly_sdk::Choice for #name {
            const TEXTS: &'static [&'static str] = &[#(#texts),*];

            fn from_text(text: &str) -> ::core::option::Option<Self> {
                match text {
                    #(#texts => ::core::option::Option::Some(Self::#variants),)*
                    _ => ::core::option::Option::None,
                }
            }

            fn text(self) -> &'static str {
                match self {
                    #(Self::#variants => #texts,)*
                }
            }
        }

        impl ::mayfly_sdk::AttributeValue for #name {
            fn attribute() -> ::mayfly_sdk::schema::Attribute {
                ::mayfly_sdk::choice::<Self>()
            }

            fn decode(
                part: &::mayfly_sdk::Part<'_>,
            ) -> ::core::result::Result<Self, ::mayfly_sdk::Diagnostic> {
                part.choice()
            }

            fn encode(&self) -> ::mayfly_sdk::Value {
                ::mayfly_sdk::Value::string(::mayfly_sdk::Choice::text(*self))
            }
        }
    })
}

/// Returns the text of a variant.
fn text(variant: &Variant) -> Result<String> {
    if !matches!(variant.fields, Fields::Unit) {
        return Err(Error::new_spanned(variant, "a variant of a choice has no fields"));
    }
    match variant.attrs.iter().find(|it| it.path().is_ident("choice")) {
        Some(attribute) => Ok(attribute.parse_args::<LitStr>()?.value()),
        None => Ok(snake_case(&variant.ident.to_string())),
    }
}

fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for (index, letter) in name.chars().enumerate() {
        if letter.is_uppercase() && index > 0 {
            text.push('_');
        }
        text.extend(letter.to_lowercase());
    }
    text
}
