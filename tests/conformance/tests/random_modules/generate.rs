//! Random configurations: a root module, the modules that it calls, and values of its variables.

#[path = "generate/resources.rs"]
mod resources;

use conformance::STORE;
use values::{Number, Value};

use crate::expression::{Expressions, Kind, Marks, Name, Random};

/// The prefix of every value that is only ephemeral, in lower case.
pub(crate) const EPHEMERAL: &str = "ephemeral-canary-";
/// The prefix of every value that is sensitive and not ephemeral.
pub(crate) const SENSITIVE: &str = "sensitive-canary-";
/// The value of the secret that ephemeral resources read.
pub(crate) const REMOTE: &str = "ephemeral-canary-remote";

/// The file of the root module, which every configuration needs.
const ROOT: &str = "main.tf";

/// A configuration with the inputs of its run.
#[derive(Clone)]
pub(crate) struct Modules {
    blocks: Vec<Piece>,
    /// The id of the error at a place that is evaluated before a run and contains `local.early`.
    pub(crate) early: Option<&'static str>,
    /// The values of the root module's variables.
    pub(crate) values: Vec<(String, Value)>,
}

/// A top-level block.
#[derive(Clone)]
struct Piece {
    file: String,
    header: String,
    entries: Vec<String>,
}

impl Modules {
    /// Generates the configuration of a seed.
    pub(crate) fn generate(seed: u64) -> Modules {
        let mut random = Random::new(seed);
        let mut all = Modules { blocks: Vec::new(), early: None, values: Vec::new() };
        let inner: Vec<Child> = (0..random.below(2))
            .map(|index| child(&mut all, &mut random, "n", index, &[]))
            .collect();
        let children: Vec<Child> = (0..random.below(3))
            .map(|index| child(&mut all, &mut random, "m", index, &inner))
            .collect();
        let mut module = ModuleGenerator::new(&mut all, &mut random, ROOT);
        module.root(&children);
        all
    }

    /// The files, as a fixture.
    pub(crate) fn fixture(&self) -> String {
        let mut files: Vec<&str> = self.blocks.iter().map(|it| &*it.file).collect();
        files.sort_unstable();
        files.dedup();
        let text = |file: &str| -> String {
            self.blocks.iter().filter(|it| it.file == file).map(Piece::text).collect()
        };
        files.iter().map(|file| format!("//- /{file}\n{}", text(file))).collect()
    }

    /// Returns true if a console can determine the marks of a run. It does not distinguish the instances of
    /// ephemeral resources and of modules.
    pub(crate) fn is_comparable(&self) -> bool {
        let is_repeated = |it: &String| it.starts_with("count") || it.starts_with("for_each");
        let is_coarse =
            |it: &&Piece| ["ephemeral", "module"].iter().any(|word| it.header.starts_with(word));
        let mut coarse = self.blocks.iter().filter(is_coarse);
        !coarse.any(|it| it.entries.iter().any(is_repeated))
    }

    /// The names of the root module's secrets that have exactly one instance.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &str> {
        let is_single = |it: &&Piece| {
            it.file == ROOT
                && !it.entries.iter().any(|it| {
                    it.starts_with("count")
                        || it.starts_with("for_each")
                        || it.starts_with("lifecycle")
                })
        };
        const HEADER: &str = "resource \"playground_secret\" \"";
        let single = self.blocks.iter().filter(is_single);
        single.filter_map(|it| it.header.strip_prefix(HEADER)?.strip_suffix('"'))
    }

    /// Every configuration that lacks one block or one entry of this one.
    pub(crate) fn smaller(&self) -> Vec<Modules> {
        let mut found = Vec::new();
        for (index, block) in self.blocks.iter().enumerate().rev() {
            // The property `early` needs this block.
            if block.entries.iter().any(|it| it.contains("local.early")) {
                continue;
            }
            let is_last = !self
                .blocks
                .iter()
                .enumerate()
                .any(|(at, it)| at != index && it.file == block.file);
            if !(is_last && block.file == ROOT) {
                let mut without = self.clone();
                without.blocks.remove(index);
                found.push(without);
            }
            // Without its mark, the variable would not be secret any more.
            let is_mark = |it: &str| ["sensitive = true", "ephemeral = true"].contains(&it);
            for entry in (0..block.entries.len()).rev() {
                if block.header.starts_with("variable") && is_mark(&block.entries[entry]) {
                    continue;
                }
                let mut without = self.clone();
                without.blocks[index].entries.remove(entry);
                found.push(without);
            }
        }
        found
    }
}

