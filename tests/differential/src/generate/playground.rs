//! Blocks of the provider `mayfly/playground` in the root module: secrets with write-only values, blocks that read
//! them at plan, at apply and as ephemeral values, and faults, which make provider calls fail or answer
//! incorrectly.
//!
//! The reference finds the provider as a separate executable (crates/providers/README.md). Every configuration
//! with one of these blocks contains the block with the provider's source.

use super::{
    Generator,
    blocks::argument,
    expressions::{Kind, Scope},
};
use crate::model::{Block, Module};

impl Generator<'_> {
    /// Generates the `terraform` block with the source of the provider.
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

    /// Generates a block. `None` if the drawn name is taken.
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

    /// Generates the name of an existing secret, or of one that may be missing.
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

    /// Generates an expression with an ephemeral value, for a write-only attribute. `None` if the module has none.
    fn ephemeral_reference(&mut self, root: &Module) -> Option<String> {
        let blocks = root.blocks.iter().filter(|it| it.kind() == "ephemeral");
        let mut found: Vec<String> = blocks.filter_map(ephemeral_value).collect();
        let variables = root.blocks.iter().filter(|it| it.kind() == "variable");
        let variables = variables.filter(|it| it.argument("ephemeral").is_some());
        let variables = variables.filter(|it| Kind::of_name(it.labels()[0]) == Kind::String);
        found.extend(variables.map(|it| format!("var.{}", it.labels()[0])));
        (!found.is_empty()).then(|| found.swap_remove(self.random.usize(..found.len())))
    }

    /// Sometimes adds a fault, which makes a provider call fail or answer incorrectly.
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

/// The value of an ephemeral resource. `None` if the resource is repeated.
pub(super) fn ephemeral_value(block: &Block) -> Option<String> {
    let labels = block.labels();
    let is_repeated = block.argument("count").is_some() || block.argument("for_each").is_some();
    let attribute = if labels[0] == "playground_secret" { "value" } else { "result" };
    (!is_repeated).then(|| format!("ephemeral.{}.{attribute}", labels.join(".")))
}
