//! Template files (`templatefile`): templates whose free names are the variables that the call passes.

use db::Summary;
use hir::{
    Interrupt, Ref, Scope, SecretParts, eval,
    lower::{StandaloneTemplate, lower_template},
};
use values::{
    Exceeded, Value,
    functions::{FunctionEnv, RenderError},
};

use crate::functions::Functions;

/// Renders a template.
///
/// # Errors
/// Fails with a message for the user if the template cannot be parsed or evaluated.
pub(crate) fn render(
    functions: &Functions,
    name: &str,
    text: &str,
    variables: &Value,
) -> Result<Value, RenderError> {
    let StandaloneTemplate { exprs, root, free_names, problems } = lower_template(text);
    if let Some(problem) = problems.first() {
        let message = format!("failed to parse {name}: {}: {}", problem.summary, problem.detail);
        return Err(message.into());
    }
    let mut marked = Vec::with_capacity(free_names.len());
    for (free, symbol) in free_names {
        let value = variables.as_map().and_then(|it| it.get(&free));
        let Some(value) = value else {
            return Err(format!("vars map does not contain key \"{free}\"").into());
        };
        marked.push((symbol, value.with_marks(variables.marks())));
    }
    // Templates see values without marks, as in OpenTofu.
    let plain: Vec<_> = marked.iter().map(|(it, value)| (*it, value.without_all_marks())).collect();
    let scope = TemplateScope { functions, gathers: false };
    let evaluated =
        eval::evaluate_with(&exprs, root, &plain, &scope).map_err(|interrupt| match interrupt {
            Interrupt::Stopped => RenderError::Exceeded(Exceeded::Interrupted),
            _ => format!("{name} refers to something that templates do not have").into(),
        })?;
    if let Some(exceeded) = evaluated.exceeded {
        return Err(RenderError::Exceeded(exceeded));
    }
    if functions.parts.is_wanted() && variables.has_deep_secret() {
        // The marked evaluation only serves to gather the secrets on the way; its result is dropped.
        let _ =
            eval::evaluate_with(&exprs, root, &marked, &TemplateScope { functions, gathers: true });
    }
    match evaluated.diagnostics.iter().find(|it| it.severity() == db::Severity::Error) {
        Some(_) if variables.has_deep_secret() => Err(format!(
            "failed to render {name}; the reason is not shown, because some of its variables are \
             secret"
        )
        .into()),
        Some(error) => {
            Err(format!("failed to render {name}: {}: {}", error.summary, error.detail).into())
        }
        None => Ok(evaluated.value),
    }
}

/// The scope of a template: functions only, because its variables are already bound.
struct TemplateScope<'f> {
    functions: &'f Functions,
    /// True if the evaluation gathers secrets.
    gathers: bool,
}

impl Scope for TemplateScope<'_> {
    fn reference(&self, _: &Ref) -> Result<Value, Interrupt> {
        Err(Interrupt::Refused {
            summary: Summary::INVALID_REFERENCE,
            detail: "Templates see only the variables that they are given.".to_owned(),
        })
    }

    fn provider_function(&self, _: &str, _: &[Value]) -> Result<Value, Interrupt> {
        Err(Interrupt::Refused {
            summary: Summary::FUNCTION_IN_TEMPLATE,
            detail: "Templates cannot call functions of providers.".to_owned(),
        })
    }

    fn functions(&self) -> &dyn FunctionEnv {
        self.functions
    }

    fn is_console(&self) -> bool {
        self.functions.is_console
    }

    fn secret_parts(&self) -> Option<&SecretParts> {
        self.gathers.then_some(&*self.functions.parts)
    }
}
