//! Files, TCP ports, signals and abstract sockets, with Landlock.

use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope, make_bitflags,
    path_beneath_rules,
};

use super::interpreter;
use crate::{
    Policy, Ports,
    policy::DNS,
    support::{RestrictError, Start},
    system,
};

const READ: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | ReadDir});

/// Restricts this process as far as the kernel can. The caller has checked what a required policy needs.
pub(crate) fn restrict(policy: &Policy, start: Start<'_>) -> Result<(), RestrictError> {
    ruleset(policy, start)
        .and_then(RulesetCreated::restrict_self)
        .map(drop)
        .map_err(|error| RestrictError::Refused(error.to_string()))
}

fn ruleset(policy: &Policy, start: Start<'_>) -> Result<RulesetCreated, RulesetError> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V9))?
        .scope(Scope::from_all(ABI::V6))?;
    let limits = [
        (&policy.grants.connect, AccessNet::ConnectTcp),
        (&policy.grants.bind, AccessNet::BindTcp),
    ];
    for (ports, access) in &limits {
        if matches!(ports, Ports::Only(_)) {
            ruleset = ruleset.handle_access(*access)?;
        }
    }
    let mut ruleset = permit_files(ruleset.create()?, policy, start)?;
    for (ports, access) in limits {
        let Ports::Only(ports) = ports else { continue };
        let dns = (access == AccessNet::ConnectTcp && !policy.is_offline()).then_some(DNS);
        for port in ports.iter().copied().chain(dns) {
            ruleset = ruleset.add_rule(NetPort::new(port, access))?;
        }
    }
    Ok(ruleset)
}

fn permit_files(
    ruleset: RulesetCreated,
    policy: &Policy,
    start: Start<'_>,
) -> Result<RulesetCreated, RulesetError> {
    let grants = &policy.grants;
    let programs = match grants.processes {
        true => READ | AccessFs::Execute,
        false => READ,
    };
    // Nothing may be created that stands for hardware. A directory that is only written permits no execution, so a
    // provider cannot bring a program of its own.
    let write = READ
        | AccessFs::from_write(ABI::V9)
            & !make_bitflags!(AccessFs::{MakeChar | MakeBlock | IoctlDev});
    let devices = make_bitflags!(AccessFs::{ReadFile | WriteFile | Truncate});
    ruleset
        .add_rules(path_beneath_rules(system::PROGRAMS, programs))?
        .add_rules(path_beneath_rules(system::SETTINGS, READ))?
        .add_rules(path_beneath_rules(system::DEVICES, devices))?
        .add_rules(path_beneath_rules(&grants.read, programs))?
        .add_rules(path_beneath_rules(&grants.write, write))?
        .add_rules(path_beneath_rules(executed(start), READ | AccessFs::Execute))
}

/// The files that the kernel itself opens to execute the program.
fn executed(start: Start<'_>) -> Vec<PathBuf> {
    let Start::Program(program) = start else { return Vec::new() };
    let mut files = vec![program.to_owned()];
    // The interpreter of a script is a program with an interpreter of its own.
    while let Some(next) = files.last().and_then(|it| interpreter::of(it))
        && files.len() <= 4
    {
        files.push(next);
    }
    files
}
