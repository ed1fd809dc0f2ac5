//! Lowers the blocks of test files.

use addr::{ResourceMode, Target};
use db::Summary;
use syntax::{AstNode, TextRange, flat::ast};
use values::Str;

use crate::{
    eval,
    expr::{Expr, ExprId},
    item::{Attr, ItemKind},
    lower::{
        body::{self, BodyReader},
        header::header_range,
        item_ctx::{ItemCtx, Top, lower_one},
        literal,
        lowered::Lowered,
        module_call,
        problem::Problem,
        provider_block,
        test_double::{self, Owner},
    },
    suggest,
    test_item::{
        ExpectedFailure, TestCommand, TestItem, TestModule, TestPlanOptions, TestRun,
        WrittenAddress,
    },
};

/// The top-level block types, for suggestions.
const TOP_LEVEL: &[&str] = &[
    "run",
    "variables",
    "provider",
    "mock_provider",
    "override_resource",
    "override_data",
    "override_module",
];

/// Lowers a top-level block of a test file according to its type.
pub(super) fn lower_top(lowered: &mut Lowered, top: &Top<'_, '_>) {
    let Some(kind) = top.block.type_token() else { return };
    match kind.text() {
        "run" => lower_one(lowered, top, |ctx, top| run(ctx, top.block).map(of_test)),
        "variables" => lower_one(lowered, top, |ctx, top| {
            Some(of_test(TestItem::Variables(variables(ctx, top.block))))
        }),
        "provider" => lower_one(lowered, top, provider_block::provider),
        "mock_provider" => lower_one(lowered, top, |ctx, top| {
            test_double::mock_provider(ctx, top.block).map(of_test)
        }),
        "override_resource" | "override_data" => lower_one(lowered, top, |ctx, top| {
            let overridden = test_double::object_override(ctx, top.block)?;
            Some(of_test(TestItem::ObjectOverride(Box::new(overridden))))
        }),
        "override_module" => lower_one(lowered, top, |ctx, top| {
            let overridden = test_double::module_override(ctx, top.block)?;
            Some(of_test(TestItem::ModuleOverride(Box::new(overridden))))
        }),
        other => {
            let mut detail = format!("Blocks of type \"{other}\" are not expected here.");
            if let Some(close) = suggest::closest(other, TOP_LEVEL.iter().copied()) {
                detail.push_str(&format!(" Did you mean \"{close}\"?"));
            }
            let range = kind.text_range();
            lowered.problems.push(Problem::new(Summary::UNSUPPORTED_BLOCK, range, detail));
        }
    }
}

fn of_test(item: TestItem) -> ItemKind {
    ItemKind::Test(item)
}

fn run(ctx: &mut ItemCtx<'_>, block: &ast::Block) -> Option<TestItem> {
    let [label] = body::expect_labels(ctx, block, ["name"])?;
    let name = Str::from(body::name(ctx, &label, "run block"));
    let mut reader = BodyReader::new(block);
    let command = command(ctx, reader.attr("command"));
    let providers = reader.attr("providers");
    let providers = providers.and_then(|it| module_call::providers(ctx, it.value()?));
    let expect_failures = expect_failures(ctx, reader.attr("expect_failures"));
    let options = first_block(ctx, &mut reader, "plan_options");
    let options = options.map(|it| plan_options(ctx, &it)).unwrap_or_default();
    let values = first_block(ctx, &mut reader, "variables");
    let values = values.map(|it| variables(ctx, &it)).unwrap_or_default();
    let module = first_block(ctx, &mut reader, "module").map(|it| module(ctx, &it));
    let asserts = reader.blocks("assert");
    let asserts = asserts.iter().filter_map(|it| body::condition(ctx, it)).collect();
    let overrides = test_double::overrides(ctx, &mut reader, Owner::Run);
    reader.finish(ctx);
    Some(TestItem::Run(Box::new(TestRun {
        name,
        command,
        options,
        variables: values,
        module,
        providers,
        asserts,
        expect_failures,
        object_overrides: overrides.objects,
        module_overrides: overrides.modules,
    })))
}

/// Takes a block that may occur once in a run. Reports further ones.
fn first_block<'t>(
    ctx: &mut ItemCtx<'_>,
    reader: &mut BodyReader<'t>,
    kind: &'static str,
) -> Option<ast::Block<'t>> {
    let mut blocks = reader.blocks(kind).into_iter();
    let first = blocks.next();
    for extra in blocks {
        ctx.problem(Problem::new(
            Summary::multiple_test_blocks(kind),
            header_range(&extra),
            format!("This run block already has a {kind} block. Merge the two."),
        ));
    }
    first
}

