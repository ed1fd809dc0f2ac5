//! The answer to a question, as data.

use state::{Action, PlanMode};

use crate::place::Place;

/// A fact about one subject, with the findings that it follows from.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The address of the subject: an object, an attribute, `module.a.var.x`, `local.x`, `output.x`, `count`.
    pub subject: String,
    /// The fact.
    pub fact: Fact,
    /// The place in the configuration that the fact is about.
    pub place: Option<Place>,
    /// The causes. Empty for a root cause.
    pub because: Vec<Finding>,
    /// The number of further causes that are left out.
    pub more: usize,
}

/// A fact about a subject. Values are texts that hold no secret.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// An object has a planned action.
    Planned {
        /// The action.
        action: Action,
        /// The key of the object, if it is deposed.
        deposed: Option<String>,
    },
    /// An object is at another address in the state.
    Moved {
        /// The address in the state.
        from: String,
    },
    /// An object exists already, and is taken into the state.
    Imported {
        /// The identification; `None` for an identity of several attributes.
        id: Option<String>,
    },
    /// An object or value is declared, and the state does not have it yet.
    IsNew,
    /// Attributes that differ are ignored by `ignore_changes`.
    Ignored,
    /// The replaced object ends after the new one is created.
    CreatedFirst {
        /// True if a dependent requires it, and not the block itself.
        for_dependent: bool,
    },
    /// A dependent is created before its old object is destroyed, and so are its dependencies.
    SpreadsOrder {
        /// The dependency.
        to: String,
        /// True if the block of the dependent has `create_before_destroy`.
        has_setting: bool,
    },
    /// The plan leaves out an object or output.
    NotPlanned,
    /// `-target` or `-exclude` leaves out an object or output.
    LeftOut {
        /// The reason.
        by: Limit,
        /// The addresses of the option, shortened; for [`Limit::Excluded`] only the one that excludes the subject.
        addresses: String,
    },
    /// A value differs from the one in the state.
    Changes {
        /// The value in the state.
        before: String,
        /// The planned value.
        after: String,
    },
    /// A value differs from the one in the state, which cannot be done in place.
    ForcesReplacement {
        /// The value in the state.
        before: String,
        /// The planned value.
        after: String,
    },
    /// A write-only attribute requires a replacement. Its values cannot be compared.
    WriteOnlyForces,
    /// Only the sensitivity of a value changes.
    SensitivityChanges,
    /// A value is known only after apply.
    Unknown,
    /// A value of the configuration or of an unchanged object.
    Is {
        /// The value.
        value: String,
    },
    /// The configuration has this value as a constant.
    Written {
        /// The value.
        value: String,
    },
    /// The value of a root module's variable.
    Given {
        /// The value.
        value: String,
        /// The origin of the value.
        by: ValueOrigin,
    },
    /// The configuration does not set an attribute.
    NotSet,
    /// A block has no object, because nothing declares this instance.
    NoInstance,
    /// The number of changes in a module.
    Module {
        /// The number of objects that change.
        changes: usize,
    },
    /// The provider computes a value.
    Computed(Computed),
    /// An object was changed outside of Mayfly.
    ChangedOutside {
        /// The value that was stored.
        before: String,
        /// The value that the provider has read.
        after: String,
    },
    /// An object was deleted outside of Mayfly.
    DeletedOutside,
    /// The creation of an object did not complete, or `taint` has marked it.
    Tainted,
    /// The option `-replace` names the object.
    ReplaceRequested,
    /// A reference in `replace_triggered_by` changes.
    Triggered,
    /// The plan destroys everything.
    DestroyMode(PlanMode),
    /// No block declares an object.
    NoBlock,
    /// No call leads to a module.
    NoModule,
    /// A `removed` block ends an object.
    RemovedBlock {
        /// True if the object is destroyed.
        destroy: bool,
    },
    /// A `moved` block names a target that is not declared.
    NoMoveTarget,
    /// A `moved` block leads to this address.
    MovedBlock,
    /// An instance exists, or not, because of `count`, `for_each` or `enabled`.
    Instances {
        /// The argument.
        by: Switch,
        /// Its value.
        value: String,
        /// True if the instance is among those that it declares.
        includes: bool,
        /// The key of the instance.
        key: String,
    },
    /// The keys of an instance do not fit its block, which has another kind of repetition now.
    WrongRepetition,
    /// An earlier replacement could not destroy the old object.
    LeftBehind,
    /// `lifecycle { destroy = false }` keeps the object.
    KeptByLifecycle {
        /// True if only the state has the setting.
        in_state: bool,
    },
    /// A data source is read during apply.
    ReadAtApply(Order),
    /// A value is ephemeral.
    Ephemeral,
    /// A value is sensitive.
    Sensitive,
    /// The schema or the declaration makes a value sensitive.
    DeclaredSensitive,
    /// The declaration makes a value ephemeral.
    DeclaredEphemeral,
    /// An attribute is write-only.
    WriteOnly,
    /// The subject is explained further up in the same answer.
    Seen,
}

