//! The module repositories: selects a version of each, and lays out a tree in which they refer to each other by
//! path.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use addr::{Version, VersionConstraint};
use anyhow::{Context as _, Result, bail, ensure};

/// The files in which a version of a module states its requirements. Its examples and wrappers may require more.
const REQUIREMENTS: &[&str] = &["versions.tf", ":(glob)modules/*/versions.tf"];

/// The prefix of the registry addresses that paths replace.
const NAMESPACE: &str = "terraform-aws-modules/";

/// The repositories, and the tree that is laid out from them.
pub(crate) struct Library {
    /// The git directory of each module, by the module's name in the registry.
    repositories: BTreeMap<String, PathBuf>,
    /// The folder with one checkout for each selected module and version: `NAME-VERSION`.
    tree: PathBuf,
    /// The version of the AWS provider that every module must accept.
    aws: Version,
    /// Further constraints on the versions of modules.
    versions: BTreeMap<String, VersionConstraint>,
    laid_out: BTreeMap<(String, Version), ()>,
}

impl Library {
    /// Finds the repositories in `checkouts`: folders named `OWNER+terraform-aws-NAME`, each with a git directory
    /// `repo`.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be read, or contains no repository.
    pub(crate) fn open(
        checkouts: &Path,
        tree: &Path,
        aws: Version,
        versions: BTreeMap<String, VersionConstraint>,
    ) -> Result<Library> {
        let mut repositories = BTreeMap::new();
        for entry in fs::read_dir(checkouts).context("--checkouts cannot be read")? {
            let path = entry?.path();
            let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
            if let Some((_, module)) = name.split_once("+terraform-aws-") {
                repositories.insert(module.to_owned(), path.join("repo"));
            }
        }
        ensure!(!repositories.is_empty(), "no module repositories in {}", checkouts.display());
        let (tree, laid_out) = (tree.to_owned(), BTreeMap::new());
        Ok(Library { repositories, tree, aws, versions, laid_out })
    }

    /// Returns the names of the modules, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        self.repositories.keys().cloned().collect()
    }

    /// Lays out the newest version of a module that `constraint` and the AWS provider allow, with all modules that
    /// it refers to.
    ///
    /// # Errors
    /// Returns an error if no version fits, or if git fails.
    pub(crate) fn lay_out(&mut self, module: &str, constraint: &str) -> Result<PathBuf> {
        let git =
            self.repositories.get(module).with_context(|| format!("no repository of {module}"))?;
        let constraints = [Some(&VersionConstraint::parse(constraint)?), self.versions.get(module)];
        let is_allowed = |it: &Version| constraints.iter().flatten().all(|each| each.allows(it));
        let version = newest(git, is_allowed, &self.aws)?
            .with_context(|| format!("no version of {module} fits \"{constraint}\""))?;
        let folder = self.tree.join(format!("{module}-{version}"));
        if self.laid_out.insert((module.to_owned(), version.clone()), ()).is_none() {
            extract(git, &version, &folder)?;
            for file in configuration_files(&folder)? {
                self.point_at_checkouts(&file)?;
            }
        }
        Ok(folder)
    }

    /// Replaces registry sources in a file by relative paths. Removes the version next to each source.
    fn point_at_checkouts(&mut self, file: &Path) -> Result<()> {
        let text = fs::read_to_string(file)?;
        if !text.contains(NAMESPACE) {
            return Ok(());
        }
        let lines: Vec<&str> = text.lines().collect();
        let mut written = Vec::with_capacity(lines.len());
        let mut drop_version = false;
        for (index, line) in lines.iter().enumerate() {
            if let Some(source) = argument(line, "source").and_then(|it| it.strip_prefix(NAMESPACE))
            {
                let constraint = version_beside(&lines, index).unwrap_or(">= 0.0.0");
                let path = self.path_of(source, constraint, file);
                written.push(match path {
                    Ok(path) => format!("  source = \"{path}\""),
                    // The example stays unchanged; both executables then report that the source cannot be
                    // installed.
                    Err(_) => (*line).to_owned(),
                });
                drop_version = true;
            } else if drop_version && argument(line, "version").is_some() {
                drop_version = false;
            } else {
                drop_version &= !line.trim().starts_with('}');
                written.push((*line).to_owned());
            }
        }
        Ok(fs::write(file, written.join("\n") + "\n")?)
    }

    /// Returns the relative path of a registry source `NAME/aws//SUB`, as seen from a file.
    fn path_of(&mut self, source: &str, constraint: &str, file: &Path) -> Result<String> {
        let (package, sub) = source.split_once("//").unwrap_or((source, ""));
        let module = package.strip_suffix("/aws").context("a module for another provider")?;
        let folder = self.lay_out(module, constraint)?;
        let from = file.parent().context("a file has a folder")?.strip_prefix(&self.tree)?;
        let up = "../".repeat(from.components().count());
        let name = folder.file_name().and_then(|it| it.to_str()).context("a folder has a name")?;
        Ok(format!("{up}{name}/{sub}").trim_end_matches('/').to_owned())
    }
}

