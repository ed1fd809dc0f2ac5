//! The dependency lock file: the selected versions of providers and modules, and the hashes of their packages.

use std::fmt::Write as _;

use addr::{ProviderSource, Version, VersionConstraint};
use sorted::{TreeMap, TreeSet};

use crate::hash::Hash;
use crate::literal::{self, Item, Literal, Place};

/// All selections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locks {
    /// The selected providers.
    pub providers: TreeMap<ProviderSource, ProviderLock>,
    /// The module packages by their addresses.
    pub modules: TreeMap<String, ModuleLock>,
}

/// The lock of a module package. OpenTofu reserves this block and ignores it with a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleLock {
    /// The name of its directory, so that `path.module` is the same for all users of the lock file. `None` for a
    /// package that another tool installed.
    pub directory: Option<String>,
    /// The directory in the package that its registry or a web page names as the module. Empty for the root.
    pub subdirectory: String,
    /// The full revision of the repository, which a branch or a tag does not determine. `None` for other packages.
    pub revision: Option<String>,
    /// The hashes of the package's files.
    pub hashes: TreeSet<Hash>,
}

/// The selection of one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderLock {
    /// The selected version.
    pub version: Version,
    /// The constraints at the time of the selection. They are informational only.
    pub constraints: VersionConstraint,
    /// The hashes of this version's packages, including those for other platforms.
    pub hashes: TreeSet<Hash>,
}

/// An error in a lock file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{summary}: {detail}")]
pub struct LockFileError {
    /// The summary of the diagnostic.
    pub summary: &'static str,
    /// The detail of the diagnostic.
    pub detail: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1.
    pub column: usize,
}

const HEADER: &str = "# This file is maintained automatically by \"tofu init\".\n# Manual edits \
                      may be lost in future updates.\n";

/// The registry of Terraform. Its providers of the namespace `hashicorp` also exist in the default registry.
const OTHER_REGISTRY: &str = "registry.terraform.io";

impl Locks {
    /// Parses a lock file.
    ///
    /// # Errors
    /// Returns a [`LockFileError`] for the first error. Parsing is strict: addresses, versions and constraints
    /// must be in normal form.
    pub fn parse(text: &str) -> Result<Self, LockFileError> {
        let body = literal::parse(text)
            .map_err(|it| fault("Invalid dependency lock file", it.cause, it.place))?;
        let mut locks = Self::default();
        for item in &body {
            match item.name.as_str() {
                "provider" => locks.add(item)?,
                "module" => locks.add_module(item)?,
                other => {
                    let detail = format!("Blocks of type {other:?} are not expected here.");
                    return Err(fault("Unsupported block type", detail, item.place));
                }
            }
        }
        Ok(locks)
    }

    fn add(&mut self, item: &Item) -> Result<(), LockFileError> {
        let ([label], Some(body)) = (item.labels.as_slice(), item.value.as_body()) else {
            let detail = "A provider lock is a block with one label, the provider's address.";
            return Err(fault("Invalid provider source address", detail, item.place));
        };
        let source = read_source(label, item.place)?;
        let mut version = None;
        let mut lock = ProviderLock {
            version: Version::default(),
            constraints: VersionConstraint::any(),
            hashes: TreeSet::new(),
        };
        for argument in body {
            match argument.name.as_str() {
                "version" => version = Some(read_version(&source, argument)?),
                "constraints" => lock.constraints = read_constraints(&source, argument)?,
                "hashes" => lock.hashes = read_hashes(argument, "provider")?,
                other => {
                    let detail = format!("An argument named {other:?} is not expected here.");
                    return Err(fault("Unsupported argument", detail, argument.place));
                }
            }
        }
        lock.version = version.ok_or_else(|| {
            let detail = "A provider lock block must contain a \"version\" argument.";
            fault("Missing required argument", detail, item.place)
        })?;
        if self.providers.contains_key(&source) {
            let detail = format!("This lockfile already declared a lock for provider {source}.");
            return Err(fault("Duplicate provider lock", detail, item.place));
        }
        self.providers.insert(source, lock);
        Ok(())
    }

