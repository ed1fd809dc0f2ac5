//! A provider with one resource type that has an identity, and that fails on request.

use provider::{ConfigureRequest, Provider, Schema};
use values::Value;

use super::said_of;
use crate::{
    Call, ConfigureCall, Definition, Diagnostic, Import, Model, Move, MoveSource, Resource, Secret,
    Server, Types, Upgrade, schema,
};

pub(super) struct Items;

/// The `provider_meta` block of modules.
#[derive(Model)]
pub(super) struct Meta {
    pub(super) module: Option<String>,
}

#[derive(Model)]
#[model(version = 3)]
pub(super) struct Item {
    #[attribute(computed, keeps_state, identity)]
    pub(super) id: Option<String>,
    #[attribute(requires_replace, identity)]
    pub(super) region: String,
    #[attribute(identity)]
    pub(super) shard: Option<i64>,
    pub(super) note: Option<String>,
    #[attribute(default = 5, between(1, 9))]
    pub(super) size: i64,
    #[attribute(write_only)]
    pub(super) secret_wo: Option<Secret>,
    pub(super) part: Option<Part>,
    #[block]
    pub(super) tag: Vec<Tag>,
}

#[derive(Model)]
pub(super) struct Part {
    #[attribute(default = "auto")]
    mode: String,
}

#[derive(Model)]
pub(super) struct Tag {
    key: String,
    #[block]
    inner: Vec<Part>,
}

/// The objects of version 1: the region had another name, and the size was a text.
#[derive(Model)]
struct ItemV1 {
    id: Option<String>,
    zone: String,
    size: Option<String>,
}

impl Items {
    pub(super) async fn server() -> Server<Items> {
        let server = Server::new(Items);
        let config = Value::empty_object();
        let said = server.configure(ConfigureRequest { core_version: "1.13.0".into(), config });
        assert_eq!(said_of(&said.await), "");
        server
    }

    pub(super) fn schema() -> Schema {
        Item::schema().to_provider()
    }
}

impl Definition for Items {
    type Config = ();
    type Client = ();

    fn source(&self) -> &'static str {
        "items"
    }

    fn meta_schema(&self) -> Option<schema::Schema> {
        Some(Meta::schema())
    }

    async fn configure(&self, (): (), _: &mut ConfigureCall) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn types(&self, types: &mut Types<()>) {
        types.resource(ItemType);
    }
}

struct ItemType;

impl ItemType {
    /// Fails if the note says so, with a warning before and private state.
    fn step(item: &Item, call: &mut Call) -> Result<(), Diagnostic> {
        call.private.set("step", 1);
        call.diagnostics.push(Diagnostic::warning("Slow", ""));
        let note = item.note.as_deref().unwrap_or_default();
        if note.contains("keep") {
            call.keep(item);
        }
        if note.contains("complain") {
            call.diagnostics.error("Complained", "");
        }
        match note.contains("fail") {
            true => Err(Diagnostic::error("Failed", "")),
            false => Ok(()),
        }
    }
}

impl Resource<()> for ItemType {
    type Model = Item;

    fn type_name(&self) -> &'static str {
        "test_item"
    }

    async fn plan_deletion(&self, (): &(), state: Item, _: &mut Call) -> Result<(), Diagnostic> {
        match state.note.as_deref() {
            Some("protected") => Err(Diagnostic::error("Protected", "")),
            _ => Ok(()),
        }
    }

    async fn create(&self, (): &(), planned: Item, call: &mut Call) -> Result<Item, Diagnostic> {
        let is_early = planned.note.as_deref().is_some_and(|it| it.contains("early"));
        let id = if is_early { None } else { Some("i-1".to_owned()) };
        let created = Item { id, ..planned };
        ItemType::step(&created, call).map(|()| created)
    }

    async fn read(
        &self,
        (): &(),
        state: Item,
        call: &mut Call,
    ) -> Result<Option<Item>, Diagnostic> {
        ItemType::step(&state, call)?;
        let meta: Option<Meta> = match call.meta.is_null() {
            true => None,
            false => Some(Meta::decode(&call.meta, crate::Unknowns::Refused)?),
        };
        let note = meta.and_then(|it| it.module).or(state.note);
        Ok(Some(Item { note, ..state }))
    }

    async fn update(
        &self,
        (): &(),
        prior: Item,
        planned: Item,
        call: &mut Call,
    ) -> Result<Item, Diagnostic> {
        let updated = Item { id: prior.id, ..planned };
        ItemType::step(&updated, call).map(|()| updated)
    }

    async fn delete(&self, (): &(), state: Item, call: &mut Call) -> Result<(), Diagnostic> {
        let left = Item { note: state.note.map(|it| format!("{it}, half deleted")), ..state };
        ItemType::step(&left, call)
    }

    async fn import(
        &self,
        (): &(),
        target: Import,
        _: &mut Call,
    ) -> Result<Option<Item>, Diagnostic> {
        let id = target.id_or(Item::ID)?;
        let region = match &target {
            Import::Id(_) => "default".to_owned(),
            Import::Identity(_) => target.id_or(Item::REGION)?.to_string(),
        };
        let item = Item {
            id: Some(id.to_string()),
            region,
            shard: None,
            note: None,
            size: 5,
            secret_wo: Some(Secret::new("from the import")),
            part: None,
            tag: Vec::new(),
        };
        Ok((&*id != "missing").then_some(item))
    }

    fn upgrades(&self) -> Vec<Upgrade> {
        vec![
            Upgrade::from_model(1, |old: ItemV1| {
                let size = old.size.as_deref().unwrap_or("5");
                let invalid = |_| Diagnostic::error("Invalid Size", "");
                let size = size.parse().map_err(invalid)?;
                Ok(moved_item(old.id, old.zone, size))
            }),
            Upgrade::from_json(2, |mut state| {
                state["note"] = "upgraded".into();
                Ok(state)
            }),
        ]
    }

    fn moves(&self) -> Vec<Move> {
        let of_old = |source: &MoveSource, old: ItemV1| {
            let note = format!("from version {}", source.schema_version);
            Ok(Item { note: Some(note), ..moved_item(old.id, old.zone, 5) })
        };
        let of_other = |_: &MoveSource, state: &serde_json::Value| {
            Ok(serde_json::json!({"id": state["name"], "region": "other", "dropped": 1}))
        };
        vec![
            Move::from_model("old_item", of_old).of_provider("example/old"),
            Move::from_json("old_item", of_other).of_provider("example/other"),
        ]
    }
}

fn moved_item(id: Option<String>, region: String, size: i64) -> Item {
    Item { id, region, shard: None, note: None, size, secret_wo: None, part: None, tag: Vec::new() }
}
