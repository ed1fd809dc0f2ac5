//! Items: what the blocks of a configuration declare, without ranges.
//!
//! A top-level block lowers to items: a `resource` block to one, a `locals` block to one for each name. An item is
//! self-contained: its expressions live in its own arena.

use std::{borrow::Cow, sync::Arc};

use values::{Path, Str, Type, Value};

use crate::expr::{ExprId, Exprs, NodeId, Ref, SymbolId};

/// One declaration of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The expressions that everything below points into.
    pub exprs: Exprs,
    /// What is declared.
    pub kind: ItemKind,
    /// The block's header, or the name of a local: where "declared here" points.
    pub header: NodeId,
    /// Everything that the item mentions, in source order, without duplicates of the same use.
    pub refs: Box<[StaticRef]>,
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
    /// `check "x" {}`: understood, run by a later issue.
    Check(Box<Check>),
    /// `moved {}`
    Moved(Box<Moved>),
    /// `removed {}`
    Removed(Box<Removed>),
    /// `import {}`
    Import(Box<Import>),
    /// A block that is known to the language but without meaning to the engine so far (`language`).
    Other(Str),
}

/// What an item mentions, and in which position: the edges of the static graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StaticRef {
    /// What is mentioned.
    pub target: RefTarget,
    /// Where.
    pub place: RefPlace,
    /// The expression of the whole traversal, to point at.
    pub expr: ExprId,
}

/// The target of a static reference. Of a module, the output that is read where that can be seen, so that a use of one
/// output does not wait for the others.
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
    /// `tofu.applying`, `path.*`, `each.*` and the like, which are no nodes of the graph.
    Ambient(Ref),
}

/// Where a reference stands. It decides when it counts (DESIGN 2.6).
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
    /// Its name.
    pub name: Str,
    /// `type`; any type where absent.
    pub ty: TypeConstraint,
    /// `default`, as a constant expression; evaluated without scope.
    pub default: Option<ExprId>,
    /// `description`
    pub description: Option<Str>,
    /// `sensitive`
    pub sensitive: bool,
    /// `ephemeral`
    pub ephemeral: bool,
    /// Whether `sensitive` or `ephemeral` is written, but neither as true nor as false: it may come to be a secret.
    pub may_be_secret: bool,
    /// Where `ephemeral = true` stands, for the chain.
    pub ephemeral_node: Option<NodeId>,
    /// `nullable`, true where absent
    pub nullable: bool,
    /// `const`: its value follows from what the root module is given, without any resource.
    pub is_const: bool,
    /// `deprecated`
    pub deprecated: Option<Str>,
    /// `validation {}` blocks.
    pub validations: Box<[Condition]>,
}

/// A type constraint with the defaults of its `optional(T, default)` attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeConstraint {
    /// The type; objects carry which attributes are optional.
    pub ty: Type,
    /// Defaults inside, where there are any.
    pub defaults: Option<Arc<Defaults>>,
    /// Whether `type` was written at all. An untyped variable set on the command line is a string.
    pub written: bool,
}

/// Defaults of optional object attributes, as a tree along the type (hcl 4.8).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Defaults {
    /// Defaults of this object's attributes, converted to the attribute's type.
    pub attributes: Vec<(Str, ConstValue)>,
    /// Defaults inside of attributes (objects), of elements (`Element`, collections) or positions (tuples).
    pub children: Vec<(DefaultStep, Arc<Defaults>)>,
}

/// A step from a type to one inside of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DefaultStep {
    /// An object's attribute.
    Attr(Str),
    /// Every element of a list, set or map.
    Element,
    /// A tuple's position.
    Position(u32),
}

/// A constant written in the source, comparable for the database. Never an ephemeral or runtime value.
#[derive(Clone, Debug)]
pub struct ConstValue(pub Value);

impl PartialEq for ConstValue {
    fn eq(&self, other: &ConstValue) -> bool {
        self.0.raw_equals(&other.0)
    }
}

impl Eq for ConstValue {}

/// One name of a `locals` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Its name.
    pub name: Str,
    /// Its value.
    pub value: ExprId,
}