impl Piece {
    fn text(&self) -> String {
        let entries: String = self.entries.iter().map(|it| format!("  {it}\n")).collect();
        format!("{} {{\n{entries}}}\n", self.header)
    }
}

/// A module that can be called.
struct Child {
    name: String,
    /// True if it needs a second provider configuration with the alias `extra`.
    has_extra: bool,
    inputs: Vec<Name>,
    outputs: Vec<Name>,
}

fn child(
    all: &mut Modules,
    random: &mut Random,
    prefix: &str,
    index: usize,
    inner: &[Child],
) -> Child {
    let name = format!("{prefix}{index}");
    let mut module = ModuleGenerator::new(all, random, &format!("{name}/main.tf"));
    module.piece("variable \"prefix\"", vec!["type = string".to_owned()]);
    let has_extra = module.random.percent(40);
    if has_extra {
        let entry = "playground = { source = \"mayfly/playground\", configuration_aliases = [playground.extra] }";
        let required = format!("required_providers {{\n    {entry}\n  }}");
        module.piece("terraform", vec![required]);
        module.other_provider = Some("playground.extra");
    }
    let inputs: Vec<Name> = (0..1 + module.random.below(4)).map(|it| module.input(it)).collect();
    module.body();
    for it in inner {
        if module.random.percent(60) {
            module.call(it);
        }
    }
    let outputs = (0..1 + module.random.below(4)).map(|it| module.output(it)).collect();
    Child { name, has_extra, inputs, outputs }
}

struct ModuleGenerator<'a> {
    all: &'a mut Modules,
    random: &'a mut Random,
    file: String,
    names: Vec<Name>,
    /// A counter for unique names.
    count: usize,
    /// A provider configuration in addition to the default one.
    other_provider: Option<&'static str>,
}

