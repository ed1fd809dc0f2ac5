mod compatible;
mod ignore;
mod normalize;
mod plan_valid;
mod proposed;
mod replace;

use super::Violation;

/// Formats the violations, one per line.
fn lines(violations: &[Violation]) -> String {
    let lines: Vec<String> = violations.iter().map(ToString::to_string).collect();
    lines.join("\n")
}
