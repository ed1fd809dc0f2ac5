//! Checks random expressions: each is inferred once, and evaluated with random values in several phases.

use hir::{
    analysis::{Abstract, ItemProblem, infer::Infer},
    eval::{Evaluated, evaluate},
    lower::{StandaloneExpression, lower_expression},
};

use crate::{
    conditions,
    generate::{Generator, Tree},
    names::{self, Declared, Name, Phase, Values},
    relation::{disagreement, show, show_known, unexplained, unforeseen},
    rng::Rng,
};

/// The number of expressions of a run, unless the environment sets another one.
const CASES: u64 = 3000;
/// The seeds of disagreements that long runs found.
const FOUND_BEFORE: [u64; 22] = [
    1_001_179, 1_006_009, 1_044_588, 1_086_952, 1_089_356, 2_011_313, 2_022_110, 2_083_005,
    2_126_040, 2_126_784, 2_188_329, 2_209_387, 2_229_084, 2_267_581, 2_285_894, 2_395_010,
    2_404_966, 2_645_893, 2_764_522, 2_773_635, 2_931_185, 2_959_727,
];

/// Shrunk expressions of earlier disagreements, each with the seed of its values.
const SHRUNK: [(u64, &str); 13] = [
    (7_086_943, "(element([var.any2], var.mixed.s) ? {(null) = var.x, b = 0} : var.s)"),
    (7_090_220, "try({a = var.eo[\"k\"], b = \"a\"}.b, var.any2)"),
    (
        7_091_425,
        "coalesce(1, (issensitive({a = var.x, b = var.x}) ? format(\"%v-%v\", var.eany, \
         \"${var.pair[1]}${var.deep}\") : null))",
    ),
    (
        7_091_425,
        "coalesce(1, (issensitive(null) ? format(\"%v-%v\", var.eany, \"${var.pair[1]}${var.deep}\") : null))",
    ),
    (5_030_741, "[for k, v in var.est : var.s if true][*][0]"),
    (5_044_636, "[for k, v in {a = 1, b = \"x\"} : var.t if var.xt][*].s"),
    (5_049_278, "((max(0, var.ln...) < 1) ? (var.s ? null : null) : null)"),
    (5_056_309, "[for k, v in var.xm : v][*].a"),
    (5_060_798, "tomap({a = toset(var.pair), b = var.any2})"),
    (5_089_162, "[for v in var.el : var.e if var.t][*][0]"),
    (6_034_969, "tomap(zipmap([\"a\", \"b\"], [true, try(var.e, var.e)]))"),
    (6_050_910, "(parseint([var.e, var.deep][var.o.b], 10) && var.t)"),
    (150, "setproduct([], setunion(lookup(var.eo, var.x, [\"a\", \"b\"]), var.pair))"),
];

/// Both domains: the variables with their abstract values.
pub(crate) struct Sides {
    names: Vec<Name>,
    declared: Declared,
}

/// A disagreement on an expression.
pub(crate) struct Wrong {
    /// The violated property. Shrinking preserves it.
    property: String,
    pub(crate) detail: String,
}

impl Sides {
    pub(crate) fn new() -> Sides {
        Sides::among(names::all())
    }

    /// Both domains, with these variables declared.
    pub(crate) fn among(names: Vec<Name>) -> Sides {
        let declared = Declared::new(&names);
        Sides { names, declared }
    }

    /// Returns true if the analysis reports no error for an expression.
    pub(crate) fn may_succeed(&self, text: &str) -> bool {
        let StandaloneExpression { exprs, root, .. } = lower_expression(text);
        let mut infer = Infer::new(&exprs, &self.declared);
        infer.expr(root);
        infer.problems.iter().all(|it| it.severity() != db::Severity::Error)
    }

    /// The abstract value of an expression.
    pub(crate) fn known(&self, text: &str) -> Abstract {
        let StandaloneExpression { exprs, root, problems, .. } = lower_expression(text);
        assert!(problems.is_empty(), "{text}: {problems:?}");
        Infer::new(&exprs, &self.declared).expr(root)
    }

    /// Returns the first disagreement of the domains on an expression, for random values of the seed. `None` if
    /// they agree.
    pub(crate) fn check(&self, text: &str, seed: u64) -> Option<Wrong> {
        let StandaloneExpression { exprs, root, problems, .. } = lower_expression(text);
        if !problems.is_empty() {
            return None;
        }
        let mut infer = Infer::new(&exprs, &self.declared);
        let known = infer.expr(root);
        let error = infer.problems.into_iter().find(|it| it.severity() == db::Severity::Error);
        if let Some(problem) = unexplained(&known) {
            return Some(wrong(problem, format!("known {}", show_known(&known))));
        }
        let mut rng = Rng::new(seed);
        for phase in Phase::ALL {
            let (at_apply, at_plan) = Values::random(&self.names, text, &mut rng, *phase);
            let applied = evaluate(&exprs, root, &at_apply).expect("nothing interrupts");
            let planned = evaluate(&exprs, root, &at_plan).expect("nothing interrupts");
            let untrue = || conditions::untrue(&known, &exprs, &at_apply, &applied, &planned);
            let found = judge(text, &known, error.as_ref(), &applied, &planned);
            if let Some(problem) = found.or_else(untrue) {
                let detail = format!(
                    "{}{}  known {} : {} : {}\n  applied {} : {}\n  planned {} : {}\n",
                    at_apply.shown(),
                    at_plan.shown(),
                    show_known(&known),
                    conditions::show(&known),
                    known.ty,
                    show(&applied.value),
                    applied.value.ty(),
                    show(&planned.value),
                    planned.value.ty(),
                );
                return Some(wrong(problem, detail));
            }
        }
        None
    }

