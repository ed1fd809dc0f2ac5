//! The cursor: a place in a file with the block, token, item and expression there.

use std::sync::Arc;

use db::{Block, ByteRange};
use hir::Db;
use hir::{
    At, ExprId, Item, SourceMap,
    analysis::{ExprValues, expr_values},
    names::{ItemKey, block_items, item, source_maps},
};
use syntax::{AstNode, SyntaxNode, SyntaxToken, TextRange, TextSize, TokenAtOffset};

use crate::{Document, FileRange, Module};

/// A place in a file.
#[derive(Clone)]
pub struct Cursor<'db> {
    /// The file.
    pub document: Document<'db>,
    /// The top-level block around the place.
    pub block: Block,
    /// The offset of the block in the file.
    pub start: u32,
    /// The place, relative to the start of the block.
    pub offset: TextSize,
    /// The syntax tree of the block.
    pub root: SyntaxNode,
}

/// An item of a block, with the source map of its parts.
#[derive(Clone, Copy)]
pub struct ItemAt<'db> {
    /// The key of the item in the database.
    pub key: ItemKey,
    /// The lowered item.
    pub item: &'db Arc<Item>,
    /// The source map of the item.
    pub map: &'db SourceMap,
}

impl<'db> Document<'db> {
    /// The top-level blocks of the file in order, each with its offset. Empty for a file in the JSON syntax,
    /// because such a file has no syntax tree.
    pub fn blocks(&self) -> impl Iterator<Item = (Block, u32)> + use<'db> {
        let db = self.db;
        let blocks = match db::is_json(self.file.path(db)) {
            true => &[],
            false => self.file.blocks(db).as_slice(),
        };
        blocks.iter().scan(0, move |next: &mut u32, &block| {
            let start = *next;
            *next = next.saturating_add(length(db, block));
            Some((block, start))
        })
    }

    /// The blocks that overlap or touch a range.
    pub fn blocks_in(&self, range: ByteRange) -> impl Iterator<Item = (Block, u32)> + use<'db> {
        let db = self.db;
        let ends_before = move |&(block, start): &(Block, u32)| {
            start.saturating_add(length(db, block)) < range.start
        };
        let blocks = self.blocks().skip_while(ends_before);
        blocks.take_while(move |(_, start)| *start <= range.end)
    }

    /// The cursor at an offset. An offset beyond the end is moved to the end, and one inside of a character to its
    /// start. Between two blocks the cursor is at the start of the second. `None` if the file has no block.
    pub fn cursor(&self, offset: u32) -> Option<Cursor<'db>> {
        let (block, start) = self.blocks().take_while(|(_, start)| *start <= offset).last()?;
        Some(self.cursor_in(block, start, offset))
    }

    /// The cursor at an offset inside of a block or at its end.
    pub(crate) fn cursor_in(&self, block: Block, start: u32, offset: u32) -> Cursor<'db> {
        let text = block.text(self.db);
        let wanted = usize::try_from(offset.saturating_sub(start)).unwrap_or(usize::MAX);
        let wanted = wanted.min(text.len());
        let offset = db::input::floor_char_boundary(text, wanted);
        let root = db::parse(self.db, block).tree().syntax().clone();
        let offset = TextSize::new(u32::try_from(offset).unwrap_or(u32::MAX));
        let document = self.of_block(&root);
        Cursor { document, block, start, offset, root }
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        self.file.blocks(self.db).iter().map(|block| &**block.text(self.db)).collect()
    }

    /// The module that the file belongs to.
    pub fn module(&self) -> Module<'db> {
        let module = Module::new(self.db, self.workspace, self.directory);
        Module { is_test: self.is_test(), ..module }
    }
}

fn length(db: &dyn Db, block: Block) -> u32 {
    u32::try_from(block.text(db).len()).unwrap_or(u32::MAX)
}

impl<'db> Cursor<'db> {
    /// The tokens that touch the place: none, one, or the tokens before and after it.
    pub fn tokens(&self) -> TokenAtOffset<SyntaxToken> {
        self.root.token_at_offset(self.offset)
    }

    /// The token that a request at this place is about. Of two tokens, names are preferred to literals, and
    /// literals to punctuation and trivia.
    pub fn token(&self) -> Option<SyntaxToken> {
        self.tokens().max_by_key(|token| match token.kind() {
            kind if kind.is_name() => 3,
            kind if kind.is_trivia() => 0,
            kind if kind.is_template_literal() => 2,
            _ => 1,
        })
    }

