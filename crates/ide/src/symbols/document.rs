//! The outline of a file.

use db::ByteRange;
use syntax::{
    AstNode,
    ast::{self, BodyItem, HasItems},
};

use crate::{Cursor, Document};

/// An entry of the outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The name of the entry: the form that references use if the item can be referenced, else the labels or the
    /// block type.
    pub name: String,
    /// The type of the block.
    pub detail: String,
    /// The kind of the entry.
    pub kind: SymbolKind,
    /// The whole range of the entry.
    pub range: ByteRange,
    /// The range of the name, inside `range`.
    pub name_range: ByteRange,
    /// The entries inside of this one.
    pub children: Vec<Symbol>,
}

/// The kind of an outline entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A `variable` block.
    Variable,
    /// A local value in a `locals` block.
    Local,
    /// An `output` block.
    Output,
    /// A `resource` block.
    Resource,
    /// A `data` block.
    Data,
    /// An `ephemeral` block.
    Ephemeral,
    /// A `module` block.
    Module,
    /// A `provider` block.
    Provider,
    /// A `check` block.
    Check,
    /// Any other block: `terraform`, `locals`, `moved`, or a nested block.
    Block,
    /// An attribute `name = value`.
    Attribute,
}

/// Returns the outline of a file: its blocks and their contents.
pub fn document_symbols(document: Document<'_>) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    for tree in document.trees() {
        let Some(file) = ast::SourceFile::cast(tree.root.clone()) else { continue };
        symbols.extend(file.body_items().filter_map(|item| match item {
            BodyItem::Block(block) => top_level(&tree, &block),
            // An attribute at the top level is an error, but the outline shows it.
            BodyItem::Attribute(attribute) => {
                of_attribute(&tree, &attribute, SymbolKind::Attribute)
            }
        }));
    }
    symbols
}

fn top_level(tree: &Cursor<'_>, block: &ast::Block) -> Option<Symbol> {
    let detail = block.block_type()?;
    let labels: Vec<_> = block.label_texts().collect();
    let (kind, prefix) = match detail.as_str() {
        "variable" => (SymbolKind::Variable, ""),
        "output" => (SymbolKind::Output, ""),
        "resource" => (SymbolKind::Resource, ""),
        "data" => (SymbolKind::Data, "data."),
        "ephemeral" => (SymbolKind::Ephemeral, "ephemeral."),
        "module" => (SymbolKind::Module, ""),
        "provider" => (SymbolKind::Provider, ""),
        "check" => (SymbolKind::Check, ""),
        _ => (SymbolKind::Block, ""),
    };
    let mut name = match labels.as_slice() {
        // Editors do not show entries with empty names.
        labels if labels.iter().all(|label| label.is_empty()) => detail.to_string(),
        labels => format!("{prefix}{}", labels.join(".")),
    };
    if kind == SymbolKind::Provider
        && let Some(alias) = literal(block, "alias")
    {
        name = format!("{name}.{alias}");
    }
    let children = match detail.as_str() {
        "locals" => children(tree, block, SymbolKind::Local),
        _ => children(tree, block, SymbolKind::Attribute),
    };
    symbol(tree, block, name, detail.into(), kind, children)
}

/// The value of an argument if it is a literal string.
fn literal(block: &ast::Block, name: &str) -> Option<String> {
    match block.body()?.attribute(name)?.value()? {
        ast::Expr::QuotedTemplate(quoted) => quoted.literal_text(),
        _ => None,
    }
}

/// The entries of everything in a block. The parser limits the depth of the tree, so the recursion is safe.
fn children(tree: &Cursor<'_>, block: &ast::Block, attributes: SymbolKind) -> Vec<Symbol> {
    let items = block.body().into_iter().flat_map(|body| body.body_items());
    let found = items.filter_map(|item| match item {
        BodyItem::Attribute(attribute) => of_attribute(tree, &attribute, attributes),
        BodyItem::Block(block) => {
            let kind = block.block_type()?;
            let labels: Vec<_> = block.label_texts().collect();
            let name = match labels.as_slice() {
                [] => kind.to_string(),
                labels => format!("{kind} {}", labels.join(".")),
            };
            let children = children(tree, &block, SymbolKind::Attribute);
            symbol(tree, &block, name, String::new(), SymbolKind::Block, children)
        }
    });
    found.collect()
}