    fn add_module(&mut self, item: &Item) -> Result<(), LockFileError> {
        const SUMMARY: &str = "Invalid module package lock";
        let ([address], Some(body)) = (item.labels.as_slice(), item.value.as_body()) else {
            let detail =
                "The lock of a module package is a block with one label, the package's address.";
            return Err(fault(SUMMARY, detail, item.place));
        };
        if address.is_empty() || address.contains(char::is_control) {
            let detail = format!("{address:?} is no address of a module package.");
            return Err(fault(SUMMARY, detail, item.place));
        }
        let mut lock = ModuleLock {
            directory: None,
            subdirectory: String::new(),
            revision: None,
            hashes: TreeSet::new(),
        };
        for argument in body {
            match argument.name.as_str() {
                "directory" => lock.directory = Some(read_directory(argument)?),
                "subdirectory" => lock.subdirectory = read_subdirectory(argument)?,
                "revision" => lock.revision = Some(read_revision(argument)?),
                "hashes" => lock.hashes = read_hashes(argument, "module package")?,
                other => {
                    let detail = format!("An argument named {other:?} is not expected here.");
                    return Err(fault("Unsupported argument", detail, argument.place));
                }
            }
        }
        if lock.hashes.is_empty() {
            let detail = "The lock of a module package must contain a \"hashes\" argument.";
            return Err(fault("Missing required argument", detail, item.place));
        }
        if self.modules.insert(address.clone(), lock).is_some() {
            let detail =
                format!("This lock file already has a lock for the module package {address}.");
            return Err(fault("Duplicate module package lock", detail, item.place));
        }
        Ok(())
    }

    /// Returns the text of the file.
    pub fn to_text(&self) -> String {
        let mut text = HEADER.to_owned();
        for (source, lock) in &self.providers {
            let constraints = lock.constraints.canonical();
            let width = if constraints.is_empty() { "version".len() } else { "constraints".len() };
            let (name, version) = ("version", &lock.version);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "\nprovider \"{source}\" {{\n  {name:width$} = \"{version}\"");
            if !constraints.is_empty() {
                let _ = writeln!(text, "  constraints = \"{constraints}\"");
            }
            write_hashes(&mut text, &lock.hashes);
            text.push_str("}\n");
        }
        for (address, lock) in &self.modules {
            let _ = writeln!(text, "\nmodule \"{}\" {{", escaped(address));
            let subdirectory = Some(&lock.subdirectory).filter(|it| !it.is_empty());
            let arguments = [
                ("directory", lock.directory.as_ref()),
                ("subdirectory", subdirectory),
                ("revision", lock.revision.as_ref()),
            ];
            let given = arguments.iter().filter(|(_, value)| value.is_some());
            let width = given.map(|(name, _)| name.len()).max().unwrap_or(0);
            for (name, value) in arguments {
                if let Some(value) = value {
                    let _ = writeln!(text, "  {name:width$} = \"{}\"", escaped(value));
                }
            }
            write_hashes(&mut text, &lock.hashes);
            text.push_str("}\n");
        }
        text
    }

    /// Copies the selections of `registry.terraform.io/hashicorp/*` to the default registry, unless it has its
    /// own. Only the versions are copied, because the packages of the two registries are built separately. Returns
    /// the pairs of old and new addresses.
    pub fn adopt_other_registry(&mut self) -> Vec<(ProviderSource, ProviderSource)> {
        let mut adopted = Vec::new();
        for (old, lock) in self.providers.clone() {
            if old.host != OTHER_REGISTRY || old.namespace != addr::DEFAULT_NAMESPACE {
                continue;
            }
            let new = ProviderSource::default_for(old.type_name.clone());
            if !self.providers.contains_key(&new) {
                let lock = ProviderLock { hashes: TreeSet::new(), ..lock };
                self.providers.insert(new.clone(), lock);
                adopted.push((old, new));
            }
        }
        adopted
    }
}

fn write_hashes(text: &mut String, hashes: &TreeSet<Hash>) {
    if hashes.is_empty() {
        return;
    }
    text.push_str("  hashes = [\n");
    for hash in hashes {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "    \"{}\",", escaped(hash.as_str()));
    }
    text.push_str("  ]\n");
}

/// Escapes a text for use between quotes, so that text from a file cannot end the string.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '"' | '\\' => escaped.extend(['\\', letter]),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            _ => escaped.push(letter),
        }
    }
    escaped
}

fn read_source(label: &str, place: Place) -> Result<ProviderSource, LockFileError> {
    let source = ProviderSource::parse(label).map_err(|_| {
        let detail = "The provider source address for a provider lock must be a valid, \
                      fully-qualified address of the form \"hostname/namespace/type\".";
        fault("Invalid provider source address", detail, place)
    })?;
    if source.is_builtin() {
        let detail = format!(
            "Cannot lock a version for built-in provider {source}. Built-in providers are bundled \
             inside Mayfly itself, so you can't select a version for them independently of the \
             Mayfly release you are currently running."
        );
        return Err(fault("Invalid provider source address", detail, place));
    }
    if source.is_legacy() {
        let detail = format!(
            "Provider source address {source} is a special provider that is not eligible for dependency locking."
        );
        return Err(fault("Invalid provider source address", detail, place));
    }
    if source.to_string() != label {
        let detail = format!(
            "The provider source address for this provider lock must be written as {:?}, the \
             fully-qualified and normalized form.",
            source.to_string()
        );
        return Err(fault("Non-normalized provider source address", detail, place));
    }
    Ok(source)
}