/// The values of a `variables` block.
fn variables(ctx: &mut ItemCtx<'_>, block: &ast::Block) -> Box<[Attr]> {
    body::refuse_labels(ctx, block);
    BodyReader::new(block).rest_attrs(ctx)
}

fn command(ctx: &mut ItemCtx<'_>, attr: Option<ast::Attribute>) -> TestCommand {
    let Some(value) = attr.and_then(|it| it.value()) else { return TestCommand::default() };
    match literal::keyword(&value).as_deref() {
        Some("apply") => TestCommand::Apply,
        Some("plan") => TestCommand::Plan,
        _ => {
            ctx.problem(Problem::new(
                Summary::INVALID_TEST_COMMAND,
                value.syntax().text_range(),
                "The \"command\" argument requires one of the following keywords without quotes: apply or plan.",
            ));
            TestCommand::default()
        }
    }
}

fn plan_options(ctx: &mut ItemCtx<'_>, block: &ast::Block) -> TestPlanOptions {
    body::refuse_labels(ctx, block);
    let mut reader = BodyReader::new(block);
    let mode = reader.attr("mode");
    let mode_node = mode.as_ref().map(|it| ctx.node(it.syntax().text_range()));
    let refresh_only = is_refresh_only(ctx, mode);
    let refresh = reader.attr("refresh");
    let refresh_range = refresh.as_ref().map(|it| it.syntax().text_range());
    let refresh = body::literal_bool(ctx, refresh).unwrap_or(true);
    let (replace, target) = (reader.attr("replace"), reader.attr("target"));
    let (replace, target) = (addresses(ctx, replace), addresses(ctx, target));
    reader.finish(ctx);
    if let Some(range) = refresh_range.filter(|_| refresh_only && !refresh) {
        ctx.problem(Problem::new(
            Summary::INCOMPATIBLE_PLAN_OPTIONS,
            range,
            "The \"refresh\" option cannot be set to false when running a test in \"refresh-only\" mode.",
        ));
    }
    TestPlanOptions { refresh_only, refresh, replace, target, mode_node }
}

/// Reads `mode`. The keyword `refresh-only` is an identifier, because names may contain dashes.
fn is_refresh_only(ctx: &mut ItemCtx<'_>, mode: Option<ast::Attribute>) -> bool {
    let Some(value) = mode.and_then(|it| it.value()) else { return false };
    match literal::keyword(&value).as_deref() {
        Some("refresh-only") => true,
        Some("normal") => false,
        _ => {
            ctx.problem(Problem::new(
                Summary::INVALID_TEST_MODE,
                value.syntax().text_range(),
                "The \"mode\" argument requires one of the following keywords without quotes: \
                 normal or refresh-only",
            ));
            false
        }
    }
}

/// The elements of a list of references. Reports a value that is no list.
fn elements<'t>(ctx: &mut ItemCtx<'_>, attr: Option<ast::Attribute<'t>>) -> Vec<ast::Expr<'t>> {
    let Some(value) = attr.and_then(|it| it.value()) else { return Vec::new() };
    match &value {
        ast::Expr::Tuple(tuple) => tuple.elements().collect(),
        _ => {
            ctx.problem(Problem::new(
                Summary::DEPENDS_ON_NO_REFERENCE,
                value.syntax().text_range(),
                "A static list expression is required: write the references between brackets, as in [a.b, module.c].",
            ));
            Vec::new()
        }
    }
}

/// The addresses of a list of resources and modules.
fn addresses(ctx: &mut ItemCtx<'_>, attr: Option<ast::Attribute>) -> Box<[WrittenAddress]> {
    let elements = elements(ctx, attr);
    let address = |element: &ast::Expr| {
        let text = Str::from(test_double::target(ctx, element)?.to_string());
        Some(WrittenAddress { text, node: ctx.node(element.syntax().text_range()) })
    };
    elements.iter().filter_map(address).collect()
}

fn expect_failures(ctx: &mut ItemCtx<'_>, attr: Option<ast::Attribute>) -> Box<[ExpectedFailure]> {
    let elements = elements(ctx, attr);
    elements.iter().filter_map(|element| expected_failure(ctx, element)).collect()
}

