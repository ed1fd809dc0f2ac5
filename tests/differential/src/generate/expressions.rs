//! Random expressions of a kind, over the names in the scope of a block.

use super::{Generator, playground};
use crate::model::{Block, Module};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    String,
    Number,
    Bool,
    List,
    Map,
}

pub(crate) const KINDS: &[Kind] = &[Kind::String, Kind::Number, Kind::Bool, Kind::List, Kind::Map];

impl Kind {
    pub(crate) fn letter(self) -> char {
        match self {
            Kind::String => 's',
            Kind::Number => 'n',
            Kind::Bool => 'b',
            Kind::List => 'l',
            Kind::Map => 'm',
        }
    }

    pub(crate) fn of_name(name: &str) -> Kind {
        let first = name.chars().next();
        *KINDS.iter().find(|it| Some(it.letter()) == first).unwrap_or(&Kind::String)
    }

    pub(crate) fn constraint(self) -> &'static str {
        match self {
            Kind::String => "string",
            Kind::Number => "number",
            Kind::Bool => "bool",
            Kind::List => "list(string)",
            Kind::Map => "map(string)",
        }
    }
}

/// The scope of an expression: the items to which it may refer.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) module: &'a Module,
    /// The modules that may be called, for the names of their outputs.
    pub(crate) modules: &'a [Module],
    /// Blocks with this key or a larger one are not referred to.
    pub(crate) below: u32,
    /// `count` or `for_each` if the block has that argument, so that `count` or `each` is in scope.
    pub(crate) repetition: Option<&'static str>,
    /// True if only values that are known before an apply may be referred to.
    pub(crate) is_static: bool,
}

impl<'a> Scope<'a> {
    pub(crate) fn of(module: &'a Module, modules: &'a [Module], below: u32) -> Scope<'a> {
        Scope { module, modules, below, repetition: None, is_static: false }
    }

    pub(crate) fn repeated(self, block: &Block) -> Scope<'a> {
        let repetition = ["count", "for_each"].into_iter().find(|it| block.argument(it).is_some());
        Scope { repetition, ..self }
    }

    pub(crate) fn known(self) -> Scope<'a> {
        Scope { is_static: true, ..self }
    }

    fn blocks(self) -> impl Iterator<Item = &'a Block> {
        self.module.blocks.iter().filter(move |it| it.key < self.below)
    }
}

