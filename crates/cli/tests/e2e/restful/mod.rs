//! Acceptance tests of the provider `restful` against a local server, in whole runs: with this program, and with
//! `tofu` if `MAYFLY_TOFU` names it. `MAYFLY_RESTFUL` can name the executable of `magodo/restful`, whose states are
//! then exchanged with those of this provider.

mod data;
mod ephemeral;
mod ephemeral_body;
mod operation;
mod resource;
#[path = "../../../../providers/tests/restful_server/mod.rs"]
mod restful_server;
mod states;

use std::{
    cell::Cell,
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    os::unix::fs::PermissionsExt as _,
};

use restful_server::RestfulServer;
use serde_json::{Value as Json, json};
use tokio::runtime::Runtime;

use crate::{
    bench::{Bench, Ended, Run},
    tofu::{Program, programs},
};

/// The source address of the provider.
const SOURCE: &str = "registry.opentofu.org/mayfly/restful";

/// A running server.
struct Api {
    server: RestfulServer,
    // It runs the server, so it is dropped last.
    runtime: Runtime,
}

impl Api {
    fn start() -> Api {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let server = runtime.block_on(RestfulServer::start());
        Api { server, runtime }
    }

    /// Reads the JSON at a path. `None` if the answer is no success.
    fn get(&self, path: &str) -> Option<Json> {
        let host = self.server.url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).expect("the server listens");
        let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("is read");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("is UTF-8");
        let (head, body) = answer.split_once("\r\n\r\n").expect("has a head");
        head.starts_with("HTTP/1.1 200")
            .then(|| serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}")))
    }

    fn count(&self, request: &str) -> usize {
        self.server.count(request)
    }
}

/// One program with the provider and a server.
struct Acceptance {
    bench: Bench,
    program: Program,
    api: Api,
    is_initialized: Cell<bool>,
}

/// Runs a test with each program.
#[track_caller]
fn with_each_program(test: impl Fn(&Acceptance)) {
    for program in programs() {
        test(&Acceptance::new(program));
    }
}

impl Acceptance {
    fn new(program: Program) -> Acceptance {
        let acceptance = Acceptance {
            bench: Bench::new(),
            program,
            api: Api::start(),
            is_initialized: Cell::new(false),
        };
        acceptance.install();
        acceptance
    }

    /// Makes the provider available to `tofu`, which does not have it.
    fn install(&self) {
        let provider = format!(
            "#!/bin/sh\nexec {} serve-bundled-provider {SOURCE}\n",
            env!("CARGO_BIN_EXE_mayfly")
        );
        self.bench.write("plugins/terraform-provider-restful", &provider);
        let path = self.bench.path("plugins/terraform-provider-restful");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("can be set");
        let folder = self.bench.path("plugins");
        let overrides = format!(
            "provider_installation {{\n  dev_overrides {{\n    \"{SOURCE}\" = {folder:?}\n  }}\n  direct {{}}\n}}\n"
        );
        self.bench.write("tofurc", &overrides);
    }

    /// Writes a configuration whose provider has no further settings.
    fn write(&self, text: &str) {
        self.write_with("", text);
    }

    /// Writes a configuration. `SERVER` in it is the URL of the server.
    fn write_with(&self, settings: &str, text: &str) {
        let requirements = "terraform {\n  required_providers {\n    restful = { source = \
                            \"registry.opentofu.org/mayfly/restful\" }\n  }\n}\n";
        let provider = format!("provider \"restful\" {{\n  base_url = \"SERVER\"\n{settings}}}\n");
        let whole =
            format!("{requirements}{provider}{text}").replace("SERVER", &self.api.server.url);
        self.bench.write("main.tf", &whole);
    }

