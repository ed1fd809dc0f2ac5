//! Code of the protocols, written by `cargo xtask codegen` from `proto/`.
//!
//! **Invariant:** no message implements `Debug`, because messages carry secrets.

#![expect(
    dead_code,
    unreachable_pub,
    unused_qualifications,
    unused_variables,
    reason = "generated code is not held to the house style"
)]

#[rustfmt::skip]
pub(crate) mod plugin;
#[rustfmt::skip]
pub(crate) mod tfplugin;
#[rustfmt::skip]
pub(crate) mod tfplugin5;
#[rustfmt::skip]
pub(crate) mod tfplugin6;
