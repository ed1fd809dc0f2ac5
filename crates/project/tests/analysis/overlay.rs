//! Tests of the overlay: after any sequence of changes on the disk and in the editor, the diagnostics are those of
//! a project that is newly loaded with the same texts.

use std::{path::PathBuf, sync::Arc};

use db::{Diagnostic, MemorySystem};
use project::EditableProject;
use sorted::TreeMap;

const PATHS: [&str; 7] =
    ["main.tf", "main.tofu", "b.tf", ".hidden.tf", "m/main.tf", "m/main.tofu", "n/main.tf"];

const TEXTS: [&str; 7] = [
    "",
    "locals {\n  a = 1\n  b = local.a\n}\n",
    "locals {\n  a = local.gone\n}\n",
    "module \"m\" {\n  source = \"./m\"\n}\n",
    "module \"n\" {\n  source = \"../n\"\n}\nlocals {\n  c = local.a\n}\n",
    "locals {\n  d = module.m.o\n}\n\nmodule \"n\" {\n  source = \"./n\"\n}\n",
    "output \"o\" {\n  value = local.d\n}\nvariable \"v\" {}\n",
];

/// Reproducible random numbers.
struct Numbers(fastrand::Rng);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0.usize(..most)
    }

    fn one_of(&mut self, all: &[&'static str]) -> &'static str {
        all[self.below(all.len())]
    }
}

type Texts = TreeMap<&'static str, String>;

/// Returns the diagnostics of a new project with the effective texts.
fn fresh(disk: &Texts, open: &Texts) -> Vec<Diagnostic> {
    let system = MemorySystem::new();
    for (path, text) in disk.iter().chain(open) {
        system.write(on_disk(path), text.as_str());
    }
    load(&Arc::new(system)).diagnostics()
}

fn on_disk(path: &str) -> String {
    format!("/w/{path}")
}

fn load(system: &Arc<MemorySystem>) -> EditableProject {
    let system = Arc::clone(system) as Arc<dyn db::System>;
    EditableProject::load(system, PathBuf::from("/w"), TreeMap::new()).expect("readable")
}

/// Applies a random change to a random file and describes it.
fn happen(
    numbers: &mut Numbers,
    (project, system): (&mut EditableProject, &MemorySystem),
    (disk, open): (&mut Texts, &mut Texts),
) -> String {
    let (path, text) = (numbers.one_of(&PATHS), numbers.one_of(&TEXTS));
    let mut tree = project.tree_mut();
    match numbers.below(5) {
        0 => {
            system.write(on_disk(path), text);
            disk.insert(path, text.to_owned());
            tree.reload([path]);
            format!("write {path} {text:?}")
        }
        1 if disk.remove(path).is_some() => {
            system.remove(on_disk(path));
            tree.reload([path]);
            format!("remove {path}")
        }
        2 if open.remove(path).is_some() => {
            tree.close(path);
            format!("close {path}")
        }
        3 if open.contains_key(path) => {
            let before = tree.edited_text(path).unwrap_or_default().to_owned();
            let at = numbers.below(before.len() + 1);
            tree.edit(path, at..at, text);
            open.insert(path, [&before[..at], text, &before[at..]].concat());
            format!("insert {text:?} into {path} at {at}")
        }
        4 => {
            tree.open(path, text);
            open.insert(path, text.to_owned());
            format!("open {path} {text:?}")
        }
        _ => String::new(),
    }
}

#[test]
fn open_and_disk_texts_equal_a_fresh_start() {
    for seed in 0..20 {
        let mut numbers = Numbers(fastrand::Rng::with_seed(seed));
        let system = Arc::new(MemorySystem::new());
        // The root directory always exists, because it contains this file.
        system.write(on_disk("keep.txt"), "");
        let mut project = load(&system);
        let (mut disk, mut open) = (Texts::from([("keep.txt", String::new())]), Texts::new());
        let mut story = Vec::new();
        for _ in 0..60 {
            let both = (&mut project, &*system);
            story.push(happen(&mut numbers, both, (&mut disk, &mut open)));
            let told = format!("seed {seed}:\n{}", story.join("\n"));
            assert_eq!(project.diagnostics(), fresh(&disk, &open), "{told}");
            for (path, text) in &open {
                assert_eq!(project.tree().text(path).as_deref(), Some(text.as_str()), "{told}");
            }
        }
    }
}
