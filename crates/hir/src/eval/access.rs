//! `base.name` and `base[key]` (hcl 4.4).

use values::{
    Kind, Marks, Str, Value,
    ops::{self, OpError},
    rules::{self, RuleId},
};

use super::evaluation::{Evaluation, Fault, Outcome};
use crate::{
    expr::{Expr, ExprId, Ref},
    scope::Interrupt,
};

impl Evaluation<'_> {
    pub(super) fn get_attr(&mut self, id: ExprId, base: ExprId, name: &Str) -> Outcome {
        let exprs = self.exprs;
        match &exprs[base] {
            Expr::Ref(Ref::Module(call)) => {
                if let Some(output) = self.module_output(base, call, None, name)? {
                    return Ok(output);
                }
                let module = self.module_with_output(base, call, name)?;
                return Ok(self.attr_of(id, &module, name));
            }
            Expr::Index { base: collection, key } => {
                if let Expr::Ref(Ref::Module(call)) = &exprs[*collection] {
                    return self.attr_of_module_instance(id, base, (*collection, *key), call, name);
                }
            }
            _ => {}
        }
        let value = self.value_to_look_into(base)?;
        Ok(self.attr_of(id, &value, name))
    }

    /// `module.call[key].name`
    fn attr_of_module_instance(
        &mut self,
        id: ExprId,
        instance: ExprId,
        (collection, key): (ExprId, ExprId),
        call: &str,
        name: &Str,
    ) -> Outcome {
        let key_value = self.value(key)?;
        if is_plain_key(&key_value)
            && let Some(output) = self.module_output(instance, call, Some(&key_value), name)?
        {
            return Ok(output);
        }
        let modules = self.module_with_output(collection, call, name)?;
        let value = self.element_of(instance, &modules, &key_value);
        Ok(self.attr_of(id, &value, name))
    }

    /// The value of a module call in which at least one output can be looked for. A reference to an output waits for that
    /// output only; the others may not be known yet.
    fn module_with_output(&mut self, call_at: ExprId, call: &str, output: &str) -> Outcome {
        if let Some(scope) = self.scope {
            let found = scope.module_with_output(call, output);
            if let Some(module) = self.optional(call_at, found)? {
                return Ok(module);
            }
        }
        self.value(call_at)
    }

    fn module_output(
        &mut self,
        at: ExprId,
        call: &str,
        key: Option<&Value>,
        output: &str,
    ) -> Result<Option<Value>, Interrupt> {
        let Some(scope) = self.scope else { return Ok(None) };
        self.optional(at, scope.module_output(call, key, output))
    }

    fn optional(
        &mut self,
        at: ExprId,
        found: Result<Option<Value>, Interrupt>,
    ) -> Result<Option<Value>, Interrupt> {
        match found.transpose() {
            Some(outcome) => self.or_refused(at, outcome).map(Some),
            None => Ok(None),
        }
    }

    pub(super) fn index(&mut self, id: ExprId, base: ExprId, key: ExprId) -> Outcome {
        let exprs = self.exprs;
        if let (Expr::Ref(Ref::Resource(resource)), Some(scope)) = (&exprs[base], self.scope) {
            let key = self.value(key)?;
            if is_plain_key(&key)
                && let Some(instance) =
                    self.optional(base, scope.resource_instance(resource, &key))?
            {
                return Ok(instance);
            }
            let collection = self.value(base)?;
            return Ok(self.element_of(id, &collection, &key));
        }
        let collection = self.value_to_look_into(base)?;
        let key = self.value(key)?;
        Ok(self.element_of(id, &collection, &key))
    }

    /// `value.name`
    fn attr_of(&mut self, at: ExprId, value: &Value, name: &Str) -> Value {
        let name = normalized(name);
        // What is known is found without asking for the type of the whole.
        if let Some(found) = value.as_map().and_then(|entries| entries.get(&*name)) {
            return found.with_marks(&rules::result_marks(RuleId::Attribute, [value]));
        }
        match ops::attribute(value, &name) {
            Ok(found) => found,
            Err(error) => self.op_failed(at, error, value.marks()),
        }
    }

    /// `collection[key]`
    fn element_of(&mut self, at: ExprId, collection: &Value, key: &Value) -> Value {
        if let Some(found) = known_element(collection, key) {
            return found;
        }
        match ops::index(collection, key) {
            Ok(found) if key.is_known() => found,
            // Some element, nobody knows which: it has the marks of all of them.
            Ok(found) => found.with_marks(&collection.deep_marks()),
            Err(error) => self.op_failed(at, error, &collection.marks().union(&key.deep_marks())),
        }
    }

    pub(super) fn op_failed(&mut self, at: ExprId, error: OpError, read: &Marks) -> Value {
        let id = match error.summary {
            "Unsupported attribute" => "unsupported-attribute",
            "Missing map element" => "missing-map-element",
            "Attempt to get attribute from null value" => "attribute-of-null",
            "Attempt to index null value" => "index-of-null",
            "Invalid index" => "invalid-index",
            "Invalid operand" => "invalid-operand",
            _ => "operation-failed",
        };
        self.fail(Fault { at, id, summary: error.summary, detail: error.detail }, read)
    }
}

/// A key with which an instance can be asked for directly. With any other, the collection decides what is said.
fn is_plain_key(key: &Value) -> bool {
    key.marks().is_empty() && matches!(key.kind(), Kind::String(_) | Kind::Number(_))
}

/// The element in the plain case, found without asking for the type of the whole.
fn known_element(collection: &Value, key: &Value) -> Option<Value> {
    if !key.marks().is_empty() {
        return None;
    }
    let (found, rule) = match (collection.kind(), key.kind()) {
        (Kind::List(items) | Kind::Tuple(items), Kind::Number(number)) => {
            (items.get(number.to_usize()?)?, RuleId::IndexCollection)
        }
        (Kind::Map(entries), Kind::String(name)) => (entries.get(name)?, RuleId::IndexCollection),
        (Kind::Object(entries), Kind::String(name)) => (entries.get(name)?, RuleId::IndexObject),
        _ => return None,
    };
    Some(found.with_marks(&rules::result_marks(rule, [collection])))
}

/// Names of attributes are in normalization form C, names in the source may be in another.
fn normalized(name: &Str) -> Str {
    if name.is_ascii() {
        return name.clone();
    }
    match Value::string(name.clone()).kind() {
        Kind::String(name) => name.clone(),
        _ => name.clone(),
    }
}
