//! Documentation comments as descriptions.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// Returns the text of the documentation comments: paragraphs without the line breaks of the source, and code blocks
/// with them.
pub(crate) fn description(attributes: &[Attribute]) -> String {
    let mut paragraphs = Vec::new();
    let (mut lines, mut is_code) = (Vec::new(), false);
    let mut end = |lines: &mut Vec<String>, separator| {
        paragraphs.push(std::mem::take(lines).join(separator));
    };
    for line in attributes.iter().filter_map(line) {
        let is_fence = line.trim_start().starts_with("```");
        match (is_code, is_fence) {
            (false, false) if line.trim().is_empty() => end(&mut lines, " "),
            (false, false) => lines.push(line.trim().to_owned()),
            (true, false) => lines.push(line),
            (false, true) => {
                end(&mut lines, " ");
                lines.push(line);
            }
            (true, true) => {
                lines.push(line);
                end(&mut lines, "\n");
            }
        }
        is_code ^= is_fence;
    }
    end(&mut lines, if is_code { "\n" } else { " " });
    paragraphs.retain(|it| !it.is_empty());
    paragraphs.join("\n\n")
}

/// The text of a line, without the blank after `///`.
fn line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    match &pair.value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if pair.path.is_ident("doc") => {
            let text = text.value();
            Some(text.strip_prefix(' ').map_or(text.clone(), str::to_owned))
        }
        _ => None,
    }
}
