use sorted::TreeMap;

use std::fmt;

use crate::provider_source::{DEFAULT_HOST, host};
use crate::scan::AddrError;
use crate::version::Version;

/// The source of a module call that is not a local path: a package, and a directory in the package.
///
/// A package is installed as a unit; several modules can share one.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleSource {
    /// The package.
    pub package: ModulePackage,
    /// The directory of the module in the package, with forward slashes; empty for the root of the package.
    pub subdir: String,
}

/// The unit of installation: a location, and the parameters that select a version of it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModulePackage {
    /// The way to fetch the package.
    pub getter: Getter,
    /// The location in the syntax of the getter: a URL, an absolute path, or the address in a registry.
    pub location: String,
    /// The parameters after the question mark, such as `ref`, `depth` or `archive`.
    pub query: TreeMap<String, String>,
}

/// The ways to fetch a package.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Getter {
    /// A module registry: `[HOST/]NAMESPACE/NAME/SYSTEM`.
    Registry,
    /// A Git repository: `git::URL`, `github.com/…` or `user@host:path`.
    Git,
    /// An absolute path: a directory or an archive.
    File,
    /// A URL: `http://…` or `https://…`.
    Http,
    /// An object, or the objects below a prefix, in a bucket of S3 or of a compatible service: `s3::URL`.
    S3,
    /// An object, or the objects below a prefix, in a bucket of Google Cloud Storage: `gcs::URL`.
    Gcs,
    /// A Mercurial repository: `hg::URL`.
    Mercurial,
    /// A repository of an OCI registry: `oci://HOST/REPOSITORY`.
    Oci,
    /// Any other getter, by its name before `::` or `://`.
    Other(String),
}

/// The query parameters that are printed. All others are hidden, because they can contain keys and tokens.
const SHOWN_PARAMETERS: [&str; 6] = ["archive", "depth", "digest", "ref", "tag", "version"];

/// Further parameters of buckets and Mercurial repositories that are printed.
const SHOWN_OF_S3: [&str; 2] = ["aws_profile", "region"];
const SHOWN_OF_MERCURIAL: [&str; 1] = ["rev"];

impl ModuleSource {
    /// Parses the source of a module call that is not a local path.
    ///
    /// # Errors
    /// Fails if the text names neither a module in a registry nor a way to fetch a package, and if the directory
    /// lies outside of the package.
    pub fn parse(text: &str) -> Result<ModuleSource, AddrError> {
        let (text, query) = match text.split_once('?') {
            Some((text, query)) => (text, query),
            None => (text, ""),
        };
        let (location, subdir) = split_subdir(text);
        let subdir = normal_subdir(subdir).ok_or_else(|| {
            let detail = format!(
                "The part behind the double slash, {subdir:?}, must be a directory in the package."
            );
            fault("Invalid module source address", detail, text)
        })?;
        let mut source = ModuleSource { package: package(location)?, subdir };
        if source.package.getter == Getter::Git {
            source.split_directory_of_repository();
        }
        source.package.query = parameters(query);
        Ok(source)
    }

    /// Parses an address that a registry or a web page gives for a package. The directory in the package may have the
    /// wildcard `*`; it is returned as it stands.
    ///
    /// # Errors
    /// Fails if the text names no way to fetch a package. The directory is not checked.
    pub fn parse_redirect(text: &str) -> Result<(ModulePackage, String), AddrError> {
        let (address, query) = match text.split_once('?') {
            Some((address, query)) => (address, format!("?{query}")),
            None => (text, String::new()),
        };
        let (location, subdir) = split_subdir(address);
        let source = ModuleSource::parse(&format!("{location}{query}"))?;
        let inner = source.subdir;
        let subdir = [inner.as_str(), subdir.trim_matches('/')];
        let subdir = subdir.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("/");
        Ok((source.package, subdir))
    }

