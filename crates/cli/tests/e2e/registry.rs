//! Installation from registries that speak the real protocols over TLS, compared with the real `tofu` where it is
//! available.

mod buckets;
mod cache;
mod distribution;
mod faults;
mod git;
mod modules;
mod oci;
mod progress;
mod providers;
mod ssh;