fn symbol(
    tree: &Cursor<'_>,
    block: &ast::Block,
    name: String,
    detail: String,
    kind: SymbolKind,
    children: Vec<Symbol>,
) -> Option<Symbol> {
    let header = block.type_token()?.text_range();
    // The last label names a resource, the only label any other item.
    let name_range = block.labels().last().map_or(header, |label| label.syntax().text_range());
    Some(Symbol {
        name,
        detail,
        kind,
        range: tree.in_file(block.syntax().text_range()),
        name_range: tree.in_file(name_range),
        children,
    })
}

fn of_attribute(tree: &Cursor<'_>, attribute: &ast::Attribute, kind: SymbolKind) -> Option<Symbol> {
    let name = attribute.name_token()?;
    Some(Symbol {
        name: name.text().to_owned(),
        detail: String::new(),
        kind,
        range: tree.in_file(attribute.syntax().text_range()),
        name_range: tree.in_file(name.text_range()),
        children: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::{Symbol, document_symbols};
    use crate::fixture::{self, slice};

    /// Shows the outline with the text of each name.
    #[track_caller]
    fn check(text: &str, expect: Expect) {
        let fixture = fixture::load(text);
        let text = fixture.document().text();
        let mut shown = String::new();
        show(&text, &document_symbols(fixture.document()), 0, &mut shown);
        expect.assert_eq(&shown);
    }

    fn show(text: &str, symbols: &[Symbol], depth: usize, shown: &mut String) {
        for symbol in symbols {
            let Symbol { name, kind, detail, range, name_range, children } = symbol;
            assert!(range.start <= name_range.start && name_range.end <= range.end);
            let at = slice(text, *name_range);
            let indent = "  ".repeat(depth);
            shown.push_str(&format!("{indent}{kind:?} {name} `{at}` {detail}\n"));
            show(text, children, depth + 1, shown);
        }
    }

    #[test]
    fn outline_lists_blocks_with_their_content() {
        check(
            r#"
terraform {
  required_providers {
    test = { source = "a/b" }
  }
}
provider "test" {
  alias = "west"
}
variable "v" { type = string }
locals {
  one = 1
  two = { three = 3 }
}
data "test_data" "d" {}
ephemeral "test_secret" "s" {}
resource "test_thing" "t" {
  value = "a"
  dynamic "rule" {
    for_each = []
    content { port = 1 }
  }
  lifecycle { prevent_destroy = true }
}
module "m" { source = "./m" }
output "o" { value = 1 }
check "c" {}
"#,
            expect![[r#"
                Block terraform `terraform` terraform
                  Block required_providers `required_providers` 
                    Attribute test `test` 
                Provider test.west `"test"` provider
                  Attribute alias `alias` 
                Variable v `"v"` variable
                  Attribute type `type` 
                Block locals `locals` locals
                  Local one `one` 
                  Local two `two` 
                Data data.test_data.d `"d"` data
                Ephemeral ephemeral.test_secret.s `"s"` ephemeral
                Resource test_thing.t `"t"` resource
                  Attribute value `value` 
                  Block dynamic rule `"rule"` 
                    Attribute for_each `for_each` 
                    Block content `content` 
                      Attribute port `port` 
                  Block lifecycle `lifecycle` 
                    Attribute prevent_destroy `prevent_destroy` 
                Module m `"m"` module
                  Attribute source `source` 
                Output o `"o"` output
                  Attribute value `value` 
                Check c `"c"` check
            "#]],
        );
    }

    #[test]
    fn outline_lists_incomplete_blocks() {
        check(
            "resource \"test_thing\" \"\" {\n  value =\n}\nvariable \"\" {}\nresource\nx = 1\nvariable v {}\n",
            expect![[r#"
            Resource test_thing. `""` resource
              Attribute value `value` 
            Variable variable `""` variable
            Attribute x `x` 
            Variable v `v` variable
        "#]],
        );
    }
}
