//! Decodes a `provider_sandbox` block.

use std::path::PathBuf;

use addr::ProviderSource;
use sandbox::Ports;

use super::{ConfigProblem, expand::expand, pattern::ProviderPattern};
use crate::literal::{Item, Literal};

const SUMMARY: &str = "Invalid provider_sandbox block";

/// The settings of a `provider_sandbox` block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxRule {
    /// The providers that the block applies to. Empty for all.
    pub include: Vec<ProviderPattern>,
    /// The providers that the block does not apply to.
    pub exclude: Vec<ProviderPattern>,
    /// False if the providers run without a sandbox. `None` if the block does not say.
    pub is_enabled: Option<bool>,
    /// The files and directories that may be read. Relative paths are relative to the working directory.
    pub read: Vec<PathBuf>,
    /// The files and directories that may be written.
    pub write: Vec<PathBuf>,
    /// The TCP ports that connections may be opened to. `None` if the block does not say.
    pub connect: Option<Ports>,
    /// The TCP ports that may be listened on. `None` if the block does not say.
    pub bind: Option<Ports>,
    /// True if other programs may be started. `None` if the block does not say.
    pub processes: Option<bool>,
}

impl SandboxRule {
    /// Returns true if the block applies to a provider.
    #[must_use]
    pub fn applies_to(&self, source: &ProviderSource) -> bool {
        let matches = |patterns: &[ProviderPattern]| patterns.iter().any(|it| it.matches(source));
        (self.include.is_empty() || matches(&self.include)) && !matches(&self.exclude)
    }
}

/// Decodes a block of the file `name`. An invalid block is a problem as a whole, because its valid arguments alone
/// might permit more than the user wants.
pub(super) fn rule(
    item: &Item,
    name: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<SandboxRule, ConfigProblem> {
    let invalid = |place, cause: String| {
        ConfigProblem::error(SUMMARY, format!("In {name} at {place}: {cause}."))
    };
    let Some(body) = item.value.as_body().filter(|_| item.labels.is_empty()) else {
        let cause = "provider_sandbox must be a block without labels".to_owned();
        return Err(invalid(item.place, cause));
    };
    let mut rule = SandboxRule::default();
    for argument in body {
        if body.iter().filter(|it| it.name == argument.name).count() > 1 {
            return Err(invalid(argument.place, format!("{:?} is set twice", argument.name)));
        }
        set(&mut rule, argument, variable).map_err(|cause| invalid(argument.place, cause))?;
    }
    Ok(rule)
}

fn set(
    rule: &mut SandboxRule,
    argument: &Item,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(), String> {
    let Item { name, value, .. } = argument;
    match name.as_str() {
        "include" => {
            rule.include = patterns(name, value)?;
            if rule.include.is_empty() {
                return Err(
                    "\"include\" names no provider: add one, or leave out \"include\" for a \
                            block that applies to all"
                        .to_owned(),
                );
            }
        }
        "exclude" => rule.exclude = patterns(name, value)?,
        "enabled" => rule.is_enabled = Some(switch(name, value)?),
        "read" => rule.read = paths(name, value, variable)?,
        "write" => rule.write = paths(name, value, variable)?,
        "connect" => rule.connect = Some(ports(name, value)?),
        "bind" => rule.bind = Some(ports(name, value)?),
        "processes" => rule.processes = Some(switch(name, value)?),
        _ => {
            return Err(format!(
                "{name:?} is not an argument of this block, which may have \"include\", \
                 \"exclude\", \"enabled\", \"read\", \"write\", \"connect\", \"bind\" and \
                 \"processes\""
            ));
        }
    }
    Ok(())
}

fn switch(name: &str, value: &Literal) -> Result<bool, String> {
    match value {
        Literal::Bool(it) => Ok(*it),
        _ => Err(format!("{name:?} must be true or false")),
    }
}

fn patterns(name: &str, value: &Literal) -> Result<Vec<ProviderPattern>, String> {
    let texts = value.as_strings().ok_or_else(|| {
        format!("{name:?} must be a list of providers, such as [\"hashicorp/*\"]")
    })?;
    texts.into_iter().map(ProviderPattern::parse).collect()
}

fn paths(
    name: &str,
    value: &Literal,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<PathBuf>, String> {
    let texts = value
        .as_strings()
        .ok_or_else(|| format!("{name:?} must be a list of paths, such as [\"$HOME/.aws\"]"))?;
    texts.into_iter().map(|text| path(text, variable)).collect()
}

/// Expands a path. A variable that is not set is an error: without it, the path might be that of the whole system.
fn path(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<PathBuf, String> {
    if text.starts_with('~') {
        return Err(format!("{text:?} begins with \"~\", which is not expanded: write \"$HOME\""));
    }
    let unset = std::cell::RefCell::new(None);
    let set = |name: &str| {
        let value = variable(name).filter(|it| !it.is_empty());
        if value.is_none() {
            unset.replace(Some(name.to_owned()));
        }
        value
    };
    let expanded = expand(text, &set);
    match unset.take() {
        Some(name) => Err(format!("{text:?} names the variable {name:?}, which is not set")),
        None if expanded.is_empty() => Err("a path is empty".to_owned()),
        None => Ok(expanded.into()),
    }
}

fn ports(name: &str, value: &Literal) -> Result<Ports, String> {
    let invalid = || {
        format!("{name:?} must be a list of TCP ports from 1 to 65535, such as [443], or \"all\"")
    };
    let port = |it: &Literal| match it {
        Literal::Number(text) => text.parse().ok().filter(|it| *it > 0).ok_or_else(invalid),
        _ => Err(invalid()),
    };
    match value {
        Literal::List(ports) => ports.iter().map(port).collect::<Result<_, _>>().map(Ports::Only),
        Literal::String(text) if text == "all" => Ok(Ports::All),
        _ => Err(invalid()),
    }
}
