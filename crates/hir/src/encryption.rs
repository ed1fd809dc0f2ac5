//! The schemas of the key providers and methods of an `encryption` block.

use std::sync::LazyLock;

use sorted::SortedMap;

use provider::{Attribute, Block, NestedBlock, Nesting};
use values::{Str, Type};

use crate::backends;

/// The key provider types.
pub const KEY_PROVIDERS: &[&str] =
    &["pbkdf2", "aws_kms", "gcp_kms", "azure_vault", "openbao", "external"];

/// The method types.
pub const METHODS: &[&str] = &["aes_gcm", "unencrypted", "external"];

/// The schema of a key provider type. `None` if the type does not exist.
pub fn key_provider(kind: &str) -> Option<&'static Block> {
    match kind {
        "pbkdf2" => Some(&PBKDF2),
        "aws_kms" => Some(&AWS_KMS),
        "gcp_kms" => Some(&GCP_KMS),
        "azure_vault" => Some(&AZURE_VAULT),
        "openbao" => Some(&OPENBAO),
        "external" => Some(&EXTERNAL_KEYS),
        _ => None,
    }
}

/// The schema of a method type. `None` if the type does not exist. The `keys` argument is `Dynamic`, because it is
/// a reference to a key provider, which the caller checks.
pub fn method(kind: &str) -> Option<&'static Block> {
    match kind {
        "aes_gcm" => Some(&AES_GCM),
        "unencrypted" => Some(&UNENCRYPTED),
        "external" => Some(&EXTERNAL_METHOD),
        _ => None,
    }
}

/// The argument that refers to a key provider, and true if it is required. `None` if the type has no such
/// argument. `is_method` selects between methods and key providers.
pub fn key_argument(is_method: bool, kind: &str) -> Option<(&'static str, bool)> {
    match (is_method, kind) {
        (false, "pbkdf2") => Some(("chain", false)),
        (true, "aes_gcm") => Some(("keys", true)),
        (true, "external") => Some(("keys", false)),
        _ => None,
    }
}

/// Returns the problem of a constant argument, in OpenTofu's words. `None` if the value is acceptable.
pub fn argument_problem(kind: &str, argument: &str, value: &Constant<'_>) -> Option<String> {
    let problem = match (kind, argument, value) {
        ("pbkdf2", "passphrase", Constant::Text(text)) if text.len() < 16 => {
            "passphrase is too short (minimum 16 characters)".to_owned()
        }
        ("pbkdf2", "key_length", Constant::Number(..=0)) => {
            "the key length must be larger than zero".to_owned()
        }
        ("pbkdf2", "salt_length", Constant::Number(..=0)) => {
            "the salt length must be larger than zero".to_owned()
        }
        ("pbkdf2", "iterations", Constant::Number(..=0)) => {
            "the number of iterations must be larger than zero".to_owned()
        }
        ("pbkdf2", "iterations", Constant::Number(..200_000)) => {
            "the number of iterations is dangerously low (<200000), refusing to generate key"
                .to_owned()
        }
        ("pbkdf2", "hash_function", Constant::Text(name))
            if !["sha256", "sha512"].contains(name) =>
        {
            format!("invalid hash function name: {name} (use sha256 or sha512)")
        }
        ("aws_kms", "key_spec", Constant::Text(spec)) if !["AES_256", "AES_128"].contains(spec) => {
            format!("invalid key_spec {spec}, expected one of [AES_256 AES_128]")
        }
        ("gcp_kms" | "azure_vault", "key_length", Constant::Number(..1)) => {
            "key_length must be at least 1".to_owned()
        }
        ("gcp_kms" | "azure_vault", "key_length", Constant::Number(1025..)) => {
            "key_length must be less than the limit of 1024".to_owned()
        }
        ("openbao", "key_length", Constant::Number(length))
            if ![0, 16, 32, 64].contains(length) =>
        {
            format!("data key length should one of 16, 32 or 64 bytes: got {length}")
        }
        ("external", _, Constant::Texts([])) => format!("the {argument} option is required"),
        ("external", _, Constant::Texts(["", ..])) => {
            format!("the first entry of {argument} must not be empty")
        }
        (
            _,
            "kms_key_id" | "kms_encryption_key" | "az_vault_uri" | "az_vault_key_name" | "key_name",
            Constant::Text(""),
        ) => {
            format!("no {argument} provided")
        }
        _ => return None,
    };
    Some(problem)
}

/// A constant value of an argument, in the forms that [`unfit`] checks.
pub enum Constant<'v> {
    /// A whole number.
    Number(i64),
    /// A string.
    Text(&'v str),
    /// A list of strings.
    Texts(&'v [&'v str]),
}

const STRING: Type = Type::String;

static PBKDF2: LazyLock<Block> = LazyLock::new(|| {
    block(
        true,
        &[],
        &[
            ("passphrase", STRING),
            ("chain", Type::Dynamic),
            ("key_length", Type::Number),
            ("iterations", Type::Number),
            ("hash_function", STRING),
            ("salt_length", Type::Number),
        ],
    )
});

