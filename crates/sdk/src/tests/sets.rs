//! Tests of plans of objects in sets, which have no place but their value.

use expect_test::{Expect, expect};

use super::{echo::Echo, shown};
use crate::{Model, Set};

#[derive(Model)]
struct Firewall {
    #[block]
    rule: Set<Rule>,
    port: Option<Set<Port>>,
}

#[derive(Model)]
struct Rule {
    name: String,
    #[attribute(default = 1)]
    weight: i64,
    #[attribute(optional, computed)]
    port: Option<i64>,
    #[attribute(computed, keeps_state)]
    rule_id: Option<String>,
}

#[derive(Model)]
struct Port {
    #[attribute(default = "tcp")]
    protocol: String,
    number: i64,
}

async fn check(prior: &str, config: &str, expected: Expect) {
    let planned = Echo::<Firewall>::plan(prior, config).await;
    expected.assert_eq(&shown(&planned.planned_state.expect("is planned")));
}

#[tokio::test]
async fn configured_values_in_a_set_stay_beside_defaults() {
    let config = r#"{"rule": [{"name": "a", "port": 80}, {"name": "b", "weight": 5}],
        "port": [{"number": 1}, {"number": 2, "protocol": "udp"}]}"#;
    let planned = expect![[
        r#"{port=[{number=1, protocol="tcp"}, {number=2, protocol="udp"}], rule=[{name="a", port=80, rule_id=?, weight=1}, {name="b", port=?, rule_id=?, weight=5}]}"#
    ]];
    check("null", config, planned).await;
}

#[tokio::test]
async fn configured_values_in_a_set_stay_in_an_update() {
    let prior =
        r#"{"rule": [{"name": "a", "weight": 5, "port": 80, "rule_id": "r-1"}], "port": null}"#;
    let config = r#"{"rule": [{"name": "a", "weight": 5}, {"name": "b"}], "port": null}"#;
    let planned = expect![[
        r#"{rule=[{name="a", port=?, rule_id=?, weight=5}, {name="b", port=?, rule_id=?, weight=1}]}"#
    ]];
    check(prior, config, planned).await;
}
