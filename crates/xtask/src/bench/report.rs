//! The report of the bench as a table.

use std::{fmt, time::Duration};

use super::{
    budget::{self, Budget},
    parse::ParseSpeed,
    tool::{Tool, Usage},
};

/// The medians of one tool's runs.
pub(crate) struct Measured {
    tool: String,
    wall: Duration,
    cpu: Duration,
    bytes: u64,
}

impl Measured {
    pub(crate) fn new(tool: &str, wall: Duration, cpu: Duration, bytes: u64) -> Self {
        Self { tool: tool.to_owned(), wall, cpu, bytes }
    }

    pub(crate) fn median(tool: &str, usages: &[Usage]) -> Self {
        Self {
            tool: tool.to_owned(),
            wall: median(usages.iter().map(|it| it.wall)),
            cpu: median(usages.iter().map(|it| it.cpu)),
            bytes: median(usages.iter().map(|it| it.bytes)),
        }
    }

    fn megabytes(&self) -> f64 {
        self.bytes as f64 / 1e6
    }
}

fn median<T: Ord + Copy + Default>(values: impl Iterator<Item = T>) -> T {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// One kind of work at one size.
pub(crate) struct Row {
    pub(crate) work: String,
    pub(crate) resources: usize,
    /// The figures of Mayfly, then those of the references.
    pub(crate) figures: Vec<Measured>,
    /// The figures of the profile-guided build, if it was measured.
    pub(crate) dist: Option<Measured>,
    pub(crate) budget: Budget,
    /// The memory at an earlier time of the same run, in bytes, if the row compares it.
    pub(crate) earlier: Option<u64>,
    /// The work of the row of the same size that this one is compared with, if there is one.
    pub(crate) base: Option<String>,
}

impl Row {
    pub(crate) fn new(
        work: String,
        resources: usize,
        figures: Vec<Measured>,
        budget: Budget,
    ) -> Self {
        Self { work, resources, figures, budget, dist: None, earlier: None, base: None }
    }

    fn ours(&self) -> &Measured {
        &self.figures[0]
    }

    /// Returns the speed as a multiple of the fastest reference. `None` without a reference.
    fn faster(&self) -> Option<f64> {
        let reference = self.figures[1..].iter().map(|it| it.wall).min()?;
        Some(reference.as_secs_f64() / self.ours().wall.as_secs_f64())
    }

    /// Returns the memory as a multiple of that of the reference which needs the least. `None` without a reference.
    fn share(&self) -> Option<f64> {
        let reference = self.figures[1..].iter().map(|it| it.bytes).min()?;
        Some(self.ours().bytes as f64 / reference as f64)
    }

    /// Returns the memory as a multiple of the earlier one. `None` if the row does not compare it.
    fn swelling(&self) -> Option<f64> {
        Some(self.ours().bytes as f64 / self.earlier? as f64)
    }

    fn per_resource(&self) -> f64 {
        self.ours().wall.as_secs_f64() / self.resources as f64
    }
}

#[derive(Default)]
pub(crate) struct Report {
    machine: Vec<String>,
    parse: Vec<ParseSpeed>,
    rows: Vec<Row>,
}

impl Report {
    pub(crate) fn machine(&mut self, mayfly: &Tool, references: &[Tool]) {
        let cores = parallel::processors();
        let tools = std::iter::once(mayfly).chain(references).map(Tool::version);
        self.machine = std::iter::once(format!("{cores} cores")).chain(tools).collect();
    }

    pub(crate) fn parse(&mut self, speeds: Vec<ParseSpeed>) {
        self.parse = speeds;
    }

    pub(crate) fn add(&mut self, rows: Vec<Row>) {
        self.rows.extend(rows);
    }

    /// Returns the number of missed budgets.
    pub(crate) fn missed(&self) -> usize {
        let of_parse = self.parse.iter().flat_map(parse_bounds);
        let of_rows = self.rows.iter().flat_map(|row| self.bounds(row));
        of_parse.chain(of_rows).filter(|bound| !bound.is_met).count()
    }

    /// Returns the bounds of a row that could be checked.
    fn bounds(&self, row: &Row) -> Vec<Bound> {
        let budget = row.budget;
        let faster = budget.faster.zip(row.faster()).map(|(least, factor)| Bound {
            text: format!("≥ {least:.0}×"),
            is_met: factor >= least,
        });
        let memory = budget.megabytes.map(|most| Bound {
            text: format!("≤ {most:.0} MB"),
            is_met: row.ours().megabytes() <= most,
        });
        let growth = budget.growth.zip(self.growth(row)).map(|(most, factor)| Bound {
            text: format!("≤ {most}× a resource"),
            is_met: factor <= most,
        });
        let time = budget.milliseconds.map(|most| Bound {
            text: format!("≤ {most:.0} ms"),
            is_met: row.ours().wall.as_secs_f64() * 1000.0 <= most,
        });
        let swelling = budget.swelling.zip(row.swelling()).map(|(most, factor)| Bound {
            text: format!("≤ {most}× the memory"),
            is_met: factor <= most,
        });
        let slower = budget.slower.zip(self.slower(row)).map(|(most, factor)| Bound {
            text: format!("≤ {most}× without it ({factor:.2})"),
            is_met: factor <= most,
        });
        let share = budget.share.zip(row.share()).map(|(most, factor)| Bound {
            text: format!("≤ {most:.2}× the memory of the reference ({factor:.2})"),
            is_met: factor <= most,
        });
        let bounds = [faster, memory, time, growth, swelling, slower, share];
        bounds.into_iter().flatten().collect()
    }

    /// Returns the time as a multiple of that of the row which this one is compared with. `None` if there is none.
    fn slower(&self, row: &Row) -> Option<f64> {
        let base = row.base.as_ref()?;
        let is_base = |it: &&Row| it.work == *base && it.resources == row.resources;
        let base = self.rows.iter().find(is_base)?;
        Some(row.ours().wall.as_secs_f64() / base.ours().wall.as_secs_f64())
    }

    /// Returns the time per resource relative to the smallest size of the same work. `None` for the smallest size
    /// itself, and without a budget for growth.
    fn growth(&self, row: &Row) -> Option<f64> {
        let smallest =
            self.rows.iter().filter(|it| it.work == row.work).min_by_key(|it| it.resources)?;
        let is_larger = smallest.resources < row.resources && row.budget.growth.is_some();
        is_larger.then(|| row.per_resource() / smallest.per_resource())
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        let ours = row.ours();
        let references: Vec<_> = row.figures[1..]
            .iter()
            .map(|it| format!("{} {} {:.0} MB", it.tool, seconds(it.wall), it.megabytes()))
            .collect();
        let factor = match (row.faster(), self.growth(row), row.swelling().zip(row.earlier)) {
            (Some(faster), ..) => format!("{faster:.1}× faster"),
            (None, Some(growth), _) => format!("{growth:.2}× a resource"),
            (None, None, Some((swelling, bytes))) => {
                format!("{swelling:.2}× of {:.0} MB", bytes as f64 / 1e6)
            }
            (None, None, None) => String::new(),
        };
        let bounds: Vec<_> = self.bounds(row).iter().map(ToString::to_string).collect();
        vec![
            row.work.clone(),
            row.resources.to_string(),
            seconds(ours.wall),
            seconds(ours.cpu),
            format!("{:.0} MB", ours.megabytes()),
            row.dist.as_ref().map(|it| seconds(it.wall)).unwrap_or_default(),
            references.join(", "),
            factor,
            bounds.join(", "),
        ]
    }
}

/// Returns the bounds of the parser's speed. The ratio counts, as in all rows; the absolute speed is for the machine on
/// which it was set, and bounds only where there is no reference.
fn parse_bounds(speed: &ParseSpeed) -> Vec<Bound> {
    match speed.go {
        Some(go) => {
            let factor = speed.mayfly / go;
            let least = budget::PARSE_FASTER;
            let text = format!("{factor:.1}× the {go:.1} MB/s of the parser in Go, ≥ {least:.2}×");
            vec![Bound { text, is_met: factor >= least }]
        }
        None => {
            let text = format!("≥ {:.0} MB/s", budget::PARSE);
            vec![Bound { text, is_met: speed.mayfly >= budget::PARSE }]
        }
    }
}

/// One bound of a budget.
struct Bound {
    text: String,
    is_met: bool,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.text, if self.is_met { "met" } else { "MISSED" })
    }
}

