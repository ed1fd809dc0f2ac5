//! The table of all ways of misbehaving, each with the context in which it is tested.

use crate::{client::Ask, command::Run, matrix};

/// A way of misbehaving in one context.
#[derive(Clone)]
pub(crate) struct Row {
    /// The section of the page.
    pub(crate) part: &'static str,
    /// The behavior of the plugin. It is also the instruction to the plugin.
    pub(crate) way: String,
    /// A shell script that runs instead of the plugin. Empty for the plugin itself.
    pub(crate) script: &'static str,
    pub(crate) how: How,
}

impl Row {
    /// Returns true if only the timeout ends the wait for the plugin.
    pub(crate) fn says_nothing(&self) -> bool {
        self.way.contains("says nothing") || self.way.contains("does not end it")
    }
}

/// The context in which a way is tested.
#[derive(Clone)]
pub(crate) enum How {
    /// The client starts the plugin.
    Start,
    /// The client sends a request to the plugin.
    Call(Ask),
    /// A command uses the plugin.
    Command(Run),
}

pub(crate) const START: &str = "Start and handshake";
const TRANSPORT: &str = "Transport";
const DIES: &str = "Death and unknown calls";
const SCHEMAS: &str = "Schemas";
const VALUES: &str = "Values";
const SAYS: &str = "Diagnostics";
const OTHER: &str = "Functions, imports and other calls";
const EVERY: &str = "Every call";
const PROVISIONERS: &str = "Calls of provisioner plugins";
const OLD: &str = "Every call of protocol 5";
const VALIDATE: &str = "In `validate`";
const PLAN: &str = "In `plan`";
const APPLY: &str = "In `apply`";
const EPHEMERAL: &str = "Ephemeral resources, in `apply`";
const EXTRA: &str = "Functions, imports, moves and empty answers, in commands";
const INTERRUPT: &str = "Hanging calls with Ctrl-C";
const KILL: &str = "Hanging calls with a killed Mayfly";

/// Plugins that fail to start, as shell scripts.
const STARTS: &[(&str, &str)] = &[
    ("ends at once", "exit 3"),
    ("ends at once and says why", "echo 'missing library, hunter2' >&2; exit 127"),
    ("is killed by a signal", "kill -SEGV $$"),
    ("closes stdout and lives on", "exec >&-; sleep 60"),
    ("says nothing", "exec sleep 60"),
    ("says nothing, and much on stderr", "yes 'much ado' >&2"),
    ("begins its line and does not end it", "printf '1|6|unix|/nowhere|grpc|'; exec sleep 60"),
    ("ends in the middle of its line", "printf '1|6|un'"),
    ("says something else", "echo 'the password is hunter2'; exec sleep 60"),
    ("says something that is no UTF-8", "printf '\\377\\376\\375\\n'; exec sleep 60"),
    ("says terminal escapes", "printf '\\033[2J\\033]0;owned\\007 hello\\n'; exec sleep 60"),
    ("says a line of 10 MB", "head -c 10485760 /dev/zero | tr '\\0' x; echo; exec sleep 60"),
    (
        "says an address of 10 MB",
        "printf '1|6|tcp|'; head -c 10485760 /dev/zero | tr '\\0' 7; echo '|grpc|'; exec sleep 60",
    ),
    ("says three fields", "echo '1|6|unix'; exec sleep 60"),
    ("speaks net/rpc", "echo '1|6|unix|/nowhere|netrpc|'; exec sleep 60"),
    ("has another core version", "echo '2|6|unix|/nowhere|grpc|'; exec sleep 60"),
    ("has another protocol version", "echo '1|4|unix|/nowhere|grpc|'; exec sleep 60"),
    ("has a protocol version that is no number", "echo '1|six|unix|/nowhere|grpc|'; exec sleep 60"),
    ("listens on a pipe", "echo '1|6|pipe|/nowhere|grpc|'; exec sleep 60"),
    ("listens at an address that is none", "echo '1|6|tcp|localhost|grpc|'; exec sleep 60"),
    ("listens on TCP without a certificate", "echo '1|6|tcp|127.0.0.1:1|grpc|'; exec sleep 60"),
    ("listens nowhere", "echo '1|6|unix|/nowhere|grpc|'; exec sleep 60"),
    (
        "has a certificate that is no base64",
        "echo '1|6|unix|/nowhere|grpc|????????????????????????????????????????????????????????????'; exec sleep 60",
    ),
    (
        "has a certificate and speaks plain text",
        "\"$PLUGIN\" | while read -r line; do echo \
         \"${line}QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5eg\"; done",
    ),
    ("leaves a child that holds its streams, and ends", "sleep 300 & echo 'gone' >&2; exit 1"),
    (
        "leaves a child that ignores signals, and ends",
        "sh -c 'trap \"\" TERM HUP INT; sleep 300; sleep 300' & exit 1",
    ),
];

