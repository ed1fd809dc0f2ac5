//! Proposals while somebody types.

use ide::{Completion, CompletionKind};
use tower_lsp_server::ls_types::*;

use crate::{
    position::Lines,
    snapshot::{Snapshot, Target},
};

pub(crate) fn completion(
    snapshot: &Snapshot,
    target: Target,
    position: Position,
) -> Option<CompletionResponse> {
    let lines = snapshot.lines(target.file);
    let found = ide::completions(snapshot.document(target), lines.offset(position));
    let snippets = snapshot.client.takes_snippets;
    Some(CompletionResponse::List(CompletionList {
        is_incomplete: found.is_incomplete,
        items: found.items.into_iter().map(|it| item(it, &lines, snippets)).collect(),
    }))
}

fn item(it: Completion, lines: &Lines, snippets: bool) -> CompletionItem {
    let is_snippet = it.is_snippet && snippets;
    let new_text = if it.is_snippet && !snippets { without_places(&it.insert) } else { it.insert };
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
        // The lines of a block are indented from its own first line.
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

/// A snippet as plain text: `${1:name}` is `name`, `$1` and `$0` are nothing.
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
    fn a_client_without_snippets_gets_their_text() {
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
