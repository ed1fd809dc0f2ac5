//! The expressions `$(body.x)` in paths, headers and bodies, and the locators of polling.
