//! Items: the declarations of a configuration, without source ranges.
//!
//! A top-level block lowers to items: a `resource` block to one, a `locals` block to one per name. An item is
//! self-contained: its expressions are in its own arena.

use std::{borrow::Cow, sync::Arc};

use values::{Path, Str, Type, Value};

use crate::{
    expr::{ExprId, Exprs, NodeId, Ref, SymbolId},
    test_item::{TestItem, TestRun},
};

/// A declaration of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The expressions that the other fields point into.
    pub exprs: Exprs,
    /// The declaration.
    pub kind: ItemKind,
    /// The node of the block's header, or of a local's name, which messages such as "declared here" point at.
    pub header: NodeId,
    /// All references of the item in source order, without duplicates of the same target, place and expression.
    pub refs: Box<[StaticRef]>,
}

impl Item {
    /// The instances of a resource, module call or provider configuration, and the elements of an `import` block.
    /// Other items have a single one.
    pub fn repetition(&self) -> Repetition {
        match &self.kind {
            ItemKind::Resource(it) => it.repetition,
            ItemKind::ModuleCall(it) => it.repetition,
            ItemKind::Provider(it) => it.for_each.map_or(Repetition::Single, Repetition::ForEach),
            ItemKind::Import(it) => it.for_each.map_or(Repetition::Single, Repetition::ForEach),
            _ => Repetition::Single,
        }
    }
}

/// The kinds of declarations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// `variable "x" {}`
    Variable(Box<Variable>),
    /// One name of `locals {}`
    Local(Local),
    /// `output "x" {}`
    Output(Box<Output>),
    /// `resource`, `data` or `ephemeral`
    Resource(Box<Resource>),
    /// `module "x" {}`
    ModuleCall(Box<ModuleCall>),
    /// `provider "x" {}`
    Provider(Box<ProviderConfig>),
    /// `terraform {}`
    Terraform(Box<Terraform>),
    /// `check "x" {}`
    Check(Box<Check>),
    /// `moved {}`
    Moved(Box<Moved>),
    /// `removed {}`
    Removed(Box<Removed>),
    /// `import {}`
    Import(Box<Import>),
    /// A declaration of a test file.
    Test(TestItem),
    /// A block type that the language has but the engine ignores (`language`).
    Other(Str),
}

/// A reference of an item and its position in the block: an edge of the static dependency graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StaticRef {
    /// The target of the reference.
    pub target: RefTarget,
    /// The position of the reference.
    pub place: RefPlace,
    /// The expression of the whole traversal, for diagnostics.
    pub expr: ExprId,
}

/// The target of a static reference. A reference to a module names the output if possible, so that the dependency
/// on one output does not include the others.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RefTarget {
    /// `var.x`
    Variable(Str),
    /// `local.x`
    Local(Str),
    /// A resource, all of its instances.
    Resource(addr::Resource),
    /// `module.x.out`
    ModuleOutput(Str, Str),
    /// `module.x` as a whole
    Module(Str),
    /// `tofu.applying`, `path.*`, `each.*` and similar references, which are not nodes of the graph.
    Ambient(Ref),
}

/// The position of a reference. It decides in which phase the dependency applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RefPlace {
    /// Configuration: attributes, values, arguments.
    Config,
    /// `count`, `for_each`, `enabled`.
    Repetition,
    /// `depends_on`.
    DependsOn,
    /// Pre- and postconditions, validations and their messages.
    Condition,
    /// A provisioner or connection that runs at creation.
    CreateProvisioner,
    /// A provisioner or connection that runs at destruction.
    DestroyProvisioner,
    /// The key in `provider = x.y[key]`.
    ProviderKey,
    /// `replace_triggered_by`.
    ReplaceTrigger,
}

