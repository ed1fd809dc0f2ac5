//! The shapes of generated configurations: what the resources of a workload are declared with.

use std::{fmt::Write as _, fs, path::Path};

use anyhow::{Context as _, Result, ensure};

use super::workload::{EARLIER, Kind, Workload, item};

/// The number of instances for each module call and each `for_each`.
const GROUP: usize = 100;

/// The number of resource types in [`Shape::Types`].
const TYPES: usize = 40;

/// The structure of a configuration with a given number of resource instances.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// One block for each resource, in the root module.
    Flat,
    /// One block of `playground_secret` for each resource, over a plugin.
    Plugin,
    /// Calls of one module with a hundred resources.
    Modules,
    /// Blocks with `for_each` over a hundred keys.
    ForEach,
    /// Forty resource types, over a plugin.
    Types,
    /// Nested and `dynamic` blocks, over the same plugin.
    Blocks,
    /// [`Shape::Flat`] with a precondition and a postcondition for each resource.
    Conditions,
    /// [`Shape::Flat`] with a `moved` block for each resource.
    Moves,
    /// [`Shape::Flat`] with one reference to an undeclared local value.
    OneError,
    /// [`Shape::Flat`] with one expression that would fail if it were evaluated, which editors show as a hint.
    OneHint,
    /// [`Shape::Flat`] with an override file for one resource.
    OneOverride,
}

impl Shape {
    pub(crate) const ALL: [Shape; 11] = [
        Shape::Flat,
        Shape::OneError,
        Shape::OneHint,
        Shape::OneOverride,
        Shape::Modules,
        Shape::ForEach,
        Shape::Conditions,
        Shape::Moves,
        Shape::Plugin,
        Shape::Types,
        Shape::Blocks,
    ];

    /// Returns the part of a row's title, after the name of the step.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Shape::Flat => "",
            Shape::Plugin => " over a plugin",
            Shape::Modules => ", modules",
            Shape::ForEach => ", for_each",
            Shape::Types => ", 40 types over a plugin",
            Shape::Blocks => ", nested blocks over a plugin",
            Shape::Conditions => ", conditions",
            Shape::Moves => ", moves",
            Shape::OneError => ", one error",
            Shape::OneHint => ", one hint",
            Shape::OneOverride => ", one override file",
        }
    }

    pub(crate) fn kind(self) -> Kind {
        match self {
            Shape::Plugin => Kind::Playground,
            Shape::Types | Shape::Blocks => Kind::Fleet,
            _ => Kind::Builtin,
        }
    }

    /// Returns true if the shape is [`Shape::Flat`] with one change, whose cost the bench compares with the flat
    /// shape's.
    pub(crate) fn is_variant(self) -> bool {
        matches!(self, Shape::OneError | Shape::OneHint | Shape::OneOverride)
    }

    /// Returns the number of root outputs for a number of resource instances.
    pub(crate) fn outputs(self, resources: usize) -> usize {
        match self {
            Shape::Modules | Shape::ForEach => resources.div_ceil(GROUP),
            _ => resources,
        }
    }

    /// Writes a configuration of this shape into `folder`, which is emptied first.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written or removed.
    pub(crate) fn write(self, folder: &Path, resources: usize) -> Result<Workload> {
        let workload = Workload::write(folder.to_owned(), self.kind(), resources)?;
        match self {
            Shape::Flat | Shape::Plugin | Shape::Types => {}
            Shape::Blocks => in_each_part(&workload, nested_blocks)?,
            Shape::Conditions => in_each_part(&workload, conditions)?,
            Shape::Moves => in_each_part(&workload, moves)?,
            Shape::Modules => in_modules(&workload)?,
            Shape::ForEach => in_each_part(&workload, for_each)?,
            Shape::OneError => edit(&workload, |it| {
                ("input = local.text_", format!("input = local.missing_{it}_"))
            })?,
            Shape::OneHint => edit(&workload, |_| {
                ("upper(", "upper(var.name == \"other\" ? tonumber(\"none\") : ".to_owned())
            })?,
            Shape::OneOverride => fs::write(
                workload.folder.join("one_override.tf"),
                format!(
                    "resource \"terraform_data\" \"item_{}\" {{\n  input = \"{OVERRIDDEN}\"\n}}\n",
                    resources / 2
                ),
            )?,
        }
        Ok(workload)
    }

    /// Checks what the change of a variant must have led to in the output of a command.
    ///
    /// # Errors
    /// Returns an error if the output does not show it.
    pub(crate) fn assert_plan(self, stdout: &str) -> Result<()> {
        let is_shown = self != Shape::OneOverride || stdout.contains(OVERRIDDEN);
        ensure!(is_shown, "the override file has no effect");
        Ok(())
    }

    /// Checks the diagnostics of a command that must fail for [`Shape::OneError`].
    ///
    /// # Errors
    /// Returns an error unless there is the one error.
    pub(crate) fn assert_error(stderr: &str) -> Result<()> {
        let errors = stderr.lines().filter(|line| line.contains("Error: ")).count();
        ensure!(errors == 1, "{errors} errors, not one:\n{stderr}");
        ensure!(stderr.contains("local.missing_"), "another error:\n{stderr}");
        Ok(())
    }
}

