//! The problems of an item that are known before anything is installed: those of the settings that determine
//! modules and providers, and those of declared names.
//!
//! **Invariant:** infers only expressions that determine modules, settings or provider configurations, and the
//! expressions that these read.

use crate::{
    Db,
    analysis::{
        analyzed::AnalyzedItem,
        env::ItemEnv,
        infer::Infer,
        inference::item_inference,
        items::{check_duplicate, module_call, provider_instances, variable},
        problem::ItemProblem,
    },
    content::item,
    item::ItemKind,
};

/// The problems of an item that `init` reports.
pub(in crate::analysis) fn problems(db: &dyn Db, analyzed: AnalyzedItem<'_>) -> Vec<ItemProblem> {
    let item = item(db, analyzed.key(db));
    let env = ItemEnv::of(db, analyzed, item);
    let mut infer = Infer::new(&item.exprs, &env);
    match &item.kind {
        ItemKind::Variable(it) => variable::check_default(&mut infer, item, it),
        ItemKind::ModuleCall(it) => module_call::check_source(&mut infer, &env, item, it),
        ItemKind::Provider(it) => {
            env.in_repetition.set(true);
            if let Some(for_each) = it.for_each {
                provider_instances(&mut infer, &env, it, for_each);
            }
        }
        ItemKind::Terraform(_) => {
            infer.problems.extend(item_inference(db, analyzed).problems.iter().cloned());
        }
        _ => {}
    }
    let mut problems = infer.problems;
    if !matches!(item.kind, ItemKind::Terraform(_)) {
        check_duplicate(&env, item, &mut problems);
    }
    problems
}
