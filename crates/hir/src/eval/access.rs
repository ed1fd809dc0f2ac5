//! Evaluates attribute access and indexing: `base.name` and `base[key]`.

use db::Summary;
use values::{
    Kind, Marks, Str, Value,
    ops::{self, OpError, OpErrorKind},
    rules::{self, RuleId},
};

use crate::{
    eval::evaluation::{Evaluation, Fault, Outcome},
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
                    return self.attr_of_module_instance(id, base, *collection, *key, call, name);
                }
            }
            _ => {}
        }
        let value = self.value_to_look_into(base)?;
        Ok(self.attr_of(id, &value, name))
    }

    /// Evaluates `module.call[key].name`.
    fn attr_of_module_instance(
        &mut self,
        id: ExprId,
        instance: ExprId,
        collection: ExprId,
        key: ExprId,
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

    /// The value of a module call that contains at least the named output. A reference to an output depends only
    /// on that output; the others may still be unknown.
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

    /// Evaluates `value.name`.
    fn attr_of(&mut self, at: ExprId, value: &Value, name: &Str) -> Value {
        let name = normalized(name);
        // Look up a known attribute directly, because computing the type of the whole object is expensive.
        if let Some(found) = value.as_map().and_then(|entries| entries.get(&*name)) {
            let found = found.with_marks(&rules::result_marks(RuleId::Attribute, [value]));
            return self.readable(at, found);
        }
        match ops::attribute(value, &name) {
            Ok(found) => self.readable(at, found),
            Err(error) => self.op_failed(at, error, value.marks()),
        }
    }

    /// Evaluates `collection[key]`.
    fn element_of(&mut self, at: ExprId, collection: &Value, key: &Value) -> Value {
        if let Some(found) = known_element(collection, key) {
            return self.readable(at, found);
        }
        match ops::index(collection, key) {
            Ok(found) if key.is_known() => self.readable(at, found),
            // The key is unknown, so the result may be any element and carries the marks of all.
            Ok(found) => found.with_marks(&collection.deep_marks()),
            Err(error) => self.op_failed(at, error, &collection.marks().union(&key.deep_marks())),
        }
    }

    /// Refuses a withheld value. A value that only contains one can be passed on.
    fn readable(&mut self, at: ExprId, value: Value) -> Value {
        if !value.is_withheld() {
            return value;
        }
        let detail = "The provider of this object repeated a write-only value here, and Mayfly did not store it. Use \
                      the source of the value instead, such as the variable or the ephemeral resource that the \
                      write-only attribute gets it from."
            .to_owned();
        let fault = Fault { at, summary: Summary::WITHHELD_VALUE, detail };
        self.fail(fault, value.marks())
    }

    pub(super) fn op_failed(&mut self, at: ExprId, error: OpError, read: &Marks) -> Value {
        let summary = match error.kind {
            OpErrorKind::NoAttribute => Summary::UNSUPPORTED_ATTRIBUTE,
            OpErrorKind::NoElement => Summary::MISSING_MAP_ELEMENT,
            OpErrorKind::AttributeOfNull => Summary::ATTRIBUTE_OF_NULL,
            OpErrorKind::IndexOfNull => Summary::INDEX_OF_NULL,
            OpErrorKind::Index => Summary::INVALID_INDEX,
            OpErrorKind::Operand => Summary::INVALID_OPERAND,
            OpErrorKind::Operation => Summary::OPERATION_FAILED,
        };
        self.fail(Fault { at, summary, detail: error.detail }, read)
    }
}

/// Returns true if the key selects an instance directly. For other keys, the collection decides on the diagnostic.
fn is_plain_key(key: &Value) -> bool {
    key.marks().is_empty() && matches!(key.kind(), Kind::String(_) | Kind::Number(_))
}

/// The element for a known, unmarked key. Avoids computing the type of the collection. `None` if the general
/// operation must decide.
fn known_element(collection: &Value, key: &Value) -> Option<Value> {
    if !key.marks().is_empty() {
        return None;
    }
    let (found, rule) = match (collection.kind(), key.kind()) {
        (Kind::List(items) | Kind::Tuple(items), Kind::Number(number)) => {
            (items.get(number.to_usize()?)?, RuleId::IndexCollection)
        }
        (Kind::Map(entries), Kind::String(name)) => {
            (entries.get(&**name)?, RuleId::IndexCollection)
        }
        (Kind::Object(entries), Kind::String(name)) => (entries.get(&**name)?, RuleId::IndexObject),
        _ => return None,
    };
    Some(found.with_marks(&rules::result_marks(rule, [collection])))
}

/// Normalizes an attribute name to NFC. Attribute names of values are in NFC; names in the source may not be.
fn normalized(name: &Str) -> Str {
    if name.is_ascii() {
        return name.clone();
    }
    match Value::string(name.clone()).kind() {
        Kind::String(normal) => Str::from(normal.clone()),
        _ => name.clone(),
    }
}