    /// The token that ends at the place or contains it.
    pub fn token_before(&self) -> Option<SyntaxToken> {
        self.tokens().left_biased().filter(|token| token.text_range().start() < self.offset)
    }

    /// The last token before an offset that is neither whitespace nor a comment.
    pub(crate) fn significant_before(&self, offset: TextSize) -> Option<SyntaxToken> {
        let touching = self.root.token_at_offset(offset).left_biased();
        let tokens = std::iter::successors(touching, SyntaxToken::prev_token);
        let is_before = |token: &SyntaxToken| token.text_range().start() < offset;
        tokens.filter(is_before).find(|token| !token.kind().is_trivia())
    }

    /// The items of the block, in order.
    pub fn items(&self) -> impl Iterator<Item = ItemAt<'db>> + use<'db> {
        items_of(self.document.db, self.block)
    }

    /// The item around the place. In a `locals` block it is the local whose definition contains the place.
    pub fn item(&self) -> Option<ItemAt<'db>> {
        self.item_around(TextRange::empty(self.offset))
    }

    /// The item around a range of the block.
    pub fn item_around(&self, range: TextRange) -> Option<ItemAt<'db>> {
        let mut items: Vec<ItemAt<'db>> = self.items().collect();
        match items.len() {
            0 | 1 => items.pop(),
            _ => items.into_iter().find(|it| it.covers(range)),
        }
    }

    /// The smallest expression around a node or token of the tree, with its item.
    pub fn expr_around(&self, range: TextRange) -> Option<(ItemAt<'db>, ExprId)> {
        let item = self.item_around(range)?;
        Some((item, item.map.expr_around(range)?))
    }

    /// Converts a range of the block to a range of the file.
    pub fn in_file(&self, range: TextRange) -> ByteRange {
        ByteRange::from(range).shifted(self.start)
    }

    /// Converts a range of the block to a place in the file.
    pub fn file_range(&self, range: TextRange) -> FileRange {
        FileRange { file: self.document.file, range: self.in_file(range) }
    }

    /// The inferred values of all expressions of an item.
    pub fn values(&self, item: ItemAt<'db>) -> ExprValues {
        let Document { db, workspace, directory, .. } = self.document;
        expr_values(db, workspace, directory, item.key)
    }
}

/// The items of a block with their source maps.
pub(crate) fn items_of(db: &dyn Db, block: Block) -> impl Iterator<Item = ItemAt<'_>> {
    let maps = source_maps(db, block);
    // Reads each item through the `item` query: its result stays equal if another item of the block changes.
    (0..block_items(db, block).len()).zip(maps).map(move |(index, map)| {
        let key = ItemKey { block, index: index as u32 };
        ItemAt { key, item: item(db, key), map }
    })
}