/// The origin of a variable's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueOrigin {
    /// `-var`
    CommandLine,
    /// `TF_VAR_NAME`
    Environment,
    /// A variables file.
    File,
    /// An answer to a question.
    Prompt,
    /// The plan file, which does not record the origin.
    PlanFile,
    /// The default of the declaration.
    Default,
    /// Nothing: the run has no value.
    Nothing,
}

/// The reason for which a limited plan leaves something out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// No target needs it.
    NoTarget,
    /// `-exclude` names it.
    Excluded,
    /// It depends on something that `-exclude` names.
    DependsOnExcluded,
}

/// The occasion on which a provider computes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Computed {
    /// The object is created.
    AtCreation,
    /// The object is replaced.
    AtReplacement,
    /// The object is updated.
    AtUpdate,
    /// A data source is read.
    AtRead,
    /// An ephemeral resource is opened.
    AtOpening,
    /// The provider has planned the value.
    AtPlan,
}

/// The reason for which a data source waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Its configuration is unknown.
    UnknownConfiguration,
    /// A dependency has a pending change.
    PendingDependency,
    /// It belongs to a `check` block.
    InCheck,
}

/// An argument that makes instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// `count`
    Count,
    /// `for_each`
    ForEach,
    /// `lifecycle { enabled }`
    Enabled,
}

impl Finding {
    /// A finding without causes.
    pub(crate) fn root(
        subject: impl Into<String>,
        fact: Fact,
        place: impl Into<Option<Place>>,
    ) -> Finding {
        let place = place.into();
        Finding { subject: subject.into(), fact, place, because: Vec::new(), more: 0 }
    }

    /// The finding with its causes.
    pub(crate) fn because(self, causes: impl IntoIterator<Item = Finding>) -> Finding {
        let mut because = self.because;
        because.extend(causes);
        Finding { because, ..self }
    }

    /// The sentence of the finding, without its causes and without a period.
    pub fn text(&self) -> String {
        self.with_subject(&self.subject)
    }

    /// The sentence of the finding below another one. Names its subject relative to that of the other one.
    pub fn text_below(&self, outer: &str) -> String {
        match self.subject.strip_prefix(outer) {
            Some("") => self.with_subject("it"),
            Some(rest) if rest.starts_with('.') => self.with_subject(&rest[1..]),
            _ => self.text(),
        }
    }

    fn with_subject(&self, subject: &str) -> String {
        match self.fact.predicate() {
            Predicate::OfSubject(text) => format!("{subject} {text}"),
            Predicate::Sentence(text) => text,
        }
    }

    /// The causes in one line: the first one and its root, and the number of the others. `None` if there is none.
    fn summary(&self) -> Option<String> {
        let first = self.because.first()?;
        let root = first.first_chain().last().filter(|it| !std::ptr::eq(*it, first));
        let root = root.map(|it| format!(" <- {}", it.text_below(&self.subject)));
        let others = self.because.len() - 1 + self.more;
        let others = (others > 0).then(|| format!(" (and {others} more)"));
        let first = first.text_below(&self.subject);
        Some(first + root.as_deref().unwrap_or_default() + others.as_deref().unwrap_or_default())
    }

