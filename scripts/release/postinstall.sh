#!/bin/sh
# After the installation of the package: the user velum and its folders. Nothing is started:
# that takes a key (/usr/share/doc/velum/README.deploy.md).
set -e
root=${DPKG_ROOT:-/}
if command -v systemd-sysusers >/dev/null; then systemd-sysusers --root="$root" velum.conf; fi
if command -v systemd-tmpfiles >/dev/null; then systemd-tmpfiles --root="$root" --create velum.conf; fi
if test "$root" = / && test -d /run/systemd/system; then systemctl daemon-reload; fi
