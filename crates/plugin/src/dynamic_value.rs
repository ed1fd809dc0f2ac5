//! Conversion of values from and to the protocol's `DynamicValue` messages.

use bytes::Bytes;
use values::{CodecError, Type, Value, json, msgpack};

use crate::generated::tfplugin::{DynamicValue, ResourceIdentityData};

/// Encodes `value` as a message. It is always MessagePack, never JSON and never empty, because SDKs read nothing
/// else.
///
/// Marks are not sent.
pub(crate) fn encode(value: &Value, ty: &Type) -> Result<DynamicValue, CodecError> {
    let msgpack = if value.is_marked_deep() {
        msgpack::encode(&value.without_all_marks(), ty)?
    } else {
        msgpack::encode(value, ty)?
    };
    Ok(DynamicValue { msgpack: msgpack.into(), json: Bytes::new() })
}

/// Decodes the value in a message: its MessagePack if present, else its JSON. Returns null if both are empty or
/// there is no message.
pub(crate) fn decode(message: Option<&DynamicValue>, ty: &Type) -> Result<Value, CodecError> {
    match message {
        Some(it) if !it.msgpack.is_empty() => msgpack::decode(&it.msgpack, ty),
        Some(it) if !it.json.is_empty() => json::decode(&it.json, ty),
        _ => Ok(Value::null(ty.clone())),
    }
}

/// Encodes a resource identity as a message.
pub(crate) fn encode_identity(
    value: &Value,
    ty: &Type,
) -> Result<ResourceIdentityData, CodecError> {
    Ok(ResourceIdentityData { identity_data: Some(encode(value, ty)?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_dynamic_value_decodes_to_null() {
        let encoded = encode(&Value::null(Type::String), &Type::String).expect("encodes");
        assert_eq!((&*encoded.msgpack, &*encoded.json), (&[0xc0][..], &[][..]));
        for message in [None, Some(&DynamicValue::default()), Some(&encoded)] {
            assert!(decode(message, &Type::String).is_ok_and(|it| it.is_null()));
        }
    }

    #[test]
    fn dynamic_value_without_msgpack_is_read_as_json() {
        let message = DynamicValue { msgpack: Bytes::new(), json: Bytes::from_static(b"\"x\"") };
        let value = decode(Some(&message), &Type::String).expect("decodes");
        assert_eq!(value.as_str(), Some("x"));
    }

    #[test]
    fn invalid_msgpack_is_an_error() {
        for bytes in [&[0xc1][..], &[0xdf, 0xff, 0xff, 0xff, 0xff], &[0x81], &[0xa1]] {
            let message =
                DynamicValue { msgpack: Bytes::copy_from_slice(bytes), json: Bytes::new() };
            assert!(decode(Some(&message), &Type::map(Type::String)).is_err(), "{bytes:x?}");
        }
    }
}