/// `variable "x" {}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name.
    pub name: Str,
    /// `type`; accepts any type if absent.
    pub ty: TypeConstraint,
    /// `default`, a constant expression, which is evaluated without a scope.
    pub default: Option<ExprId>,
    /// `description`
    pub description: Option<Str>,
    /// `sensitive`
    pub sensitive: bool,
    /// `ephemeral`
    pub ephemeral: bool,
    /// Set if the value of `sensitive` or `ephemeral` is not a literal bool, so the variable may turn out to be
    /// secret.
    pub may_be_secret: bool,
    /// The node of `ephemeral = true`, for the chain of a diagnostic.
    pub ephemeral_node: Option<NodeId>,
    /// `nullable`, true if absent.
    pub nullable: bool,
    /// `const`: the value must be known before planning, so it cannot depend on a resource.
    pub is_const: bool,
    /// `deprecated`
    pub deprecated: Option<Str>,
    /// `validation {}` blocks.
    pub validations: Box<[Condition]>,
}

/// A type constraint with the defaults of its `optional(T, default)` attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeConstraint {
    /// The type; object types record which attributes are optional.
    pub ty: Type,
    /// The defaults of optional attributes, if there are any.
    pub defaults: Option<Arc<Defaults>>,
    /// Set if the `type` argument is present. Without it, a value from the command line is a string.
    pub written: bool,
}

/// The defaults of optional object attributes, as a tree along the type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Defaults {
    /// The defaults of this object's attributes, converted to the attributes' types.
    pub attributes: Vec<(Str, ConstValue)>,
    /// The defaults inside of attributes (objects), elements (collections) or positions (tuples).
    pub children: Vec<(DefaultStep, Arc<Defaults>)>,
}

/// A step from a type to one of its inner types.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DefaultStep {
    /// An object's attribute.
    Attr(Str),
    /// Every element of a list, set or map.
    Element,
    /// A tuple's position.
    Position(u32),
}

/// A constant of the source, with the equality that the database needs. Never an ephemeral or runtime value.
#[derive(Clone, Debug)]
pub struct ConstValue(pub Value);

impl ConstValue {
    /// A constant that several owners share.
    pub fn shared(value: Value) -> Arc<ConstValue> {
        Arc::new(ConstValue(value))
    }
}

impl PartialEq for ConstValue {
    fn eq(&self, other: &ConstValue) -> bool {
        self.0.raw_equals(&other.0)
    }
}

impl Eq for ConstValue {}

/// One name of a `locals` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// The name.
    pub name: Str,
    /// The value.
    pub value: ExprId,
}

/// `output "x" {}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The name.
    pub name: Str,
    /// `value`; `None` only after an error.
    pub value: Option<ExprId>,
    /// `description`
    pub description: Option<Str>,
    /// `sensitive`
    pub sensitive: bool,
    /// `ephemeral`
    pub ephemeral: bool,
    /// Set if the value of `sensitive` or `ephemeral` is not a literal bool, so the output may turn out to be
    /// secret.
    pub may_be_secret: bool,
    /// The node of `ephemeral = true`, for the chain of a diagnostic.
    pub ephemeral_node: Option<NodeId>,
    /// `deprecated`
    pub deprecated: Option<Str>,
    /// `depends_on`
    pub depends_on: Box<[DependsOn]>,
    /// `precondition {}` blocks.
    pub preconditions: Box<[Condition]>,
}

/// `resource`, `data` or `ephemeral`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Mode, type and name.
    pub resource: addr::Resource,
    /// The node of the type label.
    pub type_node: NodeId,
    /// `count`, `for_each` or `lifecycle { enabled }`.
    pub repetition: Repetition,
    /// `provider = x.y`
    pub provider: Option<ProviderRef>,
    /// `depends_on`
    pub depends_on: Box<[DependsOn]>,
    /// `lifecycle {}`
    pub lifecycle: Lifecycle,
    /// `connection {}` of the resource, the default for its provisioners.
    pub connection: Option<Block>,
    /// The `provisioner` blocks in source order.
    pub provisioners: Box<[Provisioner]>,
    /// The body that the provider's schema describes.
    pub body: Body,
    /// The name of the check block that contains this data source. Only that check may refer to it.
    pub in_check: Option<Str>,
}

/// The instances of a resource or module call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// Exactly one instance, without a key.
    Single,
    /// `count = …`
    Count(ExprId),
    /// `for_each = …`
    ForEach(ExprId),
    /// `lifecycle { enabled = … }`: one instance without a key, or none.
    Enabled(ExprId),
}

