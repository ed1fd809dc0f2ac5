//! The lines of `watch -json` that `plan -json` does not have.

use std::time::Duration;

use serde_json::{Value as Json, json};
use state::Plan;

use super::{NewsEntry, PlanNews};
use crate::event::Line;

/// The first line after the version: a directory is watched.
pub fn watching_json(directory: &str, timestamp: &str) -> String {
    Line::new("watching", format!("Watching {directory}"), timestamp)
        .with("directory", directory.into())
        .finish()
}

/// A plan begins; `reason` says why: `start`, `edit`, `refresh`.
pub fn plan_started_json(plan: u64, reason: &str, timestamp: &str) -> String {
    Line::new("plan_started", format!("Plan {plan} started ({reason})"), timestamp)
        .with("plan", plan.into())
        .with("reason", reason.into())
        .finish()
}

/// How a plan ended.
#[derive(Clone, Copy, Debug)]
pub struct PlanFinished<'a> {
    /// Its number.
    pub plan: u64,
    /// From the first look at the files to the end.
    pub duration: Duration,
    /// How many errors there were. With errors, the plan before stays the one to go by.
    pub errors: usize,
    /// The plan and how it differs from the good one before, if it is good.
    pub good: Option<(&'a Plan, &'a PlanNews)>,
}

/// A plan ended.
pub fn plan_finished_json(finished: &PlanFinished<'_>, timestamp: &str) -> String {
    let PlanFinished { plan, duration, errors, good } = *finished;
    let milliseconds = duration.as_secs_f64() * 1000.0;
    let message = match errors {
        0 => format!("Plan {plan} finished after {milliseconds:.1} ms"),
        _ => format!("Plan {plan} failed after {milliseconds:.1} ms; the one before stays"),
    };
    let line = Line::new("plan_finished", message, timestamp)
        .with("plan", plan.into())
        .with("ok", (errors == 0).into())
        .with("errors", errors.into())
        .with("duration_ms", ((milliseconds * 10.0).round() / 10.0).into());
    match good {
        Some((plan, news)) => line
            .with("applyable", plan.is_applyable.into())
            .with("since_last", since_last(news))
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

/// All objects and data sources were read in this plan.
pub fn refreshed_json(plan: u64, timestamp: &str) -> String {
    Line::new("refreshed", format!("Plan {plan} read all objects"), timestamp)
        .with("plan", plan.into())
        .finish()
}

/// The last line: all providers have ended, and nothing is open.
pub fn closed_json(timestamp: &str) -> String {
    Line::new("closed", "Watching ended", timestamp).finish()
}
