//! Test fixtures: several files in one string, with cursors `$0` and the schema of a test provider.

use std::{path::PathBuf, sync::Arc};

use addr::ProviderSource;
use db::{ByteRange, MemorySystem};
use project::{Configure as _, EditableProject};
use provider::{
    Attribute, AttributeType, Block, Capabilities, DescriptionKind, FunctionParameter,
    FunctionSignature, NestedBlock, NestedObject, Nesting, ObjectNesting, ProviderSchemas, Schema,
    SchemaTypes,
};
use sorted::{SortedMap, TreeMap, TreeSet};
use values::{Str, Type};

use crate::{Document, FileRange};

/// A loaded fixture: a project and the places of its cursors.
pub(crate) struct Fixture {
    pub(crate) project: EditableProject,
    /// The path of the file with the cursors, or of the first file if there are no cursors.
    pub(crate) path: String,
    /// The offsets of the cursors, in order.
    pub(crate) offsets: Vec<u32>,
}

/// Loads a fixture with the schemas of the test provider.
pub(crate) fn load(fixture: &str) -> Fixture {
    let system = MemorySystem::new();
    let mut marked = None;
    let files = db::fixture::split_fixture(fixture);
    let first = files.first().map(|(path, _)| path.clone()).unwrap_or_default();
    let (mut tests, mut directories) = (Vec::new(), TreeSet::new());
    for (path, text) in files {
        let pieces: Vec<&str> = text.split("$0").collect();
        if pieces.len() > 1 {
            let ends = pieces.iter().scan(0, |at, piece| {
                *at += piece.len() as u32;
                Some(*at)
            });
            marked = Some((path.clone(), ends.take(pieces.len() - 1).collect()));
        }
        match db::is_test_file(&path) {
            true => tests.push((path, pieces.concat())),
            false => {
                directories.extend(path.rsplit_once('/').map(|(it, _)| it.to_owned()));
                system.write(path, pieces.concat());
            }
        }
    }
    let mut project = EditableProject::load(Arc::new(system), PathBuf::from("/"), TreeMap::new())
        .expect("a fixture has a root module");
    project.set_schemas(ProviderSource::implied_for("test"), Arc::new(schemas()));
    project.set_provisioners([("echo".into(), None)].into());
    if !tests.is_empty() {
        // A run may execute a module that no other one calls.
        for directory in directories {
            let is_loaded = project.tree().directory(&directory).is_some();
            let mut added = || project.tree_mut().add_root(&directory, TreeMap::new()).is_ok();
            assert!(is_loaded || added(), "{directory}");
        }
    }
    for (path, text) in tests {
        project.tree_mut().set_test_file(&path, &text);
    }
    let (path, offsets) = marked.unwrap_or((first, Vec::new()));
    Fixture { project, path, offsets }
}

impl Fixture {
    /// The file with the cursors.
    pub(crate) fn document(&self) -> Document<'_> {
        let db = self.project.db();
        let workspace = self.project.workspace();
        if let Some(file) = self.project.tree().test_file(&self.path) {
            let directory = crate::module_under_test(db, workspace, &self.path);
            let directory = directory.expect("a test file has a module");
            return Document { db, workspace, directory, file };
        }
        let found = workspace.directories(db).values().find_map(|&directory| {
            let file = *directory.files(db).iter().find(|file| **file.path(db) == *self.path)?;
            Some(Document { db, workspace, directory, file })
        });
        found.expect("the file with the cursor belongs to a module")
    }

    /// The first cursor.
    pub(crate) fn offset(&self) -> u32 {
        self.offsets.first().copied().expect("the fixture has a cursor")
    }

    /// The text of a range of any file.
    pub(crate) fn text(&self, range: FileRange) -> String {
        let document = Document { file: range.file, ..self.document() };
        slice(&document.text(), range.range).to_owned()
    }

    /// Shows a range as `path:line `text``, with its first line only.
    pub(crate) fn show(&self, range: FileRange) -> String {
        let text = Document { file: range.file, ..self.document() }.text();
        let line = text[..range.range.start as usize].matches('\n').count() + 1;
        let shown = slice(&text, range.range).lines().next().unwrap_or_default();
        format!("{}:{line} `{shown}`", range.file.path(self.project.db()))
    }
}

impl Fixture {
    /// The texts of all files, by path.
    pub(crate) fn files(&self) -> TreeMap<String, String> {
        let db = self.project.db();
        let directories = self.project.workspace().directories(db).values();
        let files = directories.flat_map(|directory| directory.files(db));
        let text = |file| Document { file, ..self.document() }.text();
        files.map(|&file| (file.path(db).to_string(), text(file))).collect()
    }

    /// The changed files with their texts after the edits.
    pub(crate) fn apply(&self, edits: &[crate::Edit]) -> String {
        let mut shown = String::new();
        let db = self.project.db();
        for &directory in self.project.workspace().directories(db).values() {
            for &file in directory.files(db) {
                let mut edits: Vec<_> = edits.iter().filter(|it| it.place.file == file).collect();
                if edits.is_empty() {
                    continue;
                }
                edits.sort_by_key(|it| (it.place.range.start, it.place.range.end));
                let text = Document { file, directory, ..self.document() }.text();
                let (mut changed, mut last) = (String::new(), 0);
                for edit in edits {
                    assert!(last <= edit.place.range.start, "edits do not overlap");
                    changed.push_str(slice(
                        &text,
                        ByteRange { start: last, end: edit.place.range.start },
                    ));
                    changed.push_str(&edit.text);
                    last = edit.place.range.end;
                }
                changed.push_str(&text[last as usize..]);
                shown.push_str(&format!("//- /{}\n{changed}", file.path(db)));
            }
        }
        shown
    }
}

