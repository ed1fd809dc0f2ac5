//! Tests the mark rule of `dynamic` blocks, which needs a resource and its schema.

use std::sync::Arc;

use hir::{
    ItemKind, ProviderInput, SchemasHandle, Workspace,
    analysis::{Abstract, AnalyzedItem, Tri, item_value},
    eval::decode_body,
    names::{ItemKey, item},
};
use provider::{
    Attribute, Block, Capabilities, NestedBlock, Nesting, ProviderSchemas, Schema, SchemaTypes,
};
use sorted::{SortedMap, TreeMap};
use values::{
    Mark, MarkKind, Str, Type, Value,
    rules::{Domain, RuleId, disable},
};

use crate::names::{Database, Values};

const CONFIGURATION: &str = r#"
variable "x" {
  type      = list(string)
  sensitive = true
}

resource "test_thing" "it" {
  dynamic "part" {
    for_each = var.x
    content {
      name = "plain"
    }
  }
}
"#;

fn schema() -> Block {
    let name = (Str::from("name"), Attribute::optional(Type::String));
    let part = NestedBlock::new(Nesting::List, Block::new([name].into(), SortedMap::new()));
    Block::new(SortedMap::new(), [("part".into(), part)].into())
}

/// The value of the resource in both domains: inferred by the analysis, and decoded from the configuration.
fn both_sides() -> (Abstract, Value) {
    let mut db = Database::default();
    let file = db::input::file_from_text(&mut db, "main.tf".into(), CONFIGURATION, None);
    let directory = db::Directory::new(&db, ".".into(), vec![file]);
    hir::symbols::declare(&mut db, directory);
    let schema = schema();
    let types = SchemaTypes {
        managed: [("test_thing".into(), Arc::new(Schema::new(0, schema.clone())))].into(),
        ..SchemaTypes::default()
    };
    let provider = Schema::new(0, Block::new(SortedMap::new(), SortedMap::new()));
    let schemas = ProviderSchemas::new(provider, types, SortedMap::new(), Capabilities::default());
    let input = ProviderInput::new(&db, SchemasHandle(Arc::new(schemas)));
    let source = addr::ProviderSource::implied_for("test");
    let directories = [(Arc::from("."), directory)].into();
    let workspace = Workspace::new(
        &db,
        directory,
        Arc::new(directories),
        TreeMap::new(),
        [(source, input)].into(),
        TreeMap::new(),
        Default::default(),
    );
    let keys = file.blocks(&db).iter().map(|&block| ItemKey { block, index: 0 });
    let found = keys.map(|key| (key, item(&db, key))).find_map(|(key, item)| match &item.kind {
        ItemKind::Resource(resource) => Some((key, item, resource)),
        _ => None,
    });
    let (key, item, resource) = found.expect("there is one resource");
    let known = item_value(&db, AnalyzedItem::of(&db, workspace, directory, key)).clone();
    let list = Value::list(Type::String, vec!["a".into()]).with_mark(Mark::Sensitive);
    let scope = Values::of([("x", list)].into());
    let decoded = decode_body(&item.exprs, &resource.body, item.header, &schema, &scope);
    let decoded = decoded.expect("nothing interrupts");
    assert!(!decoded.has_errors(), "{:?}", decoded.diagnostics);
    (known, decoded.value)
}

/// Returns, for each domain, true if the attribute with a constant value inside of the block is sensitive.
fn is_marked() -> (bool, bool) {
    let (known, value) = both_sides();
    let part = known.attr("part").expect("the schema has it").any_element();
    let known = part.marks.union(&part.attr("name").expect("the schema has it").marks);
    let parts = value.get_attr("part").expect("the schema has it");
    let part = parts.as_slice().expect("the list is known")[0].clone();
    (part.has_deep(MarkKind::Sensitive), known.sensitive == Tri::Yes)
}

#[test]
fn ephemeral_collection_marks_the_content_of_a_dynamic_block() {
    assert_eq!(is_marked(), (true, true));
}

#[test]
fn disabling_the_dynamic_block_rule_in_one_domain_is_detected() {
    let concrete = disable(RuleId::DynamicBlock, Domain::Concrete);
    assert_eq!(is_marked(), (false, true));
    drop(concrete);
    let _abstract = disable(RuleId::DynamicBlock, Domain::Abstract);
    assert_eq!(is_marked(), (true, false));
}
