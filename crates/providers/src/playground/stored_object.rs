//! Managed types whose objects are records of the store with one secret each.

use std::marker::PhantomData;

use mayfly_sdk::{
    Call, Diagnostic, Import, Key, Model, PlanChange, PrivateState, Resource, Secret,
    SecretArgument, SecretChange,
    schema::{Block, Schema},
};

use super::{client::Client, names::not_found, store::Record};

/// The struct of such a type.
pub(super) trait StoredObject: Model + Default + 'static {
    const TYPE_NAME: &'static str;
    /// The kind of the records.
    const KIND: &'static str;
    /// The attribute with the name of the object, for imports.
    const NAMED_BY: Key<String>;
    /// The prefix of the names of the secret's attributes. It is also the field of the record with the secret.
    const SECRET: &'static str;

    /// Changes the schema of the struct.
    fn adapt(block: Block) -> Block {
        block
    }

    /// See [`Resource::plan`].
    fn plan(_: &mut PlanChange) {}

    fn name(&self) -> &str;

    fn secret(&self) -> &SecretArgument;

    /// Returns an id for a new object.
    fn new_id(&self) -> String;

    /// Returns true if the object is that of a record with its name, and not an earlier one.
    fn is_of(&self, record: &Record) -> bool;

    /// Writes the attributes that are no secrets, before the secret is changed.
    fn write(&self, change: &SecretChange<'_>, record: &mut Record);

    /// Returns the object with the computed attributes of its record.
    fn of(self, record: &Record) -> Self;

    /// Returns the object with the other attributes of its record too.
    fn refreshed(self, record: &Record) -> Self;

    /// Converts what an import identifies to a name.
    fn name_of(id: &str) -> &str {
        id
    }

    /// Adds to the private state of an imported object.
    fn remember(_: &Record, _: &mut PrivateState) {}
}

/// The resource type whose objects are `M`.
pub(super) struct StoredType<M>(PhantomData<fn() -> M>);

impl<M> StoredType<M> {
    pub(super) fn new() -> StoredType<M> {
        StoredType(PhantomData)
    }
}

impl<M: StoredObject> Resource<Client> for StoredType<M> {
    type Model = M;

    fn type_name(&self) -> &'static str {
        M::TYPE_NAME
    }

    fn schema(&self) -> Schema {
        M::schema().map_block(M::adapt)
    }

    async fn plan(&self, _: &Client, change: &mut PlanChange) -> Result<(), Diagnostic> {
        M::plan(change);
        Ok(())
    }

    async fn create(&self, client: &Client, planned: M, _: &mut Call) -> Result<M, Diagnostic> {
        let mut record = Record::new(M::KIND, planned.name(), planned.new_id());
        // The version counts the secrets, and there is none yet.
        record.version = 0;
        let change = planned.secret().change(None);
        planned.write(&change, &mut record);
        record.change_secret(M::SECRET, &change);
        client.create(M::TYPE_NAME, &record, received(&change, M::SECRET))?;
        Ok(planned.of(&record))
    }

    async fn read(&self, client: &Client, state: M, _: &mut Call) -> Result<Option<M>, Diagnostic> {
        let found = current(client, &state)?;
        Ok(found.map(|record| state.refreshed(&record).of(&record)))
    }

    async fn update(
        &self,
        client: &Client,
        prior: M,
        planned: M,
        _: &mut Call,
    ) -> Result<M, Diagnostic> {
        let change = planned.secret().change(Some(prior.secret()));
        let write = |record: &mut Record| {
            planned.write(&change, record);
            record.change_secret(M::SECRET, &change);
        };
        let received = received(&change, M::SECRET);
        let record = client.update(M::TYPE_NAME, M::KIND, planned.name(), received, write)?;
        Ok(planned.of(&record))
    }

    async fn delete(&self, client: &Client, state: M, _: &mut Call) -> Result<(), Diagnostic> {
        client.delete(M::TYPE_NAME, current(client, &state)?)
    }

    async fn import(
        &self,
        client: &Client,
        target: Import,
        call: &mut Call,
    ) -> Result<Option<M>, Diagnostic> {
        let id = target.id_or(M::NAMED_BY)?;
        let record = client.find(M::KIND, M::name_of(&id))?;
        let record = record.ok_or_else(|| not_found(M::KIND, &id))?;
        M::remember(&record, &mut call.private);
        Ok(Some(M::default().refreshed(&record).of(&record)))
    }
}

/// Returns the record of an object. `None` if it is gone or a new object has its name.
fn current<M: StoredObject>(client: &Client, state: &M) -> Result<Option<Record>, Diagnostic> {
    Ok(client.find(M::KIND, state.name())?.filter(|record| state.is_of(record)))
}

/// Returns the secret that a change sets with the name of its attribute, for the ledger.
pub(super) fn received<'a>(
    change: &SecretChange<'a>,
    prefix: &str,
) -> Option<(String, &'a Secret)> {
    match change {
        SecretChange::Set { secret, is_write_only: true } => Some((format!("{prefix}_wo"), secret)),
        SecretChange::Set { secret, .. } => Some((prefix.to_owned(), secret)),
        SecretChange::Keep | SecretChange::Clear => None,
    }
}