    /// Initializes the directory once. `tofu` does not need it, because the provider is overridden.
    #[track_caller]
    fn initialize(&self) {
        if matches!(self.program, Program::Mayfly) && !self.is_initialized.replace(true) {
            self.run(&["init"]).succeeds();
        }
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let run = self.program.run(&self.bench, ".", arguments);
        match &self.program {
            Program::Mayfly => run,
            Program::Tofu(_) => run.env("TF_CLI_CONFIG_FILE", self.bench.path("tofurc")),
        }
    }

    /// Applies a configuration, and checks that a plan after it is empty.
    #[track_caller]
    fn apply(&self, text: &str) -> Ended {
        self.write(text);
        self.apply_written(&[])
    }

    #[track_caller]
    fn apply_written(&self, variables: &[&str]) -> Ended {
        self.initialize();
        let with = |arguments: &[&'static str]| -> Vec<String> {
            arguments
                .iter()
                .map(|it| (*it).to_owned())
                .chain(variables.iter().map(|it| format!("-var={it}")))
                .collect()
        };
        let run = |arguments: Vec<String>| {
            self.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let applied = run(with(&["apply", "-auto-approve"])).succeeds();
        run(with(&["plan", "-detailed-exitcode"])).end().exits(0).shows(&["No changes."]);
        applied
    }

    /// Applies a configuration, which must fail.
    #[track_caller]
    fn apply_fails(&self, text: &str) -> Ended {
        self.write(text);
        self.initialize();
        self.run(&["apply", "-auto-approve"]).fails()
    }

    #[track_caller]
    fn destroy(&self) -> Ended {
        self.run(&["destroy", "-auto-approve"]).succeeds()
    }

    /// An attribute of an object in the state, without the type of a dynamic one.
    #[track_caller]
    fn attribute(&self, address: &str, name: &str) -> Json {
        attribute_in(&self.bench.state("."), address, name)
    }

    /// Imports the object of an address into another state, and checks that `names` are as in the first one.
    #[track_caller]
    fn import(&self, address: &str, specification: &Json, names: &[&str]) -> Json {
        let _ = fs::remove_file(self.bench.path("imported.tfstate"));
        let text = specification.to_string();
        self.run(&["import", "-state=imported.tfstate", address, &text]).succeeds();
        let imported = serde_json::from_slice(&self.bench.read("imported.tfstate"));
        let imported = imported.expect("the state is JSON");
        for name in names {
            let (one, other) =
                (attribute_in(&imported, address, name), self.attribute(address, name));
            assert_eq!(one, other, "{name}");
        }
        imported
    }

    /// Checks that no file has a text.
    #[track_caller]
    fn assert_unwritten(&self, secret: &str) {
        for entry in fs::read_dir(self.bench.path(".")).expect("can be listed") {
            let path = entry.expect("can be listed").path();
            if path.extension().is_some_and(|it| it != "tf") && path.is_file() {
                let bytes = fs::read(&path).expect("can be read");
                let text = String::from_utf8_lossy(&bytes);
                assert!(!text.contains(secret), "{} has {secret}", path.display());
            }
        }
    }
}

#[track_caller]
fn attribute_in(state: &Json, address: &str, name: &str) -> Json {
    let resources = state["resources"].as_array().expect("are there");
    let (kind, label) = address.split_once('.').expect("is an address");
    let (mode, kind, label) = match kind {
        "data" => {
            let (kind, label) = label.split_once('.').expect("is an address");
            ("data", kind, label)
        }
        kind => ("managed", kind, label),
    };
    let found =
        resources.iter().find(|it| it["mode"] == mode && it["type"] == kind && it["name"] == label);
    let found = found.unwrap_or_else(|| panic!("{address} is not in the state"));
    let value = &found["instances"][0]["attributes"][name];
    match (value.get("value"), value.get("type")) {
        (Some(value), Some(_)) => value.clone(),
        _ => value.clone(),
    }
}

/// The import specification of an object.
fn specification(id: &str, path: &str, body: Json) -> Json {
    json!({ "id": id, "path": path, "body": body })
}
