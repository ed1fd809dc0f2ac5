//! The sources of provider packages, and a search for the available packages.

mod network_mirror;
mod oci_mirror;
mod registry;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use addr::{ProviderSource, Version};
use sorted::{TreeMap, TreeSet};

use crate::blocking::blocking;
use crate::cli_config::{CliConfig, InstallationMethod, MethodKind, ProviderPattern};
use crate::network::Network;
use crate::package::provider_folder;
use crate::platform::Platform;
use crate::remote_package::RemotePackage;

use network_mirror::NetworkMirror;
use oci_mirror::OciMirror;
pub(crate) use registry::{COMPATIBLE_VERSION, VERSION_HEADER};
use registry::{OfferedVersions, Registry};

/// All sources of providers.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    methods: Vec<InstallationMethod>,
    /// Providers that are used from a directory without version and lock.
    pub overrides: TreeMap<ProviderSource, PathBuf>,
    /// Providers that are bundled with this program and run as plugins.
    pub bundled: Vec<BundledProvider>,
    /// The number of retries of downloads by methods that tell none. `None` for the usual number.
    download_retries: Option<u32>,
    /// The access to registries and network mirrors. Without it, only the mirrors on this machine are searched.
    network: Option<Arc<Network>>,
}

/// A provider whose plugin is this program itself or an executable beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundledProvider {
    /// The source address.
    pub source: ProviderSource,
    /// The version.
    pub version: Version,
    /// The executable.
    pub executable: PathBuf,
    /// The arguments that make the executable serve this provider.
    pub arguments: Vec<String>,
}

/// The mirrors that are used if the CLI configuration has no `provider_installation` block: `terraform.d/plugins`
/// in the working directory, in the place of `~/.terraform.d`, and in the XDG data directories.
#[derive(Clone, Debug, Default)]
pub struct ImpliedMirrors {
    /// The directories of the mirrors.
    pub directories: Vec<PathBuf>,
}

/// The location of one package on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackageLocation {
    Directory(PathBuf),
    /// A zip file.
    Archive(PathBuf),
}

/// A place from which a package can be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PackageSource {
    Local(PackageLocation),
    /// A network mirror, which may lack the package for this platform.
    Mirror(NetworkMirror),
    /// An OCI mirror, which may lack the package for this platform.
    OciMirror(OciMirror),
    /// The registry at the host of the provider, which may lack the package for this platform.
    Registry,
}

/// A place from which a package can be taken, and how.
#[derive(Clone, Debug)]
pub(crate) struct AvailablePackage {
    pub(crate) source: PackageSource,
    /// The number of retries of its download. `None` for the usual number.
    pub(crate) download_retries: Option<u32>,
}

/// The available packages of one provider.
#[derive(Clone, Debug, Default)]
pub(crate) struct Available {
    /// The sources of the packages for the requested platform, in the order of the installation methods.
    pub(crate) packages: TreeMap<Version, Vec<AvailablePackage>>,
    /// The number of retries of downloads by the method that is searched.
    download_retries: Option<u32>,
    /// The versions that exist only for other platforms.
    pub(crate) elsewhere: TreeSet<Version>,
    /// The mirrors that were searched.
    pub(crate) searched: Vec<String>,
    /// The sources that would require network access.
    pub(crate) remotes: Vec<String>,
    /// Sentences of registries for the user.
    pub(crate) warnings: Vec<String>,
}

impl Available {
    fn add(&mut self, version: Version, source: PackageSource) {
        let download_retries = self.download_retries;
        let package = AvailablePackage { source, download_retries };
        self.packages.entry(version).or_default().push(package);
    }
}

impl Sources {
    /// Creates the sources that the CLI configuration describes.
    pub fn new(
        config: &CliConfig,
        implied: &ImpliedMirrors,
        bundled: Vec<BundledProvider>,
    ) -> Self {
        let methods = match &config.installation {
            Some(methods) => methods.clone(),
            None => implied_methods(&implied.directories),
        };
        Self {
            methods,
            overrides: config.dev_overrides.clone(),
            bundled,
            download_retries: config.download_retries,
            network: None,
        }
    }

    /// The directories of the mirrors on this machine.
    pub(crate) fn mirrors(&self) -> Vec<PathBuf> {
        let paths = self.methods.iter().filter_map(|it| match &it.kind {
            MethodKind::FilesystemMirror { path } => Some(path.clone()),
            _ => None,
        });
        paths.collect()
    }

    /// Returns the sources with access to registries and network mirrors.
    pub fn with_network(self, network: Arc<Network>) -> Self {
        Self { network: Some(network), ..self }
    }

    /// Returns the sources with only this network mirror as installation method.
    ///
    /// # Errors
    /// Returns a sentence fragment if the URL is not one of `https`.
    pub fn from_network_mirror(&self, url: &str) -> Result<Self, String> {
        NetworkMirror::new(url, false)?;
        let kind = MethodKind::NetworkMirror { url: url.to_owned(), trusts_all_hashes: false };
        let method = InstallationMethod {
            kind,
            include: Vec::new(),
            exclude: Vec::new(),
            download_retries: None,
        };
        Ok(Self { methods: vec![method], ..self.clone() })
    }

