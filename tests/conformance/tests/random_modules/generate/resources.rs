//! Generation of resources, data sources and ephemeral resources.

use super::*;

impl ModuleGenerator<'_> {
    /// Generates a repetition. Returns the entry, the names that it binds, a suffix for unique names, and the key
    /// of the first instance; `?` if the instances are unknown.
    pub(super) fn repetition(&mut self) -> (Vec<String>, Vec<Name>, &'static str, &'static str) {
        match self.random.below(9) {
            0 => {
                let count = if self.random.percent(85) { "2" } else { "0" };
                (vec![format!("count = {count}")], Vec::new(), "-${count.index}", "[0]")
            }
            1 | 2 => {
                let (a, b) = (self.expr(Kind::Text, Marks::Any), self.expr(Kind::Text, Marks::Any));
                let each = Name::new("each.value", Kind::Text, Marks::Any);
                let key = Name::new("each.key", Kind::Text, Marks::Plain);
                (
                    vec![format!("for_each = {{ a = {a}, b = {b} }}")],
                    vec![each, key],
                    "-${each.key}",
                    "[\"a\"]",
                )
            }
            3 => {
                let all = self.known(Kind::List);
                let key = Name::new("each.value", Kind::Text, Marks::Plain);
                (vec![format!("for_each = toset({all})")], vec![key], "-${each.key}", "?")
            }
            5 => {
                let all = self.known(Kind::Map);
                let each = Name::new("each.value", Kind::Text, Marks::Plain);
                (vec![format!("for_each = {all}")], vec![each], "-${each.key}", "?")
            }
            4 => {
                let is_there = self.known(Kind::Bool);
                (vec![format!("lifecycle {{\n    enabled = {is_there}\n  }}")], Vec::new(), "", "?")
            }
            _ => (Vec::new(), Vec::new(), "", ""),
        }
    }

    /// The unique name of an object.
    pub(super) fn object_name(&self, name: &str, behind: &str) -> String {
        match self.file == ROOT {
            true => format!("\"{name}{behind}\""),
            false => format!("\"${{var.prefix}}-{name}{behind}\""),
        }
    }

    pub(super) fn data_resource(&mut self) {
        let name = self.fresh("t");
        let (mut entries, bound, _, first) = self.repetition();
        let kind = self.kind();
        entries.push(format!("input = {}", self.shown(kind, &bound)));
        if self.random.percent(30) {
            let triggers = self.kept(Kind::Text, Marks::Sensitive, &bound);
            entries.push(format!("triggers_replace = {triggers}"));
        }
        if self.random.percent(25) {
            let command = self.expr_with(Kind::Text, Marks::Any, &bound);
            let connection = self.connection(&bound);
            entries.push(format!(
                "provisioner \"local-exec\" {{\n    command = \"echo ${{{command}}}\"\n    {connection}\n  }}"
            ));
            if self.random.percent(50) {
                entries.push(self.connection(&bound));
            }
        }
        // A connection that both provisioners share would need its values at destruction.
        if self.random.percent(10) && !entries.iter().any(|it| it.starts_with("connection")) {
            let last = "provisioner \"local-exec\" {\n    when = destroy\n    command = \"echo ${self.id}\"\n  }";
            entries.push(last.to_owned());
        }
        if !entries.iter().any(|it| it.starts_with("lifecycle")) {
            entries.extend(self.managed_lifecycle());
        }
        self.piece(&format!("resource \"terraform_data\" \"{name}\""), entries);
        if first != "?" {
            let text = format!("terraform_data.{name}{first}.output");
            self.names.push(Name::new(text, kind, Marks::Plain));
        }
    }

    /// Generates a `connection` block, which may contain ephemeral values.
    pub(super) fn connection(&mut self, bound: &[Name]) -> String {
        let password = self.expr_with(Kind::Text, Marks::Any, bound);
        let port = self.expr_with(Kind::Number, Marks::Any, bound);
        format!(
            "connection {{\n      host = \"localhost\"\n      password = {password}\n      port = {port}\n    }}"
        )
    }

    pub(super) fn secret(&mut self) {
        let name = self.fresh("s");
        let (mut entries, bound, behind, first) = self.repetition();
        entries.push(format!("name = {}", self.object_name(&name, behind)));
        entries.push(format!("value_wo = {}", self.expr_with(Kind::Text, Marks::Any, &bound)));
        entries.push("value_wo_version = 1".to_owned());
        if self.random.percent(60) {
            entries
                .push(format!("description = {}", self.kept(Kind::Text, Marks::Sensitive, &bound)));
        }
        if let Some(other) = self.other_provider
            && self.random.percent(20)
        {
            entries.push(format!("provider = {other}"));
        }
        self.piece(&format!("resource \"playground_secret\" \"{name}\""), entries);
        if first != "?" {
            let of = |it: &str| format!("playground_secret.{name}{first}.{it}");
            self.names.push(Name::new(of("arn"), Kind::Text, Marks::Plain));
            self.names.push(Name::new(of("description"), Kind::Text, Marks::Sensitive));
        }
    }

    pub(super) fn vault(&mut self) {
        let name = self.fresh("x");
        let (mut entries, bound, behind, first) = self.repetition();
        entries.push(format!("name = {}", self.object_name(&name, behind)));
        let kind = self.kind();
        entries.push(format!("any_wo = {}", self.expr_with(kind, Marks::Any, &bound)));
        if self.random.percent(50) {
            let user = self.kept(Kind::Text, Marks::Sensitive, &bound);
            let password = self.expr_with(Kind::Text, Marks::Any, &bound);
            entries.push(format!(
                "login = {{\n    user = \"u${{{user}}}\"\n    password_wo = {password}\n  }}"
            ));
        }
        if self.random.percent(40) {
            entries.push(self.replica(&bound));
        }
        if self.random.percent(40) {
            entries.push(self.dynamic_replica(&bound));
        }
        if self.random.percent(30) {
            entries.push(self.dynamic_region(&bound));
        }
        self.piece(&format!("resource \"playground_vault\" \"{name}\""), entries);
        if first != "?" {
            let text = format!("playground_vault.{name}{first}.id");
            self.names.push(Name::new(text, Kind::Text, Marks::Plain));
        }
    }

    pub(super) fn replica(&mut self, bound: &[Name]) -> String {
        let name = self.kept(Kind::Text, Marks::Sensitive, bound);
        let token = self.expr_with(Kind::Text, Marks::Any, bound);
        format!("replica {{\n    name = \"r${{{name}}}\"\n    token_wo = {token}\n  }}")
    }

    pub(super) fn dynamic_replica(&mut self, bound: &[Name]) -> String {
        let marks = if self.random.percent(15) { Marks::Any } else { Marks::Plain };
        let all = self.expr_with(Kind::List, marks, bound);
        let mut bound = bound.to_vec();
        bound.push(Name::new("replica.value", Kind::Text, marks));
        let name = self.kept(Kind::Text, Marks::Plain, &bound);
        let token = self.expr_with(Kind::Text, Marks::Any, &bound);
        let mirror =
            if self.random.percent(50) { self.dynamic_mirror(&bound) } else { String::new() };
        format!(
            "dynamic \"replica\" {{\n    for_each = {all}\n    content {{\n      name = \
             \"d${{{name}}}\"\n      token_wo = {token}\n      {mirror}\n    }}\n  }}"
        )
    }

    /// Generates a `dynamic` block inside of another one. It may use the iterator of the outer block.
    pub(super) fn dynamic_mirror(&mut self, bound: &[Name]) -> String {
        let marks = if self.random.percent(15) { Marks::Any } else { Marks::Plain };
        let all = self.expr_with(Kind::List, marks, bound);
        let mut bound = bound.to_vec();
        bound.push(Name::new("inner.value", Kind::Text, marks));
        let name = self.kept(Kind::Text, Marks::Plain, &bound);
        let token = self.expr_with(Kind::Text, Marks::Any, &bound);
        format!(
            "dynamic \"mirror\" {{\n        for_each = {all}\n        iterator = inner\n        \
             content {{\n          name = \"i${{{name}}}\"\n          token_wo = {token}\n        }}\n      }}"
        )
    }

    pub(super) fn dynamic_region(&mut self, bound: &[Name]) -> String {
        let value = self.expr_with(Kind::Text, Marks::Any, bound);
        let mut bound = bound.to_vec();
        bound.push(Name::new("it.value", Kind::Text, Marks::Any));
        let name = match self.random.percent(8) {
            true => "it.value".to_owned(),
            false => self.kept(Kind::Text, Marks::Plain, &bound),
        };
        let token = self.expr_with(Kind::Text, Marks::Any, &bound);
        format!(
            "dynamic \"region\" {{\n    for_each = {{ eu = {value} }}\n    iterator = it\n    \
             labels = [it.key]\n    content {{\n      name = \"g${{{name}}}\"\n      token_wo = {token}\n    }}\n  }}"
        )
    }

    /// Generates an expression for the name of an existing object.
    pub(super) fn other_name(&mut self) -> String {
        match self.random.percent(50) {
            true => "\"other\"".to_owned(),
            false => {
                let either = self.kept(Kind::Bool, Marks::Sensitive, &[]);
                format!("({either}) ? \"other\" : \"other\"")
            }
        }
    }

    pub(super) fn data_source(&mut self) {
        let name = self.fresh("d");
        let entries = vec![format!("name = {}", self.other_name())];
        self.piece(&format!("data \"playground_secret\" \"{name}\""), entries);
        let text = format!("data.playground_secret.{name}.arn");
        self.names.push(Name::new(text, Kind::Text, Marks::Plain));
    }

    pub(super) fn ephemeral(&mut self) {
        let name = self.fresh("e");
        let (kind, attribute) = match self.random.percent(70) {
            true => ("playground_secret", "arn"),
            false => ("playground_random", "result"),
        };
        let repetition = *self.random.of(&[
            ("", ""),
            ("", ""),
            ("", ""),
            ("", ""),
            ("count = 2", "[0]"),
            ("for_each = toset([\"a\", \"b\"])", "[\"a\"]"),
        ]);
        let mut entries: Vec<String> = [repetition.0].map(str::to_owned).into();
        entries.retain(|it| !it.is_empty());
        entries.push(match kind {
            "playground_secret" => "name = \"remote\"".to_owned(),
            _ => "length = 12".to_owned(),
        });
        entries.extend(self.lifecycle(10));
        self.piece(&format!("ephemeral \"{kind}\" \"{name}\""), entries);
        let text = format!("ephemeral.{kind}.{name}{}.{attribute}", repetition.1);
        self.names.push(Name::new(text, Kind::Text, Marks::Any));
        if !repetition.1.is_empty() {
            let all = format!("ephemeral.{kind}.{name}");
            let all = if repetition.0.starts_with("for") { format!("values({all})") } else { all };
            let text = format!("{all}[*].{attribute}");
            self.names.push(Name::new(text, Kind::List, Marks::Any));
        }
    }
}