    /// Returns true if the variable exists.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|it| it.name == name)
    }

    /// Shrinks an expression as long as it violates the same property.
    fn shrunk(&self, tree: Tree, wrong: Wrong, seed: u64) -> (Tree, Wrong) {
        let (mut tree, mut wrong) = (tree, wrong);
        'smaller: loop {
            for simpler in tree.simpler() {
                if simpler.text().len() >= tree.text().len() {
                    continue;
                }
                if let Some(found) = self.check(&simpler.text(), seed)
                    && found.property == wrong.property
                {
                    (tree, wrong) = (simpler, found);
                    continue 'smaller;
                }
            }
            return (tree, wrong);
        }
    }
}

fn wrong(problem: String, detail: String) -> Wrong {
    let property = problem.split(':').next().unwrap_or_default().to_owned();
    Wrong { property, detail: format!("{problem}\n{detail}") }
}

fn judge(
    text: &str,
    known: &Abstract,
    error: Option<&ItemProblem>,
    applied: &Evaluated,
    planned: &Evaluated,
) -> Option<String> {
    // An expression that fails during apply has no value to compare, whatever its planned value is.
    if applied.has_errors() {
        return None;
    }
    if let Some(error) = error {
        return Some(format!("error: evaluates, although: {}: {}", error.summary, error.detail));
    }
    if let Some(problem) = disagreement(known, &applied.value) {
        return Some(problem);
    }
    if planned.has_errors() {
        return None;
    }
    if let Some(problem) = disagreement(known, &planned.value) {
        return Some(format!("{problem} (planned)"));
    }
    if hides_marks(text) {
        return None;
    }
    unforeseen(&planned.value, &applied.value)
}

/// Returns true if the expression can suppress a failure: then the phases may differ in the values that they read.
/// `nonsensitive` is included, because it removes the marks inside of a known value but keeps those of an unknown
/// one.
fn hides_marks(text: &str) -> bool {
    let forms = ["?", "&&", "||", "try(", "can(", "%{ if", "nonsensitive("];
    forms.iter().any(|form| text.contains(form))
}

fn environment(name: &str, otherwise: u64) -> u64 {
    #[expect(clippy::disallowed_methods, reason = "a longer run is asked for by hand")]
    let given = std::env::var(name);
    given.ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// The variables `DOMAINS_SEED` and `DOMAINS_CASES` select the first seed and the number of cases.
#[test]
fn domains_agree_on_random_expressions() {
    let (seed, cases) = (environment("DOMAINS_SEED", 1), environment("DOMAINS_CASES", CASES));
    agree_on(seed..seed + cases);
}

#[test]
fn domains_agree_on_random_calls_of_every_function() {
    let calls = environment("DOMAINS_CASES", CASES) / 500 + 3;
    let functions = values::functions::all().filter(|it| it.is_for_configurations());
    let trees = functions.flat_map(|function| {
        (0..calls).map(move |seed| (seed, Generator::new(&mut Rng::new(seed)).call_of(function)))
    });
    agree(trees);
}

/// `convert` gets many cases, because its behavior depends on the type argument.
#[test]
fn domains_agree_on_random_calls_of_convert() {
    let convert = values::functions::lookup("convert").expect("it is there");
    let seeds = 0..environment("DOMAINS_CASES", CASES) / 2;
    agree(seeds.map(|seed| (seed, Generator::new(&mut Rng::new(seed)).call_of(convert))));
}

#[test]
fn domains_agree_on_seeds_of_earlier_disagreements() {
    agree_on(FOUND_BEFORE);
}

#[test]
fn domains_agree_on_shrunk_expressions() {
    let sides = Sides::new();
    for (seed, text) in SHRUNK {
        if let Some(wrong) = sides.check(text, seed) {
            panic!("{text}: {}", wrong.detail);
        }
    }
}

fn agree_on(seeds: impl IntoIterator<Item = u64>) {
    let expression = |seed| (seed, Generator::new(&mut Rng::new(seed)).expression());
    agree(seeds.into_iter().map(expression));
}

fn agree(trees: impl Iterator<Item = (u64, Tree)>) {
    let sides = Sides::new();
    let mut report = String::new();
    let mut count = 0;
    for (seed, tree) in trees {
        let Some(wrong) = sides.check(&tree.text(), seed) else { continue };
        let (tree, wrong) = sides.shrunk(tree, wrong, seed);
        count += 1;
        report.push_str(&format!("seed {seed}: {}\n  {}\n", tree.text(), wrong.detail));
        if count == 12 {
            break;
        }
    }
    assert!(report.is_empty(), "{count} disagreements\n{report}");
}

/// The tests are meaningful only if most expressions do not fail.
#[test]
fn most_random_expressions_can_be_evaluated() {
    let sides = Sides::new();
    let (mut evaluated, mut accepted) = (0, 0);
    for seed in 0..500 {
        let text = Generator::new(&mut Rng::new(seed)).expression().text();
        let StandaloneExpression { exprs, root, problems, .. } = lower_expression(&text);
        assert!(problems.is_empty(), "{text}: {problems:?}");
        let phase = Phase { nulls: 0, unknowns: 0 };
        let (values, _) = Values::random(&sides.names, &text, &mut Rng::new(seed), phase);
        let result = evaluate(&exprs, root, &values).expect("nothing interrupts");
        evaluated += u32::from(!result.has_errors());
        let mut infer = Infer::new(&exprs, &sides.declared);
        infer.expr(root);
        accepted += u32::from(infer.problems.is_empty());
    }
    assert!(evaluated >= 150, "only {evaluated} of 500 can be evaluated");
    assert!(accepted >= 200, "only {accepted} of 500 are accepted");
}
