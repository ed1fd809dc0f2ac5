//! The life of resources of the real AWS provider at a local AWS API: plan, apply, refresh, update, import, destroy.
//! The test is skipped unless `MAYFLY_AWS_MIRROR` names a folder with a mirror of the provider and
//! `MAYFLY_AWS_ENDPOINT` the URL of an AWS API of this machine, such as that of `moto_server`.

use std::{fs, io::Write, os::unix::fs::symlink};

use crate::bench::{Bench, Run};

const MAIN: &str = include_str!("../../../../tests/data/aws/lifecycle.tf");

/// The resources.
const RESOURCES: [&str; 8] = [
    "aws_s3_bucket.files",
    "aws_sqs_queue.jobs",
    "aws_dynamodb_table.locks",
    "aws_iam_role.runner",
    "aws_ssm_parameter.setting",
    "aws_secretsmanager_secret.password",
    "aws_vpc.main",
    "aws_security_group.web",
];

struct Account {
    bench: Bench,
    endpoint: String,
}

impl Account {
    /// `None` if the provider or the API is not available.
    fn new() -> Option<Account> {
        let variables = ["MAYFLY_AWS_MIRROR", "MAYFLY_AWS_ENDPOINT"].map(std::env::var);
        let [Ok(mirror), Ok(endpoint)] = variables else {
            let text = "skipped: MAYFLY_AWS_MIRROR and MAYFLY_AWS_ENDPOINT are not both set";
            let _ = writeln!(std::io::stderr(), "{text}");
            return None;
        };
        let bench = Bench::with_main(MAIN);
        let folder = bench.path("mirror/registry.terraform.io/hashicorp/aws");
        fs::create_dir_all(folder.parent().expect("has one")).expect("can be made");
        symlink(mirror, folder).expect("can be linked");
        let mirror = bench.path("mirror");
        let method = format!("filesystem_mirror {{\n    path = {mirror:?}\n  }}");
        bench.write("rc", &format!("provider_installation {{\n  {method}\n}}\n"));
        Some(Account { bench, endpoint })
    }

    fn run(&self, stage: &str, arguments: &[&str]) -> Run {
        let run = self.bench.mayfly(".", arguments);
        run.env("TF_CLI_CONFIG_FILE", self.bench.path("rc"))
            .env("AWS_ENDPOINT_URL", &self.endpoint)
            .env("TF_VAR_stage", stage)
    }

    /// Checks that a plan finds nothing to do.
    fn is_settled(&self, stage: &str) {
        self.run(stage, &["plan", "-detailed-exitcode"]).succeeds().shows(&["No changes."]);
    }

    fn id_of(&self, address: &str) -> String {
        let state = self.bench.state(".");
        let (kind, name) = address.split_once('.').expect("an address");
        let resources = state["resources"].as_array().expect("a list");
        let found = resources.iter().find(|it| it["type"] == kind && it["name"] == name);
        let attributes = &found.expect("is in the state")["instances"][0]["attributes"];
        attributes["id"].as_str().expect("text").to_owned()
    }
}

#[test]
fn resources_of_aws_live_at_a_local_api() {
    let Some(account) = Account::new() else { return };
    account.run("one", &["init"]).succeeds();
    account.run("one", &["plan"]).succeeds().shows(&["Plan: 8 to add, 0 to change, 0 to destroy."]);
    account.run("one", &["apply", "-auto-approve"]).succeeds().shows(&["8 added, 0 changed"]);
    account.is_settled("one");
    account.run("one", &["refresh"]).succeeds();
    account.is_settled("one");
    let changed = account.run("two", &["apply", "-auto-approve"]).succeeds();
    changed.shows(&["0 added, 7 changed, 0 destroyed"]);
    account.is_settled("two");
    let ids = RESOURCES.map(|it| account.id_of(it));
    fs::remove_file(account.bench.path("terraform.tfstate")).expect("was written");
    for (address, id) in RESOURCES.iter().zip(&ids) {
        account.run("two", &["import", address, id]).succeeds().shows(&["Import successful!"]);
    }
    // Arguments that the API does not have, such as those for deletion, are only in the state.
    account.run("two", &["plan"]).succeeds().lacks(&["must be replaced", "will be created"]);
    account.run("two", &["apply", "-auto-approve"]).succeeds();
    account.is_settled("two");
    account
        .run("two", &["destroy", "-auto-approve"])
        .succeeds()
        .shows(&["Destroy complete! Resources: 8"]);
    account.run("two", &["plan"]).succeeds().shows(&["Plan: 8 to add"]);
}
