//! What an evaluation may take: memory for its values, steps, and time until the user interrupts it.
//!
//! One [`Budget`] serves all evaluations of a run. The evaluator and the functions ask it *before* they allocate, so that
//! an expression that grows without bound ends in a diagnostic and not in an abort.
//!
//! **Invariant:** a value that is only shared is not charged; what an evaluation drops is given back at its end.

use std::{cell::Cell, fmt};

use crate::{Kind, Value};

/// What the evaluations of one run may take, together.
///
/// A budget belongs to one thread: its counters are plain cells.
pub struct Budget {
    limit: u64,
    used: Cell<u64>,
    most_steps: u64,
    steps: Cell<u64>,
    is_interrupted: Option<Box<dyn Fn() -> bool>>,
}

/// Why an evaluation must end early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exceeded {
    /// The user interrupted the run.
    Interrupted,
    /// It took more steps than it may.
    Steps,
    /// The values would not fit.
    Memory {
        /// Bytes that all values of the run would take, were this allocated.
        needed: u64,
        /// Bytes that they may take.
        limit: u64,
    },
}

impl Budget {
    /// The environment variable that sets the limit of a run, as `4GiB`.
    pub const VARIABLE: &str = "MAYFLY_EVALUATION_MEMORY";

    /// The limit of a run where nothing sets another: 2 GiB.
    pub const DEFAULT_LIMIT: u64 = 2 << 30;

    /// Steps between two looks at whether the user interrupted the run.
    const INTERVAL: u64 = 1024;

    /// A budget of `limit` bytes.
    #[must_use]
    pub fn new(limit: u64) -> Budget {
        Budget {
            limit,
            used: Cell::new(0),
            most_steps: u64::MAX,
            steps: Cell::new(0),
            is_interrupted: None,
        }
    }

    /// Ends evaluations after so many steps, too.
    #[must_use]
    pub fn with_steps(self, most_steps: u64) -> Budget {
        Budget { most_steps, ..self }
    }

    /// Ends evaluations, too, as soon as `is_interrupted` says so. It is asked at bounded intervals.
    #[must_use]
    pub fn until(self, is_interrupted: impl Fn() -> bool + 'static) -> Budget {
        Budget { is_interrupted: Some(Box::new(is_interrupted)), ..self }
    }

    /// Counts one step.
    ///
    /// # Errors
    /// If there were too many, or the run was interrupted.
    pub fn step(&self) -> Result<(), Exceeded> {
        let steps = self.steps.get() + 1;
        self.steps.set(steps);
        if steps.is_multiple_of(Budget::INTERVAL) { self.check() } else { Ok(()) }
    }

    /// Looks now whether the evaluation may go on: for work that takes long in one step.
    ///
    /// # Errors
    /// If there were too many steps, or the run was interrupted.
    pub fn check(&self) -> Result<(), Exceeded> {
        if self.is_interrupted() {
            return Err(Exceeded::Interrupted);
        }
        if self.steps.get() > self.most_steps { Err(Exceeded::Steps) } else { Ok(()) }
    }

    /// Whether the user interrupted the run.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.is_interrupted.as_ref().is_some_and(|is_interrupted| is_interrupted())
    }

    /// Looks whether so many bytes more would fit.
    ///
    /// # Errors
    /// If they would not.
    pub fn reserve(&self, bytes: u64) -> Result<(), Exceeded> {
        let needed = self.used.get().saturating_add(bytes);
        if needed <= self.limit {
            return Ok(());
        }
        Err(Exceeded::Memory { needed, limit: self.limit })
    }

    /// Takes so many bytes.
    ///
    /// # Errors
    /// If they do not fit. Nothing is taken then.
    pub fn charge(&self, bytes: u64) -> Result<(), Exceeded> {
        self.reserve(bytes)?;
        self.used.set(self.used.get() + bytes);
        Ok(())
    }

    /// Bytes that are taken.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.used.get()
    }

    /// Bytes that are left.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.limit - self.used.get()
    }

    /// Ends an evaluation that began when `before` bytes were taken: everything that is no part of its `result` is
    /// given back. A part that the result shares with others costs at most what the evaluation took.
    pub fn settle(&self, before: u64, result: Option<&Value>) {
        let taken = self.used.get().saturating_sub(before);
        let kept = result.map_or(0, |it| it.unshared_size().min(taken));
        self.used.set(before + kept);
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget")
            .field("limit", &self.limit)
            .field("used", &self.used)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exceeded::Interrupted => f.write_str("the run was interrupted"),
            Exceeded::Steps => f.write_str("the evaluation takes too many steps"),
            Exceeded::Memory { needed, limit } => write!(
                f,
                "with it, the strings and collections of this run would take {}; the limit is {}",
                SizeText(*needed),
                SizeText(*limit)
            ),
        }
    }
}

/// A number of bytes for people, such as `9.3 GiB`.
struct SizeText(u64);

impl fmt::Display for SizeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];
        let SizeText(bytes) = *self;
        if bytes == u64::MAX {
            return f.write_str("more than 16,000,000 TiB");
        }
        let mut unit = 0;
        let mut divisor = 1_u64;
        while bytes / divisor >= 1024 && unit + 1 < UNITS.len() {
            divisor *= 1024;
            unit += 1;
        }
        if unit == 0 {
            return write!(f, "{bytes} bytes");
        }
        let (whole, tenth) = (bytes / divisor, bytes % divisor * 10 / divisor);
        write!(f, "{whole}.{tenth} {}", UNITS[unit])
    }
}

