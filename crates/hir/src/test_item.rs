//! The declarations of test files, without source ranges.
//!
//! A test file has `run` blocks, which the command `test` executes in order, and the values, providers and test
//! doubles for them. `provider` blocks lower to the same items as in a configuration.

use addr::{ResourceMode, Target};
use sorted::TreeMap;
use values::Str;

use crate::{
    expr::{ExprId, NodeId},
    item::{Attr, Condition, ConstValue, PassedProvider},
};

/// A declaration of a test file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestItem {
    /// `run "x" {}`
    Run(Box<TestRun>),
    /// `variables {}`: the values of variables for all runs of the file.
    Variables(Box<[Attr]>),
    /// `mock_provider "x" {}`
    MockProvider(Box<MockProvider>),
    /// `override_resource {}` or `override_data {}` for all runs of the file.
    ObjectOverride(Box<ObjectOverride>),
    /// `override_module {}` for all runs of the file.
    ModuleOverride(Box<ModuleOverride>),
}

/// `run "x" {}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestRun {
    /// The name.
    pub name: Str,
    /// `command`
    pub command: TestCommand,
    /// `plan_options {}`
    pub options: TestPlanOptions,
    /// `variables {}`
    pub variables: Box<[Attr]>,
    /// `module {}`: the module to run instead of the one under test.
    pub module: Option<TestModule>,
    /// `providers = {}`. `None` if absent; the run then takes all provider configurations of the file.
    pub providers: Option<Box<[PassedProvider]>>,
    /// `assert {}` blocks.
    pub asserts: Box<[Condition]>,
    /// `expect_failures`
    pub expect_failures: Box<[ExpectedFailure]>,
    /// `override_resource {}` and `override_data {}` blocks.
    pub object_overrides: Box<[ObjectOverride]>,
    /// `override_module {}` blocks.
    pub module_overrides: Box<[ModuleOverride]>,
}

/// The command that a run executes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TestCommand {
    /// `plan`
    Plan,
    /// `apply`, which is the default.
    #[default]
    Apply,
}

/// `plan_options {}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestPlanOptions {
    /// True for `mode = refresh-only`.
    pub refresh_only: bool,
    /// `refresh`, true if absent.
    pub refresh: bool,
    /// `replace`: the addresses as text.
    pub replace: Box<[WrittenAddress]>,
    /// `target`: the addresses as text.
    pub target: Box<[WrittenAddress]>,
    /// The node of `mode`, for a diagnostic about it.
    pub mode_node: Option<NodeId>,
}

impl Default for TestPlanOptions {
    fn default() -> TestPlanOptions {
        TestPlanOptions {
            refresh_only: false,
            refresh: true,
            replace: Box::default(),
            target: Box::default(),
            mode_node: None,
        }
    }
}

/// An address in a test file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenAddress {
    /// The address without whitespace.
    pub text: Str,
    /// The node of the address.
    pub node: NodeId,
}

/// `module {}` of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestModule {
    /// `source`. `None` only after an error.
    pub source: Option<Str>,
    /// `version`
    pub version: Option<Str>,
    /// The node of `source`, or of the header if it is missing.
    pub source_node: NodeId,
}

/// One entry of `expect_failures`: an object of the root module that has conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedFailure {
    /// The address: `var.x`, `output.x`, `check.x`, or a resource, possibly with an instance key.
    pub address: Str,
    /// True for a resource without an instance key, which stands for all instances.
    pub is_resource: bool,
    /// The node of the entry.
    pub node: NodeId,
}

/// Constant values by attribute.
pub type ConstValues = TreeMap<Str, ConstValue>;

/// `mock_provider "x" {}`: a provider configuration whose objects are made up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MockProvider {
    /// The local name of the provider.
    pub local_name: Str,
    /// `alias`
    pub alias: Option<Str>,
    /// `for_each`
    pub for_each: Option<ExprId>,
    /// `mock_resource {}` and `mock_data {}` blocks.
    pub objects: Box<[MockObject]>,
    /// `override_resource {}` and `override_data {}` blocks.
    pub overrides: Box<[ObjectOverride]>,
}

/// `mock_resource "type" {}` or `mock_data "type" {}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MockObject {
    /// The mode.
    pub mode: ResourceMode,
    /// The type.
    pub type_name: Str,
    /// `defaults`
    pub defaults: ConstValues,
}

/// `override_resource {}` or `override_data {}`: objects whose values are given instead of asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectOverride {
    /// The mode that the block is for.
    pub mode: ResourceMode,
    /// The resource, or one instance of it. A missing instance key stands for all instances, also in modules.
    pub target: Target,
    /// `values`
    pub values: ConstValues,
    /// The node of `target`.
    pub node: NodeId,
}

impl ObjectOverride {
    /// The type of the block.
    pub fn block_type(&self) -> &'static str {
        match self.mode {
            ResourceMode::Data => "override_data",
            _ => "override_resource",
        }
    }
}

/// `override_module {}`: a module call whose outputs are given, and whose content is not evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleOverride {
    /// The names of the calls that lead to the module.
    pub target: addr::ModulePath,
    /// The outputs, as expressions of constants.
    pub outputs: Box<[(Str, ExprId)]>,
    /// The node of `target`.
    pub node: NodeId,
}
