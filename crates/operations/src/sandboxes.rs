//! The sandboxes of providers: which provider has one, and which permissions it gives.
//!
//! ```text
//!   bundled provider ──► its own grants ──┐
//!   provider_sandbox blocks ──► grants ───┼─► Policy
//!   working directory, modules, path.temp ┘
//! ```
//!
//! A working directory or module that is the home directory, or contains it, is not granted as a whole.
//!
//! A bundled provider has a sandbox unless a block disables it, and every other provider has one if a block applies to
//! it. The policy is *required* if a block asks for it: without it, the provider does not start.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use addr::ProviderSource;
use engine::LogLevel;
use packages::{CliConfig, Located, SandboxRule};
use plugin::{LaunchError, Sandbox};
use providers::Surroundings;
use sandbox::{Confinement, Grants, Policy, contains_home};
use sorted::{TreeMap, TreeSet};

use crate::{
    located,
    session::{Failure, Session},
};

/// The directory below the data directory with a cache for each provider in a sandbox.
const CACHES: &str = "provider-caches";
/// The directory of `path.temp` below the data directory.
const TEMPORARY: &str = "tmp";
/// The variable with the directory of the user's caches.
const CACHE_VARIABLE: &str = "XDG_CACHE_HOME";
/// The variables with certificates that a provider trusts. The second one has several directories.
const CERTIFICATES: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];
/// The variable with the home directory of the user.
const HOME: &str = "HOME";

/// The most files of a directory that are granted one by one.
const MOST_FILES: usize = 256;

/// The sandboxes of the providers of one run.
#[derive(Default)]
pub(crate) struct ProviderSandboxes {
    rules: Vec<SandboxRule>,
    /// The grants of the bundled providers.
    bundled: TreeMap<ProviderSource, Grants>,
    launcher: PathBuf,
    working_directory: PathBuf,
    /// The directories of the configuration, which every provider may read.
    configuration: Vec<PathBuf>,
    /// The directories of the configuration of which only the files directly in them may be read.
    broad: Vec<PathBuf>,
    /// The directory in which the command was called, which bundled providers may read. `None` if it is a directory
    /// of the configuration, or contains the home directory.
    called_in: Option<PathBuf>,
    home: Option<PathBuf>,
    certificates: Vec<PathBuf>,
    data_dir: PathBuf,
}

impl ProviderSandboxes {
    /// Reads the settings of a run.
    pub(crate) fn new(session: &Session, config: &CliConfig) -> ProviderSandboxes {
        let working_directory = session.system.base_directory();
        let variable = |name: &str| session.system.variable(name);
        let home = variable(HOME).filter(|it| !it.is_empty()).map(PathBuf::from);
        let Directories { granted: configuration, broad } =
            Directories::of(session, &working_directory, home.as_deref());
        let called_in = Some(session.system.current_directory())
            .filter(|it| is_new(it, &configuration) && !contains_home(it, home.as_deref()));
        let data_dir = working_directory.join(session.data_dir());
        // A provider that may write in the configuration may do so in `path.temp` even if nothing else is left.
        let temporary = (!broad.is_empty()).then(|| data_dir.join(TEMPORARY));
        let writable = configuration.iter().chain(&called_in).chain(&temporary);
        let writable: Vec<PathBuf> = writable.cloned().collect();
        let surroundings = Surroundings {
            working_directory: &working_directory,
            configuration: &writable,
            home: home.as_deref(),
            variable: &variable,
        };
        let bundled = providers::bundled().into_iter();
        let bundled = bundled.map(|it| (it.source, (it.grants)(&surroundings))).collect();
        let certificates = CERTIFICATES.iter().filter_map(|it| variable(it));
        let certificates = certificates.flat_map(|it| absolute(&working_directory, it.split(':')));
        ProviderSandboxes {
            rules: config.sandbox.clone(),
            bundled,
            // Without it, no bundled provider is located, and no other one with a sandbox starts.
            launcher: session.executable.clone().unwrap_or_default(),
            certificates: certificates.collect(),
            data_dir,
            working_directory,
            configuration,
            broad,
            called_in,
            home,
        }
    }

