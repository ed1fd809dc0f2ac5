//! `playground_parameter`: a named parameter, modelled on `aws_ssm_parameter`.

use mayfly_sdk::{
    Choice, Key, Model, PrivateState, SecretArgument, SecretChange,
    schema::{Attribute, Block},
};

use super::{
    fault::Fault,
    names::{arn, unique},
    store::Record,
    stored_object::StoredObject,
};

/// A named parameter.
#[derive(Default, Model)]
#[model(at_least_one_of("value", "value_wo"))]
pub(super) struct Parameter {
    #[attribute(computed, keeps_state)]
    id: Option<String>,
    #[attribute(computed, keeps_state)]
    arn: Option<String>,
    #[attribute(requires_replace, length(1, 128))]
    name: String,
    r#type: ContentType,
    description: Option<String>,
    #[flatten(prefix = "value")]
    value: SecretArgument,
    #[attribute(computed)]
    version: Option<i64>,
    fault: Option<Fault>,
}

#[derive(Clone, Copy, Default, Choice)]
enum ContentType {
    #[default]
    #[choice("String")]
    Text,
    #[choice("StringList")]
    TextList,
    #[choice("SecureString")]
    SecureText,
}

impl StoredObject for Parameter {
    const TYPE_NAME: &'static str = "playground_parameter";
    const KIND: &'static str = "parameter";
    const NAMED_BY: Key<String> = Parameter::NAME;
    const SECRET: &'static str = "value";

    /// A value that the configuration does not give is that of the record.
    fn adapt(block: Block) -> Block {
        block.with(Self::SECRET, Attribute::computed)
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn secret(&self) -> &SecretArgument {
        &self.value
    }

    fn new_id(&self) -> String {
        format!("parameter-{}", unique())
    }

    /// A new object with the same name counts as the same one, as with `aws_ssm_parameter`.
    fn is_of(&self, _: &Record) -> bool {
        true
    }

    fn write(&self, _: &SecretChange<'_>, record: &mut Record) {
        record.set("type", self.r#type.text());
        record.set_or_remove("description", self.description.clone());
        record.set_or_remove("write_only", self.value.version.is_none().then_some("no"));
    }

    /// A value that was given write-only is left out.
    fn of(self, record: &Record) -> Parameter {
        let plain = record.text("write_only").and(record.secret(Self::SECRET)).cloned();
        Parameter {
            id: Some(record.name.clone()),
            arn: Some(arn("ssm", &format!("parameter/{}", record.name))),
            name: record.name.clone(),
            version: Some(record.version),
            value: SecretArgument { plain, ..self.value },
            ..self
        }
    }

    fn refreshed(self, record: &Record) -> Parameter {
        Parameter {
            r#type: content_type(record).unwrap_or(self.r#type),
            description: record.text("description").map(str::to_owned),
            ..self
        }
    }

    fn remember(record: &Record, private: &mut PrivateState) {
        private.set("object", record.id.as_str());
    }
}

fn content_type(record: &Record) -> Option<ContentType> {
    record.text("type").and_then(ContentType::from_text)
}