impl ItemAt<'_> {
    /// The range of a part of the item, relative to the start of the block.
    pub fn range(&self, at: impl Into<At>) -> Option<TextRange> {
        self.map.range(at.into())
    }

    /// Returns true if the item is a local whose definition covers a range.
    fn covers(&self, range: TextRange) -> bool {
        let header = self.range(self.item.header);
        let value = self.item.kind.as_local().and_then(|it| self.range(it.value));
        let (Some(header), Some(value)) = (header, value) else { return false };
        header.cover(value).contains_range(range)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture;

    /// Shows the token at the cursor, the smallest expression around it, and its inferred value.
    #[track_caller]
    fn check(text: &str, expect: Expect) {
        let fixture = fixture::load(text);
        let cursor = fixture.document().cursor(fixture.offset()).expect("the file has a block");
        let mut shown = String::new();
        if let Some(token) = cursor.token() {
            shown = format!("{}\n", fixture.show(cursor.file_range(token.text_range())));
            if let Some((item, id)) = cursor.expr_around(token.text_range()) {
                let range = item.range(id).expect("the expression has a range");
                shown.push_str(&format!("in {}\n", fixture.show(cursor.file_range(range))));
                let values = cursor.values(item);
                let value = values.expr(id).expect("every expression has a value");
                shown.push_str(&format!("{} {:?}\n", value.ty, value.deep_marks()));
            }
        }
        expect.assert_eq(&shown);
    }

    #[test]
    fn cursor_in_a_traversal_selects_the_path_up_to_the_step() {
        check(
            "locals {\n  a = { b = { c = 1 } }\n  x = local.a.$0b.c\n}\n",
            expect![[r#"
                main.tf:3 `b`
                in main.tf:3 `local.a.b`
                object({ c = number }) TriMarks { sensitive: No, ephemeral: No, deprecated: No }
            "#]],
        );
        check(
            "locals {\n  a = { b = { c = 1 } }\n  x = local.$0a.b.c\n}\n",
            expect![[r#"
                main.tf:3 `a`
                in main.tf:3 `local.a`
                object({ b = object({ c = number }) }) TriMarks { sensitive: No, ephemeral: No, deprecated: No }
            "#]],
        );
    }

    #[test]
    fn cursor_in_a_constant_selects_its_part() {
        check(
            "locals {\n  a = { b = [1, $0true] }\n}\n",
            expect![[r#"
            main.tf:2 `true`
            in main.tf:2 `true`
            bool TriMarks { sensitive: No, ephemeral: No, deprecated: No }
        "#]],
        );
        check(
            "locals {\n  a = [for s in [\"x\", \"y\"] : $0s]\n}\n",
            expect![[r#"
            main.tf:2 `s`
            in main.tf:2 `s`
            string TriMarks { sensitive: No, ephemeral: No, deprecated: No }
        "#]],
        );
    }

    #[test]
    fn cursor_before_a_missing_name_has_a_value() {
        check(
            "locals {\n  a = { b = 1 }\n  x = $0local.a.\n  y = 1\n}\n",
            expect![[r#"
            main.tf:3 `local`
            in main.tf:3 `local.a`
            object({ b = number }) TriMarks { sensitive: No, ephemeral: No, deprecated: No }
        "#]],
        );
        check(
            "variable \"v\" {\n  type = list(object({ a = string }))\n}\nlocals {\n  x = [for it \
             in var.v : $0it.]\n}\n",
            expect![[r#"
                main.tf:5 `it`
                in main.tf:5 `it`
                object({ a = string }) TriMarks { sensitive: No, ephemeral: No, deprecated: No }
            "#]],
        );
        check(
            "resource \"test_thing\" \"a\" {\n  for_each = { k = { s = 1 } }\n  name = each.$0value.\n}\n",
            expect![[r#"
                main.tf:3 `value`
                in main.tf:3 `each.value`
                object({ s = number }) TriMarks { sensitive: No, ephemeral: No, deprecated: No }
            "#]],
        );
    }

    #[test]
    fn cursor_on_an_iterator_has_the_element_value() {
        check(
            "variable \"v\" {\n  type = list(number)\n  ephemeral = true\n}\nresource \
             \"test_thing\" \"a\" {\n  name = \"\"\n  dynamic \"rule\" {\n    for_each = var.v\n    \
             content {\n      port = rule.$0value\n    }\n  }\n}\n",
            expect![[r#"
                main.tf:10 `value`
                in main.tf:10 `rule.value`
                number TriMarks { sensitive: No, ephemeral: Yes, deprecated: No }
            "#]],
        );
    }

    #[test]
    fn cursor_exists_at_any_offset() {
        let fixture = fixture::load("# ä\nlocals {\n  a = \"ä\"\n}\n$0");
        let document = fixture.document();
        for offset in 0..40 {
            let cursor = document.cursor(offset).expect("the file has a block");
            assert!(u32::from(cursor.offset) + cursor.start <= offset);
        }
        assert!(document.cursor(u32::MAX).is_some());
        assert!(fixture::load("$0").document().cursor(0).is_none());
    }

    #[test]
    fn item_locations_lead_to_their_files() {
        let fixture = fixture::load(
            "//- /a.tf\n# one\nlocals {\n  a = 1\n}\n\nlocals {\n  b = $02\n}\n//- /b.tf\nlocals {\n  c = 3\n}\n",
        );
        let module = fixture.document().module();
        for name in ["a", "b", "c"] {
            let key = module.lookup(&hir::names::ItemName::Local(name.into())).expect("declared");
            let header = hir::names::item(module.db, key).header;
            let range = module.range(key, header).expect("it has a place");
            assert_eq!(fixture.text(range), name);
        }
    }
}
