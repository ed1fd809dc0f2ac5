//! The expressions `$(body.x)` in paths, headers and bodies, and the locators of polling.
//!
//! Start reading at [`expand`], then [`functions`], the functions of `$escape(body.x)`, and [`locator`], which names
//! the part of an answer that has a status, a URL or an expiry.
//!
//! **Invariant:** a replaced text is never searched for expressions again, so an answer cannot inject one.
//! **Invariant:** no error quotes a value of an answer, which may be secret; errors quote only expressions.

pub mod expand;
pub mod functions;
pub mod locator;
