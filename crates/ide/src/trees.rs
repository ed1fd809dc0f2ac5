//! Iteration over the syntax trees of a file and the modules of a configuration.

use crate::{Cursor, Document, Module};

impl<'db> Document<'db> {
    /// The syntax trees of the file's blocks in order, each as a cursor at its start.
    pub(crate) fn trees(&self) -> impl Iterator<Item = Cursor<'db>> + use<'db> {
        let document = *self;
        self.blocks().map(move |(block, start)| document.cursor_in(block, start, start))
    }

    /// The length of the file's text, in bytes.
    pub(crate) fn length(&self) -> u32 {
        self.file.blocks(self.db).iter().map(|block| block.text(self.db).len() as u32).sum()
    }
}

impl<'db> Module<'db> {
    /// The files of the module.
    pub(crate) fn documents(&self) -> impl Iterator<Item = Document<'db>> + use<'db> {
        let module = *self;
        self.directory.files(self.db).iter().map(move |&file| module.document(file))
    }

    /// Returns true if the module is in an installed package. Edits there are lost at the next installation.
    pub(crate) fn is_installed(&self) -> bool {
        let path = self.directory.path(self.db);
        let is_below = |package: &str| {
            let rest = path.strip_prefix(package);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        path.contains(".terraform/modules/")
            || self
                .workspace
                .manifest(self.db)
                .values()
                .flatten()
                .any(|package| is_below(&package.dir))
    }

    /// Every loaded module of the configuration, by path.
    pub(crate) fn all(&self) -> impl Iterator<Item = Module<'db>> + use<'db> {
        let module = *self;
        let directories = self.workspace.directories(self.db).values();
        directories.map(move |&directory| module.with_directory(directory))
    }
}

#[cfg(test)]
mod tests {
    use db::ByteRange;

    use crate::fixture;

    const BROKEN: &[&str] = &[
        "# ä\nresource \"test_thing\" \"ä\" {\n  name = \"ö ${var.ü[0].x} %{ for k, v in local.l \
         }${k}%{ endfor }\"\n  dynamic \"rule\" {\n    for_each = each.",
        "module \"m\" {\n  source = \"\n}\nlocals {\n  a = [for x in y : x\n  b = {\n  \"ä\" = local.\n",
        "variable {}\nvariable \"\" { type = \noutput o { value = module.m[*].\"\" }\n}}} = \
         1\nprovider \"x\" { alias = \"ä",
        "locals { a = <<EOT\nä ${local.a\nEOT\n}\nmoved {\n from = a.b\n to = \
         module.\n}\nterraform { required_providers { x = { source = \"",
        "\u{feff}locals {\r\n  a = local.a\r\n  a = 2\r\n}\r\ndata \"a\" {}\r\nephemeral \
         \"test_secret\" \"s\" { lifecycle { ignore_changes = [a.b, \"c\"] } }",
    ];

    /// Makes every request at every offset, including offsets inside of characters and beyond the end.
    #[test]
    fn editor_features_never_panic_at_any_offset() {
        for text in BROKEN {
            let fixture = fixture::load(text);
            let document = fixture.document();
            let diagnostics = fixture.project.diagnostics();
            crate::folding_ranges(document);
            crate::document_symbols(document);
            crate::document_links(document);
            crate::code_lenses(document);
            crate::workspace_symbols(document.db, document.workspace, "a ä", 100);
            let places = (0..document.length() + 5).chain([u32::MAX]);
            for at in places {
                assert!(!crate::selection_ranges(document, at).is_empty());
                crate::definition(document, at);
                crate::references(document, at);
                crate::document_highlights(document, at);
                crate::module_at(document, at);
                let _ = crate::prepare_rename(document, at);
                let _ = crate::rename(document, at, "other");
                for end in [at, at.saturating_add(1), at.saturating_add(7), u32::MAX] {
                    let range = ByteRange { start: at, end };
                    for action in crate::code_actions(document, range, &diagnostics) {
                        fixture.apply(&action.edits);
                    }
                }
                crate::code_actions(document, ByteRange { start: at, end: 0 }, &diagnostics);
            }
        }
    }
}
