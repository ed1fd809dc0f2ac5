//! `backend` and `cloud` blocks, which configure where state is stored.

use db::Summary;
use provider::Block as SchemaBlock;
use values::{Kind, Type, Value, convert};

use crate::{
    analysis::{
        body::{BodyInfer, Persistence, without_schema, wrong_type},
        env::ItemEnv,
        infer::Infer,
        items::static_body::{for_each_argument, not_known, refuse_dynamic_blocks},
        problem::{ItemProblem, not_supported},
        value::marks::Tri,
    },
    backends,
    fix::Fix,
    item::{Attr, Block, Body, Terraform},
    names::state_settings,
    statics::{self, static_error::Deferral},
    suggest, unsupported,
};

/// Checks the backend and cloud settings of a `terraform` block. A block that an override file replaces is not
/// checked.
pub(super) fn check(infer: &mut Infer<'_>, env: &ItemEnv<'_>, settings: &Terraform) {
    if env.directory != env.workspace.root(env.db) {
        infer.problems.extend(ignored(settings));
        return;
    }
    if state_settings(env.db, env.directory) != Some(env.key) {
        return;
    }
    for block in &settings.clouds {
        let state_block = StateBlock { env, block, kind: "cloud", subject: "cloud".to_owned() };
        state_block.check(infer, Some(backends::cloud()), Some(unsupported::cloud()));
    }
    let Some(block) = &settings.backend else { return };
    let kind = statics::backend_kind(block);
    let state_block = StateBlock { env, block, kind, subject: format!("backend.{kind}") };
    state_block.check(infer, backends::schema(kind), unsupported::backend(kind));
}

/// The warnings for backend settings of a module that is not the root module, where they have no effect.
fn ignored(settings: &Terraform) -> impl Iterator<Item = ItemProblem> {
    let backend = settings.backend.as_ref().map(|it| (it.node, Summary::IGNORED_BACKEND));
    let clouds = settings.clouds.iter().map(|it| (it.node, Summary::IGNORED_CLOUD));
    backend.into_iter().chain(clouds).map(|(node, summary)| {
        let detail = "The backend applies to the entire configuration, and is configured in the \
                      root module. In a called module, this block has no effect.";
        ItemProblem::new(node.into(), summary, detail)
    })
}

/// A block that configures where state is stored.
struct StateBlock<'i> {
    env: &'i ItemEnv<'i>,
    block: &'i Block,
    kind: &'i str,
    /// The name of the block in the form that OpenTofu's messages use.
    subject: String,
}