    /// Returns the sources with only the registries of the providers as installation method.
    pub fn from_registries(&self) -> Self {
        let kind = MethodKind::Direct;
        let method = InstallationMethod {
            kind,
            include: Vec::new(),
            exclude: Vec::new(),
            download_retries: None,
        };
        Self { methods: vec![method], ..self.clone() }
    }

    /// Returns the sources with only these directories (`-plugin-dir`) as installation methods.
    pub fn from_plugin_dirs(&self, directories: &[PathBuf]) -> Self {
        let methods = directories.iter().map(|it| mirror(it)).collect();
        Self { methods, ..self.clone() }
    }

    /// Returns the bundled provider with this address. `None` if there is none.
    pub fn bundled(&self, source: &ProviderSource) -> Option<&BundledProvider> {
        self.bundled.iter().find(|it| it.source == *source)
    }

    /// The access to registries and network mirrors.
    pub(crate) fn network(&self) -> Option<&Arc<Network>> {
        self.network.as_ref()
    }

    /// Searches all methods that apply to the provider. If several have a version, the package of the first one is
    /// used. Registries and network mirrors are not asked for the versions that they have if only `wanted` matters.
    ///
    /// # Errors
    /// Returns a sentence fragment if a registry or a network mirror cannot be asked.
    pub(crate) async fn available(
        &self,
        source: &ProviderSource,
        platform: &Platform,
        wanted: Option<&Version>,
    ) -> Result<Available, String> {
        let mut available = Available::default();
        for method in self.methods.iter().filter(|it| it.serves(source)) {
            available.download_retries = method.download_retries.or(self.download_retries);
            match &method.kind {
                MethodKind::FilesystemMirror { path } => {
                    available.searched.push(path.display().to_string());
                    available = add_found(path.clone(), source, platform, available).await;
                }
                MethodKind::NetworkMirror { url, trusts_all_hashes } => {
                    let mirror = NetworkMirror::new(url, *trusts_all_hashes)?;
                    let remote = PackageSource::Mirror(mirror);
                    self.add_remote(remote, source, wanted, &mut available).await?;
                }
                MethodKind::Direct => {
                    let remote = PackageSource::Registry;
                    self.add_remote(remote, source, wanted, &mut available).await?;
                }
                MethodKind::OciMirror { repository_template } => {
                    let remote = PackageSource::OciMirror(OciMirror::new(repository_template));
                    self.add_remote(remote, source, wanted, &mut available).await?;
                }
            }
        }
        available.elsewhere.retain(|it| !available.packages.contains_key(it));
        Ok(available)
    }

    /// Adds what a source over the network has. Without access to the network, the source is only recorded.
    async fn add_remote(
        &self,
        remote: PackageSource,
        source: &ProviderSource,
        wanted: Option<&Version>,
        available: &mut Available,
    ) -> Result<(), String> {
        let shown = remote.shown(source);
        let Some(network) = &self.network else {
            available.remotes.push(format!("the {shown}"));
            return Ok(());
        };
        let offered = match wanted {
            Some(version) => {
                let versions = TreeSet::from([version.clone()]);
                OfferedVersions { versions, warnings: Vec::new() }
            }
            None => remote.versions(network, source).await?,
        };
        available.warnings.extend(offered.warnings);
        for version in offered.versions {
            available.add(version, remote.clone());
        }
        available.searched.push(shown);
        Ok(())
    }
}

impl PackageSource {
    fn shown(&self, source: &ProviderSource) -> String {
        match self {
            PackageSource::Local(
                PackageLocation::Directory(path) | PackageLocation::Archive(path),
            ) => path.display().to_string(),
            PackageSource::Mirror(mirror) => format!("provider mirror at {mirror}"),
            PackageSource::OciMirror(mirror) => format!("OCI mirror {mirror}"),
            PackageSource::Registry => format!("provider registry {}", source.host),
        }
    }

    /// Asks for the versions of a provider. A local source has been searched for them before.
    async fn versions(
        &self,
        network: &Network,
        source: &ProviderSource,
    ) -> Result<OfferedVersions, String> {
        let versions = match self {
            PackageSource::Local(_) => TreeSet::new(),
            PackageSource::Mirror(mirror) => mirror.versions(network, source).await?,
            PackageSource::OciMirror(mirror) => mirror.versions(network, source).await?,
            PackageSource::Registry => {
                let known = Registry::of(network, source).await?.versions().await?;
                return Ok(known.unwrap_or_default());
            }
        };
        Ok(OfferedVersions { versions, warnings: Vec::new() })
    }