impl<'a> ModuleGenerator<'a> {
    fn new(all: &'a mut Modules, random: &'a mut Random, file: &str) -> ModuleGenerator<'a> {
        let file = file.to_owned();
        let other_provider = (file == ROOT).then_some("playground.other");
        ModuleGenerator { all, random, file, names: Vec::new(), count: 0, other_provider }
    }

    fn piece(&mut self, header: &str, entries: Vec<String>) {
        let file = self.file.clone();
        self.all.blocks.push(Piece { file, header: header.to_owned(), entries });
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.count += 1;
        format!("{prefix}{}", self.count)
    }

    fn expressions(&mut self, bound: &[Name]) -> Expressions<'_> {
        Expressions { random: self.random, names: &self.names, bound: bound.to_vec() }
    }

    fn expr(&mut self, kind: Kind, marks: Marks) -> String {
        self.expr_with(kind, marks, &[])
    }

    fn expr_with(&mut self, kind: Kind, marks: Marks, bound: &[Name]) -> String {
        let depth = self.random.below(4);
        self.expressions(bound).make(kind, marks, depth)
    }

    /// Generates an expression for a place that takes no ephemeral value; occasionally an ephemeral one.
    fn kept(&mut self, kind: Kind, marks: Marks, bound: &[Name]) -> String {
        let marks = if self.random.percent(3) { Marks::Any } else { marks };
        self.expr_with(kind, marks, bound)
    }

    /// Generates an expression for a place whose value is read back and shown, so it must not be sensitive;
    /// occasionally an ephemeral one, which must be refused.
    fn shown(&mut self, kind: Kind, bound: &[Name]) -> String {
        let is_secret = |it: &&Name| it.text.starts_with("var.") && it.marks == Marks::Any;
        let secrets: Vec<String> =
            self.names.iter().filter(is_secret).map(|it| it.text.clone()).collect();
        if secrets.is_empty() || !self.random.percent(3) {
            return self.expr_with(kind, Marks::Plain, bound);
        }
        let (secret, value) =
            (self.random.of(&secrets).clone(), self.expr_with(kind, Marks::Any, bound));
        format!("({secret} == null ? {value} : {value})")
    }

    /// Generates an expression over variables only, whose values are known.
    fn known(&mut self, kind: Kind) -> String {
        let marks = if self.random.percent(2) { Marks::Any } else { Marks::Plain };
        let is_variable = |it: &&Name| it.text.starts_with("var.");
        let names: Vec<Name> = self.names.iter().filter(is_variable).cloned().collect();
        let depth = self.random.below(3);
        let mut made = Expressions { random: self.random, names: &names, bound: Vec::new() };
        made.make(kind, marks, depth)
    }

    fn kind(&mut self) -> Kind {
        match self.random.percent(50) {
            true => Kind::Text,
            false => *self.random.of(&Kind::ALL),
        }
    }

    fn marks(&mut self) -> Marks {
        *self.random.of(&[Marks::Plain, Marks::Plain, Marks::Sensitive, Marks::Any, Marks::Any])
    }

    // Variables, locals and outputs.

    /// Declares a variable of a called module.
    fn input(&mut self, index: usize) -> Name {
        let (name, kind, marks) = (format!("in{index}"), self.kind(), self.marks());
        self.declare(&name, kind, marks);
        let name = Name::new(format!("var.{name}"), kind, marks);
        self.names.push(name.clone());
        name
    }

    fn declare(&mut self, name: &str, kind: Kind, marks: Marks) {
        let mut entries = vec![format!("type = {}", kind.constraint())];
        if marks == Marks::Any {
            entries.push("ephemeral = true".to_owned());
        }
        if marks == Marks::Sensitive || (marks == Marks::Any && self.random.percent(20)) {
            entries.push("sensitive = true".to_owned());
        }
        if self.random.percent(20) {
            let own = [Name::new(format!("var.{name}"), kind, Marks::Plain)];
            let condition = Expressions { random: self.random, names: &own, bound: Vec::new() }
                .make(kind, Marks::Plain, 1);
            let message = if self.random.percent(80) { "No." } else { "No: ${jsonencode(§)}." };
            let message = message.replace('§', &format!("var.{name}"));
            entries.push(format!(
                "validation {{\n    condition = can({condition}) || var.{name} == null\n    \
                 error_message = \"{message}\"\n  }}"
            ));
        }
        self.piece(&format!("variable \"{name}\""), entries);
    }

    /// Declares a variable of the root module, and sets its value.
    fn given(&mut self, index: usize, marks: Marks) {
        let (name, kind) = (format!("v{index}"), self.kind());
        self.declare(&name, kind, marks);
        let canary = match marks {
            Marks::Plain => format!("plain-{index}"),
            Marks::Sensitive => format!("{SENSITIVE}{index}"),
            Marks::Any => format!("{EPHEMERAL}{index}"),
        };
        self.all.values.push((name.clone(), value_of(kind, &canary)));
        self.names.push(Name::new(format!("var.{name}"), kind, marks));
    }

    fn local(&mut self) {
        let (name, kind, marks) = (self.fresh("l"), self.kind(), self.marks());
        let value = self.expr(kind, marks);
        self.piece("locals", vec![format!("{name} = {value}")]);
        self.names.push(Name::new(format!("local.{name}"), kind, marks));
    }

    /// Declares an output of a called module.
    fn output(&mut self, index: usize) -> Name {
        let (name, kind, marks) = (format!("out{index}"), self.kind(), self.marks());
        let mut entries = vec![format!("value = {}", self.kept(kind, marks, &[]))];
        if marks == Marks::Any {
            entries.push("ephemeral = true".to_owned());
        }
        if marks == Marks::Sensitive || self.random.percent(10) {
            entries.push("sensitive = true".to_owned());
        }
        entries.extend(self.condition("precondition", 15));
        self.piece(&format!("output \"{name}\""), entries);
        Name::new(name, kind, marks)
    }

    fn root_output(&mut self) {
        let (name, kind) = (self.fresh("o"), self.kind());
        let marks = *self.random.of(&[Marks::Plain, Marks::Plain, Marks::Sensitive]);
        let mut entries = vec![format!("value = {}", self.kept(kind, marks, &[]))];
        if marks == Marks::Sensitive {
            entries.push("sensitive = true".to_owned());
        }
        entries.extend(self.condition("precondition", 25));
        self.piece(&format!("output \"{name}\""), entries);
    }

    // Conditions.

    /// Generates a condition block with the given probability; most conditions hold.
    fn condition(&mut self, block: &str, percent: usize) -> Option<String> {
        if !self.random.percent(percent) {
            return None;
        }
        // A condition without a reference is refused.
        let condition = format!("path.root != \"\" && ({})", self.expressions(&[]).truth());
        // The run continues only after a failed `check`.
        let fails = self.random.percent(if block == "assert" { 50 } else { 2 });
        let condition = if fails { format!("!({condition})") } else { condition };
        let marks = if self.random.percent(20) { Marks::Any } else { Marks::Plain };
        let message = self.expr(Kind::Text, marks);
        Some(format!(
            "{block} {{\n      condition = {condition}\n      error_message = \"Not ${{{message}}}.\"\n    }}"
        ))
    }

    /// Generates the `lifecycle` block of a managed resource.
    fn managed_lifecycle(&mut self) -> Option<String> {
        let mut entries = self.conditions(15);
        if self.random.percent(15) {
            entries.push("ignore_changes = [input]".to_owned());
        }
        if self.random.percent(10) {
            let prevent = self.kept(Kind::Bool, Marks::Plain, &[]);
            entries.push(format!("prevent_destroy = {prevent}"));
        }
        if self.random.percent(4) {
            entries.push(format!("replace_triggered_by = [{}]", self.trigger()));
        }
        (!entries.is_empty()).then(|| format!("lifecycle {{\n    {}\n  }}", entries.join("\n    ")))
    }

    /// Generates a value of `replace_triggered_by`: usually a resource or a part of it. Any other reference must
    /// be refused.
    fn trigger(&mut self) -> String {
        let is_object = |it: &&Name| {
            it.text.starts_with("terraform_data.") || it.text.starts_with("playground_")
        };
        let objects: Vec<String> =
            self.names.iter().filter(is_object).map(|it| it.text.clone()).collect();
        match self.random.percent(85) && !objects.is_empty() {
            true => self.random.of(&objects).clone(),
            false => self.expressions(&[]).make(Kind::Text, Marks::Any, 0),
        }
    }

    fn conditions(&mut self, percent: usize) -> Vec<String> {
        let both = ["precondition", "postcondition"];
        both.iter().filter_map(|block| self.condition(block, percent)).collect()
    }

    fn lifecycle(&mut self, percent: usize) -> Option<String> {
        let entries = self.conditions(percent);
        (!entries.is_empty()).then(|| format!("lifecycle {{\n    {}\n  }}", entries.join("\n    ")))
    }

    fn check(&mut self) {
        let name = self.fresh("check");
        let mut entries = Vec::new();
        if self.random.percent(30) {
            let scoped = self.fresh("scoped");
            let read = self.other_name();
            entries.push(format!(
                "data \"playground_secret\" \"{scoped}\" {{\n    name = {read}\n  }}"
            ));
            let name = format!("data.playground_secret.{scoped}.arn");
            self.names.push(Name::new(name, Kind::Text, Marks::Plain));
        }
        entries.extend(self.condition("assert", 100));
        // Nothing outside of the check may refer to it.
        self.names.retain(|it| !it.text.contains(".scoped"));
        self.piece(&format!("check \"{name}\""), entries);
    }

    // Modules.

    fn body(&mut self) {
        for _ in 0..2 + self.random.below(6) {
            match self.random.below(13) {
                0..5 => self.local(),
                5 | 6 => self.data_resource(),
                7 | 8 => self.secret(),
                9 => self.vault(),
                10 => self.data_source(),
                11 => self.ephemeral(),
                _ => self.check(),
            }
        }
    }

    fn root(&mut self, children: &[Child]) {
        let all = [Marks::Plain, Marks::Sensitive, Marks::Any, Marks::Any];
        for (index, marks) in all.into_iter().enumerate() {
            self.given(index, marks);
        }
        for index in all.len()..all.len() + self.random.below(3) {
            let marks = self.marks();
            self.given(index, marks);
        }
        let key = self.expr(Kind::Text, Marks::Any);
        let stores =
            [("", String::new()), ("other", format!("access_key = {key}\n  secret_key = {key}"))];
        for (alias, more) in stores {
            let mut entries = vec![format!("store = \"{STORE}\"")];
            if !alias.is_empty() {
                entries.extend([format!("alias = \"{alias}\""), more]);
            }
            self.piece("provider \"playground\"", entries);
        }
        self.body();
        children.iter().for_each(|it| self.call(it));
        self.body();
        (0..1 + self.random.below(3)).for_each(|_| self.root_output());
        if self.random.percent(15) {
            self.refactoring();
        }
        if self.random.percent(12) {
            self.early();
        }
        if self.random.percent(3) {
            self.import();
        }
    }

    /// Generates an `import` block with a random id.
    fn import(&mut self) {
        let to = self.fresh("t");
        let all = self.kept(Kind::Map, Marks::Plain, &[]);
        let header = format!("resource \"terraform_data\" \"{to}\"");
        self.piece(&header, vec!["for_each = { a = 1, b = 2 }".to_owned()]);
        let each = Name::new("each.value", Kind::Text, Marks::Plain);
        let id = self.kept(Kind::Text, Marks::Plain, &[each]);
        let entries = [
            format!("for_each = {all}"),
            format!("to = terraform_data.{to}[each.key]"),
            format!("id = {id}"),
        ];
        self.piece("import", entries.into());
    }

    /// Generates `moved` and `removed` blocks about objects that the empty state does not contain.
    fn refactoring(&mut self) {
        let to = self.fresh("t");
        self.piece(&format!("resource \"terraform_data\" \"{to}\""), vec!["input = 1".to_owned()]);
        let addresses = [("from", "before".to_owned()), ("to", to)];
        let entries = addresses.map(|(end, name)| format!("{end} = terraform_data.{name}"));
        self.piece("moved", entries.into());
        let command = "provisioner \"local-exec\" {\n    when = destroy\n    command = \"echo ${self.id}\"\n  }";
        let from = "from = terraform_data.gone".to_owned();
        self.piece("removed", vec![from, command.to_owned()]);
    }

    /// Generates a block that is evaluated before a run, or that this version does not run. Only analysis decides
    /// if its value is allowed.
    fn early(&mut self) {
        let marks = *self.random.of(&[Marks::Plain, Marks::Any, Marks::Any]);
        let value = self.expr(Kind::Text, marks);
        self.piece("locals", vec![format!("early = {value}")]);
        let (id, header, entries) = *self.random.of(EARLY);
        let entries = entries.iter().map(|it| (*it).to_owned()).collect();
        if entries_need_instances(header) {
            let named = vec!["for_each = { a = 1 }".to_owned()];
            self.piece("resource \"terraform_data\" \"early\"", named);
        }
        self.piece(header, entries);
        self.all.early = Some(id);
    }

    /// Generates the provider configurations that a module call passes.
    fn passed(&mut self, child: &Child) -> Option<String> {
        let other = self.other_provider.unwrap_or("playground");
        let default = if self.random.percent(20) { other } else { "playground" };
        if !child.has_extra {
            return (default != "playground")
                .then(|| format!("providers = {{ playground = {default} }}"));
        }
        let extra = if self.random.percent(50) { other } else { "playground" };
        Some(format!("providers = {{ playground = {default}, playground.extra = {extra} }}"))
    }

    fn call(&mut self, child: &Child) {
        let is_inner = self.file != ROOT;
        let (repeated, behind, first) = *self.random.of(&[
            ("", "", ""),
            ("", "", ""),
            ("", "", ""),
            ("count = 2", "-${count.index}", "[1]"),
            ("for_each = { a = \"x\", b = \"y\" }", "-${each.key}", "[\"b\"]"),
        ]);
        let (way, prefix) = if is_inner { ("..", "${var.prefix}-") } else { (".", "") };
        let mut entries = vec![format!("source = \"{way}/{}\"", child.name)];
        entries.extend((!repeated.is_empty()).then(|| repeated.to_owned()));
        entries.push(format!("prefix = \"{prefix}{}{behind}\"", child.name));
        entries.extend(self.passed(child));
        for input in &child.inputs {
            let name = input.text.trim_start_matches("var.");
            entries.push(format!("{name} = {}", self.kept(input.kind, input.marks, &[])));
        }
        self.piece(&format!("module \"{}\"", child.name), entries);
        for output in &child.outputs {
            let text = format!("module.{}{first}.{}", child.name, output.text);
            self.names.push(Name::new(text, output.kind, output.marks));
        }
    }
}