    /// The causes in one line. A finding without causes is its own cause: "it does not change".
    pub fn short(&self) -> String {
        self.summary().unwrap_or_else(|| self.text_below(&self.subject))
    }

    /// The key of the object that an action is planned for, if it is deposed.
    pub fn deposed(&self) -> Option<&str> {
        match &self.fact {
            Fact::Planned { deposed, .. } => deposed.as_deref(),
            _ => None,
        }
    }

    /// The place of the root of the first cause, or the nearest place above it.
    pub fn root_place(&self) -> Option<&Place> {
        self.first_chain().filter_map(|it| it.place.as_ref()).last()
    }

    /// The address of the block of an object or output, in its module. `None` for other subjects.
    pub fn block(&self) -> Option<String> {
        let target = addr::parse_object_part(&self.subject).ok()?.object;
        match target {
            addr::Target::Module(_) => None,
            addr::Target::Resource(it) => Some(it.resource.to_string()),
            addr::Target::Instance(it) => Some(it.resource.to_string()),
        }
    }

    /// The finding and the first cause of each, down to a root cause.
    pub fn first_chain(&self) -> impl Iterator<Item = &Finding> {
        std::iter::successors(Some(self), |it| it.because.first())
    }

    /// The number of findings in the answer.
    pub fn count(&self) -> usize {
        1 + self.because.iter().map(Finding::count).sum::<usize>()
    }
}

enum Predicate {
    OfSubject(String),
    Sentence(String),
}

