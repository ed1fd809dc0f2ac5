//! Lowers `moved`, `removed` and `import` blocks to addresses. The engine applies them to the state.

use addr::{ResourceMode, Target};
use db::Summary;
use syntax::{
    AstNode, TreeNode as _,
    flat::{FlatNode, ast},
};
use values::Str;

use crate::{
    item::{Import, ImportTarget, ItemKind, Moved, Provisioner, RefPlace, Removed},
    lower::{
        body::{self, BodyReader},
        header::header_range,
        item_ctx::ItemCtx,
        literal,
        problem::Problem,
        resource,
    },
};

const STATIC_REFERENCE: &str = "A single static variable reference is required: only attribute \
                                access and indexing with constant keys. No calculations, function \
                                calls, template expressions, etc are allowed here.";

fn invalid_expression(value: &ast::Expr) -> Problem {
    Problem::new(Summary::ADDRESS_NO_REFERENCE, value.syntax().text_range(), STATIC_REFERENCE)
}

/// Writes an expression without whitespace and comments.
pub(super) fn write(node: &FlatNode<'_>, text: &mut String) {
    for element in node.elements() {
        match element {
            syntax::NodeOrToken::Node(it) => write(&it, text),
            syntax::NodeOrToken::Token(it) if it.kind().is_trivia() => {}
            syntax::NodeOrToken::Token(it) => text.push_str(it.text()),
        }
    }
}

/// The address that an expression denotes, with constant keys. `None` if it is invalid, which is reported.
pub(super) fn target(ctx: &mut ItemCtx<'_>, value: &ast::Expr) -> Option<Target> {
    let is_constant = |step: &ast::Step| match step {
        ast::Step::IndexStep(it) => it.index().is_some_and(|key| {
            matches!(key, ast::Expr::Literal(_)) || literal::literal_string(&key).is_some()
        }),
        _ => true,
    };
    let traversal = value.as_static_traversal();
    if !traversal.is_some_and(|it| it.steps.iter().all(is_constant)) {
        ctx.problem(invalid_expression(value));
        return None;
    }
    let mut text = String::new();
    write(value.syntax(), &mut text);
    match addr::parse_target(&text) {
        Ok(target) if is_reserved(&target) => {
            ctx.problem(Problem::new(
                Summary::INVALID_ADDRESS,
                value.syntax().text_range(),
                format!(
                    "\"{text}\" is not the address of a resource or a module: such names are \
                     reserved for other objects."
                ),
            ));
            None
        }
        Ok(target) => Some(target),
        Err(error) => {
            let range = value.syntax().text_range();
            ctx.problem(Problem::new(Summary::address_fault(error.summary), range, error.detail));
            None
        }
    }
}

/// Returns true if an address of a resource is in fact a reference to something else, such as a variable.
fn is_reserved(target: &Target) -> bool {
    let resource = match target {
        Target::Module(_) => return false,
        Target::Resource(it) => &it.resource,
        Target::Instance(it) => &it.resource,
    };
    let roots = ["var", "local", "each", "count", "self", "path", "terraform", "tofu", "output"];
    resource.mode == ResourceMode::Managed && roots.contains(&resource.type_name.as_str())
}

pub(super) fn moved(ctx: &mut ItemCtx<'_>, block: &ast::Block) -> Option<ItemKind> {
    body::expect_labels(ctx, block, []).map(|[]: [ast::Label; 0]| ())?;
    let mut reader = BodyReader::new(block);
    let from = reader.required(ctx, "from").and_then(|it| target(ctx, &it.value()?));
    let to = reader.required(ctx, "to").and_then(|it| target(ctx, &it.value()?));
    reader.finish(ctx);
    let (from, to) = (from?, to?);
    let range = header_range(block);
    if is_module(&from) != is_module(&to) {
        ctx.problem(Problem::new(
            Summary::INVALID_MOVED_ADDRESSES,
            range,
            "The \"from\" and \"to\" addresses must either both refer to resources or both refer to modules.",
        ));
        return None;
    }
    for (name, address) in [("from", &from), ("to", &to)] {
        if mode_of(address) == Some(ResourceMode::Ephemeral) {
            ctx.problem(Problem::new(
                Summary::INVALID_MOVED_ADDRESS,
                range,
                format!(
                    "The resource referenced by the \"{name}\" attribute is not allowed to be \
                     moved: the state holds no ephemeral resource. Rename it without a \"moved\" block."
                ),
            ));
            return None;
        }
    }
    Some(ItemKind::Moved(Box::new(Moved { from, to })))
}