/// Reads one entry of `expect_failures`.
fn expected_failure(ctx: &mut ItemCtx<'_>, element: &ast::Expr) -> Option<ExpectedFailure> {
    let range = element.syntax().text_range();
    let node = ctx.node(range);
    if let Some(address) = named_object(element) {
        return Some(ExpectedFailure { address, is_resource: false, node });
    }
    let refused = |ctx: &mut ItemCtx<'_>, what: &str| {
        ctx.problem(Problem::new(
            Summary::INVALID_EXPECT_FAILURES,
            range,
            format!(
                "You cannot expect failures from {what}. You can only expect failures from \
                 checkable objects such as input variables, output values, check blocks, managed \
                 resources and data sources."
            ),
        ));
    };
    let found = test_double::target(ctx, element)?;
    let is_checked = |mode: ResourceMode| mode != ResourceMode::Ephemeral;
    let (address, is_resource) = match &found {
        Target::Resource(it) if it.module.is_root() && is_checked(it.resource.mode) => {
            (it.to_string(), true)
        }
        Target::Instance(it) if it.module.is_root() && is_checked(it.resource.mode) => {
            (it.to_string(), false)
        }
        other => {
            refused(ctx, &other.to_string());
            return None;
        }
    };
    Some(ExpectedFailure { address: Str::from(address), is_resource, node })
}

/// The address of a variable, an output or a `check` block. `None` for other expressions.
fn named_object(element: &ast::Expr) -> Option<Str> {
    let traversal = element.as_static_traversal()?;
    let root = traversal.root.text();
    if !["var", "output", "check"].contains(&root) {
        return None;
    }
    match traversal.steps.as_slice() {
        [ast::Step::AttrStep(name)] => Some(Str::from(format!("{root}.{}", name.name()?))),
        _ => None,
    }
}

fn module(ctx: &mut ItemCtx<'_>, block: &ast::Block) -> TestModule {
    body::refuse_labels(ctx, block);
    let mut reader = BodyReader::new(block);
    let attr = reader.attr("source");
    let range = attr.as_ref().map_or(header_range(block), |it| it.syntax().text_range());
    let source_node = ctx.node(range);
    if attr.is_none() {
        ctx.problem(Problem::new(
            Summary::MISSING_TEST_SOURCE,
            header_range(block),
            "You must specify a source attribute when executing alternate modules during test executions.",
        ));
    }
    let source = body::literal_text(ctx, attr);
    let version = reader.attr("version");
    let version = body::literal_text(ctx, version);
    reader.finish(ctx);
    TestModule { source, version, source_node }
}

/// The attributes of an expression that must be an object of constants, each with its own expression.
pub(super) fn constant_object(
    ctx: &mut ItemCtx<'_>,
    name: &str,
    attr: ast::Attribute,
) -> Vec<ConstantAttr> {
    let range = attr.syntax().text_range();
    let before = ctx.problems.len();
    let root = ctx.without_names(|ctx| body::value(ctx, &attr));
    if ctx.problems.len() > before {
        return Vec::new();
    }
    let constant = eval::constant(&ctx.exprs_so_far(), root);
    if let Some(found) = constant.diagnostics.first() {
        let at = found.at.expr().map_or(range, |expr| ctx.range_of(expr));
        ctx.problem(Problem::new(found.summary.clone(), at, found.detail.clone()));
        return Vec::new();
    }
    let values::Kind::Object(attributes) = constant.value.kind() else {
        ctx.problem(Problem::new(
            Summary::DOUBLE_NO_OBJECT,
            range,
            format!("The attribute `{name}` must be an object."),
        ));
        return Vec::new();
    };
    let attribute = |(name, value): (&Str, &values::Value)| ConstantAttr {
        name: name.clone(),
        value: value.clone(),
        expr: ctx.alloc(Expr::GetAttr { base: root, name: name.clone() }, range),
    };
    attributes.iter().map(attribute).collect()
}

/// An attribute of a constant object.
pub(super) struct ConstantAttr {
    pub(super) name: Str,
    pub(super) value: values::Value,
    pub(super) expr: ExprId,
}

/// The range of an expression, for problems about the address that it denotes.
pub(super) fn range_of(element: &ast::Expr) -> TextRange {
    element.syntax().text_range()
}