    /// Logs which providers have a sandbox, and the features that this system lacks for one that is not required.
    pub(crate) fn log(&self, session: &Session, located: &TreeMap<ProviderSource, Located>) {
        for (source, located) in located {
            let Some(policy) = self.policy(source, located) else { continue };
            let name = source.for_display();
            match sandbox::missing(&policy).filter(|_| !policy.is_required) {
                Some(missing) => {
                    let text = format!("{name}: its sandbox is incomplete: {missing}");
                    session.view.log(LogLevel::Warn, "sandbox", &text);
                }
                None => session.view.log(
                    LogLevel::Debug,
                    "sandbox",
                    &format!("{name}: runs in a sandbox"),
                ),
            }
            for directory in &self.broad {
                let text = format!(
                    "{name}: may read only the files directly in {}, and write none, because that directory is or \
                     contains the home directory; \"read\" and \"write\" of provider_sandbox permit more",
                    directory.display()
                );
                session.view.log(LogLevel::Warn, "sandbox", &text);
            }
        }
    }

    /// Logs that a block applies to providers that another program has started.
    pub(crate) fn log_reattached<'s>(
        &self,
        session: &Session,
        reattached: impl Iterator<Item = &'s ProviderSource>,
    ) {
        for source in reattached.filter(|it| self.is_enabled_by_rule(it) == Some(true)) {
            let text = format!(
                "{}: has no sandbox, because another program started it (TF_REATTACH_PROVIDERS)",
                source.for_display()
            );
            session.view.log(LogLevel::Warn, "sandbox", &text);
        }
    }

    /// Returns the sandbox of a provider, and gives its process a cache of its own. `None` if it runs without one.
    pub(crate) fn enter(
        &self,
        source: &ProviderSource,
        located: &Located,
        command: &mut Command,
    ) -> Option<Sandbox> {
        let mut policy = self.policy(source, located)?;
        if let Some(cache) = self.cache(source, located) {
            command.env(CACHE_VARIABLE, &cache);
            policy.grants.write.push(cache);
        }
        let confinement = Confinement {
            provider: source.for_display(),
            policy,
            directory: self.working_directory.clone(),
        };
        Some(Sandbox { launcher: self.launcher.clone(), confinement })
    }

    /// Creates the directory of `path.temp` before a provider in a sandbox starts: a process cannot be granted a
    /// directory that does not exist yet. It is removed at the end of the run if it is empty.
    pub(crate) fn make_temporary(&self, source: &ProviderSource, located: &Located) {
        let temporary = self.temporary();
        let needs = |paths: &[PathBuf]| {
            let mut others = paths.iter().filter(|it| **it != temporary);
            paths.contains(&temporary) && !others.any(|it| temporary.starts_with(it))
        };
        let policy = self.policy(source, located);
        if policy.is_some_and(|it| needs(&it.grants.write) || needs(&it.grants.read)) {
            // If it cannot be created, neither can a temporary file, which is reported.
            let _refused = fs::create_dir_all(temporary);
        }
    }

    fn temporary(&self) -> PathBuf {
        self.data_dir.join(TEMPORARY)
    }

    /// Creates the directory for the caches of a provider. `None` for a bundled one, which has no cache.
    fn cache(&self, source: &ProviderSource, located: &Located) -> Option<PathBuf> {
        if matches!(located, Located::Bundled { .. }) {
            return None;
        }
        let path = self.data_dir.join(CACHES).join(source.to_string());
        fs::create_dir_all(&path).ok().map(|()| path)
    }

    /// Returns whether the blocks give a provider a sandbox. `None` if no block applies to it.
    fn is_enabled_by_rule(&self, source: &ProviderSource) -> Option<bool> {
        let mut rules = self.rules.iter().filter(|it| it.applies_to(source)).peekable();
        rules.peek()?;
        Some(rules.find_map(|it| it.is_enabled).unwrap_or(true))
    }

    /// Returns whether Mayfly runs a provider in a sandbox: a block says so, or it is bundled and no block applies.
    fn is_enabled(&self, source: &ProviderSource, is_bundled: bool) -> bool {
        self.is_enabled_by_rule(source).unwrap_or(is_bundled)
    }

    fn policy(&self, source: &ProviderSource, located: &Located) -> Option<Policy> {
        let bundled = match located {
            Located::Builtin => return None,
            Located::Bundled { .. } => self.bundled.get(source),
            Located::Installed { .. } | Located::Overridden { .. } => None,
        };
        if !self.is_enabled(source, bundled.is_some()) {
            return None;
        }
        let mut grants = bundled.cloned().unwrap_or_default();
        let is_writer = bundled.is_none() || !grants.write.is_empty();
        self.add_rules(source, &mut grants);
        // A provider that may write somewhere may unpack a program there. Go changes modes by path.
        grants.modes = bundled.is_none() && !grants.write.is_empty();
        grants.read.extend_from_slice(&self.configuration);
        grants.read.extend(self.broad.iter().flat_map(|it| visible_files(it)));
        grants.read.extend_from_slice(&self.certificates);
        match located {
            Located::Installed { executable, .. } | Located::Overridden { executable } => {
                grants.read.push(self.package(executable));
            }
            Located::Bundled { .. } | Located::Builtin => {
                grants.read.extend(self.called_in.clone())
            }
        }
        match is_writer {
            true => grants.write.push(self.temporary()),
            false => grants.read.push(self.temporary()),
        }
        Some(Policy { grants, is_required: self.is_enabled_by_rule(source).is_some() })
    }

    /// Returns the directory of an executable, or the executable alone if an override names one in the home directory.
    fn package(&self, executable: &Path) -> PathBuf {
        let executable = self.working_directory.join(executable);
        let directory = executable.parent().filter(|it| !contains_home(it, self.home.as_deref()));
        directory.unwrap_or(&executable).to_owned()
    }

    /// Adds the grants of the blocks. Ports in a block replace those of a bundled provider, so that a block can narrow
    /// them; those of several blocks are added.
    fn add_rules(&self, source: &ProviderSource, grants: &mut Grants) {
        let rules: Vec<_> = self.rules.iter().filter(|it| it.applies_to(source)).collect();
        let at = |path: &PathBuf| self.working_directory.join(path);
        for rule in &rules {
            grants.read.extend(rule.read.iter().map(at));
            grants.write.extend(rule.write.iter().map(at));
            grants.processes |= rule.processes == Some(true);
        }
        let connect = rules.iter().filter_map(|it| it.connect.clone());
        let bind = rules.iter().filter_map(|it| it.bind.clone());
        let sum = |mut a: sandbox::Ports, b: sandbox::Ports| {
            a.extend(&b);
            a
        };
        grants.connect = connect.reduce(sum).unwrap_or_else(|| grants.connect.clone());
        grants.bind = bind.reduce(sum).unwrap_or_else(|| grants.bind.clone());
    }
}

