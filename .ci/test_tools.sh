#!/bin/sh
# Installs what tests drive besides Python: chromium (pages are looked at) and prometheus (promtool
# reads metrics), from Debian's or Ubuntu's packages when root; moto (serves S3) into an environment
# of its own below the one that is named. Without them those tests are skipped.
set -eu

missing=""

have() {  # command, package: true if the command is there, or could be installed
    command -v "$1" >/dev/null 2>&1 && return 0
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || return 1
    apt-get update -qq >/dev/null 2>&1 || true
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$2" >/dev/null
}

have chromium chromium || missing="chromium"
have promtool prometheus || missing="$missing prometheus"
server="${1:-.venv}/s3_server"
python3 -m venv "$server" &&
    "$server/bin/python" -m pip install -qq --disable-pip-version-check --require-hashes \
        -r "$(dirname "$0")/s3_server.lock" || missing="$missing moto"
if [ -n "$missing" ]; then
    echo "Not installed, so the tests that need them are skipped: $missing" >&2
    exit 1
fi
