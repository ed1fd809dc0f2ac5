//! One table: every way to have an ephemeral value × every place where one may be written or may not. `validate` and
//! `plan` must say the same of each pair, and what may be used must leave no trace in plan or state.

mod places {
    pub(crate) mod allowed;
    pub(crate) mod judge;
    pub(crate) mod refused;
    pub(crate) mod sources;
    pub(crate) mod special;
}
