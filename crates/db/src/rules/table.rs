//! The table of the rules: one row for each error and warning, by group.
//!
//! A row has the name of the rule, its code, and the entries for its diagnostics. An entry has the name of the constant
//! of [`Summary`](super::Summary), the severity and the text. With parameters it is a function, and the text has
//! them in braces. `as` gives examples of a text that others write: a parser or a provider.

use super::rules;

mod language;

language::language! { rules
    Providers {
        DuplicateProviderAddress "duplicate-provider-address":
            DUPLICATE_PROVIDER_ADDRESS Error "Duplicate provider address";
        DuplicateRequiredProvider "duplicate-required-provider":
            DUPLICATE_REQUIRED_PROVIDER Warning "Duplicate required provider";
        DuplicateRequiredProviders "duplicate-required-providers":
            DUPLICATE_REQUIRED_PROVIDERS Error "Duplicate required providers configuration";
        ForeignValidation "foreign-validation": FOREIGN_VALIDATION Error "Invalid variable validation condition";
        InconsistentFinalPlan "inconsistent-final-plan":
            INCONSISTENT_FINAL_PLAN Error "Provider produced inconsistent final plan";
        InconsistentResult "inconsistent-result":
            INCONSISTENT_RESULT Error "Provider produced inconsistent result after apply";
        InvalidApplyResult "invalid-apply-result":
            INVALID_APPLY_RESULT Error "Provider returned invalid result object after apply",
            INVALID_APPLIED_OBJECT Error "Provider produced invalid object";
        InvalidData "invalid-data":
            INVALID_DATA Error "Provider produced invalid object", NULL_DATA Error "Provider produced null object";
        InvalidPlan "invalid-plan": INVALID_PLAN Error "Provider produced invalid plan";
        InvalidProviderKey "invalid-provider-key": INVALID_PROVIDER_KEY Error "Invalid provider instance key";
        InvalidProviderReference "invalid-provider-reference":
            INVALID_PROVIDER_REFERENCE Error "Invalid provider configuration reference";
        InvalidProviderSource "invalid-provider-source": INVALID_PROVIDER_SOURCE Error "Invalid provider source string";
        InvalidReattach "invalid-reattach": INVALID_REATTACH Error "Invalid format for TF_REATTACH_PROVIDERS";
        InvalidRequiredProviders "invalid-required-providers":
            INVALID_REQUIRED_PROVIDERS Error "Invalid required_providers object",
            REQUIRED_PROVIDERS_SYNTAX Error "Invalid required_providers syntax", REQUIRED_SOURCE Error "Invalid source",
            REQUIRED_VERSION Error "Invalid version constraint",
            CONFIGURATION_ALIASES Error "Invalid configuration_aliases value";
        InvalidResourceType "invalid-resource-type":
            INVALID_RESOURCE_TYPE Error "Invalid resource type", INVALID_DATA_SOURCE Error "Invalid data source",
            INVALID_EPHEMERAL_TYPE Error "Invalid ephemeral resource";
        LeftProcesses "left-processes": LEFT_PROCESSES Warning "Processes of an earlier run were ended";
        LockFile "lock-file":
            LOCK_FILE_READ Error "Failed to read dependency lock file",
            LOCK_FILE_SAVE Error "Failed to save dependency lock file",
            LOCKED_PROVIDERS Error "Provider dependency changes detected",
            LOCKED_MODULES Error "Module dependency changes detected",
            lock_file_fault(words) Error "{words}" as "Invalid dependency lock file"
                | "Invalid provider source address" | "Invalid provider hash set" | "Invalid module package lock";
        MisplacedRequiredProviders "misplaced-required-providers":
            MISPLACED_REQUIRED_PROVIDERS Error "Invalid required_providers block";
        MissingProviderConfiguration "missing-provider-configuration":
            MISSING_PROVIDER_CONFIGURATION Error "Provider configuration not present";
        MissingProviderInstance "missing-provider-instance":
            MISSING_PROVIDER_INSTANCE Error "Provider instance not present";
        MissingProviderSchema "missing-provider-schema": MISSING_PROVIDER_SCHEMA Error "Missing provider schema";
        NullUpgrade "null-upgrade": NULL_UPGRADE Error "Provider produced null object";
        OwnExecutable "own-executable": OWN_EXECUTABLE Error "Failed to find own executable";
        ProviderDiagnostic "provider-diagnostic":
            provider_error(words) Error "{words}" as "The provider's own words",
            provider_warning(words) Warning "{words}" as "The provider's own words";
        ProviderDoesNotEnd "provider-does-not-end": PROVIDER_DOES_NOT_END Warning "Provider does not end";
        ProviderForEachMatches "provider-for-each-matches":
            PROVIDER_FOR_EACH_MATCHES_RESOURCE Warning "Provider configuration for_each matches resource",
            PROVIDER_FOR_EACH_MATCHES_MODULE Warning "Provider configuration for_each matches module";
        ProviderForEachWithoutAlias "provider-for-each-without-alias":
            PROVIDER_FOR_EACH_WITHOUT_ALIAS Error "Alias required when using \"for_each\"";
        ProviderInstall "provider-install":
            PROVIDER_INSTALL Error "Failed to install provider",
            PROVIDER_QUERY Error "Failed to query available provider packages",
            BUILTIN_PROVIDER Error "Invalid dependency on built-in provider";
        ProviderLockWarning "provider-lock-warning":
            INCOMPLETE_LOCKS Warning "Incomplete lock file information for providers",
            REGISTRY_WARNING Warning "Additional provider information from registry";
        ProviderLocking "provider-locking":
            PROVIDER_LOCKING Error "Could not retrieve providers for locking",
            INCONSISTENT_VERSIONS Error "Inconsistent provider versions",
            INVALID_LOCK_PROVIDER Error "Invalid provider argument",
            INVALID_NETWORK_MIRROR Error "Invalid network mirror URL",
            INVALID_PLATFORM Error "Invalid target platform";
        ProviderMirror "provider-mirror":
            MIRROR_SELECTION Error "Provider not available", MIRROR_PACKAGE Error "Provider release not available",
            MIRROR_COPY Error "Cannot download provider release", MIRROR_INDEX Error "Failed to update indexes";
        ProviderReplaced "provider-replaced": PROVIDER_REPLACED Error "Provider was replaced";
        ProviderSchema "provider-schema": provider_schema(words) Error "{words}" as "The provider's own words";
        ProviderStart "provider-start": PROVIDER_START Error "Failed to start provider";
        ProvisionerStart "provisioner-start":
            PROVISIONER_START Error "Failed to start provisioner",
            PROVISIONER_SCHEMA Error "Failed to load provisioner schema",
            PROVISIONER_FAILED Error "Provisioner failed",
            PLUGIN_PATH Error "Invalid list of plugin directories",
            PROVISIONER_INTERRUPTED Error "Provisioner was interrupted";
        ProviderVersion "provider-version":
            PROVIDER_VERSION Warning "Version constraints inside provider configuration blocks are deprecated";
        ProvidersNotInstalled "providers-not-installed":
            PROVIDERS_NOT_INSTALLED Error "Required plugins are not installed",
            INCONSISTENT_LOCK_FILE Error "Inconsistent dependency lock file",
            UNUSABLE_OVERRIDE Error "Development override cannot be used";
        RedundantProviderBlock "redundant-provider-block":
            REDUNDANT_PROVIDER_BLOCK Warning "Redundant empty provider block";
        UnconfiguredProvider "unconfigured-provider": UNCONFIGURED_PROVIDER Error "Invalid provider configuration";
        UndefinedProvider "undefined-provider":
            UNDEFINED_PROVIDER Warning "Reference to undefined provider",
            UNDEFINED_PROVIDER_ALIAS Error "Reference to undefined provider";
        UnmatchedStoredProvider "unmatched-stored-provider":
            UNMATCHED_STORED_PROVIDER Error "Unable to use fallback provider from state";
        UnknownAfterRead "unknown-after-read": UNKNOWN_AFTER_READ Error "Provider produced invalid object";
        UnknownDataConfig "unknown-data-config": UNKNOWN_DATA_CONFIG Error "Configuration contains unknown value";
        UnknownProviderFunction "unknown-provider-function":
            UNKNOWN_PROVIDER_FUNCTION Error "Unknown provider function",
            FUNCTION_NOT_IN_PROVIDER Error "Function not found in provider",
            UNINITIALIZED_FUNCTION_PROVIDER Error "Uninitialized function provider";
    }
    Refactoring {
        AmbiguousMoves "ambiguous-moves": AMBIGUOUS_MOVES Error "Ambiguous move statements";
        ConfigGeneration "config-generation":
            GENERATION_FILE_EXISTS Error "Target generated file already exists",
            GENERATION_FILE_WRITE Error "Failed to create target generated file",
            GENERATION_MODE Error "Invalid generate-config-out flag",
            GENERATION_EXPERIMENTAL Warning "Config generation is experimental",
            SKIPPED_GENERATION Warning "Skipped part of config generation";
        CyclicMoves "cyclic-moves": CYCLIC_MOVES Error "Cyclic dependency in move statements";
        DuplicateImport "duplicate-import":
            duplicate_import(address) Error "Duplicate import configuration for {address}";
        ImportNoModule "import-no-module": IMPORT_NO_MODULE Error "No such module instance";
        ImportNoObject "import-no-object":
            IMPORT_NO_OBJECT Error "Cannot import non-existent remote object",
            NO_IMPORTED_OBJECTS Error "Import returned no resources",
            NULL_IMPORTED_OBJECT Error "Import returned null resource",
            MULTIPLE_IMPORTED_OBJECTS Error "Multiple import states not supported";
        ImportNotConfigured "import-not-configured":
            import_not_configured(address) Error "resource address \"{address}\" does not exist in the configuration.";
        ImportOccupied "import-occupied": IMPORT_OCCUPIED Error "Resource already managed by OpenTofu";
        ImportOutsideRoot "import-outside-root": IMPORT_OUTSIDE_ROOT Error "Invalid import configuration";
        InvalidImportAddress "invalid-import-address": INVALID_IMPORT_ADDRESS Error "Invalid import address";
        InvalidImportId "invalid-import-id":
            INVALID_IMPORT_ID Error "Invalid import id argument",
            INVALID_IMPORT_IDENTITY Error "Invalid import identity argument",
            NO_IMPORT_IDENTITY_SCHEMA Error "Unable to determine identity schema for import identity",
            INCORRECT_IMPORT_TYPE Error "Incorrect value type";
        InvalidImportKey "invalid-import-key":
            INVALID_IMPORT_KEY Error "Import block 'to' address contains an invalid key";
        InvalidImportProvider "invalid-import-provider":
            INVALID_IMPORT_PROVIDER Error "Invalid import provider argument";
        InvalidImport "invalid-import":
            INVALID_IMPORTED_OBJECT Error "Provider produced invalid object",
            INVALID_IMPORT Error "Invalid import block", INVALID_IMPORT_FOR_EACH Error "Invalid for_each argument";
        InvalidMovedAddress "invalid-moved-address": INVALID_MOVED_ADDRESS Error "Invalid \"moved\" address";
        InvalidMovedAddresses "invalid-moved-addresses": INVALID_MOVED_ADDRESSES Error "Invalid \"moved\" addresses";
        InvalidRemovedAddress "invalid-removed-address":
            REMOVED_RESOURCE_KEY Error "Resource instance address with keys is not allowed",
            REMOVED_MODULE_KEY Error "Module instance address with keys is not allowed",
            REMOVED_DATA_SOURCE Error "Data source address is not allowed",
            REMOVED_EPHEMERAL_RESOURCE Error "Ephemeral resource address is not allowed";
        InvalidRemovedProvisioner "invalid-removed-provisioner":
            INVALID_REMOVED_PROVISIONER Error "Invalid provisioner block";
        LeftBehind "left-behind": LEFT_BEHIND Error "Destroy was successful but left behind forgotten instances";
        MissingRemovedLifecycle "missing-removed-lifecycle":
            MISSING_REMOVED_LIFECYCLE Warning "Missing lifecycle from the removed block";
        MovedObjectExists "moved-object-exists": MOVED_OBJECT_EXISTS Error "Moved object still exists";
        RedundantMove "redundant-move": REDUNDANT_MOVE Error "Redundant move statement";
        RemovedObjectExists "removed-object-exists":
            REMOVED_RESOURCE_EXISTS Error "Removed resource block still exists",
            REMOVED_MODULE_EXISTS Error "Removed module block still exists";
        ResourceForgotten "resource-forgotten": RESOURCE_FORGOTTEN Warning "Resource will be removed from the state";
        UndeclaredImportTarget "undeclared-import-target":
            UNDECLARED_IMPORT_TARGET Error "Configuration for import target does not exist",
            GENERATION_IN_MODULE Error "Cannot generate configuration for resource inside sub-module",
            GENERATION_WITH_KEYS Error "Configuration generation for count and for_each resources not supported";
        UnresolvedMove "unresolved-move": UNRESOLVED_MOVE Warning "Unresolved resource instance address changes";
        UnusedRemovedProvisioner "unused-removed-provisioner":
            UNUSED_REMOVED_PROVISIONER Warning "Removed block provisioners will not be executed";
        WrongImportKey "wrong-import-key": WRONG_IMPORT_KEY Error "Invalid import 'to' expression";
    }
    State {
        BackendChanged "backend-changed":
            BACKEND_NOT_INITIALIZED Error "Backend initialization required, please run \"mayfly init\"",
            BACKEND_CHANGED Error "Backend configuration changed",
            BACKEND_RECORD Error "Failed to save the backend configuration",
            STATE_MIGRATION Error "Failed to migrate state";
        DuplicateBackend "duplicate-backend": DUPLICATE_BACKEND Error "Duplicate backend configuration";
        ForceUnlock "force-unlock": FORCE_UNLOCK Error "Failed to unlock state";
        IgnoredBackend "ignored-backend":
            IGNORED_BACKEND Warning "Backend configuration ignored",
            IGNORED_CLOUD Warning "Cloud configuration ignored";
        InvalidBackendConfig "invalid-backend-config":
            INVALID_BACKEND_CONFIG Error "Invalid backend configuration argument",
            UNREADABLE_BACKEND_CONFIG Error "Failed to read file",
            UNSUPPORTED_BACKEND_ARGUMENT Error "Unsupported argument",
            BACKEND_ARGUMENT_TYPE Error "Incorrect attribute value type",
            EMPTY_STATE_PATH_FLAG Error "Invalid local state file path",
            EMPTY_WORKSPACE_DIR_FLAG Error "Invalid local workspace directory path",
            backend_config_fault(words) Error "{words}" as "Invalid expression",
            MISSING_BACKEND_CONFIG Warning "Missing backend configuration";
        InvalidBackend "invalid-backend":
            EMPTY_STATE_PATH Error "Invalid local state file path",
            EMPTY_WORKSPACE_DIR Error "Invalid local workspace directory path",
            unfit_backend_argument(argument) Error "Invalid {argument} value",
            EXCLUSIVE_BACKEND_ARGUMENTS Error "Invalid Attribute Combination",
            EXCLUSIVE_WORKSPACE_ARGUMENTS Error "Invalid workspaces configuration";
        InvalidEncryptionArgument "invalid-encryption-argument":
            INVALID_ENCRYPTION_ARGUMENT Error "Unable to build encryption key data";
        InvalidEncryptionKeys "invalid-encryption-keys":
            INVALID_ENCRYPTION_KEYS Error "Invalid Key Provider expression format";
        InvalidEncryptionMethod "invalid-encryption-method":
            INVALID_ENCRYPTION_METHOD Error "Invalid encryption method";
        InvalidWorkspace "invalid-workspace":
            INVALID_WORKSPACE Error "Invalid workspace", INVALID_WORKSPACE_NAME Error "Invalid workspace name",
            UNREADABLE_WORKSPACE Error "Failed to read the selected workspace";
        JournalDamaged "journal-damaged":
            JOURNAL_DAMAGED Error "Damaged journal", WATCHER_JOURNAL_DAMAGED Warning "Damaged journal of a watcher";
        JournalFormat "journal-format": JOURNAL_FORMAT Error "Journal of a later version";
        JournalOfAnotherState "journal-of-another-state": JOURNAL_OF_ANOTHER_STATE Error "Journal of another state";
        JournalRemoval "journal-removal": JOURNAL_REMOVAL Warning "Failed to remove the journal of a watcher";
        JournalUnreadable "journal-unreadable":
            JOURNAL_UNREADABLE Error "Failed to read the journal",
            WATCHER_JOURNAL_UNREADABLE Warning "Failed to read the journal of a watcher";
        JournalWrite "journal-write": JOURNAL_WRITE Error "Failed to write the journal";
        LockTimeout "lock-timeout": LOCK_TIMEOUT Error "Invalid -lock-timeout";
        NewerProviderState "newer-provider-state":
            NEWER_PROVIDER_STATE Error "Resource instance managed by newer provider version",
            NEWER_PROVIDER_IDENTITY Error "Resource identity managed by newer provider version";
        NoObject "no-object": NO_OBJECT Error "Provider produced invalid object";
        NoOutputs "no-outputs": NO_OUTPUTS Warning "No outputs found";
        NoState "no-state": NO_STATE Error "No state file was found";
        NoSuchInstance "no-such-instance":
            NO_SUCH_INSTANCE Error "No instance found for the given address",
            UNKNOWN_INSTANCE Error "Unknown resource instance", UNKNOWN_MODULE Error "Unknown module",
            UNKNOWN_RESOURCE Error "Unknown resource", NO_MATCHING_OBJECT Error "Invalid target address",
            NO_TAINT_TARGET Error "No such resource instance", MISSING_TAINT_TARGET Warning "No such resource instance";
        NoSuchOutput "no-such-output": no_such_output(name) Error "Output {name} not found";
        NotTainted "not-tainted": NOT_TAINTED Error "Resource instance is not tainted";
        NotUncertain "not-uncertain": NOT_UNCERTAIN Error "Nothing is uncertain there";
        StateDecode "state-decode": STATE_DECODE Error "Failed to decode resource from state";
        StateEncode "state-encode":
            UNWRITABLE_STATE Error "Failed to write state", UNWRITABLE_OBJECT Error "Failed to save object to state";
        StateLock "state-lock": STATE_LOCK Error "Error acquiring the state lock";
        StateMove "state-move":
            MOVE_SOURCE Error "Invalid source address", MOVE_TARGET Error "Invalid target address",
            MOVE_REQUEST Error "Invalid state move request",
            MOVE_MODULE_EXISTS Error "Destination module already exists";
        PushedState "pushed-state":
            PUSHED_STATE Error "Failed to write the imported state",
            UNOPENED_PUSHED_STATE Error "Failed to open the given state file",
            unreadable_pushed_state(name) Error "Failed to read source state {name}";
        StateRead "state-read":
            STATE_READ Error "Error loading state", EMPTY_STATE_FILE Error "State file is empty",
            state_fault(words) Error "{words}" as "Unsupported state file format" | "Encrypted state"
                | "Invalid address in state";
        StateSerial "state-serial":
            STATE_SERIAL Error "State has no later serial", STATE_SERIAL_EXHAUSTED Error "Failed to write state";
        StateUnlock "state-unlock": STATE_UNLOCK Error "Error releasing the state lock";
        StateUnwritable "state-unwritable": STATE_UNWRITABLE Error "Error opening the state for writing";
        StateWrite "state-write": STATE_WRITE Error "Failed to save state";
        UncertainCreate "uncertain-create":
            UNCERTAIN_CREATE Error "Object may exist already",
            UNCERTAIN_CREATES Warning "Objects may exist that the state does not know";
        UnknownBackend "unknown-backend": UNKNOWN_BACKEND Error "Unsupported backend type";
        UnknownEncryption "unknown-encryption": unknown_encryption(kind) Error "Unknown {kind} type";
        WorkspaceChange "workspace-change":
            workspace_exists(name) Error "Workspace {name} already exists",
            missing_workspace(name) Error "Workspace {name} doesn't exist",
            active_workspace(name) Error "Workspace {name} is your active workspace",
            WORKSPACE_NOT_EMPTY Error "Workspace is not empty", WORKSPACE_DELETION Error "Workspace deletion failed",
            WORKSPACE_FAULT Error "Error setting workspace", workspace_lost(name) Warning "{name} was non-empty";
        WorkspaceOverridden "workspace-overridden":
            OVERRIDDEN_WORKSPACE
                Error "The selected workspace is overridden using the TF_WORKSPACE environment variable",
            OVERRIDDEN_NEW_WORKSPACE Error "The workspace is overridden using the TF_WORKSPACE environment variable";
        UnreadableStateOrPlan "unreadable-state-or-plan":
            UNREADABLE_STATE_OR_PLAN Error "Failed to read the given file as a state or plan file";
    }
    Runs {
        CheckUnknown "check-unknown": CHECK_UNKNOWN Warning "Check block assertion known after apply";
        ConditionFailed "condition-failed":
            RESOURCE_PRECONDITION Error "Resource precondition failed",
            RESOURCE_POSTCONDITION Error "Resource postcondition failed",
            OUTPUT_PRECONDITION Error "Module output value precondition failed",
            CHECK_ASSERTION Warning "Check block assertion failed";
        DestroyPlanFile "destroy-plan-file": DESTROY_PLAN_FILE Error "Destroy can't be called with a plan file";
        ErroredPlan "errored-plan": ERRORED_PLAN Error "Cannot apply incomplete plan";
        EvaluationTooLarge "evaluation-too-large":
            EVALUATION_TOO_LARGE Error "Value too large", CONSTANT_TOO_LARGE Warning "Value too large",
            LARGE_CONSTANT Hint "Large value";
        InternalError "internal-error": INTERNAL_ERROR Error "Internal error";
        InvalidEvaluationMemory "invalid-evaluation-memory": INVALID_EVALUATION_MEMORY Error "Invalid memory limit";
        InvalidPreventDestroy "invalid-prevent-destroy":
            INVALID_PREVENT_DESTROY Error "Invalid value for prevent_destroy";
        MovesNotTargeted "moves-not-targeted":
            MOVES_NOT_TARGETED Error "Moved resource instances excluded by targeting";
        NotSupportedYet "not-supported-yet": NOT_SUPPORTED_YET Error "Not supported yet";
        NothingToRefresh "nothing-to-refresh": NOTHING_TO_REFRESH Warning "Empty or non-existent state";
        OperationFailed "operation-failed": OPERATION_FAILED Error "Operation failed";
        PlanForOtherState "plan-for-other-state":
            PLAN_FOR_OTHER_STATE Error "Saved plan does not match the given state";
        PlanIsDirectory "plan-is-directory": PLAN_IS_DIRECTORY Error "Too many command line arguments";
        PlanRead "plan-read":
            plan_read(path) Error "Failed to load {path} as a plan file", INVALID_PLAN_FILE Error "Invalid plan file";
        PlanVariableMismatch "plan-variable-mismatch":
            PLAN_VARIABLE_MISMATCH Error "Mismatch between input and plan variable value";
        PlanWrite "plan-write":
            PLAN_WRITE Error "Failed to write plan file", PLAN_PAGE_WRITE Error "Failed to write HTML page";
        PlannedConfigurationDiffers "planned-configuration-differs":
            PLANNED_CONFIGURATION_DIFFERS Warning "The configuration in this directory is not the one that is applied";
        PlannedFileChanged "planned-file-changed":
            PLANNED_FILE_CHANGED Error "File was changed after the plan was made";
        PreventDestroy "prevent-destroy": PREVENT_DESTROY Error "Resource instance cannot be destroyed";
        RevisionComparison "revision-comparison":
            REVISION_COMPARISON Error "Failed to compare with a revision";
        RunCutOff "run-cut-off": RUN_CUT_OFF Warning "The last run was cut off";
        RunInterrupted "run-interrupted": RUN_INTERRUPTED Error "execution halted";
        ScopedReference "scoped-reference": SCOPED_REFERENCE Error "Reference to scoped resource";
        StalePlan "stale-plan":
            STALE_PLAN Error "Saved plan is stale", PLAN_OF_WORKSPACE Error "Saved plan is for another workspace",
            PLAN_OF_STATE Error "Saved plan is for a state in another place",
            PLAN_OF_DATA_DIR Error "Saved plan was made with another TF_DATA_DIR";
        TargetingInEffect "targeting-in-effect":
            TARGETING_IN_EFFECT Warning "Resource targeting is in effect",
            TARGETED_APPLY Warning "Applied changes may be incomplete";
        TooManyInstances "too-many-instances": TOO_MANY_INSTANCES Error "Too many instances";
        UnmatchedReplace "unmatched-replace":
            UNMATCHED_REPLACE Warning "Incompletely-matched force-replace resource instance";
        ValidationFailed "validation-failed": VALIDATION_FAILED Error "Invalid value for variable";
        ZeroAsserts "zero-asserts": ZERO_ASSERTS Error "Zero assert blocks";
    }
    Tests {
        ExpectFailures "expect-failures":
            MISSING_EXPECTED_FAILURE Error "Missing expected failure",
            INVALID_EXPECT_FAILURES Error "Invalid `expect_failures` reference",
            INVALID_TEST_VARIABLE Warning "Invalid Variable in test file";
        TestAssertion "test-assertion":
            TEST_ASSERTION Error "Test assertion failed", UNKNOWN_TEST_CONDITION Error "Unknown condition run",
            INVALID_TEST_CONDITION Error "Invalid condition run";
        TestDouble "test-double":
            duplicate_double(kind) Error "Duplicated `{kind}` block",
            DOUBLE_NO_OBJECT Error "Object expected", DOUBLE_ALIAS Error "Invalid mock provider configuration alias",
            double_module_missing(module) Error "Module not found: {module}",
            double_resource_missing(resource) Error "Resource not found: {resource}",
            double_of_other_mode(mode, kind) Error "Unsupported `{mode}` target in `{kind}` block",
            double_output_missing(output) Warning "Output not found: {output}",
            double_in_file_and_run(kind) Warning "Multiple `{kind}` blocks for the same address",
            INVALID_DOUBLE_TARGET Error "Invalid address";
        TestFileSelection "test-file-selection":
            UNKNOWN_TEST_FILE Warning "Unknown test file", NO_TESTS Warning "No tests were found",
            UNREADABLE_TEST_FILE Error "Failed to read test file",
            JUNIT_REPORT Error "Failed to write the JUnit report";
        TestInterrupted "test-interrupted": TEST_INTERRUPTED Error "Test interrupted";
        TestLeftovers "test-leftovers":
            TEST_STATE_NOT_SAVED Error "Failed to persist state",
            TEST_LEFT_OBJECTS Warning "Objects of a killed test are left",
            TEST_NOT_RECORDED Warning "Test without a record";
        TestModule "test-module":
            MISSING_TEST_SOURCE Error "Missing \"source\" attribute for module block",
            TEST_MODULE_NOT_LOADED Error "Module not installed";
        TestProvider "test-provider": missing_test_provider(address) Error "Missing provider definition for {address}";
        TestRunBlock "test-run-block":
            INVALID_TEST_COMMAND Error "Invalid \"command\" keyword",
            INVALID_TEST_MODE Error "Invalid \"mode\" keyword",
            INCOMPATIBLE_PLAN_OPTIONS Error "Incompatible plan options",
            multiple_test_blocks(kind) Error "Multiple \"{kind}\" blocks", DUPLICATE_RUN Warning "Duplicate run block",
            UNDECLARED_TEST_REFERENCE Error "Reference to unknown object";
    }
    CommandLine {
        CliConfig "cli-config":
            cli_config_fault(words) Error "{words}" as "Unable to open CLI configuration file"
                | "Invalid credentials block" | "Invalid provider_installation block"
                | "Invalid provider_sandbox block" | "Invalid registry_protocols block"
                | "Invalid oci_credentials block",
            cli_config_doubt(words) Warning "{words}" as "Unable to open CLI configuration file";
        ConsoleEvaluation "console-evaluation": CONSOLE_EVALUATION Error "Cannot evaluate here";
        ContradictingOptions "contradicting-options":
            CONTRADICTING_OPTIONS Error "Invalid combination of options",
            TARGET_AND_EXCLUDE Error "Invalid combination of arguments",
            INSTALLATION_OPTIONS Error "Invalid installation method options",
            CONTRADICTING_MODES Error "Incompatible plan mode options",
            DESTROY_MODE Error "Invalid mode option", CONTRADICTING_REFRESH Error "Incompatible refresh options",
            REPLACE_IN_MODE Error "Unsupported plan mode";
        EnvCommand "env-command": ENV_COMMAND Warning "The \"mayfly env\" family of commands is deprecated";
        FmtTarget "fmt-target":
            fmt_target(path) Error "No file or directory at {path}",
            other_fmt_target(extensions, path) Error "Only {extensions} files can be processed with mayfly fmt: {path}",
            unreadable_fmt_directory(path) Error "Failed to read directory {path}",
            UNREADABLE_STDIN Error "Failed to read from stdin",
            unreadable_fmt_target(path) Error "Failed to read file {path}",
            unwritable_fmt_target(path, cause) Error "Failed to write {path}: {cause}";
        InvalidAddress "invalid-address":
            INVALID_ADDRESS Error "Invalid address", ADDRESS_NO_REFERENCE Error "Invalid expression",
            invalid_instance_address(address) Error "Error parsing instance address {address}",
            INVALID_TARGET_ADDRESS Error "Invalid target resource address",
            UNTAINTABLE_ADDRESS Error "Invalid resource address",
            address_fault(words) Error "{words}" as "Attribute name required" | "Invalid index"
                | "Unclosed index brackets",
            force_replace_address(address) Error "Invalid force-replace address {address}",
            target_address(flag, address) Error "Invalid {flag} {address}";
        InvalidConsoleValues "invalid-console-values": INVALID_CONSOLE_VALUES Warning "Some values are not valid";
        InvalidReplacement "invalid-replacement":
            invalid_replacement(role, source) Error "Invalid \"{role}\" provider {source}";
        InvalidUseOfType "invalid-use-of-type": INVALID_USE_OF_TYPE Error "Invalid use of type function";
        InvalidVarOption "invalid-var-option": INVALID_VAR_OPTION Error "Invalid -var option";
        InvalidVariableValue "invalid-variable-value":
            INVALID_VARIABLE_VALUE Error "Invalid value for input variable",
            variable_value_fault(words) Error "{words}" as "Variables not allowed";
        InvalidVariablesFile "invalid-variables-file":
            UNREADABLE_VARIABLES_FILE Error "Failed to read variables file",
            VARIABLES_IN_VARIABLES_FILE Error "Variables not allowed",
            DECLARATION_IN_VARIABLES_FILE Error "Variable declaration in .tfvars file",
            UNEXPECTED_FILE_BLOCK Error "Unexpected block",
            unexpected_file_block(kind) Error "Unexpected \"{kind}\" block",
            VARIABLES_FILE_ROOT Error "Root value must be object",
            VARIABLES_FILE_ARRAY Error "Incorrect JSON value type",
            DUPLICATE_FILE_VARIABLE Error "Duplicate attribute definition",
            DUPLICATE_FILE_KEY Error "Duplicate object attribute", VARIABLES_FILE_NUMBER Error "Invalid number",
            variables_file_fault(words) Error "{words}" as "Invalid operand";
        JsonApproval "json-approval": JSON_APPROVAL Error "Plan file or auto-approve required";
        JsonRequired "json-required": JSON_REQUIRED Error "The -json flag is required";
        FailedLogin "failed-login":
            LOGIN_INPUT Error "Login is an interactive command", INVALID_HOST Error "Invalid hostname",
            service_discovery(host) Error "Service discovery failed for {host}",
            configured_credentials(host) Error "Credentials for {host} are manually configured",
            LOGIN_NOT_UNDERSTOOD Warning "Host does not support OpenTofu login",
            LOGIN_UNSUPPORTED Error "Host does not support OpenTofu login",
            NO_TOKENS_API Error "Host does not support OpenTofu tokens API",
            LOGIN_CANCELLED Error "Login cancelled", LOGIN_NO_ANSWER Error "Error collecting user prompt",
            LOGIN_SERVER Error "Can't start temporary login server",
            LOGIN_FAILED Error "Failed to obtain auth token", PASSWORD_REFUSED Error "Failed to retrieve API token",
            INVALID_TOKEN Error "Token is invalid", TOKEN_USER Error "Failed to retrieve user account details",
            TOKEN_NOT_SAVED Error "Failed to save API token", TOKEN_NOT_REMOVED Error "Failed to remove API token";
        NoConfiguration "no-configuration":
            NO_CONFIGURATION Error "No configuration files",
            NO_CONFIGURATION_FILES Error "No OpenTofu configuration files";
        NoInput "no-input": NO_INPUT Error "Approval required", NO_APPROVAL Error "Error asking for approval";
        NoValueForVariable "no-value-for-variable": NO_VALUE_FOR_VARIABLE Error "No value for required variable";
        NullInput "null-input": NULL_INPUT Error "Required variable not set";
        OutputFormat "output-format": OUTPUT_FORMAT Error "Invalid output format";
        OutputName "output-name": OUTPUT_NAME Error "Output name required";
        PromptEnded "prompt-ended": PROMPT_ENDED Error "Error asking for input";
        UndeclaredVariable "undeclared-variable":
            UNDECLARED_VARIABLE_IN_FILE Warning "Value for undeclared variable",
            UNDECLARED_VARIABLES Warning "Values for undeclared variables",
            UNDECLARED_VARIABLE Error "Value for undeclared variable";
        UnknownDiagnostic "unknown-diagnostic": UNKNOWN_DIAGNOSTIC Error "Nothing to explain";
        UnreadableDirectory "unreadable-directory": UNREADABLE_DIRECTORY Error "Failed to read module directory";
        UnreadableFile "unreadable-file": UNREADABLE_FILE Error "Failed to read file";
        UnreadableInput "unreadable-input": UNREADABLE_INPUT Error "Failed to read input";
        UnusableSkeleton "unusable-skeleton": UNUSABLE_SKELETON Error "The provider cannot be created";
        UnsupportedOption "unsupported-option":
            UNSUPPORTED_OPTION Error "Unsupported option",
            UNSUPPORTED_PUSH Error "Command \"mayfly push\" is no longer supported";
        UnsupportedRaw "unsupported-raw": UNSUPPORTED_RAW Error "Unsupported value for raw output";
    }
}
