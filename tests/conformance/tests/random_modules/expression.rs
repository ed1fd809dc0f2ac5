//! Random expressions of a given kind, over the names of a module.

/// A random number generator with the options of a configuration.
pub(crate) struct Random {
    numbers: fastrand::Rng,
    /// True if expressions may reveal sensitive values with `nonsensitive`.
    reveals: bool,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random { numbers: fastrand::Rng::with_seed(seed), reveals: seed.is_multiple_of(4) }
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.numbers.usize(..bound.max(1))
    }

    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// The kind of an expression's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Text,
    Number,
    Bool,
    List,
    Map,
    /// `object({ a = string, b = number })`
    Object,
}

impl Kind {
    pub(crate) const ALL: [Kind; 6] =
        [Kind::Text, Kind::Number, Kind::Bool, Kind::List, Kind::Map, Kind::Object];

    /// The kind as a type constraint.
    pub(crate) fn constraint(self) -> &'static str {
        match self {
            Kind::Text => "string",
            Kind::Number => "number",
            Kind::Bool => "bool",
            Kind::List => "list(string)",
            Kind::Map => "map(string)",
            Kind::Object => "object({ a = string, b = optional(number, 3), c = optional(string) })",
        }
    }
}

/// The marks that a value may have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Marks {
    Plain,
    Sensitive,
    /// Any marks, including ephemeral.
    Any,
}

/// A name that expressions can use.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) kind: Kind,
    /// The strongest marks that its value can have.
    pub(crate) marks: Marks,
}

impl Name {
    pub(crate) fn new(text: impl Into<String>, kind: Kind, marks: Marks) -> Name {
        Name { text: text.into(), kind, marks }
    }
}

/// Generates expressions over the names in scope.
pub(crate) struct Expressions<'a> {
    pub(crate) random: &'a mut Random,
    pub(crate) names: &'a [Name],
    /// The names that enclosing loops and blocks bind.
    pub(crate) bound: Vec<Name>,
}