/// Plugins that start and do not accept connections.
const CONNECTIONS: &[&str] =
    &["hangs up", "speaks HTTP/1.1", "speaks something else", "listens and says nothing"];

/// Faults that occur when the schemas are requested.
const TRANSPORTS: &[&str] = &[
    "answers with a page of HTML",
    "answers another type of content",
    "ends its answer without a status",
    "ends in the middle of a message",
    "claims a message of 4 GiB",
    "sends 300 MB",
    "sends a compressed message",
    "sends no message",
    "sends no protocol buffer",
    "sends a field of another type",
    "fails with an endless text",
    "fails with terminal escapes",
    "fails with a secret",
    "fails with a code that is none",
    "says that it is not configured",
    "closes stdout",
    "floods stderr while it works",
    "floods stdout",
    "prints megabytes at once",
    "does not end",
];

const OF_SCHEMAS: &[&str] = &[
    "says an error instead of schemas",
    "has no type for an attribute",
    "has a type that is no JSON",
    "has a type that there is not",
    "has a type nested 10,000 deep",
    "has two attributes of one name",
    "has an attribute and a block of one name",
    "has two blocks of one name",
    "has blocks nested 10,000 deep",
    "has an attribute that is required and computed",
    "has an attribute without a name",
    "has a name that is no UTF-8",
    "has a block of no known nesting",
    "has a negative version",
    "has a function that returns nothing",
];

const OF_VALUES: &[&str] = &[
    "answers a byte that is never used",
    "claims 4 billion entries",
    "claims a list of 4 billion",
    "claims a text of 4 GiB",
    "claims bytes of 4 GiB",
    "nests values 10,000 deep",
    "nests dynamic values 10,000 deep",
    "adds bytes after the value",
    "uses an extension that there is not",
    "damages what it says of an unknown value",
    "answers text that is no UTF-8",
    "repeats a key",
    "answers a number that is none",
    "answers infinity",
    "answers a number of a billion digits",
    "answers a number close to zero",
    "answers a list for a text",
    "leaves an attribute out",
    "repeats an attribute",
    "adds an attribute",
    "answers a value of a type that is none",
    "answers a value of a type that is no text",
    "answers an element too many",
    "answers JSON that is damaged",
    "defers a read",
];

const OF_WORDS: &[&str] = &[
    "says 100,000 things",
    "says 20 MB",
    "says escapes",
    "says a secret",
    "says nothing",
    "says it in no UTF-8",
    "says it of an attribute that is not there",
    "says it of a secret key",
    "says it of a path 10,000 deep",
    "says it with a severity that is none",
];

const OTHERS: &[(&str, Ask)] = &[
    ("returns another type", Ask::Function),
    ("returns an unknown value", Ask::Function),
    ("returns nothing", Ask::Function),
    ("fails at an argument that there is not", Ask::Function),
    ("lists a function that is none", Ask::Functions),
    ("imports another type", Ask::Import),
    ("imports nothing", Ask::Import),
    ("imports the write-only value", Ask::Import),
    ("moves to the write-only value", Ask::Move),
    ("upgrades to the write-only value", Ask::Upgrade),
    ("moves to what cannot be read", Ask::Move),
    ("moves to another identity", Ask::Move),
    ("moves to no identity", Ask::Move),
    ("upgrades to another identity", Ask::UpgradeIdentity),
    ("upgrades to no identity", Ask::UpgradeIdentity),
    ("defers a refresh", Ask::Read),
    ("defers a plan", Ask::Plan),
    ("defers an open", Ask::Open),
    ("opens what cannot be read", Ask::Open),
    ("fails to open and says the secret", Ask::Open),
    ("is to be renewed at a time that is none", Ask::Open),
    ("plans another identity", Ask::Plan),
    ("fails to stop", Ask::Stop),
];

