//! Modules of registries and web pages.

use registry::{Pages, Server, answer};
use serde_json::json;

use crate::{
    bench::{Bench, Run},
    downloads::{archive, authority, trusting},
    tofu::{Program, programs},
};

/// A registry with two versions of `acme/net/aws`, which are archives with the module in the directory `vpc`.
fn pages_of_registry() -> Pages {
    let mut pages = Pages::new();
    let services = json!({"modules.v1": "/v1/modules/"});
    pages.insert("/.well-known/terraform.json".to_owned(), document(&services));
    let versions = json!({"modules": [{"versions": [
        {"version": "1.0.0"}, {"version": "1.2.0"}, {"version": "2.0.0-rc1"},
    ]}]});
    pages.insert("/v1/modules/acme/net/aws/versions".to_owned(), document(&versions));
    for version in ["1.0.0", "1.2.0", "2.0.0-rc1"] {
        let named = format!(
            "HTTP/1.1 204 No Content\r\nx-terraform-get: /files/{version}.zip//vpc\r\nconnection: close\r\n\
             content-length: 0\r\n\r\n"
        );
        pages.insert(format!("/v1/modules/acme/net/aws/{version}/download"), named.into_bytes());
        let module =
            format!("output \"version\" {{\n  value = \"{version} in ${{path.module}}\"\n}}\n");
        pages.insert(format!("/files/{version}.zip"), archive(&module));
    }
    pages
}

fn document(value: &serde_json::Value) -> Vec<u8> {
    answer("application/json", value.to_string().as_bytes())
}

fn bench() -> (Bench, Server) {
    let bench = Bench::new();
    let server = Server::start(&authority(&bench), pages_of_registry());
    (bench, server)
}

/// The host of the registry in addresses of modules. OpenTofu takes no port there, so the CLI configuration leads to
/// the server.
const HOST: &str = "modules.example.com";

fn call(bench: &Bench, server: &Server, version: &str) {
    let services = format!("https://localhost:{}/v1/modules/", server.port);
    bench.write(
        "../rc",
        &format!(
            "host \"{HOST}\" {{\n  services = {{\n    \"modules.v1\" = \"{services}\"\n  }}\n}}\n"
        ),
    );
    let source = format!("{HOST}/acme/net/aws");
    bench.write(
        "main.tf",
        &format!(
            "module \"net\" {{\n  source  = \"{source}\"\n  version = \"{version}\"\n}}\noutput \"version\" \
             {{\n  value = module.net.version\n}}\n"
        ),
    );
}

fn run(program: &Program, bench: &Bench, arguments: &[&str]) -> Run {
    let run = trusting(bench, program.run(bench, ".", arguments.iter().copied()));
    run.env("TF_CLI_CONFIG_FILE", bench.root().join("rc"))
}

#[test]
fn the_newest_allowed_version_is_installed_locked_and_upgraded() {
    for program in programs() {
        let (bench, server) = bench();
        call(&bench, &server, "~> 1.0, < 1.2");
        let place = format!("{HOST}/acme/net/aws");
        let ended = run(&program, &bench, &["init"]).succeeds();
        ended.shows(&[
            &format!("Downloading {place} 1.0.0 for net..."),
            "- net in .terraform/modules/net/vpc",
        ]);
        run(&program, &bench, &["plan"]).succeeds().shows(&["1.0.0 in .terraform/modules/net/vpc"]);
        let manifest =
            String::from_utf8(bench.read(".terraform/modules/modules.json")).expect("is text");
        let record = format!(
            "{{\"Key\":\"net\",\"Source\":\"{place}\",\"Version\":\"1.0.0\",\"Dir\":\".terraform/modules/net/vpc\"}}"
        );
        assert!(manifest.contains(&record), "{}: {manifest}", program.name());
        // The version that the constraint no longer allows is replaced.
        call(&bench, &server, "~> 1.1");
        run(&program, &bench, &["plan"]).fails();
        run(&program, &bench, &["init"]).succeeds().shows(&["1.2.0 for net..."]);
        run(&program, &bench, &["plan"]).succeeds().shows(&["1.2.0 in .terraform/modules/net/vpc"]);
    }
}

#[test]
fn locked_version_is_kept_until_an_upgrade() {
    let (bench, server) = bench();
    call(&bench, &server, "1.0.0");
    run(&Program::Mayfly, &bench, &["init"]).succeeds();
    let lock = String::from_utf8(bench.read(".terraform.lock.hcl")).expect("is text");
    let block = format!(
        "module \"{HOST}/acme/net/aws?version=1.0.0\" {{\n  directory    = \"net\"\n  subdirectory = \"vpc\"\n  \
         hashes = [\n    \"h1:"
    );
    assert!(lock.contains(&block), "{lock}");
    call(&bench, &server, ">= 1.0");
    drop(server.heads());
    // On a new machine, the locked version comes from the registry, which is not asked for others.
    std::fs::remove_dir_all(bench.path(".terraform")).expect("was there");
    run(&Program::Mayfly, &bench, &["init", "-lockfile=readonly"]).succeeds();
    let planned = run(&Program::Mayfly, &bench, &["plan"]).succeeds();
    planned.shows(&["1.0.0 in "]);
    planned.lacks(&["Warning"]);
    assert!(server.heads().iter().all(|it| !it.contains("/versions")));
    run(&Program::Mayfly, &bench, &["init", "-upgrade"]).succeeds();
    let planned = run(&Program::Mayfly, &bench, &["plan"]).succeeds();
    planned.shows(&["1.2.0 in "]);
    planned.lacks(&["Warning"]);
    // Another machine must get the same package for the locked version.
    let changed = archive("output \"version\" {\n  value = \"another\"\n}\n");
    let other = Bench::new();
    let mut pages = pages_of_registry();
    pages.insert("/files/1.2.0.zip".to_owned(), changed);
    let replaced = Server::start(&authority(&other), pages);
    call(&other, &replaced, ">= 1.0");
    let lock = String::from_utf8(bench.read(".terraform.lock.hcl")).expect("is text");
    other.write(".terraform.lock.hcl", &lock);
    let ended = run(&Program::Mayfly, &other, &["init"]).fails();
    ended.shows(&["Error: Module package has changed", "does not match the lock file"]);
}

