#!/usr/bin/env bash
# Runs the RFC's example with the real AWS provider: store, read, destroy, against a local API.
#
#   MAYFLY_AWS_MIRROR=/path/to/mirror ./run.sh
#
# MAYFLY_AWS_MIRROR  a provider mirror: HOST/hashicorp/aws/VERSION/TARGET/terraform-provider-aws_*
# MAYFLY_BIN         the executable; without it, a release build of this repository
# MAYFLY_KEEP=1      keep the working folder for inspection
#
# Every line of the RFC's "CLI Output" must be printed, in its order; the second plans must be empty;
# no file and no output may contain a secret; the server must receive the secret, and have nothing at
# the end. Prints the figures; exits with 1 after any difference, with 2 if it cannot run.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=5.100.0
region=us-east-1
differences=0
# shellcheck source=../aws.sh
source "$here/../aws.sh"

# --- Before and after ------------------------------------------------------------------------------

prepare() {
    ((BASH_VERSINFO[0] >= 5)) || stop "bash 5 is needed"
    need moto_server curl unzip od base64
    find_mayfly
    begin secrets-aws
    mkdir "$work/streams"
    cp -R "$here/mod" "$here/store" "$here/read" "$work/"

    # Two secrets, new in each run. The first is a plain word; the second has characters that JSON,
    # HTML-safe JSON, URLs and shells escape, between two plain words that a search still finds.
    words=("$(word)" "$(word)" "$(word)")
    access_key=${words[0]}
    secret_key="${words[1]}/\"&<é>+\\ ${words[2]}"

    environment+=(TF_VAR_access_key="$access_key" TF_VAR_secret_key="$secret_key")
}

# --- Running ---------------------------------------------------------------------------------------

# run NAME FOLDER STATUS COMMAND [ARGUMENT...]: runs a command, stores its streams as NAME, records the time.
run() {
    local name=$1 folder=$2 want=$3 command=$4 status=0 start seconds
    shift 4
    start=$EPOCHREALTIME
    (cd "$work/$folder" && env -i "${environment[@]}" "${logging[@]}" "$mayfly" "$command" -no-color "$@") \
        <<<yes >"$work/streams/$name.out" 2>"$work/streams/$name.err" || status=$?
    seconds=$(seconds_since "$start")
    normalise <"$work/streams/$name.out" >"$work/streams/$name.lines"
    figures+=("$(printf '%-28s %7s s %7d %7d' "$name" "$seconds" "$(count "$name" Opening...)" "$(count "$name" Closing...)")")
    if ((status != want)); then
        echo "DIFFERENT: $name: exit status $status instead of $want; its last lines:" >&2
        tail -n 25 "$work/streams/$name.out" "$work/streams/$name.err" | cut -c 1-300 >&2
        exit 1 # what follows would only fail after it
    fi
}

# Like run, with every log enabled. The log must contain lines of the provider, otherwise its search proves nothing.
run_logged() {
    logging=(TF_LOG=TRACE TF_LOG_PATH="$work/streams/$1.log")
    run "$@"
    logging=(TF_LOG=)
    grep -qs 'rpc.method=' "$work/streams/$1.log" || differs "$1: the log has no request of the provider"
}

seconds_since() {
    local microseconds=$((${EPOCHREALTIME/[.,]/} - ${1/[.,]/}))
    printf '%d.%02d' $((microseconds / 1000000)) $((microseconds / 10000 % 100))
}

# Replaces the parts that differ between runs by names: identifiers of AWS, and durations.
normalise() {
    sed -E -e 's/(secret:ephemeral-rfc-example)-[A-Za-z0-9]{6}/\1-RANDOM/g' \
        -e 's/\|terraform-[0-9a-f]+/|VERSION/g' \
        -e 's/ after [0-9ms]+( |$)/ after TIME\1/' -e 's/ +$//'
}

count() {
    grep -c ": $2\$" "$work/streams/$1.lines" || true
}

# --- Comparing -------------------------------------------------------------------------------------

