//! The object before a change: upgraded to the current schema, then refreshed by the provider.

use std::{rc::Rc, sync::Arc};

use addr::ResourceInstance;
use db::Summary;
use provider::{
    MoveResourceStateRequest, MoveResourceStateResponse, Private, Provider, RawState,
    ReadResourceRequest, SourceIdentity, StateResponse, UpgradeResourceIdentityRequest,
    UpgradeResourceStateRequest, objchange, write_only_values_present,
};
use sorted::TreeMap;
use state::{Action, Attributes, Change, Identity, Object, ResourceChange, Status};
use values::{Path, Type, Value, conform, json};

use crate::{
    event::Event,
    resource::{
        subject::{Subject, object_id},
        write_only_leaks::{SideData, When},
    },
    runs::planning::Planning,
    schedule::Failed,
    walk::context::Walk,
};

/// An object that a provider knows.
#[derive(Clone)]
pub(crate) struct Prior {
    /// The value, with the marks of the state and the schema.
    pub(crate) value: Value,
    pub(crate) private: Private,
    pub(crate) identity: Option<Value>,
    pub(crate) tainted: bool,
    /// The object as stored.
    pub(crate) object: Arc<Object>,
}

impl Planning<'_> {
    /// Returns the object of an instance, upgraded, refreshed and written to the refreshed state. `None` if the
    /// state has none, or if it no longer exists. Changes from outside are recorded as drift.
    pub(crate) async fn read_prior(
        &self,
        subject: &Subject,
        provider: &dyn Provider,
    ) -> Result<Option<Prior>, Failed> {
        let Some(stored) = self.state.previous().object(&subject.object).cloned() else {
            return Ok(None);
        };
        if let Some(known) = self.read_before(subject, &stored) {
            self.keep_refreshed(subject, known.as_ref());
            return known.map(|object| self.prior_of(subject, object)).transpose();
        }
        let upgraded = match self.taken_over_from(subject) {
            Some(previous) => self.take_over(subject, provider, &stored, &previous).await?,
            None => self.upgrade(subject, provider, &stored).await?,
        };
        let upgraded = self.with_current_identity(subject, provider, upgraded).await?;
        if !self.refreshes(&subject.object) {
            self.keep_refreshed(subject, Some(&upgraded.object));
            return Ok(Some(upgraded));
        }
        let refreshed = self.refresh(subject, provider, &upgraded).await?;
        self.record_drift(subject, &upgraded, refreshed.as_ref());
        self.keep_refreshed(subject, refreshed.as_ref().map(|it| &it.object));
        Ok(refreshed)
    }

    /// The former address of an object that a `moved` block moves to another resource type or to another provider.
    /// `None` for any other object.
    fn taken_over_from(&self, subject: &Subject) -> Option<ResourceInstance> {
        let previous = self.options.moved.get(subject.address())?;
        let provider = &self.state.previous().provider_of(subject.address())?.source;
        let is_other = self.has_other_type(subject) || *provider != subject.provider.source;
        is_other.then(|| previous.clone())
    }

    fn has_other_type(&self, subject: &Subject) -> bool {
        let previous = self.options.moved.get(subject.address());
        previous.is_some_and(|it| it.resource.type_name != subject.address().resource.type_name)
    }

    /// The object that an earlier run of the session read for the same stored object; `Some(None)` if the object
    /// no longer existed then. Objects are read at the start of a session and on request, not after every edit.
    fn read_before(&self, subject: &Subject, stored: &Arc<Object>) -> Option<Option<Arc<Object>>> {
        let planned = self.reuse.memo(|memo| {
            let known = memo.object(&subject.object)?;
            (known.prior.as_ref() == Some(stored)).then(|| Rc::clone(&known.planned))
        })?;
        planned.drift.iter().for_each(|it| self.decisions.add_drift(it.clone()));
        // The dependencies follow from the configuration, which may have changed.
        let as_stored = |it: &Arc<Object>| it.with_dependencies(&stored.dependencies);
        Some(planned.refreshed.as_ref().map(as_stored))
    }

    /// Rebuilds the prior of an object that was read before.
    pub(crate) fn prior_of(&self, subject: &Subject, object: Arc<Object>) -> Result<Prior, Failed> {
        Ok(Prior {
            value: remark(&self.object_value(subject, &object)?, &object),
            private: Private::new(Arc::clone(&object.private)),
            identity: self.identity(subject, object.identity.as_ref()),
            tainted: object.status == Status::Tainted,
            object,
        })
    }

    /// Writes an object to the refreshed state, unless it is there already. `None` removes it.
    fn keep_refreshed(&self, subject: &Subject, object: Option<&Arc<Object>>) {
        let is_there = object
            .is_some_and(|object| self.object(subject).is_some_and(|it| Arc::ptr_eq(&it, object)));
        if !is_there {
            self.set_object(subject, object.cloned());
        }
    }

    /// Returns true for an object with a new address in a refresh-only plan. Any other plan has the move among its
    /// changes.
    fn is_only_relocated(&self, subject: &Subject) -> bool {
        self.options.refresh_only && self.options.relocated.contains(subject.address())
    }

    /// Records a change from outside, or that the object has a new address. A deposed object is only to be destroyed,
    /// so its changes do not count, and an object of another type cannot be compared with what it was.
    fn record_drift(&self, subject: &Subject, before: &Prior, after: Option<&Prior>) {
        if subject.is_deposed() || self.has_other_type(subject) {
            return;
        }
        let is_same = |after: &Prior| {
            after.value.without_all_marks().raw_equals(&before.value.without_all_marks())
        };
        let action = match after {
            None => Action::Delete,
            Some(after) if !is_same(after) => Action::Update,
            Some(_) if self.is_only_relocated(subject) => Action::NoOp,
            Some(_) => return,
        };
        let drift = ResourceChange {
            addr: subject.address().clone(),
            previous_addr: None,
            deposed: None,
            provider: subject.provider.clone(),
            change: Change {
                action,
                before: storable(&before.value),
                after: after
                    .map_or_else(|| Value::null(subject.ty().clone()), |it| storable(&it.value)),
                importing: None,
                generated_config: String::new(),
                before_identity: None,
                after_identity: None,
            },
            private: Arc::default(),
            required_replace: Vec::new(),
            reason: None,
        };
        self.decisions.add_drift(Arc::new(drift));
    }
}

