//! The table of the rules: one row for each error and warning, by group.
//!
//! A row has the name of the rule, its code, and the severities and summaries of its diagnostics. A word in capitals
//! in a summary stands for any text. `any` before a summary marks one that others write: a parser or a provider.

use super::rules;

rules! {
    Syntax {
        AmbiguousAttributeKey "ambiguous-attribute-key": Error "Ambiguous attribute key";
        ExpressionTooDeep "expression-too-deep": Error "Expression too deep";
        InvalidEncoding "invalid-encoding": Error "Invalid character encoding";
        InvalidNestedSplat "invalid-nested-splat": Error "Invalid nested splat expressions";
        InvalidNumber "invalid-number": Error "Invalid number literal";
        InvalidObject "invalid-object": Error "Provider produced invalid object";
        InvalidTemplateInterpolation "invalid-template-interpolation":
            Error "Invalid template interpolation value";
        QuotedKeyword "quoted-keyword": Warning "Quoted keywords are deprecated";
        QuotedTypeConstraint "quoted-type-constraint": Error "Invalid quoted type constraints";
        SyntaxError "syntax-error":
            Error "Argument or block definition required", Error "Invalid expression",
            Error "Missing newline after argument";
    }
    Blocks {
        DeprecatedAttribute "deprecated-attribute": Warning "Value derived from a deprecated source";
        DuplicateArgument "duplicate-argument": Error "Duplicate argument";
        DuplicateBlock "duplicate-block": Error "Duplicate lifecycle block";
        DuplicateDeclaration "duplicate-declaration":
            Error "Duplicate variable declaration", Error "Duplicate local value definition",
            Error "Duplicate resource \"TYPE\" configuration", Error "Duplicate encryption configuration",
            Error "Duplicate cloud configurations";
        ExtraneousDynamicContent "extraneous-dynamic-content": Error "Extraneous dynamic content block";
        ExtraneousLabel "extraneous-label":
            Error "Extraneous label for variable", Error "Extraneous label for locals";
        InsufficientBlocks "insufficient-blocks": Error "Insufficient rule blocks", Error "Missing rule block";
        InvalidCheckData "invalid-check-data":
            Error "Invalid \"count\" attribute", Error "Invalid \"for_each\" attribute",
            Error "Invalid lifecycle block";
        InvalidConnection "invalid-connection": Error "Invalid connection", Warning "Invalid connection";
        InvalidDataLifecycle "invalid-data-lifecycle": Error "Invalid data resource lifecycle argument";
        InvalidDynamicBlockLabel "invalid-dynamic-block-label": Error "Invalid dynamic block label";
        InvalidDynamicIterator "invalid-dynamic-iterator": Error "Invalid dynamic iterator name";
        InvalidDynamicLabels "invalid-dynamic-labels": Error "Invalid expression";
        InvalidErrorMessage "invalid-error-message": Error "Invalid error message";
        InvalidForCondition "invalid-for-condition": Error "Invalid 'for' condition", Error "Condition is null";
        InvalidIgnoreChanges "invalid-ignore-changes": Error "Invalid expression";
        InvalidLanguage "invalid-language":
            Error "Unsupported language edition", Error "Unsupported language experiment";
        InvalidName "invalid-name": Error "Invalid variable name", Error "Invalid resource name";
        InvalidOutputPostcondition "invalid-output-postcondition": Error "Postconditions are not allowed";
        InvalidOverride "invalid-override":
            Error "Unsupported override", Error "Can't override precondition blocks",
            Error "Can't override postcondition blocks", Error "Can't override validation blocks",
            Error "Can't override check blocks", Error "Cannot override 'moved' blocks";
        InvalidProvisionerKeyword "invalid-provisioner-keyword":
            Error "Invalid \"when\" keyword", Error "Invalid \"on_failure\" keyword";
        InvalidProvisioner "invalid-provisioner":
            Error "Must provide one of 'source' or 'content'", Error "Cannot set both 'source' and 'content'",
            Error "Invalid remote-exec provisioner configuration";
        InvalidRepetition "invalid-repetition":
            Error "Invalid combination of \"count\" and \"for_each\"",
            Error "Invalid combination of \"count\" and \"enabled\"";
        InvalidVersionConstraint "invalid-version-constraint":
            Error "Invalid version constraint", Error "Invalid provider version constraint";
        LocalExec "local-exec": Error "local-exec provisioner error";
        MissingArgument "missing-argument": Error "Missing required argument";
        MissingBase "missing-base":
            Error "Missing resource to override", Error "Missing data resource to override",
            Error "Missing ephemeral resource to override",
            Error "Missing base variable declaration to override",
            Error "Missing base local value definition to override",
            Error "Missing base output definition to override", Error "Missing module call to override",
            Error "Missing base provider configuration for override";
        MissingDynamicContent "missing-dynamic-content": Error "Missing dynamic content block";
        MissingName "missing-name":
            Error "Missing name for resource", Error "Missing type for resource", Error "Missing block label";
        RedundantIgnoreChanges "redundant-ignore-changes": Warning "Redundant ignore_changes element";
        ReservedArgument "reserved-argument": Error "Reserved argument name in provider block";
        ReservedBlock "reserved-block": Error "Reserved block type name in resource block";
        ReservedSymbol "reserved-symbol": Error "Reserved symbol name";
        TooManyBlocks "too-many-blocks": Error "Too many rule blocks";
        UnknownProvisioner "unknown-provisioner": Error "Unknown provisioner";
        UnsupportedArgument "unsupported-argument":
            Error "Unsupported argument", Error "Extraneous JSON object property";
        UnsupportedBlock "unsupported-block": Error "Unsupported block type", Error "Unexpected \"tags\" block";
        UnsupportedOpentofuVersion "unsupported-opentofu-version": Error "Unsupported OpenTofu version";
    }
    References {
        ConstantCondition "constant-condition":
            Error "Invalid validation expression", Error "Invalid precondition expression",
            Error "Invalid postcondition expression", Error "Invalid assert expression";
        DependencyCycle "dependency-cycle":
            Error "Cycle: local.a, local.b", Error "Self-reference", Error "Circular reference detected";
        DynamicConst "dynamic-const": Error "Dynamic value in static context";
        DynamicValue "dynamic-value":
            Error "Dynamic value in static context", Error "Module output not supported in static context",
            Error "Provider function in static context";
        InvalidCountReference "invalid-count-reference": Error "Reference to \"count\" in non-counted context";
        InvalidDependsOn "invalid-depends-on": Error "Invalid depends_on reference", Error "Invalid expression";
        InvalidDestroyReference "invalid-destroy-reference": Error "Invalid reference from destroy provisioner";
        InvalidDynamicForEach "invalid-dynamic-for-each": Error "Invalid dynamic for_each value";
        InvalidEach "invalid-each": Error "Reference to \"each\" in context without for_each";
        InvalidReference "invalid-reference":
            Error "Invalid reference", Error "Invalid \"path\" attribute", Error "Invalid \"tofu\" attribute";
        InvalidSelf "invalid-self": Error "Invalid \"self\" reference";
        InvalidStaticValue "invalid-static-value": Error "Unsuitable value type";
        MissingInstanceKey "missing-instance-key": Error "Missing resource instance key";
        QuotedReference "quoted-reference": Warning "Quoted references are deprecated";
        SelfReference "self-reference": Error "Self-referential block";
        UndeclaredReference "undeclared-reference":
            Error "Reference to undeclared input variable", Error "Reference to undeclared local value",
            Error "Reference to undeclared module", Error "Reference to undeclared resource",
            Error "Undefined Key Provider", Error "Undefined encryption method";
        UnexpectedInstanceKey "unexpected-instance-key": Error "Unexpected resource instance key";
        UnsetStaticVariable "unset-static-variable":
            Error "Unable to compute static value", Error "Invalid value for variable";
        VariablesNotAllowed "variables-not-allowed": Error "Variables not allowed";
    }
    Values {
        AttributeOfNull "attribute-of-null": Error "Attempt to get attribute from null value";
        DuplicateObjectKey "duplicate-object-key": Error "Duplicate object key";
        ErrorInFunctionCall "error-in-function-call": Error "Error in function call";
        FunctionCallsNotAllowed "function-calls-not-allowed": Error "Function calls not allowed";
        InconsistentConditionalResultTypes "inconsistent-conditional-result-types":
            Error "Inconsistent conditional result types";
        IncorrectAttributeType "incorrect-attribute-type": Error "Incorrect attribute value type";
        IncorrectKeyType "incorrect-key-type": Error "Incorrect key type";
        IndexOfNull "index-of-null": Error "Attempt to index null value";
        InfiniteNumber "infinite-number": Error "Number cannot be saved";
        InvalidConditionResult "invalid-condition-result":
            Error "Invalid condition result", Error "Invalid variable validation result";
        InvalidCondition "invalid-condition": Error "Incorrect condition type", Error "Null condition";
        InvalidDefault "invalid-default": Error "Invalid default value for variable";
        InvalidExpandingArgument "invalid-expanding-argument": Error "Invalid expanding argument value";
        InvalidFunctionArgument "invalid-function-argument": Error "Invalid function argument";
        InvalidIndex "invalid-index": Error "Invalid index";
        InvalidObjectKey "invalid-object-key": Error "Invalid object key";
        InvalidOperand "invalid-operand": Error "Invalid operand";
        InvalidOptionalDefault "invalid-optional-default": Error "Invalid default value for optional attribute";
        InvalidRepetitionValue "invalid-repetition-value":
            Error "Invalid count argument", Error "Invalid for_each argument",
            Error "Invalid enabled argument", Error "Incorrect value type";
        InvalidReplaceTrigger "invalid-replace-trigger":
            Error "Invalid expression", Error "Invalid reference in replace_triggered_by expression",
            Error "Invalid replace_triggered_by expression",
            Error "Invalid each reference in replace_triggered_by expression";
        InvalidTypeConstraint "invalid-type-constraint": Error "Invalid type specification";
        IterationOverNonIterable "iteration-over-non-iterable": Error "Iteration over non-iterable value";
        IterationOverNull "iteration-over-null": Error "Iteration over null value";
        MissingMapElement "missing-map-element": Error "Missing map element";
        NotEnoughFunctionArguments "not-enough-function-arguments": Error "Not enough function arguments";
        NullValueAsKey "null-value-as-key": Error "Null value as key";
        SplatOfNull "splat-of-null": Error "Splat of null value";
        TooManyFunctionArguments "too-many-function-arguments": Error "Too many function arguments";
        UnknownFunction "unknown-function": Error "Call to unknown function";
        UnsuitableValueType "unsuitable-value-type": Error "Unsuitable value type";
        UnsupportedAttribute "unsupported-attribute": Error "Unsupported attribute";
    }
    Ephemeral {
        EphemeralBackend "ephemeral-backend": Error "Backend config contains ephemeral values";
        EphemeralCloseTimeout "ephemeral-close-timeout": Error "Closing ephemeral resource timed out";
        EphemeralExpired "ephemeral-expired": Error "Ephemeral resource instance has expired";
        EphemeralInPlan "ephemeral-in-plan":
            Error "Ephemeral value in a plan", Error "Ephemeral value in a temporary file";
        EphemeralLeftOpen "ephemeral-left-open": Warning "Ephemeral resources were left open";
        EphemeralPreventDestroy "ephemeral-prevent-destroy": Error "Invalid value for prevent_destroy";
        EphemeralProviderKey "ephemeral-provider-key": Error "Invalid provider instance key";
        EphemeralRenewTimeout "ephemeral-renew-timeout": Error "Renewing ephemeral resource timed out";
        EphemeralRepetition "ephemeral-repetition":
            Error "Invalid count argument", Error "Invalid for_each argument",
            Error "Invalid enabled argument";
        EphemeralReplaceTrigger "ephemeral-replace-trigger": Error "Invalid replace_triggered_by expression";
        EphemeralRootOutput "ephemeral-root-output": Error "Unallowed ephemeral output";
        EphemeralStaticValue "ephemeral-static-value":
            Error "Ephemeral value not allowed", Error "Invalid version constraint";
        EphemeralValueMisuse "ephemeral-value-misuse":
            Error "Invalid use of an ephemeral value", Hint "Invalid use of an ephemeral value";
        EphemeralVariableNotSet "ephemeral-variable-not-set": Error "No value for required variable";
        ErrorMessageMarks "error-message-marks":
            Warning "Error message refers to sensitive values",
            Warning "Error message refers to ephemeral values",
            Error "Error message refers to ephemeral values";
        IncompleteEphemeral "incomplete-ephemeral": Error "Incomplete configuration for ephemeral resource";
        InvalidEphemeralBlock "invalid-ephemeral-block":
            Error "Invalid configuration block for ephemeral resource";
        InvalidEphemeralLifecycle "invalid-ephemeral-lifecycle":
            Error "Invalid lifecycle configuration for ephemeral resource";
        InvalidEphemeralResult "invalid-ephemeral-result":
            Error "Provider produced invalid object", Error "Provider produced null object",
            Error "Provider produced inconsistent result after opening";
        LiteralSecret "literal-secret": Warning "Secret written in the configuration";
        NothingOpened "nothing-opened": Error "Provider produced null object";
        OutputNotEphemeral "output-not-ephemeral": Error "Output not marked as ephemeral";
        PossiblyEphemeral "possibly-ephemeral": Warning "Possibly ephemeral value";
        ProviderReturnedSecret "provider-returned-secret": Error "Provider returned a secret";
        SensitiveBackend "sensitive-backend": Error "Backend config contains sensitive values";
        SensitiveOutput "sensitive-output": Error "Output refers to sensitive values";
        SensitiveRepetition "sensitive-repetition": Error "Invalid for_each argument";
        SensitiveStaticValue "sensitive-static-value":
            Error "Sensitive value not allowed", Error "Invalid version constraint";
        TempLeft "temp-left": Warning "Temporary files were left behind";
        TempRestore "temp-restore": Error "Failed to restore temporary files";
        VariableNotEphemeral "variable-not-ephemeral": Error "Invalid usage of ephemeral value";
        WriteOnlyInSet "write-only-in-set":
            Error "Unsupported write-only attribute", Error "Write-only attribute in a set";
        WriteOnlyOutput "write-only-output": Error "Output refers to a write-only attribute";
    }
    Modules {
        DeprecatedOutput "deprecated-output": Warning "Value derived from a deprecated source";
        DeprecatedVariable "deprecated-variable": Warning "Variable marked as deprecated by the module author";
        InvalidModuleArgument "invalid-module-argument": Error "Invalid value for input variable";
        InvalidModuleSource "invalid-module-source": Error "Invalid module source address";
        InvalidProvidersMap "invalid-providers-map": Error "Invalid expression";
        ModuleCycle "module-cycle": Error "Module calls itself";
        ModuleDownload "module-download": Error "Failed to download module", Error "Failed to install module";
        ModuleEscapes "module-escapes": Error "Local module path escapes module package";
        ModuleManifest "module-manifest":
            Error "Failed to read module manifest", Error "Failed to write module manifest";
        ModuleNotInstalled "module-not-installed":
            Error "Module not installed", Error "Module source has changed",
            Error "Unreadable module directory";
        ModulePackageChanged "module-package-changed":
            Error "Module package differs from its lock", Warning "Module package differs from its lock";
        ModulePackageGrown "module-package-grown": Warning "Module package has other files in it";
        ModulePackageUnlocked "module-package-unlocked": Warning "Module packages without checksums";
        ModuleSubdirectory "module-subdirectory":
            Error "Unreadable module subdirectory", Error "Unreadable module directory";
        ModuleWritesIntoItself "module-writes-into-itself": Warning "Module writes into its own directory";
        NoProviderMeta "no-provider-meta":
            Error "Provider registry.opentofu.org/mayfly/playground doesn't support provider_meta";
        TooManyModules "too-many-modules": Error "Too many module calls";
        VersionOfLocalModule "version-of-local-module": Error "Invalid registry module source address";
    }
    Providers {
        DuplicateProviderAddress "duplicate-provider-address": Error "Duplicate provider address";
        DuplicateRequiredProvider "duplicate-required-provider": Warning "Duplicate required provider";
        DuplicateRequiredProviders "duplicate-required-providers":
            Error "Duplicate required providers configuration";
        ForeignValidation "foreign-validation": Error "Invalid variable validation condition";
        InconsistentFinalPlan "inconsistent-final-plan": Error "Provider produced inconsistent final plan";
        InconsistentResult "inconsistent-result": Error "Provider produced inconsistent result after apply";
        InvalidApplyResult "invalid-apply-result":
            Error "Provider returned invalid result object after apply",
            Error "Provider produced invalid object";
        InvalidData "invalid-data":
            Error "Provider produced invalid object", Error "Provider produced null object";
        InvalidPlan "invalid-plan": Error "Provider produced invalid plan";
        InvalidProviderKey "invalid-provider-key": Error "Invalid provider instance key";
        InvalidProviderReference "invalid-provider-reference": Error "Invalid provider configuration reference";
        InvalidProviderSource "invalid-provider-source": Error "Invalid provider source string";
        InvalidReattach "invalid-reattach": Error "Invalid format for TF_REATTACH_PROVIDERS";
        InvalidRequiredProviders "invalid-required-providers":
            Error "Invalid required_providers object", Error "Invalid required_providers syntax";
        InvalidResourceType "invalid-resource-type":
            Error "Invalid resource type", Error "Invalid data source", Error "Invalid ephemeral resource";
        LeftProcesses "left-processes": Warning "Processes of an earlier run were ended";
        LockFile "lock-file":
            Error "Failed to read dependency lock file", Error "Failed to save dependency lock file",
            Error "Provider dependency changes detected";
        MisplacedRequiredProviders "misplaced-required-providers": Error "Invalid required_providers block";
        MissingProviderConfiguration "missing-provider-configuration":
            Error "Provider configuration not present";
        MissingProviderInstance "missing-provider-instance": Error "Provider instance not present";
        MissingProviderSchema "missing-provider-schema": Error "Missing provider schema";
        NullUpgrade "null-upgrade": Error "Provider produced null object";
        OwnExecutable "own-executable": Error "Failed to find own executable";
        ProviderDiagnostic "provider-diagnostic":
            Error "The provider's own words", Warning "The provider's own words";
        ProviderDoesNotEnd "provider-does-not-end": Warning "Provider does not end";
        ProviderForEachWithoutAlias "provider-for-each-without-alias":
            Error "Alias required when using \"for_each\"";
        ProviderInstall "provider-install": Error "Failed to install provider";
        ProviderReplaced "provider-replaced": Error "Provider was replaced";
        ProviderSchema "provider-schema": Error "The provider's own words";
        ProviderStart "provider-start": Error "Failed to start provider";
        ProviderVersion "provider-version":
            Warning "Version constraints inside provider configuration blocks are deprecated";
        ProvidersNotInstalled "providers-not-installed": Error "Required plugins are not installed";
        RedundantProviderBlock "redundant-provider-block": Warning "Redundant empty provider block";
        UnconfiguredProvider "unconfigured-provider": Error "Invalid provider configuration";
        UndefinedProvider "undefined-provider": Warning "Reference to undefined provider";
        UnknownAfterRead "unknown-after-read": Error "Provider produced invalid object";
        UnknownDataConfig "unknown-data-config": Error "Configuration contains unknown value";
        UnknownProviderFunction "unknown-provider-function": Error "Unknown provider function";
    }
    Refactoring {
        AmbiguousMoves "ambiguous-moves": Error "Ambiguous move statements";
        CyclicMoves "cyclic-moves": Error "Cyclic dependency in move statements";
        DuplicateImport "duplicate-import": Error "Duplicate import configuration for \"terraform_data.web\"";
        ImportNoModule "import-no-module": Error "No such module instance";
        ImportNoObject "import-no-object": Error "Cannot import non-existent remote object";
        ImportNotConfigured "import-not-configured":
            Error "resource address \"ADDRESS\" does not exist in the configuration.";
        ImportOccupied "import-occupied": Error "Resource already managed by OpenTofu";
        ImportOutsideRoot "import-outside-root": Error "Invalid import configuration";
        InvalidImportAddress "invalid-import-address": Error "Invalid import address";
        InvalidImportId "invalid-import-id":
            Error "Invalid import id argument", Error "Invalid import identity argument",
            Error "Incorrect value type";
        InvalidImportKey "invalid-import-key": Error "Import block 'to' address contains an invalid key";
        InvalidImportProvider "invalid-import-provider": Error "Invalid import provider argument";
        InvalidImport "invalid-import":
            Error "Provider produced invalid object", Error "Invalid import block",
            Error "Invalid for_each argument";
        InvalidMovedAddress "invalid-moved-address": Error "Invalid \"moved\" address";
        InvalidMovedAddresses "invalid-moved-addresses": Error "Invalid \"moved\" addresses";
        InvalidRemovedAddress "invalid-removed-address":
            Error "Resource instance address with keys is not allowed",
            Error "Module instance address with keys is not allowed",
            Error "Data source address is not allowed", Error "Ephemeral resource address is not allowed";
        InvalidRemovedProvisioner "invalid-removed-provisioner": Error "Invalid provisioner block";
        MovedObjectExists "moved-object-exists": Error "Moved object still exists";
        RedundantMove "redundant-move": Error "Redundant move statement";
        RemovedObjectExists "removed-object-exists":
            Error "Removed resource block still exists", Error "Removed module block still exists";
        UndeclaredImportTarget "undeclared-import-target":
            Error "Configuration for import target does not exist";
        UnresolvedMove "unresolved-move": Warning "Unresolved resource instance address changes";
        WrongImportKey "wrong-import-key": Error "Invalid import 'to' expression";
    }
    State {
        BackendChanged "backend-changed":
            Error "Backend initialization required, please run \"mayfly init\"",
            Error "Backend configuration changed", Error "Failed to migrate state";
        DuplicateBackend "duplicate-backend": Error "Duplicate backend configuration";
        ForceUnlock "force-unlock": Error "Failed to unlock state";
        IgnoredBackend "ignored-backend":
            Warning "Backend configuration ignored", Warning "Cloud configuration ignored";
        InvalidBackendConfig "invalid-backend-config":
            Error "Invalid backend configuration argument", Error "Failed to read file",
            Warning "Missing backend configuration";
        InvalidBackend "invalid-backend":
            Error "Invalid local state file path", Error "Invalid local workspace directory path",
            Error "Invalid key value", Error "Invalid Attribute Combination",
            Error "Invalid workspaces configuration";
        InvalidEncryptionArgument "invalid-encryption-argument": Error "Unable to build encryption key data";
        InvalidEncryptionKeys "invalid-encryption-keys": Error "Invalid Key Provider expression format";
        InvalidEncryptionMethod "invalid-encryption-method": Error "Invalid encryption method";
        InvalidWorkspace "invalid-workspace":
            Error "Invalid workspace", Error "Failed to read the selected workspace";
        JournalDamaged "journal-damaged": Error "Damaged journal", Warning "Damaged journal of a watcher";
        JournalFormat "journal-format": Error "Journal of a later version";
        JournalOfAnotherState "journal-of-another-state": Error "Journal of another state";
        JournalRemoval "journal-removal": Warning "Failed to remove the journal of a watcher";
        JournalUnreadable "journal-unreadable":
            Error "Failed to read the journal", Warning "Failed to read the journal of a watcher";
        JournalWrite "journal-write": Error "Failed to write the journal";
        LockTimeout "lock-timeout": Error "Invalid -lock-timeout";
        NewerProviderState "newer-provider-state": Error "Resource instance managed by newer provider version";
        NoObject "no-object": Error "Provider produced invalid object";
        NoOutputs "no-outputs": Warning "No outputs found";
        NoState "no-state": Error "No state file was found!";
        NoSuchInstance "no-such-instance": Error "No instance found for the given address";
        NoSuchOutput "no-such-output": Error "Output \"NAME\" not found";
        NotUncertain "not-uncertain": Error "Nothing is uncertain there";
        StateDecode "state-decode": Error "Failed to decode resource from state";
        StateEncode "state-encode": Error "Failed to write state", Error "Failed to save object to state";
        StateLock "state-lock": Error "Error acquiring the state lock";
        StateRead "state-read": Error "Error loading state", Error "State file is empty";
        StateSerial "state-serial": Error "State has no later serial", Error "Failed to write state";
        StateUnlock "state-unlock": Error "Error releasing the state lock";
        StateUnwritable "state-unwritable": Error "Error opening the state for writing";
        StateWrite "state-write": Error "Failed to save state";
        UncertainCreate "uncertain-create":
            Error "Object may exist already", Warning "Objects may exist that the state does not have";
        UnknownBackend "unknown-backend": Error "Unsupported backend type";
        UnknownEncryption "unknown-encryption": Error "Unknown key_provider type", Error "Unknown method type";
        UnreadableStateOrPlan "unreadable-state-or-plan":
            Error "Failed to read the given file as a state or plan file";
    }
    Runs {
        CheckUnknown "check-unknown": Warning "Check block assertion known after apply";
        ConditionFailed "condition-failed":
            Error "Resource precondition failed", Error "Resource postcondition failed",
            Error "Module output value precondition failed", Warning "Check block assertion failed";
        DestroyPlanFile "destroy-plan-file": Error "Destroy can't be called with a plan file";
        ErroredPlan "errored-plan": Error "Cannot apply incomplete plan";
        EvaluationTooLarge "evaluation-too-large": Error "Value too large";
        InternalError "internal-error": Error "Internal error";
        InvalidEvaluationMemory "invalid-evaluation-memory": Error "Invalid memory limit";
        InvalidPreventDestroy "invalid-prevent-destroy": Error "Invalid value for prevent_destroy";
        NotSupportedYet "not-supported-yet": Error "Not supported yet", Warning "Not supported yet";
        OperationFailed "operation-failed": Error "Invalid operation";
        PlanForOtherState "plan-for-other-state": Error "Saved plan does not match the given state";
        PlanIsDirectory "plan-is-directory": Error "Too many command line arguments";
        PlanRead "plan-read": Error "Failed to load \"saved.tfplan\" as a plan file";
        PlanVariableMismatch "plan-variable-mismatch": Error "Mismatch between input and plan variable value";
        PlanWrite "plan-write": Error "Failed to write plan file";
        PlannedConfigurationDiffers "planned-configuration-differs":
            Warning "The configuration in this directory is not the one that is applied";
        PlannedFileChanged "planned-file-changed": Error "File was changed after the plan was made";
        PreventDestroy "prevent-destroy": Error "Resource instance cannot be destroyed";
        RunCutOff "run-cut-off": Warning "The last run was cut off";
        RunInterrupted "run-interrupted": Error "execution halted";
        ScopedReference "scoped-reference": Error "Reference to scoped resource";
        StalePlan "stale-plan":
            Error "Saved plan is stale", Error "Saved plan is for another workspace",
            Error "Saved plan is for a state in another place",
            Error "Saved plan was made with another TF_DATA_DIR";
        TooManyInstances "too-many-instances": Error "Too many instances";
        ValidationFailed "validation-failed": Error "Invalid value for variable";
        ZeroAsserts "zero-asserts": Error "Zero assert blocks";
    }
    CommandLine {
        CliConfig "cli-config":
            Error "Unable to open CLI configuration file", Warning "Unable to open CLI configuration file";
        ConsoleEvaluation "console-evaluation": Error "Cannot evaluate here";
        ContradictingOptions "contradicting-options": Error "Invalid combination of options";
        FmtTarget "fmt-target": Error "No file or directory at PATH";
        InvalidAddress "invalid-address":
            Error "Invalid address", Error "Invalid expression", Error "Error parsing instance address",
            Error "Invalid target resource address";
        InvalidConsoleValues "invalid-console-values": Warning "Some values are not valid";
        InvalidUseOfType "invalid-use-of-type": Error "Invalid use of type function";
        InvalidVarOption "invalid-var-option": Error "Invalid -var option";
        InvalidVariableValue "invalid-variable-value": Error "Invalid value for input variable";
        InvalidVariablesFile "invalid-variables-file":
            Error "Failed to read variables file", Error "Invalid variables file",
            Error "Variables not allowed", Error "Variable declaration in .tfvars file";
        JsonApproval "json-approval": Error "Plan file or auto-approve required";
        JsonRequired "json-required": Error "The -json flag is required";
        NoConfiguration "no-configuration": Error "No configuration files";
        NoInput "no-input": Error "Approval required", Error "Error asking for approval";
        NoValueForVariable "no-value-for-variable": Error "No value for required variable";
        NullInput "null-input": Error "Required variable not set";
        OutputFormat "output-format": Error "Invalid output format";
        OutputName "output-name": Error "Output name required";
        PromptEnded "prompt-ended": Error "Error asking for input";
        UndeclaredVariable "undeclared-variable":
            Warning "Value for undeclared variable", Error "Value for undeclared variable";
        UnknownDiagnostic "unknown-diagnostic": Error "Nothing to explain";
        UnreadableDirectory "unreadable-directory": Error "Failed to read module directory";
        UnreadableFile "unreadable-file": Error "Failed to read file";
        UnreadableInput "unreadable-input": Error "Failed to read input";
        UnsupportedOption "unsupported-option": Error "Unsupported option";
        UnsupportedRaw "unsupported-raw": Error "Unsupported value for raw output";
    }
}
