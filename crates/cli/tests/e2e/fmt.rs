//! The `fmt` command: its targets, output, written files and exit codes.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
};

use crate::bench::Bench;

/// Creates a bench with one file of each relevant kind. All but `done.tf` need formatting.
fn bench() -> Bench {
    let bench = Bench::new();
    for name in
        ["b.tf", "a.tofu", "c.tfvars", "d.tftest.hcl", "e.tofutest.hcl", "sub/f.tf", "sub.tf/g.tf"]
    {
        bench.write(name, "x=1\n");
    }
    for name in [".hidden.tf", "b.tf~", "#b.tf#", ".terraform/m.tf", "j.tf.json", "other.hcl"] {
        bench.write(name, "x=1\n");
    }
    bench.write("done.tf", "x = 1\n");
    bench
}

#[track_caller]
fn assert_is(bench: &Bench, name: &str, text: &str) {
    assert_eq!(String::from_utf8_lossy(&bench.read(name)), text, "{name}");
}

#[test]
fn fmt_formats_a_directory_and_lists_changed_files() {
    let bench = bench();
    let modified = fs::metadata(bench.path("done.tf")).expect("is there").mtime_nsec();
    let ended = bench.mayfly(".", ["fmt"]).succeeds();
    assert_eq!(ended.out, "a.tofu\nb.tf\nc.tfvars\nd.tftest.hcl\ne.tofutest.hcl\n");
    assert_is(&bench, "b.tf", "x = 1\n");
    for name in [".hidden.tf", "b.tf~", "#b.tf#", ".terraform/m.tf", "j.tf.json", "sub/f.tf"] {
        assert_is(&bench, name, "x=1\n");
    }
    assert_eq!(fs::metadata(bench.path("done.tf")).expect("is there").mtime_nsec(), modified);
    let ended = bench.mayfly(".", ["fmt", "-recursive"]).succeeds();
    assert_eq!(ended.out, "sub/f.tf\nsub.tf/g.tf\n");
    assert_eq!(bench.mayfly(".", ["fmt", "-recursive"]).succeeds().out, "");
    // A hidden file that is named explicitly is formatted.
    assert_eq!(bench.mayfly("sub", ["fmt", "../.hidden.tf"]).succeeds().out, "../.hidden.tf\n");
    assert_is(&bench, ".hidden.tf", "x = 1\n");
}

#[test]
fn fmt_flags_select_writing_and_printing() {
    let diff = "--- old/b.tf\n+++ new/b.tf\n@@ -1 +1 @@\n-x=1\n+x = 1\n";
    let (listed, both) = ("b.tf\n", format!("b.tf\n{diff}"));
    let table: &[(&[&str], i32, &str, bool)] = &[
        (&[], 0, listed, true),
        (&["-list=false"], 0, "", true),
        (&["-write=false"], 0, listed, false),
        (&["-list=false", "-write=false"], 0, "x = 1\n", false),
        (&["-diff"], 0, &both, true),
        (&["-diff", "-list=false", "-write=false"], 0, diff, false),
        (&["-check"], 3, listed, false),
        (&["-check", "-list=false"], 3, "", false),
        (&["-check", "-diff"], 3, &both, false),
        (&["-check", "-write=true"], 3, listed, false),
    ];
    for (flags, code, out, written) in table {
        let bench = bench();
        let ended = bench.mayfly(".", ["fmt"].iter().chain(*flags).chain(&["b.tf", "done.tf"]));
        let ended = ended.end().exits(*code);
        // If the list and writing are both disabled, all formatted texts are printed.
        let both = flags.len() == 2 && out.starts_with('x');
        assert_eq!(ended.out, if both { out.repeat(2) } else { (*out).to_owned() }, "{flags:?}");
        assert_is(&bench, "b.tf", if *written { "x = 1\n" } else { "x=1\n" });
    }
    bench().mayfly(".", ["fmt", "-check", "done.tf"]).succeeds();
    bench().mayfly(".", ["fmt", "-nonsense"]).fails();
}

/// The output of a check ends up in logs.
#[test]
fn fmt_diff_shows_no_lines_of_a_variables_file() {
    let bench = Bench::new();
    bench.write("a.tfvars", "password=\"hunter2\"\n");
    let ended = bench.mayfly(".", ["fmt", "-check", "-diff"]).end();
    assert_eq!(ended.code, 3);
    ended.shows(&["a.tfvars: its lines are not shown"]);
    ended.lacks(&["hunter2", "password"]);
}