impl Walk<'_> {
    async fn upgrade(
        &self,
        subject: &Subject,
        provider: &dyn Provider,
        stored: &Arc<Object>,
    ) -> Result<Prior, Failed> {
        let current = u64::try_from(subject.schema.version()).unwrap_or_default();
        if stored.schema_version > current {
            let detail = format!(
                "The current state of {} was created by a newer provider version than is currently \
                 selected. Upgrade the {} provider to work with this state.",
                subject.text,
                subject.provider.source.for_display()
            );
            self.report_about(&subject.text, Summary::NEWER_PROVIDER_STATE, detail);
            return Err(Failed);
        }
        let raw_state = match &stored.attributes {
            Attributes::Json(text) if stored.schema_version == current => {
                RawState::Json(known_attributes(text, subject.ty()).as_bytes().into())
            }
            Attributes::Json(text) => RawState::Json(text.as_bytes().into()),
            Attributes::Flat(map) => RawState::Flatmap(TreeMap::clone(map)),
        };
        // No provider has such a version, so the provider reports an error instead of reading the object as
        // version 0.
        let version = i64::try_from(stored.schema_version).unwrap_or(i64::MAX);
        let request =
            UpgradeResourceStateRequest { type_name: subject.type_name(), version, raw_state };
        let response = provider.upgrade_resource_state(request).await;
        let StateResponse { state, diagnostics } = response;
        let response =
            MoveResourceStateResponse { state, private: None, identity: None, diagnostics };
        self.upgraded(subject, stored, response, "during upgrade")
    }

    /// Upgrades an identity that was stored with another version of its schema.
    async fn with_current_identity(
        &self,
        subject: &Subject,
        provider: &dyn Provider,
        prior: Prior,
    ) -> Result<Prior, Failed> {
        let (Some(schema), Some(stored)) = (&subject.identity, &prior.object.identity) else {
            return Ok(prior);
        };
        let version = i64::try_from(stored.schema_version).unwrap_or(i64::MAX);
        if version == schema.version() {
            return Ok(prior);
        }
        if version > schema.version() {
            let detail = format!(
                "The current identity of {} was created by a newer provider version than is currently selected. \
                 Upgrade the {} provider to work with this identity.",
                subject.text,
                subject.provider.source.for_display()
            );
            self.report_about(&subject.text, Summary::NEWER_PROVIDER_IDENTITY, detail);
            return Err(Failed);
        }
        let raw_identity = stored.json.as_bytes().into();
        let type_name = subject.type_name();
        let request = UpgradeResourceIdentityRequest { type_name, version, raw_identity };
        let response = provider.upgrade_resource_identity(request).await;
        self.report_provider(response.diagnostics, subject.place(), Some(&subject.text))?;
        let identity = self.encode_identity(subject, response.identity.as_ref());
        let object = Arc::new(Object { identity, ..(*prior.object).clone() });
        Ok(Prior { identity: response.identity, object, ..prior })
    }

    /// Asks a provider to make an object of its own from one of another type or of another provider.
    async fn take_over(
        &self,
        subject: &Subject,
        provider: &dyn Provider,
        stored: &Arc<Object>,
        previous: &ResourceInstance,
    ) -> Result<Prior, Failed> {
        let source = self.state.previous().provider_of(subject.address());
        let source = source.map_or_else(String::new, |it| it.source.to_string());
        let request = MoveResourceStateRequest {
            source_provider_address: source.into(),
            source_type_name: previous.resource.type_name.as_str().into(),
            source_schema_version: i64::try_from(stored.schema_version).unwrap_or(i64::MAX),
            source_state: match &stored.attributes {
                Attributes::Json(text) => RawState::Json(text.as_bytes().into()),
                Attributes::Flat(map) => RawState::Flatmap(TreeMap::clone(map)),
            },
            source_private: Private::new(Arc::clone(&stored.private)),
            source_identity: stored.identity.as_ref().map(|it| SourceIdentity {
                json: it.json.as_bytes().into(),
                schema_version: i64::try_from(it.schema_version).unwrap_or(i64::MAX),
            }),
            target_type_name: subject.type_name(),
        };
        let response = provider.move_resource_state(request).await;
        let stored = Arc::new(without_type(stored, subject.ty()));
        self.upgraded(subject, &stored, response, "during the move from another type")
    }

    /// The object that a provider made of a stored one. `private` and `identity` of the response replace the stored
    /// ones, if they are present.
    fn upgraded(
        &self,
        subject: &Subject,
        stored: &Arc<Object>,
        response: MoveResourceStateResponse,
        when: &str,
    ) -> Result<Prior, Failed> {
        self.report_provider(response.diagnostics, subject.place(), Some(&subject.text))?;
        let Some(value) = self.checked_object(subject, response.state, when)? else {
            let what = format!(
                "Provider {} returned a null object for {} {when}",
                subject.provider.source.for_display(),
                subject.text
            );
            self.report_provider_bug(&subject.text, Summary::NULL_UPGRADE, &what);
            return Err(Failed);
        };
        self.refuse_unknown(subject, &value, &format!("{when}. All values must be known"))?;
        let current = u64::try_from(subject.schema.version()).unwrap_or_default();
        let (private, moved_identity) = (response.private, response.identity);
        let stored_private = Private::new(Arc::clone(&stored.private));
        let value = remark(&self.marked(subject, &value), stored);
        let unchanged = stored.schema_version == current
            && private.is_none()
            && moved_identity.is_none()
            && stored
                .decode(subject.ty())
                .is_ok_and(|old| old.without_all_marks().raw_equals(&value.without_all_marks()));
        let object = if unchanged {
            Arc::clone(stored)
        } else {
            let private = private
                .as_ref()
                .map_or_else(|| Arc::clone(&stored.private), |it| it.as_bytes().into());
            let identity = match &moved_identity {
                Some(identity) => self.encode_identity(subject, Some(identity)),
                None => stored.identity.clone(),
            };
            let kept = Object { schema_version: current, private, identity, ..(**stored).clone() };
            Arc::new(self.encode(subject, &value, kept)?)
        };
        Ok(Prior {
            value,
            private: private.unwrap_or(stored_private),
            identity: moved_identity.or_else(|| self.identity(subject, stored.identity.as_ref())),
            tainted: stored.status == Status::Tainted,
            object,
        })
    }

    /// Reads an object again; `None` if it no longer exists.
    pub(crate) async fn refresh(
        &self,
        subject: &Subject,
        provider: &dyn Provider,
        prior: &Prior,
    ) -> Result<Option<Prior>, Failed> {
        let address = subject.object.clone();
        let id = object_id(&prior.value);
        self.emit(Event::RefreshStart { address: address.clone(), id: id.clone() });
        let result = self.read_again(subject, provider, prior).await;
        let id = match &result {
            Ok(read) => read.as_ref().and_then(|it| object_id(&it.value)),
            Err(_) => id,
        };
        self.emit(Event::RefreshComplete { address, id });
        result
    }

    async fn read_again(
        &self,
        subject: &Subject,
        provider: &dyn Provider,
        prior: &Prior,
    ) -> Result<Option<Prior>, Failed> {
        let request = ReadResourceRequest {
            type_name: subject.type_name(),
            current_state: prior.value.without_all_marks(),
            private: prior.private.clone(),
            provider_meta: subject.provider_meta.clone(),
            identity: prior.identity.clone(),
        };
        let response = provider.read_resource(request).await;
        self.report_provider(response.diagnostics, subject.place(), Some(&subject.text))?;
        let Some(value) = self.checked_object(subject, response.new_state, "during refresh")?
        else {
            return Ok(None);
        };
        let block = subject.schema.block();
        let value = objchange::normalize_legacy(&value, block);
        self.refuse_unknown(
            subject,
            &value,
            "during refresh. All values must be known after a read",
        )?;
        let beside = SideData { private: &response.private, identity: response.identity.as_ref() };
        let known = prior.value.without_all_marks();
        let (value, is_refused) =
            self.without_repeated(subject, &value, &known, &beside, When::Refresh);
        if is_refused {
            return Err(Failed);
        }
        let same_value = value.raw_equals(&known);
        let identity = response.identity.or_else(|| prior.identity.clone());
        let value = remark(&self.marked(subject, &value), &prior.object);
        let same = same_value
            && *response.private.as_bytes() == *prior.object.private
            && same_identity(identity.as_ref(), prior.identity.as_ref());
        let object = if same {
            Arc::clone(&prior.object)
        } else {
            let kept = Object {
                private: response.private.as_bytes().into(),
                identity: self.encode_identity(subject, identity.as_ref()),
                ..(*prior.object).clone()
            };
            Arc::new(self.encode(subject, &value, kept)?)
        };
        Ok(Some(Prior {
            value,
            private: response.private,
            identity,
            tainted: prior.tainted,
            object,
        }))
    }

    /// Checks an object that a provider returned: it must be present, conform to the schema's type and have no
    /// write-only values. `None` if it is null.
    pub(crate) fn checked_object(
        &self,
        subject: &Subject,
        returned: Option<Value>,
        when: &str,
    ) -> Result<Option<Value>, Failed> {
        let provider = || subject.provider.source.for_display();
        let Some(value) = returned else {
            let detail = format!(
                "Provider {} returned no object for {} {when}, and no error either",
                provider(),
                subject.text
            );
            self.report_provider_bug(&subject.text, Summary::NO_OBJECT, &detail);
            return Err(Failed);
        };
        if value.is_null() {
            return Ok(None);
        }
        if let Some(mismatch) = conform::value_conforms(&value, subject.ty()).first() {
            let detail = format!(
                "Provider {} produced an invalid value {when} for {}{}: {}",
                provider(),
                subject.text,
                mismatch.path,
                mismatch.message
            );
            self.report_provider_bug(&subject.text, Summary::INVALID_OBJECT, &detail);
            return Err(Failed);
        }
        let present =
            write_only_values_present(&subject.type_name(), &value, subject.schema.block());
        self.report_provider(present, None, Some(&subject.text))?;
        Ok(Some(value))
    }

    /// Refuses an object with unknown values in the answer to a call after which all must be known. `when` ends the
    /// text of the error.
    fn refuse_unknown(&self, subject: &Subject, value: &Value, when: &str) -> Result<(), Failed> {
        if value.is_wholly_known() {
            return Ok(());
        }
        let detail = format!(
            "Provider {} returned an unknown value for {} {when}",
            subject.provider.source.for_display(),
            subject.text
        );
        self.report_provider_bug(&subject.text, Summary::UNKNOWN_AFTER_READ, &detail);
        Err(Failed)
    }

    /// Encodes a value as an object of the state. Everything besides the attributes comes from `kept`.
    pub(crate) fn encode(
        &self,
        subject: &Subject,
        value: &Value,
        kept: Object,
    ) -> Result<Object, Failed> {
        let stored = value.without_deep(values::MarkKind::Deprecated);
        let encoded = Object::encode(&subject.text, kept.schema_version, &stored, subject.ty())
            .map_err(|error| {
                let detail = format!("The object cannot be kept in the state: {error}.");
                self.report_about(&subject.text, Summary::UNWRITABLE_OBJECT, detail);
                Failed
            })?;
        Ok(Object {
            attributes: encoded.attributes,
            sensitive_paths: encoded.sensitive_paths,
            ..kept
        })
    }

    pub(crate) fn identity(&self, subject: &Subject, stored: Option<&Identity>) -> Option<Value> {
        let schema = subject.identity.as_ref()?;
        let stored =
            stored.filter(|it| i64::try_from(it.schema_version) == Ok(schema.version()))?;
        json::decode(stored.json.as_bytes(), schema.implied_type()).ok()
    }

    pub(crate) fn encode_identity(
        &self,
        subject: &Subject,
        identity: Option<&Value>,
    ) -> Option<Identity> {
        let schema = subject.identity.as_ref()?;
        let json =
            json::encode(identity.filter(|it| !it.is_null())?, schema.implied_type()).ok()?;
        Some(Identity {
            schema_version: u64::try_from(schema.version()).unwrap_or_default(),
            json: json.into(),
        })
    }
}

