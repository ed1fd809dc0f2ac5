//! Tests of packages in Mercurial repositories. They are skipped if the program `hg` is missing.

use super::*;

/// Runs `hg` in the directory of a bench. `None` if there is no such program.
fn hg(bench: &Bench, repository: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("hg");
    command.current_dir(bench.path(repository)).args(["--config", "ui.username=n"]).args(arguments);
    command.env("HGRCPATH", "").env("HGPLAIN", "1");
    let output = match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        output => output.expect("runs"),
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Creates the repository `net` with the tag `v1` and a later revision. Returns the revisions of both. `None` without
/// the program.
fn repository(bench: &Bench) -> Option<[String; 2]> {
    bench.write("net/main.tf", "# one\n");
    bench.write("net/sub/main.tf", "# sub\n");
    if hg(bench, "net", &["init"]).is_none() {
        let _ = writeln!(std::io::stderr(), "skipped: the program hg is missing");
        return None;
    }
    let revision = || hg(bench, "net", &["log", "--rev", ".", "--template", "{node}"]);
    hg(bench, "net", &["commit", "--quiet", "--addremove", "--message", "m"])?;
    let first = revision()?;
    hg(bench, "net", &["tag", "v1"])?;
    bench.write("net/main.tf", "# two\n");
    hg(bench, "net", &["commit", "--quiet", "--message", "n"])?;
    Some([first, revision()?])
}

#[test]
fn repository_is_fetched_and_locked_at_a_revision() {
    let mut bench = Bench::new();
    let Some([first, second]) = repository(&bench) else { return };
    let url = format!("hg::file://{}", bench.path("net").display());
    for (query, revision, text) in [
        ("", &second, "# two\n"),
        ("?rev=default", &second, "# two\n"),
        ("?rev=v1", &first, "# one\n"),
        (&*format!("?rev={}", &first[..12]), &first, "# one\n"),
    ] {
        let package = bench.package(&format!("{url}{query}"));
        assert_eq!(bench.install(&[&package]).expect("is installed"), ["Fetching call0"]);
        let directory = bench.only_directory();
        assert_eq!(fs::read_to_string(directory.join("main.tf")).expect("is there"), text);
        assert!(directory.join("sub/main.tf").exists() && !directory.join(".hg").exists());
        let lock = &bench.locks.modules[&package.to_string()];
        assert_eq!(lock.revision.as_ref(), Some(revision), "{query}");
    }
    // The locked revision stays, although the branch has a new one.
    let package = bench.package(&format!("{url}?rev=default"));
    bench.install(&[&package]).expect("is installed");
    bench.write("net/main.tf", "# three\n");
    hg(&bench, "net", &["commit", "--quiet", "--message", "o"]);
    fs::remove_dir_all(bench.path("modules")).expect("was there");
    bench.install(&[&package]).expect("is installed");
    assert_eq!(fs::read(bench.only_directory().join("main.tf")).expect("is there"), b"# two\n");
    bench.upgrade = true;
    bench.install(&[&package]).expect("is installed");
    assert_eq!(fs::read(bench.only_directory().join("main.tf")).expect("is there"), b"# three\n");
}

/// The settings of a repository on this machine would run when it is cloned.
#[test]
fn hooks_and_subrepositories_are_not_run() {
    let mut bench = Bench::new();
    if repository(&bench).is_none() {
        return;
    }
    let ran = bench.path("ran").display().to_string();
    let hooks = format!(
        "[hooks]\npreoutgoing = touch {ran}\noutgoing = touch {ran}\n[extensions]\nx = {ran}.py\n"
    );
    bench.write("net/.hg/hgrc", &hooks);
    bench.write("ran.py", &format!("open({ran:?}, 'w')\n"));
    let package = bench.package(&format!("hg::{}", bench.path("net").display()));
    bench.install(&[&package]).expect("is installed");
    assert!(!bench.path("ran").exists());
    bench.write("other/main.tf", "# other\n");
    hg(&bench, "other", &["init"]);
    hg(&bench, "other", &["commit", "--quiet", "--addremove", "--message", "m"]);
    fs::remove_file(bench.path("net/.hg/hgrc")).expect("was there");
    let other = bench.path("other").display().to_string();
    hg(&bench, "net", &["clone", "--quiet", &other, "nested"]);
    bench.write("net/.hgsub", &format!("nested = {other}\n"));
    hg(&bench, "net", &["add", ".hgsub"]);
    hg(&bench, "net", &["commit", "--quiet", "--message", "p"]);
    bench.upgrade = true;
    let error = bench.install(&[&package]).expect_err("has a subrepository");
    assert!(error.contains("subrepos not enabled"), "{error}");
}

#[test]
fn errors_of_hg_are_passed_on_without_passwords() {
    let mut bench = Bench::new();
    if repository(&bench).is_none() {
        return;
    }
    let url = format!("hg::file://{}", bench.path("net").display());
    for (source, expected) in [
        (format!("{url}?rev=v9"), "abort: unknown revision 'v9'"),
        (format!("{url}x"), "abort: repository "),
        (format!("{url}?rev=--config%3Dx"), "cannot be the name of a branch"),
        (format!("{url}?rev=all()"), "cannot be the name of a branch"),
        (format!("{url}?rev=0..1"), "cannot be the name of a branch"),
        (format!("{url}?ref=v1"), "the parameter \"ref\" is not understood"),
        ("hg::https://u:hunter22@localhost:1/x".to_owned(), "abort: error: Connection refused"),
    ] {
        let package = bench.package(&source);
        let error = bench.install(&[&package]).expect_err(&source);
        assert!(error.contains(expected) && !error.contains("hunter22"), "{source}: {error}");
    }
}
