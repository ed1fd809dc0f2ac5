//! The output of `watch`: the differences between plans, the screen, and the JSON stream.
//!
//! ```text
//!   plan, plan before ──news──► entries ─┬─► screen: a pure function of a model, lines for a terminal of any size
//!                                        └─► plan_finished, one object a line
//! ```

pub(crate) mod json;
pub(crate) mod news;
pub(crate) mod screen;
#[cfg(test)]
mod tests;

pub use self::{
    json::{
        NewPlan, PlanFinished, closed_json, plan_finished_json, plan_started_json, refreshed_json,
        watching_json,
    },
    news::{NewsEntry, PlanNews, changed_objects, changed_outputs, plan_news},
    screen::{
        KEYS, ListedChange, Problems, TerminalSize, WatchScreen, WatchView, WatchedPlan,
        change_list, plan_summary, watch_body_length, watch_screen,
    },
};