/// An object of another type, without what only has a meaning there. Sensitive paths of the old type do not tell where
/// a secret is now, so if there are any, every attribute of the new type is sensitive.
fn without_type(stored: &Object, ty: &Type) -> Object {
    let sensitive_paths = match ty {
        Type::Object(attributes) if !stored.sensitive_paths.is_empty() => {
            attributes.iter().map(|(name, _)| Path::root().attr(name)).collect()
        }
        _ => Vec::new(),
    };
    Object { sensitive_paths, private: Arc::default(), identity: None, ..stored.clone() }
}

/// A value as plans store it: without the marks for deprecation.
pub(crate) fn storable(value: &Value) -> Value {
    value.without_deep(values::MarkKind::Deprecated)
}

/// Adds the sensitive marks of a stored object to a value.
fn remark(value: &Value, stored: &Object) -> Value {
    if stored.sensitive_paths.is_empty() {
        return value.clone();
    }
    let marks = values::Marks::from(values::Mark::Sensitive);
    let marks: Vec<_> =
        stored.sensitive_paths.iter().map(|path| (path.clone(), marks.clone())).collect();
    value.with_path_marks(&marks)
}

fn same_identity(a: Option<&Value>, b: Option<&Value>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => a.raw_equals(b),
        _ => false,
    }
}

/// The stored attributes without those that the schema, although of the same version, does not have.
fn known_attributes(text: &Arc<str>, ty: &Type) -> Arc<str> {
    if json::decode(text.as_bytes(), ty).is_ok() {
        return Arc::clone(text);
    }
    json::retain_attributes(text, ty).map_or_else(|_| Arc::clone(text), Arc::from)
}
