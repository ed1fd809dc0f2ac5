//! Random blocks of a module.

use super::{
    Generator,
    expressions::{KINDS, Kind, Scope},
};
use crate::model::{Argument, Block, Module};

/// The number of names of each kind in a module.
const NUMBERS: usize = 4;

pub(super) fn argument(name: &str, value: impl Into<String>) -> Argument {
    Argument { name: name.to_owned(), value: value.into() }
}

impl Generator<'_> {
    /// Generates a root module and up to two others; the first of these may call the second.
    pub(super) fn configuration(&mut self) -> Vec<Module> {
        let mut modules = vec![Module { folder: String::new(), blocks: Vec::new() }];
        if self.vocabulary.has("playground") {
            let source = self.playground_source();
            modules[0].blocks.push(source);
        }
        for folder in ["m1", "m2"] {
            if self.one_in(5, 2) {
                modules.push(Module { folder: folder.to_owned(), blocks: Vec::new() });
                let blocks = 2 + self.random.usize(..4);
                self.fill(&mut modules, 1, blocks);
                let last = modules.len() - 1;
                self.fill(&mut modules, last, blocks);
                self.add_output(&mut modules, last);
            }
        }
        let blocks = 3 + self.random.usize(..6);
        self.fill(&mut modules, 0, blocks);
        for last in 1..modules.len() {
            if self.one_in(5, 4) {
                let call = self.call(&modules, 0, last);
                modules[0].blocks.push(call);
            }
        }
        let blocks = self.random.usize(..3);
        self.fill(&mut modules, 0, blocks);
        self.add_output(&mut modules, 0);
        modules
    }

    fn fill(&mut self, modules: &mut [Module], index: usize, count: usize) {
        for _ in 0..count {
            let block = self.block(modules, index);
            if let Some(block) = block {
                modules[index].blocks.push(block);
            }
        }
    }

    fn add_output(&mut self, modules: &mut [Module], index: usize) {
        let output = self.output_block(modules, index);
        modules[index].blocks.extend(output);
    }

    /// Generates a block. `None` if the drawn name is taken.
    pub(super) fn block(&mut self, modules: &[Module], index: usize) -> Option<Block> {
        if index == 0 && self.vocabulary.has("go") && self.one_in(3, 1) {
            return self.block_of_provider(modules);
        }
        if index == 0 && self.vocabulary.has("playground") && self.one_in(2, 1) {
            return self.block_of_playground(modules);
        }
        match self.random.usize(..20) {
            0..=2 => self.variable(modules, index),
            3 | 4 => self.local(modules, index),
            5..=13 => self.resource_block(modules, index),
            14 | 15 => self.output_block(modules, index),
            16 => Some(self.check(modules, index)),
            17 if modules.len() > index + 1 => {
                let callee = index + 1 + self.random.usize(..modules.len() - index - 1);
                // Modules call only later modules, so there is no cycle.
                (callee != index).then(|| self.call(modules, index, callee))
            }
            _ => self.resource_block(modules, index),
        }
    }

    pub(super) fn name(&mut self, module: &Module, kind: Kind, block: &str) -> Option<String> {
        let name = format!("{}{}", kind.letter(), self.random.usize(..NUMBERS));
        let is_taken = module.blocks.iter().any(|it| {
            let is_local = block == "locals" && it.argument(&name).is_some();
            it.kind() == block && (is_local || it.labels().last() == Some(&&*name))
        });
        // Two blocks with the same name are an error, which is seldom interesting.
        (!is_taken || self.one_in(40, 1)).then_some(name)
    }

    pub(super) fn kind(&mut self) -> Kind {
        // Strings get a higher weight, because most references are to strings.
        let index = self.random.usize(..KINDS.len() + 3);
        KINDS.get(index).copied().unwrap_or(Kind::String)
    }

    fn variable(&mut self, modules: &[Module], index: usize) -> Option<Block> {
        let module = &modules[index];
        let kind = self.kind();
        let name = self.name(module, kind, "variable")?;
        let mut arguments = Vec::new();
        if self.one_in(6, 5) {
            arguments.push(argument("type", kind.constraint()));
        }
        if self.one_in(10, 8) {
            arguments.push(argument("default", self.literal(kind)));
        }
        if self.one_in(8, 1) {
            arguments.push(argument("sensitive", "true"));
        } else if self.one_in(10, 1) {
            arguments.push(argument("ephemeral", "true"));
        }
        if self.one_in(12, 1) {
            arguments.push(argument("nullable", "false"));
        }
        let mut blocks = Vec::new();
        if self.one_in(6, 1) {
            let condition = match kind {
                Kind::String => format!("var.{name} != \"{}\"", self.pick(&["new", "b", "none"])),
                Kind::Number => format!("var.{name} < {}", 1 + self.random.usize(..4)),
                Kind::Bool => format!("var.{name} || true"),
                Kind::List | Kind::Map => {
                    format!("length(var.{name}) < {}", 1 + self.random.usize(..3))
                }
            };
            blocks.push(self.condition("validation", condition));
        }
        let header = format!("variable \"{name}\"");
        Some(Block { key: self.key(), header, arguments, blocks })
    }

    fn condition(&mut self, header: &str, condition: String) -> Block {
        let arguments = vec![
            argument("condition", condition),
            argument("error_message", "\"The condition is not met.\""),
        ];
        Block { key: self.key(), header: header.to_owned(), arguments, blocks: Vec::new() }
    }

    fn local(&mut self, modules: &[Module], index: usize) -> Option<Block> {
        let kind = self.kind();
        let name = self.name(&modules[index], kind, "locals")?;
        let scope = Scope::of(&modules[index], modules, u32::MAX);
        let value = self.expression(kind, scope, 2);
        let arguments = vec![argument(&name, value)];
        Some(Block { key: self.key(), header: "locals".to_owned(), arguments, blocks: Vec::new() })
    }

    fn output_block(&mut self, modules: &[Module], index: usize) -> Option<Block> {
        let kind = self.kind();
        let name = self.name(&modules[index], kind, "output")?;
        let scope = Scope::of(&modules[index], modules, u32::MAX);
        let value = self.expression(kind, scope, 2);
        let mut arguments = vec![argument("value", value)];
        if self.one_in(5, 1) {
            arguments.push(argument("sensitive", "true"));
        } else if index > 0 && self.one_in(12, 1) {
            arguments.push(argument("ephemeral", "true"));
        }
        arguments.extend(self.depends_on(scope));
        let mut blocks = Vec::new();
        if self.one_in(8, 1) {
            let condition = self.referring(scope);
            blocks.push(self.condition("precondition", condition));
        }
        Some(Block { key: self.key(), header: format!("output \"{name}\""), arguments, blocks })
    }

    fn check(&mut self, modules: &[Module], index: usize) -> Block {
        let key = self.key();
        let scope = Scope::of(&modules[index], modules, u32::MAX);
        let condition = self.referring(scope);
        let blocks = vec![self.condition("assert", condition)];
        Block { key, header: format!("check \"c{key}\""), arguments: Vec::new(), blocks }
    }

    fn call(&mut self, modules: &[Module], index: usize, callee: usize) -> Block {
        let key = self.key();
        let scope = Scope::of(&modules[index], modules, u32::MAX);
        let folder = &modules[callee].folder;
        let source =
            if index == 0 { format!("\"./{folder}\"") } else { format!("\"../{folder}\"") };
        let mut block = Block {
            key,
            header: format!("module \"c{key}\""),
            arguments: vec![argument("source", source)],
            blocks: Vec::new(),
        };
        self.repeat(&mut block, scope);
        let scope = scope.repeated(&block);
        for variable in modules[callee].blocks.iter().filter(|it| it.kind() == "variable") {
            let is_needed = variable.argument("default").is_none();
            if self.one_in(20, if is_needed { 19 } else { 10 }) {
                let name = variable.labels()[0];
                let value = self.expression(Kind::of_name(name), scope, 1);
                block.arguments.push(argument(name, value));
            }
        }
        block.arguments.extend(self.depends_on(scope));
        block
    }

    fn resource_block(&mut self, modules: &[Module], index: usize) -> Option<Block> {
        let kind = self.kind();
        let name = self.name(&modules[index], kind, "resource")?;
        let scope = Scope::of(&modules[index], modules, u32::MAX);
        let header = format!("resource \"terraform_data\" \"{name}\"");
        let mut block =
            Block { key: self.key(), header, arguments: Vec::new(), blocks: Vec::new() };
        if self.one_in(3, 1) {
            self.repeat(&mut block, scope);
        }
        let inner = scope.repeated(&block);
        if self.one_in(6, 5) {
            block.arguments.push(argument("input", self.expression(kind, inner, 2)));
        }
        if self.one_in(4, 1) {
            let kind = self.kind();
            block.arguments.push(argument("triggers_replace", self.expression(kind, inner, 1)));
        }
        block.arguments.extend(self.depends_on(scope));
        self.lifecycle(&mut block, inner);
        self.provisioners(&mut block, inner, &modules[index].folder, &name);
        Some(block)
    }

    /// Adds `count`, `for_each` or `enabled`.
    pub(super) fn repeat(&mut self, block: &mut Block, scope: Scope<'_>) {
        match self.random.usize(..6) {
            0 | 1 => {
                let value = if self.one_in(2, 1) {
                    self.literal(Kind::Number)
                } else {
                    self.expression(Kind::Number, scope.known(), 1)
                };
                block.arguments.insert(0, argument("count", value));
            }
            2 => {
                let value = self.expression(Kind::List, scope.known(), 1);
                block.arguments.insert(0, argument("for_each", format!("toset({value})")));
            }
            3 => block
                .arguments
                .insert(0, argument("for_each", self.expression(Kind::Map, scope.known(), 1))),
            4 => {
                let value = self.expression(Kind::Bool, scope.known(), 1);
                let key = self.key();
                let lifecycle = lifecycle(block, key);
                lifecycle.arguments.retain(|it| it.name != "enabled");
                lifecycle.arguments.push(argument("enabled", value));
            }
            _ => {}
        }
    }

    pub(super) fn depends_on(&mut self, scope: Scope<'_>) -> Option<Argument> {
        if !self.one_in(8, 1) {
            return None;
        }
        let mut names = Vec::new();
        for block in scope.module.blocks.iter().filter(|it| it.key < scope.below) {
            match (block.kind(), &block.labels()[..]) {
                ("resource", [kind, name]) => names.push(format!("{kind}.{name}")),
                ("data", [kind, name]) => names.push(format!("data.{kind}.{name}")),
                ("module", [name]) => names.push(format!("module.{name}")),
                _ => {}
            }
        }
        if names.is_empty() {
            return None;
        }
        let name = names.swap_remove(self.random.usize(..names.len()));
        Some(argument("depends_on", format!("[{name}]")))
    }

    pub(super) fn lifecycle(&mut self, block: &mut Block, scope: Scope<'_>) {
        if self.one_in(8, 1) {
            let ignored = self.pick(&["[input]", "[triggers_replace]", "all"]);
            self.rule(block, "ignore_changes", ignored);
        }
        if self.one_in(25, 1) {
            self.rule(block, "prevent_destroy", "true");
        }
        if self.vocabulary.has("create_before_destroy") && self.one_in(5, 1) {
            self.rule(block, "create_before_destroy", "true");
        }
        if self.vocabulary.has("removed") && self.one_in(5, 1) {
            let destroy = self.pick(&["false", "false", "true"]);
            self.rule(block, "destroy", destroy);
        }
        if self.vocabulary.has("replace_triggered_by") && self.one_in(6, 1) {
            let resources = scope.module.blocks.iter().filter(|it| it.kind() == "resource");
            if let Some(first) = resources.map(|it| it.labels().join(".")).next() {
                self.rule(block, "replace_triggered_by", &format!("[{first}]"));
            }
        }
        for (header, chance) in [("precondition", 10), ("postcondition", 10)] {
            if !self.one_in(chance, 1) {
                continue;
            }
            let mut condition = self.referring(scope);
            if header == "postcondition" && self.one_in(2, 1) {
                condition = self
                    .pick(&["self.output == self.input", "self.input != \"a\"", "self.id == \"\""])
                    .to_owned();
            }
            let condition = self.condition(header, condition);
            let key = self.key();
            lifecycle(block, key).blocks.push(condition);
        }
    }

    /// Generates a condition with a reference, which conditions require.
    fn referring(&mut self, scope: Scope<'_>) -> String {
        for _ in 0..8 {
            let condition = self.expression(Kind::Bool, scope, 2);
            if ["var.", "local.", "terraform_data.", "module.", "data.", "count.", "each."]
                .iter()
                .any(|it| condition.contains(it))
            {
                return condition;
            }
        }
        let yes = self.one_in(3, 2);
        (if yes { "terraform.workspace == \"default\"" } else { "path.module == \"\"" }).to_owned()
    }

    fn rule(&mut self, block: &mut Block, name: &str, value: &str) {
        let has_lifecycle = block.nested("lifecycle");
        if has_lifecycle.is_some_and(|it| it.argument(name).is_some()) && !self.one_in(50, 1) {
            return;
        }
        let key = self.key();
        lifecycle(block, key).arguments.push(argument(name, value));
    }

    pub(super) fn provisioners(
        &mut self,
        block: &mut Block,
        scope: Scope<'_>,
        folder: &str,
        name: &str,
    ) {
        let key = match scope.repetition {
            Some("count") => "[${count.index}]",
            Some(_) => "[${each.key}]",
            None => "",
        };
        let module = if folder.is_empty() { String::new() } else { format!("module.{folder}.") };
        for when in ["create", "destroy"] {
            if !self.one_in(7, 1) {
                continue;
            }
            let address = format!("{module}terraform_data.{name}{key}");
            let mut command = format!("echo {when} {address} >> order.log");
            if when == "create" && self.one_in(3, 1) {
                let value = self.expression(Kind::String, scope, 1);
                command = format!("echo 'value ${{{value}}}' >> order.log; {command}");
            }
            if self.one_in(6, 1) {
                command += "; exit 1";
            }
            let mut arguments = vec![argument("command", format!("\"{command}\""))];
            if when == "destroy" {
                arguments.insert(0, argument("when", "destroy"));
            }
            if self.one_in(6, 1) {
                arguments.push(argument("on_failure", "continue"));
            }
            let header = "provisioner \"local-exec\"".to_owned();
            block.blocks.push(Block { key: self.key(), header, arguments, blocks: Vec::new() });
        }
    }
}

/// The `lifecycle` block of a block, created if it is missing.
fn lifecycle(block: &mut Block, key: u32) -> &mut Block {
    let index = block.blocks.iter().position(|it| it.header == "lifecycle");
    let index = index.unwrap_or_else(|| {
        block.blocks.push(Block {
            key,
            header: "lifecycle".to_owned(),
            arguments: Vec::new(),
            blocks: Vec::new(),
        });
        block.blocks.len() - 1
    });
    &mut block.blocks[index]
}
