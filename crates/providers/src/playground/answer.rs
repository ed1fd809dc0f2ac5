//! The common interface of the answers of all calls, for the gate.

use std::time::SystemTime;

use provider::{
    ApplyResourceChangeResponse, FunctionFault, ImportResourceStateResponse,
    MoveResourceStateResponse, OpenEphemeralResponse, PlanResourceChangeResponse, Private,
    ProviderDiagnostic, ReadDataSourceResponse, ReadResourceResponse, RenewEphemeralResponse,
    StateResponse, UpgradeResourceIdentityResponse,
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

impl<T> Answer for Result<T, Vec<ProviderDiagnostic>> {
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

/// Implements [`Answer`] for responses that are about one object. Each line has the fields of a response that failed,
/// and the place of the object.
macro_rules! answers_with_object {
    ($($response:ident { $($field:ident: $none:expr),* }, $object:expr;)*) => {$(
        impl Answer for $response {
            fn refused(diagnostic: ProviderDiagnostic) -> Self {
                $response { $($field: $none,)* diagnostics: vec![diagnostic] }
            }

            fn complain(&mut self, diagnostic: ProviderDiagnostic) {
                self.diagnostics.push(diagnostic);
            }

            fn value(&mut self) -> Option<&mut Value> {
                let object: fn(&mut Self) -> Option<&mut Value> = $object;
                object(self)
            }
        }
    )*};
}

answers_with_object! {
    StateResponse { state: None }, |it| it.state.as_mut();
    UpgradeResourceIdentityResponse { identity: None }, |it| it.identity.as_mut();
    ReadDataSourceResponse { state: None }, |it| it.state.as_mut();
    ImportResourceStateResponse { imported: Vec::new() },
        |it| it.imported.first_mut().map(|it| &mut it.state);
    MoveResourceStateResponse { state: None, private: None, identity: None },
        |it| it.state.as_mut();
    ReadResourceResponse { new_state: None, private: Private::default(), identity: None },
        |it| it.new_state.as_mut();
    PlanResourceChangeResponse {
        planned_state: None,
        requires_replace: Vec::new(),
        planned_private: Private::default(),
        planned_identity: None,
        legacy_type_system: false
    }, |it| it.planned_state.as_mut();
    ApplyResourceChangeResponse {
        new_state: None,
        is_undelivered: false,
        private: Private::default(),
        new_identity: None,
        legacy_type_system: false
    }, |it| it.new_state.as_mut();
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
