//! The example of the ephemeral resources RFC, from its text to the apply, with every kind of line in its section
//! "CLI Output".

use crate::{bench::Bench, search::Canaries};

const RETRIEVAL: &str =
    "module.secret_management.ephemeral.playground_secret_version.secret_retrieval[0]";
const DIRECT: &str =
    "module.secret_management.ephemeral.playground_secret_version.secret_retrieval_direct[0]";
const MANAGER: &str = "module.secret_management.playground_secret.manager[0]";
const CREATION: &str = "module.secret_management.playground_secret_version.secret_creation[0]";
const PARAMETER: &str = "playground_parameter.store_ephemeral_in_write_only";

/// The example with a pair of keys that must never be shown.
struct Secrets {
    bench: Bench,
    canaries: Canaries,
    keys: [String; 2],
}

impl Secrets {
    fn new() -> Secrets {
        let mut canaries = Canaries::new();
        let access = format!("-var=access_key={}", canaries.add("access_key"));
        let secret = format!("-var=secret_key={}", canaries.add("secret_key"));
        Secrets { bench: Bench::with_example("secrets"), canaries, keys: [access, secret] }
    }

    fn store(&self, arguments: &[&str]) -> crate::bench::Run {
        let all = arguments.iter().map(|it| (*it).to_owned()).chain(self.keys.iter().cloned());
        self.bench.mayfly("secrets/store", all)
    }

    fn arn(&self) -> String {
        let arn = self
            .bench
            .mayfly("secrets/read", ["-chdir=../store", "output", "-raw", "secret_manager_arn"])
            .succeeds();
        assert!(
            arn.out.starts_with("arn:playground:secretsmanager:") && !arn.out.ends_with('\n'),
            "{:?}",
            arn.out
        );
        format!("-var=secret_manager_arn={}", arn.out)
    }
}

#[test]
fn store_example_defers_creates_opens_and_closes() {
    let secrets = Secrets::new();
    let applied = secrets.store(&["apply"]).input("yes\n").succeeds();
    applied.shows(&[
        &format!("{RETRIEVAL}: Configuration unknown, deferring...\n"),
        "\nOpenTofu used the selected providers to generate the following execution plan.",
        "  + create\n",
        "\nOpenTofu will perform the following actions:\n",
        &format!("  # {MANAGER} will be created\n  + resource \"playground_secret\" \"manager\" {{\n"),
        "      + name     = \"ephemeral-rfc-example\"\n",
        &format!("  # {CREATION} will be created\n  + resource \"playground_secret_version\" \"secret_creation\" {{\n"),
        "      + secret_string_wo         = (write-only attribute)\n",
        "      + secret_string_wo_version = 2\n",
        "\nPlan: 2 to add, 0 to change, 0 to destroy.\n",
        "\nChanges to Outputs:\n  + secret_manager_arn = (known after apply)\n",
        "\nDo you want to perform these actions?\n  OpenTofu will perform the actions described above.\n",
        "  Only 'yes' will be accepted to approve.\n\n  Enter a value: ",
        &format!("{MANAGER}: Creating...\n"),
        &format!("{MANAGER}: Creation complete after 0s [id=arn:playground:secretsmanager:"),
        &format!("{CREATION}: Creating...\n"),
        &format!("{CREATION}: Creation complete after 0s [id=arn:playground:secretsmanager:"),
        &format!("{RETRIEVAL}: Opening...\n"),
        &format!("{RETRIEVAL}: Opening complete after 0s\n"),
        &format!("{RETRIEVAL}: Closing...\n"),
        &format!("{RETRIEVAL}: Closing complete after 0s\n"),
        "\nApply complete! Resources: 2 added, 0 changed, 0 destroyed.\n",
        "\nOutputs:\n\nsecret_manager_arn = \"arn:playground:secretsmanager:",
    ]);
    applied.lacks(&["ephemeral \"playground", "secret_retrieval_direct"]);
    let planned = secrets.store(&["plan", "-detailed-exitcode"]).end().exits(0);
    planned.shows(&[
        &format!("{RETRIEVAL}: Opening..."),
        "No changes. Your infrastructure matches the configuration.",
    ]);
    for ended in [&applied, &planned] {
        secrets.canaries.assert_not_printed(ended);
    }
    secrets.canaries.assert_not_written(&secrets.bench);
    let destroyed = secrets.store(&["destroy", "-auto-approve"]).succeeds();
    destroyed.shows(&[
        "Plan: 0 to add, 0 to change, 2 to destroy.",
        "Destroy complete! Resources: 2 destroyed.",
    ]);
    secrets.canaries.assert_not_printed(&destroyed);
    secrets.canaries.assert_not_written(&secrets.bench);
    assert_eq!(secrets.bench.state("secrets/store")["resources"].as_array().map(Vec::len), Some(0));
    secrets.bench.assert_no_orphans("secrets");
}

