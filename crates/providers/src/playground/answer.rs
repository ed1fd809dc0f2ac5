//! The common interface of the answers of all calls, for the gate.

use std::{collections::BTreeMap, sync::Arc, time::SystemTime};

use provider::{
    ApplyResourceChangeResponse, FunctionFault, ImportResourceStateResponse,
    MoveResourceStateResponse, OpenEphemeralResponse, PlanResourceChangeResponse, Private,
    ProviderDiagnostic, ProviderSchemas, ReadDataSourceResponse, ReadResourceResponse,
    RenewEphemeralResponse, StateResponse, UpgradeResourceIdentityResponse,
};
use values::Value;

/// The answer of a call.
pub(super) trait Answer {
    /// Creates the answer of a call that failed before it did anything.
    fn refused(diagnostic: ProviderDiagnostic) -> Self;

    /// Adds an error to the answer.
    fn complain(&mut self, diagnostic: ProviderDiagnostic);

    /// The object in the answer. `None` if the answer has none.
    fn value(&mut self) -> Option<&mut Value> {
        None
    }

    /// The time of the next renewal. `None` if the call is not about renewals.
    fn renew_at(&mut self) -> Option<&mut Option<SystemTime>> {
        None
    }
}

impl Answer for Vec<ProviderDiagnostic> {
    fn refused(diagnostic: ProviderDiagnostic) -> Self {
        vec![diagnostic]
    }

    fn complain(&mut self, diagnostic: ProviderDiagnostic) {
        self.push(diagnostic);
    }
}

impl Answer for Result<Arc<ProviderSchemas>, Vec<ProviderDiagnostic>> {
    fn refused(diagnostic: ProviderDiagnostic) -> Self {
        Err(vec![diagnostic])
    }

    fn complain(&mut self, diagnostic: ProviderDiagnostic) {
        *self = Self::refused(diagnostic);
    }
}

impl<V> Answer for Result<BTreeMap<values::Str, V>, Vec<ProviderDiagnostic>> {
    fn refused(diagnostic: ProviderDiagnostic) -> Self {
        Err(vec![diagnostic])
    }

    fn complain(&mut self, diagnostic: ProviderDiagnostic) {
        *self = Self::refused(diagnostic);
    }
}

impl Answer for Result<Value, FunctionFault> {
    fn refused(diagnostic: ProviderDiagnostic) -> Self {
        Err(FunctionFault { argument: None, message: diagnostic.summary })
    }

    fn complain(&mut self, diagnostic: ProviderDiagnostic) {
        *self = Self::refused(diagnostic);
    }
}

impl Answer for MoveResourceStateResponse {
    fn refused(diagnostic: ProviderDiagnostic) -> Self {
        let diagnostics = vec![diagnostic];
        MoveResourceStateResponse { state: None, private: None, identity: None, diagnostics }
    }

    fn complain(&mut self, diagnostic: ProviderDiagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn value(&mut self) -> Option<&mut Value> {
        self.state.as_mut()
    }
}

impl Answer for StateResponse {
    fn refused(diagnostic: ProviderDiagnostic) -> Self {
        StateResponse { state: None, diagnostics: vec![diagnostic] }
    }

    fn complain(&mut self, diagnostic: ProviderDiagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn value(&mut self) -> Option<&mut Value> {
        self.state.as_mut()
    }
}

impl Answer for UpgradeResourceIdentityResponse {
    fn refused(diagnostic: ProviderDiagnostic) -> Self {
        UpgradeResourceIdentityResponse { identity: None, diagnostics: vec![diagnostic] }
    }

    fn complain(&mut self, diagnostic: ProviderDiagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn value(&mut self) -> Option<&mut Value> {
        self.identity.as_mut()
    }
}

impl Answer for ReadResourceResponse {
    fn refused(diagnostic: ProviderDiagnostic) -> Self {
        ReadResourceResponse {
            new_state: None,
            private: Private::default(),
            identity: None,
            diagnostics: vec![diagnostic],
        }
    }

    fn complain(&mut self, diagnostic: ProviderDiagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn value(&mut self) -> Option<&mut Value> {
        self.new_state.as_mut()
    }
}

impl Answer for PlanResourceChangeResponse {
    fn refused(diagnostic: ProviderDiagnostic) -> Self {
        PlanResourceChangeResponse {
            planned_state: None,
            requires_replace: Vec::new(),
            planned_private: Private::default(),
            planned_identity: None,
            legacy_type_system: false,
            diagnostics: vec![diagnostic],
        }
    }

    fn complain(&mut self, diagnostic: ProviderDiagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn value(&mut self) -> Option<&mut Value> {
        self.planned_state.as_mut()
    }
}

impl Answer for ApplyResourceChangeResponse {
    fn refused(diagnostic: ProviderDiagnostic) -> Self {
        ApplyResourceChangeResponse {
            new_state: None,
            is_undelivered: false,
            private: Private::default(),
            new_identity: None,
            legacy_type_system: false,
            diagnostics: vec![diagnostic],
        }
    }

    fn complain(&mut self, diagnostic: ProviderDiagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn value(&mut self) -> Option<&mut Value> {
        self.new_state.as_mut()
    }
}

impl Answer for ImportResourceStateResponse {
    fn refused(diagnostic: ProviderDiagnostic) -> Self {
        ImportResourceStateResponse { imported: Vec::new(), diagnostics: vec![diagnostic] }
    }

    fn complain(&mut self, diagnostic: ProviderDiagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn value(&mut self) -> Option<&mut Value> {
        self.imported.first_mut().map(|it| &mut it.state)
    }
}

impl Answer for ReadDataSourceResponse {
    fn refused(diagnostic: ProviderDiagnostic) -> Self {
        ReadDataSourceResponse { state: None, diagnostics: vec![diagnostic] }
    }

    fn complain(&mut self, diagnostic: ProviderDiagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn value(&mut self) -> Option<&mut Value> {
        self.state.as_mut()
    }
}

impl Answer for OpenEphemeralResponse {
    fn refused(diagnostic: ProviderDiagnostic) -> Self {
        OpenEphemeralResponse { opened: None, diagnostics: vec![diagnostic] }
    }

    fn complain(&mut self, diagnostic: ProviderDiagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn value(&mut self) -> Option<&mut Value> {
        self.opened.as_mut().map(|it| &mut it.result)
    }

    fn renew_at(&mut self) -> Option<&mut Option<SystemTime>> {
        self.opened.as_mut().map(|it| &mut it.renew_at)
    }
}

impl Answer for RenewEphemeralResponse {
    fn refused(diagnostic: ProviderDiagnostic) -> Self {
        RenewEphemeralResponse {
            renew_at: None,
            private: Private::default(),
            diagnostics: vec![diagnostic],
        }
    }

    fn complain(&mut self, diagnostic: ProviderDiagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn renew_at(&mut self) -> Option<&mut Option<SystemTime>> {
        Some(&mut self.renew_at)
    }
}
