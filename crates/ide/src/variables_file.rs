//! Language features for variables files (`.tfvars`, `.tfvars.json`).
//!
//! **Invariant:** such a file is not part of a module or of the database, because its values belong to one run. A
//! request brings the text and the module that declares the variables.
//! **Invariant:** no answer quotes a value.

use db::{ByteRange, Diagnostic};
use hir::{
    names::{ItemName, item},
    variables_file,
};
use syntax::{AstNode, SyntaxToken, TextSize, ast};
use values::Str;

use crate::{Completions, Hover, Module, block_syntax, completion::in_variables_file, hover};

/// A variables file that is open in an editor.
#[derive(Clone, Copy)]
pub struct VariablesFile<'a> {
    /// The module that declares the variables, if there is one.
    pub module: Option<Module<'a>>,
    /// The path as shown to the user.
    pub path: &'a str,
    /// The text.
    pub text: &'a str,
}

impl VariablesFile<'_> {
    /// Returns true if the file uses the JSON syntax. Such a file has neither completion nor formatting.
    pub fn is_json(&self) -> bool {
        variables_file::is_json(self.path, self.text)
    }

    /// The diagnostics of the file, in the order of the text.
    pub fn problems(&self) -> Vec<Diagnostic> {
        let mut file = variables_file::read(self.path, self.text.as_bytes());
        let mut problems = std::mem::take(&mut file.problems);
        if let Some(module) = self.module {
            problems.extend(
                file.assignments.iter().filter_map(|assignment| self.of_value(&module, assignment)),
            );
        }
        sorted::sort_by(&mut problems, |a, b| a.location.cmp(&b.location));
        problems
    }

    fn of_value(
        &self,
        module: &Module<'_>,
        assignment: &variables_file::Assignment,
    ) -> Option<Diagnostic> {
        let Some(key) = module.lookup(&ItemName::Variable(assignment.name.clone())) else {
            let name = self.path.rsplit('/').next().unwrap_or(self.path);
            let place = db::Location { path: self.path.into(), range: assignment.name_range };
            return Some(variables_file::undeclared(&assignment.name, name).at(Some(place)));
        };
        variables_file::unsuitable(item(module.db, key).kind.as_variable()?, assignment)
    }

    /// The hover text of the variable name at an offset.
    pub fn hover(&self, offset: u32) -> Option<Hover> {
        let module = self.module?;
        let (name, range) = self.name_at(offset)?;
        let key = module.lookup(&ItemName::Variable(name))?;
        let markdown = hover::declared(module, key).markdown();
        Some(Hover { range, markdown })
    }

    /// Proposes variables that the file does not set yet.
    pub fn completions(&self, offset: u32) -> Completions {
        let Some(module) = self.module.filter(|_| !self.is_json()) else {
            return Completions::default();
        };
        in_variables_file(module, self.text, self.place(offset))
    }

    /// The start of the character at an offset, or the end of the text.
    fn place(&self, offset: u32) -> usize {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        db::input::floor_char_boundary(self.text, offset.min(self.text.len()))
    }

    fn name_at(&self, offset: u32) -> Option<(Str, ByteRange)> {
        if self.is_json() {
            let mut assignments =
                variables_file::read(self.path, self.text.as_bytes()).assignments.into_iter();
            let found =
                assignments.find(|it| (it.name_range.start..=it.name_range.end).contains(&offset));
            return found.map(|it| (it.name, it.name_range));
        }
        let token = self.name_token_at(offset)?;
        Some((Str::from(token.text()), ByteRange::from(token.text_range())))
    }

    fn name_token_at(&self, offset: u32) -> Option<SyntaxToken> {
        let file = syntax::parse_file(self.text).tree();
        let at = TextSize::new(u32::try_from(self.place(offset)).ok()?);
        let token = file.syntax().token_at_offset(at).find(|it| it.kind().is_name())?;
        let attribute = ast::Attribute::cast(token.parent()?)?;
        let is_name = attribute.name_token().as_ref() == Some(&token);
        (is_name && block_syntax::is_top_level(attribute.syntax())).then_some(token)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::fixture;

    const MODULE: &str = r#"
variable "name" {
  type        = string
  description = "Who it is."
  default     = "nobody"
}
variable "many" {
  type = list(object({ size = number }))
}
variable "password" {
  type      = object({ word = number })
  ephemeral = true
}
variable "pin" {
  type      = number
  sensitive = true
  default   = 1234
}
"#;

    /// Shows the diagnostics of a file, and the hover text and proposals at its cursor.
    #[track_caller]
    fn check(text: &str, expect: Expect) {
        let fixture = fixture::load(MODULE);
        let offset = text.find("$0");
        let text = text.replace("$0", "");
        let file = VariablesFile {
            module: Some(fixture.document().module()),
            path: "/w/x.tfvars",
            text: &text,
        };
        let slice = |range: ByteRange| &text[range.start as usize..range.end as usize];
        let mut shown = String::new();
        for it in file.problems() {
            let place = it.location.as_ref().map(|it| slice(it.range)).unwrap_or_default();
            assert!(!it.detail.contains("hunter2"), "{}", it.detail);
            shown += &format!("{:?} {} @ {place}\n  {}\n", it.severity(), it.summary, it.detail);
        }
        if let Some(offset) = offset {
            for it in file.completions(offset as u32).items {
                let detail = it.detail.unwrap_or_default();
                shown += &format!(
                    "{} ({detail}): {:?} for {:?}\n",
                    it.label,
                    it.insert,
                    slice(it.range)
                );
            }
            shown += &file.hover(offset as u32).map(|it| it.markdown).unwrap_or_default();
        }
        expect.assert_eq(&shown);
    }

    #[test]
    fn variables_file_values_are_checked_against_declarations() {
        check(
            "name = \"x\"\nmany = [{ size = 1 }]\npin = 1\npassword = { word = \"1\" }\n",
            expect![""],
        );
        check(
            "nmae = \"x\"\nmany = [{ size = \"x\" }]\n",
            expect![[r#"
            Warning Value for undeclared variable @ nmae
              The root module does not declare a variable named "nmae" but a value was found in file "x.tfvars". If you meant to use this value, add a "variable" block to the configuration.

            To silence these warnings, use TF_VAR_... environment variables to provide certain "global" settings to all configurations in your organization.
            Error Invalid value for input variable @ [{ size = "x" }]
              The given value is not suitable for var.many: a number is required.
        "#]],
        );
        check(
            "name = upper(\"x\")\nmany = [\n",
            expect![[r#"
            Error Function calls not allowed @ upper("x")
              This part of the variables file cannot be read. It is not quoted here, because it may be a secret. A value is a constant: a number, true, false, null, text in quotes, or a list or an object of those. In quotes, "${" and "%{" are written "$${" and "%%{", and a backslash or a quote with a backslash before it.
            Error Missing expression @ 
              This part of the variables file cannot be read. It is not quoted here, because it may be a secret. A value is a constant: a number, true, false, null, text in quotes, or a list or an object of those. In quotes, "${" and "%{" are written "$${" and "%%{", and a backslash or a quote with a backslash before it.
        "#]],
        );
    }

    #[test]
    fn errors_of_secret_variables_quote_no_value() {
        check(
            "pin = \"hunter2\"\npassword = { word = \"hunter2\" }\n",
            expect![[r#"
            Error Invalid value for input variable @ "hunter2"
              The given value is not suitable for var.pin, which is sensitive: a number is required.
            Error Invalid value for input variable @ { word = "hunter2" }
              The given value is not suitable for var.password, which is ephemeral: a number is required.
        "#]],
        );
        check(
            "password = { hunter2 = hunter2 }\n",
            expect![[r#"
            Error Variables not allowed @ { hunter2 = hunter2 }
              Variables may not be used here: a variables file holds constant values only. Text is written in quotes.
        "#]],
        );
        check(
            "$0pin = 1\n",
            expect![[r#"
            many (required, list(object({ size = number }))): "many" for "pin"
            password (required, ephemeral, object({ word = number })): "password" for "pin"
            name (string): "name" for "pin"
            pin (sensitive, number): "pin" for "pin"
            ```hcl
            var.pin: number
            ```

            **sensitive**

            Optional.

            Declared in `main.tf:14`"#]],
        );
    }

    #[test]
    fn variables_file_completion_proposes_variables() {
        check(
            "many = []\n$0",
            expect![[r#"
            password (required, ephemeral, object({ word = number })): "password = " for ""
            name (string): "name = " for ""
            pin (sensitive, number): "pin = " for ""
        "#]],
        );
        check(
            "na$0 = \"\"\n",
            expect![[r#"
            Warning Value for undeclared variable @ na
              The root module does not declare a variable named "na" but a value was found in file "x.tfvars". If you meant to use this value, add a "variable" block to the configuration.

            To silence these warnings, use TF_VAR_... environment variables to provide certain "global" settings to all configurations in your organization.
            many (required, list(object({ size = number }))): "many" for "na"
            password (required, ephemeral, object({ word = number })): "password" for "na"
            name (string): "name" for "na"
            pin (sensitive, number): "pin" for "na"
        "#]],
        );
        for elsewhere in ["name = $0", "many = [\n  $0\n]\n", "# $0", "name = <<E\n$0\nE\n"] {
            let fixture = fixture::load(MODULE);
            let offset = elsewhere.find("$0").expect("has a cursor") as u32;
            let text = elsewhere.replace("$0", "");
            let module = Some(fixture.document().module());
            let file = VariablesFile { module, path: "x.tfvars", text: &text };
            assert!(file.completions(offset).items.is_empty(), "{elsewhere}");
        }
    }

    #[test]
    fn variables_file_name_has_hover_and_completion() {
        check(
            "na$0me = \"x\"\n",
            expect![[r#"
            many (required, list(object({ size = number }))): "many" for "name"
            password (required, ephemeral, object({ word = number })): "password" for "name"
            name (string): "name" for "name"
            pin (sensitive, number): "pin" for "name"
            ```hcl
            var.name: string
            ```

            Who it is.

            Default: `"nobody"`

            Declared in `main.tf:2`"#]],
        );
    }

    #[test]
    fn json_variables_file_is_checked_against_declarations() {
        let fixture = fixture::load(MODULE);
        let module = Some(fixture.document().module());
        let text = r#"{"name": "x", "pin": "hunter2", "nmae": 1}"#;
        let file = VariablesFile { module, path: "/w/x.tfvars.json", text };
        let problems = file.problems();
        let shown: Vec<_> = problems
            .iter()
            .map(|it| {
                assert!(!it.detail.contains("hunter2"), "{}", it.detail);
                let range = it.location.as_ref().expect("has a place").range;
                (&*it.summary, &text[range.start as usize..range.end as usize])
            })
            .collect();
        let expected = [
            ("Invalid value for input variable", "\"hunter2\""),
            ("Value for undeclared variable", "nmae"),
        ];
        assert_eq!(shown, expected);
        let hover = file.hover(2).expect("is explained");
        assert_eq!((hover.range.start, hover.range.end), (2, 6));
        assert!(hover.markdown.contains("Who it is."), "{}", hover.markdown);
        assert!(file.completions(2).items.is_empty());
    }

    #[test]
    fn variables_file_features_never_panic() {
        let fixture = fixture::load(MODULE);
        for text in
            ["{\"ä\": [", "ä = \"ä\nö", "name = \"${\n}}", "= = {\n<<", "\u{feff}na\r\n", ""]
        {
            let module = Some(fixture.document().module());
            let path = if text.starts_with('{') { "x.tfvars.json" } else { "x.tfvars" };
            let file = VariablesFile { module, path, text };
            file.problems();
            for offset in (0..text.len() as u32 + 3).chain([u32::MAX]) {
                file.hover(offset);
                file.completions(offset);
            }
        }
    }
}