/// Reads the name of a directory, which must be a valid name in the modules directory.
fn read_directory(argument: &Item) -> Result<String, LockFileError> {
    let text = string(argument)?;
    match crate::modules::is_name(text) {
        true => Ok(text.to_owned()),
        false => {
            let detail = format!("{text:?} is no name of a directory of packages.");
            Err(fault("Invalid module package lock", detail, argument.place))
        }
    }
}

/// Reads a directory in a package, which must not lead out of it.
fn read_subdirectory(argument: &Item) -> Result<String, LockFileError> {
    let text = string(argument)?;
    match text.split('/').all(crate::modules::is_directory_name) {
        true => Ok(text.to_owned()),
        false => {
            let detail = format!("{text:?} is no directory in a package.");
            Err(fault("Invalid module package lock", detail, argument.place))
        }
    }
}

/// Reads a revision, which must be a full one, so that git cannot take it for anything else.
fn read_revision(argument: &Item) -> Result<String, LockFileError> {
    let text = string(argument)?;
    let is_revision = matches!(text.len(), 40 | 64)
        && text.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
    match is_revision {
        true => Ok(text.to_owned()),
        false => {
            let detail = format!("{text:?} is no full revision of a repository.");
            Err(fault("Invalid module package lock", detail, argument.place))
        }
    }
}

fn read_version(source: &ProviderSource, argument: &Item) -> Result<Version, LockFileError> {
    const SUMMARY: &str = "Invalid provider version number";
    let text = string(argument)?;
    let invalid = |cause: String| {
        let detail = format!("The selected version number for provider {source} {cause}.");
        fault(SUMMARY, detail, argument.place)
    };
    let version = Version::parse(text).map_err(|it| invalid(format!("is invalid: {it}")))?;
    let normal = version.to_string();
    if normal != text {
        return Err(invalid(format!("must be written in normalized form: {normal:?}")));
    }
    Ok(version)
}

fn read_constraints(
    source: &ProviderSource,
    argument: &Item,
) -> Result<VersionConstraint, LockFileError> {
    let text = string(argument)?;
    let invalid = |cause: String| {
        let detail = format!("The recorded version constraints for provider {source} {cause}.");
        fault("Invalid provider version constraints", detail, argument.place)
    };
    let constraints = VersionConstraint::parse_provider(text)
        .map_err(|it| invalid(format!("are invalid: {it}")))?;
    let normal = constraints.canonical();
    if normal != text {
        return Err(invalid(format!("must be written in normalized form: {normal:?}")));
    }
    Ok(constraints)
}

fn read_hashes(argument: &Item, what: &str) -> Result<TreeSet<Hash>, LockFileError> {
    let summary = match what {
        "provider" => "Invalid provider hash set",
        _ => "Invalid module package lock",
    };
    let invalid = |detail: String| fault(summary, detail, argument.place);
    let texts = argument.value.as_strings().unwrap_or_default();
    if texts.is_empty() {
        let detail =
            "The \"hashes\" argument must either be omitted or contain at least one hash value.";
        return Err(invalid(detail.to_owned()));
    }
    let mut hashes = TreeSet::new();
    for text in texts {
        let hash = Hash::parse(text)
            .map_err(|it| invalid(format!("Cannot interpret {text:?} as a {what} hash: {it}.")))?;
        if !hashes.insert(hash) {
            return Err(invalid(format!("The hash {text:?} is listed twice.")));
        }
    }
    Ok(hashes)
}

fn string(argument: &Item) -> Result<&str, LockFileError> {
    match &argument.value {
        Literal::String(text) if argument.labels.is_empty() => Ok(text),
        _ => {
            let detail = format!("The argument {:?} must be a string.", argument.name);
            Err(fault("Incorrect attribute value type", detail, argument.place))
        }
    }
}

fn fault(summary: &'static str, detail: impl Into<String>, place: Place) -> LockFileError {
    LockFileError { summary, detail: detail.into(), line: place.line, column: place.column }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    const FILE: &str = r#"# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/hashicorp/aws" {
  version     = "5.100.0"
  constraints = ">= 4.0.0, ~> 5.0, != 5.1.0"
  hashes = [
    "h1:edXOJWE4ORX8Fm+dpVpICzMZJat4AX0VRCAy/xkcOc0=",
    "zh:00",
  ]
}

provider "registry.terraform.io/hashicorp/null" {
  version = "3.2.0-beta1"
}

module "file:///srv/modules/net.zip" {
  hashes = [
    "h1:edXOJWE4ORX8Fm+dpVpICzMZJat4AX0VRCAy/xkcOc0=",
  ]
}