/// The text of an error at the start of a provider, with a way out if its sandbox is the cause.
pub(crate) fn start_error(source: &ProviderSource, error: &LaunchError) -> String {
    match error {
        LaunchError::Sandbox(_) => format!(
            "{error}.\n\nA provider_sandbox block of the CLI configuration may run it without one:\n\n  \
             provider_sandbox {{\n    include = [\"{}\"]\n    enabled = false\n  }}\n\nThe first block \
             that applies to a provider and sets \"enabled\" decides.",
            source.for_display()
        ),
        LaunchError::ForeignAddress(_) => format!(
            "{error}.\n\nA provider in a sandbox must listen on a socket in its temporary directory, which TMPDIR \
             names, or on a loopback address. A provider that reports another address makes Mayfly talk to a program \
             that the provider itself may not reach. Report this to the developers of {}, and do not run it without \
             a sandbox unless they explain it.",
            source.for_display()
        ),
        error => error.to_string(),
    }
}

/// A provider that Mayfly runs in a sandbox.
pub struct SandboxedProvider {
    /// The source address.
    pub source: ProviderSource,
    /// The features that this system lacks for sandboxes. `None` if it lacks nothing.
    pub missing: Option<String>,
}

/// Returns the providers among these that Mayfly runs in a sandbox.
///
/// # Errors
/// If the CLI configuration, or the list of providers that run already, is invalid.
pub fn sandboxed(
    session: &Session,
    sources: &TreeSet<ProviderSource>,
) -> Result<Vec<SandboxedProvider>, Failure> {
    let config = session.cli_config()?;
    let reattached = located::reattached(session)?;
    let sandboxes = ProviderSandboxes::new(session, config);
    let is_bundled = |source: &ProviderSource| {
        sandboxes.bundled.contains_key(source) && !config.dev_overrides.contains_key(source)
    };
    let is_sandboxed = |source: &&ProviderSource| {
        let is_process = !source.is_builtin() && !reattached.contains_key(*source);
        is_process && sandboxes.is_enabled(source, is_bundled(source))
    };
    let missing = sandbox::missing(&Policy { grants: Grants::default(), is_required: false });
    let found = sources.iter().filter(is_sandboxed).cloned();
    Ok(found.map(|source| SandboxedProvider { source, missing: missing.clone() }).collect())
}