static AWS_KMS: LazyLock<Block> = LazyLock::new(|| {
    let texts = || Type::list(STRING);
    let optional = [
        ("access_key", STRING),
        ("max_retries", Type::Number),
        ("profile", STRING),
        ("region", STRING),
        ("secret_key", STRING),
        ("skip_credentials_validation", Type::Bool),
        ("skip_requesting_account_id", Type::Bool),
        ("sts_region", STRING),
        ("token", STRING),
        ("http_proxy", STRING),
        ("https_proxy", STRING),
        ("no_proxy", STRING),
        ("insecure", Type::Bool),
        ("use_dualstack_endpoint", Type::Bool),
        ("use_fips_endpoint", Type::Bool),
        ("custom_ca_bundle", STRING),
        ("ec2_metadata_service_endpoint", STRING),
        ("ec2_metadata_service_endpoint_mode", STRING),
        ("skip_metadata_api_check", Type::Bool),
        ("shared_credentials_files", texts()),
        ("shared_config_files", texts()),
        ("allowed_account_ids", texts()),
        ("forbidden_account_ids", texts()),
        ("retry_mode", STRING),
    ];
    let required = [("kms_key_id", STRING), ("key_spec", STRING)];
    let endpoints = block(false, &[], &[("iam", STRING), ("sts", STRING)]);
    let endpoints = NestedBlock { max_items: 1, ..NestedBlock::new(Nesting::List, endpoints) };
    let arguments = block(true, &required, &optional);
    let blocks = SortedMap::from([(Str::from("endpoints"), endpoints)]);
    let mut attributes = arguments.attributes().clone();
    // The S3 backend has the same arguments.
    attributes.insert("assume_role".into(), backends::assume_role());
    let web_identity = backends::assume_role_with_web_identity();
    attributes.insert("assume_role_with_web_identity".into(), web_identity);
    Block::new(attributes, blocks)
});

static GCP_KMS: LazyLock<Block> = LazyLock::new(|| {
    block(
        true,
        &[("kms_encryption_key", STRING), ("key_length", Type::Number)],
        &[
            ("credentials", STRING),
            ("access_token", STRING),
            ("impersonate_service_account", STRING),
            ("impersonate_service_account_delegates", Type::list(STRING)),
        ],
    )
});

static AZURE_VAULT: LazyLock<Block> = LazyLock::new(|| {
    let required =
        [("az_vault_uri", STRING), ("az_vault_key_name", STRING), ("key_length", Type::Number)];
    block(
        true,
        &required,
        &[
            ("disable_cli", Type::Bool),
            ("client_id", STRING),
            ("client_secret", STRING),
            ("client_certificate_password", STRING),
            ("client_certificate_path", STRING),
            ("use_oidc", Type::Bool),
            ("oidc_token", STRING),
            ("oidc_token_file_path", STRING),
            ("oidc_request_url", STRING),
            ("oidc_request_token", STRING),
            ("use_msi", Type::Bool),
            ("metadata_host", STRING),
            ("environment", STRING),
            ("subscription_id", STRING),
            ("tenant_id", STRING),
        ],
    )
});

static OPENBAO: LazyLock<Block> = LazyLock::new(|| {
    block(
        true,
        &[("key_name", STRING)],
        &[
            ("address", STRING),
            ("token", STRING),
            ("key_length", Type::Number),
            ("transit_engine_path", STRING),
        ],
    )
});

static EXTERNAL_KEYS: LazyLock<Block> =
    LazyLock::new(|| block(true, &[("command", Type::list(STRING))], &[]));

static AES_GCM: LazyLock<Block> = LazyLock::new(|| {
    block(false, &[], &[("keys", Type::Dynamic), ("aad", Type::list(Type::Number))])
});

static UNENCRYPTED: LazyLock<Block> = LazyLock::new(|| block(false, &[], &[]));

static EXTERNAL_METHOD: LazyLock<Block> = LazyLock::new(|| {
    let commands =
        [("encrypt_command", Type::list(STRING)), ("decrypt_command", Type::list(STRING))];
    block(false, &commands, &[("keys", Type::Dynamic)])
});

/// Builds a schema. Each key provider also accepts `encrypted_metadata_alias`, the name under which its metadata
/// is stored.
fn block(
    is_key_provider: bool,
    required: &[(&'static str, Type)],
    optional: &[(&'static str, Type)],
) -> Block {
    let alias = is_key_provider.then(|| ("encrypted_metadata_alias", Attribute::optional(STRING)));
    let required = required.iter().map(|(name, ty)| (*name, Attribute::required(ty.clone())));
    let optional = optional.iter().map(|(name, ty)| (*name, Attribute::optional(ty.clone())));
    let all = required.chain(optional).chain(alias);
    Block::new(all.map(|(name, it)| (Str::from(name), it)).collect(), SortedMap::new())
}
