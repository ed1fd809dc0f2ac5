//! `provisioner` and `connection` blocks: checks against the schemas of the provisioners.

use db::{Rule, Severity, Summary};
use provider::Block as SchemaBlock;
use values::Value;

use crate::{
    analysis::{
        body::{BodyInfer, Persistence, without_schema},
        infer::Infer,
        problem::ItemProblem,
    },
    expr::NodeId,
    fix::Fix,
    item::{Attr, Block, Body, Provisioner},
    provisioner::{self, MISSING_CONNECTION, ProvisionerSchemas, WINRM, merged_connection},
    suggest,
};

/// Infers provisioners and the connections that they use.
pub(super) fn infer(
    infer: &mut Infer<'_>,
    plugins: &ProvisionerSchemas,
    provisioners: &[Provisioner],
    connection: Option<&Block>,
) {
    let before = infer.problems.len();
    for provisioner in provisioners {
        arguments(infer, plugins, provisioner);
        let own = provisioner.connection.as_ref();
        self::connection(infer, connection, own);
        let is_builtin = !plugins.contains_key(&provisioner.kind);
        if is_builtin && provisioner::connects(&provisioner.kind) {
            if connection.is_none() && own.is_none() {
                let at = provisioner.node.into();
                let summary = Summary::MISSING_CONNECTION;
                infer.problems.push(ItemProblem::new(at, summary, MISSING_CONNECTION));
            }
            connection_values(infer, connection, own);
        }
    }
    match connection {
        // OpenTofu does not read a connection without provisioners, so only its references are checked.
        Some(unused) if provisioners.is_empty() => without_schema(infer, &unused.body),
        _ => {}
    }
    // A problem of the common connection is found once for each provisioner that uses it. Report it once.
    let mut found: Vec<ItemProblem> = Vec::new();
    for problem in infer.problems.split_off(before) {
        if !found.contains(&problem) {
            found.push(problem);
        }
    }
    infer.problems.append(&mut found);
}

fn arguments(infer: &mut Infer<'_>, plugins: &ProvisionerSchemas, provisioner: &Provisioner) {
    let Some(schema) = provisioner::schema_of(&provisioner.kind, plugins) else {
        without_schema(infer, &provisioner.body);
        if !plugins.contains_key(&provisioner.kind) {
            infer.problems.push(missing(plugins, provisioner));
        }
        return;
    };
    against(infer, &provisioner.body, schema, provisioner.node);
    if plugins.contains_key(&provisioner.kind) {
        return;
    }
    if let Some((summary, detail)) = contradiction(infer, provisioner) {
        infer.problems.push(ItemProblem::new(provisioner.node.into(), summary, detail));
    }
}

/// Checks a body against a schema. The body may be ephemeral, because the arguments of a provisioner are never
/// stored.
fn against(infer: &mut Infer<'_>, body: &Body, schema: &SchemaBlock, header: NodeId) {
    BodyInfer { infer, persistence: Persistence::Ephemeral, enclosing: None }
        .block(body, schema, header);
}

fn missing(plugins: &ProvisionerSchemas, provisioner: &Provisioner) -> ItemProblem {
    let kind = &provisioner.kind;
    let known = provisioner::KINDS.into_iter().chain(plugins.keys().map(|it| &**it));
    let close = suggest::closest(kind, known);
    let hint = suggest::question(close);
    let detail = format!(
        "There is no provisioner \"{kind}\", and no plugin terraform-provisioner-{kind} was found. Built-in \
         provisioners are local-exec, remote-exec and file. \"init\" installs no provisioners: put the program into \
         the directory terraform.d/plugins or ~/.terraform.d/plugins.{hint}"
    );
    ItemProblem::new(provisioner.node.into(), Summary::MISSING_PROVISIONER, detail)
        .fixed_by(Fix::last(kind, close))
}