/// The directories of the configuration: the working directory, and those of local and installed modules.
#[derive(Default)]
struct Directories {
    granted: Vec<PathBuf>,
    /// The directories that are, or contain, the home directory.
    broad: Vec<PathBuf>,
}

impl Directories {
    fn of(session: &Session, working_directory: &Path, home: Option<&Path>) -> Directories {
        // A manifest that cannot be read is reported when the modules are loaded.
        let manifest = session.read_manifest().unwrap_or_default();
        let modules = manifest.modules.values().filter(|it| !it.dir.is_empty());
        let modules = modules.map(|it| working_directory.join(&it.dir));
        let mut found = Directories::default();
        for directory in [working_directory.to_owned()].into_iter().chain(modules) {
            if contains_home(&directory, home) {
                if !found.broad.contains(&directory) {
                    found.broad.push(directory);
                }
            } else if is_new(&directory, &found.granted) {
                found.granted.push(directory);
            }
        }
        found
    }
}

/// The files directly in a directory, without hidden ones and links.
fn visible_files(directory: &Path) -> Vec<PathBuf> {
    let is_visible = |it: &fs::DirEntry| {
        let is_hidden = it.file_name().as_encoded_bytes().starts_with(b".");
        !is_hidden && it.file_type().is_ok_and(|it| it.is_file())
    };
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.filter(is_visible).map(|it| it.path()).collect();
    sorted::sort(&mut files);
    files.truncate(MOST_FILES);
    files
}

/// Returns true if a directory is not below one of the others.
fn is_new(directory: &Path, others: &[PathBuf]) -> bool {
    has_parents(directory) || !others.iter().any(|it| directory.starts_with(it))
}

fn has_parents(path: &Path) -> bool {
    path.components().any(|it| it == std::path::Component::ParentDir)
}

fn absolute<'t>(directory: &Path, paths: impl Iterator<Item = &'t str>) -> Vec<PathBuf> {
    paths.filter(|it| !it.is_empty()).map(|it| directory.join(it)).collect()
}

#[cfg(test)]
mod tests {
    use sandbox::Ports;

    use super::*;

    fn sandboxes(config: &str) -> ProviderSandboxes {
        let (config, problems) = CliConfig::parse(config, "rc", &|_| None);
        assert_eq!(problems, []);
        let builtin =
            Grants { write: vec!["/project".into()], connect: Ports::All, ..Grants::default() };
        ProviderSandboxes {
            rules: config.sandbox,
            bundled: [(source("mayfly/local"), builtin)].into(),
            launcher: "/bin/mayfly".into(),
            working_directory: "/project".into(),
            configuration: vec!["/project".into(), "/modules".into()],
            broad: Vec::new(),
            certificates: Vec::new(),
            data_dir: "/data".into(),
            called_in: Some("/called".into()),
            home: Some("/home/me".into()),
        }
    }

    fn source(text: &str) -> ProviderSource {
        ProviderSource::parse(text).expect("an address")
    }

    /// Returns the policy of a bundled provider and of an overridden one, as arguments.
    fn policies(config: &str) -> [Option<String>; 2] {
        let sandboxes = sandboxes(config);
        let bundled = Located::Bundled {
            version: addr::Version::parse("1.0.0").expect("a version"),
            executable: "/bin/mayfly".into(),
            arguments: Vec::new(),
        };
        let other = Located::Overridden { executable: "bin/provider".into() };
        [("mayfly/local", &bundled), ("hashicorp/aws", &other)].map(|(name, located)| {
            let policy = sandboxes.policy(&source(name), located)?;
            let arguments = policy.to_arguments();
            Some(arguments.iter().map(|it| it.to_string_lossy()).collect::<Vec<_>>().join(" "))
        })
    }

    #[test]
    fn only_bundled_providers_have_a_sandbox_by_default() {
        let bundled = "read=/project read=/modules read=/called write=/project write=/data/tmp connect=all \
             bind=none --";
        assert_eq!(policies(""), [Some(bundled.to_owned()), None]);
        let off = "provider_sandbox { enabled = false }";
        assert_eq!(policies(off), [None, None]);
    }

