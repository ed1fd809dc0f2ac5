//! `playground_database`: a database with a master password, modelled on `aws_db_instance`, and the ephemeral
//! resource with the same name, which returns the password.

use mayfly_sdk::{
    Call, Diagnostic, EphemeralCall, EphemeralResource, Import, Key, Model, Number, Resource,
    Secret,
};

use super::{
    client::Client,
    fault::Fault,
    names::{arn, not_found, unique},
    secret_value::{HasSecretValue, SecretValue, Stored},
    store::Record,
    store_error::store_error,
};

const TYPE: &str = "playground_database";
const KIND: &str = "database";
const PASSWORD: &str = "password";

pub(super) struct ManagedDatabaseType;

/// A database.
#[derive(Model)]
#[model(conflicting(password, password_wo), requires(password_wo_version, password_wo))]
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
    password: Option<Secret>,
    #[attribute(write_only)]
    password_wo: Option<Secret>,
    password_wo_version: Option<Number>,
    #[attribute(computed, keeps_state)]
    endpoint: Option<String>,
    fault: Option<Fault>,
}

impl HasSecretValue for ManagedDatabase {
    const PLAIN: Key<Secret> = ManagedDatabase::PASSWORD;
    const WRITE_ONLY: Key<Secret> = ManagedDatabase::PASSWORD_WO;

    fn secret_value(&self) -> SecretValue<'_> {
        SecretValue {
            plain: self.password.as_ref(),
            write_only: self.password_wo.as_ref(),
            version: self.password_wo_version.as_ref(),
        }
    }
}

impl ManagedDatabase {
    /// Returns the object with the computed attributes of its record.
    fn of(self, record: &Record) -> ManagedDatabase {
        ManagedDatabase {
            id: Some(record.id.clone()),
            arn: Some(arn("rds", &format!("db:{}", record.name))),
            endpoint: Some(format!("{}.{}.db.example.com:5432", record.name, record.id)),
            ..self
        }
    }

    /// Writes the attributes that are no secrets.
    fn describe(&self, record: &mut Record) {
        record.set("engine", self.engine.as_str());
        record.set_or_remove("username", self.username.clone());
        record.set("allocated_storage", self.allocated_storage.to_string());
    }
}

impl Resource<Client> for ManagedDatabaseType {
    type Model = ManagedDatabase;

    fn type_name(&self) -> &'static str {
        TYPE
    }

    async fn create(
        &self,
        client: &Client,
        planned: ManagedDatabase,
        _: &mut Call,
    ) -> Result<ManagedDatabase, Diagnostic> {
        let id = format!("db-{}", unique());
        let mut record = Record::new(KIND, planned.identifier.as_str(), id);
        let stored = Stored::of(None, &planned);
        stored.apply(&mut record, PASSWORD);
        planned.describe(&mut record);
        client.store.create(&record).map_err(store_error)?;
        client.record("created", TYPE, &record, stored.received())?;
        Ok(planned.of(&record))
    }

    async fn read(
        &self,
        client: &Client,
        state: ManagedDatabase,
        _: &mut Call,
    ) -> Result<Option<ManagedDatabase>, Diagnostic> {
        let Some(record) = same(client, &state)? else { return Ok(None) };
        let username = record.text("username").map(str::to_owned);
        Ok(Some(ManagedDatabase { username, ..state }.of(&record)))
    }

    async fn update(
        &self,
        client: &Client,
        prior: ManagedDatabase,
        planned: ManagedDatabase,
        _: &mut Call,
    ) -> Result<ManagedDatabase, Diagnostic> {
        let stored = Stored::of(Some(&prior), &planned);
        let updated = client.store.update(KIND, &planned.identifier, |record| {
            stored.apply(record, PASSWORD);
            planned.describe(record);
        });
        let record = updated.map_err(store_error)?;
        client.record("updated", TYPE, &record, stored.received())?;
        Ok(planned.of(&record))
    }

    async fn delete(
        &self,
        client: &Client,
        state: ManagedDatabase,
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
        _: &mut Call,
    ) -> Result<Option<ManagedDatabase>, Diagnostic> {
        let identifier = target.id_or(ManagedDatabase::IDENTIFIER)?;
        let found = client.find(KIND, &identifier)?;
        let record = found.ok_or_else(|| not_found(KIND, &identifier))?;
        let storage = record.text("allocated_storage").and_then(|it| it.parse().ok());
        let imported = ManagedDatabase {
            id: None,
            arn: None,
            identifier: record.name.clone(),
            engine: record.text("engine").unwrap_or("postgres").to_owned(),
            username: record.text("username").map(str::to_owned),
            allocated_storage: storage.unwrap_or(20),
            password: None,
            password_wo: None,
            password_wo_version: None,
            endpoint: None,
            fault: None,
        };
        Ok(Some(imported.of(&record)))
    }
}

fn same(client: &Client, state: &ManagedDatabase) -> Result<Option<Record>, Diagnostic> {
    let found = client.find(KIND, &state.identifier)?;
    Ok(found.filter(|record| state.id.as_deref() == Some(record.id.as_str())))
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
        client.record("opened", TYPE, &record, [])?;
        Ok(EphemeralDatabase {
            username: record.text("username").map(str::to_owned),
            password: record.secret(PASSWORD).cloned(),
            ..config
        })
    }

    async fn close(&self, client: &Client, call: &mut EphemeralCall) -> Result<(), Diagnostic> {
        let identifier = call.private.text("identifier").unwrap_or_default();
        client.record("closed", TYPE, &Record::new(KIND, identifier, ""), [])
    }
}
