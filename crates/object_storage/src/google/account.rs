//! Keys of service accounts, which sign a request for a token (RFC 7523).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rustls::SignatureScheme;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use serde::Deserialize;
use serde_json::json;

/// The access that is asked for.
const SCOPE: &str = "https://www.googleapis.com/auth/devstorage.read_only";

/// The time for which a token is asked.
const LIFETIME: Duration = Duration::from_secs(3600);

/// The key of a service account. It has no `Debug`, because nothing of it may be shown.
#[derive(Deserialize)]
pub(super) struct ServiceAccount {
    client_email: String,
    private_key: String,
    #[serde(default)]
    private_key_id: String,
    pub(super) token_uri: String,
}

impl ServiceAccount {
    /// A signed statement of the account, which a token service exchanges for a token. The error is a sentence
    /// fragment.
    pub(super) fn assertion(&self, now: SystemTime) -> Result<String, String> {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let header = json!({"alg": "RS256", "typ": "JWT", "kid": self.private_key_id});
        let claims = json!({
            "iss": self.client_email, "scope": SCOPE, "aud": self.token_uri, "iat": now.as_secs(),
            "exp": (now + LIFETIME).as_secs(),
        });
        let encode = |it: &[u8]| URL_SAFE_NO_PAD.encode(it);
        let text = [header, claims].map(|it| encode(it.to_string().as_bytes())).join(".");
        Ok(format!("{text}.{}", encode(&self.signature(text.as_bytes())?)))
    }

    fn signature(&self, text: &[u8]) -> Result<Vec<u8>, String> {
        let unusable = || "their private key is none of RSA".to_owned();
        let key = PrivateKeyDer::from_pem_slice(self.private_key.as_bytes());
        let key = any_supported_type(&key.map_err(|_| unusable())?).map_err(|_| unusable())?;
        let signer = key.choose_scheme(&[SignatureScheme::RSA_PKCS1_SHA256]);
        signer.ok_or_else(unusable)?.sign(text).map_err(|_| unusable())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key that was made for this test with `openssl genpkey`.
    const KEY: &str = include_str!("../tests/data/rsa.pem");

    const SIGNATURE: &str = "Wq9ZrGkLRB3tCXrQ5lAiNt3RFBwU-BYk-h5wVsw_Keqhu0r4kga1BIW0QRUHU0FBANapZtf3A5wJk_YFzSI7cwSHR2\
        YlLM-8K4eRlqxozGOiZNDrCMhsBSg8it7rxIVDW4vfKnNCea_1yHl7WyZ_3vzFtgMNRi3Ba6frzqq3WKZt0VE06b5r\
        O978cCPCXO30gbmoY9kMw7ijC-oqFUCyOCzIgYoXGxUrBY322NIrbnfoqkjVPIoe5Rm30ppvULxh1VUHZu8pPjYj06\
        hddFlLXYsubpQABFBKMmyQK4q0Hsbv1szCG_vrJyrDJOwwz4MTcJVEdvWV1wCXgFeNiKV9TQ";

    fn account(private_key: &str) -> ServiceAccount {
        ServiceAccount {
            client_email: "robot@project.iam.gserviceaccount.com".to_owned(),
            private_key: private_key.to_owned(),
            private_key_id: "k1".to_owned(),
            token_uri: "https://oauth2.googleapis.com/token".to_owned(),
        }
    }

    /// `openssl dgst -sha256 -sign` makes the same signature of the same text.
    #[test]
    fn assertion_is_signed_with_the_key_of_the_account() {
        let now = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let assertion = account(KEY).assertion(now).expect("can be signed");
        let parts: Vec<&str> = assertion.split('.').collect();
        let decoded = |it: &str| {
            let bytes = URL_SAFE_NO_PAD.decode(it).expect("base64");
            String::from_utf8(bytes).expect("text")
        };
        assert_eq!(decoded(parts[0]), r#"{"alg":"RS256","typ":"JWT","kid":"k1"}"#);
        let claims = "{\"iss\":\"robot@project.iam.gserviceaccount.com\",\
                      \"scope\":\"https://www.googleapis.com/auth/devstorage.read_only\",\
                      \"aud\":\"https://oauth2.googleapis.com/token\",\"iat\":1700000000,\"exp\":1700003600}";
        assert_eq!(decoded(parts[1]), claims);
        assert_eq!(parts[2], SIGNATURE);
    }

    #[test]
    fn other_keys_are_refused() {
        let elliptic = include_str!("../tests/data/elliptic.pem");
        for key in ["", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", elliptic]
        {
            let error = account(key).assertion(UNIX_EPOCH).expect_err("no key");
            assert_eq!(error, "their private key is none of RSA");
        }
    }
}
