//! Blocks of `mayfly/playground`, in the root module: secrets with write-only values, what reads them back at plan, at apply and
//! as an ephemeral value, and calls that the provider fails or answers wrongly.
//!
//! The reference finds the provider as an executable of its own (crates/providers/README.md). The block that names its source is
//! part of every configuration that has one of these.

use super::{
    Generator,
    blocks::argument,
    expressions::{Kind, Scope},
};
use crate::model::{Block, Module};

impl Generator<'_> {
    /// The `terraform` block that says where the provider comes from.
    pub(super) fn playground_source(&mut self) -> Block {
        let source = argument("playground", "{ source = \"mayfly/playground\" }");
        let required = Block {
            key: self.key(),
            header: "required_providers".to_owned(),
            arguments: vec![source],
            blocks: Vec::new(),
        };
        let mut block = self.empty("terraform".to_owned());
        block.blocks.push(required);
        block
    }

    /// A block that the root module does not have yet; `None` if the name that was drawn is taken.
    pub(super) fn block_of_playground(&mut self, modules: &[Module]) -> Option<Block> {
        match self.random.usize(..10) {
            0..=4 => self.stored(modules),
            5 | 6 => self.secret_data(modules),
            7 | 8 => self.secret_reading(modules),
            _ => {
                let name = self.name(&modules[0], Kind::String, "ephemeral")?;
                let block = self.empty(format!("ephemeral \"playground_random\" \"{name}\""));
                Some(self.with_fault(block, &["open", "close"]))
            }
        }
    }

    fn stored(&mut self, modules: &[Module]) -> Option<Block> {
        let name = self.name(&modules[0], Kind::String, "resource")?;
        let kind = self.pick(&["secret", "secret", "parameter"]);
        let mut block = self.empty(format!("resource \"playground_{kind}\" \"{name}\""));
        let scope = Scope::of(&modules[0], modules, u32::MAX);
        if self.one_in(4, 1) {
            self.repeat(&mut block, scope);
        }
        let inner = scope.repeated(&block);
        let key = match inner.repetition {
            Some("count") => "-${count.index}",
            Some(_) => "-${each.key}",
            None => "",
        };
        block.arguments.push(argument("name", format!("\"{kind}-{name}{key}\"")));
        if kind == "parameter" {
            block.arguments.push(argument("type", "\"String\""));
        }
        let value = self.expression(Kind::String, inner, 2);
        if self.one_in(2, 1) {
            block.arguments.push(argument("value", value));
        } else {
            let ephemeral = self.ephemeral_reference(&modules[0]);
            block.arguments.push(argument("value_wo", ephemeral.unwrap_or(value)));
            let version = self.expression(Kind::Number, inner, 1);
            block.arguments.push(argument("value_wo_version", version));
        }
        block.arguments.extend(self.depends_on(scope));
        self.lifecycle(&mut block, inner);
        self.provisioners(&mut block, inner, "", &name);
        Some(self.with_fault(block, &["create", "update", "delete", "read", "plan", "apply"]))
    }

    fn secret_data(&mut self, modules: &[Module]) -> Option<Block> {
        let name = self.name(&modules[0], Kind::String, "data")?;
        let mut block = self.empty(format!("data \"playground_secret\" \"{name}\""));
        let named = self.secret_name(modules);
        block.arguments.push(argument("name", named));
        block.arguments.extend(self.depends_on(Scope::of(&modules[0], modules, u32::MAX)));
        Some(self.with_fault(block, &["read_data"]))
    }

    fn secret_reading(&mut self, modules: &[Module]) -> Option<Block> {
        let name = self.name(&modules[0], Kind::String, "ephemeral")?;
        let mut block = self.empty(format!("ephemeral \"playground_secret\" \"{name}\""));
        let scope = Scope::of(&modules[0], modules, u32::MAX);
        if self.one_in(4, 1) {
            self.repeat(&mut block, scope);
        }
        let named = self.secret_name(modules);
        block.arguments.push(argument("name", named));
        block.arguments.extend(self.depends_on(scope));
        Some(self.with_fault(block, &["open", "close"]))
    }

    /// The name of a secret that there is, or of one that may be missing.
    fn secret_name(&mut self, modules: &[Module]) -> String {
        let blocks = modules[0].blocks.iter().filter(|it| it.kind() == "resource");
        let secrets: Vec<&Block> =
            blocks.filter(|it| it.header.contains("\"playground_secret\"")).collect();
        let Some(secret) = secrets.get(self.random.usize(..secrets.len() + 1)) else {
            return "\"secret-s0\"".to_owned();
        };
        let address = secret.labels().join(".");
        if secret.argument("count").is_some() {
            format!("{address}[0].name")
        } else if secret.argument("for_each").is_some() {
            format!("{address}[\"a\"].name")
        } else {
            format!("{address}.name")
        }
    }

    /// An expression with an ephemeral value, for a write-only attribute; `None` if the module has none.
    fn ephemeral_reference(&mut self, root: &Module) -> Option<String> {
        let blocks = root.blocks.iter().filter(|it| it.kind() == "ephemeral");
        let mut found: Vec<String> = blocks.filter_map(ephemeral_value).collect();
        let variables = root.blocks.iter().filter(|it| it.kind() == "variable");
        let variables = variables.filter(|it| it.argument("ephemeral").is_some());
        let variables = variables.filter(|it| Kind::of_name(it.labels()[0]) == Kind::String);
        found.extend(variables.map(|it| format!("var.{}", it.labels()[0])));
        (!found.is_empty()).then(|| found.swap_remove(self.random.usize(..found.len())))
    }

    /// Sometimes lets a call fail, or gives it a wrong answer.
    fn with_fault(&mut self, mut block: Block, calls: &[&str]) -> Block {
        if self.one_in(8, 1) {
            let on = self.pick(calls);
            let kind = self.pick(&["fail", "fail", "inconsistent", "unknown", "null"]);
            let fault = format!("{{ on = \"{on}\", kind = \"{kind}\" }}");
            block.arguments.push(argument("fault", fault));
        }
        block
    }
}

/// The value of an ephemeral resource that is not repeated.
pub(super) fn ephemeral_value(block: &Block) -> Option<String> {
    let labels = block.labels();
    let is_repeated = block.argument("count").is_some() || block.argument("for_each").is_some();
    let attribute = if labels[0] == "playground_secret" { "value" } else { "result" };
    (!is_repeated).then(|| format!("ephemeral.{}.{attribute}", labels.join(".")))
}
