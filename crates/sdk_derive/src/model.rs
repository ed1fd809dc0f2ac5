//! The implementation of `mayfly_sdk::Model` for a struct.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Data, DeriveInput, Error, Fields, Result};

use crate::{
    container::Container,
    description::description,
    field::{Described, Kind},
};

pub(crate) fn implement(input: &DeriveInput) -> Result<TokenStream> {
    let fields = fields(input)?;
    refuse_equal_names(&fields)?;
    let container = Container::of(&input.attrs, &fields)?;
    let name = &input.ident;
    let (describe, keys) = (describe(input, &container, &fields), keys(input, &fields));
    let (decode, encode) = (fields.iter().map(decode), fields.iter().map(encode));
    let version = container.version.as_ref().map(|it| quote!(.version(#it)));
    let part = part(input, &container, &fields);
    Ok(quote! {
        impl ::mayfly_sdk::Model for #name {
            fn schema() -> ::mayfly_sdk::schema::Schema {
                let block = ::mayfly_sdk::schema::Block::new();
                ::mayfly_sdk::schema::Schema::new(<Self as ::mayfly_sdk::Model>::describe(block)) #version
            }

            fn ty() -> ::mayfly_sdk::Type {
                static TYPE: ::std::sync::OnceLock<::mayfly_sdk::Type> = ::std::sync::OnceLock::new();
                TYPE.get_or_init(|| <Self as ::mayfly_sdk::Model>::schema().implied_type()).clone()
            }

            #describe

            fn decode(
                object: &::mayfly_sdk::Object,
                unknowns: ::mayfly_sdk::Unknowns,
            ) -> ::core::result::Result<Self, ::mayfly_sdk::Diagnostic> {
                ::core::result::Result::Ok(Self { #(#decode),* })
            }

            fn encode_into(&self, parts: &mut ::mayfly_sdk::ValueMap) {
                #(#encode)*
            }
        }

        #keys
        #part
    })
}

fn fields(input: &DeriveInput) -> Result<Vec<Described>> {
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(&input.generics, "a model has no parameters"));
    }
    match &input.data {
        Data::Struct(data) if matches!(data.fields, Fields::Named(_) | Fields::Unit) => {
            data.fields.iter().map(Described::of).collect()
        }
        _ => Err(Error::new_spanned(&input.ident, "a model is a struct with named fields")),
    }
}

fn refuse_equal_names(fields: &[Described]) -> Result<()> {
    let mut named = BTreeSet::new();
    let twice = fields.iter().find(|it| !it.kind.is_flattened() && !named.insert(&it.name));
    twice.map_or(Ok(()), |it| {
        let text = format!("another field has the name `{}` too", it.name);
        Err(Error::new_spanned(&it.ident, text))
    })
}

fn describe(input: &DeriveInput, container: &Container, fields: &[Described]) -> TokenStream {
    let parts = fields.iter().map(|field| {
        let (ty, name, span) = (&field.ty, &field.name, field.place());
        match &field.kind {
            Kind::Attribute { calls, .. } => quote_spanned! {span=>
                let block = block.attribute(#name, <#ty as ::mayfly_sdk::AttributeValue>::attribute()#calls);
            },
            Kind::Blocks { min, max, calls } => quote_spanned! {span=>
                let blocks = ::mayfly_sdk::nested_blocks::<#ty>(#min, #max);
                let block = block.blocks_of(#name, blocks.map_block(|block| block #calls));
            },
            Kind::Flattened { prefix: None } => quote_spanned! {span=>
                let block = block.flatten::<#ty>();
            },
            Kind::Flattened { prefix: Some(prefix) } => quote_spanned! {span=>
                let other = <#ty as ::mayfly_sdk::Model>::describe(::mayfly_sdk::schema::Block::new());
                let block = block.flattened(#prefix, other);
            },
        }
    });
    let text = description(&input.attrs);
    let text = (!text.is_empty()).then(|| quote!(.description(#text)));
    let calls = &container.calls;
    quote! {
        fn describe(block: ::mayfly_sdk::schema::Block) -> ::mayfly_sdk::schema::Block {
            #(#parts)*
            block #text #calls
        }
    }
}

fn decode(field: &Described) -> TokenStream {
    let (ident, name, span) = (&field.ident, &field.name, field.place());
    match &field.kind {
        Kind::Attribute { default: None, .. } => {
            quote_spanned!(span=> #ident: object.field(#name, unknowns)?)
        }
        Kind::Attribute { default: Some(default), .. } => {
            quote_spanned!(span=> #ident: object.field_or(#name, || #default, unknowns)?)
        }
        Kind::Blocks { .. } => quote_spanned!(span=> #ident: object.blocks(#name, unknowns)?),
        Kind::Flattened { prefix: None } => {
            quote_spanned!(span=> #ident: ::mayfly_sdk::Model::decode(object, unknowns)?)
        }
        Kind::Flattened { prefix: Some(prefix) } => quote_spanned! {span=>
            #ident: ::mayfly_sdk::Model::decode(&object.with_prefix(#prefix), unknowns)?
        },
    }
}

fn encode(field: &Described) -> TokenStream {
    let (ident, name, span) = (&field.ident, &field.name, field.place());
    match &field.kind {
        Kind::Attribute { .. } => quote_spanned! {span=>
            parts.insert(#name.into(), ::mayfly_sdk::AttributeValue::encode(&self.#ident));
        },
        Kind::Blocks { .. } => quote_spanned! {span=>
            parts.insert(#name.into(), ::mayfly_sdk::Blocks::encode_blocks(&self.#ident));
        },
        Kind::Flattened { prefix: None } => quote_spanned! {span=>
            ::mayfly_sdk::Model::encode_into(&self.#ident, parts);
        },
        Kind::Flattened { prefix: Some(prefix) } => quote_spanned! {span=>
            ::mayfly_sdk::Model::encode_with_prefix(&self.#ident, #prefix, parts);
        },
    }
}

/// The constants with the names of the attributes and blocks.
fn keys(input: &DeriveInput, fields: &[Described]) -> TokenStream {
    let (name, visibility) = (&input.ident, &input.vis);
    let named = fields.iter().filter(|it| !it.kind.is_flattened());
    let keys = named.map(|field| {
        let (constant, text, ty) = (field.constant(), &field.name, field.known_type());
        let doc = format!("The key of `{text}`.");
        quote! {
            #[doc = #doc]
            #visibility const #constant: ::mayfly_sdk::Key<#ty> = ::mayfly_sdk::Key::new(#text);
        }
    });
    quote! {
        #[allow(dead_code, reason = "a type needs the keys of only a few attributes")]
        impl #name {
            #(#keys)*
        }
    }
}

/// The implementation for structs that are parts of others. Attributes cannot contain blocks.
fn part(input: &DeriveInput, container: &Container, fields: &[Described]) -> Option<TokenStream> {
    if fields.iter().any(|it| matches!(it.kind, Kind::Blocks { .. })) {
        return None;
    }
    let name = &input.ident;
    let block = quote! {
        <Self as ::mayfly_sdk::Model>::describe(::mayfly_sdk::schema::Block::new())
    };
    let attribute = match container.is_plain {
        true => quote!(::mayfly_sdk::schema::plain_object(&#block)),
        false => quote!(::mayfly_sdk::schema::nested_object(#block)),
    };
    Some(quote! {
        impl ::mayfly_sdk::AttributeValue for #name {
            fn attribute() -> ::mayfly_sdk::schema::Attribute {
                #attribute
            }

            fn ty() -> ::mayfly_sdk::Type {
                <Self as ::mayfly_sdk::Model>::ty()
            }

            fn decode(
                part: &::mayfly_sdk::Part<'_>,
            ) -> ::core::result::Result<Self, ::mayfly_sdk::Diagnostic> {
                ::mayfly_sdk::Model::decode_part(part)
            }

            fn encode(&self) -> ::mayfly_sdk::Value {
                ::mayfly_sdk::Model::encode(self)
            }
        }
    })
}