impl Fact {
    /// A stable word for the fact, for JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Fact::Planned { .. } => "planned",
            Fact::Moved { .. } => "moved",
            Fact::Imported { .. } => "imported",
            Fact::IsNew => "new",
            Fact::Ignored => "ignored",
            Fact::CreatedFirst { .. } => "create_before_destroy",
            Fact::SpreadsOrder { .. } => "spreads_create_before_destroy",
            Fact::NotPlanned => "not_planned",
            Fact::LeftOut { .. } => "left_out",
            Fact::Changes { .. } => "changes",
            Fact::ForcesReplacement { .. } => "forces_replacement",
            Fact::WriteOnlyForces => "write_only_forces_replacement",
            Fact::SensitivityChanges => "sensitivity_changes",
            Fact::Unknown => "unknown",
            Fact::Is { .. } => "value",
            Fact::Written { .. } => "written",
            Fact::Given { .. } => "variable",
            Fact::NotSet => "not_set",
            Fact::NoInstance => "no_instance",
            Fact::Module { .. } => "module",
            Fact::Computed(_) => "computed",
            Fact::ChangedOutside { .. } => "changed_outside",
            Fact::DeletedOutside => "deleted_outside",
            Fact::Tainted => "tainted",
            Fact::ReplaceRequested => "replace_requested",
            Fact::Triggered => "replace_triggered",
            Fact::DestroyMode(_) => "destroy_mode",
            Fact::NoBlock => "no_block",
            Fact::NoModule => "no_module",
            Fact::RemovedBlock { .. } => "removed_block",
            Fact::NoMoveTarget => "no_move_target",
            Fact::MovedBlock => "moved_block",
            Fact::Instances { .. } => "instances",
            Fact::WrongRepetition => "wrong_repetition",
            Fact::LeftBehind => "left_behind",
            Fact::KeptByLifecycle { .. } => "kept_by_lifecycle",
            Fact::ReadAtApply(_) => "read_at_apply",
            Fact::Ephemeral => "ephemeral",
            Fact::Sensitive => "sensitive",
            Fact::DeclaredSensitive => "declared_sensitive",
            Fact::DeclaredEphemeral => "declared_ephemeral",
            Fact::WriteOnly => "write_only",
            Fact::Seen => "seen",
        }
    }

    fn predicate(&self) -> Predicate {
        match self.of_object().or_else(|| self.of_end()) {
            Some(text) => Predicate::OfSubject(text),
            None => self.of_value(),
        }
    }

    fn of_object(&self) -> Option<String> {
        Some(match self {
            Fact::Planned { action, deposed } => planned_text(*action, deposed.as_deref()),
            Fact::Moved { from } => format!("moves from {from}"),
            Fact::Imported { id: Some(id) } => format!("is imported with the ID {id}"),
            Fact::Imported { id: None } => "is imported".to_owned(),
            Fact::IsNew => "is declared, and not in the state".to_owned(),
            Fact::Ignored => {
                "differs from the configuration, which lifecycle.ignore_changes ignores".to_owned()
            }
            Fact::CreatedFirst { for_dependent: false } => {
                "is created before its old object is destroyed (create_before_destroy)".to_owned()
            }
            Fact::CreatedFirst { for_dependent: true } => {
                "is created before its old object is destroyed, for the sake of a dependent"
                    .to_owned()
            }
            Fact::SpreadsOrder { to, has_setting: true } => {
                format!("depends on {to}, and has create_before_destroy")
            }
            Fact::SpreadsOrder { to, has_setting: false } => format!("depends on {to}"),
            Fact::NotPlanned => "is not part of the plan".to_owned(),
            Fact::LeftOut { by, addresses } => by.text(addresses),
            Fact::DeletedOutside => "was deleted outside of Mayfly".to_owned(),
            Fact::Tainted => "is tainted, so its object cannot be kept".to_owned(),
            Fact::ReplaceRequested => "is named by the option -replace".to_owned(),
            Fact::Triggered => "changes, and lifecycle.replace_triggered_by names it".to_owned(),
            Fact::ReadAtApply(Order::UnknownConfiguration) => {
                "has arguments that are known only after apply".to_owned()
            }
            Fact::ReadAtApply(Order::PendingDependency) => {
                "depends on objects that change".to_owned()
            }
            Fact::ReadAtApply(Order::InCheck) => {
                "belongs to a check block, and is read again after the changes".to_owned()
            }
            _ => return None,
        })
    }

    fn of_end(&self) -> Option<String> {
        Some(match self {
            Fact::NoBlock => "is not declared by any block".to_owned(),
            Fact::NoModule => "is not called".to_owned(),
            Fact::NoInstance => "has no object".to_owned(),
            Fact::RemovedBlock { destroy: true } => "is ended by a removed block".to_owned(),
            Fact::RemovedBlock { destroy: false } => {
                "is ended by a removed block with destroy = false".to_owned()
            }
            Fact::NoMoveTarget => "is the target of a moved block, but is not declared".to_owned(),
            Fact::MovedBlock => "is the target of a moved block".to_owned(),
            Fact::WrongRepetition => {
                "has a key that does not fit to the count or for_each of its block".to_owned()
            }
            Fact::LeftBehind => {
                "was left behind by an earlier replacement that did not complete".to_owned()
            }
            Fact::KeptByLifecycle { in_state: false } => {
                "has lifecycle.destroy = false, so its object is not destroyed".to_owned()
            }
            Fact::KeptByLifecycle { in_state: true } => {
                "had lifecycle.destroy = false when it was last changed, so its object is not \
                 destroyed"
                    .to_owned()
            }
            Fact::Instances { by, value, includes, key } => {
                instances_text(*by, value, *includes, key)
            }
            _ => return None,
        })
    }

    fn of_value(&self) -> Predicate {
        Predicate::OfSubject(match self {
            Fact::Changes { before, after } => format!("changes from {before} to {after}"),
            Fact::ForcesReplacement { before, after } => {
                format!("changes from {before} to {after}, which forces replacement")
            }
            Fact::WriteOnlyForces => {
                "is write-only, and its provider asks for a replacement".to_owned()
            }
            Fact::SensitivityChanges => "changes only in what is sensitive".to_owned(),
            Fact::Unknown => "is known only after apply".to_owned(),
            Fact::Is { value } => format!("is {value}"),
            Fact::Written { value } => {
                return Predicate::Sentence(format!("the configuration has the value {value}"));
            }
            Fact::Given { value, by } => format!("is {value}, {}", by.text()),
            Fact::NotSet => "is not set by the configuration".to_owned(),
            Fact::Module { changes: 0 } => "has no changes".to_owned(),
            Fact::Module { changes: 1 } => "has 1 change".to_owned(),
            Fact::Module { changes } => format!("has {changes} changes"),
            Fact::Computed(when) => when.text().to_owned(),
            Fact::ChangedOutside { before, after } => {
                format!("was changed outside of Mayfly from {before} to {after}")
            }
            Fact::DestroyMode(_) => {
                return Predicate::Sentence("the plan destroys all objects".to_owned());
            }
            Fact::Ephemeral => "is ephemeral".to_owned(),
            Fact::Sensitive => "is sensitive".to_owned(),
            Fact::DeclaredSensitive => "is declared as sensitive".to_owned(),
            Fact::DeclaredEphemeral => "is declared as ephemeral".to_owned(),
            Fact::WriteOnly => "is write-only: its value is in no plan and no state".to_owned(),
            _ => "is explained above".to_owned(),
        })
    }
}

