//! Lowers test doubles: `mock_provider`, `override_resource`, `override_data` and `override_module`.

use addr::{ResourceMode, Target};
use db::Summary;
use sorted::TreeSet;
use syntax::{AstNode, TextRange, flat::ast};
use values::Str;

use crate::{
    expr::ExprId,
    item::{ConstValue, RefPlace},
    lower::{
        body::{self, BodyReader},
        header::header_range,
        item_ctx::ItemCtx,
        problem::Problem,
        refactoring,
        test_file::{constant_object, range_of},
    },
    test_item::{ConstValues, MockObject, MockProvider, ModuleOverride, ObjectOverride, TestItem},
};

/// The block that has overrides.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Run,
    MockProvider,
}

/// The overrides in a block.
pub(super) struct Overrides {
    pub(super) objects: Box<[ObjectOverride]>,
    pub(super) modules: Box<[ModuleOverride]>,
}

/// Takes the overrides of a block, and reports targets that occur twice.
pub(super) fn overrides(
    ctx: &mut ItemCtx<'_>,
    reader: &mut BodyReader<'_>,
    owner: Owner,
) -> Overrides {
    let mut blocks = reader.blocks("override_resource");
    blocks.extend(reader.blocks("override_data"));
    let mut targets = TreeSet::new();
    let mut objects = Vec::new();
    for block in &blocks {
        let Some(it) = object_override(ctx, block) else { continue };
        if targets.insert(it.target.to_string()) {
            objects.push(it);
            continue;
        }
        ctx.problem(duplicate(it.block_type(), &it.target, header_range(block)));
    }
    let mut modules = Vec::new();
    if owner == Owner::Run {
        let mut targets = TreeSet::new();
        for block in &reader.blocks("override_module") {
            let Some(it) = module_override(ctx, block) else { continue };
            if targets.insert(it.target.clone()) {
                modules.push(it);
                continue;
            }
            ctx.problem(duplicate("override_module", &it.target, header_range(block)));
        }
    }
    Overrides { objects: objects.into(), modules: modules.into() }
}

/// The problem of a second block with the same target.
fn duplicate(kind: &str, target: &dyn std::fmt::Display, range: TextRange) -> Problem {
    Problem::new(Summary::duplicate_double(kind), range, repeated_target(kind, target))
}

/// The detail of a second block with the same target.
pub(crate) fn repeated_target(kind: &str, target: &dyn std::fmt::Display) -> String {
    format!("It is not allowed to have multiple `{kind}` blocks with the same target: `{target}`.")
}

/// Lowers `override_resource {}` or `override_data {}`.
pub(super) fn object_override(ctx: &mut ItemCtx<'_>, block: &ast::Block) -> Option<ObjectOverride> {
    let mode = match block.block_type().as_deref() {
        Some("override_data") => ResourceMode::Data,
        _ => ResourceMode::Managed,
    };
    body::refuse_labels(ctx, block);
    let mut reader = BodyReader::new(block);
    let target_value = reader.required(ctx, "target").and_then(|it| it.value());
    let values = values(ctx, &mut reader, "values");
    reader.finish(ctx);
    let value = target_value?;
    let node = ctx.node(range_of(&value));
    match target(ctx, &value)? {
        Target::Module(module) => {
            ctx.problem(Problem::new(
                Summary::INVALID_DOUBLE_TARGET,
                range_of(&value),
                format!(
                    "A resource address is required, but \"{module}\" is a module. Override its \
                     outputs with an `override_module` block."
                ),
            ));
            None
        }
        target => Some(ObjectOverride { mode, target, values, node }),
    }
}

/// Lowers `override_module {}`.
pub(super) fn module_override(ctx: &mut ItemCtx<'_>, block: &ast::Block) -> Option<ModuleOverride> {
    body::refuse_labels(ctx, block);
    let mut reader = BodyReader::new(block);
    let target_value = reader.required(ctx, "target").and_then(|it| it.value());
    let outputs = reader.attr("outputs").map(|it| constant_object(ctx, "outputs", it));
    let outputs: Vec<(Str, ExprId)> =
        outputs.into_iter().flatten().map(|it| (it.name, it.expr)).collect();
    reader.finish(ctx);
    let value = target_value?;
    let node = ctx.node(range_of(&value));
    let module = match target(ctx, &value)? {
        Target::Module(module) if module.steps().iter().all(|it| it.key.is_none()) => module,
        other => {
            ctx.problem(Problem::new(
                Summary::INVALID_DOUBLE_TARGET,
                range_of(&value),
                format!(
                    "The address of a module without instance keys is required: \"{other}\" is \
                     none. An override applies to all instances of a call."
                ),
            ));
            return None;
        }
    };
    Some(ModuleOverride { target: module.path(), outputs: outputs.into(), node })
}

