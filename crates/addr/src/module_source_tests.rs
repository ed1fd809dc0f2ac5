//! Tests of the sources of module calls.

use expect_test::{Expect, expect};

use crate::module_source::ModuleSource;

#[track_caller]
fn check(sources: &[&str], expected: Expect) {
    let of = |text: &&str| match ModuleSource::parse(text) {
        Ok(source) => format!("{text}\n  {source}\n"),
        Err(error) => format!("{text}\n  {error}\n"),
    };
    expected.assert_eq(&sources.iter().map(of).collect::<String>());
}

/// The normalized forms are those that `terraform init` prints and writes to its manifest.
#[test]
fn module_sources_are_normalized_as_by_terraform_init() {
    check(
        &[
            "github.com/o/r//sub?ref=v1",
            "github.com/o/r.git",
            "GitHub.com/o/r/a/b",
            "git@github.com:o/r.git",
            "git::git@github.com:o/r.git//a/b?ref=x&depth=1",
            "git::ssh://git@github.com/o/r.git?ref=feature%2Fx",
            "bitbucket.org/o/r",
            "git::file:///src/net//sub/./x/..?ref=v1",
            "git::/src/net",
            "/src/net.zip//sub",
            "file:///src/net",
            "https://example.com/x.zip?archive=zip",
            "s3::https://s3.amazonaws.com/b/k.zip",
            "s3.amazonaws.com/b/k.zip",
            "s3-eu-west-1.amazonaws.com/b/k/l//sub?version=1",
            "b.s3-eu-west-1.amazonaws.com/k.zip",
            "b.s3.eu-west-1.amazonaws.com/k.zip?region=x&aws_profile=p",
            "s3.eu-west-1.amazonaws.com/b/k",
            "s3::b.s3.eu-west-1.amazonaws.com/k.zip",
            "registry.us-east-1.amazonaws.com/a/b/c",
            "s3::http://127.0.0.1:9000/b/k.zip?region=r&aws_access_key_id=SECRET&aws_access_key_secret=SECRET",
            "www.googleapis.com/storage/v1/b/k/l.zip//sub",
            "gcs::https://www.googleapis.com/storage/v1/b/k",
            "hg::https://u:SECRET@example.com/r//sub?rev=default",
            "hg::ssh://hg@example.com/r",
            "hg::/srv/r",
            "oci://example.com/a/b//sub?tag=1",
            "hashicorp/consul/aws//modules/x",
            "Example.com/a/b/c",
        ],
        expect![[r#"
            github.com/o/r//sub?ref=v1
              git::https://github.com/o/r.git//sub?ref=v1
            github.com/o/r.git
              git::https://github.com/o/r.git
            GitHub.com/o/r/a/b
              git::https://github.com/o/r.git//a/b
            git@github.com:o/r.git
              git::ssh://git@github.com/o/r.git
            git::git@github.com:o/r.git//a/b?ref=x&depth=1
              git::ssh://git@github.com/o/r.git//a/b?depth=1&ref=x
            git::ssh://git@github.com/o/r.git?ref=feature%2Fx
              git::ssh://git@github.com/o/r.git?ref=feature%2Fx
            bitbucket.org/o/r
              git::https://bitbucket.org/o/r.git
            git::file:///src/net//sub/./x/..?ref=v1
              git::file:///src/net//sub?ref=v1
            git::/src/net
              git::file:///src/net
            /src/net.zip//sub
              file:///src/net.zip//sub
            file:///src/net
              file:///src/net
            https://example.com/x.zip?archive=zip
              https://example.com/x.zip?archive=zip
            s3::https://s3.amazonaws.com/b/k.zip
              s3::https://s3.amazonaws.com/b/k.zip
            s3.amazonaws.com/b/k.zip
              s3::https://s3.amazonaws.com/b/k.zip
            s3-eu-west-1.amazonaws.com/b/k/l//sub?version=1
              s3::https://s3-eu-west-1.amazonaws.com/b/k/l//sub?version=1
            b.s3-eu-west-1.amazonaws.com/k.zip
              s3::https://s3-eu-west-1.amazonaws.com/b/k.zip
            b.s3.eu-west-1.amazonaws.com/k.zip?region=x&aws_profile=p
              s3::https://s3.eu-west-1.amazonaws.com/b/k.zip?aws_profile=p&region=x
            s3.eu-west-1.amazonaws.com/b/k
              s3::https://s3.eu-west-1.amazonaws.com/b/k
            s3::b.s3.eu-west-1.amazonaws.com/k.zip
              s3::https://s3.eu-west-1.amazonaws.com/b/k.zip
            registry.us-east-1.amazonaws.com/a/b/c
              registry.us-east-1.amazonaws.com/a/b/c
            s3::http://127.0.0.1:9000/b/k.zip?region=r&aws_access_key_id=SECRET&aws_access_key_secret=SECRET
              s3::http://127.0.0.1:9000/b/k.zip?region=r
            www.googleapis.com/storage/v1/b/k/l.zip//sub
              gcs::https://www.googleapis.com/storage/v1/b/k/l.zip//sub
            gcs::https://www.googleapis.com/storage/v1/b/k
              gcs::https://www.googleapis.com/storage/v1/b/k
            hg::https://u:SECRET@example.com/r//sub?rev=default
              hg::https://example.com/r//sub?rev=default
            hg::ssh://hg@example.com/r
              hg::ssh://hg@example.com/r
            hg::/srv/r
              hg::file:///srv/r
            oci://example.com/a/b//sub?tag=1
              oci://example.com/a/b//sub?tag=1
            hashicorp/consul/aws//modules/x
              registry.opentofu.org/hashicorp/consul/aws//modules/x
            Example.com/a/b/c
              example.com/a/b/c
        "#]],
    );
}

#[test]
fn printed_module_sources_contain_no_password() {
    check(
        &[
            "git::https://u:p@ss@example.com/x.git?sshkey=c2VjcmV0&ref=a",
            "https://u:secret@example.com/x.zip",
            "git::https://token@example.com/x.git",
            "git::https://u:SE/CRET@localhost/x",
            "git::git://u:SECRET@example.com/x.git",
            "u:SECRET@host/x.git",
            "git::u:SECRET@host/x.git",
            "svn::u:SECRET@host/x",
            "https://example.com/a@b.zip?token=SECRET&archive=zip",
            "https://example.com:8080/a@b.zip",
            "ssh://git@host/x.git",
        ],
        expect![[r#"
            git::https://u:p@ss@example.com/x.git?sshkey=c2VjcmV0&ref=a
              git::https://example.com/x.git?ref=a
            https://u:secret@example.com/x.zip
              https://example.com/x.zip
            git::https://token@example.com/x.git
              git::https://example.com/x.git
            git::https://u:SE/CRET@localhost/x
              git::https://localhost/x
            git::git://u:SECRET@example.com/x.git
              git::git://u@example.com/x.git
            u:SECRET@host/x.git
              Invalid module source address: "u@host/x.git" is neither a path that begins with "./" or "../", nor the address of a module in a registry ("namespace/name/system"), nor the address of a package to download: "git::https://…", "github.com/owner/repository", an absolute path.
            git::u:SECRET@host/x.git
              Invalid module source address: "u@host/x.git" is neither a path that begins with "./" or "../", nor the address of a module in a registry ("namespace/name/system"), nor the address of a package to download: "git::https://…", "github.com/owner/repository", an absolute path.
            svn::u:SECRET@host/x
              svn::u@host/x
            https://example.com/a@b.zip?token=SECRET&archive=zip
              https://example.com/a@b.zip?archive=zip
            https://example.com:8080/a@b.zip
              https://example.com:8080/a@b.zip
            ssh://git@host/x.git
              git::ssh://git@host/x.git
        "#]],
    );
}

#[test]
fn debug_output_of_module_sources_contains_no_password() {
    let text = "git::https://me:hunter2@example.com/r.git//sub?sshkey=hunter2&ref=v1";
    let source = ModuleSource::parse(text).expect("is a source");
    expect!["ModuleSource(git::https://example.com/r.git//sub?ref=v1)"]
        .assert_eq(&format!("{source:?}"));
    expect!["ModulePackage(git::https://example.com/r.git?ref=v1)"]
        .assert_eq(&format!("{:?}", source.package));
}

#[test]
fn invalid_module_sources_are_errors() {
    check(
        &[
            "",
            "foo",
            "a/b",
            "a/b/c/d/e",
            "git::ext::sh -c x",
            "git::--upload-pack=x",
            "hg::--config=x",
            "hg::ssh://-oProxyCommand=x/y",
            "hg::static-http://example.com/x",
            "s3::x",
            "s3::file:///etc/passwd",
            "gcs::www.googleapis.com/storage/v1/b",
            "/",
            "/a/../b",
            "github.com/o",
            "git::https://u:secret",
            "a/b/c//../d",
            "a/b/c//.git/x",
            "a/b/c//.terraform/x",
            "/srv/a\tb",
            "/srv/${a}",
        ],
        expect![[r#"

              Invalid module source address: "" is neither a path that begins with "./" or "../", nor the address of a module in a registry ("namespace/name/system"), nor the address of a package to download: "git::https://…", "github.com/owner/repository", an absolute path.
            foo
              Invalid module source address: "foo" is neither a path that begins with "./" or "../", nor the address of a module in a registry ("namespace/name/system"), nor the address of a package to download: "git::https://…", "github.com/owner/repository", an absolute path.
            a/b
              Invalid module source address: "a/b" is neither a path that begins with "./" or "../", nor the address of a module in a registry ("namespace/name/system"), nor the address of a package to download: "git::https://…", "github.com/owner/repository", an absolute path.
            a/b/c/d/e
              Invalid module source address: "a/b/c/d/e" is neither a path that begins with "./" or "../", nor the address of a module in a registry ("namespace/name/system"), nor the address of a package to download: "git::https://…", "github.com/owner/repository", an absolute path.
            git::ext::sh -c x
              Invalid module source address: "ext::sh -c x" is neither a path that begins with "./" or "../", nor the address of a module in a registry ("namespace/name/system"), nor the address of a package to download: "git::https://…", "github.com/owner/repository", an absolute path.
            git::--upload-pack=x
              Invalid module source address: "--upload-pack=x" is neither a path that begins with "./" or "../", nor the address of a module in a registry ("namespace/name/system"), nor the address of a package to download: "git::https://…", "github.com/owner/repository", an absolute path.
            hg::--config=x
              Invalid module source address: "--config=x" must be the address of a Mercurial repository: "hg::https://HOST/REPOSITORY".
            hg::ssh://-oProxyCommand=x/y
              Invalid module source address: "ssh://-oProxyCommand=x/y" must be the address of a Mercurial repository: "hg::https://HOST/REPOSITORY".
            hg::static-http://example.com/x
              Invalid module source address: "static-http://example.com/x" must be the address of a Mercurial repository: "hg::https://HOST/REPOSITORY".
            s3::x
              Invalid module source address: "x" must be the address of something in a bucket: "s3::https://s3.REGION.amazonaws.com/BUCKET/KEY" or "gcs::https://www.googleapis.com/storage/v1/BUCKET/OBJECT".
            s3::file:///etc/passwd
              Invalid module source address: "file:///etc/passwd" must be the address of something in a bucket: "s3::https://s3.REGION.amazonaws.com/BUCKET/KEY" or "gcs::https://www.googleapis.com/storage/v1/BUCKET/OBJECT".
            gcs::www.googleapis.com/storage/v1/b
              Invalid module source address: "www.googleapis.com/storage/v1/b" must be the address of something in a bucket: "s3::https://s3.REGION.amazonaws.com/BUCKET/KEY" or "gcs::https://www.googleapis.com/storage/v1/BUCKET/OBJECT".
            /
              Invalid module source address: "/" must be an absolute path without "..".
            /a/../b
              Invalid module source address: "/a/../b" must be an absolute path without "..".
            github.com/o
              Invalid module source address: "github.com/o" is neither a path that begins with "./" or "../", nor the address of a module in a registry ("namespace/name/system"), nor the address of a package to download: "git::https://…", "github.com/owner/repository", an absolute path.
            git::https://u:secret
              git::https://u:secret
            a/b/c//../d
              Invalid module source address: The part behind the double slash, "../d", must be a directory in the package.
            a/b/c//.git/x
              Invalid module source address: The part behind the double slash, ".git/x", must be a directory in the package.
            a/b/c//.terraform/x
              Invalid module source address: The part behind the double slash, ".terraform/x", must be a directory in the package.
            /srv/a	b
              Invalid module source address: "/srv/a\tb" is neither a path that begins with "./" or "../", nor the address of a module in a registry ("namespace/name/system"), nor the address of a package to download: "git::https://…", "github.com/owner/repository", an absolute path.
            /srv/${a}
              Invalid module source address: "/srv/${a}" is neither a path that begins with "./" or "../", nor the address of a module in a registry ("namespace/name/system"), nor the address of a package to download: "git::https://…", "github.com/owner/repository", an absolute path.
        "#]],
    );
}
