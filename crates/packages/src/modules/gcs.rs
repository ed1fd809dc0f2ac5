//! Module packages in buckets of Google Cloud Storage: `gcs::https://www.googleapis.com/storage/v1/BUCKET/OBJECT`.

use addr::ModulePackage;
use http_client::Url;

use super::bucket_place::{Place, decoded};

/// Parses the address of a package. Returns the bucket and the place in it. The error is a sentence fragment.
pub(super) fn place(package: &ModulePackage) -> Result<(String, Place), String> {
    // The fragment selects a generation of the object.
    let (location, generation) = match package.location.split_once('#') {
        Some((location, generation)) => (location, Some(generation)),
        None => (&*package.location, None),
    };
    let url = Url::parse(location).map_err(|error| error.to_string())?;
    let is_google = url.is_https() && url.host_and_port().strip_suffix(".googleapis.com").is_some();
    let parts: Vec<&str> = url.path().splitn(5, '/').collect();
    let ["", "storage", "v1", bucket, name] = parts.as_slice() else {
        return Err(malformed());
    };
    if !is_google || generation.is_some_and(|it| it.parse::<u64>().is_err()) {
        return Err(malformed());
    }
    let place = Place { name: decoded(name)?, version: generation.map(str::to_owned) };
    Ok((decoded(bucket)?, place))
}

/// The form of an address.
pub(super) const EXAMPLE: &str = "gcs::https://www.googleapis.com/storage/v1/BUCKET/OBJECT";

fn malformed() -> String {
    format!("it must have the form \"{EXAMPLE}\"")
}

#[cfg(test)]
mod tests {
    use addr::ModuleSource;

    use super::*;

    #[test]
    fn addresses_name_a_bucket_and_an_object() {
        let form = Err(malformed());
        let found = |bucket: &str, name: &str, version: Option<&str>| {
            Ok((bucket.to_owned(), name.to_owned(), version.map(str::to_owned)))
        };
        let prefix = "gcs::https://www.googleapis.com/storage";
        for (source, expected) in [
            (format!("{prefix}/v1/b/k/x.zip"), found("b", "k/x.zip", None)),
            ("www.googleapis.com/storage/v1/b/a%20b//sub".to_owned(), found("b", "a b", None)),
            (format!("{prefix}/v1/b/x.zip#7"), found("b", "x.zip", Some("7"))),
            (format!("{prefix}/v1/b/x.zip#x"), form.clone()),
            (format!("{prefix}/v2/b/x.zip"), form.clone()),
            (format!("{prefix}/v1/b"), form.clone()),
            ("gcs::https://example.com/storage/v1/b/k".to_owned(), form.clone()),
            ("gcs::http://www.googleapis.com/storage/v1/b/k".to_owned(), form.clone()),
            ("gcs::https://www.googleapis.com:1/storage/v1/b/k".to_owned(), form),
        ] {
            let package = ModuleSource::parse(&source).expect(&source).package;
            let parts = place(&package).map(|(bucket, it)| (bucket, it.name, it.version));
            assert_eq!(parts, expected, "{source}");
        }
    }
}
