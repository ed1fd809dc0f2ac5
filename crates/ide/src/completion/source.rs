//! Completion of the `source` of a module call: directories of modules.

use db::ByteRange;
use syntax::{AstNode, SyntaxKind, SyntaxNode, SyntaxToken, TextRange, ast};

use super::{Completion, CompletionKind, Proposal};
use crate::{Cursor, Document, block_syntax::is_top_level, shown::relative_path};

/// Proposes `directories` as relative sources if the offset is in the `source` of a module call; `None` elsewhere.
///
/// The paths have the form of the database's paths, but the database need not contain the directories.
pub fn source_completions<'d>(
    document: Document<'_>,
    offset: u32,
    directories: impl IntoIterator<Item = &'d str>,
) -> Option<Vec<Completion>> {
    let range = source_at(document, offset)?;
    let own = &**document.directory.path(document.db);
    let others = directories.into_iter().filter(|path| *path != own);
    Some(others.map(|path| proposal(own, path, range)).collect())
}

/// The range between the quotes around an offset, if the string is the `source` of a module call.
fn source_at(document: Document<'_>, offset: u32) -> Option<ByteRange> {
    let cursor = document.cursor(offset)?;
    let mut around = cursor.tokens().filter_map(|token| {
        let quoted = ast::QuotedTemplate::cast(token.parent()?)?;
        let range = between_quotes(quoted.syntax())?;
        (is_source(&cursor, &quoted)? && range.contains_inclusive(cursor.offset)).then_some(range)
    });
    Some(cursor.in_file(around.next()?))
}

fn is_source(cursor: &Cursor<'_>, quoted: &ast::QuotedTemplate) -> Option<bool> {
    let attribute = ast::Attribute::cast(quoted.syntax().parent()?)?;
    let block = ast::Block::cast(attribute.syntax().parent()?.parent()?)?;
    // In a test file, a run contains the block.
    let is_call = cursor.document.is_test() || is_top_level(block.syntax());
    Some(is_call && block.block_type()? == "module" && attribute.name()? == "source")
}

/// The range between the quotes of a string. A string that is being typed may lack its closing quote.
fn between_quotes(quoted: &SyntaxNode) -> Option<TextRange> {
    let tokens = || quoted.children_with_tokens().filter_map(syntax::NodeOrToken::into_token);
    let of_kind = |kind| tokens().find(|token: &SyntaxToken| token.kind() == kind);
    let start = of_kind(SyntaxKind::OPEN_QUOTE)?.text_range().end();
    let end = match of_kind(SyntaxKind::CLOSE_QUOTE) {
        Some(close) => close.text_range().start(),
        None => of_kind(SyntaxKind::QUOTED_LIT).map_or(start, |text| text.text_range().end()),
    };
    Some(TextRange::new(start, end.max(start)))
}

/// The proposal of a directory as a relative source. Directories below the module come first.
fn proposal(own: &str, path: &str, range: ByteRange) -> Completion {
    let (_, relative) = relative_path(own, path);
    let (source, rank) = match relative.starts_with("..") {
        true => (relative, 3),
        false => (format!("./{relative}"), 1),
    };
    Proposal::new(source, CompletionKind::Module).rank(rank).at(range)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture;

    #[track_caller]
    fn check(text: &str, expect: Expect) {
        let fixture = fixture::load(text);
        let document = fixture.document();
        let module = document.directory.path(document.db).to_string();
        let above = module.rsplit_once('/').map_or("..", |(above, _)| above);
        let directories = [
            module.clone(),
            format!("{module}/modules/vpc"),
            format!("{module}/db"),
            format!("{above}/beside"),
        ];
        let directories = directories.iter().map(String::as_str);
        let found = crate::source_completions(document, fixture.offset(), directories);
        let shown = match found {
            None => "nothing here".to_owned(),
            Some(found) => {
                let text = document.text();
                let one = |it: crate::Completion| {
                    let replaced = &text[it.range.start as usize..it.range.end as usize];
                    format!("{} {:?} for {replaced:?}\n", it.sort_key, it.insert)
                };
                found.into_iter().map(one).collect()
            }
        };
        expect.assert_eq(&shown);
    }

    #[test]
    fn module_source_completes_with_relative_directories() {
        check(
            "//- /w/main.tf\nmodule \"m\" {\n  source = \"./$0x\"\n}\n//- /main.tf\nmodule \"w\" \
             {\n  source = \"./w\"\n}\n",
            expect![[r#"
                1./modules/vpc "./modules/vpc" for "./x"
                1./db "./db" for "./x"
                3../../beside "../../beside" for "./x"
            "#]],
        );
        check(
            "module \"m\" {\n  source = \"$0\"\n}\n",
            expect![[r#"
            1./modules/vpc "./modules/vpc" for ""
            1./db "./db" for ""
            3../../beside "../../beside" for ""
        "#]],
        );
        // An incomplete source.
        check(
            "module \"m\" {\n  source = \"./$0\n}\n",
            expect![[r#"
            1./modules/vpc "./modules/vpc" for "./"
            1./db "./db" for "./"
            3../../beside "../../beside" for "./"
        "#]],
        );
    }

    #[test]
    fn source_completion_is_empty_outside_of_source() {
        check("module \"m\" {\n  version = \"$0\"\n}\n", expect!["nothing here"]);
        check("module \"m\" {\n  source = $0\"./x\"\n}\n", expect!["nothing here"]);
        check("locals {\n  source = \"$0\"\n}\n", expect!["nothing here"]);
        check("resource \"test_thing\" \"m\" {\n  source = \"$0\"\n}\n", expect!["nothing here"]);
    }
}
