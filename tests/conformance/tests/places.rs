//! The product of every source of ephemeral values and every place where one is or is not allowed. `validate` and
//! `plan` must agree on each pair, and an allowed value must leave no trace in the plan or the state.

mod places {
    pub(crate) mod allowed;
    pub(crate) mod judge;
    pub(crate) mod refused;
    pub(crate) mod sources;
    pub(crate) mod special;
}
