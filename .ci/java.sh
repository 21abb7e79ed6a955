#!/bin/sh
# Finds Java 17 or newer for Spark: JAVA_HOME, then PATH, then Debian's package when root.
set -eu

major() {  # prints the major version of the java given, or 0
    version=$("$1" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1) || true
    echo "${version:-0}"
}

if [ -n "${JAVA_HOME:-}" ]; then
    if [ "$(major "$JAVA_HOME/bin/java")" -ge 17 ]; then
        exit 0
    fi
    echo "JAVA_HOME=$JAVA_HOME holds no Java 17 or newer: correct it or unset it." >&2
    exit 1
fi
if command -v java >/dev/null 2>&1 && [ "$(major java)" -ge 17 ]; then
    exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get update -qq >/dev/null || true
    if DEBIAN_FRONTEND=noninteractive apt-get install -y -qq openjdk-17-jre-headless >/dev/null; then
        exit 0
    fi
fi
echo "Spark needs a Java 17 or newer runtime: install openjdk-17-jre-headless (or set JAVA_HOME)." >&2
exit 1
