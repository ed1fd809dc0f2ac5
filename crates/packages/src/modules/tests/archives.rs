//! Tests of archives that are refused.

use super::*;

#[track_caller]
fn refused(bench: &mut Bench, name: &str, expected: Expect) {
    let package = bench.at(name);
    let error = bench.install(&[&package]).expect_err("is refused");
    expected.assert_eq(&error);
    assert!(bench.locks.modules.is_empty());
    let left = fs::read_dir(bench.path("modules")).into_iter().flatten().flatten();
    let left: Vec<_> =
        left.map(|it| it.file_name()).filter(|it| it != ".new" && it != ".lock").collect();
    assert!(left.is_empty(), "nothing is left of {name}: {left:?}");
    assert!(!bench.path("out").exists(), "{name} was written outside");
}

/// The name of an entry, and the target if it is a link.
type ZipEntry = (&'static str, Option<&'static str>);

/// The name and type of an entry, and the target if it is a link.
type TarEntry = (&'static str, EntryType, &'static str);

fn zip(path: &Path, entries: &[ZipEntry]) {
    let mut zip = ZipWriter::new(fs::File::create(path).expect("writable"));
    for (name, link) in entries {
        match link {
            Some(target) => {
                zip.add_symlink(*name, *target, SimpleFileOptions::default()).expect("writable");
            }
            None => {
                zip.start_file(*name, SimpleFileOptions::default()).expect("writable");
                zip.write_all(b"x").expect("writable");
            }
        }
    }
    zip.finish().expect("writable");
}

