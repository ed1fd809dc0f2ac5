//! Samples for tests: a plan with a value in every field, and its parts.

use addr::{ProviderConfigRef, parse_resource_instance, parse_target};
use sorted::TreeMap;
use values::{Mark, Path, Type, Value};

use crate::checks::{CheckKind, CheckObject, CheckResult, CheckStatus};
use crate::plan::file::{ConfigSnapshot, ModuleSource, PlanFile, TempEntry, TempKind};
use crate::plan::model::{
    Action, BackendRecord, Change, EphemeralPlan, Importing, OutputChange, Plan, PlanMode,
    PlannedFile, PlannedFiles, Reason, RelevantAttribute, ResourceChange, StateIdentity,
};
use crate::resources::{DeposedKey, StateFile};

pub(crate) const PROGRAM: &str = "mayfly 0.1.0";

pub(crate) fn plan() -> Plan {
    let target = |text| parse_target(text).expect("an address");
    Plan {
        id: "5a0d0f4e-0000-4000-8000-000000000001".to_owned(),
        timestamp: "2026-01-02T03:04:05Z".to_owned(),
        made_by: PROGRAM.to_owned(),
        mode: PlanMode::Normal,
        is_applyable: true,
        has_errors: false,
        variables: TreeMap::from([
            ("region".into(), Value::string("eu")),
            ("token".into(), Value::string("s").with_mark(Mark::Sensitive)),
            ("any".into(), Value::null(Type::Dynamic)),
        ]),
        ephemeral_variables: ["password".into()].into(),
        resource_changes: vec![
            change("module.m[\"a.b\"].t.n[0]").into(),
            change("t.x[\"k\"]").into(),
            deposed("t.x[\"k\"]").into(),
        ],
        resource_drift: vec![change("t.y").into()],
        ephemerals: vec![EphemeralPlan {
            addr: parse_resource_instance("ephemeral.vault.token").expect("an address"),
        }],
        output_changes: TreeMap::from([("o".into(), output())]),
        checks: vec![check()],
        relevant_attributes: vec![RelevantAttribute {
            resource: parse_resource_instance("t.n[1]").expect("an address"),
            attribute: Path::root().attr("list").index(Value::int(0)),
        }],
        targets: vec![target("module.m"), target("t.n[1]")],
        excludes: vec![target("t.q")],
        force_replace: vec![parse_resource_instance("t.n[1]").expect("an address")],
        backend: BackendRecord {
            type_name: "local".to_owned(),
            config: Value::object_from([("path", Value::string("terraform.tfstate"))]),
            workspace: "default".to_owned(),
        },
        prior_state: StateIdentity { lineage: "l".to_owned(), serial: 7 },
        root_dir: ".".to_owned(),
        data_dir: ".terraform".to_owned(),
        files: PlannedFiles {
            key: vec![7; 32],
            read: TreeMap::from([
                ("a.txt".to_owned(), PlannedFile::Content([9; 32])),
                ("b.txt".to_owned(), PlannedFile::Exists),
                ("../c.txt".to_owned(), PlannedFile::Missing),
            ]),
        },
    }
}

pub(crate) fn change(addr: &str) -> ResourceChange {
    let secret = || Value::string("s").with_mark(Mark::Sensitive);
    ResourceChange {
        addr: parse_resource_instance(addr).expect("an address"),
        previous_addr: Some(Box::new(parse_resource_instance("t.old").expect("an address"))),
        deposed: None,
        provider: ProviderConfigRef::parse("provider[\"terraform.io/builtin/terraform\"].a")
            .expect("an address")
            .into(),
        change: Change {
            action: Action::CreateThenDelete,
            before: Value::object_from([
                ("id", Value::string("1")),
                ("list", Value::tuple(vec![])),
            ]),
            after: Value::object_from([
                ("id", Value::unknown(Type::String).refined_not_null()),
                ("list", Value::tuple(vec![secret(), Value::dynamic()])),
            ]),
            importing: Some(Box::new(Importing::Id("i-1".to_owned()))),
            generated_config: "resource \"t\" \"n\" {}".to_owned(),
            before_identity: Some(Value::object_from([("account", Value::int(1))])),
            after_identity: None,
        },
        private: b"private"[..].into(),
        required_replace: vec![Path::root().attr("list").index(Value::int(1))],
        reason: Some(Reason::ReplaceBecauseCannotUpdate),
    }
}

fn deposed(addr: &str) -> ResourceChange {
    let it = change(addr);
    let deposed = Some(DeposedKey::from_random(0xfeed));
    ResourceChange { deposed, change: Change { action: Action::Delete, ..it.change }, ..it }
}

fn output() -> OutputChange {
    OutputChange {
        action: Action::Update,
        before: Value::int(1),
        after: Value::unknown(Type::Number),
        sensitive: true,
    }
}

fn check() -> CheckResult {
    let object = CheckObject {
        addr: "check.c".to_owned(),
        status: CheckStatus::Fail,
        failure_messages: vec!["no".to_owned()],
    };
    CheckResult {
        kind: CheckKind::Check,
        config_addr: "check.c".to_owned(),
        status: CheckStatus::Fail,
        objects: vec![object],
    }
}

pub(crate) fn file() -> PlanFile {
    let module = |source: &str, dir: &str| ModuleSource {
        source: source.to_owned(),
        version: (!source.is_empty()).then(|| "1.2.3".to_owned()),
        dir: dir.to_owned(),
        files: TreeMap::from([("main.tf".to_owned(), b"locals {}\n".to_vec())]),
    };
    let modules = [(String::new(), module("", ".")), ("a.b".to_owned(), module("./b", "a/b"))];
    let state = StateFile {
        written_by: Some(addr::Version::parse(crate::WRITTEN_VERSION).expect("a version")),
        ..StateFile::new("l".to_owned())
    };
    PlanFile {
        plan: plan(),
        prior_state: state.clone(),
        previous_state: state,
        locks: b"# locks\n".to_vec(),
        config: ConfigSnapshot { modules: modules.into() },
        temp: vec![
            temp("0123/bin/tool", true),
            TempEntry {
                path: "0123/latest".to_owned(),
                kind: TempKind::Symlink { target: "bin/tool".to_owned() },
            },
            temp("4567/a.zip", false),
        ],
    }
}

pub(crate) fn temp(path: &str, is_executable: bool) -> TempEntry {
    let kind = TempKind::File { is_executable, content: b"content".to_vec() };
    TempEntry { path: path.to_owned(), kind }
}
