//! Module packages in buckets of S3: `s3::https://s3.REGION.amazonaws.com/BUCKET/KEY`.

use addr::ModulePackage;
use http_client::Url;
use object_storage::{AwsKeys, S3Address, S3Endpoint};

use super::bucket_place::{Place, decoded};

/// The domains under which AWS has its services.
const DOMAINS: [&str; 3] = ["amazonaws.com", "amazonaws.com.cn", "amazonaws.eu"];

/// The parameters of the address of a package in a bucket of S3.
pub(super) const PARAMETERS: [&str; 7] = [
    "archive",
    "aws_access_key_id",
    "aws_access_key_secret",
    "aws_access_token",
    "aws_profile",
    "region",
    "version",
];

/// The parts that the host of an address of AWS has.
#[derive(Debug, PartialEq, Eq)]
struct AwsHost {
    domain: &'static str,
    region: Option<String>,
    /// The bucket. `None` if the path begins with it.
    bucket: Option<String>,
}

/// Parses the address of a package. The error is a sentence fragment.
pub(super) fn place(package: &ModulePackage) -> Result<(S3Address, Place), String> {
    let url = Url::parse(&package.location).map_err(|error| error.to_string())?;
    let value = |name: &str| package.query.get(name).filter(|it| !it.is_empty()).cloned();
    let path = decoded(url.path().trim_start_matches('/'))?;
    let host = aws_host(&url)?;
    let in_path = path.split_once('/').map(|(bucket, name)| (bucket.to_owned(), name.to_owned()));
    let parts = match host.as_ref().and_then(|it| it.bucket.clone()) {
        Some(bucket) => Some((bucket, path)),
        None => in_path,
    };
    let (bucket, name) = parts.ok_or("its path must have the form BUCKET/KEY")?;
    let (endpoint, region) = match host {
        Some(host) => (S3Endpoint::Aws { domain: host.domain }, host.region),
        None => {
            let server = url.join("/").map_err(|error| error.to_string())?;
            (S3Endpoint::Server(server), None)
        }
    };
    let region = match (region, value("region")) {
        (Some(host), Some(named)) if host != named => {
            return Err(format!("its host is in the region {host}, and \"region\" is {named}"));
        }
        (host, named) => host.or(named),
    };
    let (profile, keys) = (value("aws_profile"), keys(package)?);
    let address = S3Address { endpoint, region, bucket, profile, keys };
    Ok((address, Place { name, version: value("version") }))
}

/// The keys in the address. `None` if it has none.
fn keys(package: &ModulePackage) -> Result<Option<AwsKeys>, &'static str> {
    let value = |name: &str| package.query.get(name).filter(|it| !it.is_empty()).cloned();
    let names = ["aws_access_key_id", "aws_access_key_secret", "aws_access_token"];
    match names.map(value) {
        [None, None, None] => Ok(None),
        [Some(id), Some(secret), token] => Ok(Some(AwsKeys { id, secret, token })),
        _ => Err("\"aws_access_key_id\" and \"aws_access_key_secret\" must both be given"),
    }
}

/// Returns true if the address of a package is one of AWS.
pub(super) fn is_at_aws(package: &ModulePackage) -> bool {
    let url = Url::parse(&package.location);
    url.is_ok_and(|it| it.is_https() && matches!(aws_host(&it), Ok(Some(_))))
}

/// Reads the host of an address of AWS. `None` for other servers.
fn aws_host(url: &Url) -> Result<Option<AwsHost>, &'static str> {
    let host = url.host().to_ascii_lowercase();
    let within = |domain: &&'static str| {
        let labels = host.strip_suffix(domain)?.strip_suffix('.')?;
        Some((*domain, labels.split('.').map(str::to_owned).collect::<Vec<_>>()))
    };
    let Some((domain, labels)) = DOMAINS.iter().find_map(within) else { return Ok(None) };
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let (bucket, region) = match labels.as_slice() {
        ["s3"] => (None, None),
        ["s3", "dualstack", region] => (None, Some(*region)),
        ["s3", region] => (None, Some(*region)),
        [bucket @ .., "s3", "dualstack", region] => (Some(bucket.join(".")), Some(*region)),
        [bucket @ .., "s3", region] => (Some(bucket.join(".")), Some(*region)),
        [bucket @ .., "s3"] => (Some(bucket.join(".")), None),
        [region] if is_old_region(region) => (None, Some(*region)),
        [bucket @ .., region] if is_old_region(region) => (Some(bucket.join(".")), Some(*region)),
        // Anything else would be taken for the name of a bucket, which may be that of a stranger.
        _ => return Err("its host is none of S3"),
    };
    // Older addresses have a dash in place of the dot.
    let region = region.map(|it| it.strip_prefix("s3-").unwrap_or(it).to_owned());
    Ok(Some(AwsHost { domain, region, bucket }))
}

