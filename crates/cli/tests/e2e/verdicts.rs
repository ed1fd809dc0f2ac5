//! The cache of `validate` for configurations that a provider accepted, and the cases in which the provider is
//! asked again.

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    time::{Duration, Instant, SystemTime},
};

use crate::{
    bench::{Bench, Run, Started},
    child_environment::descendants,
    search::Canaries,
};

const MAIN: &str = r#"
terraform {
  required_providers {
    playground = { source = "registry.opentofu.org/mayfly/playground" }
  }
}
resource "playground_parameter" "a" {
  name  = "a"
  type  = "String"
  value = "VALUE"
}
"#;

fn bench(value: &str) -> Bench {
    let bench = Bench::new();
    bench.write("c/main.tf", &MAIN.replace("VALUE", value));
    bench
}

/// Makes the provider refuse every validation.
const REFUSES: &str = r#"{"on":"validate","kind":"fail"}"#;

const THINKS: &str = r#"{"on":"validate","kind":"slow","ms":2500}"#;

/// Returns true if `validate` asks the provider. Then validates again, so that the provider accepts the
/// configuration.
#[track_caller]
fn asks(bench: &Bench, folder: &str) -> bool {
    let is_asked = refuses(bench.mayfly(folder, ["validate"]));
    if is_asked {
        bench.mayfly(folder, ["validate"]).succeeds();
    }
    is_asked
}

#[track_caller]
fn refuses(run: Run) -> bool {
    let ended = run.env("PLAYGROUND_FAULT", REFUSES).end();
    if ended.code != 0 {
        ended.shows(&["Provoked fault"]);
    }
    ended.code != 0
}

/// Waits until the validating provider process has started. The process before it returns the schemas, and may end
/// unseen; the validating one then is the one that lives for a second.
fn wait_for_provider(started: &Started) {
    let mut seen = BTreeMap::new();
    started.wait_until("a provider validates", || {
        let now = Instant::now();
        for process in descendants(started.pid()).into_iter().filter(|it| is_provider(*it)) {
            seen.entry(process).or_insert(now);
        }
        let is_old = |it: &Instant| now.duration_since(*it) > Duration::from_secs(1);
        seen.len() > 1 || seen.values().any(is_old)
    });
}

/// Returns true for a provider process. The supervisor is also a descendant, and does not count.
fn is_provider(process: u32) -> bool {
    let arguments = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&arguments).contains("serve-bundled-provider")
}

/// The size of a verdict on disk: a part of a hash, and the day of the last use.
const RECORD: usize = 16 + 4;

/// The cached verdicts, each with the name of its file.
fn kept(bench: &Bench) -> Vec<(String, Vec<u8>)> {
    let directory = bench.root().join("home/.cache/mayfly/verdicts");
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let files = entries.filter(|it| it.file_name() != "key").map(|it| it.path());
    let records = files.flat_map(|file| {
        let name = file.file_name().expect("has one").to_string_lossy().into_owned();
        let bytes = fs::read(&file).expect("is there");
        assert_eq!(bytes.len() % RECORD, 0, "{name}");
        let record = |it: &[u8]| (name.clone(), it.to_vec());
        bytes.chunks(RECORD).map(record).collect::<Vec<_>>()
    });
    records.collect()
}

#[test]
fn unchanged_configuration_is_validated_once_per_directory() {
    let bench = bench("x");
    assert!(asks(&bench, "c"));
    assert!(!asks(&bench, "c"));
    assert_eq!(kept(&bench).len(), 1);
    // In another directory the provider may see other files.
    bench.write("d/main.tf", &MAIN.replace("VALUE", "x"));
    assert!(asks(&bench, "d"));
    assert!(!asks(&bench, "d"));
    // A link leads to the directory `c` itself.
    std::os::unix::fs::symlink(bench.path("c"), bench.path("link")).expect("can be made");
    assert!(!asks(&bench, "link"));
}

#[test]
fn content_of_a_named_file_is_part_of_the_cache_key() {
    for name in ["policy.json", "./policy.json", "sub/policy.json", "../policy.json", "~/p.json"] {
        let bench = bench(name);
        let path = match name.strip_prefix("~/") {
            Some(name) => bench.root().join("home").join(name),
            None => bench.path("c").join(name),
        };
        fs::create_dir_all(path.parent().expect("has one")).expect("can be made");
        let write = |text: &str| fs::write(&path, text).expect("is written");
        assert!(asks(&bench, "c"), "{name}: the file is not there");
        write("one");
        assert!(asks(&bench, "c"), "{name}: it is there now");
        assert!(!asks(&bench, "c"), "{name}");
        write("two");
        assert!(asks(&bench, "c"), "{name}: it has other content");
        write("one");
        assert!(!asks(&bench, "c"), "{name}: it is what it was");
    }
}

