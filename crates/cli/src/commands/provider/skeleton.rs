//! The files of a new provider: those of `examples/terraform-provider-notes`, which the tests of this repository build
//! and run, under other names.

use std::path::{Path, PathBuf};

/// A file of a crate.
pub(crate) struct File {
    /// The path, relative to the root of the crate.
    pub(crate) path: String,
    /// The content.
    pub(crate) text: String,
}

/// The names of a provider.
pub(crate) struct Names {
    name: String,
    namespace: String,
}

/// A crate that is to be created.
pub(crate) struct Skeleton {
    /// The names of the provider.
    pub(crate) names: Names,
    /// The root of the checkout that has the SDK.
    pub(crate) sdk: PathBuf,
}

macro_rules! example {
    ($($path:literal),* $(,)?) => {
        [$(($path, include_str!(concat!("../../../../../examples/terraform-provider-notes/", $path)))),*]
    };
}

/// The files of the example, by their paths.
const EXAMPLE: [(&str, &str); 9] = example![
    "README.md",
    "src/function.rs",
    "src/lib.rs",
    "src/main.rs",
    "src/note.rs",
    "src/note_data.rs",
    "src/pin.rs",
    "src/store.rs",
    "tests/notes.rs",
];

impl Names {
    /// Checks the names.
    ///
    /// # Errors
    /// If the name cannot be the beginning of the names of types, or the namespace is not one.
    pub(crate) fn of(name: &str, namespace: &str) -> Result<Names, String> {
        let begins = name.starts_with(|it: char| it.is_ascii_lowercase());
        let is_plain = name.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit());
        if !begins || !is_plain || name.len() > 40 {
            return Err(format!(
                "{name:?} cannot be the name of a provider. The names of its types begin with it, so it has lower-case \
                 letters and digits only, such as \"notes\" for the type notes_note."
            ));
        }
        let is_part = |it: u8| it.is_ascii_alphanumeric() || it == b'-' || it == b'_';
        if namespace.is_empty() || !namespace.bytes().all(is_part) {
            return Err(format!(
                "{namespace:?} cannot be the namespace of a source address. It has letters, digits, hyphens and \
                 underscores."
            ));
        }
        Ok(Names { name: name.to_owned(), namespace: namespace.to_owned() })
    }

    /// The name of the crate and of its executable.
    pub(crate) fn package(&self) -> String {
        format!("terraform-provider-{}", self.name)
    }

    /// The name of the struct. It is that of no other type, whatever the provider is called.
    fn definition(&self) -> String {
        let (first, rest) = self.name.split_at(1);
        format!("{}{rest}Provider", first.to_uppercase())
    }

    /// Replaces the names of the example. Its texts are about notes, which stay until the author replaces them.
    fn applied(&self, text: &str) -> String {
        let Names { name, namespace } = self;
        let replacements = [
            ("terraform-provider-notes", self.package()),
            ("terraform_provider_notes", format!("terraform_provider_{name}")),
            ("example/notes", format!("{namespace}/{name}")),
            ("provider::notes::", format!("provider::{name}::")),
            ("provider \"notes\"", format!("provider \"{name}\"")),
            ("provider \\\"notes\\\"", format!("provider \\\"{name}\\\"")),
            ("notes = {", format!("{name} = {{")),
            ("notes_note", format!("{name}_note")),
            ("notes_pin", format!("{name}_pin")),
            ("tests/notes.rs", format!("tests/{name}.rs")),
            ("NotesProvider", self.definition()),
        ];
        replaced(text, &replacements)
    }
}

/// Replaces texts in one pass, so that no replacement is replaced again.
fn replaced(text: &str, replacements: &[(&str, String)]) -> String {
    let (mut out, mut rest) = (String::new(), text);
    let first = |rest: &str| {
        let found = replacements
            .iter()
            .filter_map(|(from, to)| Some((rest.find(from)?, *from, to.clone())));
        found.min_by_key(|(at, _, _)| *at)
    };
    while let Some((at, from, to)) = first(rest) {
        out.push_str(&rest[..at]);
        out.push_str(&to);
        rest = &rest[at + from.len()..];
    }
    out.push_str(rest);
    out
}

impl Skeleton {
    /// The files of the crate.
    pub(crate) fn files(&self) -> Vec<File> {
        let copied = EXAMPLE.iter().map(|(path, text)| File {
            path: self.names.applied(path),
            text: self.names.applied(text),
        });
        let own = [
            File { path: "Cargo.toml".to_owned(), text: self.manifest() },
            File { path: ".gitignore".to_owned(), text: "/target\n".to_owned() },
        ];
        own.into_iter().chain(copied).collect()
    }

    fn manifest(&self) -> String {
        let (package, sdk) = (self.names.package(), self.path_of("crates/sdk"));
        let testing = self.path_of("crates/sdk_testing");
        format!(
            "[package]\n\
             name = \"{package}\"\n\
             version = \"0.1.0\"\n\
             edition = \"2024\"\n\
             publish = false\n\
             \n\
             # The crate is a workspace of its own, wherever it is.\n\
             [workspace]\n\
             \n\
             [dependencies]\n\
             mayfly-sdk = {{ path = {sdk} }}\n\
             serde = {{ version = \"1\", features = [\"derive\"] }}\n\
             \n\
             [dev-dependencies]\n\
             mayfly-sdk-testing = {{ path = {testing} }}\n\
             tempfile = \"3\"\n"
        )
    }

    /// A path in the checkout as a text of TOML.
    fn path_of(&self, path: &str) -> String {
        let path: &Path = &self.sdk.join(path);
        let text = path.to_string_lossy();
        format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(name: &str, namespace: &str) -> Vec<File> {
        let names = Names::of(name, namespace).expect("a correct name");
        Skeleton { names, sdk: PathBuf::from("/mayfly") }.files()
    }

    #[test]
    fn skeleton_named_as_the_example_is_the_example() {
        let files = files("notes", "example");
        for (path, text) in EXAMPLE {
            let file = files.iter().find(|it| it.path == path).expect("is there");
            assert_eq!(file.text, text, "{path}");
        }
    }

    #[test]
    fn name_of_the_example_is_in_no_identifier_of_another_provider() {
        for file in files("fleet", "acme") {
            for left in
                ["NotesProvider", "notes_", "_notes", "-notes", "/notes", "::notes", "\"notes\""]
            {
                assert!(
                    !file.text.contains(left) && !file.path.contains("notes"),
                    "{}: {left}",
                    file.path
                );
            }
        }
        let lib = files("fleet", "acme")
            .into_iter()
            .find(|it| it.path == "src/lib.rs")
            .expect("is there");
        assert!(
            lib.text.contains("\"registry.opentofu.org/acme/fleet\"")
                && lib.text.contains("pub struct FleetProvider;")
        );
    }

    #[test]
    fn replacements_are_not_replaced_again() {
        let lib = files("notesnotes", "notes_note").into_iter().find(|it| it.path == "src/lib.rs");
        let text = lib.expect("is there").text;
        assert!(text.contains("\"registry.opentofu.org/notes_note/notesnotes\""), "{text}");
    }

    #[test]
    fn unsuitable_names_are_refused() {
        for name in
            ["", "Notes", "my-notes", "my_notes", "1notes", "nötes", "../x", &"n".repeat(41)]
        {
            assert!(Names::of(name, "example").is_err(), "{name}");
        }
        for namespace in ["", "a/b", "a b", "ö"] {
            assert!(Names::of("notes", namespace).is_err(), "{namespace}");
        }
    }
}
