//! The backends that `backend` blocks can name, and the schemas of backends and `cloud` blocks.
//!
//! No argument is required here: `-backend-config` or the environment may supply it.

use std::sync::LazyLock;

use db::Summary;
use provider::{
    Attribute, AttributeType, Block, NestedBlock, NestedObject, Nesting, ObjectNesting,
};
use sorted::{SortedMap, TreeMap};
use values::{Str, Type};

/// The backend types.
pub const KINDS: [&str; 12] = [
    "local",
    "remote",
    "azurerm",
    "consul",
    "cos",
    "gcs",
    "http",
    "inmem",
    "kubernetes",
    "oss",
    "pg",
    "s3",
];

/// The message for a backend type that older versions had. `None` for all other types.
pub fn removed(kind: &str) -> Option<String> {
    match kind {
        "azure" => {
            Some("The \"azure\" backend name has been removed, please use \"azurerm\".".to_owned())
        }
        "artifactory" | "etcd" | "etcdv3" | "manta" | "swift" => {
            Some(format!("The \"{kind}\" backend is not supported in OpenTofu v1.3 or later."))
        }
        _ => None,
    }
}

/// The schema of a backend type. `None` if the type does not exist.
pub fn schema(kind: &str) -> Option<&'static Block> {
    BACKENDS.get(kind)
}

/// The schema of `cloud` blocks.
pub fn cloud() -> &'static Block {
    &CLOUD
}

/// Checks a known string argument. Returns summary and detail of the problem, `None` if the value is acceptable.
/// The messages follow OpenTofu's and do not quote the value.
pub fn text_problem(kind: &str, argument: &str, text: &str) -> Option<(Summary, String)> {
    let slashes = text.starts_with('/') || text.ends_with('/');
    let why = match (kind, argument) {
        ("s3", "bucket" | "key") if text.is_empty() => "must not be empty",
        ("s3", "key" | "workspace_key_prefix") if slashes => "must not start or end with \"/\"",
        ("cos" | "oss", "key") if slashes => "must not start or end with \"/\"",
        ("cos" | "oss", "prefix") if text.starts_with('/') || text.starts_with("./") => {
            "must not start with \"/\" or \"./\""
        }
        ("cos", "acl") if !["private", "public-read"].contains(&text) => {
            "must be private or public-read"
        }
        ("oss", "acl") if !["", "private", "public-read", "public-read-write"].contains(&text) => {
            "must be private, public-read or public-read-write"
        }
        ("remote", "organization") if text.is_empty() => "must not be empty",
        ("http", "address") if !is_web_address(text) => "must be an HTTP or HTTPS address",
        ("http", "lock_address" | "unlock_address")
            if !text.is_empty() && !is_web_address(text) =>
        {
            "must be an HTTP or HTTPS address"
        }
        _ => return None,
    };
    let detail = format!("The \"{argument}\" attribute value {why}.");
    Some((Summary::unfit_backend_argument(argument), detail))
}

fn is_web_address(text: &str) -> bool {
    let scheme = text.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    scheme.is_some_and(|it| ["http", "https"].contains(&&*it))
}

/// Pairs of arguments of a backend that exclude each other.
pub fn exclusive(kind: &str) -> &'static [(&'static str, &'static str)] {
    match kind {
        "s3" => {
            &[("kms_key_id", "sse_customer_key"), ("allowed_account_ids", "forbidden_account_ids")]
        }
        "gcs" => &[("encryption_key", "kms_encryption_key")],
        "azurerm" => {
            &[("environment", "metadata_host"), ("customer_provided_key", "encryption_scope")]
        }
        _ => &[],
    }
}

const TEXT: Type = Type::String;

const SWITCH: Type = Type::Bool;

const NUMBER: Type = Type::Number;

static CLOUD: LazyLock<Block> = LazyLock::new(|| {
    let workspaces = block(texts("name project").chain([("tags", set())]));
    nesting(texts("hostname organization token"), [("workspaces", Nesting::Single, workspaces)])
});

static BACKENDS: LazyLock<TreeMap<&'static str, Block>> = LazyLock::new(|| {
    TreeMap::from([
        ("local", block(texts("path workspace_dir"))),
        ("remote", remote()),
        ("azurerm", azurerm()),
        ("consul", consul()),
        ("cos", cos()),
        ("gcs", gcs()),
        ("http", http()),
        ("inmem", block(texts("lock_id"))),
        ("kubernetes", kubernetes()),
        ("oss", oss()),
        ("pg", pg()),
        ("s3", s3()),
    ])
});

