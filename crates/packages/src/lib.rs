//! Installation of providers and modules: the CLI configuration, the tokens of hosts, registries, mirrors, signatures,
//! the dependency lock file, installed packages and the module manifest.
//!
//! Start reading at [`CliConfig`], then [`Sources`], [`install`], [`Locks`] and [`locate`]; for modules at
//! [`ModuleInstaller`] and [`verify_module_packages`]; for tokens and logins at [`hosts`]. [`lock_platforms`] and
//! [`mirror`](mirror()) are the commands of `providers`, and [`plugin_files`](plugin_files()) finds what is not
//! installed. [`Network`] is the access to hosts.
//!
//! ```text
//!   init:                requirements + Locks ──install──► .terraform/providers, new Locks
//!   every other command: requirements + Locks ──locate───► an executable for each provider, verified
//!
//!   Sources ─► directory, network mirror, OCI mirror, registry ─► RemotePackage + Proof ─► Evidence ─► hashes to lock
//!   ModulePackage ─► registry ─► page ─► OCI repository, archive, git ─► .terraform/modules
//! ```
//!
//! Operations are asynchronous: file work runs on threads for blocking work, and several packages at once. Their
//! results, events and errors have the order of the requirements.
//!
//! **Invariant:** every package that `locate` returns has a hash from the lock file, unless the provider is
//! bundled with the program or the user has overridden it. The caller computes the hash or has it in a cache.
//! **Invariant:** an interrupted installation leaves no package that looks complete: packages appear by rename.
//! **Invariant:** a token is never shown, and reaches only its host and the services that the host names.
//! **Invariant:** a downloaded package is compared with its proof before anything of it is used. If the proof is about
//! the content, the package is unpacked to a scratch directory first, which only its owner can enter.
//! **Invariant:** no code of a module package is run, and no entry of one leads out of it.
//! **Absent on purpose:** configuration (requirements are given), schemas, running providers, printing.
#![expect(clippy::disallowed_methods, reason = "installing packages is an edge: it is about files")]

mod blocking;
mod cli_config;
mod downloads;
mod evidence;
pub mod fuzz;
mod go_json;
mod hash;
pub mod hosts;
mod install;
mod json_answer;
mod literal;
mod locate;
mod lock_platforms;
mod locks;
mod mirror;
mod modules;
mod network;
mod oci;
mod package;
mod packed;
mod platform;
mod plugin_cache;
mod plugin_files;
mod release;
mod remote_package;
mod retrieve;
mod shown_url;
mod signatures;
mod sources;
mod zip_file;

pub use cli_config::{
    CliConfig, ConfigEnvironment, ConfigProblem, ConfiguredServices, CredentialsHelper,
    InstallationMethod, MethodKind, OciDefaults, OciSecret, ProviderPattern, RegistryProtocols,
    RepositoryCredentials, SandboxRule, Token,
};
pub use downloads::{Download, DownloadObserver};
pub use evidence::Authentication;
pub use hash::{Digest, Hash, HashError, hash_of_directory, stamp_of_directory};
pub use install::{
    InstallError, InstallEvent, InstallRequest, Installed, RegistryWarnings, install,
};
pub use locate::{HashPackage, LocateError, LocateRequest, Located, check_locks, locate};
pub use lock_platforms::{LockError, LockEvent, LockRequest, NewHashes, lock_platforms};
pub use locks::{LockFileError, Locks, ModuleLock, ProviderLock};
pub use mirror::{MirrorError, MirrorEvent, MirrorRequest, MirrorStep, SelectedBy, mirror};
pub use modules::{
    Alteration, Contents, FetchError, Git, LockedPackage, ManifestError, ModuleEvent,
    ModuleInstallError, ModuleInstaller, ModuleManifest, ModuleRecord, ModuleRequest,
    ModuleSelection, Snapshot, Verdict, WantedModule, is_configuration, module_package_below,
    verify_module_packages,
};
pub use network::Network;
pub use package::PackageError;
pub use packed::{PackagedFile, UnpackedPackage};
pub use platform::Platform;
pub use plugin_files::{plugin_directories, plugin_files};
pub use sources::{BundledProvider, ImpliedMirrors, PackageLocation, Sources};
