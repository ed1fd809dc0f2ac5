//! System calls that a provider does not need, with seccomp.
//!
//! The list names what is refused. A list of what is permitted would break providers on each new version of a language
//! or a kernel, and Landlock already guards files and ports.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Op, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, apply_filter,
};

use crate::{
    Policy,
    support::{RestrictError, Start},
};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;
type Result<T> = std::result::Result<T, seccompiler::BackendError>;

/// Calls for debuggers, administrators and the kernel's own subsystems.
const NEVER: &[c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_execveat,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

/// Calls with numbers that the library does not name yet. They are the same on every processor.
const FCHMODAT2: c_long = 452;
const SETXATTRAT: c_long = 463;
const REMOVEXATTRAT: c_long = 466;
const FILE_SETATTR: c_long = 469;

/// Calls that change the owner or the attributes of the file at a path, which Landlock does not limit. Those for an
/// open file are permitted, because Landlock limits which files can be opened.
const ATTRIBUTES: &[c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    libc::SYS_fchownat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_setxattr,
    FILE_SETATTR,
    REMOVEXATTRAT,
    SETXATTRAT,
];

/// Calls that change the mode or the times of the file at a path, which Landlock does not limit either. `utimensat`
/// is not among them, because languages use it for open files, too.
const MODES: &[c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    libc::SYS_fchmodat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    FCHMODAT2,
];

/// Memory, semaphores and queues that programs of the same user share by number or name.
const SHARED: &[c_long] = &[
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_msgctl,
    libc::SYS_msgget,
    libc::SYS_msgrcv,
    libc::SYS_msgsnd,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmget,
];

/// Flags with which a process gets a namespace of its own, in which it has all privileges.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// The kinds of sockets that the kernel may know, without the flags that may be added to them.
const KINDS: std::ops::Range<i32> = 0..16;

/// Returns true if there are filters for this processor.
pub(crate) fn has_filters() -> bool {
    TargetArch::try_from(std::env::consts::ARCH).is_ok()
}

/// Refuses system calls for this process. Does nothing on a processor without filters.
pub(crate) fn restrict(
    policy: &Policy,
    start: Start<'_>,
) -> std::result::Result<(), RestrictError> {
    if !has_filters() {
        return Ok(());
    }
    let refused = |error: &dyn std::fmt::Display| RestrictError::Refused(error.to_string());
    let programs = programs(policy, start).map_err(|error| refused(&error))?;
    for program in programs {
        apply_filter(&program).map_err(|error| refused(&error))?;
    }
    Ok(())
}

fn programs(policy: &Policy, start: Start<'_>) -> Result<Vec<BpfProgram>> {
    // The C library and the Go runtime fall back to `clone`, whose flags a filter can see.
    let rules = Rules::from([(libc::SYS_clone3, Vec::new())]);
    let mut programs = vec![compile(rules, libc::ENOSYS)?];
    programs.push(compile(refused_calls(policy, start)?, libc::EPERM)?);
    #[cfg(target_arch = "x86_64")]
    programs.push(without_x32());
    Ok(programs)
}

fn compile(rules: Rules, error: i32) -> Result<BpfProgram> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let action = SeccompAction::Errno(error.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, action, arch)?.try_into()
}

fn refused_calls(policy: &Policy, start: Start<'_>) -> Result<Rules> {
    let modes = if policy.grants.modes { &[] } else { MODES };
    let calls = [NEVER, ATTRIBUTES, SHARED, modes].concat();
    let mut rules: Rules = calls.into_iter().map(|it| (it, Vec::new())).collect();
    // Only some processors have these calls.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    rules.insert(libc::SYS_kexec_file_load, Vec::new());
    #[cfg(target_arch = "x86_64")]
    rules.extend([(libc::SYS_ioperm, Vec::new()), (libc::SYS_iopl, Vec::new())]);
    refuse_processes(policy, &mut rules)?;
    // Zero is the process itself.
    rules.insert(libc::SYS_prlimit64, vec![all(vec![is_not(0, 0)])?]);
    if matches!(start, Start::InProcess) && !policy.grants.processes {
        rules.insert(libc::SYS_execve, Vec::new());
    }
    // Input that the terminal of the user would take for typed text.
    let typed = [libc::TIOCSTI, libc::TIOCLINUX].map(|it| all(vec![is(1, it)]));
    let typed: Result<Vec<_>> = typed.into_iter().collect();
    rules.insert(libc::SYS_ioctl, typed?);
    refuse_sockets(policy, &mut rules)?;
    Ok(rules)
}

