#!/usr/bin/env bash
# Tests the modes, and with a server also that a misuse of an ephemeral value is shown and goes when it is undone.
#
#   ./run.sh [PATH_TO_MAYFLY]
#
# EMACS  the editor; `emacs` by default, from 27.1 on; eglot is part of it from 29 on
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [[ -n ${1:-} ]]; then
    mayfly=$(command -v "$1") || { echo "no such executable: $1" >&2; exit 2; }
    MAYFLY=$(cd "$(dirname "$mayfly")" && pwd)/$(basename "$mayfly")
    export MAYFLY
fi
export MAYFLY_EXAMPLES=$here/../../../examples

# Nothing of the user's own configuration takes part; the system's packages do, for eglot before Emacs 29.
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
HOME=$home timeout 150 "${EMACS:-emacs}" -q --batch -L "$here/.." --eval '(package-initialize)' -l "$here/mayfly-test.el" \
    -f ert-run-tests-batch-and-exit </dev/null
