//! `playground_vault`: write-only attributes at every kind of place that a schema allows, which excludes sets.

use std::collections::BTreeMap;

use mayfly_sdk::{
    Call, Diagnostic, Group, Model, Number, Object, Path, PlanChange, Resource, Secret, Set, Str,
    Value,
};
use provider::write_only_paths;
use values::json;

use super::{client::Client, fault::Fault, names::unique, store::Record};

const TYPE: &str = "playground_vault";
const KIND: &str = "vault";

pub(super) struct VaultType {
    schema: provider::Schema,
}

/// Write-only attributes at every kind of place.
#[derive(Model)]
pub(super) struct Vault {
    #[attribute(computed, keeps_state)]
    id: Option<String>,
    #[attribute(requires_replace)]
    name: String,
    #[flatten]
    secrets: Secrets,
    #[attribute(computed)]
    revision: Option<i64>,
    #[flatten]
    logins: Logins,
    #[flatten]
    places: Places,
    fault: Option<Fault>,
}

/// The attributes that are write-only themselves, and their versions.
#[derive(Model)]
struct Secrets {
    #[attribute(write_only)]
    secret_wo: Option<Secret>,
    #[attribute(write_only)]
    codes_wo: Option<Set<Secret>>,
    #[attribute(write_only)]
    any_wo: Value,
    secrets_version: Option<Number>,
    #[attribute(write_only)]
    key_wo: Option<Secret>,
    /// Raise it to make a vault with another key.
    key_version: Option<Number>,
}

/// The nested attributes.
#[derive(Model)]
struct Logins {
    login: Option<Login>,
    logins: Option<Vec<Login>>,
    logins_by_role: Option<BTreeMap<String, Login>>,
}

#[derive(Model)]
struct Login {
    user: String,
    #[attribute(write_only)]
    password_wo: Option<Secret>,
    #[attribute(computed, keeps_state)]
    login_id: Option<String>,
}

/// The nested blocks.
#[derive(Model)]
struct Places {
    #[block]
    primary: Option<Place>,
    #[block]
    replica: Vec<Replica>,
    #[block]
    region: BTreeMap<Str, Place>,
    #[block]
    fallback: Group<Fallback>,
}

#[derive(Model)]
struct Place {
    name: String,
    #[attribute(write_only)]
    token_wo: Option<Secret>,
    #[attribute(computed, keeps_state)]
    slot_id: Option<String>,
}

#[derive(Model)]
struct Replica {
    #[flatten]
    place: Place,
    #[block]
    mirror: Option<Vec<Mirror>>,
}

#[derive(Model)]
struct Mirror {
    name: Option<String>,
    #[attribute(write_only)]
    token_wo: Option<Secret>,
}

#[derive(Model)]
struct Fallback {
    note: Option<String>,
    #[attribute(write_only)]
    token_wo: Option<Secret>,
}

impl Vault {
    /// Returns the object with the computed attributes of its record, and new ids for logins and places without one.
    fn of(mut self, record: &Record) -> Vault {
        let Logins { login, logins, logins_by_role } = &mut self.logins;
        let logins = login
            .iter_mut()
            .chain(logins.iter_mut().flatten())
            .chain(logins_by_role.iter_mut().flat_map(BTreeMap::values_mut));
        logins.for_each(|it| _ = it.login_id.get_or_insert_with(unique));
        let Places { primary, replica, region, .. } = &mut self.places;
        let replicas = replica.iter_mut().map(|it| &mut it.place);
        let places = primary.iter_mut().chain(replicas).chain(region.values_mut());
        places.for_each(|it| _ = it.slot_id.get_or_insert_with(unique));
        Vault { id: Some(record.id.clone()), revision: Some(record.version), ..self }
    }
}

impl VaultType {
    pub(super) fn new() -> VaultType {
        VaultType { schema: Vault::schema().to_provider() }
    }

    /// Returns all write-only values of a configuration by their paths.
    fn received(&self, config: &Object) -> BTreeMap<String, Secret> {
        let paths = write_only_paths(config.value(), self.schema.block());
        let value = |path: Path| {
            let value =
                path.apply(config.value()).filter(|it| !it.is_null() && it.is_wholly_known())?;
            let secret = match value.as_str() {
                Some(text) => Secret::new(text),
                None => Secret::new(json::encode(&value, &value.ty()).ok()?),
            };
            Some((mayfly_sdk::shown(&path), secret))
        };
        paths.into_iter().filter_map(value).collect()
    }
}

impl Resource<Client> for VaultType {
    type Model = Vault;

    fn type_name(&self) -> &'static str {
        TYPE
    }

    async fn plan(&self, _: &Client, change: &mut PlanChange) -> Result<(), Diagnostic> {
        if !change.is_creation() && change.changes(Secrets::KEY_VERSION) {
            // The path names the attribute that requires replacement, although its value is null before and after.
            change.require_replace(Secrets::KEY_WO);
        }
        Ok(())
    }

    async fn create(
        &self,
        client: &Client,
        planned: Vault,
        call: &mut Call,
    ) -> Result<Vault, Diagnostic> {
        let id = format!("vault-{}", unique());
        let mut record = Record::new(KIND, planned.name.as_str(), id);
        let received = self.received(&call.config);
        keep(&mut record, &received);
        client.create(TYPE, &record, &received)?;
        Ok(planned.of(&record))
    }

    async fn read(
        &self,
        client: &Client,
        state: Vault,
        _: &mut Call,
    ) -> Result<Option<Vault>, Diagnostic> {
        let found = same(client, &state)?;
        Ok(found.map(|record| Vault { revision: Some(record.version), ..state }))
    }

    async fn update(
        &self,
        client: &Client,
        prior: Vault,
        planned: Vault,
        call: &mut Call,
    ) -> Result<Vault, Diagnostic> {
        let raised = planned.secrets.secrets_version != prior.secrets.secrets_version;
        let received = if raised { self.received(&call.config) } else { BTreeMap::new() };
        let record = client.update(TYPE, KIND, &planned.name, &received, |record| {
            record.version += 1;
            if raised {
                keep(record, &received);
            }
        })?;
        Ok(planned.of(&record))
    }

    async fn delete(&self, client: &Client, state: Vault, _: &mut Call) -> Result<(), Diagnostic> {
        client.delete(TYPE, same(client, &state)?)
    }
}

/// Replaces all secrets of the object.
fn keep(record: &mut Record, received: &BTreeMap<String, Secret>) {
    let old: Vec<String> = record.secrets().map(|(place, _)| place.to_owned()).collect();
    old.iter().for_each(|place| record.remove_secret(place));
    received.iter().for_each(|(place, secret)| record.set_secret(place, secret.clone()));
}

fn same(client: &Client, state: &Vault) -> Result<Option<Record>, Diagnostic> {
    let found = client.find(KIND, &state.name)?;
    Ok(found.filter(|record| state.id.as_deref() == Some(record.id.as_str())))
}