const PLANS: &[&str] = &[
    "dies before ConfigureProvider",
    "dies before PlanResourceChange",
    "dies after PlanResourceChange",
    "does not implement PlanResourceChange",
    "the second time, has an ordinary attribute for a write-only one",
    "the second time, has a sensitive attribute for an ordinary one",
    "the second time, has an attribute of another type",
    "the second time, has one attribute less",
    "the second time, has other words",
    "the second time, requires what was optional",
    "the second time, wants to be configured",
    "once its schemas are cached, has an attribute of another type",
    "is built anew meanwhile",
    "plans something else than was asked for",
    "plans null",
    "plans no value",
    "plans the write-only value",
    "repeats the write-only value elsewhere in its plan",
    "defers a plan",
    "plans another identity",
    "wants to replace for a path that is not there",
    "reads an unknown object",
    "reads no object",
    "defers a refresh",
    "reads the write-only value",
    "upgrades to what cannot be read",
    "upgrades to null",
    "dies before ReadResource",
    "reads null",
    "reads an unknown value",
    "reads something else than was asked for",
    "answers infinity",
    "planning, it says escapes",
    "planning, it says 100,000 things",
    "planning, it says it of an attribute that is not there",
];

const APPLIES: &[&str] = &[
    "dies before ApplyResourceChange",
    "dies while ApplyResourceChange",
    "dies after ApplyResourceChange",
    "panics in ApplyResourceChange",
    "leaves a child in ApplyResourceChange",
    "does not implement ApplyResourceChange",
    "passes on that there is no such call in ApplyResourceChange",
    "makes something else than was planned",
    "makes null",
    "makes an unknown value",
    "makes no value",
    "makes what cannot be read",
    "makes the write-only value",
    "repeats the write-only value elsewhere",
    "makes an infinite number",
    "makes another identity",
    "fails after it made half",
    "plans 100 MB of private data",
    "makes 100 MB of private data",
    "floods stderr while it works",
    "floods stdout",
    "does not end",
    "ignores signals",
    "logs escapes",
    "keeps what was to go",
];

const EPHEMERALS: &[&str] = &[
    "opens null",
    "opens an unknown value",
    "opens something else than was asked for",
    "opens what cannot be read",
    "fails to open and says the secret",
    "defers an open",
    "opens 100 MB of private data",
    "opens a value of 16 MB",
    "dies before OpenEphemeralResource",
    "dies before CloseEphemeralResource",
    "is to be renewed in the past",
    "renews backwards",
    "fails to renew",
    "never renews",
    "never answers CloseEphemeralResource",
    "fails to close and says the secret",
];

/// Shell scripts that run the plugin as a child process, for rows that depend on that.
const IN_A_SHELL: &str = "trap '' TERM HUP INT QUIT; \"$PLUGIN\"; sleep 300; sleep 300";
const BESIDE_A_CHILD: &str =
    "(trap '' TERM HUP INT QUIT; exec setsid sleep 300) & exec \"$PLUGIN\"";

const KILLED: &[(&str, &str, &str)] = &[
    ("never answers GetProviderSchema", "", "plan"),
    ("never answers PlanResourceChange", "", "plan"),
    ("never answers ApplyResourceChange", "", "apply"),
    ("never answers OpenEphemeralResource", "", "apply"),
    ("ignores signals and never answers ApplyResourceChange", "", "apply"),
    ("ignores signals, is without a supervisor and never answers ApplyResourceChange", "", "apply"),
    ("in a shell that ignores signals, never answers ApplyResourceChange", IN_A_SHELL, "apply"),
    (
        "beside a child that ignores signals, never answers PlanResourceChange",
        BESIDE_A_CHILD,
        "plan",
    ),
];