/// The error for a provisioner that sets none or several of its alternative arguments. `None` if exactly one is
/// set.
fn contradiction(
    infer: &mut Infer<'_>,
    provisioner: &Provisioner,
) -> Option<(Summary, &'static str)> {
    let (names, none, several, detail) = match &*provisioner.kind {
        "file" => (
            &["source", "content"][..],
            Summary::FILE_WITHOUT_SOURCE,
            Summary::FILE_WITH_TWO_SOURCES,
            "The provisioner copies a file or a directory of this computer (\"source\"), or a text (\"content\").",
        ),
        "remote-exec" => (
            &["inline", "script", "scripts"][..],
            Summary::INVALID_REMOTE_EXEC,
            Summary::INVALID_REMOTE_EXEC,
            "Only one of \"inline\", \"script\", or \"scripts\" must be set",
        ),
        _ => return None,
    };
    let written = provisioner.body.attrs.iter().filter(|it| names.contains(&&*it.name));
    let mut set = 0;
    for attr in written {
        let value = infer.expr(attr.value);
        let is_null = value.constant.is_some_and(|it| it.0.is_null());
        set += usize::from(!is_null);
    }
    match set {
        0 => Some((none, detail)),
        1 => None,
        _ => Some((several, detail)),
    }
}

/// Checks the connection of one provisioner: its own arguments, and those of `outer` that it does not override.
fn connection(infer: &mut Infer<'_>, outer: Option<&Block>, own: Option<&Block>) {
    let schema = provisioner::connection();
    let (outer, own) = match (outer, own) {
        (None, None) => return,
        (Some(only), None) | (None, Some(only)) => {
            return against(infer, &only.body, schema, only.node);
        }
        (Some(outer), Some(own)) => (outer, own),
    };
    let before = infer.problems.len();
    against(infer, &merged_connection(&outer.body, &own.body), schema, outer.node);
    // OpenTofu does not check for unexpected arguments if there are two blocks, and they have no effect.
    for problem in &mut infer.problems[before..] {
        if [Rule::UnsupportedArgument, Rule::UnsupportedBlock].contains(&problem.id()) {
            problem.summary = problem.summary.clone().at_most(Severity::Warning);
        }
    }
}

/// Reports problems that OpenTofu finds when it opens the connection, as far as they are certain before.
fn connection_values(infer: &mut Infer<'_>, outer: Option<&Block>, own: Option<&Block>) {
    let body = match (outer, own) {
        (Some(outer), Some(own)) => merged_connection(&outer.body, &own.body),
        (Some(only), None) | (None, Some(only)) => only.body.clone(),
        (None, None) => return,
    };
    let constant = |infer: &mut Infer<'_>, name: &str| {
        let attr = body.attrs.iter().find(|it| &*it.name == name)?;
        Some(infer.expr(attr.value).constant?.0.clone())
    };
    let is_written = |name: &str| body.attrs.iter().any(|it| &*it.name == name);
    let kind = constant(infer, "type").map(|it| it.without_all_marks());
    if kind.as_ref().and_then(Value::as_str) == Some("winrm") {
        let attr = body.attrs.iter().find(|it| &*it.name == "type");
        let problem =
            |attr: &Attr| ItemProblem::new(attr.value.into(), Summary::WINRM_CONNECTION, WINRM);
        infer.problems.extend(attr.map(problem));
        return;
    }
    let faults = infer.faults();
    for attr in &body.attrs {
        if infer.is_faulty(attr.value, &faults) {
            continue;
        }
        let Some(value) = constant(infer, &attr.name) else { continue };
        if &*attr.name == "proxy_scheme" && !is_written("proxy_host") {
            continue;
        }
        infer.problems.extend(text_problem(attr, &value));
    }
}

fn text_problem(attr: &Attr, value: &Value) -> Option<ItemProblem> {
    let is_secret = value.has_deep_secret();
    let value = value.without_all_marks();
    let invalid = match provisioner::is_port(&attr.name) {
        true => provisioner::check_port(&value),
        false => provisioner::check_connection_text(&attr.name, value.as_str()?),
    }?;
    let text = value.as_str().filter(|_| !is_secret).unwrap_or_default();
    let close = suggest::closest(text, invalid.words.iter().copied());
    let hint = suggest::question(close);
    let detail =
        format!("The \"{}\" of this connection cannot be used: {}.{hint}", attr.name, invalid.why);
    let summary = match invalid.is_ignored {
        true => Summary::IGNORED_CONNECTION,
        false => Summary::INVALID_CONNECTION,
    };
    let problem = ItemProblem::new(attr.value.into(), summary, detail);
    Some(problem.fixed_by(Fix::last(text, close)))
}
