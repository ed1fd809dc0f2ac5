//! The rows about the language: the groups from `Syntax` to `Modules`.
//!
//! They are a macro that gives its rows, and those that it was called with after them, to the macro of that name:
//! one enum of all rules needs all rows at one place, and one file would be too long.

macro_rules! language {
    ($then:ident $($others:tt)*) => { $then! {
    Syntax {
        AmbiguousAttributeKey "ambiguous-attribute-key": AMBIGUOUS_ATTRIBUTE_KEY Error "Ambiguous attribute key";
        ExpressionTooDeep "expression-too-deep": EXPRESSION_TOO_DEEP Error "Expression too deep";
        InvalidEncoding "invalid-encoding": INVALID_ENCODING Error "Invalid character encoding";
        InvalidNestedSplat "invalid-nested-splat": INVALID_NESTED_SPLAT Error "Invalid nested splat expressions";
        InvalidNumber "invalid-number": INVALID_NUMBER Error "Invalid number literal";
        InvalidObject "invalid-object": INVALID_OBJECT Error "Provider produced invalid object";
        InvalidTemplateInterpolation "invalid-template-interpolation":
            INVALID_TEMPLATE_INTERPOLATION Error "Invalid template interpolation value";
        QuotedKeyword "quoted-keyword": QUOTED_KEYWORD Warning "Quoted keywords are deprecated";
        QuotedTypeConstraint "quoted-type-constraint": QUOTED_TYPE_CONSTRAINT Error "Invalid quoted type constraints";
        SyntaxError "syntax-error":
            syntax_error(words) Error "{words}" as "Argument or block definition required" | "Invalid expression"
                | "Missing newline after argument", JSON_ROOT Error "Root value must be object",
            JSON_TYPE Error "Incorrect JSON value type", JSON_ARGUMENT_NAME Error "Invalid argument name",
            JSON_DUPLICATE_ARGUMENT Error "Duplicate argument", JSON_DUPLICATE_KEY Error "Duplicate object attribute",
            JSON_EXPRESSION Error "Invalid expression", TOO_MANY_SYNTAX_ERRORS Error "Too many syntax errors";
    }
    Blocks {
        DeprecatedAttribute "deprecated-attribute":
            DEPRECATED_ATTRIBUTE Warning "Value derived from a deprecated source";
        DuplicateArgument "duplicate-argument": DUPLICATE_ARGUMENT Error "Duplicate argument";
        DuplicateBlock "duplicate-block": duplicate_block(kind) Error "Duplicate {kind} block",
            MULTIPLE_DATA_BLOCKS Error "Multiple data resource blocks";
        DuplicateDeclaration "duplicate-declaration": DUPLICATE_VARIABLE Error "Duplicate variable declaration",
            DUPLICATE_LOCAL Error "Duplicate local value definition",
            DUPLICATE_OUTPUT Error "Duplicate output definition", DUPLICATE_MODULE_CALL Error "Duplicate module call",
            DUPLICATE_PROVIDER Error "Duplicate provider configuration",
            duplicate_resource(mode, type_name) Error "Duplicate {mode} \"{type_name}\" configuration",
            duplicate_check(name) Error "Duplicate check \"{name}\" configuration",
            duplicate_encryption_block(kind) Error "Duplicate {kind}",
            DUPLICATE_ENCRYPTION Error "Duplicate encryption configuration",
            DUPLICATE_CLOUD Error "Duplicate cloud configurations",
            DUPLICATE_PROVIDER_META Error "Duplicate provider_meta block", DUPLICATE_NAME Error "Duplicate declaration",
            CLOUD_AND_BACKEND Error "Both a backend and cloud configuration are present";
        ExtraneousDynamicContent "extraneous-dynamic-content":
            EXTRANEOUS_DYNAMIC_CONTENT Error "Extraneous dynamic content block";
        ExtraneousLabel "extraneous-label": extraneous_label(kind) Error "Extraneous label for {kind}",
            EXTRANEOUS_DYNAMIC_LABEL Error "Extraneous dynamic block label";
        FileProvisioner "file-provisioner": FILE_PROVISIONER Error "file provisioner error";
        InsufficientBlocks "insufficient-blocks": insufficient_blocks(kind) Error "Insufficient {kind} blocks",
            missing_block(kind) Error "Missing {kind} block";
        InvalidCheckData "invalid-check-data": invalid_check_data_argument(name) Error "Invalid \"{name}\" attribute",
            CHECK_DATA_LIFECYCLE Error "Invalid lifecycle block";
        InvalidConnection "invalid-connection": INVALID_CONNECTION Error "Invalid connection",
            IGNORED_CONNECTION Warning "Invalid connection", WINRM_CONNECTION Error "Provisioners do not support WinRM",
            MISSING_CONNECTION Error "Missing connection configuration for provisioner";
        InvalidDataLifecycle "invalid-data-lifecycle":
            INVALID_DATA_LIFECYCLE Error "Invalid data resource lifecycle argument";
        InvalidDynamicBlockLabel "invalid-dynamic-block-label":
            INVALID_DYNAMIC_BLOCK_LABEL Error "Invalid dynamic block label";
        InvalidDynamicIterator "invalid-dynamic-iterator":
            INVALID_DYNAMIC_ITERATOR Error "Invalid dynamic iterator name";
        InvalidDynamicLabels "invalid-dynamic-labels": INVALID_DYNAMIC_LABELS Error "Invalid expression";
        InvalidErrorMessage "invalid-error-message": INVALID_ERROR_MESSAGE Error "Invalid error message";
        InvalidForCondition "invalid-for-condition":
            INVALID_FOR_CONDITION Error "Invalid 'for' condition", NULL_FOR_CONDITION Error "Condition is null";
        InvalidIgnoreChanges "invalid-ignore-changes": INVALID_IGNORE_CHANGES Error "Invalid expression",
            IGNORE_CHANGES_WILDCARD Error "Invalid ignore_changes wildcard";
        InvalidLifecycleDestroy "invalid-lifecycle-destroy":
            INVALID_LIFECYCLE_DESTROY Error "Invalid lifecycle destroy expression";
        InvalidLanguage "invalid-language": UNSUPPORTED_EDITION Error "Unsupported language edition",
            UNSUPPORTED_EXPERIMENT Error "Unsupported language experiment";
        InvalidName "invalid-name": invalid_name(kind) Error "Invalid {kind} name",
            INVALID_PROVIDER_ALIAS Error "Invalid provider configuration alias",
            INVALID_PROVIDER_NAME Error "Invalid provider local name";
        InvalidOutputPostcondition "invalid-output-postcondition":
            INVALID_OUTPUT_POSTCONDITION Error "Postconditions are not allowed";
        InvalidOverride "invalid-override": UNSUPPORTED_OVERRIDE Error "Unsupported override",
            overridden_conditions(kind) Error "Can't override {kind} blocks",
            overridden_refactoring(kind) Error "Cannot override '{kind}' blocks";
        InvalidProvisionerKeyword "invalid-provisioner-keyword":
            invalid_provisioner_keyword(argument) Error "Invalid \"{argument}\" keyword";
        InvalidProvisioner "invalid-provisioner": FILE_WITHOUT_SOURCE Error "Must provide one of 'source' or 'content'",
            FILE_WITH_TWO_SOURCES Error "Cannot set both 'source' and 'content'",
            INVALID_REMOTE_EXEC Error "Invalid remote-exec provisioner configuration";
        InvalidRepetition "invalid-repetition":
            invalid_repetition(arguments) Error "Invalid combination of {arguments}";
        InvalidVersionConstraint "invalid-version-constraint":
            INVALID_VERSION_CONSTRAINT Error "Invalid version constraint";
        LocalExec "local-exec": LOCAL_EXEC Error "local-exec provisioner error";
        MissingArgument "missing-argument": MISSING_ARGUMENT Error "Missing required argument";
        MissingBase "missing-base": missing_resource(mode) Error "Missing {mode} to override",
            MISSING_VARIABLE Error "Missing base variable declaration to override",
            MISSING_LOCAL Error "Missing base local value definition to override",
            MISSING_OUTPUT Error "Missing base output definition to override",
            MISSING_MODULE_CALL Error "Missing module call to override",
            MISSING_PROVIDER Error "Missing base provider configuration for override",
            MISSING_DECLARATION Error "Missing declaration to override";
        MissingDynamicContent "missing-dynamic-content": MISSING_DYNAMIC_CONTENT Error "Missing dynamic content block";
        MissingName "missing-name":
            missing_label(label, kind) Error "Missing {label} for {kind}",
            MISSING_BLOCK_LABEL Error "Missing block label";
        RedundantIgnoreChanges "redundant-ignore-changes":
            REDUNDANT_IGNORE_CHANGES Warning "Redundant ignore_changes element";
        RemoteExecProvisioner "remote-exec-provisioner": REMOTE_EXEC Error "remote-exec provisioner error";
        ReservedArgument "reserved-argument": RESERVED_ARGUMENT Error "Reserved argument name in provider block";
        ReservedBlock "reserved-block": reserved_block(outer) Error "Reserved block type name in {outer} block";
        ReservedSymbol "reserved-symbol": RESERVED_SYMBOL Error "Reserved symbol name";
        TooManyBlocks "too-many-blocks": too_many_blocks(kind) Error "Too many {kind} blocks";
        UnknownProvisioner "unknown-provisioner": MISSING_PROVISIONER Error "Missing required provisioner plugin";
        UnsupportedArgument "unsupported-argument":
            UNSUPPORTED_ARGUMENT Error "Unsupported argument",
            EXTRANEOUS_JSON_PROPERTY Error "Extraneous JSON object property";
        UnsupportedBlock "unsupported-block":
            UNSUPPORTED_BLOCK Error "Unsupported block type",
            unexpected_block(kind) Error "Unexpected \"{kind}\" block";
        UnsupportedOpentofuVersion "unsupported-opentofu-version":
            UNSUPPORTED_OPENTOFU_VERSION Error "Unsupported OpenTofu version";
    }
    References {
        ConstantCondition "constant-condition": constant_condition(kind) Error "Invalid {kind} expression";
        DependencyCycle "dependency-cycle":
            cycle(members) Error "Cycle: {members}", UNNAMED_CYCLE Error "Cycle",
            SELF_REFERENCING_LOCAL Error "Self-referencing local value", SELF_REFERENCE_OF_ITEM Error "Self-reference",
            CIRCULAR_KEY_PROVIDERS Error "Circular reference detected";
        DynamicConst "dynamic-const": DYNAMIC_CONST Error "Dynamic value in static context";
        DynamicValue "dynamic-value":
            DYNAMIC_VALUE Error "Dynamic value in static context",
            STATIC_MODULE_OUTPUT Error "Module output not supported in static context",
            STATIC_PROVIDER_FUNCTION Error "Provider function in static context";
        InvalidCountReference "invalid-count-reference":
            INVALID_COUNT_REFERENCE Error "Reference to \"count\" in non-counted context";
        InvalidDependsOn "invalid-depends-on":
            INVALID_DEPENDS_ON Error "Invalid depends_on reference", DEPENDS_ON_NO_REFERENCE Error "Invalid expression";
        InvalidDestroyReference "invalid-destroy-reference":
            INVALID_DESTROY_REFERENCE Error "Invalid reference from destroy provisioner";
        InvalidDynamicForEach "invalid-dynamic-for-each":
            INVALID_DYNAMIC_FOR_EACH Error "Invalid dynamic for_each value";
        InvalidEach "invalid-each": INVALID_EACH Error "Reference to \"each\" in context without for_each";
        InvalidReference "invalid-reference":
            INVALID_REFERENCE Error "Invalid reference", TEMP_DIRECTORY Error "Failed to create a temporary directory",
            invalid_root_attribute(root) Error "Invalid \"{root}\" attribute";
        InvalidSelf "invalid-self": INVALID_SELF Error "Invalid \"self\" reference";
        InvalidStaticValue "invalid-static-value": INVALID_STATIC_VALUE Error "Unsuitable value type";
        MissingInstanceKey "missing-instance-key": MISSING_INSTANCE_KEY Error "Missing resource instance key";
        QuotedReference "quoted-reference": QUOTED_REFERENCE Warning "Quoted references are deprecated";
        SelfReference "self-reference": SELF_REFERENCE Error "Self-referential block";
        UndeclaredReference "undeclared-reference":
            UNDECLARED_INPUT_VARIABLE Error "Reference to undeclared input variable",
            UNDECLARED_LOCAL Error "Reference to undeclared local value",
            UNDECLARED_MODULE Error "Reference to undeclared module",
            UNDECLARED_RESOURCE Error "Reference to undeclared resource",
            UNDEFINED_KEY_PROVIDER Error "Undefined Key Provider",
            UNDEFINED_ENCRYPTION_METHOD Error "Undefined encryption method";
        UnexpectedInstanceKey "unexpected-instance-key":
            UNEXPECTED_INSTANCE_KEY Error "Unexpected resource instance key";
        UnsetStaticVariable "unset-static-variable":
            UNSET_STATIC_VARIABLE Error "Unable to compute static value",
            INVALID_STATIC_VARIABLE Error "Invalid value for variable";
        VariablesNotAllowed "variables-not-allowed": VARIABLES_NOT_ALLOWED Error "Variables not allowed";
    }
    Values {
        AttributeOfNull "attribute-of-null": ATTRIBUTE_OF_NULL Error "Attempt to get attribute from null value";
        DuplicateObjectKey "duplicate-object-key": DUPLICATE_OBJECT_KEY Error "Duplicate object key";
        ErrorInFunctionCall "error-in-function-call":
            ERROR_IN_FUNCTION_CALL Error "Error in function call", FUNCTION_IN_TEMPLATE Error "Invalid function";
        FunctionCallsNotAllowed "function-calls-not-allowed":
            FUNCTION_CALLS_NOT_ALLOWED Error "Function calls not allowed";
        InconsistentConditionalResultTypes "inconsistent-conditional-result-types":
            INCONSISTENT_CONDITIONAL_RESULT_TYPES Error "Inconsistent conditional result types";
        IncorrectAttributeType "incorrect-attribute-type":
            INCORRECT_ATTRIBUTE_TYPE Error "Incorrect attribute value type";
        IncorrectKeyType "incorrect-key-type": INCORRECT_KEY_TYPE Error "Incorrect key type";
        IndexOfNull "index-of-null": INDEX_OF_NULL Error "Attempt to index null value";
        InfiniteNumber "infinite-number": INFINITE_NUMBER Error "Number cannot be saved";
        InvalidConditionResult "invalid-condition-result":
            INVALID_CONDITION_RESULT Error "Invalid condition result",
            INVALID_VALIDATION_RESULT Error "Invalid variable validation result";
        InvalidCondition "invalid-condition":
            INCORRECT_CONDITION_TYPE Error "Incorrect condition type", NULL_CONDITION Error "Null condition";
        InvalidDefault "invalid-default": INVALID_DEFAULT Error "Invalid default value for variable";
        InvalidExpandingArgument "invalid-expanding-argument":
            INVALID_EXPANDING_ARGUMENT Error "Invalid expanding argument value";
        InvalidFunctionArgument "invalid-function-argument":
            INVALID_FUNCTION_ARGUMENT Error "Invalid function argument";
        InvalidIndex "invalid-index": INVALID_INDEX Error "Invalid index";
        InvalidObjectKey "invalid-object-key": INVALID_OBJECT_KEY Error "Invalid object key";
        InvalidOperand "invalid-operand": INVALID_OPERAND Error "Invalid operand";
        InvalidOptionalDefault "invalid-optional-default":
            INVALID_OPTIONAL_DEFAULT Error "Invalid default value for optional attribute";
        InvalidRepetitionValue "invalid-repetition-value":
            invalid_repetition_value(argument) Error "Invalid {argument} argument",
            INCORRECT_REPETITION_TYPE Error "Incorrect value type";
        InvalidReplaceTrigger "invalid-replace-trigger":
            REPLACE_TRIGGER_NO_REFERENCE Error "Invalid expression",
            REPLACE_TRIGGER_REFERENCE Error "Invalid reference in replace_triggered_by expression",
            REPLACE_TRIGGER_EXPRESSION Error "Invalid replace_triggered_by expression",
            REPLACE_TRIGGER_EACH Error "Invalid each reference in replace_triggered_by expression";
        InvalidTypeConstraint "invalid-type-constraint": INVALID_TYPE_CONSTRAINT Error "Invalid type specification";
        IterationOverNonIterable "iteration-over-non-iterable":
            ITERATION_OVER_NON_ITERABLE Error "Iteration over non-iterable value";
        IterationOverNull "iteration-over-null": ITERATION_OVER_NULL Error "Iteration over null value";
        MissingMapElement "missing-map-element": MISSING_MAP_ELEMENT Error "Missing map element";
        NotEnoughFunctionArguments "not-enough-function-arguments":
            NOT_ENOUGH_FUNCTION_ARGUMENTS Error "Not enough function arguments";
        NullValueAsKey "null-value-as-key": NULL_VALUE_AS_KEY Error "Null value as key";
        SplatOfNull "splat-of-null": SPLAT_OF_NULL Error "Splat of null value";
        TooManyFunctionArguments "too-many-function-arguments":
            TOO_MANY_FUNCTION_ARGUMENTS Error "Too many function arguments";
        UnknownFunction "unknown-function": UNKNOWN_FUNCTION Error "Call to unknown function";
        UnsuitableValueType "unsuitable-value-type": UNSUITABLE_VALUE_TYPE Error "Unsuitable value type";
        UnsupportedAttribute "unsupported-attribute": UNSUPPORTED_ATTRIBUTE Error "Unsupported attribute";
    }
    Ephemeral {
        EphemeralBackend "ephemeral-backend": EPHEMERAL_BACKEND Error "Backend config contains ephemeral values";
        EphemeralCloseTimeout "ephemeral-close-timeout":
            EPHEMERAL_CLOSE_TIMEOUT Error "Closing ephemeral resource timed out";
        EphemeralExpired "ephemeral-expired": EPHEMERAL_EXPIRED Error "Ephemeral resource instance has expired";
        EphemeralInPlan "ephemeral-in-plan":
            EPHEMERAL_IN_PLAN Error "Ephemeral value in a plan",
            EPHEMERAL_IN_TEMP Error "Ephemeral value in a temporary file";
        EphemeralLeftOpen "ephemeral-left-open": EPHEMERAL_LEFT_OPEN Warning "Ephemeral resources were left open";
        EphemeralPreventDestroy "ephemeral-prevent-destroy":
            EPHEMERAL_PREVENT_DESTROY Error "Invalid value for prevent_destroy";
        EphemeralProviderKey "ephemeral-provider-key": EPHEMERAL_PROVIDER_KEY Error "Invalid provider instance key";
        EphemeralRenewTimeout "ephemeral-renew-timeout":
            EPHEMERAL_RENEW_TIMEOUT Error "Renewing ephemeral resource timed out";
        EphemeralRepetition "ephemeral-repetition": ephemeral_repetition(argument) Error "Invalid {argument} argument";
        EphemeralReplaceTrigger "ephemeral-replace-trigger":
            EPHEMERAL_REPLACE_TRIGGER Error "Invalid replace_triggered_by expression";
        EphemeralRootOutput "ephemeral-root-output": EPHEMERAL_ROOT_OUTPUT Error "Unallowed ephemeral output";
        EphemeralStaticValue "ephemeral-static-value":
            EPHEMERAL_STATIC_VALUE Error "Ephemeral value not allowed",
            EPHEMERAL_VERSION_CONSTRAINT Error "Invalid version constraint";
        EphemeralValueMisuse "ephemeral-value-misuse": EPHEMERAL_VALUE_MISUSE Error "Invalid use of an ephemeral value";
        EphemeralVariableNotSet "ephemeral-variable-not-set":
            EPHEMERAL_VARIABLE_NOT_SET Error "No value for required variable";
        ErrorMessageMarks "error-message-marks":
            SENSITIVE_ERROR_MESSAGE Warning "Error message refers to sensitive values",
            EPHEMERAL_ERROR_MESSAGE Warning "Error message refers to ephemeral values",
            SENSITIVE_VALIDATION_MESSAGE Error "Error message refers to sensitive values",
            EPHEMERAL_VALIDATION_MESSAGE Error "Error message refers to ephemeral values";
        IncompleteEphemeral "incomplete-ephemeral":
            INCOMPLETE_EPHEMERAL Error "Incomplete configuration for ephemeral resource";
        InvalidEphemeralBlock "invalid-ephemeral-block":
            INVALID_EPHEMERAL_BLOCK Error "Invalid configuration block for ephemeral resource";
        InvalidEphemeralLifecycle "invalid-ephemeral-lifecycle":
            INVALID_EPHEMERAL_LIFECYCLE Error "Invalid lifecycle configuration for ephemeral resource";
        InvalidEphemeralResult "invalid-ephemeral-result":
            INVALID_EPHEMERAL_RESULT Error "Provider produced invalid object",
            NULL_EPHEMERAL_RESULT Error "Provider produced null object",
            INCONSISTENT_EPHEMERAL_RESULT Error "Provider produced invalid ephemeral resource instance";
        LiteralSecret "literal-secret": LITERAL_SECRET Warning "Secret written in the configuration";
        NothingOpened "nothing-opened": NOTHING_OPENED Error "Provider produced null object";
        OutputNotEphemeral "output-not-ephemeral": OUTPUT_NOT_EPHEMERAL Error "Output not marked as ephemeral";
        PossiblyEphemeral "possibly-ephemeral": POSSIBLY_EPHEMERAL Warning "Possibly ephemeral value";
        ProviderReturnedSecret "provider-returned-secret": PROVIDER_RETURNED_SECRET Error "Provider returned a secret";
        SensitiveBackend "sensitive-backend": SENSITIVE_BACKEND Error "Backend config contains sensitive values";
        SensitiveOutput "sensitive-output": SENSITIVE_OUTPUT Error "Output refers to sensitive values";
        SensitiveRepetition "sensitive-repetition": sensitive_repetition(argument) Error "Invalid {argument} argument";
        SensitiveStaticValue "sensitive-static-value":
            SENSITIVE_STATIC_VALUE Error "Sensitive value not allowed",
            SENSITIVE_VERSION_CONSTRAINT Error "Invalid version constraint";
        TempLeft "temp-left": TEMP_LEFT Warning "Temporary files were left behind";
        TempRestore "temp-restore": TEMP_RESTORE Error "Failed to restore temporary files";
        ValueWithheld "value-withheld": VALUE_WITHHELD Warning "Provider repeated a write-only value";
        VariableNotEphemeral "variable-not-ephemeral": VARIABLE_NOT_EPHEMERAL Error "Invalid usage of ephemeral value";
        WithheldValue "withheld-value": WITHHELD_VALUE Error "Withheld value";
        WriteOnlyInSet "write-only-in-set":
            UNSUPPORTED_WRITE_ONLY Error "Unsupported write-only attribute",
            WRITE_ONLY_IN_SET Error "Write-only attribute in a set";
        WriteOnlyOutput "write-only-output": WRITE_ONLY_OUTPUT Error "Output refers to a write-only attribute";
    }
    Modules {
        DeprecatedOutput "deprecated-output": DEPRECATED_OUTPUT Warning "Value derived from a deprecated source";
        DeprecatedVariable "deprecated-variable":
            DEPRECATED_VARIABLE Warning "Variable marked as deprecated by the module author",
            DEPRECATED_ROOT_VARIABLE Warning "Deprecated variable used from the root module";
        InvalidModuleArgument "invalid-module-argument":
            INVALID_MODULE_ARGUMENT Error "Invalid value for input variable",
            NULL_MODULE_ARGUMENT Error "Required variable not set";
        InvalidModuleSource "invalid-module-source": INVALID_MODULE_SOURCE Error "Invalid module source address";
        InvalidProvidersMap "invalid-providers-map": INVALID_PROVIDERS_MAP Error "Invalid expression";
        ModuleCopy "module-copy":
            DIRECTORY_NOT_EMPTY Error "The working directory already contains files",
            MODULE_COPY Error "Failed to copy root module";
        ModuleCycle "module-cycle": MODULE_CYCLE Error "Module calls itself";
        ModuleDownload "module-download":
            MODULE_DOWNLOAD Error "Failed to download module", MODULE_NOT_LOCKED Error "Module package is not locked",
            MODULE_CHANGED Error "Module package has changed", MODULE_UNSUPPORTED Error "Module not installed",
            MODULE_INSTALL Error "Failed to install module", MODULE_VERSION Error "No version of the module";
        ModuleEscapes "module-escapes": MODULE_ESCAPES Error "Local module path escapes module package";
        ModuleManifest "module-manifest":
            MODULE_MANIFEST_READ Error "Failed to read module manifest",
            MODULE_MANIFEST_WRITE Error "Failed to write module manifest";
        ModuleNotInstalled "module-not-installed":
            MODULE_NOT_INSTALLED Error "Module not installed", MODULE_SOURCE_CHANGED Error "Module source has changed",
            MODULE_VERSION_CHANGED Error "Module version requirements have changed",
            UNREADABLE_MODULE Error "Unreadable module directory";
        ModulePackageChanged "module-package-changed":
            MODULE_PACKAGE_CHANGED Error "Module package differs from its lock";
        ModulePackageGrown "module-package-grown": MODULE_PACKAGE_GROWN Warning "Module package has other files in it";
        ModulePackageUnlocked "module-package-unlocked":
            MODULE_PACKAGE_UNLOCKED Warning "Module packages without checksums";
        ModuleSubdirectory "module-subdirectory":
            UNREADABLE_SUBDIRECTORY Error "Unreadable module subdirectory",
            UNREADABLE_LOCAL_MODULE Error "Unreadable module directory";
        ModuleWritesIntoItself "module-writes-into-itself":
            MODULE_WRITES_INTO_ITSELF Warning "Module writes into its own directory";
        NoProviderMeta "no-provider-meta":
            no_provider_meta(provider) Error "Provider {provider} doesn't support provider_meta";
        TooManyModules "too-many-modules": TOO_MANY_MODULES Error "Too many module calls";
        VersionOfLocalModule "version-of-local-module":
            VERSION_OF_LOCAL_MODULE Error "Invalid registry module source address";
    }
    $($others)*
    } };
}
pub(super) use language;