    /// Asks for the package of a version for a platform. `None` if a remote source has none, and for a local source.
    pub(crate) async fn package(
        &self,
        network: &Network,
        source: &ProviderSource,
        version: &Version,
        platform: &Platform,
    ) -> Result<Option<RemotePackage>, String> {
        match self {
            PackageSource::Local(_) => Ok(None),
            PackageSource::Mirror(mirror) => {
                mirror.package(network, source, version, platform).await
            }
            PackageSource::OciMirror(mirror) => {
                mirror.package(network, source, version, platform).await
            }
            PackageSource::Registry => {
                Registry::of(network, source).await?.package(version, platform).await
            }
        }
    }
}

async fn add_found(
    mirror: PathBuf,
    source: &ProviderSource,
    platform: &Platform,
    mut available: Available,
) -> Available {
    let (source, platform) = (source.clone(), platform.clone());
    let search = move || {
        search(&mirror, &source, &platform, &mut available);
        available
    };
    blocking(search).await
}

fn mirror(path: &Path) -> InstallationMethod {
    let kind = MethodKind::FilesystemMirror { path: path.to_owned() };
    InstallationMethod { kind, include: Vec::new(), exclude: Vec::new(), download_retries: None }
}

/// Returns the existing mirrors, and the registries for all providers that no mirror has.
fn implied_methods(directories: &[PathBuf]) -> Vec<InstallationMethod> {
    let existing: Vec<_> = directories.iter().filter(|it| it.is_dir()).collect();
    let local: TreeSet<ProviderSource> = existing.iter().flat_map(|it| providers_in(it)).collect();
    let direct = InstallationMethod {
        kind: MethodKind::Direct,
        include: Vec::new(),
        download_retries: None,
        exclude: local.iter().map(ProviderPattern::exactly).collect(),
    };
    existing.into_iter().map(|it| mirror(it)).chain([direct]).collect()
}

/// All providers for which a mirror has a directory.
fn providers_in(mirror: &Path) -> Vec<ProviderSource> {
    let mut sources = Vec::new();
    for host in subdirectories(mirror) {
        for namespace in subdirectories(&host) {
            for type_name in subdirectories(&namespace) {
                let parts = [&host, &namespace, &type_name].map(|it| name_of(it));
                sources.extend(ProviderSource::parse(&parts.join("/")));
            }
        }
    }
    sources
}

/// Finds the packages of one provider in a mirror, both unpacked (`VERSION/OS_ARCH/`) and packed
/// (`terraform-provider-TYPE_VERSION_OS_ARCH.zip`). Links are followed at every level.
fn search(mirror: &Path, source: &ProviderSource, platform: &Platform, available: &mut Available) {
    let folder = provider_folder(mirror, source);
    let mut found = TreeMap::new();
    for path in entries(&folder) {
        let name = name_of(&path);
        if path.is_dir() {
            let Ok(version) = Version::parse(&name) else { continue };
            for package in subdirectories(&path) {
                if Platform::parse(&name_of(&package)).as_ref() == Some(platform) {
                    found.insert(version.clone(), PackageLocation::Directory(package));
                } else {
                    available.elsewhere.insert(version.clone());
                }
            }
        } else if let Some((version, for_platform)) = packed_name(&name, &source.type_name) {
            if for_platform == *platform {
                // An unpacked package of the same version has precedence.
                found.entry(version).or_insert(PackageLocation::Archive(path));
            } else {
                available.elsewhere.insert(version);
            }
        }
    }
    for (version, location) in found {
        available.add(version, PackageSource::Local(location));
    }
}

/// All packed packages in a mirror: the archives with their version and platform, by provider.
pub(crate) fn archives_in(
    mirror: &Path,
) -> TreeMap<ProviderSource, TreeMap<(Version, Platform), PathBuf>> {
    let providers = providers_in(mirror).into_iter().map(|source| {
        let folder = provider_folder(mirror, &source);
        let archives = entries(&folder).into_iter().filter(|it| it.is_file());
        let archives =
            archives.filter_map(|it| Some((packed_name(&name_of(&it), &source.type_name)?, it)));
        (source.clone(), archives.collect())
    });
    providers.collect()
}

fn packed_name(name: &str, type_name: &str) -> Option<(Version, Platform)> {
    let rest = name.strip_prefix("terraform-provider-")?.strip_prefix(type_name)?;
    let rest = rest.strip_prefix('_')?.strip_suffix(".zip")?;
    let (rest, arch) = rest.rsplit_once('_')?;
    let (version, os) = rest.rsplit_once('_')?;
    Some((Version::parse(version).ok()?, Platform::parse(&format!("{os}_{arch}"))?))
}

/// The sorted entries of a directory. Directories come first, so that unpacked packages are found before packed
/// ones.
fn entries(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut paths: Vec<_> = entries.flatten().map(|it| it.path()).collect();
    sorted::sort_by_key(&mut paths, |it| (!it.is_dir(), it.clone()));
    paths
}

fn subdirectories(directory: &Path) -> Vec<PathBuf> {
    entries(directory).into_iter().filter(|it| it.is_dir()).collect()
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(OsStr::new("")).to_string_lossy().into_owned()
}