impl Expressions<'_> {
    /// Generates an expression of a kind with at most these marks.
    pub(crate) fn make(&mut self, kind: Kind, marks: Marks, depth: usize) -> String {
        if depth == 0 || self.random.percent(15) {
            return self.leaf(kind, marks);
        }
        let depth = depth - 1;
        match self.random.below(20) {
            0 | 1 => self.choice(kind, marks, depth),
            2 => {
                let (a, b) = (self.make(kind, marks, depth), self.make(kind, marks, depth));
                format!("try({a}, {b})")
            }
            3 => {
                let (a, b) = (self.make(kind, marks, depth), self.make(kind, marks, depth));
                let index = self.random.below(2);
                format!("[{a}, {b}][{index}]")
            }
            4 => {
                let (a, b) = (self.make(kind, marks, depth), self.make(kind, marks, depth));
                let key = self.make(Kind::Text, marks, 0);
                format!("try({{ a = {a}, b = {b} }}[{key}], {a})")
            }
            5 if marks >= Marks::Sensitive => {
                format!("sensitive({})", self.make(kind, marks, depth))
            }
            _ => self.of_kind(kind, marks, depth),
        }
    }

    /// Generates a true condition that reads arbitrary values.
    pub(crate) fn truth(&mut self) -> String {
        let a = self.make(Kind::Bool, Marks::Any, 2);
        match self.random.below(3) {
            0 => format!("({a}) == ({a})"),
            1 => format!("can({a}) || true"),
            _ => format!("!(false && {a})"),
        }
    }

    fn choice(&mut self, kind: Kind, marks: Marks, depth: usize) -> String {
        let condition = self.make(Kind::Bool, marks, depth);
        let (a, b) = (self.make(kind, marks, depth), self.make(kind, marks, depth));
        format!("({condition} ? {a} : {b})")
    }

    fn leaf(&mut self, kind: Kind, marks: Marks) -> String {
        let fits = |it: &&Name| it.kind == kind && it.marks <= marks;
        let mut found: Vec<&Name> = self.names.iter().chain(&self.bound).filter(fits).collect();
        // An expression that may have marks should usually have some.
        if marks > Marks::Plain && found.iter().any(|it| it.marks == marks) {
            found.retain(|it| it.marks == marks);
        }
        if !found.is_empty() && self.random.percent(85) {
            return self.random.of(&found).text.clone();
        }
        let literals: &[&str] = match kind {
            Kind::Text => &["\"a\"", "\"k\"", "\"plain\""],
            Kind::Number => &["1", "2", "0.5"],
            Kind::Bool => &["true", "false"],
            Kind::List => &["[\"x\", \"y\"]", "tolist([\"a\"])", "[]"],
            Kind::Map => &["{ a = \"x\" }", "{ a = \"x\", b = \"y\" }", "{}"],
            Kind::Object => &["{ a = \"o\", b = 1 }"],
        };
        (*self.random.of(literals)).to_owned()
    }

    fn of_kind(&mut self, kind: Kind, marks: Marks, depth: usize) -> String {
        match kind {
            Kind::Text => self.text(marks, depth),
            Kind::Number => self.number(marks, depth),
            Kind::Bool => self.bool(marks, depth),
            Kind::List => self.list(marks, depth),
            Kind::Map => self.map(marks, depth),
            Kind::Object => {
                let a = self.make(Kind::Text, marks, depth);
                let b = self.make(Kind::Number, marks, depth);
                format!("{{ a = {a}, b = {b} }}")
            }
        }
    }

    /// Generates an expression in which `variable` is in scope.
    fn with(&mut self, variable: Name, kind: Kind, marks: Marks, depth: usize) -> String {
        self.bound.push(variable);
        let made = self.make(kind, marks, depth);
        self.bound.pop();
        made
    }

    fn text(&mut self, marks: Marks, depth: usize) -> String {
        let a = self.make(Kind::Text, marks, depth);
        match self.random.below(24) {
            0 | 1 => format!("\"<${{{a}}}>\""),
            2 => format!("\"${{{a}}}-${{{}}}\"", self.make(Kind::Text, marks, depth)),
            3 => {
                let condition = self.make(Kind::Bool, marks, depth);
                format!("\"%{{ if {condition} }}${{{a}}}%{{ else }}z%{{ endif }}\"")
            }
            4 => {
                let all = self.make(Kind::List, marks, depth);
                format!("\"%{{ for it in {all} }}${{it}}%{{ endfor }}\"")
            }
            5 => format!("upper({a})"),
            6 => format!("join(\"+\", {})", self.make(Kind::List, marks, depth)),
            7 => {
                let kind = *self.random.of(&Kind::ALL);
                format!("jsonencode({})", self.make(kind, marks, depth))
            }
            8 => format!("coalesce({a}, \"none\")"),
            9 => format!("lookup({}, \"a\", {a})", self.make(Kind::Map, marks, depth)),
            10 => format!("element([{a}, \"e\"], {})", self.random.below(3)),
            11 => format!("one([{a}])"),
            12 => format!("format(\"%s!\", {a})"),
            13 => format!("({}).a", self.make(Kind::Object, marks, depth)),
            14 => format!("tostring({})", self.make(Kind::Number, marks, depth)),
            15 => {
                let kind = *self.random.of(&Kind::ALL);
                // `ephemeralasnull` keeps the mark "sensitive", but that mark is not guaranteed to survive a
                // provider's read.
                let most = match marks {
                    Marks::Plain if !self.random.reveals => Marks::Plain,
                    _ => Marks::Any,
                };
                let secret = self.make(kind, most, depth);
                match self.random.reveals {
                    true => format!("jsonencode(nonsensitive(ephemeralasnull({secret})))"),
                    false => format!("jsonencode(ephemeralasnull({secret}))"),
                }
            }
            16 => format!("replace({a}, \"x\", \"-\")"),
            17 => format!("base64decode(base64encode({a}))"),
            18 => {
                let b = self.make(Kind::Text, marks, depth);
                format!("([for it in [{{ a = {a} }}, {{ a = {b} }}] : it][*].a)[0]")
            }
            19 => format!("jsondecode(jsonencode({{ it = {a} }})).it"),
            20 => format!("{{ a = {a}, b = \"b\" }}[\"a\"]"),
            21 => {
                let all = self.make(Kind::Map, marks, depth);
                let condition =
                    self.with(Name::new("v", Kind::Text, marks), Kind::Bool, marks, depth);
                format!(
                    "\"%{{ for k, v in {all} ~}} ${{k}}%{{ if {condition} ~}} ${{v}} %{{~ endif }}%{{ endfor ~}} \""
                )
            }
            22 => {
                let all = self.make(Kind::List, marks, depth);
                let inner = self.with(Name::new("v", Kind::Text, marks), Kind::Text, marks, depth);
                format!(
                    "\"%{{ for v in {all} }}%{{ for w in [{inner}] }}${{v}}${{w}}%{{ endfor }}%{{ endfor }}\""
                )
            }
            _ => format!("trimspace({a})"),
        }
    }

    fn number(&mut self, marks: Marks, depth: usize) -> String {
        match self.random.below(7) {
            0 => format!("length({})", self.make(Kind::List, marks, depth)),
            1 => format!("length({})", self.make(Kind::Text, marks, depth)),
            // The number of elements has no marks.
            2 => format!("length([{}])", self.make(Kind::Text, Marks::Any, depth)),
            3 => format!("({}).b", self.make(Kind::Object, marks, depth)),
            4 => {
                let a = self.make(Kind::Text, marks, depth);
                format!("try(tonumber({a}), {})", self.make(Kind::Number, marks, depth))
            }
            5 => format!("-{}", self.make(Kind::Number, marks, 0)),
            _ => {
                let a = self.make(Kind::Number, marks, depth);
                format!("({a} + {})", self.make(Kind::Number, marks, depth))
            }
        }
    }

    fn bool(&mut self, marks: Marks, depth: usize) -> String {
        match self.random.below(8) {
            0 => {
                let kind = *self.random.of(&Kind::ALL);
                let a = self.make(kind, marks, depth);
                format!("({a} == {})", self.make(kind, marks, depth))
            }
            1 => format!("({} != null)", self.make(Kind::Text, marks, depth)),
            2 => {
                let a = self.make(Kind::Bool, marks, depth);
                format!("({a} && {})", self.make(Kind::Bool, marks, depth))
            }
            3 => format!("!{}", self.make(Kind::Bool, marks, 0)),
            4 => format!("can(tonumber({}))", self.make(Kind::Text, marks, depth)),
            5 => {
                let all = self.make(Kind::List, marks, depth);
                format!("contains({all}, {})", self.make(Kind::Text, marks, depth))
            }
            6 => format!("issensitive({})", self.make(Kind::Text, marks, depth)),
            _ => {
                let a = self.make(Kind::Number, marks, depth);
                format!("({a} < {})", self.make(Kind::Number, marks, depth))
            }
        }
    }

    fn list(&mut self, marks: Marks, depth: usize) -> String {
        let a = self.make(Kind::Text, marks, depth);
        match self.random.below(14) {
            0 | 1 => format!("[{a}, {}]", self.make(Kind::Text, marks, depth)),
            2 => {
                let all = self.make(Kind::List, marks, depth);
                let each = self.with(Name::new("v", Kind::Text, marks), Kind::Text, marks, depth);
                format!("[for v in {all} : {each}]")
            }
            3 => {
                let all = self.make(Kind::List, marks, depth);
                let filter = self.with(Name::new("v", Kind::Text, marks), Kind::Bool, marks, depth);
                format!("[for v in {all} : v if {filter}]")
            }
            4 => format!("[for k, v in {} : \"${{k}}${{v}}\"]", self.make(Kind::Map, marks, depth)),
            5 => format!("concat({}, [{a}])", self.make(Kind::List, marks, depth)),
            6 => format!("tolist(toset([{a}, \"s\"]))"),
            7 => format!("flatten([{}, [{a}]])", self.make(Kind::List, marks, depth)),
            // Keys have no marks.
            8 => format!("keys({{ a = {} }})", self.make(Kind::Text, Marks::Any, depth)),
            9 => format!("keys({})", self.make(Kind::Map, marks, depth)),
            10 => format!("values({})", self.make(Kind::Map, marks, depth)),
            11 => format!("distinct({})", self.make(Kind::List, marks, depth)),
            12 => format!("split(\"-\", {a})"),
            _ => {
                let (a, b) = (self.make(Kind::Object, marks, 0), self.make(Kind::Object, marks, 0));
                format!("[{a}, {b}][*].a")
            }
        }
    }

    fn map(&mut self, marks: Marks, depth: usize) -> String {
        let a = self.make(Kind::Text, marks, depth);
        match self.random.below(8) {
            0 | 1 => format!("{{ a = {a}, b = {} }}", self.make(Kind::Text, marks, depth)),
            2 => format!("merge({}, {{ c = {a} }})", self.make(Kind::Map, marks, depth)),
            3 => {
                let all = self.make(Kind::Map, marks, depth);
                let each = self.with(Name::new("v", Kind::Text, marks), Kind::Text, marks, depth);
                format!("{{ for k, v in {all} : k => {each} }}")
            }
            4 => format!("zipmap([\"a\", \"b\"], [{a}, \"z\"])"),
            5 => format!("{{ ({a}) = \"key\" }}"),
            6 => format!("tomap({{ t = {a} }})"),
            _ => format!(
                "{{ for v in {} : v => v... }} == {{}} ? {{}} : {{ a = {a} }}",
                self.make(Kind::List, marks, depth)
            ),
        }
    }
}
