//! Incremental analysis of edits: after an edit, analysis must report the same as for a fresh project with the
//! same text. The texts are those of the specification, each with one line removed or cut in half.

use conformance::World;
use db::fixture::split_fixture;

const SPECIFICATION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../spec");

/// The `hcl` blocks of the specification, as fixtures.
fn fixtures() -> Vec<String> {
    let mut fixtures = Vec::new();
    // These pages are long and repetitive.
    const LONG: [&str; 3] = ["/functions/", "/language/syntax.md", "/language/types.md"];
    let pages = conformance::markdown_files(SPECIFICATION).into_iter();
    for (_, text) in pages.filter(|(path, _)| !LONG.iter().any(|it| path.contains(it))) {
        let mut blocks = text.split("```hcl\n");
        blocks.next();
        let texts = blocks.filter_map(|it| it.split("```").next());
        let fixture = |it: &str| {
            let it = it.replace("# file: ", "//- /").replace(" with CRLF\n", "\n");
            it.replace(" with a byte order mark\n", "\n")
        };
        fixtures.extend(texts.map(fixture));
    }
    fixtures
}

/// The texts with one line removed, and with that line cut in half.
fn broken(text: &str, line: usize) -> [String; 2] {
    let lines: Vec<&str> = text.lines().collect();
    let (before, after) = (lines[..line].join("\n"), lines[line + 1..].join("\n"));
    let half: String = lines[line].chars().take(lines[line].chars().count() / 2).collect();
    [format!("{before}\n{after}\n"), format!("{before}\n{half}\n{after}\n")]
}

#[test]
fn edited_project_equals_a_fresh_one() {
    let mut count = 0;
    for fixture in fixtures() {
        let files = split_fixture(&fixture);
        let mut world = World::bare(&fixture);
        for (path, text) in &files {
            // Templates and files that another file hides are not part of the configuration.
            if !world.project_mut().set_text(path, text) {
                continue;
            }
            let changes = (0..text.lines().count()).flat_map(|line| broken(text, line));
            // A fixture drops a first file without text.
            for changed in changes.filter(|it| !it.trim().is_empty()) {
                world.edit(path, &changed);
                let edited = world.analysis();
                drop(world.program());
                let fresh = World::bare(&with(&files, path, &changed)).analysis();
                assert_eq!(edited, fresh, "{path}:\n{changed}");
                count += 1;
            }
            world.edit(path, text);
        }
        assert_eq!(world.analysis(), World::bare(&fixture).analysis(), "back again:\n{fixture}");
    }
    assert!(count > 1000, "{count} edits were tried");
}

fn with(files: &[(String, String)], changed: &str, text: &str) -> String {
    let text_of = |(path, old): &(String, String)| {
        let text = if path == changed { text } else { old };
        format!("//- /{path}\n{text}")
    };
    files.iter().map(text_of).collect()
}
