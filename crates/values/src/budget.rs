//! The limits of an evaluation: memory for its values, a number of steps, and interruption by the user.
//!
//! One [`Budget`] serves all evaluations of a run. The evaluator and the functions check it *before* they
//! allocate, so that an expression that grows without bound ends in a diagnostic and not in an abort.
//!
//! **Invariant:** a value that is only shared is not charged; memory that an evaluation drops is released at its
//! end.

use std::{cell::Cell, fmt};

use crate::{Kind, Value};

/// The limits that all evaluations of a run share.
///
/// A budget belongs to one thread: its counters are plain cells.
pub struct Budget {
    limit: u64,
    used: Cell<u64>,
    /// The most bytes that were needed at once.
    peak: Cell<u64>,
    max_steps: u64,
    steps: Cell<u64>,
    is_interrupted: Option<Box<dyn Fn() -> bool>>,
}

/// The reason why an evaluation must end early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exceeded {
    /// The user interrupted the run.
    Interrupted,
    /// The evaluation exceeded the maximum number of steps.
    Steps,
    /// The values would exceed the memory limit.
    Memory {
        /// The bytes that all values of the run would take with this allocation.
        needed: u64,
        /// The limit in bytes.
        limit: u64,
    },
}

impl Budget {
    /// The environment variable that sets the limit of a run, for example to `4GiB`.
    pub const VARIABLE: &str = "MAYFLY_EVALUATION_MEMORY";

    /// The limit of a run if the environment variable is not set: 2 GiB.
    pub const DEFAULT_LIMIT: u64 = 2 << 30;

    /// The number of steps between two checks for an interruption.
    const INTERVAL: u64 = 1024;

    /// Creates a budget of `limit` bytes.
    #[must_use]
    pub fn new(limit: u64) -> Budget {
        Budget {
            limit,
            used: Cell::new(0),
            peak: Cell::new(0),
            max_steps: u64::MAX,
            steps: Cell::new(0),
            is_interrupted: None,
        }
    }

    /// Sets a maximum number of steps.
    #[must_use]
    pub fn with_steps(self, max_steps: u64) -> Budget {
        Budget { max_steps, ..self }
    }

    /// Ends evaluations as soon as `is_interrupted` returns true. It is called at bounded intervals.
    #[must_use]
    pub fn until(self, is_interrupted: impl Fn() -> bool + 'static) -> Budget {
        Budget { is_interrupted: Some(Box::new(is_interrupted)), ..self }
    }

    /// Counts one step.
    ///
    /// # Errors
    /// Returns an error if there were too many steps, or if the run was interrupted.
    #[inline]
    pub fn step(&self) -> Result<(), Exceeded> {
        let steps = self.steps.get() + 1;
        self.steps.set(steps);
        if steps.is_multiple_of(Budget::INTERVAL) { self.check() } else { Ok(()) }
    }

    /// Checks at once whether the evaluation may continue. For work that takes long within one step.
    ///
    /// # Errors
    /// Returns an error if there were too many steps, or if the run was interrupted.
    pub fn check(&self) -> Result<(), Exceeded> {
        if self.is_interrupted() {
            return Err(Exceeded::Interrupted);
        }
        if self.steps.get() > self.max_steps { Err(Exceeded::Steps) } else { Ok(()) }
    }

    /// Returns true if the user interrupted the run.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.is_interrupted.as_ref().is_some_and(|is_interrupted| is_interrupted())
    }

    /// Checks that `bytes` more bytes would fit, without charging them.
    ///
    /// # Errors
    /// Returns an error if they would not fit.
    #[inline]
    pub fn reserve(&self, bytes: u64) -> Result<(), Exceeded> {
        let needed = self.used.get().saturating_add(bytes);
        self.peak.set(self.peak.get().max(needed));
        if needed <= self.limit {
            return Ok(());
        }
        Err(Exceeded::Memory { needed, limit: self.limit })
    }

    /// Charges `bytes` bytes.
    ///
    /// # Errors
    /// Returns an error if they do not fit; then nothing is charged.
    #[inline]
    pub fn charge(&self, bytes: u64) -> Result<(), Exceeded> {
        self.reserve(bytes)?;
        self.used.set(self.used.get() + bytes);
        Ok(())
    }

    /// Returns the number of charged bytes.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.used.get()
    }

    /// Returns the most bytes that were charged and reserved at once. An evaluation with another budget, of which as
    /// much is left, has the same outcome.
    #[must_use]
    pub fn peak(&self) -> u64 {
        self.peak.get()
    }

    /// Returns the number of bytes that are left.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.limit - self.used.get()
    }

    /// Ends an evaluation that began when `before` bytes were charged, and releases everything that is not part of
    /// its `result`. A part that the result shares with other values is charged at most what the evaluation took.
    #[inline]
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

/// A number of bytes, displayed in a unit such as `9.3 GiB`.
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

/// Parses a size such as `512MiB`, `4GiB` or `1000000` to bytes. `None` if the text is not a size, or zero.
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

/// The size of a value. A part that occurs twice counts twice.
#[derive(Clone, Copy, Default)]
pub(crate) struct Size {
    /// The number of values, including the value itself.
    pub(crate) nodes: u64,
    /// The bytes of texts and of names.
    pub(crate) text: u64,
}

/// The bytes that a value takes besides its text.
pub(crate) const NODE: u64 = size_of::<Value>() as u64;

/// The bytes that an entry of a map takes besides its value and its name.
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
    /// Returns the bytes that the value would take if none of its parts were shared. O(1).
    #[must_use]
    #[inline]
    pub fn unshared_size(&self) -> u64 {
        self.size().bytes()
    }

    /// Returns the bytes that a walk through the value touches: like [`Value::unshared_size`], but without texts.
    /// O(1).
    #[must_use]
    pub fn walked_size(&self) -> u64 {
        self.size().nodes.saturating_mul(NODE)
    }

    /// Returns the bytes of the outermost value only, since its parts may be shared with the values it was made
    /// from. O(1).
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
    fn budget_returns_memory_of_dropped_values() {
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
    fn shared_result_is_not_charged_twice() {
        let budget = Budget::new(1000);
        let large = Value::string("x".repeat(10_000));
        budget.charge(24).expect("fits");
        budget.settle(0, Some(&large));
        assert_eq!(budget.used(), 24);
    }

    #[test]
    fn interrupt_is_noticed_within_an_interval_of_steps() {
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
    fn budget_limits_steps() {
        let budget = Budget::new(1000).with_steps(5000);
        assert!((0..5000).all(|_| budget.step().is_ok()));
        assert!((0..1024).any(|_| budget.step() == Err(Exceeded::Steps)));
    }

    #[test]
    fn unshared_size_counts_shared_parts_at_each_occurrence() {
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
    fn memory_sizes_are_parsed_and_printed() {
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