/// `provider = name.alias[key]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderRef {
    /// The module's local name of the provider.
    pub local_name: Str,
    /// The alias, if any.
    pub alias: Option<Str>,
    /// The instance key, for providers with `for_each`.
    pub key: Option<ExprId>,
    /// The node of the provider reference.
    pub node: NodeId,
}

/// One entry of `depends_on`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DependsOn {
    /// The dependency.
    pub target: RefTarget,
    /// The node of the entry.
    pub node: NodeId,
}

/// `lifecycle {}`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lifecycle {
    /// `create_before_destroy`
    pub create_before_destroy: bool,
    /// True for `destroy = false`: the object is forgotten instead of destroyed.
    pub skip_destroy: bool,
    /// `prevent_destroy`
    pub prevent_destroy: Option<ExprId>,
    /// `ignore_changes`
    pub ignore_changes: IgnoreChanges,
    /// `replace_triggered_by`
    pub replace_triggered_by: Box<[ExprId]>,
    /// `precondition {}` blocks
    pub preconditions: Box<[Condition]>,
    /// `postcondition {}` blocks
    pub postconditions: Box<[Condition]>,
}

/// `ignore_changes`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum IgnoreChanges {
    /// Absent or empty.
    #[default]
    None,
    /// `all`
    All,
    /// Attribute paths.
    Paths(Box<[(IgnorePath, NodeId)]>),
}

/// A path in `ignore_changes`, with the equality that the database needs.
#[derive(Clone, Debug)]
pub struct IgnorePath(pub Path);

impl PartialEq for IgnorePath {
    fn eq(&self, other: &IgnorePath) -> bool {
        self.0.to_string() == other.0.to_string()
    }
}

impl Eq for IgnorePath {}

/// `precondition`, `postcondition`, `validation` or `assert`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// `condition`
    pub condition: ExprId,
    /// `error_message`
    pub error_message: ExprId,
    /// The node of the block's header.
    pub node: NodeId,
}

/// `provisioner "kind" {}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provisioner {
    /// The type: `local-exec`, `remote-exec` or `file`.
    pub kind: Str,
    /// Set if the provisioner runs at destruction instead of creation.
    pub at_destroy: bool,
    /// Set if a failure is only a warning (`on_failure = continue`).
    pub continue_on_failure: bool,
    /// The arguments.
    pub body: Body,
    /// The `connection` block of the provisioner, which overrides that of the resource.
    pub connection: Option<Block>,
    /// The node of the block's header.
    pub node: NodeId,
}

/// `module "x" {}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleCall {
    /// The name of the call.
    pub name: Str,
    /// `source`, if it is a literal.
    pub source: Option<Str>,
    /// The node of `source`, or of the header if `source` is missing.
    pub source_node: NodeId,
    /// `source` as an expression, if it is not a literal. Static evaluation gives its value.
    pub source_expr: Option<ExprId>,
    /// `version`
    pub version: Option<ExprId>,
    /// `count`, `for_each` or `enabled`.
    pub repetition: Repetition,
    /// `providers = { child = parent.alias }`
    pub providers: Option<Box<[PassedProvider]>>,
    /// `depends_on`
    pub depends_on: Box<[DependsOn]>,
    /// The input variables.
    pub inputs: Box<[Attr]>,
}

/// An entry of `providers = {}` in a module call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassedProvider {
    /// The name in the called module.
    pub child_name: Str,
    /// The alias in the called module.
    pub child_alias: Option<Str>,
    /// The configuration in the calling module.
    pub parent: ProviderRef,
}

/// `provider "x" {}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderConfig {
    /// The module's local name of the provider.
    pub local_name: Str,
    /// `alias`
    pub alias: Option<Str>,
    /// `for_each`
    pub for_each: Option<ExprId>,
    /// True if the block has the deprecated argument `version`.
    pub has_version: bool,
    /// The value of `version`, unparsed. `None` if it is missing or no literal.
    pub version: Option<Str>,
    /// The body that the provider's schema describes.
    pub body: Body,
}

impl ProviderConfig {
    /// Returns true if the block configures nothing.
    pub fn is_empty(&self) -> bool {
        let has_settings = self.has_version || self.for_each.is_some();
        !has_settings && self.body.attrs.is_empty() && self.body.blocks.is_empty()
    }
}

