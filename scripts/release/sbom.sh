#!/bin/sh
# The bill of materials (CycloneDX) of a binary, as the binary itself tells it: sbom.sh BINARY DOCUMENT VERSION TIME.
# Licences come from the module cache. The time is that of the commit, not of now.
set -eu
cyclonedx-gomod bin -json -noserial -std -licenses -assert-licenses -version "$3" "$1" 2>/dev/null |
	sed "s|^    \"timestamp\": \".*\",\$|    \"timestamp\": \"$4\",|" >"$2"
test "$(grep -c '"type": "library"' "$2")" -gt 20