fn is_module(target: &Target) -> bool {
    matches!(target, Target::Module(_))
}

fn mode_of(target: &Target) -> Option<ResourceMode> {
    match target {
        Target::Module(_) => None,
        Target::Resource(it) => Some(it.resource.mode),
        Target::Instance(it) => Some(it.resource.mode),
    }
}

pub(super) fn removed(ctx: &mut ItemCtx<'_>, block: &ast::Block) -> Option<ItemKind> {
    body::expect_labels(ctx, block, []).map(|[]: [ast::Label; 0]| ())?;
    let mut reader = BodyReader::new(block);
    let value = reader.required(ctx, "from").and_then(|attr| attr.value());
    let from = value.and_then(|value| {
        let from = target(ctx, &value)?;
        let problem = removed_address_problem(&from, &value);
        let is_fit = problem.is_none();
        ctx.problems.extend(problem);
        is_fit.then_some(from)
    });
    let mut is_missing = true;
    let destroy = reader.single_block(ctx, "lifecycle", "removed block").and_then(|block| {
        let mut lifecycle = BodyReader::new(&block);
        let attr = lifecycle.attr("destroy");
        is_missing = attr.is_none();
        let destroy = body::literal_bool(ctx, attr);
        lifecycle.finish(ctx);
        destroy
    });
    let blocks = reader.peek_blocks().to_vec();
    let provisioners = resource::provisioners(ctx, &mut reader);
    let headers = blocks.iter().filter(|it| it.block_type().as_deref() == Some("provisioner"));
    for (provisioner, block) in provisioners.iter().zip(headers) {
        let detail = match &from {
            _ if !provisioner.at_destroy => {
                "Only destroy-time provisioners are valid in \"removed\" blocks. To declare one, write: when = destroy"
            }
            Some(Target::Module(_)) => {
                "Provisioners are valid only when a removed block targets a managed resource."
            }
            _ => continue,
        };
        ctx.problem(Problem::new(
            Summary::INVALID_REMOVED_PROVISIONER,
            header_range(block),
            detail,
        ));
    }
    let connection = resource::connection(ctx, &mut reader, &provisioners);
    reader.finish(ctx);
    // An argument with an invalid value is reported as an error, and is not missing.
    if from.is_some() && (is_missing || destroy.is_some()) {
        ctx.problems.extend(removal_warning(block, destroy, &provisioners));
    }
    Some(ItemKind::Removed(Box::new(Removed { from: from?, destroy, provisioners, connection })))
}

/// The warning about a `removed` block whose effect may surprise. `None` if it says what becomes of the object, and
/// does all that it says.
fn removal_warning(
    block: &ast::Block,
    destroy: Option<bool>,
    provisioners: &[Provisioner],
) -> Option<Problem> {
    let range = header_range(block);
    match destroy {
        None => Some(Problem::new(
            Summary::MISSING_REMOVED_LIFECYCLE,
            range,
            "Without \"destroy\", the object is forgotten: it continues to exist, but is no longer \
             managed. Terraform destroys it instead. To say which one is meant, write lifecycle { \
             destroy = false } or lifecycle { destroy = true }.",
        )),
        Some(false) if !provisioners.is_empty() => Some(Problem::new(
            Summary::UNUSED_REMOVED_PROVISIONER,
            range,
            "The 'removed' block has marked the resource to be forgotten and not destroyed. \
             Therefore, the provisioners configured for it will not be executed.",
        )),
        _ => None,
    }
}

/// The problem of an address that a `removed` block may not have, in OpenTofu's words. `None` if it is valid.
fn removed_address_problem(from: &Target, value: &ast::Expr) -> Option<Problem> {
    let range = value.syntax().text_range();
    let (summary, detail) = match from {
        _ if mode_of(from) == Some(ResourceMode::Ephemeral) && !has_key(from) => (
            Summary::REMOVED_EPHEMERAL_RESOURCE,
            "Ephemeral resources cannot be destroyed, and therefore, 'removed' blocks are not \
             allowed to target them. To remove ephemeral resources from the state, you should \
             remove the ephemeral resource block from the configuration.",
        ),
        _ if from.module().steps().iter().any(|it| it.key != addr::InstanceKey::None) => (
            Summary::REMOVED_MODULE_KEY,
            "Module address cannot be a module instance (e.g. \"module.a[0]\"), it must be a \
             module instead (e.g. \"module.a\").",
        ),
        Target::Instance(_) => (
            Summary::REMOVED_RESOURCE_KEY,
            "Resource address cannot be a resource instance (e.g. \"null_resource.a[0]\"), it must \
             be a resource instead (e.g. \"null_resource.a\").",
        ),
        _ if mode_of(from) == Some(ResourceMode::Data) => (
            Summary::REMOVED_DATA_SOURCE,
            "Data sources cannot be destroyed, and therefore, 'removed' blocks are not allowed to \
             target them. To remove data sources from the state, you should remove the data source \
             block from the configuration.",
        ),
        _ => return None,
    };
    Some(Problem::new(summary, range, detail))
}