# expect_lines NAME: checks that the lines on stdin are whole lines of the output NAME, in that order.
expect_lines() {
    local missing
    missing=$(awk 'BEGIN { i = n = 0 } NR == FNR { want[n++] = $0; next } $0 == want[i] && i < n { i++ }
        END { if (i < n) print want[i] (i ? "\n    after: " want[i - 1] : "") }' - "$work/streams/$1.lines")
    [[ -z $missing ]] || differs "$1: this line is missing:"$'\n'"    $missing"
}

# expect_text NAME TEXT: checks that the output NAME contains the text, regardless of line breaks.
expect_text() {
    local all
    all=$(tr -s '[:space:]' ' ' <"$work/streams/$1.lines")
    [[ $all == *"$2"* ]] || differs "$1: this text is missing: $2"
}

# expect_opened NAME COUNT: checks that COUNT ephemeral resources were opened and closed.
expect_opened() {
    local event got
    for event in Opening... 'Opening complete after TIME' Closing... 'Closing complete after TIME'; do
        got=$(count "$1" "$event")
        ((got == $2)) || differs "$1: $got times \"$event\" instead of $2"
    done
}

# --- The server's side -----------------------------------------------------------------------------

# ask SERVICE TARGET JSON: prints the response of the API.
ask() {
    curl --silent --noproxy '*' "$endpoint/" --data "$3" \
        -H 'Content-Type: application/x-amz-json-1.1' -H "X-Amz-Target: $2" \
        -H "Authorization: AWS4-HMAC-SHA256 Credential=nobody/20250101/$region/$1/aws4_request"
}

ask_parameter() {
    ask ssm AmazonSSM.GetParameter '{"Name": "parameter_from_ephemeral_value", "WithDecryption": true}'
}

ask_secret() {
    ask secretsmanager secretsmanager.DescribeSecret '{"SecretId": "ephemeral-rfc-example"}'
}

# --- Secrets ---------------------------------------------------------------------------------------

word() {
    head -c 500 /dev/urandom | base64 | tr -dc 'A-Za-z0-9' | head -c 24
}

# forms WORD: prints every encoding of the word. Base64 of a longer text contains, for one of the
# three alignments, the base64 of the word without its first and last bits.
forms() {
    local hex
    hex=$(printf '%s' "$1" | od -An -tx1 | tr -d ' \n')
    printf '%s\n%s\n%s\n' "$1" "$hex" "${hex^^}"
    printf '%s' "$1" | base64 -w 0 | cut -c 1-31
    printf '_%s' "$1" | base64 -w 0 | cut -c 3-32
    printf '__%s' "$1" | base64 -w 0 | cut -c 4-34
}

# search NAME FILE...: checks that no file contains an encoding of a secret, also inside of archives.
search() {
    local name=$1 file found
    shift
    for file in "$@"; do
        found=$(grep -aoFf "$work/forms" "$file" | sort | uniq -c || true)
        if [[ -z $found ]] && unzip -tqq "$file" >/dev/null 2>&1; then
            found=$(unzip -p "$file" | grep -aoFf "$work/forms" | sort | uniq -c || true)
        fi
        searched=$((searched + 1))
        [[ -n $found && -z ${holding[$file]:-} ]] || continue
        holding[$file]=yes # each file is told of once
        differs "$name: a secret is in ${file#"$work/"}:"$'\n'"$found"
    done
}

# Tests the search itself: it must find each encoding in a file that contains it.
check_search() {
    local word form
    for word in "${words[@]}"; do
        for form in "$word" "$(printf '%s' "k=$word;" | base64 -w 0)" "$(printf '%s' "ke=$word;" | base64 -w 0)" \
            "$(printf '%s' "key=$word;" | base64 -w 0)" "$(printf '%s' "$word" | od -An -tx1 | tr -d ' \n')"; do
            grep -qFf "$work/forms" <<<"{\"$form\"}" || differs "the search does not find $form"
        done
    done
    ask_parameter >"$work/answer"
    for word in "${words[@]}"; do
        grep -qF "$word" "$work/answer" || differs "the server never got $word: $(cat "$work/answer")"
    done
}

# All files that were written: configuration folders (state, plans, .terraform, lock file), home
# (caches), temporary files, outputs and logs. Links are not followed, because the provider is not ours.
search_all() {
    local files
    mapfile -d '' -t files < <(find "$work/store" "$work/read" "$work/mod" "$work/home" "$work/tmp" "$work/streams" -type f -print0)
    search "$1" "${files[@]}"
}

# --- The example -----------------------------------------------------------------------------------

stored=module.secret_management.aws_secretsmanager_secret
versions=module.secret_management.aws_secretsmanager_secret_version.secret_creation
retrieval=module.secret_management.ephemeral.aws_secretsmanager_secret_version.secret_retrieval
parameter=aws_ssm_parameter.store_ephemeral_in_write_only
secret_arn=arn:aws:secretsmanager:$region:123456789012:secret:ephemeral-rfc-example-RANDOM
parameter_arn=arn:aws:ssm:$region:123456789012:parameter/parameter_from_ephemeral_value
symbols='used the selected providers to generate the following execution plan. Resource actions are indicated with the following symbols: + create'

store() {
    run init-store store 0 init
    run validate-store store 0 validate
    run validate-store-again store 0 validate
    run_logged apply-store store 0 apply
    expect_text apply-store "$symbols"
    expect_lines apply-store <<EOF
${retrieval}[0]: Configuration unknown, deferring...
  + create
  # $stored.manager[0] will be created
  + resource "aws_secretsmanager_secret" "manager" {
      + name                           = "ephemeral-rfc-example"
    }
  # ${versions}[0] will be created
  + resource "aws_secretsmanager_secret_version" "secret_creation" {
      + secret_string_wo         = (write-only attribute)
      + secret_string_wo_version = 2
    }
Plan: 2 to add, 0 to change, 0 to destroy.
Changes to Outputs:
  + secret_manager_arn = (known after apply)
Do you want to perform these actions?
  Only 'yes' will be accepted to approve.
  Enter a value:
$stored.manager[0]: Creating...
$stored.manager[0]: Creation complete after TIME [id=$secret_arn]
${versions}[0]: Creating...
${versions}[0]: Creation complete after TIME [id=$secret_arn|VERSION]
${retrieval}[0]: Opening...
${retrieval}[0]: Opening complete after TIME
${retrieval}[0]: Closing...
${retrieval}[0]: Closing complete after TIME
Apply complete! Resources: 2 added, 0 changed, 0 destroyed.
Outputs:
secret_manager_arn = "$secret_arn"
EOF
    expect_opened apply-store 1
    run plan-store-again store 0 plan -detailed-exitcode
    expect_lines plan-store-again <<<'No changes. Your infrastructure matches the configuration.'
    # A changed value without a changed version changes nothing.
    environment+=(TF_VAR_secret_key="$secret_key, changed")
    run plan-store-other-value store 0 plan -detailed-exitcode
    unset 'environment[-1]'
}

read_back() {
    run arn store 0 output -raw secret_manager_arn
    environment+=(TF_VAR_secret_manager_arn="$(cat "$work/streams/arn.out")")
    run init-read read 0 init
    run validate-read read 0 validate
    run validate-read-again read 0 validate
    run_logged apply-read read 0 apply
    expect_text apply-read "$symbols"
    expect_lines apply-read <<EOF
${retrieval}_direct[0]: Opening...
${retrieval}_direct[0]: Opening complete after TIME
${retrieval}_direct[0]: Closing...
${retrieval}_direct[0]: Closing complete after TIME
  + create
$(parameter_plan)
Do you want to perform these actions?
  Only 'yes' will be accepted to approve.
  Enter a value:
$(parameter_apply)
EOF
    expect_opened apply-read 2
    run plan-read-again read 0 plan -detailed-exitcode
    expect_lines plan-read-again <<<'No changes. Your infrastructure matches the configuration.'
    expect_opened plan-read-again 1
}

parameter_plan() {
    cat <<EOF
  # $parameter will be created
  + resource "aws_ssm_parameter" "store_ephemeral_in_write_only" {
      + name             = "parameter_from_ephemeral_value"
      + type             = "SecureString"
      + value            = (sensitive value)
      + value_wo         = (write-only attribute)
      + value_wo_version = 1
    }
Plan: 1 to add, 0 to change, 0 to destroy.
EOF
}

parameter_apply() {
    cat <<EOF
${retrieval}_direct[0]: Opening...
${retrieval}_direct[0]: Opening complete after TIME
$parameter: Creating...
$parameter: Provisioning with 'local-exec'...
$parameter (local-exec): Executing: ["/bin/sh" "-c" "echo non-ephemeral value: $parameter_arn"]
$parameter (local-exec): non-ephemeral value: $parameter_arn
$parameter: Provisioning with 'local-exec'...
$parameter (local-exec): (output suppressed due to ephemeral value in config)
$parameter (local-exec): (output suppressed due to ephemeral value in config)
$parameter: Creation complete after TIME [id=parameter_from_ephemeral_value]
${retrieval}_direct[0]: Closing...
${retrieval}_direct[0]: Closing complete after TIME
Apply complete! Resources: 1 added, 0 changed, 0 destroyed.
EOF
}

# Repeats the example with a plan file.
read_back_saved() {
    run_logged plan-read-saved read 0 plan -out saved.tfplan
    expect_lines plan-read-saved < <(parameter_plan)
    expect_opened plan-read-saved 1
    run show-read-saved read 0 show -json saved.tfplan
    run_logged apply-read-saved read 0 apply saved.tfplan
    expect_lines apply-read-saved < <(parameter_apply)
    expect_opened apply-read-saved 1
}

destroy_read() {
    run_logged "$1" read 0 destroy
    expect_lines "$1" <<EOF
  # $parameter will be destroyed
  - resource "aws_ssm_parameter" "store_ephemeral_in_write_only" {
      - value_wo         = (write-only attribute) -> null
      - value_wo_version = 1 -> null
    }
Plan: 0 to add, 0 to change, 1 to destroy.
$parameter: Destroying... [id=parameter_from_ephemeral_value]
$parameter: Destruction complete after TIME
Destroy complete! Resources: 1 destroyed.
EOF
    expect_equal "$1: the parameter" "$(ask_parameter | grep -o ParameterNotFound)" ParameterNotFound
}

destroy_store() {
    run_logged destroy-store store 0 destroy
    expect_lines destroy-store <<EOF
Plan: 0 to add, 0 to change, 2 to destroy.
${versions}[0]: Destroying... [id=$secret_arn|VERSION]
${versions}[0]: Destruction complete after TIME
$stored.manager[0]: Destroying... [id=$secret_arn]
$stored.manager[0]: Destruction complete after TIME
Destroy complete! Resources: 2 destroyed.
EOF
    expect_equal "destroy-store: objects in the state" "$(grep -c '"mode"' "$work/store/terraform.tfstate" || true)" 0
    expect_equal "destroy-store: the secret" "$(ask_secret | grep -o DeletedDate)" DeletedDate
}

main() {
    prepare
    local word
    for word in "${words[@]}"; do forms "$word"; done >"$work/forms"
    store
    read_back
    check_search
    search_all "after applying"
    destroy_read destroy-read
    read_back_saved
    search_all "with a saved plan"
    destroy_read destroy-read-saved
    destroy_store
    search_all "after destroying"
    expect_no_processes

    printf '%-28s %9s %7s %7s\n' command time opened closed
    printf '%s\n' "${figures[@]}"
    echo "$(cat "$work"/streams/*.log | wc -l) lines of logs, $(cat "$work"/streams/*.log | grep -c redacted || true) of them redacted"
    echo "searched $searched files for ${#words[@]} secret words in $(wc -l <"$work/forms") forms; differences: $differences"
    ((differences == 0))
}

figures=()
declare -A holding
searched=0
logging=(TF_LOG=)
main