pub(crate) fn slice(text: &str, range: ByteRange) -> &str {
    &text[range.start as usize..range.end as usize]
}

fn described(text: &str, attribute: Attribute) -> Attribute {
    Attribute { description: text.into(), ..attribute }
}

/// The schemas of the provider `test`, which use every feature of a schema.
pub(crate) fn schemas() -> ProviderSchemas {
    let provider = block([
        ("token", Attribute { sensitive: true, ..Attribute::optional(Type::String) }),
        ("region", described("Where things are made.", Attribute::required(Type::String))),
    ]);
    let managed = SortedMap::from([
        (Str::from("test_thing"), Arc::new(Schema::new(0, thing()))),
        (
            Str::from("test_other"),
            Arc::new(Schema::new(0, block([("id", Attribute::computed(Type::String))]))),
        ),
    ]);
    let data = block([
        ("name", Attribute::required(Type::String)),
        ("result", Attribute::computed(Type::String)),
        (
            "items",
            Attribute::computed(Type::list(Type::object([
                ("key", Type::String),
                ("size", Type::Number),
            ]))),
        ),
    ]);
    let data = SortedMap::from([(Str::from("test_data"), Arc::new(Schema::new(0, data)))]);
    let secret = block([
        ("name", Attribute::optional(Type::String)),
        (
            "value",
            described(
                "The secret itself.",
                Attribute { sensitive: true, ..Attribute::computed(Type::String) },
            ),
        ),
    ]);
    let ephemeral = SortedMap::from([(Str::from("test_secret"), Arc::new(Schema::new(0, secret)))]);
    let types = SchemaTypes { managed, data, ephemeral, identities: SortedMap::new() };
    let functions = SortedMap::from([(Str::from("joined"), joined())]);
    ProviderSchemas::new(Schema::new(0, provider), types, functions, Capabilities::default())
}

fn joined() -> FunctionSignature {
    let parameter = |name: &str, ty| FunctionParameter {
        name: name.into(),
        ty,
        allow_null_value: false,
        allow_unknown_values: false,
        description: Str::default(),
        description_kind: DescriptionKind::Plain,
    };
    FunctionSignature {
        parameters: vec![parameter("first", Type::String)],
        variadic: Some(parameter("rest", Type::Number)),
        returns: Type::list(Type::String),
        summary: "Joins.".into(),
        description: Str::default(),
        description_kind: DescriptionKind::Plain,
        deprecation_message: Str::default(),
    }
}

fn thing() -> Block {
    let write_only = |ty| Attribute { write_only: true, ..Attribute::optional(ty) };
    let nested = NestedObject::new(
        ObjectNesting::Single,
        attrs([
            ("plain", described("A plain part.", Attribute::optional(Type::String))),
            ("hidden", Attribute { sensitive: true, ..Attribute::optional(Type::String) }),
        ]),
    );
    let nested = Attribute { optional: true, ..Attribute::new(AttributeType::Nested(nested)) };
    let old = Attribute {
        deprecated: true,
        deprecation_message: "Use value instead.".into(),
        ..Attribute::optional(Type::String)
    };
    let attributes = attrs([
        (
            "id",
            described(
                "The name by which the provider knows it.",
                Attribute::computed(Type::String),
            ),
        ),
        ("name", described("A name for people.", Attribute::required(Type::String))),
        ("value", Attribute::optional(Type::String)),
        ("size", Attribute::optional(Type::Number)),
        ("enabled", Attribute::optional(Type::Bool)),
        ("tags", Attribute::optional(Type::map(Type::String))),
        ("secret", Attribute { sensitive: true, ..Attribute::computed(Type::String) }),
        ("value_wo", described("A value that is not kept.", write_only(Type::String))),
        ("value_wo_version", Attribute::optional(Type::Number)),
        ("old", old),
        ("nested", nested),
    ]);
    let mut rule = block([
        ("port", Attribute::required(Type::Number)),
        ("from", Attribute::optional(Type::String)),
    ]);
    rule.description = "One rule.".into();
    let limits = block([("cpu", Attribute::optional(Type::Number))]);
    let blocks = SortedMap::from([
        (Str::from("rule"), NestedBlock::new(Nesting::List, rule)),
        (
            Str::from("limits"),
            NestedBlock { max_items: 1, ..NestedBlock::new(Nesting::List, limits) },
        ),
    ]);
    let mut thing = Block::new(attributes, blocks);
    thing.description = "A thing of the test provider.".into();
    thing
}

fn block<const N: usize>(attributes: [(&str, Attribute); N]) -> Block {
    Block::new(attrs(attributes), SortedMap::new())
}

fn attrs<const N: usize>(attributes: [(&str, Attribute); N]) -> SortedMap<Str, Attribute> {
    attributes.into_iter().map(|(name, attribute)| (Str::from(name), attribute)).collect()
}