/// Lowers `mock_provider "x" {}`.
pub(super) fn mock_provider(ctx: &mut ItemCtx<'_>, block: &ast::Block) -> Option<TestItem> {
    let [label] = body::expect_labels(ctx, block, ["name"])?;
    let local_name = Str::from(body::name(ctx, &label, "provider"));
    let mut reader = BodyReader::new(block);
    let alias_attr = reader.attr("alias");
    let alias_range = alias_attr.as_ref().map(|it| it.syntax().text_range());
    let alias = body::literal_text(ctx, alias_attr);
    if let (Some(alias), Some(range)) = (&alias, alias_range)
        && !addr::is_identifier(alias)
    {
        ctx.problem(Problem::new(
            Summary::DOUBLE_ALIAS,
            range,
            "An alias must be a valid name: it starts with a letter or underscore and contains \
             only letters, digits, underscores, and dashes.",
        ));
    }
    let for_each_attr = reader.attr("for_each");
    if let (None, Some(attr)) = (&alias, &for_each_attr) {
        ctx.problem(Problem::new(
            Summary::PROVIDER_FOR_EACH_WITHOUT_ALIAS,
            attr.syntax().text_range(),
            "The for_each argument is allowed only for provider configurations with an alias.",
        ));
    }
    let for_each =
        for_each_attr.map(|attr| ctx.in_place(RefPlace::Repetition, |ctx| body::value(ctx, &attr)));
    let objects = mock_objects(ctx, &mut reader);
    let overrides = overrides(ctx, &mut reader, Owner::MockProvider).objects;
    reader.finish(ctx);
    let provider = MockProvider { local_name, alias, for_each, objects, overrides };
    Some(TestItem::MockProvider(Box::new(provider)))
}

fn mock_objects(ctx: &mut ItemCtx<'_>, reader: &mut BodyReader<'_>) -> Box<[MockObject]> {
    let mut seen = TreeSet::new();
    let mut objects = Vec::new();
    for (kind, mode) in
        [("mock_resource", ResourceMode::Managed), ("mock_data", ResourceMode::Data)]
    {
        for block in reader.blocks(kind) {
            let Some(object) = mock_object(ctx, &block, mode) else { continue };
            if seen.insert((mode, object.type_name.clone())) {
                objects.push(object);
                continue;
            }
            let detail = format!(
                "`{kind}.{}` is already defined in `mock_provider` block.",
                object.type_name
            );
            let range = header_range(&block);
            ctx.problem(Problem::new(Summary::duplicate_double(kind), range, detail));
        }
    }
    objects.into()
}

fn mock_object(
    ctx: &mut ItemCtx<'_>,
    block: &ast::Block,
    mode: ResourceMode,
) -> Option<MockObject> {
    let [label] = body::expect_labels(ctx, block, ["type"])?;
    let mut reader = BodyReader::new(block);
    let defaults = values(ctx, &mut reader, "defaults");
    reader.finish(ctx);
    Some(MockObject { mode, type_name: Str::from(label.text()), defaults })
}

fn values(ctx: &mut ItemCtx<'_>, reader: &mut BodyReader<'_>, name: &'static str) -> ConstValues {
    let attributes = reader.attr(name).map(|it| constant_object(ctx, name, it));
    let attributes = attributes.into_iter().flatten();
    attributes.map(|it| (it.name, ConstValue(it.value))).collect()
}

/// The address that an expression denotes. A `[*]` stands for all instances, as a missing key does.
pub(super) fn target(ctx: &mut ItemCtx<'_>, value: &ast::Expr) -> Option<Target> {
    let mut text = String::new();
    refactoring::write(value.syntax(), &mut text);
    if !text.contains("[*]") {
        return refactoring::target(ctx, value);
    }
    match addr::parse_target(&text.replace("[*]", "")) {
        Ok(target) => Some(target),
        Err(error) => {
            let range = range_of(value);
            ctx.problem(Problem::new(Summary::address_fault(error.summary), range, error.detail));
            None
        }
    }
}