#[test]
fn configuration_that_names_a_directory_is_not_cached() {
    let bench = bench("policies");
    bench.write("c/policies/a.json", "{}");
    assert!(asks(&bench, "c"));
    assert!(asks(&bench, "c"));
    assert!(kept(&bench).is_empty(), "{:?}", kept(&bench));
}

#[test]
fn file_changed_during_validation_prevents_caching() {
    let bench = bench("policy.json");
    bench.write("c/policy.json", "one");
    let started = bench.mayfly("c", ["validate"]).env("PLAYGROUND_FAULT", THINKS).start();
    wait_for_provider(&started);
    bench.write("c/policy.json", "two");
    started.end().exits(0);
    assert!(kept(&bench).is_empty(), "{:?}", kept(&bench));
}

#[test]
fn cached_verdict_belongs_to_the_validating_executable() {
    let bench = bench("x");
    let program = bench.path("mayfly");
    fs::copy(env!("CARGO_BIN_EXE_mayfly"), &program).expect("is copied");
    let name = program.to_str().expect("is text");
    let started = bench.program(name, "c", ["validate"]).env("PLAYGROUND_FAULT", THINKS).start();
    wait_for_provider(&started);
    // While the provider validates, its executable is replaced.
    let mut other = fs::read(&program).expect("is there");
    other.extend_from_slice(b"another one");
    fs::write(bench.path("other"), other).expect("is written");
    fs::set_permissions(
        bench.path("other"),
        fs::metadata(&program).expect("is there").permissions(),
    )
    .expect("can be set");
    fs::rename(bench.path("other"), &program).expect("is renamed");
    started.end().exits(0);
    assert!(refuses(bench.program(name, "c", ["validate"])), "the other executable never said so");
}

#[test]
fn verdict_cache_can_be_disabled() {
    let bench = bench("x");
    for value in ["off", "0", "false"] {
        let run = || bench.mayfly("c", ["validate"]).env("MAYFLY_VERDICT_CACHE", value);
        run().succeeds();
        assert!(refuses(run()), "{value}");
    }
    assert!(!bench.root().join("home/.cache/mayfly/verdicts").exists());
    assert!(asks(&bench, "c"));
    assert!(!asks(&bench, "c"));
}

#[test]
fn cached_verdict_contains_no_configuration_text() {
    let mut canaries = Canaries::new();
    let value = canaries.add_word("a value");
    let bench = bench(&value);
    bench.write(&format!("c/{value}"), &canaries.add_word("a file"));
    assert!(asks(&bench, "c"));
    assert!(!asks(&bench, "c"));
    let verdicts = kept(&bench);
    assert_eq!(verdicts.len(), 1);
    let today = SystemTime::UNIX_EPOCH.elapsed().expect("is later").as_secs() / 86_400;
    for (file, record) in verdicts {
        assert_eq!(file, format!("{:02x}.verdicts", record[0]));
        let day = u32::from_le_bytes(record[16..].try_into().expect("has four bytes"));
        assert!(today.abs_diff(u64::from(day)) <= 1, "{day}");
    }
    let home = bench.root().join("home");
    let found: Vec<String> = files_below(&home)
        .iter()
        .flat_map(|it| canaries.found_in(&fs::read(it).unwrap_or_default()))
        .collect();
    assert!(found.is_empty(), "{found:?}");
}

fn files_below(directory: &std::path::Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("lists").map(|it| it.expect("lists").path());
    let below = |path: PathBuf| match path.is_dir() {
        true => files_below(&path),
        false => vec![path],
    };
    entries.flat_map(below).collect()
}

#[test]
fn plan_validates_blocks_without_instances() {
    let bench = Bench::new();
    let block = MAIN.replace("name  = \"a\"", "count = 0\n  name  = \"a\"");
    bench.write("count/main.tf", &block);
    bench.write("call/main.tf", "module \"m\" {\n  source = \"../count\"\n  count = 0\n}\n");
    for folder in ["count", "call"] {
        let plan = || bench.mayfly(folder, ["plan"]);
        assert!(refuses(plan()), "{folder}: a block without instances is asked about");
        assert!(refuses(bench.mayfly(folder, ["plan", "-json"])), "{folder}");
        plan().succeeds();
        assert!(!refuses(plan()), "{folder}: the verdict is remembered");
    }
}

#[test]
fn plan_validates_a_block_with_instances_once() {
    let bench = bench("x");
    bench.mayfly("c", ["plan"]).succeeds();
    assert_eq!(bench.ledger("c").calls("validate", "playground_parameter"), 1);
}
