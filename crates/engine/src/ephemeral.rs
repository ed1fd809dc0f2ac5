//! The ephemeral resources that a run has opened, and their values. `ephemeral/work.rs` opens, renews and closes
//! them.

mod work;

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::Arc,
    time::{Duration, SystemTime},
};

use addr::ResourceInstance;
use hir::Entry;
use provider::{Private, Provider};
use rustc_hash::FxHashMap;
use tokio::{sync::Notify, time::Instant};
use values::Str;

use crate::{graph::NodeIx, journal::Number};

/// The time that a close waits for a running renewal. The close is more important, because it releases the
/// resource.
const RENEWAL_GRACE: Duration = Duration::from_secs(2);

/// The index of an opened ephemeral resource in [`EphemeralStore`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct OpenIx(u32);

/// The ephemeral resources of a run. Their values are outcomes of nodes, and are dropped when the resource is
/// closed.
pub(crate) struct EphemeralStore {
    open: RefCell<Vec<Rc<Open>>>,
    by_node: RefCell<FxHashMap<NodeIx, Vec<OpenIx>>>,
    /// Opened resources that must be renewed, and for which no task does that yet.
    unattended: RefCell<Vec<OpenIx>>,
    started: SystemTime,
    origin: Instant,
    /// Set once no task waits for the next renewal any more. `rest_begins` notifies the waiting tasks.
    rests: Cell<bool>,
    rest_begins: Notify,
}

/// An open ephemeral resource.
pub(crate) struct Open {
    /// The node of this run that opened the resource; `None` if an earlier run did.
    node: Cell<Option<NodeIx>>,
    /// The declaration, for later diagnostics.
    entry: RefCell<Entry>,
    address: ResourceInstance,
    /// The journal entry of the opening.
    opening: Number,
    provider: Arc<dyn Provider>,
    private: RefCell<Private>,
    renewal: Renewal,
    closing: Cell<bool>,
    /// True if the provider was asked to close the resource.
    close_called: Cell<bool>,
    /// Notified when the close begins, so that tasks stop waiting for the next renewal.
    close_begins: Notify,
}

/// The renewals of an open ephemeral resource.
struct Renewal {
    /// The time of the next renewal; `None` if the resource needs none.
    at: Cell<Option<SystemTime>>,
    /// The time of the opening or of the last renewal.
    last: Cell<Instant>,
    /// True if a renewal failed: the value must not be used any more.
    has_failed: Cell<bool>,
    /// Allows one renewal at a time. The close waits for a running renewal, which then ends soon.
    running: tokio::sync::Mutex<()>,
}

impl Renewal {
    /// The renewals of a resource that was opened just now.
    fn new(at: Option<SystemTime>) -> Renewal {
        Renewal {
            at: Cell::new(at),
            last: Cell::new(Instant::now()),
            has_failed: Cell::new(false),
            running: tokio::sync::Mutex::new(()),
        }
    }
}

impl Open {
    /// Returns the provider process that opened the resource.
    pub(crate) fn provider(&self) -> &Arc<dyn Provider> {
        &self.provider
    }

    fn type_name(&self) -> Str {
        Str::from(self.address.resource.type_name.as_str())
    }

    /// Returns true if the resource can no longer be used.
    pub(crate) fn is_spent(&self) -> bool {
        self.renewal.has_failed.get() || self.closing.get()
    }

    /// Completes when a running renewal must make way for the close.
    async fn close_is_overdue(&self) {
        let begins = self.close_begins.notified();
        if !self.closing.get() {
            begins.await;
        }
        tokio::time::sleep(RENEWAL_GRACE).await;
    }
}

impl EphemeralStore {
    pub(crate) fn new(now: SystemTime) -> EphemeralStore {
        EphemeralStore {
            open: RefCell::default(),
            by_node: RefCell::default(),
            unattended: RefCell::default(),
            started: now,
            origin: Instant::now(),
            rests: Cell::new(false),
            rest_begins: Notify::new(),
        }
    }

    /// Adds a resource that an earlier run opened.
    pub(crate) fn adopt(&self, open: Rc<Open>) {
        open.node.set(None);
        self.push(open);
    }

    /// Ends all waiting for renewals. A running renewal continues to its end.
    pub(crate) fn rest(&self) {
        self.rests.set(true);
        self.rest_begins.notify_waiters();
    }

    pub(crate) fn index_of(&self, open: &Rc<Open>) -> Option<OpenIx> {
        let index = self.open.borrow().iter().position(|it| Rc::ptr_eq(it, open))?;
        Some(OpenIx(index as u32))
    }

    /// Returns all resources that were opened or adopted.
    pub(crate) fn all(&self) -> Vec<OpenIx> {
        (0..self.open.borrow().len() as u32).map(OpenIx).collect()
    }

    /// Takes the resources that must be renewed and for which no task does that yet.
    pub(crate) fn take_unattended(&self) -> Vec<OpenIx> {
        self.unattended.take()
    }

    /// Returns the resources that a node opened and whose close has not begun.
    pub(crate) fn opened_by(&self, node: NodeIx) -> Vec<OpenIx> {
        let (open, by_node) = (self.open.borrow(), self.by_node.borrow());
        let of_node = by_node.get(&node).into_iter().flatten().copied();
        of_node.filter(|it| !open[it.0 as usize].closing.get()).collect()
    }

    pub(crate) fn get(&self, open: OpenIx) -> Rc<Open> {
        Rc::clone(&self.open.borrow()[open.0 as usize])
    }

    fn add(&self, node: NodeIx, open: Open) -> OpenIx {
        let index = self.push(Rc::new(open));
        self.by_node.borrow_mut().entry(node).or_default().push(index);
        index
    }

    fn push(&self, open: Rc<Open>) -> OpenIx {
        let mut all = self.open.borrow_mut();
        let index = OpenIx(all.len() as u32);
        if open.renewal.at.get().is_some() {
            self.unattended.borrow_mut().push(index);
        }
        all.push(open);
        index
    }
}