fn remote() -> Block {
    let workspaces = block(texts("name prefix"));
    nesting(texts("hostname organization token"), [("workspaces", Nesting::Single, workspaces)])
}

fn azurerm() -> Block {
    let names = "storage_account_name container_name key metadata_host environment access_key \
                 sas_token resource_group_name client_id client_id_file_path endpoint \
                 subscription_id tenant_id client_certificate client_certificate_password \
                 client_certificate_path client_secret client_secret_file_path msi_endpoint \
                 oidc_token oidc_token_file_path oidc_request_url oidc_request_token \
                 ado_service_connection_id customer_provided_key encryption_scope";
    let switches = "snapshot use_msi use_oidc use_aks_workload_identity use_azuread_auth use_cli";
    block(texts(names).chain(all(switches, &SWITCH)).chain(all("timeout_seconds", &NUMBER)))
}

fn consul() -> Block {
    let names = "path access_token address scheme datacenter http_auth ca_file cert_file key_file";
    block(texts(names).chain(all("gzip lock", &SWITCH)))
}

fn cos() -> Block {
    let names = "secret_id secret_key security_token region bucket prefix key acl domain endpoint";
    let role = block(
        texts("role_arn session_name policy external_id").chain(all("session_duration", &NUMBER)),
    );
    let arguments = texts(names).chain(all("encrypt accelerate", &SWITCH));
    nesting(arguments, [("assume_role", Nesting::Set, role)])
}

fn gcs() -> Block {
    let names = "bucket prefix credentials access_token impersonate_service_account encryption_key \
                 kms_encryption_key storage_custom_endpoint universe_domain";
    let delegates = [("impersonate_service_account_delegates", Attribute::optional(list()))];
    block(texts(names).chain(delegates))
}

fn http() -> Block {
    let names = "address update_method lock_address unlock_address lock_method unlock_method \
                 username password client_ca_certificate_pem client_certificate_pem client_private_key_pem";
    let numbers = all("retry_max retry_wait_min retry_wait_max", &NUMBER);
    let headers = [("headers", Attribute::optional(map()))];
    block(texts(names).chain(all("skip_cert_verification", &SWITCH)).chain(numbers).chain(headers))
}

fn kubernetes() -> Block {
    let names = "secret_suffix namespace host username password client_certificate client_key \
                 cluster_ca_certificate config_path config_context config_context_auth_info \
                 config_context_cluster token";
    let more =
        [("labels", Attribute::optional(map())), ("config_paths", Attribute::optional(list()))];
    let exec = block(
        texts("api_version command")
            .chain([("env", Attribute::optional(map())), ("args", Attribute::optional(list()))]),
    );
    let switches = all("in_cluster_config load_config_file insecure", &SWITCH);
    nesting(texts(names).chain(more).chain(switches), [("exec", Nesting::List, exec)])
}

fn oss() -> Block {
    let names = "access_key secret_key security_token ecs_role_name region sts_endpoint \
                 tablestore_endpoint endpoint bucket prefix key tablestore_table acl \
                 shared_credentials_file profile assume_role_role_arn assume_role_session_name assume_role_policy";
    let role =
        block(texts("role_arn session_name policy").chain(all("session_expiration", &NUMBER)));
    let arguments = texts(names)
        .chain(all("encrypt", &SWITCH))
        .chain(all("assume_role_session_expiration", &NUMBER));
    nesting(arguments, [("assume_role", Nesting::Set, role)])
}

fn pg() -> Block {
    let switches = all("skip_schema_creation skip_table_creation skip_index_creation", &SWITCH);
    block(texts("conn_str schema_name table_name index_name").chain(switches))
}

fn s3() -> Block {
    let names = "bucket key region dynamodb_endpoint endpoint iam_endpoint sts_endpoint sts_region \
                 acl access_key secret_key kms_key_id dynamodb_table profile \
                 shared_credentials_file token sse_customer_key role_arn session_name external_id \
                 assume_role_policy workspace_key_prefix retry_mode custom_ca_bundle \
                 ec2_metadata_service_endpoint ec2_metadata_service_endpoint_mode http_proxy https_proxy no_proxy";
    let switches = "encrypt skip_credentials_validation skip_metadata_api_check \
                    skip_region_validation skip_requesting_account_id force_path_style \
                    use_path_style insecure use_dualstack_endpoint use_fips_endpoint skip_s3_checksum use_lockfile";
    let sets = "shared_credentials_files shared_config_files assume_role_policy_arns \
                assume_role_transitive_tag_keys forbidden_account_ids allowed_account_ids";
    let arguments = texts(names)
        .chain(all(switches, &SWITCH))
        .chain(all("assume_role_duration_seconds max_retries", &NUMBER))
        .chain(all("state_tags lock_tags assume_role_tags", &map()))
        .chain(all(sets, &Type::set(TEXT)))
        .chain([
            ("endpoints", object(texts("s3 iam sts dynamodb"))),
            ("assume_role", assume_role()),
            ("assume_role_with_web_identity", assume_role_with_web_identity()),
        ]);
    block(arguments)
}

