//! Cryptographic functions that are neither hashes nor encodings: name-based UUIDs, password hashes, decryption.

use base64::{Engine, alphabet, engine::GeneralPurpose, engine::general_purpose::NO_PAD};
use blowfish::Blowfish;
use sha1::{Digest, Sha1};

use super::{
    base64_text,
    call::{Call, FunctionError, NOT_WHOLE},
    private_key::PrivateKey,
    signature::{Function, Parameter, Returns, Shape},
};
use crate::{Value, go_quoted};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new(
        "uuidv5",
        &[Parameter::string("namespace"), Parameter::string("name")],
        Returns::Fixed(Shape::String),
        uuidv5,
        "Makes the UUID of a name in a namespace: \"dns\", \"url\", \"oid\", \"x500\" or a UUID.",
    ),
    Function::new("uuid", &[], Returns::Fixed(Shape::String), uuid, "Makes a random UUID."),
    Function::new(
        "bcrypt",
        &[Parameter::string("str")],
        Returns::Fixed(Shape::String),
        bcrypt,
        "Hashes a password with bcrypt and a random salt.",
    )
    .variadic(Parameter::number("cost")),
    Function::new(
        "rsadecrypt",
        &[Parameter::string("ciphertext"), Parameter::string("privatekey")],
        Returns::Fixed(Shape::String),
        rsadecrypt,
        "Decrypts a Base64 text that was encrypted with an RSA key.",
    ),
];

fn uuid(call: &Call<'_>) -> Result<Value, FunctionError> {
    Ok(call.env.uuid().map_or_else(|| call.unknown(), Value::from))
}

/// The namespaces of RFC 9562. They differ only in the last digit of the first group.
const DEFINED: &str = "6ba7b81?-9dad-11d1-80b4-00c04fd430c8";

fn uuidv5(call: &Call<'_>) -> Result<Value, FunctionError> {
    let defined = |digit: &str| namespace(&DEFINED.replace('?', digit));
    let found = match call.text(0) {
        "dns" => defined("0"),
        "url" => defined("1"),
        "oid" => defined("2"),
        "x500" => defined("4"),
        text => namespace(text),
    };
    let namespace = found.map_err(|reason| {
        FunctionError::new(match call.secret {
            true => "uuidv5() doesn't support the given namespace".to_owned(),
            false => format!("uuidv5() doesn't support namespace {} ({reason})", call.text(0)),
        })
    })?;
    let hash = Sha1::new().chain_update(namespace).chain_update(call.text(1)).finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x50;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    Ok(Value::string(uuid_text(&bytes)))
}

fn uuid_text(bytes: &[u8; 16]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| &digits[range]);
    parts.join("-")
}

/// Parses a UUID with or without dashes, in braces, or as a URN.
fn namespace(text: &str) -> Result<[u8; 16], String> {
    let dashed = match text.len() {
        36 => text.get(..),
        45 => {
            let prefix = text.get(..9).unwrap_or("");
            if !prefix.eq_ignore_ascii_case("urn:uuid:") {
                return Err(format!("invalid urn prefix: {}", go_quoted(prefix)));
            }
            text.get(9..)
        }
        38 => text.get(1..37),
        32 => return hexadecimal(text).ok_or_else(|| "invalid UUID format".to_owned()),
        length => return Err(format!("invalid UUID length: {length}")),
    };
    let has_dashes = |text: &&str| [8, 13, 18, 23].iter().all(|at| text.as_bytes()[*at] == b'-');
    let digits = dashed.filter(has_dashes).map(|text| text.replace('-', ""));
    digits.and_then(|digits| hexadecimal(&digits)).ok_or_else(|| "invalid UUID format".to_owned())
}

fn hexadecimal(digits: &str) -> Option<[u8; 16]> {
    let is_right = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = is_right.then(|| u128::from_str_radix(digits, 16).ok())?;
    number.map(u128::to_be_bytes)
}

const LOWEST_COST: i64 = 4;
const HIGHEST_COST: i64 = 31;
const DEFAULT_COST: i64 = 10;
/// The longest password in bytes. The cipher accepts no longer key, including the final zero byte.
const LONGEST_PASSWORD: usize = 72;

fn bcrypt(call: &Call<'_>) -> Result<Value, FunctionError> {
    let cost = match call.args.get(1) {
        None => DEFAULT_COST,
        Some(cost) => cost
            .as_number()
            .and_then(crate::Number::to_i64)
            .ok_or_else(|| FunctionError::new(NOT_WHOLE))?,
    };
    if call.args.len() > 2 {
        return Err(FunctionError::new("bcrypt() takes no more than two arguments"));
    }
    let refused =
        |why: String| Err(FunctionError::new(format!("error occurred generating password {why}")));
    if call.text(0).len() > LONGEST_PASSWORD {
        return refused("bcrypt: password length exceeds 72 bytes".to_owned());
    }
    if cost > HIGHEST_COST {
        let range = format!("({LOWEST_COST},{HIGHEST_COST})");
        let cost = call.shown(cost);
        return refused(format!("crypto/bcrypt: cost {cost} is outside allowed range {range}"));
    }
    let cost = if cost < LOWEST_COST { DEFAULT_COST } else { cost };
    let Some(salt) = call.env.salt() else {
        return Ok(call.unknown());
    };
    bcrypt_text(call, cost, &salt).map(Value::string)
}

const BCRYPT_BASE64: GeneralPurpose = GeneralPurpose::new(&alphabet::BCRYPT, NO_PAD);

/// The number of rounds between two checks for an interruption. They take a fraction of a second.
const ROUNDS_AT_ONCE: u64 = 256;

/// Returns the hash, or an error if the run is interrupted. OpenTofu also allows the highest cost, which takes
/// days.
fn bcrypt_text(call: &Call<'_>, cost: i64, salt: &[u8; 16]) -> Result<String, FunctionError> {
    let key = [call.text(0).as_bytes(), &[0]].concat();
    let mut cipher: Blowfish = Blowfish::bc_init_state();
    cipher.salted_expand_key(salt, &key);
    for round in 0..1_u64 << cost {
        if round % ROUNDS_AT_ONCE == 0 {
            call.check_interrupt()?;
        }
        cipher.bc_expand_key(&key);
        cipher.bc_expand_key(salt);
    }
    let mut hash = Vec::with_capacity(24);
    for pair in b"OrpheanBeholderScryDoubt".chunks(8) {
        let word = |bytes: &[u8]| bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
        let mut words = [word(&pair[..4]), word(&pair[4..])];
        for _ in 0..64 {
            words = cipher.bc_encrypt(words);
        }
        hash.extend(words.iter().flat_map(|word| word.to_be_bytes()));
    }
    let (salt, hash) = (BCRYPT_BASE64.encode(salt), BCRYPT_BASE64.encode(&hash[..23]));
    Ok(format!("$2a${cost:02}${salt}{hash}"))
}

fn rsadecrypt(call: &Call<'_>) -> Result<Value, FunctionError> {
    let ciphertext = base64_text::decode(call.text(0)).map_err(|_| {
        let input = call.quoted(call.text(0));
        let message = format!("failed to decode input {input}: cipher text must be base64-encoded");
        FunctionError::at(0, message)
    })?;
    let key = PrivateKey::parse(call.text(1)).map_err(|reason| {
        FunctionError::quoting(1, format!("invalid private key: {reason}")).with_argument(1)
    })?;
    let decrypted = key.decrypt(&ciphertext).and_then(|bytes| String::from_utf8(bytes).ok());
    decrypted
        .map(Value::string)
        .ok_or_else(|| FunctionError::new("failed to decrypt: crypto/rsa: decryption error"))
}
