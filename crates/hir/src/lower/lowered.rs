//! The result of lowering.

use std::sync::Arc;

use crate::{
    item::Item,
    lower::{problem::Problem, source_map::SourceMap},
};

/// The result of lowering one top-level block.
#[derive(Clone, Debug, Default)]
pub struct Lowered {
    /// The items, in source order.
    pub items: Vec<Arc<Item>>,
    /// The source map of each item.
    pub source_maps: Vec<SourceMap>,
    /// Syntax errors and problems of the block's structure.
    pub problems: Vec<Problem>,
    pub(super) file: FileKind,
}

impl Lowered {
    /// An empty result for a file with these properties.
    pub(super) fn of(file: FileKind) -> Lowered {
        Lowered { file, ..Lowered::default() }
    }
}

/// The properties of a file that decide how its blocks are lowered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FileKind {
    /// Set for the JSON syntax.
    pub(super) is_json: bool,
    /// Set for override files.
    pub(super) is_override: bool,
    /// Set for `.tofu` files, which Terraform does not read.
    pub(super) is_tofu: bool,
    /// Set for test files, which have blocks of their own.
    pub(super) is_test: bool,
}

impl FileKind {
    /// The properties of the file with a path.
    pub(super) fn of(path: &str) -> FileKind {
        let is_tofu = path.ends_with(".tofu") || path.ends_with(".tofu.json");
        let (is_json, is_override) = (db::is_json(path), db::is_override(path));
        FileKind { is_json, is_override, is_tofu, is_test: db::is_test_file(path) }
    }
}