#[test]
fn fmt_formats_stdin_to_stdout() {
    let bench = bench();
    let fmt = |flags: &[&str], input: &str| {
        let arguments = ["fmt"].iter().chain(flags).chain(&["-"]).copied().collect::<Vec<_>>();
        let ended = bench.mayfly(".", arguments).input(input).end();
        (ended.code, ended.out)
    };
    assert_eq!(fmt(&[], "a=1"), (0, "a = 1".to_owned()));
    assert_eq!(fmt(&[], "a=1\r\n"), (0, "a = 1\r\n".to_owned()));
    assert_eq!(fmt(&["-check"], "a=1\n"), (3, String::new()));
    assert_eq!(fmt(&["-check"], "a = 1\n"), (0, String::new()));
    let (code, diff) = fmt(&["-diff"], "a=1\n");
    assert_eq!(
        (code, &*diff),
        (0, "--- old/<stdin>\n+++ new/<stdin>\n@@ -1 +1 @@\n-a=1\n+a = 1\n")
    );
    let ended = bench.mayfly(".", ["fmt", "-"]).input("a=(").end().exits(2);
    assert_eq!(ended.out, "");
    ended.shows(&["Error: ", "on <stdin> line 1"]);
    assert_is(&bench, "b.tf", "x=1\n");
}

#[test]
fn fmt_reports_unformattable_files_and_leaves_them() {
    let bench = bench();
    bench.write("bad.tf", "locals {\na=(\nb=1\n}\n");
    bench.write("secret.tfvars", "password = (hush\nb=1\n");
    symlink("nowhere", bench.path("dangling.tf")).expect("links");
    fs::write(bench.path("latin.tf"), b"a=\"\xe9\"\n").expect("writes");
    let ended = bench.mayfly(".", ["fmt"]).end().exits(2);
    assert!(ended.out.starts_with("a.tofu\nb.tf\n"), "{}", ended.out);
    ended.shows(&[
        "on bad.tf line 3, in locals:",
        "Failed to read file dangling.tf",
        "Invalid character encoding",
        "on secret.tfvars line",
    ]);
    ended.lacks(&["hush"]);
    assert_is(&bench, "bad.tf", "locals {\na=(\nb=1\n}\n");
    assert_eq!(bench.read("latin.tf"), b"a=\"\xe9\"\n");
    assert_is(&bench, "b.tf", "x = 1\n");
    let ended = bench.mayfly(".", ["fmt", "-check", "nowhere", "other.hcl", "sub"]).end().exits(2);
    assert_eq!(ended.out, "sub/f.tf\n");
    ended.shows(&["No file or directory at nowhere", ".tofutest.hcl files can be processed"]);
}

#[test]
fn fmt_keeps_links_modes_and_owners() {
    let bench = bench();
    symlink("../b.tf", bench.path("sub/link.tf")).expect("links");
    symlink("sub", bench.path("way")).expect("links");
    fs::set_permissions(bench.path("b.tf"), fs::Permissions::from_mode(0o604)).expect("is ours");
    // Links to directories are followed only if they are named explicitly.
    assert_eq!(bench.mayfly(".", ["fmt", "-recursive", "-check"]).end().exits(3).out, {
        "a.tofu\nb.tf\nc.tfvars\nd.tftest.hcl\ne.tofutest.hcl\nsub/f.tf\nsub/link.tf\nsub.tf/g.tf\n"
    });
    assert_eq!(bench.mayfly(".", ["fmt", "way"]).succeeds().out, "way/f.tf\nway/link.tf\n");
    assert!(fs::symlink_metadata(bench.path("sub/link.tf")).expect("is there").is_symlink());
    let metadata = fs::metadata(bench.path("b.tf")).expect("is there");
    assert_eq!(metadata.permissions().mode() & 0o777, 0o604);
    assert_is(&bench, "b.tf", "x = 1\n");
}

#[test]
fn fmt_leaves_a_readonly_file_unchanged() {
    let bench = bench();
    for (name, mode) in [("b.tf", 0o444), ("sub", 0o777), ("sub/f.tf", 0o666)] {
        fs::set_permissions(bench.path(name), fs::Permissions::from_mode(mode)).expect("is ours");
    }
    fs::set_permissions(bench.root(), fs::Permissions::from_mode(0o755)).expect("is ours");
    let ended = bench.mayfly(".", ["fmt", "b.tf", "sub"]).by_nobody().end().exits(2);
    assert_eq!(ended.out, "sub/f.tf\n");
    ended.shows(&["Failed to write b.tf"]);
    assert_is(&bench, "b.tf", "x=1\n");
    assert_is(&bench, "sub/f.tf", "x = 1\n");
}

#[test]
fn fmt_lists_many_files_in_order() {
    let bench = Bench::new();
    let name = |index: usize| format!("n{index:03}.tf");
    for index in 0..300 {
        bench.write(&name(index), if index % 3 == 0 { "a = 1\n" } else { "a=1\n" });
    }
    let ended = bench.mayfly(".", ["fmt"]).succeeds();
    let expected: String =
        (0..300).filter(|it| it % 3 > 0).map(|it| format!("{}\n", name(it))).collect();
    assert_eq!(ended.out, expected);
}