    /// Splits `github.com/owner/repository/directory` into the repository and the directory in it.
    fn split_directory_of_repository(&mut self) {
        for host in REPOSITORIES {
            let prefix = format!("https://{host}/");
            let Some(path) = self.package.location.strip_prefix(&prefix) else { continue };
            let mut parts = path.splitn(3, '/');
            let (Some(owner), Some(name)) = (parts.next(), parts.next()) else { continue };
            let (Some(rest), true) = (parts.next(), self.subdir.is_empty()) else { continue };
            if let Some(subdir) = normal_subdir(rest) {
                self.package.location = format!("{prefix}{owner}/{name}");
                self.subdir = subdir;
            }
        }
        let is_known = REPOSITORIES
            .iter()
            .any(|it| self.package.location.starts_with(&format!("https://{it}/")));
        if is_known && !self.package.location.ends_with(".git") {
            self.package.location.push_str(".git");
        }
    }
}

/// Prints the normalized form, without passwords and keys.
impl fmt::Display for ModuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.package.place())?;
        if !self.subdir.is_empty() {
            write!(f, "//{}", self.subdir)?;
        }
        self.package.write_query(f)
    }
}

/// Prints the normalized form, without passwords and keys.
impl fmt::Display for ModulePackage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place())?;
        self.write_query(f)
    }
}

/// Same text as `Display`, so that debug output contains no passwords either.
impl fmt::Debug for ModuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModuleSource({self})")
    }
}

/// Same text as `Display`, so that debug output contains no passwords either.
impl fmt::Debug for ModulePackage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModulePackage({self})")
    }
}

impl ModulePackage {
    /// Returns the location without passwords and query: the part that all versions of the package share.
    pub fn place(&self) -> String {
        match &self.getter {
            Getter::Registry => self.location.clone(),
            Getter::Git => format!("git::{}", without_password(&self.location)),
            Getter::File => format!("file://{}", self.location),
            Getter::Http | Getter::Oci => without_password(&self.location),
            Getter::S3 => format!("s3::{}", without_password(&self.location)),
            Getter::Gcs => format!("gcs::{}", without_password(&self.location)),
            Getter::Mercurial => format!("hg::{}", without_password(&self.location)),
            Getter::Other(getter) => {
                let location = without_password(&self.location);
                match location.split_once("://") {
                    Some((scheme, _)) if scheme == getter => location,
                    _ => format!("{getter}::{location}"),
                }
            }
        }
    }

    /// Returns true for the name of a parameter that contains no secret.
    fn is_shown(&self, name: &str) -> bool {
        let further: &[&str] = match self.getter {
            Getter::S3 => &SHOWN_OF_S3,
            Getter::Mercurial => &SHOWN_OF_MERCURIAL,
            _ => &[],
        };
        SHOWN_PARAMETERS.contains(&name) || further.contains(&name)
    }

    /// Returns the package of a version of a module of a registry.
    pub fn with_version(&self, version: &Version) -> ModulePackage {
        let mut package = self.clone();
        package.query.insert("version".to_owned(), version.to_string());
        package
    }

    /// Returns the user information before the host, with the password if it contains one; `None` if there is
    /// none.
    pub fn user(&self) -> Option<&str> {
        let rest = self.location.split_once("://").map_or(&*self.location, |(_, rest)| rest);
        split_user(rest).map(|(user, _)| user)
    }

    /// Returns the location with all parameters except `excluded`. It can contain passwords and keys.
    pub fn url_without(&self, excluded: &[&str]) -> String {
        let mut url = self.location.clone();
        let parameters = self.query.iter().filter(|(name, _)| !excluded.contains(&&***name));
        for (index, (name, value)) in parameters.enumerate() {
            let mark = if index == 0 { '?' } else { '&' };
            url.push_str(&format!("{mark}{}={}", encoded(name), encoded(value)));
        }
        url
    }