/// `terraform {}`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terraform {
    /// `required_version`, unparsed.
    pub required_version: Option<Str>,
    /// Entries of `required_providers`.
    pub required_providers: Box<[RequiredProvider]>,
    /// The node of the `required_providers` block.
    pub requirements_node: Option<NodeId>,
    /// `backend "type" {}`.
    pub backend: Option<Block>,
    /// The `cloud` blocks. More than one is an error.
    pub clouds: Box<[Block]>,
    /// `provider_meta "name" {}` blocks.
    pub provider_metas: Box<[Block]>,
    /// The `encryption` blocks. More than one is an error.
    pub encryptions: Box<[Encryption]>,
}

/// `encryption {}`: the encryption of state and plan files. Lowering checks the references of its targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encryption {
    /// `key_provider "type" "name" {}` blocks.
    pub key_providers: Box<[Block]>,
    /// `method "type" "name" {}` blocks.
    pub methods: Box<[Block]>,
    /// Set if lowering found no error in the block.
    pub is_sound: bool,
    /// The node of the block's header.
    pub node: NodeId,
}

/// One entry of `required_providers`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredProvider {
    /// The local name.
    pub local_name: Str,
    /// The text of `source` and its node.
    pub source: Option<(Str, NodeId)>,
    /// The text of `version` and its node.
    pub version: Option<(Str, NodeId)>,
    /// `configuration_aliases`: the aliases for this local name.
    pub configuration_aliases: Box<[Str]>,
    /// The node of the entry.
    pub node: NodeId,
}

/// `check "x" {}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The name.
    pub name: Str,
    /// `assert {}` blocks.
    pub asserts: Box<[Condition]>,
}

/// `moved {}`: the objects of the state at one address move to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The old address, relative to the module of the block.
    pub from: addr::Target,
    /// The new address. Both addresses are of resources, or both are of modules.
    pub to: addr::Target,
}

impl Moved {
    /// Returns true if the move is about single instances, because an address has a key at its end. Without one, it is
    /// about all instances.
    pub fn is_single(&self) -> bool {
        let has_key = |it: &addr::Target| match it {
            addr::Target::Module(it) => it.steps().last().is_some_and(|it| !it.key.is_none()),
            addr::Target::Resource(_) => false,
            addr::Target::Instance(_) => true,
        };
        has_key(&self.from) || has_key(&self.to)
    }
}

/// `removed {}`: a resource or module whose declaration is gone but whose objects may be in the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The address of a managed resource or a module, without instance keys.
    pub from: addr::Target,
    /// `lifecycle { destroy }`, if present.
    pub destroy: Option<bool>,
    /// The destroy-time provisioners.
    pub provisioners: Box<[Provisioner]>,
    /// `connection {}`, the default for the provisioners.
    pub connection: Option<Block>,
}

/// `import {}`: brings an existing object under management.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The address of the instance to import to.
    pub to: ImportTarget,
    /// `id`
    pub id: Option<ExprId>,
    /// `identity`
    pub identity: Option<ExprId>,
    /// `provider`, and the node of the argument.
    pub provider: Option<(ProviderRef, NodeId)>,
    /// `for_each`
    pub for_each: Option<ExprId>,
}

/// The address of an instance, with expressions as instance keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportTarget {
    /// The module calls that lead to the resource.
    pub module: addr::ModulePath,
    /// The instance key of each module call, if any.
    pub module_keys: Box<[Option<ExprId>]>,
    /// The resource.
    pub resource: addr::Resource,
    /// The instance key, if any.
    pub key: Option<ExprId>,
    /// The node of the address.
    pub node: NodeId,
}

impl ImportTarget {
    /// The address of the resource, without the keys of instances.
    pub fn config(&self) -> addr::ConfigResource {
        addr::ConfigResource { module: self.module.clone(), resource: self.resource.clone() }
    }
}

