//! Template files (`templatefile`): text whose free names are the variables given with it.

use hir::{Interrupt, Ref, Scope, eval, lower::lower_template};
use values::{MarkKind, Value, functions::FunctionEnv};

/// Renders a template.
///
/// # Errors
/// What is wrong with it, in words for the user.
pub(crate) fn render(
    functions: &dyn FunctionEnv,
    name: &str,
    text: &str,
    variables: &Value,
) -> Result<Value, String> {
    let (exprs, root, free_names, problems) = lower_template(text);
    if let Some(problem) = problems.first() {
        return Err(format!("failed to parse {name}: {}: {}", problem.summary, problem.detail));
    }
    let mut symbols = Vec::with_capacity(free_names.len());
    for (free, symbol) in free_names {
        let value = variables.as_map().and_then(|it| it.get(&free));
        let Some(value) = value else {
            return Err(format!("vars map does not contain key \"{free}\""));
        };
        symbols.push((symbol, value.with_marks(variables.marks())));
    }
    let scope = TemplateScope { functions };
    let evaluated = eval::evaluate_with(&exprs, root, &symbols, &scope)
        .map_err(|_| format!("{name} refers to something that templates do not have"))?;
    match evaluated.diagnostics.iter().find(|it| it.severity == db::Severity::Error) {
        Some(_)
            if variables.has_deep(MarkKind::Ephemeral)
                || variables.has_deep(MarkKind::Sensitive) =>
        {
            Err(format!(
                "failed to render {name}; why is not shown, because secrets are among its variables"
            ))
        }
        Some(error) => Err(format!("failed to render {name}: {}: {}", error.summary, error.detail)),
        None => Ok(evaluated.value),
    }
}

/// Templates see their variables, which are bound already, and functions.
struct TemplateScope<'f> {
    functions: &'f dyn FunctionEnv,
}

impl Scope for TemplateScope<'_> {
    fn reference(&self, _: &Ref) -> Result<Value, Interrupt> {
        Err(Interrupt::Refused {
            summary: "Invalid reference",
            detail: "Templates see only the variables that they are given.".to_owned(),
        })
    }

    fn provider_function(&self, _: &str, _: &[Value]) -> Result<Value, Interrupt> {
        Err(Interrupt::Refused {
            summary: "Invalid function",
            detail: "Templates cannot call functions of providers.".to_owned(),
        })
    }

    fn functions(&self) -> &dyn FunctionEnv {
        self.functions
    }
}