fn seconds(duration: Duration) -> String {
    match duration.as_secs_f64() {
        shorter if shorter < 0.01 => format!("{:.1} ms", shorter * 1e3),
        short if short < 1.0 => format!("{:.0} ms", short * 1e3),
        long => format!("{long:.2} s"),
    }
}

const HEADINGS: [&str; 9] =
    ["work", "N", "mayfly", "cpu", "memory", "dist", "reference", "factor", "budget"];

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{}\n", self.machine.join(" · "))?;
        for speed in &self.parse {
            let bounds: Vec<_> = parse_bounds(speed).iter().map(ToString::to_string).collect();
            let (text, mayfly, bounds) = (speed.text, speed.mayfly, bounds.join(", "));
            writeln!(f, "parse, lossless, {text}: {mayfly:.1} MB/s a core ({bounds})\n")?;
        }
        let mut table = vec![HEADINGS.map(str::to_owned).to_vec()];
        table.extend(self.rows.iter().map(|row| self.cells(row)));
        write_table(f, &table)
    }
}

/// Writes an aligned Markdown table.
fn write_table(f: &mut fmt::Formatter<'_>, table: &[Vec<String>]) -> fmt::Result {
    let width =
        |column: usize| table.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEADINGS.len()).map(width).collect();
    for (index, row) in table.iter().enumerate() {
        let cells: Vec<_> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        writeln!(f, "| {} |", cells.join(" | "))?;
        if index == 0 {
            let rules: Vec<_> = widths.iter().map(|width| "-".repeat(*width)).collect();
            writeln!(f, "| {} |", rules.join(" | "))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(tool: &str, milliseconds: u64) -> Measured {
        let wall = Duration::from_millis(milliseconds);
        Measured::median(tool, &[Usage { wall, cpu: wall, bytes: 100_000_000 }])
    }

    #[test]
    fn budget_is_compared_with_the_fastest_reference() {
        let figures = vec![measured("mayfly", 10), measured("slow", 900), measured("fast", 300)];
        let budget = Budget { faster: Some(40.0), megabytes: Some(150.0), ..Budget::default() };
        let mut report = Report::default();
        report.add(vec![Row::new("plan".to_owned(), 1_000, figures, budget)]);
        assert_eq!(report.missed(), 1);
        let text = report.to_string();
        assert!(
            text.contains("30.0× faster") && text.contains("≥ 40× MISSED, ≤ 150 MB met"),
            "{text}"
        );
    }

    #[test]
    fn parser_is_compared_with_the_one_in_go() {
        let speed = |mayfly, go| ParseSpeed { text: "flat", mayfly, go };
        let missed = |speed| {
            let mut report = Report::default();
            report.parse(vec![speed]);
            (report.missed(), report.to_string())
        };
        let (count, text) = missed(speed(30.0, Some(5.0)));
        assert!(count == 0 && text.contains("30.0 MB/s a core (6.0× the 5.0 MB/s"), "{text}");
        assert_eq!(missed(speed(28.0, Some(5.0))).0, 1);
        assert_eq!([missed(speed(49.0, None)).0, missed(speed(50.0, None)).0], [1, 0]);
    }

    #[test]
    fn growth_compares_time_per_resource_with_the_smallest_size() {
        let row = |resources, milliseconds| {
            let budget = Budget { growth: Some(1.3), ..Budget::default() };
            let figures = vec![measured("mayfly", milliseconds)];
            Row::new("growth: plan".to_owned(), resources, figures, budget)
        };
        let mut report = Report::default();
        report.add(vec![row(1_000, 10), row(20_000, 240), row(100_000, 2_000)]);
        assert_eq!(report.missed(), 1);
        assert!(report.to_string().contains("1.20× a resource"));
    }

    #[test]
    fn variant_is_compared_with_its_base() {
        let row = |work: &str, milliseconds| {
            let budget = Budget { slower: Some(1.5), ..Budget::default() };
            Row::new(work.to_owned(), 1_000, vec![measured("mayfly", milliseconds)], budget)
        };
        let of = |milliseconds| Row {
            base: Some("plan".to_owned()),
            ..row("plan, one error", milliseconds)
        };
        let mut report = Report::default();
        report.add(vec![row("plan", 10), of(14), of(16)]);
        assert_eq!(report.missed(), 1);
        let text = report.to_string();
        assert!(text.contains("(1.40) met") && text.contains("(1.60) MISSED"), "{text}");
    }

    #[test]
    fn median_is_the_middle_run() {
        let usages = [3, 100, 1].map(|it| Usage {
            wall: Duration::from_secs(it),
            cpu: Duration::ZERO,
            bytes: it,
        });
        let median = Measured::median("mayfly", &usages);
        assert_eq!((median.wall, median.bytes), (Duration::from_secs(3), 3));
    }
}
