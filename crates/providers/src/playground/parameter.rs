//! `playground_parameter`: a named parameter, modelled on `aws_ssm_parameter`.

use mayfly_sdk::{Call, Choice, Diagnostic, Import, Key, Model, Number, Resource, Secret};

use super::{
    client::Client,
    fault::Fault,
    names::{arn, not_found, unique},
    secret_value::{HasSecretValue, SecretValue, Stored},
    store::Record,
    store_error::store_error,
};

const TYPE: &str = "playground_parameter";
const KIND: &str = "parameter";
const VALUE: &str = "value";

pub(super) struct ParameterType;

/// A named parameter.
#[derive(Model)]
#[model(conflicting(value, value_wo), requires(value_wo_version, value_wo))]
#[model(at_least_one_of(value, value_wo))]
pub(super) struct Parameter {
    #[attribute(computed, keeps_state)]
    id: Option<String>,
    #[attribute(computed, keeps_state)]
    arn: Option<String>,
    #[attribute(requires_replace, length(1, 128))]
    name: String,
    r#type: ContentType,
    description: Option<String>,
    #[attribute(optional, computed)]
    value: Option<Secret>,
    #[attribute(write_only)]
    value_wo: Option<Secret>,
    value_wo_version: Option<Number>,
    #[attribute(computed)]
    version: Option<i64>,
    fault: Option<Fault>,
}

#[derive(Clone, Copy, Choice)]
enum ContentType {
    #[choice("String")]
    Text,
    #[choice("StringList")]
    TextList,
    #[choice("SecureString")]
    SecureText,
}

impl HasSecretValue for Parameter {
    const PLAIN: Key<Secret> = Parameter::VALUE;
    const WRITE_ONLY: Key<Secret> = Parameter::VALUE_WO;

    fn secret_value(&self) -> SecretValue<'_> {
        SecretValue {
            // Without a configured value, the planned one is unknown and therefore absent here.
            plain: self.value.as_ref(),
            write_only: self.value_wo.as_ref(),
            version: self.value_wo_version.as_ref(),
        }
    }
}

impl Parameter {
    /// Returns the object with the computed attributes of its record. A value that was given write-only is left out.
    fn of(self, record: &Record) -> Parameter {
        Parameter {
            id: Some(record.name.clone()),
            arn: Some(arn("ssm", &format!("parameter/{}", record.name))),
            version: Some(record.version),
            value: record.text("write_only").and(record.secret(VALUE)).cloned(),
            ..self
        }
    }

    /// Writes the attributes that are no secrets.
    fn describe(&self, record: &mut Record) {
        record.set("type", self.r#type.text());
        record.set_or_remove("description", self.description.clone());
        record.set_or_remove("write_only", self.value_wo_version.is_none().then_some("no"));
    }
}

impl Resource<Client> for ParameterType {
    type Model = Parameter;

    fn type_name(&self) -> &'static str {
        TYPE
    }

    async fn create(
        &self,
        client: &Client,
        planned: Parameter,
        _: &mut Call,
    ) -> Result<Parameter, Diagnostic> {
        let mut record = Record::new(KIND, planned.name.as_str(), format!("{KIND}-{}", unique()));
        record.version = 0;
        planned.describe(&mut record);
        let stored = Stored::of(None, &planned);
        stored.apply(&mut record, VALUE);
        client.store.create(&record).map_err(store_error)?;
        client.record("created", TYPE, &record, stored.received())?;
        Ok(planned.of(&record))
    }

    async fn read(
        &self,
        client: &Client,
        state: Parameter,
        _: &mut Call,
    ) -> Result<Option<Parameter>, Diagnostic> {
        let Some(record) = same(client, &state)? else { return Ok(None) };
        let found = Parameter {
            r#type: content_type(&record).unwrap_or(state.r#type),
            description: record.text("description").map(str::to_owned),
            ..state
        };
        Ok(Some(found.of(&record)))
    }

    async fn update(
        &self,
        client: &Client,
        prior: Parameter,
        planned: Parameter,
        _: &mut Call,
    ) -> Result<Parameter, Diagnostic> {
        let stored = Stored::of(Some(&prior), &planned);
        let updated = client.store.update(KIND, &planned.name, |record| {
            planned.describe(record);
            stored.apply(record, VALUE);
        });
        let record = updated.map_err(store_error)?;
        client.record("updated", TYPE, &record, stored.received())?;
        Ok(planned.of(&record))
    }

    async fn delete(
        &self,
        client: &Client,
        state: Parameter,
        _: &mut Call,
    ) -> Result<(), Diagnostic> {
        match same(client, &state)? {
            Some(record) => client.delete(TYPE, &record),
            None => Ok(()),
        }
    }

    async fn import(
        &self,
        client: &Client,
        target: Import,
        call: &mut Call,
    ) -> Result<Option<Parameter>, Diagnostic> {
        let name = target.id_or(Parameter::NAME)?;
        let record = client.find(KIND, &name)?.ok_or_else(|| not_found(KIND, &name))?;
        call.private.set("object", record.id.as_str());
        let imported = Parameter {
            id: None,
            arn: None,
            name: name.to_string(),
            r#type: content_type(&record).unwrap_or(ContentType::Text),
            description: record.text("description").map(str::to_owned),
            value: None,
            value_wo: None,
            value_wo_version: None,
            version: None,
            fault: None,
        };
        Ok(Some(imported.of(&record)))
    }
}

/// Returns the object of a state. A new object with the same name counts as the same one, as with
/// `aws_ssm_parameter`.
fn same(client: &Client, state: &Parameter) -> Result<Option<Record>, Diagnostic> {
    client.find(KIND, &state.name)
}

fn content_type(record: &Record) -> Option<ContentType> {
    record.text("type").and_then(ContentType::from_text)
}