/// The value that an override file sets.
const OVERRIDDEN: &str = "set by the override file";

/// Replaces a text in the item in the middle.
fn edit(workload: &Workload, change: impl Fn(usize) -> (&'static str, String)) -> Result<()> {
    let index = workload.resources / 2;
    let path = workload.file_of(index);
    let text = fs::read_to_string(&path)?;
    let start = text.find(&format!("  name_{index} = ")).context("the item is in its file")?;
    let (from, to) = change(index);
    let changed = text[start..].replacen(from, &to, 1);
    ensure!(changed != text[start..], "nothing to replace in item {index}");
    Ok(fs::write(path, format!("{}{changed}", &text[..start]))?)
}

/// Writes each file anew with the text for its range of resources.
fn in_each_part(workload: &Workload, text: impl Fn(usize, usize) -> String) -> Result<()> {
    for first in (0..workload.resources).step_by(GROUP) {
        let last = workload.resources.min(first + GROUP);
        fs::write(workload.file_of(first), text(first, last))?;
    }
    Ok(())
}

/// Moves the resources into a module of [`GROUP`] resources, and calls it.
fn in_modules(workload: &Workload) -> Result<()> {
    let module = workload.folder.join("part");
    fs::create_dir_all(&module)?;
    let part = workload.file_of(0);
    let text = fs::read_to_string(&part)?;
    let size = workload.resources.min(GROUP);
    ensure!(
        workload.resources.is_multiple_of(size),
        "the number of resources is no multiple of {size}"
    );
    fs::write(
        module.join("main.tf"),
        format!("variable \"name\" {{\n  type = string\n}}\n\n{text}"),
    )?;
    in_each_part(workload, |first, _| {
        let call = first / GROUP;
        format!(
            r#"module "part_{call}" {{
  source = "./part"

  name = "${{var.name}}-{call}"
}}

output "item_{call}" {{
  value = module.part_{call}.item_0
}}
"#
        )
    })
}

fn for_each(first: usize, last: usize) -> String {
    let block = first / GROUP;
    format!(
        r#"locals {{
  keys_{block} = {{ for index in range({first}, {last}) : "key-${{index}}" => "${{var.name}}-${{index}}" }}
}}

resource "terraform_data" "item_{block}" {{
  for_each = local.keys_{block}

  input = upper("${{each.value}} of ${{length(each.key)}}")
}}

output "item_{block}" {{
  value = {{ for key, item in terraform_data.item_{block} : key => item.output }}
}}
"#
    )
}

/// Adds conditions to the resources.
fn conditions(first: usize, last: usize) -> String {
    let with_conditions = |index: usize| {
        let conditions = format!(
            "  input = local.text_{index}\n\n  lifecycle {{\n    precondition {{\n      \
             condition     = length(local.name_{index}) > 3\n      error_message = \"The name is too short.\"\n    \
             }}\n    postcondition {{\n      condition     = self.input != local.name_{index}\n      \
             error_message = \"The text is the name.\"\n    }}\n  }}\n"
        );
        let input = format!("  input = local.text_{index}\n");
        item(Kind::Builtin, index).replace(&input, &conditions)
    };
    (first..last).map(with_conditions).collect()
}

/// Adds a move from an earlier name to each resource.
fn moves(first: usize, last: usize) -> String {
    let with_move = |index: usize| {
        let text = item(Kind::Builtin, index);
        format!(
            "{text}moved {{\n  from = terraform_data.{EARLIER}{index}\n  to   = terraform_data.item_{index}\n}}\n\n"
        )
    };
    (first..last).map(with_move).collect()
}

/// Returns the resource type of an item in [`Shape::Types`].
pub(crate) fn type_of(index: usize) -> String {
    format!("fleet_kind_{:02}", index % TYPES)
}

fn nested_blocks(first: usize, last: usize) -> String {
    let mut text = String::new();
    for index in first..last {
        let _ = write!(
            text,
            r#"locals {{
  rules_{index} = [
    {{ port = 80, sources = ["10.0.0.0/8", "172.16.0.0/12"] }},
    {{ port = {index}, sources = ["192.168.0.0/16"] }},
  ]
}}

resource "fleet_kind_00" "item_{index}" {{
  name = "${{var.name}}-{index}"

  setting {{
    key   = "owner"
    value = upper(var.name)
  }}

  setting {{
    key   = "index"
    value = "{index}"
  }}

  dynamic "rule" {{
    for_each = local.rules_{index}

    content {{
      port = rule.value.port

      dynamic "source" {{
        for_each = rule.value.sources

        content {{
          cidr = source.value
        }}
      }}
    }}
  }}
}}

output "item_{index}" {{
  value = fleet_kind_00.item_{index}.id
}}

"#
        );
    }
    text
}