impl Generator<'_> {
    pub(crate) fn literal(&mut self, kind: Kind) -> String {
        match kind {
            Kind::String => format!("\"{}\"", self.pick(&["a", "b", "c", "x", ""])),
            Kind::Number => self.random.usize(..4).to_string(),
            Kind::Bool => self.random.bool().to_string(),
            Kind::List => {
                self.pick(&["[]", "[\"a\"]", "[\"a\", \"b\"]", "[\"c\", \"a\", \"b\"]"]).to_owned()
            }
            Kind::Map => self
                .pick(&["{}", "{ a = \"x\" }", "{ a = \"x\", b = \"y\" }", "{ b = \"z\" }"])
                .to_owned(),
        }
    }

    pub(crate) fn expression(&mut self, kind: Kind, scope: Scope<'_>, depth: usize) -> String {
        if self.random.usize(..3) > 0
            && let Some(reference) = self.reference(kind, scope)
        {
            return reference;
        }
        if depth == 0 || self.random.usize(..3) == 0 {
            return self.literal(kind);
        }
        self.operation(kind, scope, depth - 1)
    }

    fn operation(&mut self, kind: Kind, scope: Scope<'_>, depth: usize) -> String {
        let choice = self.random.usize(..6);
        let mut of = |kind: Kind| self.expression(kind, scope, depth);
        if choice == 0 {
            let [condition, yes, no] = [Kind::Bool, kind, kind].map(of);
            return format!("{condition} ? {yes} : {no}");
        }
        match (kind, choice) {
            (Kind::String, 1) => format!("\"${{{}}}-${{{}}}\"", of(Kind::String), of(Kind::Number)),
            (Kind::String, 2) => format!("upper({})", of(Kind::String)),
            (Kind::String, 3) => format!("join(\",\", {})", of(Kind::List)),
            (Kind::String, 4) => format!("lookup({}, \"a\", {})", of(Kind::Map), of(Kind::String)),
            (Kind::String, _) => format!("try({}[\"b\"], {})", of(Kind::Map), of(Kind::String)),
            (Kind::Number, 1 | 2) => format!("length({})", of(Kind::List)),
            (Kind::Number, _) => format!("({} + {})", of(Kind::Number), of(Kind::Number)),
            (Kind::Bool, 1) => format!("({} == {})", of(Kind::String), of(Kind::String)),
            (Kind::Bool, 2) => format!("contains({}, {})", of(Kind::List), of(Kind::String)),
            (Kind::Bool, 3) => format!("!{}", of(Kind::Bool)),
            (Kind::Bool, _) => format!("({} > {})", of(Kind::Number), of(Kind::Number)),
            (Kind::List, 1) => format!("concat({}, {})", of(Kind::List), of(Kind::List)),
            (Kind::List, 2) => format!("[for x in {} : upper(x)]", of(Kind::List)),
            (Kind::List, 3) => format!("keys({})", of(Kind::Map)),
            (Kind::List, _) => format!("[{}, {}]", of(Kind::String), of(Kind::String)),
            (Kind::Map, 1) => format!("merge({}, {})", of(Kind::Map), of(Kind::Map)),
            (Kind::Map, 2) => format!("{{ for k, v in {} : k => \"${{v}}!\" }}", of(Kind::Map)),
            (Kind::Map, _) => format!("{{ a = {}, c = {} }}", of(Kind::String), of(Kind::String)),
        }
    }

    /// Generates a reference to a value of the kind. `None` if the scope has none.
    pub(crate) fn reference(&mut self, kind: Kind, scope: Scope<'_>) -> Option<String> {
        let mut found: Vec<String> = Vec::new();
        match (scope.repetition, kind) {
            (Some("count"), Kind::Number) => found.push("count.index".to_owned()),
            (Some("for_each"), Kind::String) => {
                found.extend(["each.key".to_owned(), "each.value".to_owned()])
            }
            _ => {}
        }
        for block in scope.blocks() {
            let labels = block.labels();
            match (block.kind(), &labels[..]) {
                ("variable", [name]) if Kind::of_name(name) == kind => {
                    found.push(format!("var.{name}"))
                }
                ("locals", _) => {
                    let names = block.arguments.iter().map(|it| &it.name);
                    let names = names.filter(|it| Kind::of_name(it) == kind);
                    found.extend(names.map(|it| format!("local.{it}")));
                }
                ("resource", [_, name]) if !scope.is_static || self.one_in(12, 1) => {
                    found.extend(self.resource(kind, block, &labels.join("."), name));
                }
                ("module", [name]) => found.extend(self.output(kind, block, name, scope)),
                ("data", [_, name]) if Kind::of_name(name) == kind => {
                    found.extend(self.data(block, &labels));
                }
                ("ephemeral", _) if kind == Kind::String && self.one_in(3, 1) => {
                    found.extend(playground::ephemeral_value(block));
                }
                _ => {}
            }
        }
        if found.is_empty() {
            return None;
        }
        Some(found.swap_remove(self.random.usize(..found.len())))
    }

    fn resource(&mut self, kind: Kind, block: &Block, address: &str, name: &str) -> Option<String> {
        let is_data = block.header.contains("terraform_data");
        let attribute = match kind {
            Kind::String if block.header.contains("\"playground_parameter\"") => "arn",
            Kind::String if block.header.contains("\"playground_secret\"") => {
                self.pick(&["id", "name", "value"])
            }
            Kind::String if block.header.contains("\"time_") => "rfc3339",
            Kind::String if block.header.contains("\"tls_private_key\"") => {
                self.pick(&["public_key_openssh", "private_key_openssh"])
            }
            Kind::String if !is_data || self.one_in(3, 1) => "id",
            _ if is_data && Kind::of_name(name) == kind => {
                self.pick(&["output", "output", "input"])
            }
            _ => return self.aggregate(kind, block, address),
        };
        if block.argument("count").is_some() {
            let access = self.pick(&["[0]", "[0]", "[1]", "[*]"]);
            return Some(match access {
                "[*]" if kind == Kind::String => format!("join(\"+\", {address}[*].{attribute})"),
                "[*]" => format!("{address}[length({address}) - 1].{attribute}"),
                _ if self.one_in(2, 1) => {
                    let otherwise = self.literal(kind);
                    format!("try({address}{access}.{attribute}, {otherwise})")
                }
                _ => format!("{address}{access}.{attribute}"),
            });
        }
        if block.argument("for_each").is_some() {
            let otherwise = self.literal(kind);
            let each = format!("{address}[\"a\"].{attribute}");
            return Some(if self.one_in(2, 1) {
                format!("try({each}, {otherwise})")
            } else {
                each
            });
        }
        let is_optional =
            block.nested("lifecycle").is_some_and(|it| it.argument("enabled").is_some());
        if is_optional {
            let otherwise = self.literal(kind);
            return Some(format!("({address} == null ? {otherwise} : {address}.{attribute})"));
        }
        Some(format!("{address}.{attribute}"))
    }

    /// Generates a collection over the instances of a resource.
    fn aggregate(&mut self, kind: Kind, block: &Block, address: &str) -> Option<String> {
        let is_counted = block.argument("count").is_some();
        let is_each = block.argument("for_each").is_some();
        Some(match kind {
            Kind::List if is_counted => format!("{address}[*].id"),
            Kind::List if is_each => format!("[for it in {address} : it.id]"),
            Kind::Map if is_each => format!("{{ for k, it in {address} : k => it.id }}"),
            Kind::Number if is_counted || is_each => format!("length({address})"),
            Kind::Bool if !is_counted && !is_each => format!("({address}.id != \"\")"),
            _ => return None,
        })
    }

    fn output(&mut self, kind: Kind, call: &Block, name: &str, scope: Scope<'_>) -> Vec<String> {
        let source = call.argument("source").unwrap_or_default().trim_matches('"');
        let Some(module) =
            scope.modules.iter().find(|it| source.ends_with(&*it.folder) && !it.folder.is_empty())
        else {
            return Vec::new();
        };
        let outputs = module.blocks.iter().filter(|it| it.kind() == "output");
        let outputs: Vec<&str> = outputs.filter_map(|it| it.labels().first().copied()).collect();
        let mut found = Vec::new();
        for output in outputs.into_iter().filter(|it| Kind::of_name(it) == kind) {
            let access = if call.argument("count").is_some() {
                self.pick(&["[0]", "[0]", "[1]"])
            } else if call.argument("for_each").is_some() {
                "[\"a\"]"
            } else {
                ""
            };
            let direct = format!("module.{name}{access}.{output}");
            let otherwise = self.literal(kind);
            let is_sure =
                access.is_empty() && call.nested("lifecycle").is_none() || self.one_in(3, 1);
            found.push(if is_sure { direct } else { format!("try({direct}, {otherwise})") });
        }
        found
    }

    fn data(&mut self, block: &Block, labels: &[&str]) -> Option<String> {
        let address = format!("data.{}", labels.join("."));
        let attribute = match labels[0] {
            "local_file" => "content",
            "external" => "result[\"a\"]",
            "http" => "response_body",
            "tls_public_key" => "public_key_openssh",
            _ => "value",
        };
        let is_repeated = block.argument("count").is_some() || block.argument("for_each").is_some();
        (!is_repeated).then(|| format!("{address}.{attribute}"))
    }
}