/// `output "x" {}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its name.
    pub name: Str,
    /// `value`; absent only after an error.
    pub value: Option<ExprId>,
    /// `description`
    pub description: Option<Str>,
    /// `sensitive`
    pub sensitive: bool,
    /// `ephemeral`
    pub ephemeral: bool,
    /// Whether `sensitive` or `ephemeral` is written, but neither as true nor as false: it may come to be a secret.
    pub may_be_secret: bool,
    /// Where `ephemeral = true` stands, for the chain.
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
    /// The type's label.
    pub type_node: NodeId,
    /// `count`, `for_each` or `lifecycle { enabled }`.
    pub repetition: Repetition,
    /// `provider = x.y`
    pub provider: Option<ProviderRef>,
    /// `depends_on`
    pub depends_on: Box<[DependsOn]>,
    /// `lifecycle {}`
    pub lifecycle: Lifecycle,
    /// `connection {}` of the resource, a default for its provisioners.
    pub connection: Option<Block>,
    /// `provisioner` blocks in order.
    pub provisioners: Box<[Provisioner]>,
    /// What the provider's schema describes.
    pub body: Body,
    /// The check block that a data source is in, which alone may name it.
    pub in_check: Option<Str>,
}

/// How many instances there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// Exactly one, without key.
    Single,
    /// `count = …`
    Count(ExprId),
    /// `for_each = …`
    ForEach(ExprId),
    /// `lifecycle { enabled = … }`: one without key, or none.
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
    /// Where it stands.
    pub node: NodeId,
}

/// One entry of `depends_on`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DependsOn {
    /// What must be done first.
    pub target: RefTarget,
    /// Where it stands.
    pub node: NodeId,
}

/// `lifecycle {}`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lifecycle {
    /// `create_before_destroy`
    pub create_before_destroy: bool,
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
    /// Paths into the object.
    Paths(Box<[(IgnorePath, NodeId)]>),
}

/// A path in `ignore_changes`, comparable for the database.
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
    /// The block's header.
    pub node: NodeId,
}

/// `provisioner "kind" {}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provisioner {
    /// `local-exec`, …
    pub kind: Str,
    /// Whether it runs at destruction instead of creation.
    pub at_destroy: bool,
    /// Whether a failure is only a warning (`on_failure = continue`).
    pub continue_on_failure: bool,
    /// Its arguments.
    pub body: Body,
    /// Its own `connection {}`.
    pub connection: Option<Block>,
    /// The block's header.
    pub node: NodeId,
}

/// `module "x" {}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleCall {
    /// The call's name.
    pub name: Str,
    /// `source`, where it is a literal.
    pub source: Option<Str>,
    /// Where `source` stands, or the header where it is missing.
    pub source_node: NodeId,
    /// `source` as an expression, where it is not a literal (static evaluation).
    pub source_expr: Option<ExprId>,
    /// `version`
    pub version: Option<ExprId>,
    /// `count`, `for_each` or `enabled`.
    pub repetition: Repetition,
    /// `providers = { child = parent.alias }`
    pub providers: Option<Box<[PassedProvider]>>,
    /// `depends_on`
    pub depends_on: Box<[DependsOn]>,
    /// The inputs.
    pub inputs: Box<[Attr]>,
}

/// One entry of `providers = {}` in a module call.
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
    /// What the provider's schema describes.
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
    /// Where `required_providers` stands.
    pub requirements_node: Option<NodeId>,
    /// `backend "type" {}`: the type and where it stands.
    pub backend: Option<Block>,
    /// `cloud {}`, once only where nothing is wrong.
    pub clouds: Box<[Block]>,
    /// `provider_meta "name" {}` blocks.
    pub provider_metas: Box<[Block]>,
    /// `encryption {}`, once only where nothing is wrong.
    pub encryptions: Box<[Encryption]>,
}