const HANGS: &[(&str, Run)] = &[
    ("never answers GetProviderSchema", Run::Interrupted("plan")),
    ("never answers GetProviderSchema", Run::Interrupted("validate")),
    ("never answers GetResourceIdentitySchemas", Run::Interrupted("validate")),
    ("never answers ValidateResourceConfig", Run::Interrupted("validate")),
    ("never answers ValidateDataResourceConfig", Run::Interrupted("validate")),
    ("never answers ValidateEphemeralResourceConfig", Run::Interrupted("validate")),
    ("never answers CallFunction", Run::Interrupted("validate")),
    ("never answers CallFunction", Run::Interrupted("plan")),
    ("never answers GetFunctions", Run::Interrupted("plan")),
    ("never answers UpgradeResourceState", Run::Interrupted("plan")),
    ("never answers UpgradeResourceIdentity", Run::Interrupted("plan")),
    ("never answers MoveResourceState", Run::Interrupted("plan")),
    ("never answers ReadResource", Run::Interrupted("plan")),
    ("never answers ReadDataSource", Run::Interrupted("plan")),
    ("never answers ImportResourceState", Run::Interrupted("plan")),
    ("never answers ConfigureProvider", Run::Interrupted("plan")),
    ("never answers PlanResourceChange", Run::Interrupted("plan")),
    ("never answers ApplyResourceChange", Run::Interrupted("apply")),
    ("never answers OpenEphemeralResource", Run::Interrupted("apply")),
    ("answers nothing from the change on", Run::Interrupted("apply")),
];

/// All rows, in the order of the page.
pub(crate) fn all() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |part, way: String, script, how| rows.push(Row { part, way, script, how });
    for (way, script) in STARTS {
        add(START, (*way).to_owned(), *script, How::Start);
    }
    for way in CONNECTIONS {
        add(START, (*way).to_owned(), "", How::Start);
    }
    let calls = [
        (TRANSPORT, TRANSPORTS, Ask::Schemas),
        (SCHEMAS, OF_SCHEMAS, Ask::Schemas),
        (VALUES, OF_VALUES, Ask::ReadData),
        (SAYS, OF_WORDS, Ask::ReadData),
    ];
    for (part, ways, ask) in calls {
        for way in ways {
            add(part, (*way).to_owned(), "", How::Call(ask));
        }
    }
    for ask in Ask::ALL {
        for how in ["dies before", "dies while", "dies after", "does not implement"] {
            add(DIES, format!("{how} {}", ask.method()), "", How::Call(ask));
        }
    }
    for (way, ask) in OTHERS {
        add(OTHER, (*way).to_owned(), "", How::Call(*ask));
    }
    let every = matrix::of_transport().chain(matrix::of_values()).chain(matrix::of_words());
    for (way, ask) in every {
        add(EVERY, way, "", How::Call(ask));
    }
    for (way, ask) in matrix::of_version_5() {
        add(OLD, way, "", How::Call(ask));
    }
    for (way, ask) in matrix::of_provisioners() {
        add(PROVISIONERS, way, "", How::Call(ask));
    }
    for (way, script) in [STARTS[0], STARTS[9], STARTS[10], STARTS[11]] {
        add(VALIDATE, way.to_owned(), script, How::Command(Run::ToTheEnd("validate")));
    }
    let commands =
        [(PLAN, PLANS, "plan"), (APPLY, APPLIES, "apply"), (EPHEMERAL, EPHEMERALS, "apply")];
    let validations = [
        "dies before GetProviderSchema",
        "dies before ValidateResourceConfig",
        "has two attributes of one name",
        "validating, it says escapes",
        "validating, it says nothing",
    ];
    for way in validations {
        add(VALIDATE, way.to_owned(), "", How::Command(Run::ToTheEnd("validate")));
    }
    for (part, ways, command) in commands {
        for way in ways {
            let run = match way.starts_with("once its schemas are cached") {
                true => Run::Cached(command),
                false => Run::ToTheEnd(command),
            };
            add(part, (*way).to_owned(), "", How::Command(run));
        }
    }
    for (way, run) in matrix::of_commands() {
        add(EXTRA, way, "", How::Command(run));
    }
    for (way, run) in HANGS {
        add(INTERRUPT, (*way).to_owned(), "", How::Command(*run));
    }
    for (way, script, command) in KILLED {
        add(KILL, (*way).to_owned(), *script, How::Command(Run::Killed(command)));
    }
    rows
}