#[test]
fn read_example_opens_in_both_phases_and_suppresses_output() {
    let secrets = Secrets::new();
    secrets.store(&["apply", "-auto-approve"]).succeeds();
    let arn = secrets.arn();
    let applied = secrets.bench.mayfly("secrets/read", ["apply", &arn]).input("yes\n").succeeds();
    let provisioner = format!("{PARAMETER} (local-exec)");
    applied.shows(&[
        &format!("{DIRECT}: Opening...\n"),
        &format!("{DIRECT}: Opening complete after 0s\n"),
        &format!("{DIRECT}: Closing...\n"),
        &format!("{DIRECT}: Closing complete after 0s\n"),
        "\nOpenTofu used the selected providers to generate the following execution plan.",
        &format!("  # {PARAMETER} will be created\n  + resource \"playground_parameter\" \
                  \"store_ephemeral_in_write_only\" {{\n"),
        "+ name             = \"parameter_from_ephemeral_value\"\n",
        "+ type             = \"SecureString\"\n",
        "+ value            = (sensitive value)\n",
        "+ value_wo         = (write-only attribute)\n",
        "+ value_wo_version = 1\n",
        "\nPlan: 1 to add, 0 to change, 0 to destroy.\n",
        "  Enter a value: ",
        &format!("{DIRECT}: Opening...\n"),
        &format!("{DIRECT}: Opening complete after 0s\n"),
        &format!("{PARAMETER}: Creating...\n"),
        &format!("{PARAMETER}: Provisioning with 'local-exec'...\n"),
        &format!("{provisioner}: Executing: [\"/bin/sh\" \"-c\" \"echo non-ephemeral value: arn:playground:ssm:"),
        &format!("{provisioner}: non-ephemeral value: arn:playground:ssm:"),
        &format!("{PARAMETER}: Provisioning with 'local-exec'...\n"),
        &format!("{provisioner}: (output suppressed due to ephemeral value in config)\n"),
        &format!("{provisioner}: (output suppressed due to ephemeral value in config)\n"),
        &format!("{PARAMETER}: Creation complete after 0s [id=parameter_from_ephemeral_value]\n"),
        &format!("{DIRECT}: Closing...\n"),
        &format!("{DIRECT}: Closing complete after 0s\n"),
        "\nApply complete! Resources: 1 added, 0 changed, 0 destroyed.\n",
    ]);
    let planned =
        secrets.bench.mayfly("secrets/read", ["plan", "-detailed-exitcode", &arn]).end().exits(0);
    let destroyed =
        secrets.bench.mayfly("secrets/read", ["destroy", "-auto-approve", &arn]).succeeds();
    destroyed.shows(&["Destroy complete! Resources: 1 destroyed."]);
    for ended in [&applied, &planned, &destroyed] {
        secrets.canaries.assert_not_printed(ended);
    }
    secrets.canaries.assert_not_written(&secrets.bench);
    let ledger = secrets.bench.ledger("secrets");
    let opened = ledger.count("opened", "playground_secret_version");
    assert!(opened >= 4, "opened {opened} times");
    assert_eq!(
        opened,
        ledger.count("closed", "playground_secret_version"),
        "each open has one close"
    );
    // The provider received the stored secret, and another alias was configured with it.
    let parameter =
        ledger.0.iter().find(|it| it.event == "created" && it.type_name == "playground_parameter");
    assert!(parameter.expect("was created").received.contains_key("value_wo"));
    assert!(
        ledger
            .0
            .iter()
            .any(|it| it.event == "configured" && it.received.contains_key("access_key"))
    );
    secrets.bench.assert_no_orphans("secrets");
}

#[test]
fn store_example_sends_a_write_only_value_only_with_a_new_version() {
    let mut secrets = Secrets::new();
    secrets.store(&["apply", "-auto-approve"]).succeeds();
    secrets.keys[0] = format!("-var=access_key={}", secrets.canaries.add("second access_key"));
    secrets.store(&["plan", "-detailed-exitcode"]).end().exits(0);
    let main = String::from_utf8(secrets.bench.read("secrets/store/main.tf")).expect("is text");
    secrets
        .bench
        .write("secrets/store/main.tf", &main.replace("secret_version = 2", "secret_version = 3"));
    let applied = secrets.store(&["apply", "-auto-approve"]).succeeds();
    applied.shows(&[
        &format!("  # {CREATION} will be updated in-place\n"),
        "~ secret_string_wo_version = 2 -> 3\n",
        "Plan: 0 to add, 1 to change, 0 to destroy.",
        "Apply complete! Resources: 0 added, 1 changed, 0 destroyed.",
    ]);
    let ledger = secrets.bench.ledger("secrets");
    let received = |event: &str| {
        let entry = ledger
            .0
            .iter()
            .find(|it| it.event == event && it.type_name == "playground_secret_version");
        entry.expect("is in the ledger").received["secret_string_wo"].clone()
    };
    assert_ne!(received("created"), received("updated"));
    secrets.canaries.assert_not_printed(&applied);
    secrets.canaries.assert_not_written(&secrets.bench);
}

#[test]
fn lease_example_renews_and_tunnel_example_closes_last() {
    let lease = Bench::with_example("lease");
    let applied = lease.mayfly("lease", ["apply", "-auto-approve"]).succeeds();
    applied.shows(&[
        "ephemeral.playground_lease.example: Opening complete after 0s\n",
        "ephemeral.playground_lease.example: Renewing...\n",
        "ephemeral.playground_lease.example: Renewing complete after 0s\n",
        "playground_parameter.job: Creation complete after",
        "ephemeral.playground_lease.example: Closing complete after",
        "Apply complete! Resources: 1 added",
    ]);
    let tunnel = Bench::with_example("tunnel");
    let applied = tunnel.mayfly("tunnel", ["apply", "-auto-approve"]).succeeds();
    applied.shows(&[
        "playground_parameter.key: Creation complete after",
        "ephemeral.playground_tunnel.example: Closing...\n",
        "Apply complete! Resources: 1 added",
    ]);
    tunnel.mayfly("tunnel", ["destroy", "-auto-approve"]).succeeds();
    for (bench, name, kind) in
        [(&lease, "lease", "playground_lease"), (&tunnel, "tunnel", "playground_tunnel")]
    {
        let ledger = bench.ledger(name);
        assert!(ledger.count("opened", kind) > 0);
        assert_eq!(ledger.count("opened", kind), ledger.count("closed", kind), "{kind}");
        assert_eq!(ledger.count("expired", kind), 0);
        bench.assert_no_orphans(name);
    }
}
