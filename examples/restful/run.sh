#!/usr/bin/env bash
# Sends a secret through an API on this machine, and shows that it is stored nowhere.
#
#   ./run.sh    applies, changes a property, searches for the password, destroys
#
# MAYFLY_BIN  the executable; without it, a release build of this repository
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
target=${CARGO_TARGET_DIR:-$here/../../target}

if [[ -n ${MAYFLY_BIN:-} ]]; then
    mayfly=$(command -v "$MAYFLY_BIN") || { echo "MAYFLY_BIN names no executable: $MAYFLY_BIN" >&2; exit 2; }
else
    (cd "$here/../.." && cargo build --release --bin mayfly)
    mayfly=$target/release/mayfly
fi
mayfly=$(cd "$(dirname "$mayfly")" && pwd)/$(basename "$mayfly")
(cd "$here/../.." && cargo build --quiet --package providers --example restful-server)

# The server ends with its input, so with this script.
coproc server { exec "$target/debug/examples/restful-server"; }
read -r line <&"${server[0]}"
api=$(sed 's/.*"url":"\([^"]*\)".*/\1/' <<<"$line")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here/main.tf" "$work"
cd "$work"

# Prints a command as typed, then runs it.
run() {
    printf '\n$ mayfly %s\n' "$*"
    TF_LOG=trace TF_LOG_PATH=$work/log.txt "$mayfly" "$@" -var "api=$api"
}

run apply -auto-approve
sed -i 's/"orders"/"invoices"/' main.tf
run apply -auto-approve

password=correct-horse-battery
printf '\nThe API has the password: '
curl --silent "$api/posts/1" | grep -o "$password"
printf 'Files with the password: '
grep -rlF "$password" . || echo none

run destroy -auto-approve
