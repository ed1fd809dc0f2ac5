//! Compares the index of names with queries alone, after an edit: run it with `cargo bench -p project --bench edits`.
//!
//! Each row is a question that an editor or `watch` asks after each key. "Queries" answers it from the database
//! alone, with aggregates of bounded fan-out (chunk, file, module; names in shards). "Index" answers it as the
//! product does. Both answers are compared. The bench fails if the index misses its budget.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench measures time and prints what it measured"
)]

use std::{
    fmt::Write as _,
    hash::{Hash as _, Hasher as _},
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use db::{Block, Diagnostic, Directory, File, MemorySystem};
use hir::{
    Workspace,
    names::{ItemKey, ItemName, block_names, lookup},
};
use project::{Edit, EditableProject};
use rustc_hash::{FxHashSet, FxHasher};
use sorted::TreeMap;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The blocks of a chunk.
const CHUNK: usize = 64;
/// The shards of the names of a module.
const SHARDS: u32 = 64;
/// The edits of each row.
const EDITS: usize = 20;

fn main() {
    let mut is_missed = false;
    for row in [names(100_000, 100), problems(5_000), problems_and_program(5_000)] {
        let Row { name, budget, queries, index } = row;
        let is_met = worst(&index) <= budget;
        is_missed |= !is_met;
        println!(
            "{name}: queries {} (worst {}), index {} (worst {}), budget {}{}",
            shown(median(&queries)),
            shown(worst(&queries)),
            shown(median(&index)),
            shown(worst(&index)),
            shown(budget),
            if is_met { "" } else { ": MISSED" }
        );
    }
    assert!(!is_missed, "the index misses a budget");
}

/// The times that the answers to one question took.
struct Row {
    name: String,
    budget: Duration,
    queries: Vec<Duration>,
    index: Vec<Duration>,
}

fn median(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort();
    sorted[sorted.len() / 2]
}

fn worst(times: &[Duration]) -> Duration {
    times.iter().max().copied().unwrap_or_default()
}

fn shown(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

/// Runs `work` and adds its duration to `times`.
fn timed<T>(times: &mut Vec<Duration>, work: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let result = work();
    times.push(begun.elapsed());
    result
}

/// A configuration of `count` resources, each with two locals and an output, in files of `per_file` resources.
fn project(count: usize, per_file: usize) -> EditableProject {
    let system = MemorySystem::new();
    for (number, first) in (0..count).step_by(per_file).enumerate() {
        let mut text = String::new();
        for index in first..(first + per_file).min(count) {
            let _ = write!(
                text,
                "locals {{\n  a{index} = \"{index}\"\n  b{index} = \"<${{local.a{index}}}>\"\n}}\n\n\
                 resource \"terraform_data\" \"r{index}\" {{\n  input = local.b{index}\n}}\n\n\
                 output \"o{index}\" {{\n  value = terraform_data.r{index}.output\n}}\n\n"
            );
        }
        system.write(path(number), text);
    }
    let loaded = EditableProject::load(Arc::new(system), PathBuf::from("."), TreeMap::new());
    loaded.expect("the root module is there")
}

fn path(number: usize) -> String {
    format!("f{number:04}.tf")
}

/// Replaces the value of the local `a{index}` of a file.
fn edit(project: &mut EditableProject, path: &str, index: usize, with: &str) -> Edit {
    let start = format!("  a{index} = ");
    let mut tree = project.tree_mut();
    let text = tree.edited_text(path).expect("it is part of the configuration");
    let at = text.find(&start).expect("it has the local") + start.len();
    let end = at + text[at..].find('\n').expect("the line ends");
    tree.edit(path, at..end, with).expect("it is part of the configuration")
}

/// The value that an edit gives to a local: in every second one, a reference that does not resolve.
fn value(number: usize) -> String {
    match number % 2 {
        0 => "local.missing".to_owned(),
        _ => format!("\"v{number}\""),
    }
}

#[salsa::tracked(returns(ref))]
fn names_of_chunk(db: &dyn hir::Db, file: File, chunk: u32) -> Vec<(ItemName, ItemKey)> {
    let blocks = file.blocks(db).chunks(CHUNK).nth(chunk as usize).unwrap_or_default();
    let of_block = |&block: &Block| {
        let names = (0u32..).zip(block_names(db, block));
        names.map(move |(index, name)| (name.clone(), ItemKey { block, index }))
    };
    blocks.iter().flat_map(of_block).collect()
}

#[salsa::tracked(returns(ref))]
fn shard_of_file(db: &dyn hir::Db, file: File, shard: u32) -> TreeMap<ItemName, ItemKey> {
    let mut names = TreeMap::new();
    for chunk in 0..file.blocks(db).len().div_ceil(CHUNK) as u32 {
        for (name, key) in names_of_chunk(db, file, chunk) {
            if shard_of(name) == shard {
                names.entry(name.clone()).or_insert(*key);
            }
        }
    }
    names
}

#[salsa::tracked(returns(ref))]
fn shard_of_module(
    db: &dyn hir::Db,
    directory: Directory,
    shard: u32,
) -> TreeMap<ItemName, ItemKey> {
    let mut names = TreeMap::new();
    for &file in directory.files(db) {
        for (name, key) in shard_of_file(db, file, shard) {
            names.entry(name.clone()).or_insert(*key);
        }
    }
    names
}

fn shard_of(name: &ItemName) -> u32 {
    let mut hasher = FxHasher::default();
    name.hash(&mut hasher);
    (hasher.finish() >> 32) as u32 % SHARDS
}

/// The declaration of a name, after an edit of another declaration.
fn names(count: usize, per_file: usize) -> Row {
    let mut project = project(count, per_file);
    let (mut queries, mut index) = (Vec::new(), Vec::new());
    let wanted = ItemName::Local("a7".into());
    let root = project.root();
    let by_query =
        |db: &dyn hir::Db| shard_of_module(db, root, shard_of(&wanted)).get(&wanted).copied();
    assert_eq!(by_query(project.db()), lookup(project.db(), root, &wanted));
    for number in 0..EDITS {
        let file = number * 37 % (count / per_file);
        let declared = file * per_file + number % per_file;
        edit(&mut project, &path(file), declared, &value(number));
        let found = timed(&mut queries, || by_query(project.db()));
        // The index works while the text is set, so its edit counts.
        let known = timed(&mut index, || {
            edit(&mut project, &path(file), declared, &value(number + 1));
            lookup(project.db(), root, &wanted)
        });
        assert!(found.is_some() && found == known, "both find the declaration");
    }
    let name = format!("a name, {count} resources in {} files", count / per_file);
    Row { name, budget: Duration::from_millis(20), queries, index }
}

/// The diagnostics of the edited file, which has all resources.
fn problems(count: usize) -> Row {
    let (mut one, mut other) = (project(count, count), project(count, count));
    let path = path(0);
    let (mut queries, mut index) = (Vec::new(), Vec::new());
    let mut suspects: FxHashSet<Block> = checked(&one, &path, |_| true).1;
    checked(&other, &path, |_| true);
    let root = one.root();
    one.tree_mut().follow(root);
    for number in 0..EDITS {
        let declared = number * 131 % count;
        edit(&mut other, &path, declared, &value(number));
        let all = timed(&mut queries, || checked(&other, &path, |_| true).0);
        let found = timed(&mut index, || {
            let made = edit(&mut one, &path, declared, &value(number));
            let reached = one.tree().reached(&made).expect("the module is followed");
            let asked = |block| reached.contains(&block) || suspects.contains(&block);
            let (found, with_problems) = checked(&one, &path, asked);
            suspects = with_problems;
            found
        });
        assert_eq!(found, all);
        assert_eq!(found.is_empty(), number % 2 == 1, "{found:?}");
        edit(&mut other, &path, declared, "1");
        edit(&mut one, &path, declared, "1");
    }
    let name = format!("problems of the edited file, {count} resources in one file");
    Row { name, budget: Duration::from_millis(20), queries, index }
}

/// The diagnostics of the selected blocks of a file, and the blocks that have any.
fn checked(
    project: &EditableProject,
    path: &str,
    is_asked: impl Fn(Block) -> bool,
) -> (Vec<Diagnostic>, FxHashSet<Block>) {
    let (file, directory) = project.tree().file(path).expect("it is part of the configuration");
    let (db, workspace): (_, Workspace) = (project.db(), project.workspace());
    let found = hir::diagnostics::of_blocks_of_file(db, workspace, directory, file, is_asked);
    (found.diagnostics, found.blocks.into_iter().collect())
}

/// All diagnostics and the program, as `watch` needs them after a save.
fn problems_and_program(count: usize) -> Row {
    let (mut one, mut other) = (project(count, count / 50), project(count, count / 50));
    let (mut queries, mut index) = (Vec::new(), Vec::new());
    let by_queries = |project: &EditableProject| {
        let found = hir::diagnostics::diagnostics(project.db(), project.workspace());
        (found, project.program())
    };
    one.recheck();
    by_queries(&other);
    for number in 0..EDITS {
        let file = number * 7 % 50;
        let declared = file * (count / 50) + number;
        edit(&mut other, &path(file), declared, &value(number));
        let (all, whole) = timed(&mut queries, || by_queries(&other));
        let (found, program) = timed(&mut index, || {
            edit(&mut one, &path(file), declared, &value(number));
            one.recheck()
        });
        assert_eq!(found, all);
        assert_eq!(found.is_empty(), number % 2 == 1, "{found:?}");
        let name = values::Str::from(format!("a{declared}").as_str());
        assert_eq!(program.root().locals[&name].item, whole.root().locals[&name].item);
        assert_eq!(program.root().locals.len(), whole.root().locals.len());
        for project in [&mut one, &mut other] {
            edit(project, &path(file), declared, "1");
        }
    }
    let name = format!("problems and program, {count} resources in 50 files");
    Row { name, budget: Duration::from_millis(50), queries, index }
}