/// The bytes that a text such as `512MiB`, `4GiB` or `1000000` means. `None` if it is no size, or zero.
#[must_use]
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let factor: u64 = match unit.trim() {
        "" | "B" => 1,
        "K" | "KiB" => 1 << 10,
        "M" | "MiB" => 1 << 20,
        "G" | "GiB" => 1 << 30,
        "T" | "TiB" => 1 << 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor).filter(|bytes| *bytes > 0)
}

/// How large a value is, counting a part that occurs twice twice.
#[derive(Clone, Copy, Default)]
pub(crate) struct Size {
    /// Values, itself included.
    pub(crate) nodes: u64,
    /// Bytes of texts and of names.
    pub(crate) text: u64,
}

/// Bytes that a value takes beside its text.
pub(crate) const NODE: u64 = size_of::<Value>() as u64;

/// Bytes that an entry of a map takes beside its value and its name.
pub(crate) const ENTRY: u64 = 24;

impl Size {
    pub(crate) fn add(&mut self, other: Size) {
        self.nodes = self.nodes.saturating_add(other.nodes);
        self.text = self.text.saturating_add(other.text);
    }

    fn bytes(self) -> u64 {
        self.nodes.saturating_mul(NODE).saturating_add(self.text)
    }
}

impl Value {
    /// The bytes that the value would take if none of its parts were shared. O(1).
    #[must_use]
    pub fn unshared_size(&self) -> u64 {
        self.size().bytes()
    }

    /// The bytes that a walk through the value touches: like [`Value::unshared_size`], but for its texts. O(1).
    #[must_use]
    pub fn walked_size(&self) -> u64 {
        self.size().nodes.saturating_mul(NODE)
    }

    /// The bytes of the value without its parts, which it shares with what it was made from. O(1).
    #[must_use]
    pub fn shallow_size(&self) -> u64 {
        let length = self.stored_length().unwrap_or(0) as u64;
        match self.kind() {
            Kind::String(text) => text.len() as u64,
            Kind::Map(_) | Kind::Object(_) => NODE + length * (NODE + ENTRY),
            _ => NODE * (length + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_gives_back_what_an_evaluation_does_not_keep() {
        let budget = Budget::new(1000);
        budget.charge(900).expect("fits");
        assert_eq!(budget.charge(200), Err(Exceeded::Memory { needed: 1100, limit: 1000 }));
        assert_eq!(budget.used(), 900, "nothing was taken");
        let kept = Value::string("ten bytes.");
        budget.settle(0, Some(&kept));
        assert_eq!(budget.used(), kept.unshared_size());
        budget.settle(0, None);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn a_shared_result_costs_no_more_than_was_charged() {
        let budget = Budget::new(1000);
        let large = Value::string("x".repeat(10_000));
        budget.charge(24).expect("fits");
        budget.settle(0, Some(&large));
        assert_eq!(budget.used(), 24);
    }

    #[test]
    fn an_interrupt_is_seen_within_an_interval_of_steps() {
        let asked = std::rc::Rc::new(Cell::new(0));
        let seen = std::rc::Rc::clone(&asked);
        let budget = Budget::new(1000).until(move || {
            seen.set(seen.get() + 1);
            seen.get() > 2
        });
        let steps = (1..).find(|_| budget.step() == Err(Exceeded::Interrupted));
        assert_eq!(steps, Some(3 * 1024));
        assert_eq!(asked.get(), 3);
    }

    #[test]
    fn steps_are_limited() {
        let budget = Budget::new(1000).with_steps(5000);
        assert!((0..5000).all(|_| budget.step().is_ok()));
        assert!((0..1024).any(|_| budget.step() == Err(Exceeded::Steps)));
    }

    #[test]
    fn the_size_of_a_value_counts_shared_parts_as_often_as_they_occur() {
        let mut value = Value::string("0123456789");
        for _ in 0..40 {
            value = Value::tuple(vec![value.clone(), value]);
        }
        assert!(value.unshared_size() > 10 << 40);
        assert!(value.shallow_size() < 1000);
        for _ in 0..40 {
            value = Value::object_from([("a", value.clone()), ("b", value)]);
        }
        assert_eq!(value.unshared_size(), u64::MAX);
    }

    #[test]
    fn sizes_are_read_and_shown() {
        for (text, bytes) in [
            ("4GiB", Some(4 << 30)),
            ("512M", Some(512 << 20)),
            ("100", Some(100)),
            (" 1 KiB ", Some(1024)),
            ("0", None),
            ("", None),
            ("-1", None),
            ("4GB", None),
            ("99999999999999999999", None),
            ("99999999T", None),
        ] {
            assert_eq!(parse_size(text), bytes, "{text:?}");
        }
        for (bytes, text) in [
            (1023, "1023 bytes"),
            (1024, "1.0 KiB"),
            (10_000_000_000, "9.3 GiB"),
            (u64::MAX, "more than 16,000,000 TiB"),
        ] {
            assert_eq!(SizeText(bytes).to_string(), text);
        }
    }
}
