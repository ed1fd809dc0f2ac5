//! Loads fixtures, which are several files in one string, with the schemas of a test provider.

use std::{path::PathBuf, sync::Arc};

use addr::ProviderSource;
use db::{Diagnostic, MemorySystem, Severity};
use expect_test::Expect;
use project::{Configure as _, EditableProject, Project};
use provider::{
    Attribute, AttributeType, Block, Capabilities, DescriptionKind, FunctionParameter,
    FunctionSignature, NestedBlock, NestedObject, Nesting, ObjectNesting, ProviderSchemas, Schema,
    SchemaTypes,
};
use sorted::{SortedMap, TreeMap};
use values::{Str, Type};

/// Loads a fixture with the schemas of the test provider.
pub(crate) fn load(fixture: &str) -> EditableProject {
    let system = MemorySystem::new();
    for (path, text) in db::fixture::split_fixture(fixture) {
        system.write(path, text);
    }
    let mut project = EditableProject::load(Arc::new(system), PathBuf::from("/"), TreeMap::new())
        .expect("a fixture has a root module");
    project.set_schemas(ProviderSource::implied_for("test"), Arc::new(schemas()));
    project
}

/// Compares all diagnostics of a fixture: a line for each diagnostic and each related location.
#[track_caller]
pub(crate) fn check(fixture: &str, expect: Expect) {
    let project = load(fixture);
    expect.assert_eq(&render(&project, &project.diagnostics()));
}

/// Renders diagnostics as text: location, severity, summary, detail, related locations.
pub(crate) fn render(project: &Project, diagnostics: &[Diagnostic]) -> String {
    let sources = project.program().sources;
    let place = |location: &db::Location| {
        let text = sources.text(&location.path).unwrap_or_default();
        let before = &text[..location.range.start as usize];
        let line = before.matches('\n').count() + 1;
        let excerpt = text[location.range.start as usize..location.range.end as usize]
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned();
        format!("{}:{line} `{excerpt}`", location.path)
    };
    let mut text = String::new();
    for diagnostic in diagnostics {
        let severity = match diagnostic.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Hint => "hint",
        };
        let at = diagnostic.location.as_ref().map(place).unwrap_or_else(|| "-".to_owned());
        text.push_str(&format!(
            "{at} {severity}: {}\n    {}\n",
            diagnostic.summary,
            indented(&diagnostic.detail)
        ));
        for related in &diagnostic.related {
            text.push_str(&format!("    {} <- {}\n", related.message, place(&related.location)));
        }
    }
    // Blank lines in a detail have no indentation.
    text.replace("\n    \n", "\n\n")
}

/// Indents the lines after the first one; blank lines stay empty.
fn indented(text: &str) -> String {
    text.replace('\n', "\n    ").replace("\n    \n", "\n\n")
}

pub(crate) fn schemas() -> ProviderSchemas {
    let provider = Schema::new(0, block([("token", Attribute::optional(Type::String))]));
    let write_only = |ty| Attribute { write_only: true, ..Attribute::optional(ty) };
    let thing = Block::new(
        attrs([
            ("id", Attribute::computed(Type::String)),
            ("value", Attribute::optional(Type::String)),
            ("count_of", Attribute::optional(Type::Number)),
            ("tags", Attribute::optional(Type::map(Type::String))),
            ("secret", Attribute { sensitive: true, ..Attribute::computed(Type::String) }),
            ("value_wo", write_only(Type::String)),
            ("value_wo_version", Attribute::optional(Type::Number)),
            ("any", Attribute::optional(Type::Dynamic)),
            (
                "nested",
                Attribute {
                    optional: true,
                    ..Attribute::new(AttributeType::Nested(NestedObject::new(
                        ObjectNesting::Single,
                        attrs([
                            ("plain", Attribute::optional(Type::String)),
                            ("hidden_wo", write_only(Type::String)),
                        ]),
                    )))
                },
            ),
        ]),
        SortedMap::from([
            (
                Str::from("blk"),
                NestedBlock::new(
                    Nesting::List,
                    block([
                        ("attr", Attribute::optional(Type::String)),
                        ("attr_wo", write_only(Type::String)),
                    ]),
                ),
            ),
            (
                Str::from("named"),
                NestedBlock::new(
                    Nesting::Map,
                    block([("attr", Attribute::optional(Type::String))]),
                ),
            ),
        ]),
    );
    let managed = [("test_thing", thing), ("test_rules", rules())];
    let managed = managed.map(|(name, block)| (Str::from(name), Arc::new(Schema::new(0, block))));
    let managed = SortedMap::from(managed);
    let data = block([
        ("name", Attribute::optional(Type::String)),
        ("result", Attribute::computed(Type::String)),
    ]);
    let data = SortedMap::from([(Str::from("test_data"), Arc::new(Schema::new(0, data)))]);
    let secret = block([
        ("name", Attribute::optional(Type::String)),
        ("value", Attribute::computed(Type::String)),
    ]);
    let ephemeral = SortedMap::from([(Str::from("test_secret"), Arc::new(Schema::new(0, secret)))]);
    let types = SchemaTypes { managed, data, ephemeral, identities: SortedMap::new() };
    let meta = block([
        ("module_name", Attribute::optional(Type::String)),
        ("calls", Attribute::optional(Type::Number)),
    ]);
    let functions = SortedMap::from([(Str::from("joined"), joined())]);
    let mut schemas = ProviderSchemas::new(provider, types, functions, Capabilities::default());
    schemas.provider_meta = Some(Arc::new(Schema::new(0, meta)));
    schemas
}

/// Returns the signature of the only function in the schema.
fn joined() -> FunctionSignature {
    FunctionSignature {
        parameters: Vec::new(),
        variadic: Some(FunctionParameter {
            name: "part".into(),
            ty: Type::String,
            allow_null_value: false,
            allow_unknown_values: false,
            description: Str::default(),
            description_kind: DescriptionKind::Plain,
        }),
        returns: Type::String,
        summary: Str::default(),
        description: Str::default(),
        description_kind: DescriptionKind::Plain,
        deprecation_message: Str::default(),
    }
}

/// Returns the schema of a resource of the legacy SDK, whose attribute `rule` can be written as blocks.
fn rules() -> Block {
    let rule = Type::object([("port", Type::Number), ("note", Type::String)]);
    block([
        ("id", Attribute::computed(Type::String)),
        ("rule", Attribute { computed: true, ..Attribute::optional(Type::list(rule)) }),
    ])
}

fn block<const N: usize>(attributes: [(&str, Attribute); N]) -> Block {
    Block::new(attrs(attributes), SortedMap::new())
}

fn attrs<const N: usize>(attributes: [(&str, Attribute); N]) -> SortedMap<Str, Attribute> {
    attributes.into_iter().map(|(name, attribute)| (Str::from(name), attribute)).collect()
}