/// `encryption {}`: how state and plan files are written. What its targets refer to was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encryption {
    /// `key_provider "type" "name" {}` blocks.
    pub key_providers: Box<[Block]>,
    /// `method "type" "name" {}` blocks.
    pub methods: Box<[Block]>,
    /// Whether nothing was found to be wrong with it so far.
    pub is_sound: bool,
    /// The block's header.
    pub node: NodeId,
}

/// One entry of `required_providers`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredProvider {
    /// The local name.
    pub local_name: Str,
    /// `source` as written, and where.
    pub source: Option<(Str, NodeId)>,
    /// `version` as written, and where.
    pub version: Option<(Str, NodeId)>,
    /// `configuration_aliases`: the aliases under this local name.
    pub configuration_aliases: Box<[Str]>,
    /// Where it stands.
    pub node: NodeId,
}

/// `check "x" {}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its name.
    pub name: Str,
    /// `assert {}` blocks.
    pub asserts: Box<[Condition]>,
}

/// `moved {}`: objects of the state have another address from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The address before, from the module that the block is in.
    pub from: addr::Target,
    /// The address now. Both are of resources or both of modules.
    pub to: addr::Target,
}

/// `removed {}`: objects of the state are not declared any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// A managed resource or a module, without keys.
    pub from: addr::Target,
    /// `lifecycle { destroy }`, if it is written.
    pub destroy: Option<bool>,
    /// Provisioners that run at destruction.
    pub provisioners: Box<[Provisioner]>,
    /// `connection {}`, a default for its provisioners.
    pub connection: Option<Block>,
}

/// `import {}`: an object that is there already is taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The instance that it is to be.
    pub to: ImportTarget,
    /// `id`
    pub id: Option<ExprId>,
    /// `identity`
    pub identity: Option<ExprId>,
    /// `provider`, and where the argument stands.
    pub provider: Option<(ProviderRef, NodeId)>,
    /// `for_each`
    pub for_each: Option<ExprId>,
}

/// An address whose keys are expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportTarget {
    /// The calls that lead to the module.
    pub module: addr::ModulePath,
    /// The key of each of them, if it has one.
    pub module_keys: Box<[Option<ExprId>]>,
    /// The resource.
    pub resource: addr::Resource,
    /// Its key.
    pub key: Option<ExprId>,
    /// Where it stands.
    pub node: NodeId,
}

/// A body whose meaning a schema gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// `name = value`, in source order, without duplicates.
    pub attrs: Box<[Attr]>,
    /// Nested blocks in source order; a `dynamic "x"` block is a block `x` with [`Block::dynamic`].
    pub blocks: Box<[Block]>,
    /// Whether it is written in the JSON syntax: then what may be an argument or blocks is there as both.
    pub is_json: bool,
}

impl Body {
    /// The body as a schema reads it: what is there as both is what the schema says.
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

    /// The blocks that are no arguments, where no schema says which are.
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
    /// Where the name stands.
    pub node: NodeId,
}

/// A nested block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its type.
    pub kind: Str,
    /// Its labels.
    pub labels: Box<[Str]>,
    /// Its contents (of `content {}` for a dynamic block).
    pub body: Body,
    /// Set for `dynamic` blocks.
    pub dynamic: Option<Box<Dynamic>>,
    /// Its header.
    pub node: NodeId,
}

impl Block {
    /// The blocks inside, each as one of this type with its own as the label: that is how the JSON syntax has labels.
    fn by_label(&self) -> Vec<Block> {
        let labelled = |inner: &Block| Block {
            kind: self.kind.clone(),
            labels: [inner.kind.clone()].into(),
            ..inner.clone()
        };
        self.body.blocks.iter().map(labelled).collect()
    }
}

/// The parts of `dynamic "x" {}` beside its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dynamic {
    /// `for_each`
    pub for_each: ExprId,
    /// The iterator: bound to an object `{ key, value }` in the content.
    pub iterator: SymbolId,
    /// `labels`
    pub labels: Box<[ExprId]>,
}

/// Generates `as_x` accessors for boxed variants.
macro_rules! accessors {
    ($($name:ident => $variant:ident($ty:ty)),* $(,)?) => {
        impl ItemKind {
            $(
                /// The declaration, if it is of this kind.
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