fn has_key(target: &Target) -> bool {
    matches!(target, Target::Instance(_))
        || target.module().steps().iter().any(|it| it.key != addr::InstanceKey::None)
}

pub(super) fn import(ctx: &mut ItemCtx<'_>, block: &ast::Block) -> Option<ItemKind> {
    body::expect_labels(ctx, block, []).map(|[]: [ast::Label; 0]| ())?;
    let mut reader = BodyReader::new(block);
    let for_each = reader
        .attr("for_each")
        .map(|attr| ctx.in_place(RefPlace::Repetition, |ctx| body::value(ctx, &attr)));
    let to = reader.required(ctx, "to").and_then(|attr| {
        let attr_range = attr.syntax().text_range();
        let value = attr.value()?;
        let to = import_target(ctx, &value)?;
        if to.resource.mode == ResourceMode::Managed {
            return Some(to);
        }
        ctx.problem(Problem::new(
            Summary::INVALID_IMPORT_ADDRESS,
            attr_range,
            "Only managed resources can be imported: those of \"resource\" blocks.",
        ));
        None
    });
    let provider_range = reader.peek("provider").map(|it| it.syntax().text_range());
    let provider_node = provider_range.map(|range| ctx.node(range));
    let provider = reader
        .attr("provider")
        .and_then(|attr| resource::provider_ref(ctx, attr.value()?))
        .zip(provider_node);
    let identity = reader.attr("identity");
    let id = match &identity {
        Some(_) => reader.attr("id"),
        None => reader.required(ctx, "id"),
    };
    if let (Some(_), Some(identity)) = (&id, &identity) {
        ctx.problem(Problem::new(
            Summary::INVALID_IMPORT,
            identity.syntax().text_range(),
            "An object to import is named by \"id\" or by \"identity\". Remove one of the two.",
        ));
    }
    let id = id.map(|attr| body::value(ctx, &attr));
    let identity = identity.map(|attr| body::value(ctx, &attr));
    reader.finish(ctx);
    let to = to?;
    Some(ItemKind::Import(Box::new(Import { to, id, identity, provider, for_each })))
}

/// Lowers an address whose keys may be computed.
fn import_target(ctx: &mut ItemCtx<'_>, value: &ast::Expr) -> Option<ImportTarget> {
    let Some(traversal) = value.as_static_traversal() else {
        ctx.problem(invalid_expression(value));
        return None;
    };
    let range = value.syntax().text_range();
    let node = ctx.node(range);
    // The names without keys form the address; the keys are lowered separately.
    let mut names = vec![(Str::from(traversal.root.text()), None)];
    for step in &traversal.steps {
        match step {
            ast::Step::AttrStep(it) => names.push((Str::from(it.name()?), None)),
            ast::Step::IndexStep(it) => {
                let key = ctx.expr_opt(it.index(), range);
                let last = names.last_mut()?;
                if last.1.replace(key).is_some() {
                    ctx.problem(invalid_expression(value));
                    return None;
                }
            }
            _ => {
                ctx.problem(invalid_expression(value));
                return None;
            }
        }
    }
    let text = names.iter().map(|(name, _)| &**name).collect::<Vec<_>>().join(".");
    match addr::parse_resource(&text) {
        Ok(resource) => {
            let modules = resource.module.steps().len();
            let module_keys = (0..modules).map(|it| names.get(2 * it + 1).and_then(|it| it.1));
            let key = names.last().and_then(|it| it.1);
            let module = resource.module.path();
            let keys = module_keys.collect();
            Some(ImportTarget { module, module_keys: keys, resource: resource.resource, key, node })
        }
        Err(error) => {
            ctx.problem(Problem::new(Summary::address_fault(error.summary), range, error.detail));
            None
        }
    }
}
