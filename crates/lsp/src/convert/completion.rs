//! Conversion of completion lists.

use ide::{Completion, CompletionKind, Completions};
use tower_lsp_server::ls_types::*;

use crate::{
    capabilities::SLASH,
    position::Lines,
    snapshot::{Snapshot, Target},
    tfvars,
};

pub(crate) fn completion(
    snapshot: &Snapshot,
    target: Target,
    position: Position,
    trigger: Option<&str>,
) -> Option<CompletionResponse> {
    let lines = snapshot.lines(target.file);
    let (document, offset) = (snapshot.document(target), lines.offset(position));
    let modules = snapshot.modules.iter().map(String::as_str);
    let found = match ide::source_completions(document, offset, modules) {
        Some(items) => Completions { items, is_incomplete: false },
        None if trigger == Some(SLASH) => return None,
        None => ide::completions(document, offset),
    };
    Some(response(snapshot, &lines, found))
}

pub(crate) fn completion_in_variables_file(
    snapshot: &Snapshot,
    path: &str,
    position: Position,
) -> Option<CompletionResponse> {
    let (file, lines) = tfvars::variables_file(snapshot, path)?;
    Some(response(snapshot, &lines, file.completions(lines.offset(position))))
}

fn response(snapshot: &Snapshot, lines: &Lines, found: Completions) -> CompletionResponse {
    let snippets = snapshot.client.takes_snippets;
    CompletionResponse::List(CompletionList {
        is_incomplete: found.is_incomplete,
        items: found.items.into_iter().map(|it| item(it, lines, snippets)).collect(),
    })
}

fn item(it: Completion, lines: &Lines, snippets: bool) -> CompletionItem {
    let is_snippet = it.is_snippet && snippets;
    let new_text = match it.is_snippet && !snippets {
        true => without_snippet(&it.label, &it.insert),
        false => it.insert,
    };
    let documentation = it.documentation.map(|value| {
        Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value })
    });
    CompletionItem {
        kind: Some(kind(it.kind)),
        detail: it.detail,
        documentation,
        sort_text: Some(it.sort_key),
        filter_text: Some(it.label.clone()),
        label: it.label,
        // The client indents the lines of a block to match its first line.
        insert_text_mode: Some(InsertTextMode::ADJUST_INDENTATION),
        insert_text_format: is_snippet.then_some(InsertTextFormat::SNIPPET),
        text_edit: Some(CompletionTextEdit::Edit(TextEdit {
            range: lines.range(it.range),
            new_text,
        })),
        tags: it.is_deprecated.then(|| vec![CompletionItemTag::DEPRECATED]),
        ..CompletionItem::default()
    }
}

/// The text for a client without snippets. A function call is reduced to its name: after a closing parenthesis the
/// user would have to move the cursor back.
fn without_snippet(label: &str, snippet: &str) -> String {
    let is_call = snippet.strip_prefix(label).is_some_and(|rest| rest.starts_with('('));
    if is_call { label.to_owned() } else { without_places(snippet) }
}

/// A snippet as plain text: `${1:name}` becomes `name`; `$1` and `$0` are removed.
fn without_places(snippet: &str) -> String {
    let mut text = String::new();
    let mut rest = snippet.chars().peekable();
    let mut depth = 0;
    while let Some(letter) = rest.next() {
        match letter {
            '\\' => text.extend(rest.next()),
            '$' if rest.next_if_eq(&'{').is_some() => {
                while rest.next_if(char::is_ascii_digit).is_some() {}
                let _colon = rest.next_if_eq(&':');
                depth += 1;
            }
            '$' => while rest.next_if(char::is_ascii_digit).is_some() {},
            '}' if depth > 0 => depth -= 1,
            letter => text.push(letter),
        }
    }
    text
}

fn kind(kind: CompletionKind) -> CompletionItemKind {
    match kind {
        CompletionKind::Block => CompletionItemKind::CLASS,
        CompletionKind::Argument => CompletionItemKind::PROPERTY,
        CompletionKind::Type => CompletionItemKind::STRUCT,
        CompletionKind::Provider => CompletionItemKind::INTERFACE,
        CompletionKind::Variable => CompletionItemKind::VARIABLE,
        CompletionKind::Local => CompletionItemKind::CONSTANT,
        CompletionKind::Resource => CompletionItemKind::REFERENCE,
        CompletionKind::Module => CompletionItemKind::MODULE,
        CompletionKind::Attribute => CompletionItemKind::FIELD,
        CompletionKind::Function => CompletionItemKind::FUNCTION,
        CompletionKind::Keyword => CompletionItemKind::KEYWORD,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_client_without_snippets_gets_the_name_of_a_function() {
        assert_eq!(super::without_snippet("abs", "abs($1)"), "abs");
        assert_eq!(super::without_snippet("core::abs", "core::abs(${1:number})"), "core::abs");
        assert_eq!(super::without_snippet("for", "[for x in $1 : $2]"), "[for x in  : ]");
    }

    #[test]
    fn snippet_becomes_plain_text_for_clients_without_snippets() {
        let cases = [
            ("variable \"${1:name}\" {\n  $0\n}", "variable \"name\" {\n  \n}"),
            ("a = $1, b = ${2}", "a = , b = "),
            ("\\$\\{x\\} ${1:{}", "${x} {"),
        ];
        for (snippet, text) in cases {
            assert_eq!(super::without_places(snippet), text);
        }
    }
}
