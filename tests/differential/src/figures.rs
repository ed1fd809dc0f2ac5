//! The statistics of a campaign.

use std::{collections::BTreeMap, fmt, time::Duration};

use crate::model::Case;

type Counts = BTreeMap<String, usize>;

#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) cases: usize,
    pub(crate) steps: usize,
    /// The number of cases with an explained difference, by rule.
    pub(crate) explained: Counts,
    /// The number of cases with an unexplained difference, by class.
    pub(crate) differences: Counts,
    commands: Counts,
    features: Counts,
    /// The number of steps, by exit code of the reference.
    pub(crate) exits: Counts,
    pub(crate) diagnostics: Counts,
}

impl Figures {
    pub(crate) fn add(&mut self, case: &Case, steps: usize) {
        self.cases += 1;
        self.steps += steps;
        for step in &case.steps[..steps] {
            let flags = step.command.iter().skip(1);
            let flags = flags
                .filter(|it| it.starts_with('-'))
                .map(|it| it.split('=').next().unwrap_or_default().to_owned());
            *self.commands.entry(step.command[0].clone()).or_default() += 1;
            for flag in flags.collect::<std::collections::BTreeSet<_>>() {
                *self.commands.entry(format!("{} {flag}", step.command[0])).or_default() += 1;
            }
        }
        let Some(last) = case.steps[..steps].last() else { return };
        let mut features = std::collections::BTreeSet::new();
        last.each_block(&mut |block| {
            features.insert(block.kind().to_owned());
            if block.kind() == "resource" {
                features.insert(block.labels()[0].to_owned());
            }
            const RULES: &[&str] = &[
                "count",
                "for_each",
                "enabled",
                "depends_on",
                "ignore_changes",
                "prevent_destroy",
                "create_before_destroy",
                "replace_triggered_by",
                "when",
                "on_failure",
                "sensitive",
                "ephemeral",
                "triggers_replace",
                "nullable",
                "provider",
            ];
            let names = block.arguments.iter().map(|it| it.name.clone());
            features.extend(names.filter(|it| RULES.contains(&&**it)));
        });
        for feature in features {
            *self.features.entry(feature).or_default() += 1;
        }
    }

    pub(crate) fn report(&self, elapsed: Duration) -> String {
        let minutes = elapsed.as_secs_f64() / 60.0;
        let Figures { cases, steps, .. } = self;
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        let rate = *cases as f64 / minutes.max(0.001);
        format!(
            "{cases} cases, {steps} steps in {minutes:.1} minutes ({rate:.0} cases a minute)\n{self}"
        )
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = |title: &str, counts: &Counts| {
            let all: usize = counts.values().sum();
            writeln!(f, "{title}: {all}")?;
            let mut counts: Vec<_> = counts.iter().collect();
            counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            counts.into_iter().try_for_each(|(name, count)| writeln!(f, "  {count:6} {name}"))
        };
        list("commands", &self.commands)?;
        list("exit codes of the reference", &self.exits)?;
        list("diagnostics of the reference", &self.diagnostics)?;
        list("features, by cases", &self.features)?;
        list("explained", &self.explained)?;
        list("differences", &self.differences)
    }
}