impl Limit {
    fn text(self, addresses: &str) -> String {
        match self {
            Limit::NoTarget => format!("is not needed for the targets (-target of {addresses})"),
            Limit::Excluded => format!("is excluded by -exclude of {addresses}"),
            Limit::DependsOnExcluded => {
                format!("depends on what is excluded (-exclude of {addresses})")
            }
        }
    }
}

fn planned_text(action: Action, deposed: Option<&str>) -> String {
    let text = match action {
        Action::NoOp => "does not change",
        Action::Create => "will be created",
        Action::Read => "will be read during apply",
        Action::Update => "will be updated in-place",
        Action::Delete => "will be destroyed",
        Action::DeleteThenCreate => "must be replaced",
        Action::CreateThenDelete => "must be replaced (the new object is created first)",
        Action::Forget => "will no longer be managed",
        Action::ForgetThenCreate => "must be replaced (the old object is kept, unmanaged)",
    };
    match deposed {
        Some(key) => format!("(deposed object {key}) {text}"),
        None => text.to_owned(),
    }
}

fn instances_text(by: Switch, value: &str, includes: bool, key: &str) -> String {
    match (by, includes) {
        (Switch::Count, true) => format!("is {value}, which includes the index {key}"),
        (Switch::Count, false) if key.is_empty() => format!("is {value}"),
        (Switch::Count, false) => format!("is {value}, which does not include the index {key}"),
        (Switch::ForEach, false) if key.is_empty() => format!("is {value}"),
        (Switch::ForEach, true) => format!("has the key {key}"),
        (Switch::ForEach, false) => format!("is {value}, without the key {key}"),
        (Switch::Enabled, _) => format!("is {value}"),
    }
}

impl ValueOrigin {
    /// A stable word, for JSON.
    pub fn word(self) -> &'static str {
        match self {
            ValueOrigin::CommandLine => "command_line",
            ValueOrigin::Environment => "environment",
            ValueOrigin::File => "file",
            ValueOrigin::Prompt => "prompt",
            ValueOrigin::PlanFile => "plan_file",
            ValueOrigin::Default => "default",
            ValueOrigin::Nothing => "none",
        }
    }

    fn text(self) -> &'static str {
        match self {
            ValueOrigin::CommandLine => "set by -var",
            ValueOrigin::Environment => "set by its TF_VAR_ environment variable",
            ValueOrigin::File => "set in a variables file",
            ValueOrigin::Prompt => "entered at the prompt",
            ValueOrigin::PlanFile => "set when the plan was made",
            ValueOrigin::Default => "its default",
            ValueOrigin::Nothing => "which no one has set",
        }
    }
}

impl Computed {
    fn text(self) -> &'static str {
        match self {
            Computed::AtCreation => "is computed by the provider when it creates the object",
            Computed::AtReplacement => "is computed by the provider when it creates the new object",
            Computed::AtUpdate => "may change when the provider updates the object",
            Computed::AtRead => "is read during apply",
            Computed::AtOpening => "is opened anew in each run",
            Computed::AtPlan => "is set by the provider, not by the configuration",
        }
    }
}

impl Switch {
    /// The name of the argument.
    pub fn name(self) -> &'static str {
        match self {
            Switch::Count => "count",
            Switch::ForEach => "for_each",
            Switch::Enabled => "enabled",
        }
    }
}
