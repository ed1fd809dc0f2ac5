//! The options of a struct.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Attribute, Error, Expr, Ident, LitStr, Result, meta::ParseNestedMeta, punctuated::Punctuated,
    token::Comma,
};

use crate::field::{Described, REPEATED};

/// The options of a struct.
#[derive(Default)]
pub(crate) struct Container {
    pub(crate) version: Option<Expr>,
    pub(crate) is_plain: bool,
    /// The calls of the methods of `mayfly_sdk::schema::Block`.
    pub(crate) calls: TokenStream,
}

/// The rules about a list of attributes.
const RULES_OF_LISTS: [&str; 2] = ["exactly_one_of", "at_least_one_of"];

const KNOWN: &str = "a model has the options version, deprecated, exactly_one_of, at_least_one_of, \
                     conflicting, requires, validate, markdown and plain";

impl Container {
    pub(crate) fn of(attributes: &[Attribute], fields: &[Described]) -> Result<Container> {
        let mut container = Container::default();
        for attribute in attributes.iter().filter(|it| it.path().is_ident("model")) {
            attribute.parse_nested_meta(|meta| container.read(&meta, fields))?;
        }
        Ok(container)
    }

    fn read(&mut self, meta: &ParseNestedMeta<'_>, fields: &[Described]) -> Result<()> {
        let Some(option) = meta.path.get_ident() else { return Err(meta.error(KNOWN)) };
        match option.to_string().as_str() {
            "version" if self.version.is_some() => return Err(meta.error(REPEATED)),
            "version" => self.version = Some(meta.value()?.parse()?),
            "markdown" => self.calls.extend(quote!(.markdown())),
            "plain" => self.is_plain = true,
            "deprecated" => {
                let text: LitStr = meta.value()?.parse()?;
                self.calls.extend(quote!(.deprecated(#text)));
            }
            "validate" => {
                let function: Expr = meta.value()?.parse()?;
                self.calls.extend(quote!(.rule(#function)));
            }
            name if RULES_OF_LISTS.contains(&name) => {
                let names = names(meta, fields)?;
                if names.len() < 2 {
                    return Err(meta.error("this rule is about at least two attributes"));
                }
                self.rule(option, &quote!(&[#(#names),*]));
            }
            "conflicting" => {
                let names = names(meta, fields)?;
                if names.len() < 2 {
                    return Err(meta.error("this rule is about two attributes or more"));
                }
                for (index, second) in names.iter().enumerate() {
                    let before = &names[..index];
                    before.iter().for_each(|first| self.rule(option, &quote!(#first, #second)));
                }
            }
            "requires" => {
                let names = names(meta, fields)?;
                if names.len() != 2 {
                    return Err(meta.error("this rule is about two attributes"));
                }
                self.rule(option, &quote!(#(#names),*));
            }
            _ => return Err(meta.error(KNOWN)),
        }
        Ok(())
    }

    fn rule(&mut self, rule: &Ident, names: &TokenStream) {
        self.calls.extend(quote! {
            .rule(|object, diagnostics| ::mayfly_sdk::validate::#rule(object, #names, diagnostics))
        });
    }
}

/// Reads the attributes of a rule: fields, or names of attributes in quotes.
fn names(meta: &ParseNestedMeta<'_>, fields: &[Described]) -> Result<Vec<String>> {
    let content;
    syn::parenthesized!(content in meta.input);
    let listed = Punctuated::<Expr, Comma>::parse_terminated(&content)?;
    listed.iter().map(|it| attribute_name(it, fields)).collect()
}

fn attribute_name(listed: &Expr, fields: &[Described]) -> Result<String> {
    let unknown = || Error::new_spanned(listed, "the struct has no such field");
    if let Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(name), .. }) = listed {
        // Only the struct of a flattened field knows its names.
        let is_known = |it: &Described| it.name == name.value() || it.kind.is_flattened();
        return fields.iter().any(is_known).then(|| name.value()).ok_or_else(unknown);
    }
    let ident = match listed {
        Expr::Path(path) => path.path.get_ident(),
        _ => None,
    };
    let field = ident.and_then(|ident| fields.iter().find(|it| it.ident == *ident));
    field.map(|it| it.name.clone()).ok_or_else(unknown)
}
