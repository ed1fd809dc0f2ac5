//! A registry of providers: its documents, packages and signatures.

use std::{
    fmt::Write as _,
    io::{Cursor, Write as _},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use pgp::{
    composed::{
        ArmorOptions, DetachedSignature, KeyType, SecretKeyParamsBuilder, SignedPublicKey,
        SignedSecretKey,
    },
    crypto::hash::HashAlgorithm,
    ser::Serialize,
    types::{KeyDetails as _, Password},
};
use rand::rngs::OsRng;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use zip::{ZipWriter, write::SimpleFileOptions};

use crate::server::{Pages, answer};

/// The platforms of every release.
pub const PLATFORMS: [&str; 2] = ["linux_amd64", "darwin_arm64"];

/// The key of an author.
pub struct AuthorKey(SignedSecretKey);

impl AuthorKey {
    /// Generates a key.
    ///
    /// # Panics
    /// If the system has no random numbers.
    #[expect(clippy::new_without_default, reason = "every key is another one")]
    pub fn new() -> AuthorKey {
        let mut parameters = SecretKeyParamsBuilder::default();
        parameters
            .key_type(KeyType::Ed25519Legacy)
            .can_sign(true)
            .primary_user_id("Author <author@example.com>".into());
        let parameters = parameters.build().expect("is complete");
        AuthorKey(parameters.generate(OsRng).expect("a key"))
    }

    /// The ID that the tools show.
    pub fn id(&self) -> String {
        self.0.primary_key.legacy_key_id().to_string().to_uppercase()
    }

    fn public(&self) -> String {
        let key = SignedPublicKey::from(self.0.clone());
        key.to_armored_string(ArmorOptions::default()).expect("can be written")
    }

    fn sign(&self, document: &[u8]) -> Vec<u8> {
        let (key, password) = (&self.0.primary_key, Password::empty());
        let sha256 = HashAlgorithm::Sha256;
        let signature =
            DetachedSignature::sign_binary_data(OsRng, key, &password, sha256, document);
        signature.expect("can be signed").to_bytes().expect("can be written")
    }
}

/// A release of a provider in a registry.
pub struct Release<'k> {
    pub version: &'static str,
    /// The versions of the plugin protocol.
    pub protocols: &'static [&'static str],
    /// The key that the registry names and that signs. `None` if the registry knows no key.
    pub key: Option<&'k AuthorKey>,
    /// True if the registry lists the packages of all platforms with their hashes.
    pub lists_packages: bool,
}

impl Default for Release<'_> {
    fn default() -> Self {
        Release { version: "1.2.0", protocols: &["5.0"], key: None, lists_packages: false }
    }
}

/// A package with a file that is no program.
pub fn package(version: &str, platform: &str) -> Vec<u8> {
    packed(&format!("terraform-provider-thing_v{version}"), format!("no program for {platform}"))
}

/// A zip file with one file.
///
/// # Panics
/// If the file is larger than a zip file can have.
pub fn packed(name: &str, content: impl AsRef<[u8]>) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file(name, SimpleFileOptions::default().unix_permissions(0o755)).expect("in memory");
    zip.write_all(content.as_ref()).expect("in memory");
    zip.finish().expect("in memory").into_inner()
}

/// The digest as hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("in memory");
        text
    })
}

fn document(value: &Value) -> Vec<u8> {
    answer("application/json", value.to_string().as_bytes())
}

/// The pages of a host with the services of registries, and the releases of `tests/thing`.
pub fn pages(releases: &[Release<'_>]) -> Pages {
    pages_with(releases, package)
}

/// As [`pages`], with these packages for each version and platform.
pub fn pages_with(releases: &[Release<'_>], package: impl Fn(&str, &str) -> Vec<u8>) -> Pages {
    let mut pages = pages_of("thing", releases, package);
    pages.extend(discovery());
    pages
}

/// The page with the services of the host.
pub fn discovery() -> Pages {
    let services = json!({"providers.v1": "/v1/providers/", "modules.v1": "/v1/modules/"});
    Pages::from([("/.well-known/terraform.json".to_owned(), document(&services))])
}

/// The releases of a provider in the namespace `tests`, with these packages for each version and platform.
pub fn pages_of(
    name: &str,
    releases: &[Release<'_>],
    package: impl Fn(&str, &str) -> Vec<u8>,
) -> Pages {
    let mut pages = Pages::new();
    let mut versions = Vec::new();
    for release in releases {
        let platforms = PLATFORMS.map(|it| {
            let (os, arch) = it.split_once('_').expect("a platform");
            json!({"os": os, "arch": arch})
        });
        let Release { version, protocols, .. } = release;
        versions.push(json!({"version": version, "protocols": protocols, "platforms": platforms}));
        add_release(&mut pages, name, release, &package);
    }
    let versions = json!({"id": format!("tests/{name}"), "versions": versions, "warnings": null});
    pages.insert(format!("/v1/providers/tests/{name}/versions"), document(&versions));
    pages
}

fn add_release(
    pages: &mut Pages,
    provider: &str,
    release: &Release<'_>,
    package: &dyn Fn(&str, &str) -> Vec<u8>,
) {
    let version = release.version;
    let name = |platform: &str| format!("terraform-provider-{provider}_{version}_{platform}.zip");
    let packages = PLATFORMS.map(|it| (it, package(version, it)));
    let sums = packages.iter().fold(String::new(), |mut text, (platform, package)| {
        writeln!(text, "{}  {}", sha256(package), name(platform)).expect("in memory");
        text
    });
    let signature = release.key.map(|it| it.sign(sums.as_bytes())).unwrap_or_default();
    let listed: serde_json::Map<String, Value> = packages
        .iter()
        .map(|(platform, package)| {
            let zh = format!("zh:{}", sha256(package));
            let h1 = format!("h1:{}", STANDARD.encode(Sha256::digest(platform)));
            let entry = json!({"hashes": [zh, h1], "package_size": package.len()});
            ((*platform).to_owned(), entry)
        })
        .collect();
    let folder = match provider {
        "thing" => format!("/files/{version}"),
        other => format!("/files/{other}/{version}"),
    };
    for (platform, package) in &packages {
        let (os, arch) = platform.split_once('_').expect("a platform");
        let keys: Vec<Value> = release
            .key
            .iter()
            .map(|it| json!({"key_id": it.id(), "ascii_armor": it.public()}))
            .collect();
        let mut told = json!({
            "protocols": release.protocols, "os": os, "arch": arch, "filename": name(platform),
            "download_url": format!("{folder}/{}", name(platform)), "shasum": sha256(package),
            "shasums_url": format!("{folder}/SHA256SUMS"),
            "shasums_signature_url": format!("{folder}/SHA256SUMS.sig"),
            "signing_keys": {"gpg_public_keys": keys},
        });
        if release.lists_packages {
            told["packages"] = listed.clone().into();
        }
        let path = format!("/v1/providers/tests/{provider}/{version}/download/{os}/{arch}");
        pages.insert(path, document(&told));
        pages.insert(format!("{folder}/{}", name(platform)), answer("application/zip", package));
    }
    pages.insert(format!("{folder}/SHA256SUMS"), answer("text/plain", sums.as_bytes()));
    pages.insert(
        format!("{folder}/SHA256SUMS.sig"),
        answer("application/pgp-signature", &signature),
    );
}
