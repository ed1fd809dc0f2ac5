#!/usr/bin/env bash
# Types a misuse of an ephemeral value into a copy of examples/secrets and sees the language server's error come and go.
#
#   ./run.sh PATH_TO_MAYFLY       or MAYFLY=PATH_TO_MAYFLY ./run.sh
#
# NVIM  the editor; `nvim` by default, from 0.7 on
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mayfly=${1:-${MAYFLY:-}}
if [[ -z $mayfly ]]; then
    sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
mayfly=$(command -v "$mayfly") || { echo "no such executable: ${1:-$MAYFLY}" >&2; exit 2; }
nvim=$(command -v "${NVIM:-nvim}") || { echo 'no nvim on the PATH' >&2; exit 2; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -R "$here/../../../examples/secrets" "$folder/secrets"

# Nothing of the user's own configuration takes part.
export HOME=$folder/home XDG_CONFIG_HOME=$folder/config XDG_DATA_HOME=$folder/data XDG_STATE_HOME=$folder/state \
    XDG_CACHE_HOME=$folder/cache
mkdir -p "$HOME"
MAYFLY=$(cd "$(dirname "$mayfly")" && pwd)/$(basename "$mayfly")
export MAYFLY

cd "$folder/secrets/store"
status=0
# The script has its own limits of time; this one is for an editor that hangs.
timeout 120 "$nvim" --headless -i NONE -n -u "$here/init.lua" --cmd "set runtimepath^=$here/.." main.tf \
    -c "luafile $here/drive.lua" </dev/null || status=$?
if ((status != 0)); then
    echo "failed with status $status" >&2
    tail -n 40 "$XDG_STATE_HOME/nvim/lsp.log" "$XDG_CACHE_HOME/nvim/lsp.log" 2>/dev/null >&2 || true
fi
exit "$status"