/// The `assume_role` argument, which the `aws_kms` key provider of state encryption shares.
pub(crate) fn assume_role() -> Attribute {
    let optional = texts("duration external_id policy session_name");
    object(optional.chain([
        ("role_arn", Attribute::required(TEXT)),
        ("policy_arns", set()),
        ("tags", Attribute::optional(map())),
        ("transitive_tag_keys", set()),
    ]))
}

/// The `assume_role_with_web_identity` argument, which the `aws_kms` key provider of state encryption shares.
pub(crate) fn assume_role_with_web_identity() -> Attribute {
    let optional =
        texts("role_arn duration policy session_name web_identity_token web_identity_token_file");
    object(optional.chain([("policy_arns", set())]))
}

fn texts(names: &'static str) -> impl Iterator<Item = (&'static str, Attribute)> {
    names.split_whitespace().map(|name| (name, Attribute::optional(TEXT)))
}

fn all(names: &'static str, ty: &Type) -> impl Iterator<Item = (&'static str, Attribute)> + use<> {
    let ty = ty.clone();
    names.split_whitespace().map(move |name| (name, Attribute::optional(ty.clone())))
}

fn set() -> Attribute {
    Attribute::optional(Type::set(TEXT))
}

fn list() -> Type {
    Type::list(TEXT)
}

fn map() -> Type {
    Type::map(TEXT)
}

fn object(parts: impl Iterator<Item = (&'static str, Attribute)>) -> Attribute {
    let object = NestedObject::new(ObjectNesting::Single, named(parts));
    Attribute { optional: true, ..Attribute::new(AttributeType::Nested(object)) }
}

fn named(attributes: impl Iterator<Item = (&'static str, Attribute)>) -> SortedMap<Str, Attribute> {
    attributes.map(|(name, it)| (Str::from(name), it)).collect()
}

fn block(attributes: impl Iterator<Item = (&'static str, Attribute)>) -> Block {
    Block::new(named(attributes), SortedMap::new())
}

fn nesting<const N: usize>(
    attributes: impl Iterator<Item = (&'static str, Attribute)>,
    blocks: [(&'static str, Nesting, Block); N],
) -> Block {
    let one = |(name, nesting, block)| {
        let max_items = if nesting == Nesting::Single { 0 } else { 1 };
        (Str::from(name), NestedBlock { max_items, ..NestedBlock::new(nesting, block) })
    };
    Block::new(named(attributes), blocks.into_iter().map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_supported_backend_has_arguments_and_no_removed_one_has() {
        for kind in KINDS {
            assert!(schema(kind).is_some_and(|it| !it.attributes().is_empty()), "{kind}");
            assert_eq!(removed(kind), None);
        }
        assert_eq!(BACKENDS.len(), KINDS.len());
        assert!(schema("etcd").is_none() && removed("etcd").is_some());
    }

    #[test]
    fn mutually_exclusive_backend_arguments_exist() {
        for kind in KINDS {
            let known = schema(kind).map(|it| it.attributes()).expect("has arguments");
            for (one, other) in exclusive(kind) {
                assert!(known.contains_key(*one) && known.contains_key(*other), "{kind} {one}");
            }
        }
    }

    #[test]
    fn backend_argument_texts_are_validated_as_in_opentofu() {
        let cases = [
            ("s3", "key", "a/b", false),
            ("s3", "key", "/a", true),
            ("s3", "key", "", true),
            ("s3", "region", "", false),
            ("http", "address", "HTTPS://x", false),
            ("http", "address", "x", true),
            ("http", "lock_address", "", false),
            ("cos", "acl", "public", true),
        ];
        for (kind, argument, text, is_unfit) in cases {
            assert_eq!(
                text_problem(kind, argument, text).is_some(),
                is_unfit,
                "{kind} {argument} {text}"
            );
        }
    }
}
