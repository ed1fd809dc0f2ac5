//! `variable` blocks.

use db::Summary;
use values::Type;

use crate::{
    analysis::{
        analyzed::Inference, declared::variable_value, env::ItemEnv, infer::Infer,
        items::conditions, problem::ItemProblem, value::Abstract,
    },
    eval,
    item::{Item, Variable},
};

pub(super) fn infer(item: &Item, variable: &Variable, env: ItemEnv<'_>) -> Inference {
    let mut infer = Infer::new(&item.exprs, &env);
    check_default(&mut infer, item, variable);
    for validation in &variable.validations {
        conditions::check(&mut infer, validation);
    }
    let problems = std::mem::take(&mut infer.problems).into();
    Inference { value: variable_value(item, variable, &env), problems }
}

/// Reports a default that is not constant or does not fit the type, and a literal default of an ephemeral variable.
pub(super) fn check_default(infer: &mut Infer<'_>, item: &Item, variable: &Variable) {
    let Some(default) = variable.default else { return };
    let constant = eval::constant(&item.exprs, default);
    if constant.has_errors() {
        infer.problems.extend(constant.diagnostics.into_iter().map(ItemProblem::from));
        return;
    }
    let value = constant.value;
    if value.is_null() && !variable.nullable {
        infer.problems.push(ItemProblem::new(
            default.into(),
            Summary::INVALID_DEFAULT,
            "A null default value is not valid when nullable=false.",
        ));
    } else if !value.is_null()
        && variable.ty.ty != Type::Dynamic
        && let Err(error) = eval::apply_type(&variable.ty, value.clone())
    {
        let detail = format!(
            "This default value is not compatible with the variable's type constraint: {error}."
        );
        infer.problems.push(ItemProblem::new(default.into(), Summary::INVALID_DEFAULT, detail));
    }
    if variable.ephemeral && Abstract::constant(value).is_nonempty_text() {
        let detail = format!(
            "The default of the ephemeral variable \"{}\" is written in the configuration, where \
             everyone with access to the file can read it. If it is a secret, remove the default \
             and set the value for each run.",
            variable.name
        );
        let problem = ItemProblem::new(default.into(), Summary::LITERAL_SECRET, detail);
        infer.problems.push(problem);
    }
}