#[test]
fn registry_without_the_module_is_an_error_at_the_call() {
    let (bench, server) = bench();
    call(&bench, &server, "> 3");
    run(&Program::Mayfly, &bench, &["init"]).fails().shows(&[
        "Error: No version of the module",
        "main.tf line 2",
        "meets the constraint \"> 3.0.0\"; the newest one is 2.0.0-rc1",
    ]);
    let main = String::from_utf8(bench.read("main.tf")).expect("is text");
    bench.write("main.tf", &main.replace("acme/net", "acme/other"));
    run(&Program::Mayfly, &bench, &["init"])
        .fails()
        .shows(&["main.tf line 2", "the registry has no module"]);
    bench.write("main.tf", &main.replace(HOST, "localhost:1"));
    run(&Program::Mayfly, &bench, &["init"])
        .fails()
        .shows(&["main.tf line 2", "could not connect to localhost:1"]);
    assert!(!bench.path(".terraform.lock.hcl").exists());
}

#[test]
fn token_of_the_registry_reaches_neither_package_nor_page() {
    let (bench, server) = bench();
    call(&bench, &server, "1.2.0");
    let main = String::from_utf8(bench.read("main.tf")).expect("is text");
    bench.write("main.tf", &main.replace(HOST, &format!("localhost:{}", server.port)));
    let token = format!("TF_TOKEN_localhost:{}", server.port);
    run(&Program::Mayfly, &bench, &["init"]).env(&token, "t0ken").succeeds().lacks(&["t0ken"]);
    for head in server.heads() {
        assert_eq!(head.contains("t0ken"), !head.contains("/files/"), "{head}");
    }
}

#[test]
fn token_does_not_follow_a_redirect_of_the_registry() {
    let elsewhere = Bench::new();
    let told = json!({"location": "./x.zip", "use_registry_credentials": true});
    let pages = [("/x".to_owned(), document(&told)), ("/x.zip".to_owned(), archive("# module\n"))];
    let other = Server::start(&authority(&elsewhere), pages.into());
    let bench = Bench::new();
    let mut pages = pages_of_registry();
    let moved = format!(
        "HTTP/1.1 302 Found\r\nlocation: https://localhost:{}/x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
        other.port
    );
    pages.insert("/v1/modules/acme/net/aws/1.2.0/download".to_owned(), moved.into_bytes());
    let server = Server::start(&authority(&bench), pages);
    let authorities = [bench.read("ca.pem"), elsewhere.read("ca.pem")].concat();
    bench.write("ca.pem", &String::from_utf8(authorities).expect("is text"));
    call(&bench, &server, "1.2.0");
    let main = String::from_utf8(bench.read("main.tf")).expect("is text");
    let main =
        main.replace(HOST, &format!("localhost:{}", server.port)).replace("aws\"", "aws//vpc\"");
    bench.write("main.tf", &main);
    let token = format!("TF_TOKEN_localhost:{}", server.port);
    run(&Program::Mayfly, &bench, &["init"]).env(&token, "t0ken").end();
    let heads = other.heads();
    assert_eq!(heads.len(), 2, "{heads:?}");
    assert!(heads.iter().all(|it| !it.contains("t0ken")), "{heads:?}");
}

#[test]
fn page_leads_to_the_package() {
    for program in programs() {
        let bench = Bench::new();
        let page = "<html><head><meta name=\"terraform-get\" content=\"https://localhost:PORT/n.zip//vpc\"></head></html>";
        let module = "output \"where\" {\n  value = path.module\n}\n";
        let pages = [
            ("/net".to_owned(), answer("text/html", page.as_bytes())),
            ("/n.zip".to_owned(), archive(module)),
        ];
        let server = Server::start(&authority(&bench), pages.into());
        let source = format!("https://localhost:{}/net", server.port);
        bench.write(
            "main.tf",
            &format!(
                "module \"net\" {{\n  source = \"{source}\"\n}}\noutput \"where\" {{\n  value = module.net.where\n}}\n"
            ),
        );
        run(&program, &bench, &["init"]).succeeds();
        let heads = server.heads();
        assert!(heads[0].starts_with("GET /net?terraform-get=1 HTTP/1.1\r\n"), "{heads:?}");
        run(&program, &bench, &["plan"]).succeeds().shows(&[".terraform/modules/net"]);
    }
}

#[test]
fn module_of_a_registry_becomes_the_working_directory() {
    let bench = Bench::new();
    let server = Server::start(&authority(&bench), pages_of_registry());
    std::fs::rename(bench.path("ca.pem"), bench.root().join("ca.pem")).expect("was written");
    let source = format!("-from-module=localhost:{}/acme/net/aws", server.port);
    let ended = bench.mayfly(".", ["init", &source]);
    ended.env("SSL_CERT_FILE", bench.root().join("ca.pem")).succeeds();
    let text = String::from_utf8(bench.read("main.tf")).expect("is text");
    assert!(text.contains("1.2.0 in"), "{text}");
}