/// Creates a tar file. Names are written to the header directly, because the library would refuse them.
fn tar(path: &Path, entries: &[TarEntry]) {
    let mut tar = tar::Builder::new(fs::File::create(path).expect("writable"));
    for (name, kind, target) in entries {
        let mut header = Header::new_gnu();
        let fields = header.as_gnu_mut().expect("is one");
        fields.name[..name.len()].copy_from_slice(name.as_bytes());
        fields.linkname[..target.len()].copy_from_slice(target.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(0o644);
        header.set_size(if *kind == EntryType::Regular { 1 } else { 0 });
        header.set_cksum();
        let content: &[u8] = if *kind == EntryType::Regular { b"x" } else { b"" };
        tar.append(&header, content).expect("writable");
    }
    tar.finish().expect("writable");
}

#[test]
fn archive_entries_outside_the_package_are_refused() {
    let mut bench = Bench::new();
    let zips: [(&[ZipEntry], Expect); 6] = [
        (
            &[("../out", None)],
            expect![[
                r#"its entry "../out" is outside of it, or is neither a file, a directory nor a link"#
            ]],
        ),
        (
            &[("/out", None)],
            expect![[
                r#"its entry "/out" is outside of it, or is neither a file, a directory nor a link"#
            ]],
        ),
        (&[("a", Some("../../out"))], expect![[r#"its link "a" points outside of it"#]]),
        (&[("a", Some("/etc")), ("a/b", None)], expect![[r#"its link "a" points outside of it"#]]),
        (
            &[("a", Some("b")), ("a/c", None)],
            expect![[r#"its link "a": File exists (os error 17)"#]],
        ),
        (
            &[("d/e/up", Some("../..")), ("out", Some("d/e/up/../out"))],
            expect![[r#"its link "out" points outside of it"#]],
        ),
    ];
    for (entries, expected) in zips {
        zip(&bench.path("p.zip"), entries);
        refused(&mut bench, "p.zip", expected);
    }
    use EntryType::{Fifo, Link, Regular, Symlink};
    let tars: [(&[TarEntry], Expect); 5] = [
        (
            &[("../out", Regular, "")],
            expect![[
                r#"its entry "../out" is outside of it, or is neither a file, a directory nor a link"#
            ]],
        ),
        (&[("a", Symlink, "../../../out")], expect![[r#"its link "a" points outside of it"#]]),
        (
            &[("a", Link, "/etc/hostname")],
            expect![[
                r#"its entry "a" is outside of it, or is neither a file, a directory nor a link"#
            ]],
        ),
        (
            &[("a", Fifo, "")],
            expect![[
                r#"its entry "a" is outside of it, or is neither a file, a directory nor a link"#
            ]],
        ),
        (
            &[("a", Regular, ""), ("a", Regular, "")],
            expect![[r#"its entry "a": File exists (os error 17)"#]],
        ),
    ];
    for (entries, expected) in tars {
        tar(&bench.path("p.tar"), entries);
        refused(&mut bench, "p.tar", expected);
    }
}

#[test]
fn unsupported_and_invalid_archives_are_refused() {
    let mut bench = Bench::new();
    bench.write("p.tar.xz", "x");
    refused(
        &mut bench,
        "p.tar.xz",
        expect!["archives of the kind tar.xz cannot be unpacked; pack it as .zip or .tar.gz"],
    );
    bench.write("p.txt", "x");
    refused(&mut bench, "p.txt", expect!["it is a file, but neither a .zip nor a .tar.gz"]);
    bench.write("p.zip", "no zip");
    refused(&mut bench, "p.zip", expect!["invalid Zip archive: Could not find EOCD"]);
    refused(&mut bench, "missing", expect!["No such file or directory (os error 2)"]);
    bench.write("links/main.tf", "");
    symlink("../p.txt", bench.path("links/out.tf")).expect("possible");
    refused(
        &mut bench,
        "links",
        expect![[r#""out.tf" in it: it is a link that points outside of the package"#]],
    );
}

#[test]
fn tar_with_a_huge_header_or_content_is_refused() {
    let mut bench = Bench::new();
    for (name, kind, expected) in [
        (
            "long.tar",
            EntryType::GNULongName,
            "it has an entry whose name or attributes are too long",
        ),
        (
            "attributes.tar",
            EntryType::XHeader,
            "it has an entry whose name or attributes are too long",
        ),
    ] {
        let mut tar = tar::Builder::new(fs::File::create(bench.path(name)).expect("writable"));
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(2 << 20);
        header.set_cksum();
        tar.append(&header, std::io::Read::take(std::io::repeat(b'a'), 2 << 20)).expect("writable");
        tar.finish().expect("writable");
        let package = bench.at(name);
        let error = bench.install(&[&package]).expect_err("is refused");
        assert!(error.contains(expected), "{name}: {error}");
    }
    let mut tar = tar::Builder::new(fs::File::create(bench.path("sizes.tar")).expect("writable"));
    tar.append_pax_extensions([("size", &b"0"[..])]).expect("writable");
    let mut header = Header::new_gnu();
    header.set_path("main.tf").expect("a short name");
    header.set_size(8);
    header.set_cksum();
    tar.append(&header, &b"12345678"[..]).expect("writable");
    tar.finish().expect("writable");
    let package = bench.at("sizes.tar");
    let error = bench.install(&[&package]).expect_err("is refused");
    assert!(error.contains("it has an entry with two sizes"), "{error}");

    let packed = fs::File::create(bench.path("zeros.tar.gz")).expect("writable");
    let packed = flate2::write::GzEncoder::new(packed, flate2::Compression::best());
    let mut tar = tar::Builder::new(packed);
    let mut header = Header::new_gnu();
    header.set_path("main.tf").expect("a short name");
    header.set_size(32 << 20);
    header.set_cksum();
    tar.append(&header, std::io::Read::take(std::io::repeat(0), 32 << 20)).expect("writable");
    tar.into_inner().and_then(flate2::write::GzEncoder::finish).expect("writable");
    let package = bench.at("zeros.tar.gz");
    let error = bench.install(&[&package]).expect_err("is refused");
    assert!(error.contains("it unpacks to more than an archive of its size can have"), "{error}");
}

#[test]
fn copied_package_has_no_link_out_of_it() {
    let bench = Bench::new();
    bench.write("net/main.tf", "# net\n");
    symlink("/etc", bench.path("net/inner")).expect("possible");
    let git = Git { program: "git".into(), withheld: Vec::new() };
    let (network, locks) = (network(), Locks::default());
    let target = bench.path("modules");
    let (upgrade, readonly) = (false, false);
    let request = ModuleRequest {
        target: &target,
        locks: &locks,
        upgrade,
        readonly,
        git: &git,
        network: &network,
    };
    fs::create_dir_all(&target).expect("can be made");
    let copy = tempfile::tempdir().expect("a directory");
    let error = run(request.copy(&bench.at("net"), copy.path())).expect_err("is refused");
    assert!(error.to_string().contains("inner"), "{error}");
}
