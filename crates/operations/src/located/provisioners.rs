//! The executables of provisioner plugins: their schemas, and starting them.

use std::{process::Command, sync::Arc};

use db::{Diagnostic, Sources, Summary};
use engine::{CancelLevel, LogLevel, PluginName, Redactor};
use hir::provisioner::ProvisionerSchemas;
use plugin::{GrpcProvisioner, LaunchOptions, PluginSink};
use provider::{Block, ProviderDiagnostic, Provisioner};
use sorted::TreeSet;
use values::Str;

use super::{Logging, ProviderExecutables, READ_AHEAD, Redaction, interrupted, is_script};
use crate::{
    session::{Failure, Session},
    view::Run,
};

impl ProviderExecutables {
    /// Returns true if there are provisioner plugins.
    pub fn has_provisioners(&self) -> bool {
        !self.provisioners.is_empty()
    }

    /// The schemas of those among the provisioners that are plugins. They come from the cache if the executable is
    /// unchanged, otherwise from the plugin itself.
    ///
    /// # Errors
    /// If a plugin cannot be started, or has no usable schema.
    pub fn provisioner_schemas(
        &self,
        session: &Session,
        kinds: &TreeSet<Str>,
    ) -> Result<ProvisionerSchemas, Failure> {
        let mut schemas = ProvisionerSchemas::new();
        for kind in kinds.iter().filter(|it| self.provisioners.contains_key(&***it)) {
            let executable = &self.provisioners[&**kind];
            let cached = Some(executable).filter(|it| !is_script(it));
            let schema = match cached.and_then(|it| self.cache.provisioner(it)) {
                Some(schema) => schema,
                None => self.read_provisioner_schema(session, kind)?,
            };
            schemas.insert(kind.clone(), Some(schema));
        }
        Ok(schemas)
    }

    /// Fills the cache with the schemas of these provisioners, as far as they are plugins. One that fails is skipped;
    /// the command that needs it reports the error.
    pub fn read_ahead_provisioners(&self, session: &Session, kinds: &TreeSet<Str>) {
        let is_open = |it: &&Str| {
            let executable = self.provisioners.get(&***it);
            executable.is_some_and(|it| self.cache.provisioner(it).is_none())
        };
        let reading = async {
            for kind in kinds.iter().filter(is_open) {
                if let Ok(schema) = self.ask_provisioner_schema(session, kind).await {
                    self.cache.put_provisioner(&self.provisioners[&**kind], &schema);
                }
            }
        };
        session.runtime.block_on(async {
            // A plugin that hangs must not block the command.
            let _ = tokio::time::timeout(READ_AHEAD, reading).await;
        });
    }

    fn read_provisioner_schema(
        &self,
        session: &Session,
        kind: &Str,
    ) -> Result<Arc<Block>, Failure> {
        let schema = session.runtime.block_on(async {
            tokio::select! {
                biased;
                schema = self.ask_provisioner_schema(session, kind) => schema,
                // No operation has begun, so an interrupt can end the command at once.
                () = session.cancel.reached(CancelLevel::Stopping) => {
                    Err(Box::new(interrupted(&format!("provisioner {kind}"), "GetSchema")))
                }
            }
        })?;
        self.cache.put_provisioner(&self.provisioners[&**kind], &schema);
        Ok(schema)
    }

    async fn ask_provisioner_schema(
        &self,
        session: &Session,
        kind: &Str,
    ) -> Result<Arc<Block>, Box<Diagnostic>> {
        let plugin = PluginName::Provisioner(kind.clone());
        session.view.log(
            LogLevel::Debug,
            "provisioner",
            &format!("{kind}: reading the schema from its process"),
        );
        let log = session.view.run(Run::Quiet, &Sources::default(), &session.redactor);
        let sink = Arc::new(Logging { plugin, log: Arc::clone(&log) });
        let provisioner = self.start_provisioner(kind, &session.redactor, sink).await?;
        let schema = provisioner.schema().await;
        provisioner.close().await;
        log.end_log();
        schema.map_err(|found| Box::new(no_schema(kind, &found)))
    }

    /// Starts a provisioner plugin.
    pub(super) async fn start_provisioner(
        &self,
        kind: &Str,
        redactor: &Redactor,
        sink: Arc<dyn PluginSink>,
    ) -> Result<Arc<dyn Provisioner>, Box<Diagnostic>> {
        let failed = |why: &str| {
            let detail = format!("The provisioner \"{kind}\" could not be started: {why}");
            Box::new(Diagnostic::new(Summary::PROVISIONER_START, detail))
        };
        let executable = self.provisioners.get(&**kind);
        let executable = executable.ok_or_else(|| failed("there is no plugin."))?;
        let mut command = Command::new(executable);
        self.environment.prepare_provider(&mut command);
        let redact = Arc::new(Redaction(redactor.clone()));
        let mut options = LaunchOptions::new(&**kind, self.processes.clone(), sink, redact);
        options.tls = self.tls;
        let plugin = PluginName::Provisioner(kind.clone());
        let before = self.runs(&plugin).and_then(|it| self.cache.fingerprint(it));
        let process = plugin::launch(command, options).await;
        let process = process.map_err(|it| failed(&redactor.redact(&it.to_string())))?;
        self.note_started(&plugin, before.as_ref());
        Ok(Arc::new(GrpcProvisioner::new(process)))
    }
}

fn no_schema(kind: &str, found: &[ProviderDiagnostic]) -> Diagnostic {
    let reasons: Vec<String> =
        found.iter().map(|it| format!("{}: {}", it.summary, it.detail)).collect();
    let detail = format!("The provisioner \"{kind}\" gave no schema. {}", reasons.join("\n"));
    Diagnostic::new(Summary::PROVISIONER_SCHEMA, detail)
}
