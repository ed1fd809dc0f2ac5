//! Generates random expressions as trees of text, so that a failing one can be shrunk.

use values::functions::{Function, Shape};

use crate::rng::Rng;

/// Strings that are meaningful arguments of some functions.
const MEANING: &[&str] = &[
    "\"2020-02-03T04:05:06Z\"",
    "\"1h30m\"",
    "\"YYYY\"",
    "\"10.0.0.0/8\"",
    "\"fd00::/64\"",
    "\"a: [1, b]\"",
    "\"a,b\\n1,2\"",
    "\"{}\"",
    "\"aGk=\"",
    "\"dns\"",
    "\"UTF-8\"",
    "\"**\"",
    "\"(a)(b)?\"",
    "\"%s\"",
    "\"H4sIAAAAAAAA/8pIzcnJBwAAAP//AQAA//+GphA2BQAAAA==\"",
];

/// Types for `convert`.
const TYPES: &[&str] = &[
    "string",
    "number",
    "bool",
    "any",
    "list(string)",
    "list(any)",
    "set(string)",
    "set(any)",
    "map(string)",
    "map(any)",
    "tuple([string, any])",
    "object({})",
    "object({a = string})",
    "object({a = any, k = optional(string)})",
    "object({a = optional(string, \"d\"), b = optional(number, 7)})",
    "object({h = optional(string, \"d\"), p = optional(any, null), s = optional(number, 1)})",
    "object({in = optional(object({h = optional(string, \"d\")}), {}), l = optional(list(string), [])})",
    "list(object({a = optional(string, \"d\"), h = optional(string, \"e\")}))",
    "map(object({a = optional(any, \"d\")}))",
    "set(object({a = optional(string, \"d\")}))",
    "tuple([object({a = optional(number, 1)}), object({h = optional(string, \"x\")})])",
];

/// Text with placeholders: `parts` has one element more than `children`.
#[derive(Clone)]
pub(crate) struct Tree {
    parts: Vec<String>,
    children: Vec<Tree>,
}

impl Tree {
    fn leaf(text: impl Into<String>) -> Tree {
        Tree { parts: vec![text.into()], children: Vec::new() }
    }

    /// Builds a tree from a pattern with a `§` for each child.
    fn of(pattern: &str, children: Vec<Tree>) -> Tree {
        let parts: Vec<String> = pattern.split('§').map(str::to_owned).collect();
        assert_eq!(parts.len(), children.len() + 1, "{pattern}");
        Tree { parts, children }
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) {
        for (part, child) in self.parts.iter().zip(&self.children) {
            text.push_str(part);
            child.write(text);
        }
        text.push_str(&self.parts[self.children.len()]);
    }

    fn size(&self) -> usize {
        1 + self.children.iter().map(Tree::size).sum::<usize>()
    }

    /// All trees that are one step simpler: a subtree replaced by one of its children, or by a short literal.
    pub(crate) fn simpler(&self) -> Vec<Tree> {
        let mut found: Vec<Tree> = self.children.clone();
        if self.size() > 1 {
            found.extend(["null", "1", "\"a\"", "true", "[]"].map(Tree::leaf));
        }
        for (position, child) in self.children.iter().enumerate() {
            for simpler in child.simpler() {
                let mut tree = self.clone();
                tree.children[position] = simpler;
                found.push(tree);
            }
        }
        found
    }
}

/// The wanted kind of an expression. The generator follows it in most cases.
#[derive(Clone, Copy, PartialEq)]
enum Want {
    Text,
    Number,
    Bool,
    Sequence,
    Mapping,
    Any,
}

/// The generator of expressions.
pub(crate) struct Generator<'r> {
    rng: &'r mut Rng,
    /// The names that enclosing loops bind.
    bound: Vec<&'static str>,
}

