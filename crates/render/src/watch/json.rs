//! The lines of `watch -json` that `plan -json` does not have.

use std::time::Duration;

use causes::Finding;
use serde_json::{Value as Json, json};
use state::Plan;

use crate::{
    causes::short_cause_json,
    event::json::Line,
    watch::news::{NewsEntry, PlanNews},
};

/// The line after the version, which names the watched directory.
pub fn watching_json(directory: &str, timestamp: &str) -> String {
    Line::new("watching", format!("Watching {directory}"), timestamp)
        .with("directory", directory.into())
        .finish()
}

/// The line for the start of a plan. `reason` is `start`, `edit` or `refresh`.
pub fn plan_started_json(plan: u64, reason: &str, timestamp: &str) -> String {
    Line::new("plan_started", format!("Plan {plan} started ({reason})"), timestamp)
        .with("plan", plan.into())
        .with("reason", reason.into())
        .finish()
}

/// The result of a plan.
#[derive(Clone, Copy, Debug)]
pub struct PlanFinished<'a> {
    /// The number of the plan.
    pub plan: u64,
    /// The time from the first look at the files to the end.
    pub duration: Duration,
    /// The number of errors. After a plan with errors, the previous plan stays current.
    pub errors: usize,
    /// The plan. `None` if it has errors.
    pub good: Option<NewPlan<'a>>,
}

/// A plan without errors.
#[derive(Clone, Copy, Debug)]
pub struct NewPlan<'a> {
    pub plan: &'a Plan,
    /// The differences to the previous good plan.
    pub news: &'a PlanNews,
    /// The changes that differ from the previous good plan, with their causes.
    pub causes: &'a [Finding],
}

/// The line for the end of a plan.
pub fn plan_finished_json(finished: &PlanFinished<'_>, timestamp: &str) -> String {
    let PlanFinished { plan, duration, errors, good } = *finished;
    let milliseconds = duration.as_secs_f64() * 1000.0;
    let message = match errors {
        0 => format!("Plan {plan} finished after {milliseconds:.1} ms"),
        _ => format!("Plan {plan} failed after {milliseconds:.1} ms; the previous plan is kept"),
    };
    let line = Line::new("plan_finished", message, timestamp)
        .with("plan", plan.into())
        .with("ok", (errors == 0).into())
        .with("errors", errors.into())
        .with("duration_ms", ((milliseconds * 10.0).round() / 10.0).into());
    match good {
        Some(NewPlan { plan, news, causes }) => line
            .with("applyable", plan.is_applyable.into())
            .with("since_last", since_last(news))
            .with("causes", causes.iter().map(short_cause_json).collect())
            .finish(),
        None => line.finish(),
    }
}

fn since_last(news: &PlanNews) -> Json {
    let addresses = |entries: &[NewsEntry]| -> Vec<Json> {
        entries.iter().map(|it| it.address.as_str().into()).collect()
    };
    json!({
        "appeared": addresses(&news.appeared),
        "changed": addresses(&news.changed),
        "gone": addresses(&news.gone),
    })
}

/// The line for a plan that read all objects and data sources.
pub fn refreshed_json(plan: u64, timestamp: &str) -> String {
    Line::new("refreshed", format!("Plan {plan} read all objects"), timestamp)
        .with("plan", plan.into())
        .finish()
}

/// The last line: all providers have ended and nothing is open.
pub fn closed_json(timestamp: &str) -> String {
    Line::new("closed", "Watching ended", timestamp).finish()
}
