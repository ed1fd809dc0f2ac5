# Shared code of the examples with the real AWS provider: the executable, the mirror, the local API, and an environment
# that reaches no account. A script sources it after setting `here`, `version`, `region` and `differences`.

stop() {
    echo "run.sh: $*" >&2
    exit 2
}

differs() {
    differences=$((differences + 1))
    echo "DIFFERENT: $*" >&2
}

# need TOOL...: stops if a tool is missing.
need() {
    local tool
    for tool in "$@"; do
        command -v "$tool" >/dev/null || stop "$tool is not on PATH (moto_server: pip install 'moto[server]')"
    done
}

find_mayfly() {
    if [[ -n ${MAYFLY_BIN:-} ]]; then
        mayfly=$(command -v "$MAYFLY_BIN") || stop "MAYFLY_BIN names no executable: $MAYFLY_BIN"
    else
        cargo build --release --quiet --manifest-path "$here/../../Cargo.toml" --bin mayfly
        mayfly=${CARGO_TARGET_DIR:-$here/../../target}/release/mayfly
    fi
    mayfly=$(cd "$(dirname "$mayfly")" && pwd)/$(basename "$mayfly")
}

# The mirror may have packages of either registry; the executable uses its own default host.
link_mirror() {
    [[ ${MAYFLY_AWS_MIRROR:-} == /* ]] || stop "set MAYFLY_AWS_MIRROR to the absolute path of a folder with HOST/hashicorp/aws/$version/"
    local targets host
    mapfile -t targets < <(compgen -G "$MAYFLY_AWS_MIRROR/*/hashicorp/aws/$version/*_*")
    ((${#targets[@]})) || stop "no hashicorp/aws $version in $MAYFLY_AWS_MIRROR"
    for host in registry.opentofu.org registry.terraform.io; do
        mkdir -p "$work/mirror/$host/hashicorp/aws/$version"
        ln -s "${targets[@]}" "$work/mirror/$host/hashicorp/aws/$version/"
    done
    cat >"$work/cli.tfrc" <<EOF
provider_installation {
  filesystem_mirror {
    path = "$work/mirror"
  }
}
EOF
}

start_server() {
    moto_server -H 127.0.0.1 -p 0 >"$work/server.log" 2>&1 &
    server=$!
    for _ in {1..150}; do
        endpoint=$(grep -oE 'http://127\.0\.0\.1:[0-9]+' "$work/server.log" | head -n 1 || true)
        [[ -z $endpoint ]] || return 0
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    stop "moto_server did not start: $(cat "$work/server.log")"
}

clean_up() {
    [[ -z ${server:-} ]] || kill "$server" 2>/dev/null || true
    if [[ -n ${MAYFLY_KEEP:-} ]]; then
        echo "left in $work" >&2
    else
        rm -rf "$work"
    fi
}

# begin NAME: creates the working folder, starts the server, and sets the environment of all commands.
begin() {
    work=$(mktemp -d "${TMPDIR:-/tmp}/$1.XXXXXX")
    trap clean_up EXIT
    link_mirror
    start_server
    mkdir "$work/tmp" "$work/home"
    # Nothing of the caller's environment is passed on.
    environment=(
        PATH="$PATH" HOME="$work/home" TMPDIR="$work/tmp" LANG=C.UTF-8
        TF_CLI_CONFIG_FILE="$work/cli.tfrc" CHECKPOINT_DISABLE=1
        AWS_ENDPOINT_URL="$endpoint" AWS_REGION="$region" AWS_EC2_METADATA_DISABLED=true
        AWS_ACCESS_KEY_ID=nobody AWS_SECRET_ACCESS_KEY=nothing
    )
}

expect_equal() {
    [[ $2 == "$3" ]] || differs "$1: \"$2\" instead of \"$3\""
}

# A provider's process is recognized by its home directory.
expect_no_processes() {
    [[ -d /proc/self ]] || return 0
    local left
    left=$(grep -lsz "^HOME=$work/home\$" /proc/[0-9]*/environ || true)
    [[ -z $left ]] || differs "still running: $left"
}