/// Blocks that are evaluated early, each with the id of the error about an ephemeral value in it.
const EARLY: &[(&str, &str, &[&str])] = &[
    ("ephemeral-backend", "terraform", &["backend \"local\" {\n    path = local.early\n  }"]),
    (
        "ephemeral-static-value",
        "provider \"playground\"",
        &["alias = \"early\"", "for_each = toset([local.early])"],
    ),
    (
        "ephemeral-provider-key",
        "resource \"playground_secret\" \"keyed\"",
        &["name = \"keyed\"", "provider = playground.other[local.early]"],
    ),
    ("invalid-import-id", "import", &["to = terraform_data.early[\"a\"]", "id = local.early"]),
    (
        "invalid-import-id",
        "import",
        &["to = terraform_data.early[\"a\"]", "identity = { it = local.early }"],
    ),
    ("invalid-import-key", "import", &["to = terraform_data.early[local.early]", "id = \"x\""]),
    (
        "invalid-import",
        "import",
        &["for_each = toset([local.early])", "to = terraform_data.early[\"a\"]", "id = \"x\""],
    ),
    ("ephemeral-static-value", "module \"early\"", &["source = local.early"]),
    (
        "ephemeral-static-value",
        "module \"early\"",
        &["source = \"example.com/a/b/c\"", "version = local.early"],
    ),
];

fn entries_need_instances(header: &str) -> bool {
    header == "import"
}

fn value_of(kind: Kind, canary: &str) -> Value {
    let texts = || vec![Value::string(canary), Value::string(format!("{canary}-b"))];
    match kind {
        Kind::Text => Value::string(canary),
        Kind::Number => Value::number(Number::from(7u64)),
        Kind::Bool => Value::bool(true),
        Kind::List => Value::tuple(texts()),
        Kind::Map => Value::object_from(["a", "b"].into_iter().zip(texts())),
        Kind::Object => Value::object_from([("a", Value::string(canary))]),
    }
}