    fn write_query(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown =
            self.query.iter().filter(|(name, value)| self.is_shown(name) && !value.is_empty());
        for (index, (name, value)) in shown.enumerate() {
            let mark = if index == 0 { '?' } else { '&' };
            write!(f, "{mark}{}={}", encoded(name), encoded(value))?;
        }
        Ok(())
    }
}

/// Hosts on which the first two parts of a path identify a repository.
const REPOSITORIES: [&str; 2] = ["github.com", "bitbucket.org"];

/// Splits at the first double slash after the scheme.
fn split_subdir(text: &str) -> (&str, &str) {
    let from = text.find("://").map_or(0, |at| at + "://".len());
    match text[from..].find("//") {
        Some(at) => (&text[..from + at], &text[from + at + 2..]),
        None => (text, ""),
    }
}

/// Normalizes the path of a directory in the package; `None` if it leads out of the package or is not allowed.
fn normal_subdir(text: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            // These directories belong to a working copy, not to the package.
            ".git" | ".terraform" => return None,
            _ if part.contains(char::is_control) || part.contains(['\\', '*', '[']) => return None,
            _ if part.contains("${") || part.contains("%{") => return None,
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn package(location: &str) -> Result<ModulePackage, AddrError> {
    let (getter, location) = match location.split_once("::") {
        Some(("git", location)) => (Getter::Git, git_url(location)?),
        Some(("hg", location)) => (Getter::Mercurial, mercurial_url(location)?),
        Some(("s3", location)) => (Getter::S3, bucket_url(location, s3_url)?),
        Some(("gcs", location)) => (Getter::Gcs, bucket_url(location, gcs_url)?),
        Some((getter, location)) if is_getter(getter) && !location.is_empty() => {
            (Getter::Other(getter.to_owned()), location.to_owned())
        }
        _ => detected(location)?,
    };
    if !has_host(&location) {
        return Err(unknown(&location));
    }
    // A lock file cannot represent these characters.
    if location.contains(char::is_control) || location.contains("${") || location.contains("%{") {
        return Err(unknown(&location));
    }
    Ok(ModulePackage { getter, location, query: TreeMap::new() })
}

fn is_getter(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
}

/// Detects the getter of a location that does not name one.
fn detected(location: &str) -> Result<(Getter, String), AddrError> {
    if let Some(path) = location.strip_prefix("file://") {
        return Ok((Getter::File, absolute(path, location)?));
    }
    if location.starts_with('/') {
        return Ok((Getter::File, absolute(location, location)?));
    }
    if let Some((scheme, rest)) = location.split_once("://") {
        return match scheme {
            _ if rest.is_empty() => Err(unknown(location)),
            "http" | "https" => Ok((Getter::Http, location.to_owned())),
            "ssh" | "git" => Ok((Getter::Git, git_url(location)?)),
            "oci" => Ok((Getter::Oci, location.to_owned())),
            _ if is_getter(scheme) => Ok((Getter::Other(scheme.to_owned()), location.to_owned())),
            _ => Err(unknown(location)),
        };
    }
    if let Some((host, path)) = location.split_once('/')
        && let host = host.to_ascii_lowercase()
        && REPOSITORIES.contains(&&*host)
    {
        let parts = path.split('/').take(2).filter(|it| !it.is_empty()).count();
        return match parts {
            2 => Ok((Getter::Git, format!("https://{host}/{path}"))),
            _ => Err(unknown(location)),
        };
    }
    if location.contains('@') && location.contains(':') {
        return Ok((Getter::Git, git_url(location)?));
    }
    if let Some(url) = gcs_url(location) {
        return Ok((Getter::Gcs, url));
    }
    if let Some(url) = s3_url(location) {
        return Ok((Getter::S3, url));
    }
    Ok((Getter::Registry, registry_module(location)?))
}

fn absolute(path: &str, text: &str) -> Result<String, AddrError> {
    let parts: Vec<&str> = path.split('/').filter(|it| !matches!(*it, "" | ".")).collect();
    if !path.starts_with('/') || parts.contains(&"..") || parts.is_empty() {
        return Err(fault(
            "Invalid module source address",
            format!("{text:?} must be an absolute path without \"..\"."),
            text,
        ));
    }
    Ok(format!("/{}", parts.join("/")))
}

/// Returns a URL for Git. Also accepts `user@host:path` and absolute paths.
fn git_url(location: &str) -> Result<String, AddrError> {
    if location.starts_with('/') {
        return Ok(format!("file://{}", absolute(location, location)?));
    }
    if let Some((scheme, rest)) = location.split_once("://") {
        let is_known = matches!(scheme, "file" | "git" | "http" | "https" | "ssh");
        return match is_known && !rest.is_empty() && !rest.starts_with('-') {
            true => Ok(location.to_owned()),
            false => Err(unknown(location)),
        };
    }
    let (user, rest) = location.split_once('@').ok_or_else(|| unknown(location))?;
    let (host, path) = rest.split_once(':').ok_or_else(|| unknown(location))?;
    let path = path.trim_start_matches('/');
    let is_host = !host.is_empty() && !host.contains('/');
    if user.is_empty() || !is_host || path.is_empty() || user.starts_with('-') {
        return Err(unknown(location));
    }
    Ok(format!("ssh://{user}@{host}/{path}"))
}

/// Returns a URL for `hg`. Also accepts absolute paths.
fn mercurial_url(location: &str) -> Result<String, AddrError> {
    if location.starts_with('/') {
        return Ok(format!("file://{}", absolute(location, location)?));
    }
    let is_usable = |(scheme, rest): (&str, &str)| {
        let is_known = matches!(scheme, "file" | "http" | "https" | "ssh");
        is_known && !rest.is_empty() && !rest.starts_with('-')
    };
    match location.split_once("://").is_some_and(is_usable) {
        true => Ok(location.to_owned()),
        false => {
            Err(unlike(location, "of a Mercurial repository: \"hg::https://HOST/REPOSITORY\""))
        }
    }
}

/// Returns the URL of a location in a bucket, which needs no scheme if its form is known.
fn bucket_url(location: &str, known: fn(&str) -> Option<String>) -> Result<String, AddrError> {
    let url = match location.split_once("://") {
        Some(("http" | "https", rest)) if !rest.is_empty() => Some(location.to_owned()),
        Some(_) => None,
        None => known(location),
    };
    url.ok_or_else(|| {
        let forms = "of something in a bucket: \"s3::https://s3.REGION.amazonaws.com/BUCKET/KEY\" or \
                     \"gcs::https://www.googleapis.com/storage/v1/BUCKET/OBJECT\"";
        unlike(location, forms)
    })
}

/// The URL of a location such as `BUCKET.s3.REGION.amazonaws.com/KEY`, in the form that other tools give it. `None` if
/// it is another location.
fn s3_url(location: &str) -> Option<String> {
    let (host, path) = location.split_once('/')?;
    let labels: Vec<&str> = host.strip_suffix(".amazonaws.com")?.split('.').collect();
    if path.is_empty() || labels.iter().any(|it| it.is_empty()) {
        return None;
    }
    let is_service = |label: &str| label == "s3" || label.starts_with("s3-");
    match labels.as_slice() {
        [service] if is_service(service) => Some(format!("https://{host}/{path}")),
        ["s3", _] => Some(format!("https://{host}/{path}")),
        [bucket, service] if is_service(service) => {
            Some(format!("https://{service}.amazonaws.com/{bucket}/{path}"))
        }
        [bucket, "s3", region] => {
            Some(format!("https://s3.{region}.amazonaws.com/{bucket}/{path}"))
        }
        _ => None,
    }
}

/// The URL of a location such as `www.googleapis.com/storage/v1/BUCKET/OBJECT`. `None` if it is another location.
fn gcs_url(location: &str) -> Option<String> {
    let (host, path) = location.split_once('/')?;
    let parts: Vec<&str> = path.splitn(4, '/').collect();
    match parts.as_slice() {
        ["storage", version, bucket, object] if host.ends_with(".googleapis.com") => {
            Some(format!("https://www.googleapis.com/storage/{version}/{bucket}/{object}"))
        }
        _ => None,
    }
}

fn registry_module(location: &str) -> Result<String, AddrError> {
    let parts: Vec<&str> = location.split('/').collect();
    let (registry, names) = match parts.as_slice() {
        [registry, names @ ..] if names.len() == 3 => {
            (host(registry).map_err(|_| unknown(location))?, names)
        }
        names => (DEFAULT_HOST.into(), names),
    };
    let is_name = |it: &&str| {
        !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_".contains(&it))
    };
    match names.len() == 3 && names.iter().all(is_name) {
        true => Ok(format!("{registry}/{}", names.join("/"))),
        false => Err(unknown(location)),
    }
}

fn unknown(location: &str) -> AddrError {
    let detail = format!(
        "{:?} is neither a path that begins with \"./\" or \"../\", nor the address of a module in \
         a registry (\"namespace/name/system\"), nor the address of a package to download: \
         \"git::https://…\", \"github.com/owner/repository\", an absolute path.",
        without_password(location)
    );
    fault("Invalid module source address", detail, location)
}

fn unlike(location: &str, form: &str) -> AddrError {
    let detail = format!("{:?} must be the address {form}.", without_password(location));
    fault("Invalid module source address", detail, location)
}

fn fault(summary: &'static str, detail: String, text: &str) -> AddrError {
    AddrError::new(summary, detail, 0..text.len())
}

/// Returns true if a URL has a host. A text without a scheme needs none.
fn has_host(location: &str) -> bool {
    match location.split_once("://") {
        None | Some(("file", _)) => true,
        Some((_, mut rest)) => {
            while let Some((_, after)) = split_user(rest) {
                rest = after;
            }
            !rest.is_empty() && !rest.starts_with(['/', ':', '@'])
        }
    }
}

/// Returns a URL without the password before its host. For HTTP, the user name goes too: it is often a token.
fn without_password(url: &str) -> String {
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), url),
    };
    let Some((user, rest)) = split_user(rest) else { return url.to_owned() };
    let name = user.split(':').next().unwrap_or_default();
    match &*scheme {
        // The remaining text may contain further user information.
        "http://" | "https://" => without_password(&format!("{scheme}{rest}")),
        _ => format!("{scheme}{name}@{rest}"),
    }
}

