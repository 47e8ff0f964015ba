#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Planted secrets are in no file that ib-run writes, but for the byte-exact logs and what the command itself puts into its output.
. "${IB_SRCDIR:-.}/tests/cli/lib.sh"
cd "$T" || exit 99

# Made here, so that no file of the source holds anything that looks like a secret.
rand() { head -c 64 /dev/urandom | sha256sum | cut -c1-"$1"; }
hf="hf_$(rand 34)"
openai="sk-$(rand 48)"
plain="$(rand 24)"
password="pw-$(rand 14)"
long="AKIA$(rand 16 | tr 'a-f' 'G-L')"
printf '%s\n' "$hf" "$openai" "$plain" "$password" "$long" > planted

export HF_TOKEN="$hf" OPENAI_API_KEY="$openai" MY_DB_PASSWORD="$plain" VLLM_API_KEY="$plain" AWS_ACCESS_KEY_ID="$long"
export VLLM_USE_V1=1
ib-run -q -C s --group secret -- sh -c 'echo "$HF_TOKEN"' \
    client --api-key "$openai" --header "Authorization: Bearer $hf" "--password=$password" "http://user:$password@127.0.0.1:1/v1?token=$plain" > /dev/null
is "the command has its whole environment" "$(cat s/runs/*/stdout.log)" "$hf"
is "the log is byte-exact" "$(grep -c -F "$hf" s/runs/*/stdout.log)" 1
find s -type f ! -name '*.log' -exec grep -l -F -f planted {} + > found
is "no other file holds a planted secret" "$(cat found)" ""
ok "what is allowed is recorded" grep -q '"VLLM_USE_V1": "1"' s/runs/*/command.json
ok "the arguments are recorded, redacted" grep -q '<redacted:' s/runs/*/command.json
ok "the run is complete" grep -q '"state": "completed"' s/runs/*/record.json

# a secret that only the environment tells: in an argument without any sign of it
ib-run -q -C s2 --no-capture -- true "$plain"
find s2 -type f -exec grep -l -F -f planted {} + > found
is "a bare value of a secret variable is caught" "$(cat found)" ""
ok "its place is marked" grep -q '"<redacted:literal:24:' s2/runs/*/command.json
name=$(rand 20)
status 125 "a secret as group is refused" env "MY_DB_PASSWORD=$name" ib-run -q -C s5 --no-capture --group "$name" -- true
is "and in no file either" "$(grep -rlF "$name" s5)" ""
is "nor in a name" "$(find s5 -name "*$name*")" ""
is "nor in the message" "$(grep -cF "$name" "$T/.err")" 0

# a secret as file name
ib-run -q -C s3 --no-capture -- sh -c 'echo x > "$IB_OUTPUT_DIR/$HF_TOKEN.txt"'
find s3 -type f -exec grep -l -F -f planted {} + > found
is "a secret as the name of an output is in no document" "$(cat found)" ""
ok "and the record says so" grep -q 'names that hold secrets' s3/runs/*/record.json

# as a command that does not exist
ib-run -q -C s4 --no-capture -- "/no/such/$hf"
find s4 -type f -exec grep -l -F -f planted {} + > found
is "nor in the note about a missing command" "$(cat found)" ""
done_testing
