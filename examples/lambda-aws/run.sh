#!/usr/bin/env bash
# Plans the Lambda example in one directory and applies it in another, with the real AWS provider and a local API.
#
#   MAYFLY_AWS_MIRROR=/path/to/mirror ./run.sh
#
# MAYFLY_AWS_MIRROR  a provider mirror: HOST/hashicorp/aws/VERSION/TARGET/terraform-provider-aws_*
# MAYFLY_BIN         the executable; without it, a release build of this repository
# MAYFLY_KEEP=1      keep the working folder for inspection
#
# The server must receive the archives of the plan; no temporary file may remain, or lie beside the
# module; the next plan must be empty. Exits with 1 after any difference, with 2 if it cannot run.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=5.100.0
region=us-east-1
differences=0
# shellcheck source=../aws.sh
source "$here/../aws.sh"

functions=(first second)

# run FOLDER STATUS COMMAND [ARGUMENT...]: runs a command, and prints it with its output.
run() {
    local folder=$1 want=$2 command=$3 status=0
    shift 3
    printf '\n%s$ mayfly %s\n' "$folder" "$command $*"
    (cd "$work/$folder" && env -i "${environment[@]}" "$mayfly" "$command" -no-color "$@") >"$work/out" 2>&1 || status=$?
    cat "$work/out"
    if ((status != want)); then
        echo "DIFFERENT: exit status $status instead of $want" >&2
        exit 1 # the next steps depend on this one
    fi
}

expect_text() {
    grep -qF -- "$1" "$work/out" || differs "this text is missing: $1"
}

expect_no_temporary_files() {
    local left
    left=$(find "$work/$1" -name '*.zip' -o -path '*/.terraform/tmp/*' | head -n 3)
    [[ -z $left ]] || differs "left in $1: $left"
}

# ask PATH: prints the server's response.
ask() {
    curl --silent --noproxy '*' "$endpoint/lambda-artifacts$1" \
        -H "Authorization: AWS4-HMAC-SHA256 Credential=nobody/20250101/$region/s3/aws4_request"
}

# object_of FUNCTION: prints the archive from which the function was created.
object_of() {
    ask "/$(ask '?list-type=2' | grep -oE "<Key>$1/[^<]+" | cut -d '>' -f 2)"
}

main() {
    ((BASH_VERSINFO[0] >= 5)) || stop "bash 5 is needed"
    need moto_server curl unzip
    find_mayfly
    begin lambda-aws
    mkdir "$work/planned" "$work/applied"
    cp -R "$here/main.tf" "$here/function" "$work/planned/"

    run planned 0 init
    run planned 0 plan -out=saved.plan
    expect_text 'Plan: 6 to add, 0 to change, 0 to destroy.'
    expect_no_temporary_files planned
    expect_equal "archives in the plan file" "$(unzip -l "$work/planned/saved.plan" | grep -c 'tmp/.*/lambda-sources.zip')" 2

    # Another machine has the configuration, but none of the packed sources.
    cp -R "$work/planned/." "$work/applied/"
    rm -r "$work/planned" "$work/applied/.terraform" "$work/applied/function/lambda-sources"
    run applied 0 init
    run applied 0 apply saved.plan
    expect_text 'Apply complete! Resources: 6 added, 0 changed, 0 destroyed.'
    rm "$work/applied/saved.plan"
    expect_no_temporary_files applied
    local function
    for function in "${functions[@]}"; do
        object_of "$function" >"$work/object.zip"
        expect_equal "the code of $function" "$(unzip -p "$work/object.zip" index.js)" "$(cat "$here/function/lambda-sources/index.js")"
    done

    # With the sources, the plan is empty, although each plan packs them again in another directory.
    cp -R "$here/function/lambda-sources" "$work/applied/function/"
    run applied 0 plan -detailed-exitcode
    expect_text 'No changes. Your infrastructure matches the configuration.'
    echo '// changed' >>"$work/applied/function/lambda-sources/index.js"
    run applied 2 plan -detailed-exitcode
    expect_text "# only the plan's temporary directory differs"
    run applied 0 destroy -auto-approve
    expect_text 'Destroy complete! Resources: 6 destroyed.'
    expect_no_temporary_files applied
    expect_no_processes
    printf '\n%s differences\n' "$differences"
    ((differences == 0))
}

main
