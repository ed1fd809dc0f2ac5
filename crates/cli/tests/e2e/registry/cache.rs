//! The plugin cache: several processes that install to it, and what it must not contain.

use std::{fs, os::unix::fs::symlink, path::PathBuf, time::Duration};

use registry::{AuthorKey, Pace, Pages, Release, Server, pages};
use rustix::process::Signal;

use crate::{
    bench::{Bench, Run},
    downloads::{authority, trusting},
};

const PLUGIN: &str = "terraform-provider-thing_v1.2.0";

fn registry() -> Pages {
    pages(&[Release { key: Some(&AuthorKey::new()), ..Release::default() }])
}

/// A server that takes a few hundred milliseconds for each document and for the package.
fn slow(bench: &Bench, pages: Pages) -> Server {
    let pace = Pace { bytes: 100, pause: Duration::from_millis(50) };
    Server::start_slow(&authority(bench), pages, pace)
}

/// Writes a configuration that requires the provider.
fn require(bench: &Bench, folder: &str, server: &Server) {
    let source = format!("localhost:{}/tests/thing", server.port);
    bench.write(
        &format!("{folder}/main.tf"),
        &format!("terraform {{\n  required_providers {{\n    thing = {{ source = \"{source}\" }}\n  }}\n}}\n"),
    );
}

/// `init` in a folder, with a cache that all folders share.
fn init(bench: &Bench, folder: &str) -> Run {
    let run = trusting(bench, bench.mayfly(folder, ["init"]));
    run.env("TF_PLUGIN_CACHE_DIR", bench.path("cache"))
}

/// The directory of the package in the cache.
fn cached(bench: &Bench, server: &Server) -> PathBuf {
    bench.path(&format!("cache/localhost:{}/tests/thing/1.2.0/linux_amd64", server.port))
}

fn plugin_of(bench: &Bench, folder: &str, server: &Server) -> String {
    let port = server.port;
    let package = format!("{folder}/.terraform/providers/localhost:{port}/tests/thing/1.2.0");
    let plugin = bench.path(&package).join("linux_amd64").join(PLUGIN);
    fs::read_to_string(plugin).expect("is installed")
}

#[test]
fn concurrent_inits_share_a_cache() {
    let bench = Bench::new();
    fs::create_dir(bench.path("cache")).expect("writable");
    let server = slow(&bench, registry());
    let folders = ["a", "b", "c"];
    let started = folders.map(|folder| {
        require(&bench, folder, &server);
        init(&bench, folder).start()
    });
    let ended = started.map(|it| it.end().exits(0));
    let waited = ended.iter().filter(|it| it.out.contains("Waiting for lock on cache directory"));
    assert!(waited.count() > 0, "they ran one after another");
    let locks = folders.map(|it| bench.read(&format!("{it}/.terraform.lock.hcl")));
    assert!(locks[0] == locks[1] && locks[1] == locks[2]);
    for folder in folders {
        assert_eq!(plugin_of(&bench, folder, &server), "no program for linux_amd64");
    }
    let version = cached(&bench, &server).parent().expect("is below").to_owned();
    assert_eq!(fs::read_dir(version).expect("readable").count(), 2, "the package and its lock");
}

#[test]
fn killed_init_leaves_no_package_in_the_cache() {
    let bench = Bench::new();
    fs::create_dir(bench.path("cache")).expect("writable");
    let server = slow(&bench, registry());
    require(&bench, "a", &server);
    let package = cached(&bench, &server);
    let started = init(&bench, "a").start();
    started.wait_for("to the shared cache directory...");
    started.signal(Signal::KILL);
    drop(started.end());
    assert!(!package.exists());
    // The rest of a run that was killed while it unpacked.
    let scratch = package.parent().expect("is below").join(".new-linux_amd64-x");
    fs::create_dir(&scratch).expect("writable");
    init(&bench, "a").succeeds();
    assert!(!scratch.exists());
    assert_eq!(plugin_of(&bench, "a", &server), "no program for linux_amd64");
}

#[test]
fn junk_in_the_cache_is_replaced_with_its_reason() {
    let bench = Bench::new();
    fs::create_dir(bench.path("cache")).expect("writable");
    let server = Server::start(&authority(&bench), registry());
    require(&bench, "a", &server);
    init(&bench, "a").succeeds();
    let package = cached(&bench, &server);
    let plant: [(&str, &dyn Fn()); 4] = [
        ("it has no plugin", &|| {
            fs::remove_file(package.join(PLUGIN)).expect("it exists");
            fs::write(package.join("README"), "no plugin").expect("writable");
        }),
        ("the lock file has other hashes", &|| {
            fs::write(package.join(PLUGIN), "evil").expect("writable");
        }),
        ("is a link", &|| {
            fs::rename(package.join(PLUGIN), bench.path("outside")).expect("it exists");
            symlink(bench.path("outside"), package.join(PLUGIN)).expect("writable");
        }),
        ("which is in no mirror", &|| {
            fs::rename(&package, bench.path("elsewhere")).expect("it exists");
            symlink(bench.path("elsewhere"), &package).expect("writable");
        }),
    ];
    for (reason, plant) in plant {
        plant();
        fs::remove_dir_all(bench.path("a/.terraform")).expect("it exists");
        let ended = init(&bench, "a").succeeds();
        ended.shows(&["- Replacing localhost:", " in the shared cache directory: ", reason]);
        assert_eq!(plugin_of(&bench, "a", &server), "no program for linux_amd64");
        assert!(!package.is_symlink() && !package.join(PLUGIN).is_symlink());
    }
}
