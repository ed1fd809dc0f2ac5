use super::*;
use crate::blocking::run;

const SUMS: &str = include_str!("../signatures/data/SHA256SUMS");
const FILE: &str = "terraform-provider-thing_1.2.0_linux_amd64.zip";
const LINUX: &str = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";
const DARWIN: &str = "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9";

fn platform() -> Platform {
    Platform::parse("linux_amd64").expect("a platform")
}

/// A release of the default registry with the key of its author.
fn release() -> Release {
    let url = |it: &str| Url::parse(it).expect("a URL");
    Release {
        platform: platform(),
        file_name: FILE.to_owned(),
        sha256: LINUX.to_owned(),
        sums: url("https://r.example/SHA256SUMS"),
        signature: url("https://r.example/SHA256SUMS.sig"),
        keys: vec![include_str!("../signatures/data/split.asc").to_owned()],
        packages: TreeMap::new(),
        requires_signature: false,
        refuses_expired: false,
    }
}

fn listed(size: u64, hashes: &[&str]) -> TreeMap<Platform, ListedPackage> {
    let hashes = hashes.iter().map(|it| Hash::parse(it).expect("a hash")).collect();
    let other = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
    // A lock file gets no hash of another form.
    let other = [other, "h1:${x}"].map(|it| Hash::parse(it).expect("a hash")).into();
    let darwin = Platform::parse("darwin_arm64").expect("a platform");
    TreeMap::from([
        (platform(), ListedPackage { hashes, size }),
        (darwin, ListedPackage { hashes: other, size: 1 }),
    ])
}

/// Compares a package of seven bytes with a release, and describes the result.
fn verified(release: &Release, sums: &str) -> String {
    verified_with(release, sums, include_bytes!("../signatures/data/split.sig"))
}

fn verified_with(release: &Release, sums: &str, signature: &[u8]) -> String {
    let documents = ReleaseDocuments { sums: sums.into(), signature: signature.to_vec() };
    let zip_hash = zip_hash(LINUX).expect("a hash");
    let package = DownloadedPackage { size: 7, zip_hash };
    match run(release.verify(documents, &package)) {
        Ok(Evidence { told, authentication, .. }) => {
            let told: Vec<&str> = told.iter().map(|it| &it.as_str()[..7]).collect();
            format!("{authentication}: {}", told.join(" "))
        }
        Err(error) => error,
    }
}

#[test]
fn locked_hashes_depend_on_the_signature() {
    let signed = "signed, key ID 6252894218315367: zh:2c26 zh:fcde";
    assert_eq!(verified(&release(), SUMS), signed);
    let keyless = Release { keys: Vec::new(), ..release() };
    assert_eq!(verified(&keyless, SUMS), "signing skipped: zh:2c26 zh:fcde");
    let with_list = Release { packages: listed(7, &[&format!("zh:{LINUX}")]), ..release() };
    assert_eq!(
        verified(&with_list, SUMS),
        "signed, key ID 6252894218315367: h1:47DE zh:2c26 zh:fcde"
    );
    // The signature does not cover the list of packages.
    let strict = Release { requires_signature: true, ..with_list };
    assert_eq!(verified(&strict, SUMS), signed);
}

#[test]
fn expired_key_is_shown_and_refused_on_request() {
    let keys = vec![include_str!("../signatures/data/expired.asc").to_owned()];
    let expired = Release { keys, ..release() };
    let verified = |release: &Release| {
        verified_with(release, SUMS, include_bytes!("../signatures/data/expired.sig"))
    };
    assert_eq!(verified(&expired), "signed, expired key ID B7F5BD2E87FA5455: zh:2c26 zh:fcde");
    let strict = Release { refuses_expired: true, ..expired };
    let error = verified(&strict);
    assert!(error.contains("the signing key B7F5BD2E87FA5455 has expired"), "{error}");
}

#[test]
fn differences_are_refused() {
    let keyless = Release { keys: Vec::new(), ..release() };
    let changed = SUMS.replace(LINUX, DARWIN);
    for (release, sums, expected) in [
        (release(), "", "checksum list has no SHA-256 hash for \"terraform-provider-thing"),
        (release(), &changed, "checksum list has unexpected SHA-256 hash fcde"),
        (release(), &format!("{SUMS}\n"), "is not signed with a valid signing key"),
        (
            Release { sha256: DARWIN.to_owned(), ..release() },
            &changed,
            "incorrect checksum zh:2c26",
        ),
        (Release { requires_signature: true, ..keyless }, SUMS, "unknown issuer"),
        (
            Release { packages: listed(8, &[]), ..release() },
            SUMS,
            "a package of size 8, but received",
        ),
        (
            Release { packages: listed(7, &[]), ..release() },
            SUMS,
            "lists no package with the checksum",
        ),
        (
            Release { packages: listed(7, &[&format!("zh:{DARWIN}")]), ..release() },
            SUMS,
            "lists no package with the checksum",
        ),
        (
            Release {
                packages: listed(7, &[]).into_iter().skip(1).collect(),
                platform: Platform::parse("plan9_386").expect("a platform"),
                ..release()
            },
            SUMS,
            "missing package with platform \"plan9_386\"",
        ),
    ] {
        let error = verified(&release, sums);
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn unprotected_checksums_are_refused() {
    let plain = Url::parse("http://r.example/SHA256SUMS").expect("a URL");
    let signed = Release { sums: plain, ..release() };
    assert_eq!(signed.check_urls(), Ok(()));
    let keyless = Release { keys: Vec::new(), ..signed };
    assert!(keyless.check_urls().is_err());
}
