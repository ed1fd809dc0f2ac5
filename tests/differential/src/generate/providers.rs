//! Blocks of the providers `external`, `http`, `local`, `null`, `random`, `time` and `tls` in the root module: managed
//! resources, data sources that read their results, ephemeral resources, and provider configurations with an
//! alias.
//!
//! References use only attributes that are the same in every run, so that values derived from them do not differ.

use super::{
    Generator,
    blocks::argument,
    expressions::{Kind, Scope},
};
use crate::{
    model::{Block, Module},
    server::ADDRESS,
};

/// The only alias.
const ALIAS: &str = "other";

impl Generator<'_> {
    /// Generates a block. `None` if the drawn name is taken.
    pub(super) fn block_of_provider(&mut self, modules: &[Module]) -> Option<Block> {
        match self.random.usize(..19) {
            0 => self.alias(&modules[0]),
            1..=3 => self.file(modules),
            4 | 5 => self.null(modules),
            6..=8 => self.file_data(modules),
            9 => self.password(modules),
            10 => self.offset(modules),
            11 | 12 => self.key_pair(modules),
            13 => self.public_key(modules),
            14..=16 => self.request(modules),
            _ => self.external(modules),
        }
    }

    fn alias(&mut self, root: &Module) -> Option<Block> {
        let header = "provider \"local\"".to_owned();
        let is_there = root.blocks.iter().any(|it| it.header == header);
        let arguments = vec![argument("alias", format!("\"{ALIAS}\""))];
        let blocks = Vec::new();
        (!is_there).then(|| Block { key: self.key(), header, arguments, blocks })
    }

    fn file(&mut self, modules: &[Module]) -> Option<Block> {
        let name = self.name(&modules[0], Kind::String, "resource")?;
        let mut block = self.empty(format!("resource \"local_file\" \"{name}\""));
        let scope = Scope::of(&modules[0], modules, u32::MAX);
        if self.one_in(3, 1) {
            self.repeat(&mut block, scope);
        }
        let inner = scope.repeated(&block);
        let key = match inner.repetition {
            Some("count") => "-${count.index}",
            Some(_) => "-${each.key}",
            None => "",
        };
        let content = self.expression(Kind::String, inner, 2);
        block.arguments.push(argument("content", content));
        block.arguments.push(argument("filename", format!("\"files/{name}{key}.txt\"")));
        self.finish(block, modules)
    }

    fn null(&mut self, modules: &[Module]) -> Option<Block> {
        let name = self.name(&modules[0], Kind::Map, "resource")?;
        let mut block = self.empty(format!("resource \"null_resource\" \"{name}\""));
        let scope = Scope::of(&modules[0], modules, u32::MAX);
        if self.one_in(3, 1) {
            self.repeat(&mut block, scope);
        }
        let inner = scope.repeated(&block);
        if self.one_in(4, 3) {
            let triggers = self.expression(Kind::Map, inner, 1);
            block.arguments.push(argument("triggers", triggers));
        }
        self.provisioners(&mut block, inner, "", &name);
        self.lifecycle(&mut block, inner);
        self.finish(block, modules)
    }

    /// Generates a data source that reads the file of a resource, or one that may be missing.
    fn file_data(&mut self, modules: &[Module]) -> Option<Block> {
        let name = self.name(&modules[0], Kind::String, "data")?;
        let files = modules[0].blocks.iter().filter(|it| it.header.contains("\"local_file\""));
        let files: Vec<String> = files
            .filter(|it| it.kind() == "resource" && !is_repeated(it))
            .map(|it| it.labels().join("."))
            .collect();
        let mut block = self.empty(format!("data \"local_file\" \"{name}\""));
        let filename = match files.get(self.random.usize(..files.len() + 1)) {
            Some(file) if self.one_in(4, 3) => format!("{file}.filename"),
            Some(file) => format!("\"${{{file}.filename}}\""),
            None => self.pick(&["\"main.tf\"", "\"main.tf\"", "\"missing.txt\""]).to_owned(),
        };
        block.arguments.push(argument("filename", filename));
        self.finish(block, modules)
    }

    fn password(&mut self, modules: &[Module]) -> Option<Block> {
        let name = self.name(&modules[0], Kind::String, "ephemeral")?;
        let mut block = self.empty(format!("ephemeral \"random_password\" \"{name}\""));
        block.arguments.push(argument("length", "12"));
        self.finish(block, modules)
    }

    /// Generates a time with an offset from a fixed time, so that it is the same in every run.
    fn offset(&mut self, modules: &[Module]) -> Option<Block> {
        let name = self.name(&modules[0], Kind::String, "resource")?;
        let mut block = self.empty(format!("resource \"time_offset\" \"{name}\""));
        let scope = Scope::of(&modules[0], modules, u32::MAX);
        block.arguments.push(argument("base_rfc3339", "\"2026-01-01T00:00:00Z\""));
        let days = self.expression(Kind::Number, scope, 1);
        block.arguments.push(argument("offset_days", days));
        if self.one_in(2, 1) {
            let triggers = self.expression(Kind::Map, scope, 1);
            block.arguments.push(argument("triggers", triggers));
        }
        self.finish(block, modules)
    }

    fn key_pair(&mut self, modules: &[Module]) -> Option<Block> {
        let name = self.name(&modules[0], Kind::String, "resource")?;
        let mut block = self.empty(format!("resource \"tls_private_key\" \"{name}\""));
        block.arguments.push(argument("algorithm", "\"ED25519\""));
        self.finish(block, modules)
    }

    /// Generates the public key for a private key of a resource. `None` if there is no private key.
    fn public_key(&mut self, modules: &[Module]) -> Option<Block> {
        let name = self.name(&modules[0], Kind::String, "data")?;
        let keys = modules[0].blocks.iter().filter(|it| it.header.contains("\"tls_private_key\""));
        let keys: Vec<String> = keys.map(|it| it.labels().join(".")).collect();
        let key = keys.get(self.random.usize(..keys.len().max(1)))?;
        let mut block = self.empty(format!("data \"tls_public_key\" \"{name}\""));
        block.arguments.push(argument("private_key_openssh", format!("{key}.private_key_openssh")));
        self.finish(block, modules)
    }

    /// Generates a data source whose program echoes its query, or fails.
    fn external(&mut self, modules: &[Module]) -> Option<Block> {
        let name = self.name(&modules[0], Kind::String, "data")?;
        let mut block = self.empty(format!("data \"external\" \"{name}\""));
        let scope = Scope::of(&modules[0], modules, u32::MAX);
        let program = if self.one_in(10, 1) { "[\"false\"]" } else { "[\"cat\"]" };
        block.arguments.push(argument("program", program));
        let value = self.expression(Kind::String, scope, 1);
        block.arguments.push(argument("query", format!("{{ a = {value} }}")));
        self.finish(block, modules)
    }

    /// Generates a request to the server of the runner, whose answer has the parts of the request.
    fn request(&mut self, modules: &[Module]) -> Option<Block> {
        let name = self.name(&modules[0], Kind::String, "data")?;
        let mut block = self.empty(format!("data \"http\" \"{name}\""));
        let scope = Scope::of(&modules[0], modules, u32::MAX);
        let folder = self.pick(&["text", "text", "json", "binary", "missing"]).to_owned();
        let mut url = format!("\"{ADDRESS}/{folder}/{name}\"");
        if self.one_in(3, 1) {
            let part = self.expression(Kind::String, scope, 1);
            url = format!("\"{ADDRESS}/{folder}/${{urlencode({part})}}\"");
        }
        block.arguments.push(argument("url", url));
        if self.one_in(3, 1) {
            let method = self.pick(&["GET", "POST", "HEAD", "PUT"]).to_owned();
            block.arguments.push(argument("method", format!("\"{method}\"")));
        }
        if self.one_in(3, 1) {
            let accept = self.expression(Kind::String, scope, 0);
            block.arguments.push(argument("request_headers", format!("{{ Accept = {accept} }}")));
        }
        if self.one_in(4, 1) {
            block.arguments.push(argument("request_body", "\"hi\""));
        }
        if self.one_in(4, 1) {
            let condition = argument("condition", "self.status_code == 200");
            let message = argument("error_message", "\"status ${self.status_code}\"");
            let mut postcondition = self.empty("postcondition".to_owned());
            postcondition.arguments.extend([condition, message]);
            let mut lifecycle = self.empty("lifecycle".to_owned());
            lifecycle.blocks.push(postcondition);
            block.blocks.push(lifecycle);
        }
        self.finish(block, modules)
    }

    /// Adds the arguments that any of these blocks may have.
    fn finish(&mut self, mut block: Block, modules: &[Module]) -> Option<Block> {
        let has_alias = modules[0].blocks.iter().any(|it| it.kind() == "provider");
        if block.labels()[0] == "local_file" && has_alias && self.one_in(2, 1) {
            block.arguments.push(argument("provider", format!("local.{ALIAS}")));
        }
        let scope = Scope::of(&modules[0], modules, u32::MAX);
        block.arguments.extend(self.depends_on(scope));
        Some(block)
    }

    pub(super) fn empty(&mut self, header: String) -> Block {
        Block { key: self.key(), header, arguments: Vec::new(), blocks: Vec::new() }
    }
}

fn is_repeated(block: &Block) -> bool {
    ["count", "for_each"].iter().any(|it| block.argument(it).is_some())
        || block.nested("lifecycle").is_some_and(|it| it.argument("enabled").is_some())
}
