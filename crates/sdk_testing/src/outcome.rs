//! The outcome of a step, in the same form for each core.

use std::collections::BTreeMap;

use serde_json::Value as Json;

/// The planned action for an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// The object stays as it is.
    NoOp,
    /// The object is created.
    Create,
    /// The data source is read during the apply.
    Read,
    /// The object is updated.
    Update,
    /// The object is deleted.
    Delete,
    /// The object is deleted and created again.
    Replace,
    /// The object is forgotten.
    Forget,
}

/// The outcome of a step.
#[derive(Default)]
pub struct Outcome {
    /// The errors: `summary: detail`.
    pub errors: Vec<String>,
    /// The warnings: `summary: detail`.
    pub warnings: Vec<String>,
    /// The planned actions by address.
    pub actions: BTreeMap<String, Action>,
    /// The objects that a refresh found changed, by address.
    pub drifted: Vec<String>,
    /// The attributes of the objects in the state by address, as in a state file.
    pub objects: BTreeMap<String, Json>,
    /// The outputs of the root module in the state.
    pub outputs: BTreeMap<String, Json>,
    /// The contents of the written files, and the printed output.
    pub(crate) written: Vec<Vec<u8>>,
}

impl Outcome {
    /// Returns an attribute of an object: names and indexes, separated by dots, such as `rule.0.name`. `None` if the
    /// object does not exist or has no such part.
    #[must_use]
    pub fn attribute(&self, address: &str, path: &str) -> Option<&Json> {
        let object = self.objects.get(address)?;
        path.split('.').try_fold(object, |part, step| match part {
            Json::Array(elements) => elements.get(step.parse::<usize>().ok()?),
            other => other.get(step),
        })
    }

    /// Reads the objects and outputs of a state file.
    ///
    /// # Errors
    /// If the text is not the JSON of a state file.
    pub(crate) fn read_state(&mut self, text: &[u8]) -> Result<(), String> {
        let state: Json = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        let outputs = state["outputs"].as_object().into_iter().flatten();
        self.outputs = outputs.map(|(name, it)| (name.clone(), it["value"].clone())).collect();
        self.objects.clear();
        for resource in state["resources"].as_array().into_iter().flatten() {
            let address = address(resource);
            let instances = resource["instances"].as_array().into_iter().flatten();
            for instance in instances.filter(|it| it.get("deposed").is_none()) {
                let key = instance.get("index_key").map(|it| format!("[{it}]")).unwrap_or_default();
                self.objects.insert(format!("{address}{key}"), instance["attributes"].clone());
            }
        }
        Ok(())
    }
}

/// The address of a resource in a state file.
fn address(resource: &Json) -> String {
    let text = |name: &str| resource[name].as_str().unwrap_or_default();
    let module = match text("module") {
        "" => String::new(),
        module => format!("{module}."),
    };
    let mode = if text("mode") == "data" { "data." } else { "" };
    format!("{module}{mode}{}.{}", text("type"), text("name"))
}
