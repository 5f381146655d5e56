#!/bin/sh
# What a release has for this machine, installed into folders and run from there (needs dpkg and rpm): install.sh RELEASE
set -eu
release=$(cd "$1" && pwd)
(cd "$release" && cp -n ../release-parts/wheels/*.whl . && sha256sum --quiet --check SHA256SUMS)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
arch=$(go env GOARCH)

works() { # FOLDER OF THE BINARY
	test "$(echo '{"note_id":"1","text":"tel 600 123 456"}' | "$1/velum" mask - - --quiet)" = '{"note_id":"1","text":"tel [TELEPHONE]","status":"masked"}'
	echo "$1: $("$1/velum" --version)"
}

mkdir -p "$root/tar" "$root/deb/var/lib/dpkg/info" "$root/deb/var/lib/dpkg/updates" "$root/rpm"
tar -xzf "$release"/velum_*_linux_"$arch".tar.gz -C "$root/tar" --strip-components=1
works "$root/tar"

: >"$root/deb/var/lib/dpkg/status"
dpkg --root="$root/deb" --force-script-chrootless --log=/dev/null -i "$release"/velum_*_linux_"$arch".deb >/dev/null
rpm --root "$root/rpm" --nodeps --noscripts --ignorearch -i "$release"/velum_*_linux_"$arch".rpm
for packed in deb rpm; do
	works "$root/$packed/usr/bin"
	for file in share/man/man1/velum-run.1.gz share/bash-completion/completions/velum lib/systemd/system/velum.timer lib/sysusers.d/velum.conf; do
		test -s "$root/$packed/usr/$file"
	done
	test -s "$root/$packed/etc/velum/night.yaml"
	systemd-analyze verify --root="$root/$packed" velum.service 2>&1 | grep -iE 'unknown|invalid|not executable|missing' && exit 1
done
dpkg --root="$root/deb" --force-script-chrootless --log=/dev/null --purge velum >/dev/null
test ! -e "$root/deb/usr/bin/velum"
echo "archive, deb and rpm: installed and run"