/// The body of a block that a schema describes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// The attributes, `name = value`, in source order, without duplicates.
    pub attrs: Box<[Attr]>,
    /// The nested blocks in source order. A `dynamic "x"` block is a block `x` with [`Block::dynamic`].
    pub blocks: Box<[Block]>,
    /// Set for bodies in the JSON syntax. A property that may be an argument or a block is then in both lists.
    pub is_json: bool,
}

impl Body {
    /// The body as the schema interprets it: a property that is in both lists stays only in the one that the
    /// schema says.
    pub fn fitted(&self, schema: &provider::Block) -> Cow<'_, Body> {
        if !self.is_json {
            return Cow::Borrowed(self);
        }
        let is_block = |name: &Str| schema.blocks().contains_key(name);
        let is_both = |name: &Str| self.attrs.iter().any(|it| it.name == *name);
        let attrs = self.attrs.iter().filter(|it| !is_block(&it.name)).cloned().collect();
        let blocks = self
            .blocks
            .iter()
            .filter(|it| it.dynamic.is_some() || is_block(&it.kind) || !is_both(&it.kind));
        let is_labelled = |block: &Block| {
            let nested = schema.blocks().get(&block.kind);
            block.dynamic.is_none() && nested.is_some_and(|it| it.nesting == provider::Nesting::Map)
        };
        let blocks = blocks.flat_map(|block| match is_labelled(block) {
            true => block.by_label(),
            false => vec![block.clone()],
        });
        Cow::Owned(Body { attrs, blocks: blocks.collect(), is_json: true })
    }

    /// The blocks that are not also in the list of attributes, for callers without a schema.
    pub fn plain_blocks(&self) -> impl Iterator<Item = &Block> {
        let is_both = |it: &&Block| self.attrs.iter().any(|attr| attr.name == it.kind);
        self.blocks.iter().filter(move |it| !self.is_json || it.dynamic.is_some() || !is_both(it))
    }
}

/// `name = value`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attr {
    /// The name.
    pub name: Str,
    /// The value.
    pub value: ExprId,
    /// The node of the name.
    pub node: NodeId,
}

/// A nested block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The type.
    pub kind: Str,
    /// The labels.
    pub labels: Box<[Str]>,
    /// The body; for a dynamic block, the body of `content {}`.
    pub body: Body,
    /// Set for `dynamic` blocks.
    pub dynamic: Option<Box<Dynamic>>,
    /// The node of the block's header.
    pub node: NodeId,
}

impl Block {
    /// Turns each inner block into a block of this type with the inner block's type as its label. The JSON syntax
    /// nests the labels of a block as objects.
    fn by_label(&self) -> Vec<Block> {
        let labelled = |inner: &Block| Block {
            kind: self.kind.clone(),
            labels: [inner.kind.clone()].into(),
            ..inner.clone()
        };
        self.body.blocks.iter().map(labelled).collect()
    }
}

/// The parts of `dynamic "x" {}` other than its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dynamic {
    /// `for_each`
    pub for_each: ExprId,
    /// The iterator symbol, bound to an object `{ key, value }` in the content.
    pub iterator: SymbolId,
    /// `labels`
    pub labels: Box<[ExprId]>,
}

/// Generates `as_x` accessors for boxed variants.
macro_rules! accessors {
    ($($name:ident => $variant:ident($ty:ty)),* $(,)?) => {
        impl ItemKind {
            $(
                /// The declaration, if it has this kind.
                pub fn $name(&self) -> Option<&$ty> {
                    match self {
                        ItemKind::$variant(it) => Some(it),
                        _ => None,
                    }
                }
            )*
        }
    };
}

impl ItemKind {
    /// The declaration, if it is a `run` block of a test file.
    pub fn as_run(&self) -> Option<&TestRun> {
        match self {
            ItemKind::Test(TestItem::Run(it)) => Some(it),
            _ => None,
        }
    }
}

accessors! {
    as_variable => Variable(Variable),
    as_local => Local(Local),
    as_output => Output(Output),
    as_resource => Resource(Resource),
    as_module_call => ModuleCall(ModuleCall),
    as_provider => Provider(ProviderConfig),
    as_terraform => Terraform(Terraform),
    as_check => Check(Check),
    as_moved => Moved(Moved),
    as_removed => Removed(Removed),
    as_import => Import(Import),
}
