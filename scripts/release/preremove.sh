#!/bin/sh
# Before the package goes, and not before another version comes: the timer stops. What was masked stays.
set -e
case ${1:-} in upgrade | 1) exit 0 ;; esac
if test -z "${DPKG_ROOT:-}" && test -d /run/systemd/system; then systemctl disable --now velum.timer; fi