impl<'r> Generator<'r> {
    pub(crate) fn new(rng: &'r mut Rng) -> Generator<'r> {
        Generator { rng, bound: Vec::new() }
    }

    pub(crate) fn expression(&mut self) -> Tree {
        let depth = 1 + self.rng.below(4);
        self.make(Want::Any, depth)
    }

    fn make(&mut self, want: Want, depth: usize) -> Tree {
        let want = match self.rng.below(100) {
            0..8 => Want::Any,
            _ => want,
        };
        if depth == 0 || self.rng.percent(10) {
            return self.leaf(want);
        }
        let depth = depth - 1;
        match self.rng.below(100) {
            0..12 => self.access(want, depth),
            12..22 => self.conditional(want, depth),
            22..30 => self.attempt(want, depth),
            30..34 => self.marking(want, depth),
            _ => self.own_form(want, depth),
        }
    }

    fn own_form(&mut self, want: Want, depth: usize) -> Tree {
        match want {
            Want::Text => self.text(depth),
            Want::Number => self.number(depth),
            Want::Bool => self.bool(depth),
            Want::Sequence => self.sequence(depth),
            Want::Mapping => self.mapping(depth),
            Want::Any => {
                let all = [Want::Text, Want::Number, Want::Bool, Want::Sequence, Want::Mapping];
                let want = *self.rng.pick(&all);
                self.own_form(want, depth)
            }
        }
    }

    fn leaf(&mut self, want: Want) -> Tree {
        if !self.bound.is_empty() && self.rng.percent(40) {
            return Tree::leaf(*self.rng.pick(&self.bound));
        }
        let texts: &[&str] = match want {
            Want::Text => &[
                "\"a\"",
                "\"k\"",
                "\"\"",
                "var.s",
                "var.e",
                "var.x",
                "var.ex",
                "var.me",
                "var.mixed.h",
                "var.mixed.p",
                "var.o.a",
                "var.each[0]",
                "var.pair[1]",
                "\"1\"",
                "null",
            ],
            Want::Number => &[
                "0",
                "1",
                "2",
                "var.n",
                "var.en",
                "var.xn",
                "var.mixed.s",
                "var.o.b",
                "var.eachm.k",
                "-1",
                "var.lany[1]",
            ],
            Want::Bool => &["true", "false", "var.t", "var.et", "var.xt", "var.mx", "\"true\""],
            Want::Sequence => &[
                "[]",
                "var.l",
                "var.ln",
                "var.st",
                "var.lo",
                "var.tu",
                "var.el",
                "var.est",
                "var.ml",
                "var.pair",
                "var.objs",
                "var.each",
                "var.eacho",
                "var.somel",
                "var.deep.l",
                "var.lany",
                "[1, \"a\"]",
                "[null]",
                "[\"a\", \"b\"]",
            ],
            Want::Mapping => &[
                "{}",
                "var.m",
                "var.o",
                "var.eo",
                "var.xm",
                "var.mixed",
                "var.open",
                "var.deep",
                "var.deep.in",
                "var.eachm",
                "var.some",
                "var.someo",
                "{a = 1, b = \"x\"}",
                "{a = null}",
            ],
            Want::Any => &[
                "var.any", "var.any2", "var.eany", "null", "var.deep", "var.open", "var.s",
                "var.e", "var.x",
            ],
        };
        Tree::leaf(*self.rng.pick(texts))
    }

    /// Generates a call of a function, with most arguments of the kinds that it expects.
    pub(crate) fn call_of(&mut self, function: &Function) -> Tree {
        let more = if function.variadic.is_some() { self.rng.below(3) } else { 0 };
        let arguments: Vec<Tree> = (0..function.params.len() + more)
            .map(|position| self.argument(function, position))
            .collect();
        bracketed(&format!("{}(", function.name), arguments, ")")
    }

    fn argument(&mut self, function: &Function, position: usize) -> Tree {
        let shape = function.parameter(position).map_or(Shape::Any, |parameter| parameter.shape);
        let want = match shape {
            Shape::Bool => Want::Bool,
            Shape::Number => Want::Number,
            Shape::String if self.rng.percent(40) => return Tree::leaf(*self.rng.pick(MEANING)),
            Shape::String => Want::Text,
            Shape::Map | Shape::MapOfListsOfString => Want::Mapping,
            Shape::Type => return Tree::leaf(*self.rng.pick(TYPES)),
            Shape::Any => *self.rng.pick(&[Want::Sequence, Want::Mapping, Want::Text, Want::Any]),
            _ => Want::Sequence,
        };
        self.make(want, 2)
    }

    fn many(&mut self, want: Want, depth: usize, most: usize) -> Vec<Tree> {
        (0..self.rng.below(most + 1)).map(|_| self.make(want, depth)).collect()
    }

    fn conditional(&mut self, want: Want, depth: usize) -> Tree {
        let condition = self.make(Want::Bool, depth);
        let then = self.make(want, depth);
        let otherwise =
            if self.rng.percent(15) { Tree::leaf("null") } else { self.make(want, depth) };
        Tree::of("(§ ? § : §)", vec![condition, then, otherwise])
    }

    fn attempt(&mut self, want: Want, depth: usize) -> Tree {
        if want == Want::Bool && self.rng.percent(60) {
            let tried = self.make(Want::Any, depth);
            return Tree::of("can(§)", vec![tried]);
        }
        let (a, b) = (self.make(want, depth), self.make(want, depth));
        match self.rng.below(8) {
            0 => Tree::of("try(§)", vec![a]),
            1 => {
                let c = self.make(want, depth);
                Tree::of("try(§, §, §)", vec![a, b, c])
            }
            2 => Tree::of("try(§...)", vec![Tree::of("[§, §]", vec![a, b])]),
            3 => Tree::of("try(tonumber(§), §)", vec![a, b]),
            _ => Tree::of("try(§, §)", vec![a, b]),
        }
    }

    fn marking(&mut self, want: Want, depth: usize) -> Tree {
        let value = self.make(want, depth);
        let name = *self.rng.pick(&["sensitive", "nonsensitive", "ephemeralasnull"]);
        Tree::of(&format!("{name}(§)"), vec![value])
    }

    /// Generates an access to a part of a container.
    fn access(&mut self, want: Want, depth: usize) -> Tree {
        match self.rng.below(12) {
            0 => Tree::of(
                "§[§]",
                vec![self.closed(Want::Sequence, depth), self.make(Want::Number, depth)],
            ),
            1 => Tree::of("§[0]", vec![self.closed(Want::Sequence, depth)]),
            2 => Tree::of(
                "§[§]",
                vec![self.closed(Want::Mapping, depth), self.make(Want::Text, depth)],
            ),
            3 => Tree::of("§.a", vec![self.closed(Want::Mapping, depth)]),
            4 => Tree::of("§[\"k\"]", vec![self.closed(Want::Mapping, depth)]),
            5 => Tree::of(
                "[§, §][§]",
                vec![
                    self.make(want, depth),
                    self.make(want, depth),
                    self.make(Want::Number, depth),
                ],
            ),
            6 => Tree::of("{a = §, b = §}.b", vec![self.make(want, depth), self.make(want, depth)]),
            7 => {
                let name = *self.rng.pick(&["p", "h", "s", "a", "in", "l"]);
                Tree::of(&format!("§.{name}"), vec![self.closed(Want::Mapping, depth)])
            }
            8 => Tree::of(
                "element(§, §)",
                vec![self.make(Want::Sequence, depth), self.make(Want::Number, depth)],
            ),
            9 => Tree::of(
                "lookup(§, §)",
                vec![self.make(Want::Mapping, depth), self.make(Want::Text, depth)],
            ),
            10 => Tree::of(
                "lookup(§, §, §)",
                vec![
                    self.make(Want::Mapping, depth),
                    self.make(Want::Text, depth),
                    self.make(want, depth),
                ],
            ),
            _ => Tree::of("one(§)", vec![self.make(Want::Sequence, depth)]),
        }
    }

    /// Generates an expression in parentheses, which any step can follow.
    fn closed(&mut self, want: Want, depth: usize) -> Tree {
        Tree::of("(§)", vec![self.make(want, depth)])
    }

    fn text(&mut self, depth: usize) -> Tree {
        match self.rng.below(14) {
            0 => Tree::of("\"a${§}\"", vec![self.make(Want::Text, depth)]),
            1 => Tree::of(
                "\"${§}${§}\"",
                vec![self.make(Want::Text, depth), self.make(Want::Number, depth)],
            ),
            2 => Tree::of("\"${§}\"", vec![self.make(Want::Text, depth)]),
            3 => Tree::of(
                "\"x%{ if § }${§}%{ else }b%{ endif }\"",
                vec![self.make(Want::Bool, depth), self.make(Want::Text, depth)],
            ),
            4 => {
                let collection = self.make(Want::Sequence, depth);
                let body = self.inside(&["q"], |it| it.make(Want::Text, depth));
                Tree::of("\"%{ for q in § }${§},%{ endfor }\"", vec![collection, body])
            }
            5 => Tree::of("jsonencode(§)", vec![self.make(Want::Any, depth)]),
            6 => Tree::of("join(\",\", §)", vec![self.make(Want::Sequence, depth)]),
            7 => Tree::of(
                "format(\"%v-%v\", §, §)",
                vec![self.make(Want::Any, depth), self.make(Want::Text, depth)],
            ),
            8 => Tree::of("tostring(§)", vec![self.make(Want::Text, depth)]),
            9 => Tree::of(
                "coalesce(§, §)",
                vec![self.make(Want::Text, depth), self.make(Want::Text, depth)],
            ),
            10 => Tree::of(
                "replace(§, \"a\", §)",
                vec![self.make(Want::Text, depth), self.make(Want::Text, depth)],
            ),
            11 => Tree::of("provider::x::f(§)", vec![self.make(Want::Any, depth)]),
            12 => Tree::of("file(§)", vec![self.make(Want::Text, depth)]),
            _ => {
                let name =
                    *self.rng.pick(&["upper", "sha256", "base64encode", "trimspace", "timestamp"]);
                match name {
                    "timestamp" => Tree::leaf("timestamp()"),
                    name => Tree::of(&format!("{name}(§)"), vec![self.make(Want::Text, depth)]),
                }
            }
        }
    }

    fn number(&mut self, depth: usize) -> Tree {
        match self.rng.below(9) {
            0 | 1 => {
                let op = *self.rng.pick(&["+", "-", "*", "/", "%"]);
                Tree::of(
                    &format!("(§ {op} §)"),
                    vec![self.make(Want::Number, depth), self.make(Want::Number, depth)],
                )
            }
            2 => Tree::of("-§", vec![self.closed(Want::Number, depth)]),
            3 | 4 => {
                let want = *self.rng.pick(&[Want::Sequence, Want::Mapping, Want::Any, Want::Text]);
                Tree::of("length(§)", vec![self.make(want, depth)])
            }
            5 => Tree::of("tonumber(§)", vec![self.make(Want::Text, depth)]),
            6 => Tree::of(
                "max(§, §...)",
                vec![self.make(Want::Number, depth), self.make(Want::Sequence, depth)],
            ),
            7 => Tree::of("parseint(§, 10)", vec![self.make(Want::Text, depth)]),
            _ => Tree::of(
                "max(§, §)",
                vec![self.make(Want::Number, depth), self.make(Want::Number, depth)],
            ),
        }
    }

    fn bool(&mut self, depth: usize) -> Tree {
        match self.rng.below(10) {
            0 | 1 => {
                let op = *self.rng.pick(&["==", "!="]);
                Tree::of(
                    &format!("(§ {op} §)"),
                    vec![self.make(Want::Any, depth), self.make(Want::Any, depth)],
                )
            }
            2 => Tree::of("(§ == null)", vec![self.make(Want::Any, depth)]),
            3 => Tree::of(
                "(§ < §)",
                vec![self.make(Want::Number, depth), self.make(Want::Number, depth)],
            ),
            4 => Tree::of(
                "(§ && §)",
                vec![self.make(Want::Bool, depth), self.make(Want::Bool, depth)],
            ),
            5 => Tree::of(
                "(§ || §)",
                vec![self.make(Want::Bool, depth), self.make(Want::Bool, depth)],
            ),
            6 => Tree::of("!§", vec![self.closed(Want::Bool, depth)]),
            7 => Tree::of(
                "contains(§, §)",
                vec![self.make(Want::Sequence, depth), self.make(Want::Text, depth)],
            ),
            8 => Tree::of("issensitive(§)", vec![self.make(Want::Any, depth)]),
            _ => Tree::of("tobool(§)", vec![self.make(Want::Bool, depth)]),
        }
    }

    fn sequence(&mut self, depth: usize) -> Tree {
        match self.rng.below(22) {
            0 | 1 => {
                let items = self.many(Want::Any, depth, 3);
                bracketed("[", items, "]")
            }
            2 => {
                let items = self.many(Want::Text, depth, 3);
                bracketed("[", items, "]")
            }
            3 | 4 => {
                let want = *self.rng.pick(&[Want::Sequence, Want::Sequence, Want::Mapping]);
                let collection = self.make(want, depth);
                self.for_tuple(collection, depth)
            }
            5 => Tree::of("§[*]", vec![self.closed(Want::Sequence, depth)]),
            6 => {
                let suffix = *self.rng.pick(&["[*].h", "[*].a", ".*.p", "[*][0]", "[*].s", "[*]"]);
                let want = *self.rng.pick(&[Want::Sequence, Want::Any, Want::Mapping]);
                Tree::of(&format!("§{suffix}"), vec![self.closed(want, depth)])
            }
            7 => Tree::of("(var.eacho)[*][§]", vec![self.make(Want::Text, depth)]),
            8 => Tree::of("tolist(§)", vec![self.make(Want::Sequence, depth)]),
            9 => Tree::of("toset(§)", vec![self.make(Want::Sequence, depth)]),
            10 => Tree::of(
                "concat(§, §)",
                vec![self.make(Want::Sequence, depth), self.make(Want::Sequence, depth)],
            ),
            11 => Tree::of(
                "flatten([§, §])",
                vec![self.make(Want::Sequence, depth), self.make(Want::Sequence, depth)],
            ),
            12 => Tree::of("flatten(§)", vec![self.make(Want::Sequence, depth)]),
            13 => Tree::of("values(§)", vec![self.make(Want::Mapping, depth)]),
            14 => Tree::of("keys(§)", vec![self.make(Want::Mapping, depth)]),
            15 => Tree::of("reverse(§)", vec![self.make(Want::Sequence, depth)]),
            16 => Tree::of(
                "slice(§, 0, §)",
                vec![self.make(Want::Sequence, depth), self.make(Want::Number, depth)],
            ),
            17 => Tree::of(
                "split(§, §)",
                vec![self.make(Want::Text, depth), self.make(Want::Text, depth)],
            ),
            18 => Tree::of("distinct(§)", vec![self.make(Want::Sequence, depth)]),
            19 => Tree::of("range(§)", vec![self.make(Want::Number, depth)]),
            20 => Tree::of("chunklist(§, 2)", vec![self.make(Want::Sequence, depth)]),
            _ => Tree::of(
                "setunion(§, §)",
                vec![self.make(Want::Sequence, depth), self.make(Want::Sequence, depth)],
            ),
        }
    }

    fn for_tuple(&mut self, collection: Tree, depth: usize) -> Tree {
        let (names, intro): (&[&'static str], _) = match self.rng.percent(50) {
            true => (&["v"], "v"),
            false => (&["k", "v"], "k, v"),
        };
        let body = self.inside(names, |it| it.make(Want::Any, depth));
        if self.rng.percent(40) {
            let condition = self.inside(names, |it| it.make(Want::Bool, depth));
            return Tree::of(
                &format!("[for {intro} in § : § if §]"),
                vec![collection, body, condition],
            );
        }
        Tree::of(&format!("[for {intro} in § : §]"), vec![collection, body])
    }

    fn mapping(&mut self, depth: usize) -> Tree {
        match self.rng.below(14) {
            0 | 1 => Tree::of(
                "{a = §, b = §}",
                vec![self.make(Want::Any, depth), self.make(Want::Any, depth)],
            ),
            2 => Tree::of("{a = §}", vec![self.make(Want::Any, depth)]),
            3 => Tree::of(
                "{(§) = §}",
                vec![self.make(Want::Text, depth), self.make(Want::Any, depth)],
            ),
            4 => Tree::of(
                "{(§) = §, b = §}",
                vec![
                    self.make(Want::Text, depth),
                    self.make(Want::Any, depth),
                    self.make(Want::Text, depth),
                ],
            ),
            5..8 => self.for_object(depth),
            8 => Tree::of(
                "merge(§, §)",
                vec![self.make(Want::Mapping, depth), self.make(Want::Mapping, depth)],
            ),
            9 => Tree::of(
                "merge(§...)",
                vec![Tree::of(
                    "[§, §]",
                    vec![self.make(Want::Mapping, depth), self.make(Want::Mapping, depth)],
                )],
            ),
            10 => Tree::of("tomap(§)", vec![self.make(Want::Mapping, depth)]),
            11 => Tree::of(
                "zipmap(§, §)",
                vec![self.make(Want::Sequence, depth), self.make(Want::Sequence, depth)],
            ),
            12 => Tree::of(
                "zipmap([\"a\", \"b\"], [§, §])",
                vec![self.make(Want::Any, depth), self.make(Want::Any, depth)],
            ),
            _ => Tree::of(
                "tomap({a = §, b = §})",
                vec![self.make(Want::Text, depth), self.make(Want::Text, depth)],
            ),
        }
    }

    fn for_object(&mut self, depth: usize) -> Tree {
        let want = *self.rng.pick(&[Want::Sequence, Want::Mapping, Want::Mapping]);
        let collection = self.make(want, depth);
        let names: &[&'static str] = &["k", "v"];
        let key = match self.rng.below(4) {
            0 => self.inside(names, |it| it.make(Want::Text, depth)),
            _ => Tree::leaf(*self.rng.pick(&["k", "k", "\"x${k}\"", "v"])),
        };
        let value = self.inside(names, |it| it.make(Want::Any, depth));
        let group = if self.rng.percent(30) { "..." } else { "" };
        if self.rng.percent(30) {
            let condition = self.inside(names, |it| it.make(Want::Bool, depth));
            return Tree::of(
                &format!("{{for k, v in § : § => §{group} if §}}"),
                vec![collection, key, value, condition],
            );
        }
        Tree::of(&format!("{{for k, v in § : § => §{group}}}"), vec![collection, key, value])
    }

    fn inside(&mut self, names: &[&'static str], make: impl FnOnce(&mut Self) -> Tree) -> Tree {
        let outer = self.bound.len();
        self.bound.extend(names);
        let made = make(self);
        self.bound.truncate(outer);
        made
    }
}

fn bracketed(open: &str, items: Vec<Tree>, close: &str) -> Tree {
    let holes = vec!["§"; items.len()].join(", ");
    Tree::of(&format!("{open}{holes}{close}"), items)
}