impl StateBlock<'_> {
    fn check(&self, infer: &mut Infer<'_>, schema: Option<&SchemaBlock>, lacking: Option<String>) {
        let Some(schema) = schema else {
            without_schema(infer, &self.block.body);
            self.secrets(infer, &self.block.body);
            infer.problems.push(unknown(self.block, self.kind));
            return;
        };
        let before = infer.problems.len();
        let body = self.block.body.fitted(schema);
        refuse_dynamic_blocks(infer, &body);
        BodyInfer { infer, persistence: Persistence::Ephemeral, enclosing: None }.block(
            &body,
            schema,
            self.block.node,
        );
        self.secrets(infer, &body);
        self.arguments(infer, &body, schema);
        self.exclusive(infer, &body);
        // Report an unsupported backend only if the block has no errors; those come first.
        let is_sound =
            !infer.problems[before..].iter().any(|it| it.severity() == db::Severity::Error);
        infer
            .problems
            .extend(lacking.filter(|_| is_sound).map(|what| not_supported(self.block.node, &what)));
    }

    /// Refuses ephemeral values: the configuration of a backend is written to `.terraform` and to plan files.
    fn secrets(&self, infer: &mut Infer<'_>, body: &Body) {
        for attr in &body.attrs {
            let value = infer.expr(attr.value);
            let certainty = value.deep_marks().ephemeral;
            if certainty > Tri::No {
                let problem = ItemProblem::new(
                    attr.value.into(),
                    Summary::EPHEMERAL_BACKEND,
                    "The backend configuration is stored in .terraform/terraform.tfstate as well \
                     as plan files. It is recommended to instead supply ephemeral credentials via \
                     backend specific environment variables",
                );
                let when = value.ephemeral.somewhere();
                let problem = problem.if_ephemeral(certainty, &when, value.origin.as_ref());
                infer.problems.push(problem);
            }
        }
        body.blocks.iter().for_each(|it| self.secrets(infer, &it.body));
    }

    /// Checks the values that the arguments have before a plan, including those of nested blocks.
    fn arguments(&self, infer: &mut Infer<'_>, body: &Body, schema: &SchemaBlock) {
        for_each_argument(infer, body, schema, &mut |infer, attr, attribute| {
            let found = match self.kind {
                "local" => self.local(attr),
                _ => self.other(attr, &attribute.decode_type()),
            };
            infer.problems.extend(found);
        });
    }

    /// Checks an argument of the `local` backend.
    fn local(&self, attr: &Attr) -> Option<ItemProblem> {
        match statics::local_argument(self.env.db, self.env.workspace, self.env.key, attr) {
            Ok(text) => text.filter(|it| it.is_empty()).map(|_| empty(attr)),
            Err(error) => error?.problem(),
        }
    }

    /// Checks an argument of a backend that this version does not support. A value that cannot be evaluated this
    /// early is not reported.
    fn other(&self, attr: &Attr, ty: &Type) -> Option<ItemProblem> {
        let env = self.env;
        let found =
            statics::backend_argument(env.db, env.workspace, env.key, attr.value, &self.subject);
        let value = match found {
            Ok(value) => value,
            Err(error) => {
                return error.filter(|it| it.deferral != Deferral::RuntimeFunction)?.problem();
            }
        };
        match convert::convert(&value, ty) {
            Ok(value) if !value.is_wholly_known() => Some(not_known(attr, &self.subject)),
            Ok(value) => self.text_problem(attr, &value),
            Err(error) => Some(wrong_type(attr, &error.to_string())),
        }
    }

    /// The error for a text that the backend does not accept.
    fn text_problem(&self, attr: &Attr, value: &Value) -> Option<ItemProblem> {
        let Kind::String(text) = value.kind() else { return None };
        let (summary, detail) = backends::text_problem(self.kind, &attr.name, text)?;
        Some(ItemProblem::new(attr.value.into(), summary, detail))
    }

    /// Refuses arguments that exclude each other.
    fn exclusive(&self, infer: &mut Infer<'_>, body: &Body) {
        let find =
            |body: &Body, name: &str| body.attrs.iter().find(|it| &*it.name == name).cloned();
        for (one, other) in backends::exclusive(self.kind) {
            if let (Some(one), Some(other)) = (find(body, one), find(body, other)) {
                let detail = format!("Only one of {} or {} can be set.", one.name, other.name);
                let summary = Summary::EXCLUSIVE_BACKEND_ARGUMENTS;
                refuse_both(infer, &one, &other, summary, detail);
            }
        }
        let second = if self.kind == "cloud" { "tags" } else { "prefix" };
        for workspaces in body.blocks.iter().filter(|it| &*it.kind == "workspaces") {
            let (name, other) = (find(&workspaces.body, "name"), find(&workspaces.body, second));
            if let (Some(name), Some(other)) = (name, other) {
                let detail = format!("Only one of workspace \"{second}\" or \"name\" is allowed.");
                let summary = Summary::EXCLUSIVE_WORKSPACE_ARGUMENTS;
                refuse_both(infer, &name, &other, summary, detail);
            }
        }
    }
}

/// Refuses the second of two arguments, unless one of them is certainly empty.
fn refuse_both(infer: &mut Infer<'_>, one: &Attr, other: &Attr, summary: Summary, detail: String) {
    let mut is_set = |attr: &Attr| {
        let constant = infer.expr(attr.value).constant.map(|it| it.0.without_all_marks());
        !constant.is_some_and(|it| it.is_null() || it.as_str() == Some(""))
    };
    if is_set(one) && is_set(other) {
        let problem = ItemProblem::new(other.node.into(), summary, detail);
        infer.problems.push(problem);
    }
}

/// The error for a backend type that does not exist, or does not exist any more.
fn unknown(backend: &Block, kind: &str) -> ItemProblem {
    let close = suggest::closest(kind, backends::KINDS);
    let detail = backends::removed(kind).unwrap_or_else(|| {
        let hint = suggest::question(close);
        format!("There is no backend type named \"{kind}\".{hint}")
    });
    let problem = ItemProblem::new(backend.node.into(), Summary::UNKNOWN_BACKEND, detail);
    problem.fixed_by(Fix::last(kind, close))
}

/// The error for an empty path of the `local` backend.
fn empty(attr: &Attr) -> ItemProblem {
    let (summary, detail) = match &*attr.name {
        "workspace_dir" => (
            Summary::EMPTY_WORKSPACE_DIR,
            "The \"workspace_dir\" attribute value must not be empty. Leave it out, and workspaces \
             are kept in terraform.tfstate.d.",
        ),
        _ => (
            Summary::EMPTY_STATE_PATH,
            "The \"path\" attribute value must not be empty. Leave it out, and the state is kept in terraform.tfstate.",
        ),
    };
    ItemProblem::new(attr.value.into(), summary, detail)
}
