//! Random edits of a configuration, as a user makes them between two runs.

use super::{
    Generator,
    expressions::{Kind, Scope},
};
use crate::model::{Argument, Block, Module};

impl Generator<'_> {
    pub(super) fn edit(&mut self, modules: &mut [Module]) {
        let index = if self.one_in(3, 2) { 0 } else { self.random.usize(..modules.len()) };
        if modules[index].blocks.is_empty() {
            return;
        }
        let at = self.random.usize(..modules[index].blocks.len());
        if self.vocabulary.has("moved") && self.one_in(4, 1) {
            return self.rename(modules, index, at);
        }
        if self.vocabulary.has("removed") && self.one_in(5, 1) {
            return self.remove(modules, index, at);
        }
        if self.vocabulary.has("import") && self.one_in(5, 1) {
            let block = self.import(&modules[0]);
            modules[0].blocks.extend(block);
            return;
        }
        match self.random.usize(..12) {
            0 | 1 => {
                let block = self.block(modules, index);
                modules[index].blocks.extend(block);
            }
            2 => self.remove(modules, index, at),
            3 => self.rename(modules, index, at),
            4 | 5 => self.change_repetition(modules, index, at),
            6 => self.change_rest(modules, index, at),
            _ => self.change_value(modules, index, at),
        }
    }

    fn remove(&mut self, modules: &mut [Module], index: usize, at: usize) {
        let block = &modules[index].blocks[at];
        let labels = block.labels();
        // A block with references is seldom removed, because the next command would only report these references.
        let address = labels.join(".");
        let is_used = modules[index].blocks.iter().any(|it| mentions(it, &address));
        if is_used && self.one_in(4, 3) {
            return;
        }
        let is_removable = matches!(block.kind(), "resource" | "module");
        let address = if block.kind() == "module" { format!("module.{address}") } else { address };
        modules[index].blocks.remove(at);
        if is_removable && self.vocabulary.has("removed") && self.one_in(3, 2) {
            let destroy = self.random.bool().to_string();
            let lifecycle = Block {
                key: self.key(),
                header: "lifecycle".to_owned(),
                arguments: vec![Argument { name: "destroy".to_owned(), value: destroy }],
                blocks: Vec::new(),
            };
            let arguments = vec![Argument { name: "from".to_owned(), value: address }];
            let blocks = vec![lifecycle];
            let block = Block { key: self.key(), header: "removed".to_owned(), arguments, blocks };
            modules[index].blocks.push(block);
        }
    }

    /// Renames a resource or a module call, usually together with the references to it.
    fn rename(&mut self, modules: &mut [Module], index: usize, at: usize) {
        let block = &modules[index].blocks[at];
        let (kind, labels) = (block.kind().to_owned(), block.labels().join("."));
        if kind != "resource" && kind != "module" {
            return;
        }
        let name = labels.rsplit('.').next().unwrap_or_default().to_owned();
        let new = format!("{}{}", &name[..1], 5 + self.random.usize(..4));
        let module = &mut modules[index];
        if module.blocks.iter().any(|it| it.labels().last() == Some(&&*new)) {
            return;
        }
        let prefix = if kind == "module" { "module." } else { "" };
        let [from, to] = [&name, &new].map(|it| format!("{prefix}{}", labels.replace(&name, it)));
        let header = &mut module.blocks[at].header;
        *header = header.replace(&format!("\"{name}\""), &format!("\"{new}\""));
        if self.one_in(10, 9) {
            for block in &mut module.blocks {
                replace(block, &from, &to);
            }
        }
        if self.vocabulary.has("moved") && self.one_in(3, 2) {
            let block = self.moved(from, to);
            modules[index].blocks.push(block);
        }
    }

    fn change_repetition(&mut self, modules: &mut [Module], index: usize, at: usize) {
        let mut block = modules[index].blocks[at].clone();
        if block.kind() != "resource" && block.kind() != "module" {
            return;
        }
        let before = block.arguments.len();
        block.arguments.retain(|it| it.name != "count" && it.name != "for_each");
        for lifecycle in block.blocks.iter_mut().filter(|it| it.header == "lifecycle") {
            lifecycle.arguments.retain(|it| it.name != "enabled");
        }
        let is_removal = block.arguments.len() < before && self.one_in(3, 1);
        if !is_removal {
            let scope = Scope::of(&modules[index], modules, block.key);
            self.repeat(&mut block, scope);
        }
        modules[index].blocks[at] = block;
        if self.vocabulary.has("moved") && self.one_in(2, 1) {
            self.move_instance(modules, index, at);
        }
    }

    /// Adds a `moved` block between two instances of a block.
    fn move_instance(&mut self, modules: &mut [Module], index: usize, at: usize) {
        let block = &modules[index].blocks[at];
        let prefix = if block.kind() == "module" { "module." } else { "" };
        let address = format!("{prefix}{}", block.labels().join("."));
        let keys = ["", "[0]", "[1]", "[\"a\"]", "[\"b\"]"];
        let [from, to] = [(), ()].map(|()| format!("{address}{}", self.pick(&keys)));
        let block = self.moved(from, to);
        modules[index].blocks.push(block);
    }

    /// Generates an `import` block for a resource. `None` if the module has none.
    fn import(&mut self, root: &Module) -> Option<Block> {
        let is_importable = |it: &&Block| it.header.starts_with("resource \"terraform_data\"");
        let resources: Vec<&Block> = root.blocks.iter().filter(is_importable).collect();
        let resource = resources.get(self.random.usize(..resources.len().max(1)))?;
        let address = resource.labels().join(".");
        let argument =
            |name: &str, value: &str| Argument { name: name.to_owned(), value: value.to_owned() };
        let arguments = if resource.argument("for_each").is_some() && self.one_in(2, 1) {
            let keys = self.pick(&["{ a = \"x\" }", "{ a = \"x\", b = \"y\" }", "{}"]);
            vec![
                argument("for_each", keys),
                argument("to", &format!("{address}[each.key]")),
                argument("id", "each.value"),
            ]
        } else {
            let key = match (resource.argument("count"), resource.argument("for_each")) {
                (Some(_), _) => "[0]",
                (_, Some(_)) => "[\"a\"]",
                _ => "",
            };
            let scope = Scope::of(root, std::slice::from_ref(root), u32::MAX);
            let id = match self.one_in(3, 1) {
                true => self.expression(Kind::String, scope, 1),
                false => "\"from-outside\"".to_owned(),
            };
            vec![argument("to", &format!("{address}{key}")), argument("id", &id)]
        };
        let header = "import".to_owned();
        Some(Block { key: self.key(), header, arguments, blocks: Vec::new() })
    }

    fn moved(&mut self, from: String, to: String) -> Block {
        let argument = |name: &str, value| Argument { name: name.to_owned(), value };
        Block {
            key: self.key(),
            header: "moved".to_owned(),
            arguments: vec![argument("from", from), argument("to", to)],
            blocks: Vec::new(),
        }
    }

    /// Adds or removes something other than a value.
    fn change_rest(&mut self, modules: &mut [Module], index: usize, at: usize) {
        let mut block = modules[index].blocks[at].clone();
        let scope = Scope::of(&modules[index], modules, block.key).repeated(&block);
        let name = block.labels().last().copied().unwrap_or_default().to_owned();
        match block.kind() {
            "resource" if self.one_in(3, 1) && !block.blocks.is_empty() => {
                block.blocks.remove(self.random.usize(..block.blocks.len()));
            }
            "resource" => {
                self.lifecycle(&mut block, scope);
                let folder = modules[index].folder.clone();
                self.provisioners(&mut block, scope, &folder, &name);
            }
            "output" | "module" => {
                block.arguments.retain(|it| it.name != "depends_on");
                block.arguments.extend(self.depends_on(scope));
            }
            "variable" => {
                let before = block.arguments.len();
                block.arguments.retain(|it| it.name != "sensitive");
                if block.arguments.len() == before && block.argument("ephemeral").is_none() {
                    let argument =
                        Argument { name: "sensitive".to_owned(), value: "true".to_owned() };
                    block.arguments.push(argument);
                }
            }
            _ => {}
        }
        modules[index].blocks[at] = block;
    }

    fn change_value(&mut self, modules: &mut [Module], index: usize, at: usize) {
        let mut block = modules[index].blocks[at].clone();
        let scope = Scope::of(&modules[index], modules, block.key).repeated(&block);
        let label = block.labels().last().copied().unwrap_or_default().to_owned();
        let kind = block.kind().to_owned();
        let names = ["input", "triggers_replace", "value", "default"];
        let is_value = |it: &&mut Argument| {
            names.contains(&&*it.name) || kind == "locals" || kind == "module" && it.name.len() == 2
        };
        let mut values: Vec<&mut Argument> = block.arguments.iter_mut().filter(is_value).collect();
        if values.is_empty() {
            return;
        }
        let value = values.swap_remove(self.random.usize(..values.len()));
        let of = if kind == "locals" || kind == "module" { &value.name } else { &label };
        let of = if value.name == "triggers_replace" { self.kind() } else { Kind::of_name(of) };
        value.value =
            if value.name == "default" { self.literal(of) } else { self.expression(of, scope, 2) };
        modules[index].blocks[at] = block;
    }
}

fn mentions(block: &Block, address: &str) -> bool {
    block.arguments.iter().any(|it| it.value.contains(address))
        || block.blocks.iter().any(|it| mentions(it, address))
}

fn replace(block: &mut Block, from: &str, to: &str) {
    for argument in &mut block.arguments {
        argument.value = argument.value.replace(from, to);
    }
    for block in &mut block.blocks {
        replace(block, from, to);
    }
}