/// Returns the version constraint of the module call whose source is in line `index`. `None` if it has none.
fn version_beside<'a>(lines: &[&'a str], index: usize) -> Option<&'a str> {
    lines[index + 1..].iter().take(4).find_map(|it| argument(it, "version"))
}

/// Returns the text of an argument whose value is a plain string: `name = "text"`. `None` for any other line.
fn argument<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let value = line.trim().strip_prefix(name)?.trim_start().strip_prefix('=')?.trim();
    value.strip_prefix('"')?.split('"').next()
}

/// Returns the newest tagged version that is allowed and that accepts the AWS provider. `None` if there is none.
fn newest(
    git: &Path,
    is_allowed: impl Fn(&Version) -> bool,
    aws: &Version,
) -> Result<Option<Version>> {
    let tags = output(Command::new("git").arg("-C").arg(git).args(["tag", "--list", "v*"]))?;
    let mut versions: Vec<Version> =
        tags.lines().filter_map(|it| Version::parse(it.trim_start_matches('v')).ok()).collect();
    versions.sort();
    for version in versions.into_iter().rev().filter(is_allowed) {
        if accepts(git, &version, aws)? {
            return Ok(Some(version));
        }
    }
    Ok(None)
}

/// Returns true if the module and its submodules allow the AWS provider.
fn accepts(git: &Path, version: &Version, aws: &Version) -> Result<bool> {
    let pattern = format!("v{version}");
    let mut command = Command::new("git");
    command.arg("-C").arg(git).args(["grep", "-h", "-A", "3", "hashicorp/aws\"", &pattern, "--"]);
    // git grep exits with 1 if it finds nothing.
    let found = command.args(REQUIREMENTS).output()?;
    let found = String::from_utf8_lossy(&found.stdout).into_owned();
    let mut constraints = found.lines().filter_map(|it| argument(it, "version"));
    Ok(constraints.all(|it| VersionConstraint::parse(it).is_ok_and(|it| it.allows(aws))))
}

fn extract(git: &Path, version: &Version, folder: &Path) -> Result<()> {
    // A partial clone may lack large archives, which only few examples read.
    for except in [&[][..], &["--", ".", ":(exclude)*.zip"]] {
        fs::create_dir_all(folder)?;
        if unpack(git, version, except, folder)? {
            return Ok(());
        }
        fs::remove_dir_all(folder)?;
    }
    bail!("version {version} of {} cannot be unpacked", git.display())
}

/// Unpacks a version. Returns true if git could read all files.
fn unpack(git: &Path, version: &Version, except: &[&str], folder: &Path) -> Result<bool> {
    let mut archive = Command::new("git")
        .arg("-C")
        .arg(git)
        .args(["archive", &format!("v{version}")])
        .args(except)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let input = archive.stdout.take().context("git has an output")?;
    let mut tar = Command::new("tar");
    tar.arg("x").arg("-C").arg(folder).stdin(input).stderr(Stdio::null());
    let unpacked = tar.status()?;
    Ok(archive.wait()?.success() && unpacked.success())
}

fn configuration_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if entry.path().extension().is_some_and(|it| it == "tf") {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::{argument, version_beside};

    #[test]
    fn arguments_with_plain_strings_are_read() {
        assert_eq!(argument("  source  = \"a/b/aws\"", "source"), Some("a/b/aws"));
        assert_eq!(argument("  sources = \"a\"", "source"), None);
        assert_eq!(argument("  source = local.x", "source"), None);
    }

    #[test]
    fn module_version_is_found_beside_its_source() {
        let lines = ["source = \"a\"", "version = \"~> 5.0\"", "}"];
        assert_eq!(version_beside(&lines, 0), Some("~> 5.0"));
    }
}
