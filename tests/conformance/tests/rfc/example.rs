//! The RFC's section "Example of how the new changes will work together": its three configurations, with the
//! playground in place of AWS, and the lines of "CLI Output".

use conformance::{STORE, World, finds, plan_file, state_file};
use expect_test::expect;

use super::summaries;

/// The configurations, read from `examples`.
fn fixture() -> String {
    let text = |name: &str| {
        let path = format!("{}/../../examples/secrets/{name}/main.tf", env!("CARGO_MANIFEST_DIR"));
        let text = conformance::read_file(&path).replace("../.playground", STORE);
        format!("//- /{name}/main.tf\n{text}")
    };
    ["mod", "store", "read"].map(text).concat()
}

fn stored() -> World {
    let mut store = World::bare("//- /main.tf\n").beside(&fixture(), "store");
    store.set("access_key", "canary-access").set("secret_key", "canary-secret");
    assert_eq!(summaries(&store.validate()), "");
    let planned = store.plan();
    assert_eq!(summaries(&planned.diagnostics), "");
    // Its variables are not ephemeral in the RFC, so the plan file contains these two values. The state does not.
    assert!(plan_file(&planned).is_ok());
    store.log();
    assert_eq!(summaries(&store.apply()), "");
    store
}

#[test]
fn store_example_keeps_the_secret_out_of_the_state() {
    let store = stored();
    expect![[r#"
        module.secret_management.ephemeral.playground_secret_version.secret_retrieval[0]: Configuration unknown, deferring...
        Plan: 2 to add, 0 to change, 0 to destroy
        module.secret_management.playground_secret.manager[0]: Creating...
        module.secret_management.playground_secret.manager[0]: Creation complete
        module.secret_management.playground_secret_version.secret_creation[0]: Creating...
        module.secret_management.playground_secret_version.secret_creation[0]: Creation complete
        module.secret_management.ephemeral.playground_secret_version.secret_retrieval[0]: Opening...
        module.secret_management.ephemeral.playground_secret_version.secret_retrieval[0]: Opening complete
        module.secret_management.ephemeral.playground_secret_version.secret_retrieval[0]: Closing...
        module.secret_management.ephemeral.playground_secret_version.secret_retrieval[0]: Closing complete
        Apply: 2 to add, 0 to change, 0 to destroy
    "#]]
    .assert_eq(&store.log());
    let state = state_file(&store.state);
    assert!(!finds(&state, "canary-access") && !finds(&state, "canary-secret"));
    assert!(
        store.received("created", r#"{"access_key":"canary-access","secret_key":"canary-secret"}"#)
    );
}

#[test]
fn read_example_passes_the_secret_to_a_provider_and_a_write_only_attribute() {
    let store = stored();
    let arn =
        store.state.outputs["secret_manager_arn"].value.as_str().expect("a string").to_owned();
    let mut read = store.beside(&fixture(), "read");
    read.set("secret_manager_arn", &arn);
    assert_eq!(summaries(&read.validate()), "");
    assert_eq!(summaries(&read.apply()), "");
    let log = read.log();
    let parameter = log
        .lines()
        .find_map(|it| it.split_once("non-ephemeral value: "))
        .expect("its output is shown")
        .1
        .to_owned();
    expect![[r#"
        module.secret_management.ephemeral.playground_secret_version.secret_retrieval_direct[0]: Opening...
        module.secret_management.ephemeral.playground_secret_version.secret_retrieval_direct[0]: Opening complete
        module.secret_management.ephemeral.playground_secret_version.secret_retrieval_direct[0]: Closing...
        module.secret_management.ephemeral.playground_secret_version.secret_retrieval_direct[0]: Closing complete
        Plan: 1 to add, 0 to change, 0 to destroy
        module.secret_management.ephemeral.playground_secret_version.secret_retrieval_direct[0]: Opening...
        module.secret_management.ephemeral.playground_secret_version.secret_retrieval_direct[0]: Opening complete
        playground_parameter.store_ephemeral_in_write_only: Creating...
        playground_parameter.store_ephemeral_in_write_only: Provisioning with 'local-exec'...
        playground_parameter.store_ephemeral_in_write_only (local-exec): Executing: ["/bin/sh" "-c" "echo non-ephemeral value: ARN"]
        playground_parameter.store_ephemeral_in_write_only (local-exec): non-ephemeral value: ARN
        playground_parameter.store_ephemeral_in_write_only: Provisioning with 'local-exec'...
        playground_parameter.store_ephemeral_in_write_only (local-exec): (output suppressed due to ephemeral value in config)
        playground_parameter.store_ephemeral_in_write_only (local-exec): (output suppressed due to ephemeral value in config)
        playground_parameter.store_ephemeral_in_write_only: Creation complete
        module.secret_management.ephemeral.playground_secret_version.secret_retrieval_direct[0]: Closing...
        module.secret_management.ephemeral.playground_secret_version.secret_retrieval_direct[0]: Closing complete
        Apply: 1 to add, 0 to change, 0 to destroy
    "#]]
    .assert_eq(&log.replace(parameter.trim_end_matches("\"]"), "ARN"));
    let state = state_file(&read.state);
    assert!(!finds(&state, "canary-access") && !finds(&state, "canary-secret"));
    assert!(!read.plan().plan.is_applyable, "a second plan has nothing to do");
    assert!(
        read.received("configured", "canary-access")
            && read.received("configured", "canary-secret")
    );
    read.mode = state::PlanMode::Destroy;
    assert_eq!(summaries(&read.apply()), "");
    assert!(read.state.is_empty());
}
