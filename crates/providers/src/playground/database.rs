//! `playground_database`: a database with a master password, modelled on `aws_db_instance`, and the ephemeral
//! resource with the same name, which returns the password.

use mayfly_sdk::{
    Diagnostic, EphemeralCall, EphemeralResource, Key, Model, Secret, SecretArgument, SecretChange,
};

use super::{
    client::Client,
    fault::Fault,
    names::{arn, not_found, unique},
    store::Record,
    stored_object::StoredObject,
};

const TYPE: &str = "playground_database";
const KIND: &str = "database";
const PASSWORD: &str = "password";

/// A database.
#[derive(Default, Model)]
pub(super) struct ManagedDatabase {
    #[attribute(computed, keeps_state)]
    id: Option<String>,
    #[attribute(computed, keeps_state)]
    arn: Option<String>,
    #[attribute(requires_replace, length(1, 63))]
    identifier: String,
    #[attribute(default = "postgres", requires_replace)]
    engine: String,
    #[attribute(default = "admin")]
    username: Option<String>,
    #[attribute(default = 20, between(1, 65_536))]
    allocated_storage: i64,
    #[flatten(prefix = "password")]
    password: SecretArgument,
    #[attribute(computed, keeps_state)]
    endpoint: Option<String>,
    fault: Option<Fault>,
}

impl StoredObject for ManagedDatabase {
    const TYPE_NAME: &'static str = TYPE;
    const KIND: &'static str = KIND;
    const NAMED_BY: Key<String> = ManagedDatabase::IDENTIFIER;
    const SECRET: &'static str = PASSWORD;

    fn name(&self) -> &str {
        &self.identifier
    }

    fn secret(&self) -> &SecretArgument {
        &self.password
    }

    fn new_id(&self) -> String {
        format!("db-{}", unique())
    }

    fn is_of(&self, record: &Record) -> bool {
        self.id.as_deref() == Some(&record.id)
    }

    fn write(&self, _: &SecretChange<'_>, record: &mut Record) {
        record.set("engine", self.engine.as_str());
        record.set_or_remove("username", self.username.clone());
        record.set("allocated_storage", self.allocated_storage.to_string());
    }

    fn of(self, record: &Record) -> ManagedDatabase {
        ManagedDatabase {
            id: Some(record.id.clone()),
            arn: Some(arn("rds", &format!("db:{}", record.name))),
            identifier: record.name.clone(),
            endpoint: Some(format!("{}.{}.db.example.com:5432", record.name, record.id)),
            ..self
        }
    }

    fn refreshed(self, record: &Record) -> ManagedDatabase {
        ManagedDatabase {
            engine: record.text("engine").map_or(self.engine, str::to_owned),
            username: record.text("username").map(str::to_owned),
            allocated_storage: record.number("allocated_storage").unwrap_or(self.allocated_storage),
            ..self
        }
    }
}

pub(super) struct EphemeralDatabaseType;

/// Tells how to log in to a database.
#[derive(Model)]
pub(super) struct EphemeralDatabase {
    identifier: String,
    #[attribute(computed)]
    username: Option<String>,
    #[attribute(computed)]
    password: Option<Secret>,
    fault: Option<Fault>,
}

impl EphemeralResource<Client> for EphemeralDatabaseType {
    type Model = EphemeralDatabase;

    fn type_name(&self) -> &'static str {
        TYPE
    }

    async fn open(
        &self,
        client: &Client,
        config: EphemeralDatabase,
        call: &mut EphemeralCall,
    ) -> Result<EphemeralDatabase, Diagnostic> {
        let found = client.find(KIND, &config.identifier)?;
        let record = found.ok_or_else(|| not_found(KIND, &config.identifier))?;
        call.private.set("identifier", config.identifier.as_str());
        client.record("opened", TYPE, &record.name, &record.id)?;
        Ok(EphemeralDatabase {
            username: record.text("username").map(str::to_owned),
            password: record.secret(PASSWORD).cloned(),
            ..config
        })
    }

    async fn close(&self, client: &Client, call: &mut EphemeralCall) -> Result<(), Diagnostic> {
        let identifier = call.private.text("identifier").unwrap_or_default();
        client.record("closed", TYPE, identifier, "")
    }
}