/// Returns true for the label of older addresses that has a region after a dash.
fn is_old_region(label: &str) -> bool {
    let others = ["fips", "accelerate", "object-lambda", "outposts", "accesspoint", "website"];
    let rest = label.strip_prefix("s3-");
    rest.is_some_and(|it| !others.iter().any(|other| it.starts_with(other)))
}

#[cfg(test)]
mod tests {
    use addr::ModuleSource;

    use super::*;

    /// The endpoint, region, bucket and name of a source, or the error.
    fn parts(source: &str) -> String {
        let package = ModuleSource::parse(source).expect(source).package;
        let (address, object) = match place(&package) {
            Ok(parts) => parts,
            Err(error) => return error,
        };
        let endpoint = match address.endpoint {
            S3Endpoint::Aws { domain } => domain.to_owned(),
            S3Endpoint::Server(url) => url.to_string(),
        };
        let region = address.region.unwrap_or_else(|| "-".to_owned());
        let version = object.version.map(|it| format!(" at {it}")).unwrap_or_default();
        let keys = if address.keys.is_some() { " with keys" } else { "" };
        format!("{endpoint} {region} {} {:?}{version}{keys}", address.bucket, object.name)
    }

    #[test]
    fn addresses_name_a_server_a_region_a_bucket_and_an_object() {
        for (source, expected) in [
            ("s3::https://s3.amazonaws.com/b/k/x.zip", "amazonaws.com - b \"k/x.zip\""),
            ("s3.amazonaws.com/b/k", "amazonaws.com - b \"k\""),
            ("s3-eu-west-1.amazonaws.com/b/k", "amazonaws.com eu-west-1 b \"k\""),
            ("s3::https://s3.eu-west-1.amazonaws.com/b/", "amazonaws.com eu-west-1 b \"\""),
            ("b.s3-eu-west-1.amazonaws.com/k", "amazonaws.com eu-west-1 b \"k\""),
            ("b.s3.eu-west-1.amazonaws.com/k?version=1", "amazonaws.com eu-west-1 b \"k\" at 1"),
            ("s3::https://a.b.s3.eu-west-1.amazonaws.com/k", "amazonaws.com eu-west-1 a.b \"k\""),
            ("s3::https://b.s3-eu-west-1.amazonaws.com/k", "amazonaws.com eu-west-1 b \"k\""),
            ("s3::https://B.S3.amazonaws.com/a%20b+c", "amazonaws.com - b \"a b+c\""),
            (
                "s3::https://s3.cn-north-1.amazonaws.com.cn/b/k",
                "amazonaws.com.cn cn-north-1 b \"k\"",
            ),
            ("s3::https://s3.amazonaws.com/b/k?region=r", "amazonaws.com r b \"k\""),
            ("s3::https://s3-r.amazonaws.com/b/k?region=r", "amazonaws.com r b \"k\""),
            (
                "s3::https://s3-r.amazonaws.com/b/k?region=q",
                "its host is in the region r, and \"region\" is q",
            ),
            ("s3::https://evilamazonaws.com/b/k", "https://evilamazonaws.com/ - b \"k\""),
            (
                "s3::http://127.0.0.1:9000/b/k?region=r&aws_access_key_id=i&aws_access_key_secret=s",
                "http://127.0.0.1:9000/ r b \"k\" with keys",
            ),
            (
                "s3::https://s3.dualstack.eu-west-1.amazonaws.com/b/k",
                "amazonaws.com eu-west-1 b \"k\"",
            ),
            (
                "s3::https://b.s3.dualstack.eu-west-1.amazonaws.com/k",
                "amazonaws.com eu-west-1 b \"k\"",
            ),
            ("s3::https://s3-fips.us-gov-west-1.amazonaws.com/b/k", "its host is none of S3"),
            ("s3::https://b.s3-accelerate.amazonaws.com/k", "its host is none of S3"),
            ("s3::https://b.eu-west-1.amazonaws.com/k", "its host is none of S3"),
            ("s3::https://s3.amazonaws.com/b", "its path must have the form BUCKET/KEY"),
            ("s3::https://s3.amazonaws.com/b/%FF", "its path is not UTF-8"),
            (
                "s3::https://h/b/k?aws_access_key_id=i",
                "\"aws_access_key_id\" and \"aws_access_key_secret\" must both be given",
            ),
            ("s3::https://u:p@h/b/k", "the URL contains user information"),
        ] {
            assert_eq!(parts(source), expected, "{source}");
        }
    }
}