    #[test]
    fn blocks_add_paths_and_replace_ports_of_bundled_providers() {
        let config = r#"
            provider_sandbox {
              include = ["hashicorp/*", "mayfly/local"]
              read    = ["/keys/.aws", "data"]
              connect = [443]
            }
            provider_sandbox {
              write     = ["/out"]
              connect   = [80]
              processes = true
            }"#;
        let [bundled, other] = policies(config);
        assert_eq!(
            bundled.as_deref(),
            Some(
                "read=/keys/.aws read=/project/data read=/project read=/modules read=/called write=/project \
                 write=/out write=/data/tmp connect=80,443 bind=none processes required --"
            )
        );
        assert_eq!(
            other.as_deref(),
            Some(
                "read=/keys/.aws read=/project/data read=/project read=/modules read=/project/bin \
                 write=/out write=/data/tmp connect=80,443 bind=none processes modes required --"
            )
        );
    }

    #[test]
    fn override_in_the_home_directory_does_not_open_it() {
        let sandboxes = sandboxes("");
        for (executable, expected) in [
            ("/home/me/bin/provider", "/home/me/bin"),
            ("/home/me/provider", "/home/me/provider"),
            ("/home/provider", "/home/provider"),
            ("/provider", "/provider"),
            ("bin/provider", "/project/bin"),
        ] {
            assert_eq!(sandboxes.package(Path::new(executable)), Path::new(expected));
        }
    }

    #[test]
    fn provider_without_files_reads_temporary_ones() {
        let mut sandboxes = sandboxes("");
        sandboxes.bundled = [(source("mayfly/restful"), Grants::default())].into();
        let located = Located::Bundled {
            version: addr::Version::parse("1.0.0").expect("a version"),
            executable: "/bin/mayfly".into(),
            arguments: Vec::new(),
        };
        let grants = sandboxes.policy(&source("mayfly/restful"), &located).map(|it| it.grants);
        let grants = grants.expect("has a sandbox");
        assert!(grants.read.contains(&"/data/tmp".into()) && grants.write.is_empty(), "{grants:?}");
    }

    #[test]
    fn first_block_that_says_so_decides_whether_there_is_a_sandbox() {
        let config = "provider_sandbox {}\nprovider_sandbox {\n include = [\"hashicorp/aws\"]\n \
                      enabled = false\n}\nprovider_sandbox { enabled = true }";
        let [bundled, other] = policies(config);
        assert!(bundled.is_some_and(|it| it.ends_with("required --")));
        assert_eq!(other, None);
        assert_eq!(sandboxes(config).is_enabled_by_rule(&source("a/b")), Some(true));
        assert_eq!(sandboxes("").is_enabled_by_rule(&source("a/b")), None);
    }

    #[test]
    fn only_visible_files_of_a_broad_directory_are_granted() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = |name: &str| folder.path().join(name);
        for name in ["main.tf", "data.json", ".netrc"] {
            fs::write(path(name), "x").expect("writable");
        }
        fs::create_dir(path(".ssh")).expect("writable");
        fs::create_dir(path("documents")).expect("writable");
        std::os::unix::fs::symlink(path(".netrc"), path("link")).expect("links");
        assert_eq!(visible_files(folder.path()), [path("data.json"), path("main.tf")]);
        let mut sandboxes = sandboxes("");
        sandboxes.broad = vec![folder.path().to_owned()];
        let located = Located::Bundled {
            version: addr::Version::parse("1.0.0").expect("a version"),
            executable: "/bin/mayfly".into(),
            arguments: Vec::new(),
        };
        let policy = sandboxes.policy(&source("mayfly/local"), &located).expect("is bundled");
        let Grants { read, write, .. } = policy.grants;
        assert!(read.contains(&path("main.tf")) && !read.contains(&folder.path().to_owned()));
        assert!(!write.iter().any(|it| it.starts_with(folder.path())), "{write:?}");
    }

    #[test]
    fn foreign_address_is_no_reason_to_disable_the_sandbox() {
        let error = LaunchError::ForeignAddress("\"/run/docker.sock\"".to_owned());
        let text = start_error(&source("example.com/a/b"), &error);
        assert!(
            text.starts_with("it reported the address \"/run/docker.sock\", which may"),
            "{text}"
        );
        assert!(text.contains("TMPDIR") && !text.contains("enabled = false"), "{text}");
    }

    #[test]
    fn sandbox_that_cannot_be_set_up_has_a_way_out() {
        let error = LaunchError::Sandbox("it needs a newer kernel".to_owned());
        let text = start_error(&source("example.com/a/b"), &error);
        assert!(text.starts_with("its sandbox could not be set up: it needs a newer kernel.\n"));
        assert!(
            text.contains("    include = [\"example.com/a/b\"]\n    enabled = false\n"),
            "{text}"
        );
    }
}