module "git::https://example.com/net.git?ref=v1" {
  directory = "net"
  revision  = "0123456789abcdef0123456789abcdef01234567"
  hashes = [
    "h1:edXOJWE4ORX8Fm+dpVpICzMZJat4AX0VRCAy/xkcOc0=",
  ]
}
"#;

    #[track_caller]
    fn fails(text: &str, expected: Expect) {
        let error = Locks::parse(text).expect_err("not a lock file");
        expected.assert_eq(&format!("{}:{} {error}", error.line, error.column));
    }

    #[test]
    fn lock_file_round_trips() {
        assert_eq!(Locks::parse(FILE).expect("a lock file").to_text(), FILE);
        assert_eq!(Locks::default().to_text(), HEADER);
    }

    #[test]
    fn invalid_lock_file_entries_are_errors() {
        let with = |body: &str| format!("provider \"registry.opentofu.org/a/b\" {{\n{body}\n}}\n");
        fails(
            "provider \"a/b\" {}",
            expect![[
                r#"1:1 Non-normalized provider source address: The provider source address for this provider lock must be written as "registry.opentofu.org/a/b", the fully-qualified and normalized form."#
            ]],
        );
        fails(
            "provider \"terraform.io/builtin/terraform\" {}",
            expect![
                "1:1 Invalid provider source address: Cannot lock a version for built-in provider \
                 terraform.io/builtin/terraform. Built-in providers are bundled inside Mayfly \
                 itself, so you can't select a version for them independently of the Mayfly \
                 release you are currently running."
            ],
        );
        fails(
            "provider \"a b\" {}",
            expect![[
                r#"1:1 Invalid provider source address: The provider source address for a provider lock must be a valid, fully-qualified address of the form "hostname/namespace/type"."#
            ]],
        );
        fails(
            "provider {}",
            expect![
                "1:1 Invalid provider source address: A provider lock is a block with one label, \
                 the provider's address."
            ],
        );
        fails(
            "other {}",
            expect![[
                r#"1:1 Unsupported block type: Blocks of type "other" are not expected here."#
            ]],
        );
        fails(
            &with(""),
            expect![[
                r#"1:1 Missing required argument: A provider lock block must contain a "version" argument."#
            ]],
        );
        fails(
            &with("version = \"1.0\""),
            expect![[
                r#"2:1 Invalid provider version number: The selected version number for provider registry.opentofu.org/a/b must be written in normalized form: "1.0.0"."#
            ]],
        );
        fails(
            &with("version = 1"),
            expect![[
                r#"2:1 Incorrect attribute value type: The argument "version" must be a string."#
            ]],
        );
        fails(
            &with("version = \"1.0.0\"\nconstraints = \">=1\""),
            expect![[
                r#"3:1 Invalid provider version constraints: The recorded version constraints for provider registry.opentofu.org/a/b must be written in normalized form: ">= 1.0.0"."#
            ]],
        );
        fails(
            &with("version = \"1.0.0\"\nhashes = []"),
            expect![[
                r#"3:1 Invalid provider hash set: The "hashes" argument must either be omitted or contain at least one hash value."#
            ]],
        );
        fails(
            &with("version = \"1.0.0\"\nhashes = [\"x\"]"),
            expect![[
                r#"3:1 Invalid provider hash set: Cannot interpret "x" as a provider hash: hash string must start with a scheme keyword followed by a colon."#
            ]],
        );
        fails(
            &with("version = \"1.0.0\"\nfoo = 1"),
            expect![[r#"3:1 Unsupported argument: An argument named "foo" is not expected here."#]],
        );
        let twice = with("version = \"1.0.0\"").repeat(2);
        fails(
            &twice,
            expect![
                "4:1 Duplicate provider lock: This lockfile already declared a lock for provider \
                 registry.opentofu.org/a/b."
            ],
        );
        fails("provider \"x", expect!["1:10 Invalid dependency lock file: the string has no end"]);
    }

    #[test]
    fn written_hash_is_quoted() {
        let text = r#"provider "registry.opentofu.org/a/b" {
  version = "1.0.0"
  hashes  = ["h1:a\", \"h1:b\n"]
}"#;
        let locks = Locks::parse(text).expect("a lock file");
        let written = locks.to_text();
        assert!(written.contains(r#"    "h1:a\", \"h1:b\n","#), "{written}");
        assert_eq!(Locks::parse(&written).ok(), Some(locks));
    }

    #[test]
    fn selections_of_the_terraform_registry_are_adopted_without_hashes() {
        let mut locks = Locks::parse(FILE).expect("a lock file");
        let adopted = locks.adopt_other_registry();
        assert_eq!(adopted.len(), 1);
        assert_eq!(adopted[0].1.to_string(), "registry.opentofu.org/hashicorp/null");
        assert!(locks.providers[&adopted[0].1].hashes.is_empty());
        assert!(locks.adopt_other_registry().is_empty());
    }
}
