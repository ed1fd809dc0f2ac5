//! Documentation comments as descriptions.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// Returns the text of the documentation comments: paragraphs without the line breaks of the source.
pub(crate) fn description(attributes: &[Attribute]) -> String {
    let lines: Vec<String> = attributes.iter().filter_map(line).collect();
    let paragraphs = lines.split(String::is_empty).map(|lines| lines.join(" "));
    paragraphs.filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    match &pair.value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if pair.path.is_ident("doc") => {
            Some(text.value().trim().to_owned())
        }
        _ => None,
    }
}
