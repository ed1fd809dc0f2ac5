#!/usr/bin/env bash
# Passes a secret from one run to another: applies `store`, then `read`.
#
#   ./run.sh           applies both; a second run changes nothing
#   ./run.sh destroy   destroys both, `read` first
#
# MAYFLY_BIN  the executable; without it, a release build of this repository
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

if [[ -n ${MAYFLY_BIN:-} ]]; then
    mayfly=$(command -v "$MAYFLY_BIN") || { echo "MAYFLY_BIN names no executable: $MAYFLY_BIN" >&2; exit 2; }
else
    (cd "$here/../.." && cargo build --release --bin mayfly)
    mayfly=${CARGO_TARGET_DIR:-$here/../../target}/release/mayfly
fi
mayfly=$(cd "$(dirname "$mayfly")" && pwd)/$(basename "$mayfly")

# Prints a command as typed, then runs it.
run() {
    printf '\n$ mayfly %s\n' "$*"
    "$mayfly" "$@"
}

cd "$here"
keys=(-var access_key=demo-access-key -var secret_key=demo-secret-key)
stored_arn() { "$mayfly" -chdir=store output -raw secret_manager_arn; }

case ${1:-apply} in
apply)
    run -chdir=store apply -auto-approve "${keys[@]}"
    arn=$(stored_arn)
    run -chdir=read apply -auto-approve -var secret_manager_arn="$arn"
    ;;
destroy)
    if ! arn=$(stored_arn 2>/dev/null); then
        echo 'There is nothing to destroy.'
        exit
    fi
    run -chdir=read destroy -auto-approve -var secret_manager_arn="$arn"
    run -chdir=store destroy -auto-approve "${keys[@]}"
    ;;
*)
    sed -n '2,7s/^# \{0,1\}//p' "$here/run.sh" >&2
    exit 2
    ;;
esac
