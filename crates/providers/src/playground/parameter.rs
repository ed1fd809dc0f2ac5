//! `playground_parameter`: a named parameter, modelled on `aws_ssm_parameter`.

use mayfly_sdk::{
    Choice, Key, Model, PlanChange, PrivateState, SecretArgument, SecretChange,
    schema::{Attribute, Block},
};

use super::{
    fault::Fault,
    names::{arn, unique},
    store::Record,
    stored_object::StoredObject,
};

/// The field that says "no" in a record whose value states may have. Not set if the value was given write-only.
const WRITE_ONLY: &str = "write_only";

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

    /// A value that is given write-only takes the other one out of the state.
    fn plan(change: &mut PlanChange) {
        let replaces = !change.is_creation() && !change.prior.is_absent(Self::SECRET);
        if replaces && !change.config.is_absent("value_wo") {
            change.planned.set(Self::SECRET, change.config.attr(Self::SECRET));
            change.planned.set_unknown(Parameter::VERSION);
        }
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

    fn write(&self, change: &SecretChange<'_>, record: &mut Record) {
        record.set("type", self.r#type.text());
        record.set_or_remove("description", self.description.clone());
        if !change.keeps_secret() {
            let is_readable = matches!(change, SecretChange::Set { is_write_only: false, .. });
            record.set_or_remove(WRITE_ONLY, is_readable.then_some("no"));
        }
    }

    /// A value that was given write-only is left out.
    fn of(self, record: &Record) -> Parameter {
        let plain = record.text(WRITE_ONLY).and(record.secret(Self::SECRET)).cloned();
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
