//! The command line options of `bench`.

use anyhow::{Context, Result, bail};

pub(crate) const USAGE: &str = "\
usage: cargo xtask bench [OPTIONS]

  --compare NAME   a reference on the PATH to measure beside; may be repeated; `none` for no reference
                   (without it: terraform and tofu, where they are there)
  --n N,N          sizes, in resources (1000,5000)
  --runs N         runs of each command, of which the median counts (3)
                   (a reference whose turn takes more than 30 s takes one)
  --only WORDS     only what has one of these words in its name, such as `validate`, `plan,apply`, `growth`,
                   `fmt`, `parse`, `lsp`, `one error`; dots join words of one name (`plan.modules`), and a word
                   after a minus must not be in it (`plan.-growth`)
  --large          growth to 100,000 resources, not only to 20,000; and `lsp` at 100,000
  --no-build       take the executables that are in target/release
  --dist           measure the executable of `cargo xtask dist` too, in a column of its own
  --strict         fail if a budget is missed";

/// The sizes that have budgets.
pub(crate) const SIZES: &[usize] = &[1_000, 5_000];

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// The names of the references; `None` if the PATH decides.
    pub(crate) compare: Option<Vec<String>>,
    pub(crate) sizes: Vec<usize>,
    pub(crate) runs: usize,
    only: Vec<String>,
    pub(crate) large: bool,
    pub(crate) build: bool,
    pub(crate) dist: bool,
    pub(crate) strict: bool,
}

impl Options {
    /// Parses the options. `None` if the user asks for help.
    ///
    /// # Errors
    /// Returns an error for an unknown option or an invalid value.
    pub(crate) fn parse(arguments: &[&str]) -> Result<Option<Self>> {
        let mut options = Self {
            compare: None,
            sizes: SIZES.to_vec(),
            runs: 3,
            only: Vec::new(),
            large: false,
            build: true,
            dist: false,
            strict: false,
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value =
                || rest.next().copied().with_context(|| format!("{argument} needs a value"));
            match *argument {
                "--help" | "-h" => return Ok(None),
                "--compare" => match value()? {
                    "none" => options.compare = Some(Vec::new()),
                    name => options.compare.get_or_insert_default().push(name.to_owned()),
                },
                "--n" => options.sizes = sizes(value()?)?,
                "--runs" => options.runs = at_least_one(value()?)?,
                "--only" => options.only = value()?.split(',').map(str::to_owned).collect(),
                "--large" => options.large = true,
                "--no-build" => options.build = false,
                "--dist" => options.dist = true,
                "--strict" => options.strict = true,
                other => bail!("there is no option {other}\n\n{USAGE}"),
            }
        }
        Ok(Some(options))
    }

    /// Returns true if the options select the measurement with this name.
    pub(crate) fn wants(&self, name: &str) -> bool {
        let has_all = |words: &String| {
            words.split('.').all(|word| match word.strip_prefix('-') {
                Some(absent) => !name.contains(absent),
                None => name.contains(word),
            })
        };
        self.only.is_empty() || self.only.iter().any(has_all)
    }
}

fn sizes(text: &str) -> Result<Vec<usize>> {
    text.split(',').map(at_least_one).collect()
}

fn at_least_one(text: &str) -> Result<usize> {
    match text.replace('_', "").parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => bail!("{text:?} is not a whole number above zero"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bench_options_are_parsed_or_refused() {
        let parsed = Options::parse(&[
            "--n",
            "10,2_000",
            "--only",
            "plan,parse",
            "--compare",
            "none",
            "--large",
        ]);
        let options = parsed.expect("are right").expect("ask for no help");
        assert_eq!(options.sizes, [10, 2_000]);
        assert_eq!(options.compare.as_deref(), Some(&[][..]));
        assert!(
            options.large
                && !options.strict
                && options.wants("plan, N = 10")
                && !options.wants("apply")
        );
        let parsed =
            Options::parse(&["--only", "plan.modules"]).expect("is right").expect("no help");
        assert!(parsed.wants("plan, modules") && !parsed.wants("validate, modules"));
        let parsed =
            Options::parse(&["--only", "plan.-growth"]).expect("is right").expect("no help");
        assert!(parsed.wants("plan, modules") && !parsed.wants("growth: plan"));
        for wrong in [&["--n", "0"][..], &["--n"], &["--m"], &["--runs", "many"]] {
            Options::parse(wrong).expect_err("is wrong");
        }
    }
}