/// Splits a URL without its scheme into the user information before the host, and the rest; `None` if there is no
/// user information. An invalid password that contains a slash still counts as a password.
fn split_user(rest: &str) -> Option<(&str, &str)> {
    let authority = rest.split('/').next().unwrap_or_default();
    if let Some(at) = authority.rfind('@') {
        return Some((&rest[..at], &rest[at + 1..]));
    }
    let (_, port) = authority.split_once(':')?;
    let is_port = !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit());
    let at = rest.rfind('@').filter(|_| !is_port)?;
    Some((&rest[..at], &rest[at + 1..]))
}

fn parameters(query: &str) -> TreeMap<String, String> {
    let pairs = query.split('&').filter(|it| !it.is_empty());
    let pairs = pairs.map(|it| it.split_once('=').unwrap_or((it, "")));
    pairs.map(|(name, value)| (decoded(name), decoded(value))).collect()
}

/// Decodes a part of a query string.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = tail.get(..2).and_then(|it| std::str::from_utf8(it).ok());
        let escaped = escaped.filter(|it| it.bytes().all(|it| it.is_ascii_hexdigit()));
        let escaped = escaped.and_then(|it| u8::from_str_radix(it, 16).ok());
        match (first, escaped) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            (b'+', _) => {
                bytes.push(b' ');
                rest = tail;
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Encodes a part of a query string.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                encoded.push(char::from(byte));
            }
            b' ' => encoded.push('+'),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}