/// Refuses namespaces, and every way to a new process unless the policy permits it; threads stay possible.
fn refuse_processes(policy: &Policy, rules: &mut Rules) -> Result<()> {
    let flag = |flag: i32, value: u64| {
        all(vec![SeccompCondition::new(0, Length::Dword, Op::MaskedEq(of(flag)), value)])
    };
    let namespaces = NAMESPACES.into_iter().map(|it| flag(it, of(it)));
    let mut clones = namespaces.collect::<Result<Vec<_>>>()?;
    if !policy.grants.processes {
        clones.push(flag(libc::CLONE_THREAD, 0)?);
        #[cfg(target_arch = "x86_64")]
        rules.extend([(libc::SYS_fork, Vec::new()), (libc::SYS_vfork, Vec::new())]);
    }
    rules.insert(libc::SYS_clone, clones);
    Ok(())
}

/// Refuses sockets that Landlock does not limit, as far as providers can do without them. UDP is not refused if there
/// is a network at all, because the names of hosts are resolved over it.
fn refuse_sockets(policy: &Policy, rules: &mut Rules) -> Result<()> {
    let (unix, netlink) = (libc::AF_UNIX, libc::AF_NETLINK);
    let networks = [libc::AF_INET, libc::AF_INET6];
    let mut sockets = Vec::new();
    if policy.is_offline() {
        sockets.push(all(vec![is_not(0, unix)])?);
    } else {
        let known = [unix, netlink].into_iter().chain(networks);
        sockets.push(all(known.map(|it| is_not(0, it)).collect())?);
        sockets.push(all(vec![is(0, of(netlink)), is_not(2, libc::NETLINK_ROUTE)])?);
        for network in networks {
            let is_network = || is(0, of(network));
            sockets.extend(other_kinds(network, [libc::SOCK_STREAM, libc::SOCK_DGRAM])?);
            // Landlock limits TCP, and no other protocol with connections, such as MPTCP.
            let other = vec![
                is_network(),
                is_kind(libc::SOCK_STREAM),
                is_not(2, 0),
                is_not(2, libc::IPPROTO_TCP),
            ];
            sockets.push(all(other)?);
        }
    }
    if policy.grants.connect.is_empty() {
        // Without connections, the sockets of other programs on this machine cannot be reached either. Datagrams
        // need no connection.
        rules.insert(libc::SYS_connect, Vec::new());
        let connected = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET];
        sockets.extend(other_kinds(unix, connected)?);
        rules.insert(libc::SYS_socketpair, other_kinds(unix, connected)?);
    }
    rules.insert(libc::SYS_socket, sockets);
    // A message that opens its own connection, which Landlock does not see.
    for (call, flags) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)] {
        let opens = of(libc::MSG_FASTOPEN);
        let condition = SeccompCondition::new(flags, Length::Dword, Op::MaskedEq(opens), opens);
        rules.insert(call, vec![all(vec![condition])?]);
    }
    Ok(())
}

/// Rules that apply to the sockets of a family that are of other kinds than these. Some kinds have more than one
/// number: `SOCK_RAW` makes a datagram socket of Unix, and `SOCK_PACKET` a packet socket.
fn other_kinds(family: i32, permitted: [i32; 2]) -> Result<Vec<SeccompRule>> {
    let others = KINDS.filter(|it| !permitted.contains(it));
    others.map(|kind| all(vec![is(0, of(family)), is_kind(kind)])).collect()
}

/// A rule that applies if all conditions do.
fn all(conditions: Vec<Result<SeccompCondition>>) -> Result<SeccompRule> {
    SeccompRule::new(conditions.into_iter().collect::<Result<Vec<_>>>()?)
}

fn of(number: i32) -> u64 {
    u64::from(number.unsigned_abs())
}

fn is(argument: u8, value: u64) -> Result<SeccompCondition> {
    SeccompCondition::new(argument, Length::Dword, Op::Eq, value)
}

fn is_not(argument: u8, value: i32) -> Result<SeccompCondition> {
    SeccompCondition::new(argument, Length::Dword, Op::Ne, of(value))
}

/// The kind of a socket, without the flags that may be added to it.
fn is_kind(kind: i32) -> Result<SeccompCondition> {
    SeccompCondition::new(1, Length::Dword, Op::MaskedEq(0xf), of(kind))
}

/// Refuses the calls of the x32 interface, which have numbers of their own and would pass the other filters.
#[cfg(target_arch = "x86_64")]
fn without_x32() -> BpfProgram {
    use seccompiler::sock_filter;
    const X32: u32 = 0x4000_0000;
    let of = |code: u32, jf: u8, k: u32| sock_filter {
        code: u16::try_from(code).unwrap_or_default(),
        jt: 0,
        jf,
        k,
    };
    vec![
        // The number of the call is the first field.
        of(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        of(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 1, X32),
        of(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs()),
        of(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ]
}
