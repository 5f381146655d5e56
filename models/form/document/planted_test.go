package document

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
)

// The proof of issue 38: whoever is named in a document is named nowhere else in it when it
// leaves as masked. The tests plant names, numbers and dates of birth in every position
// that a document may have, by counting: they know no types of the standard. Only fields
// are masked here, so that no model helps.

// left masks the fields of a document, and returns what would leave; nil if it is held back.
func left(t *testing.T, doc []byte) []byte {
	t.Helper()
	d, reason := Open(doc, Options{})
	if reason != pipeline.Sound {
		return nil
	}
	var edits []Edit
	for _, f := range d.Fields {
		edits = append(edits, Edit{f.Start, f.End, []byte("[X]")})
	}
	out := d.Restore(edits)
	switch reason := d.Check(out, edits); reason {
	case pipeline.Sound:
		return out
	case pipeline.SurvivingValue:
		return nil
	default:
		t.Fatalf("a masked document is broken: %v", reason)
		return nil
	}
}

// plain is a text without case and accents.
func plain(text string) string {
	return strings.NewReplacer("á", "a", "é", "e", "í", "i", "ó", "o", "ú", "u", "ñ", "n").Replace(strings.ToLower(text))
}

// planted are values of one invented patient, as they may stand in another place.
var planted = []string{"QUEREJETA", "Querejeta", "querejeta", "QUEREJETA ÍÑIGUEZ", "Iñiguez", "JOSEFA", "josefa", "GARCIA", "40718265", "12345678Z", "12345678z", "19510302", "195103020815", "02/03/1951", "1951-03-02"}

const hl7Patient = "MSH|^~\\&|LAB|HSP|EHR|HSP|20260105100000||ADT^A01|M1|P|2.5||||||UNICODE UTF-8\r" +
	"PID|1||40718265^^^HSP^MR~12345678Z^^^ESP^NNESP||Querejeta Íñiguez^Josefa||19510302|F\rNK1|1|García^Pere\r"

var hl7Segments = strings.Fields("MSH EVN PID PD1 NK1 MRG PV1 PV2 AL1 DG1 DRG PR1 ROL GT1 IN1 IN2 IN3 ACC UB1 UB2 DB1 OBR OBX ORC NTE TXA RXA RXE RXO RXD RXG RXR FT1 SCH AIS AIG AIL AIP RGS ARQ APR TQ1 TQ2 SPM SAC CTD CTI BLG STF PRA ORG AFF EDU LAN CER CM0 ODS DSP QRD QRF ERR MSA SFT PDA IAM PRD RF1 AUT GOL PRB PTH VAR BPX BTX CSR ARV PRT ZPI ZZZ XYZ")

func TestPlantedHL7(t *testing.T) {
	held, docs := 0, 0
	try := func(line string, value string) bool {
		docs++
		out := left(t, []byte(hl7Patient+line+"\r"))
		if out == nil {
			held++
			return false
		}
		if strings.Contains(plain(string(out)), plain(value)) {
			t.Errorf("a value leaves in %s, %d bytes of it", line[:3], len(line))
		}
		return true
	}
	for i, segment := range hl7Segments {
		for component := range 26 {
			for k, value := range planted {
				if k%3 != (component+len(segment)+i)%3 { // a third of all, spread evenly
					continue
				}
				value := strings.Repeat("^", component) + value
				if component >= 23 { // within a component, and in the third repetition
					value = []string{"a&" + value[component:], "A~B~" + value[component:], "1^X&" + value[component:] + "&Y"}[component-23]
				}
				plain := value[strings.LastIndexAny(value, "^&~")+1:]
				if component == 25 {
					plain = planted[k]
				}
				if !try(segment+strings.Repeat("|"+value, 60), plain) {
					for field := range 60 {
						try(segment+strings.Repeat("|", field+1)+value, plain)
					}
				}
			}
		}
	}
	for _, kind := range strings.Fields("NM DT TM TS DTM CE CWE CNE ST TX FT ID IS SN XPN XCN CX XAD XTN CF ED EI HD MO CP CQ DR PL XON ZZ") {
		for _, value := range planted {
			for component := range 8 {
				try("OBX|1|"+kind+"|34109-9^Nota^LN||"+strings.Repeat("^", component)+value, value)
			}
			for _, text := range []string{"1^" + value, value + "^1^LN", "Visto " + value + " hoy", "a\\.br\\" + value, "x\\F\\" + value + "\\T\\"} {
				try("OBX|1|"+kind+"|34109-9^Nota^LN||"+text, value)
			}
		}
	}
	for _, value := range planted {
		data := base64.StdEncoding.EncodeToString([]byte("Visto " + value + " hoy"))
		if out := left(t, []byte(hl7Patient+"OBX|1|ED|x||^TEXT^PLAIN^Base64^"+data+"\r")); bytes.Contains(out, []byte(data)) {
			t.Errorf("%q leaves in base64", value)
		}
	}
	t.Logf("%d messages, %d held back", docs, held)
	if held > docs/20 {
		t.Errorf("%d of %d messages are held back", held, docs)
	}
}

var fhirOuter = strings.Fields(`attachment content photo meta link extension identifier name telecom address contact subject patient author performer recorder requester
	code category status value valueString valueCodeableConcept valueAttachment valueReference note comment text description title reasonCode reasonReference entity query source agent
	participant location period entry request response resource contained component referenceRange interpretation bodySite method specimen device dosage dosageInstruction timing
	result media presentedForm conclusion section attester event relatesTo context related item answer type detail x anythingElse communication qualification insurance payee diagnosis
	procedure supportingInfo onset abatement evidence stage reaction manifestation substance ingredient batch dispenseRequest substitution history signature data who onBehalfOf`)

var fhirInner = strings.Fields(`url uri value valueString valueUri valueUrl valueCode valueInteger valueBase64Binary system code display text identifier type use family given line city
	title language hash size creation source profile versionId security tag query name description detail status unit comparator start end relation linkId
	priority method mode assigner rank prefix suffix note comment when what who div criteria ifNoneExist ifMatch location etag lastModified outcome diagnostics expression x unknownMember`)

// fhirAlone are members that hold a resource back, so that others beside them are not seen.
var fhirAlone = strings.Fields("id reference fullUrl contentType data")

func TestPlantedFHIR(t *testing.T) {
	held, docs := 0, 0
	try := func(value, member string) bool {
		docs++
		out := left(t, []byte(`{"resourceType":"Observation","id":"o1","status":"final","contained":[{"resourceType":"Patient","id":"p","identifier":[{"value":40718265},{"value":"12345678Z"}],`+
			`"name":[{"family":"Querejeta Íñiguez","given":["Josefa"]}],"birthDate":"1951-03-02"},{"resourceType":"RelatedPerson","id":"r","name":[{"family":"García","given":["Pere"]}]}],`+member+`}`))
		if out == nil {
			held++
			return false
		}
		text := plain(strings.ReplaceAll(string(out), "\\u0065", "e"))
		if strings.Contains(text, plain(value)) || strings.Contains(text, plain(strings.ReplaceAll(value, " ", "%20"))) || strings.Contains(string(out), base64.StdEncoding.EncodeToString([]byte(value))) {
			t.Errorf("a value leaves: %s", member[:20])
		}
		return true
	}
	for i, outer := range fhirOuter {
		for k, value := range planted {
			if k%7 != i%7 { // a seventh of all, spread evenly
				continue
			}
			written := []string{`"` + value + `"`, `["` + value + `"]`, `"https://his.example/files/` + strings.ReplaceAll(value, " ", "%20") + `/1.pdf"`,
				`"Patient?identifier=` + value + `"`, `"` + base64.StdEncoding.EncodeToString([]byte(value)) + `"`, `"` + strings.ReplaceAll(value, "e", "\\u0065") + `"`}
			if strings.Trim(value, "0123456789") == "" {
				written = append(written, value)
			}
			for n, v := range written {
				members := func(names []string) string {
					all := `"` + outer + `":{"z":1`
					for _, inner := range names {
						if n != 4 || strings.HasSuffix(inner, "64Binary") || inner == "query" && outer == "entity" {
							all += `,"` + inner + `":` + v
						}
					}
					return all + "}"
				}
				for _, inner := range fhirAlone {
					try(value, members([]string{inner}))
				}
				if !try(value, members(fhirInner)) {
					for _, inner := range fhirInner {
						try(value, members([]string{inner}))
					}
				}
				if n != 4 {
					try(value, `"`+outer+`":`+v)
				}
			}
		}
	}
	t.Logf("%d resources, %d held back", docs, held)
}

var cdaElements = strings.Fields(`id code effectiveTime confidentialityCode languageCode setId versionNumber author time assignedAuthor telecom assignedPerson name given family prefix
	participant associatedEntity associatedPerson addr city streetAddressLine custodian title value observation entry act procedure substanceAdministration consumable
	manufacturedProduct manufacturedMaterial lotNumberText desc reference originalText translation qualifier entryRelationship performer assignedEntity specimen playingEntity subject
	relatedSubject informant relatedEntity legalAuthenticator signatureCode documentationOf serviceEvent componentOf encompassingEncounter location healthCareFacility place relatedDocument
	parentDocument sdtc:deceasedTime x:unknown`)

var cdaAttributes = strings.Fields(`extension root assigningAuthorityName value code codeSystem codeSystemName displayName nullFlavor use unit mediaType representation language classCode
	moodCode typeCode ID styleCode href xsi:type inversionInd unknown`)

func TestPlantedCDA(t *testing.T) {
	held, docs := 0, 0
	try := func(value, element string) bool {
		docs++
		out := left(t, []byte(`<?xml version="1.0"?><ClinicalDocument xmlns="urn:hl7-org:v3" xmlns:sdtc="s" xmlns:x="x" xmlns:xsi="i"><id root="1.2" extension="d1"/><recordTarget><patientRole><id extension="40718265" root="1.2.3"/>`+
			`<id extension="12345678Z" root="1.2.4"/><patient><name><given>Josefa</given><family>Querejeta Íñiguez</family></name><birthTime value="19510302"/></patient></patientRole></recordTarget>`+
			`<author><assignedAuthor><assignedPerson><name><family>García</family></name></assignedPerson></assignedAuthor></author>`+element+`</ClinicalDocument>`))
		if out == nil {
			held++
			return false
		}
		if strings.Contains(plain(strings.ReplaceAll(string(out), "&#101;", "e")), plain(value)) {
			t.Errorf("a value leaves: %s", element[:min(len(element), 30)])
		}
		return true
	}
	for i, name := range cdaElements {
		for k, value := range planted {
			if k%3 != i%3 {
				continue
			}
			for _, written := range []string{value, "a " + value + " b", strings.ReplaceAll(value, "e", "&#101;")} {
				attributes := ""
				for _, attribute := range cdaAttributes {
					attributes += " " + attribute + `="` + written + `"`
				}
				if !try(value, "<"+name+attributes+"/>") {
					for _, attribute := range cdaAttributes {
						try(value, "<"+name+" "+attribute+`="`+written+`"/>`)
					}
				}
				try(value, "<"+name+">"+written+"</"+name+">")
				try(value, "<"+name+"><y>"+written+"</y></"+name+">")
				try(value, "<component><section><text><"+name+` title="`+written+`" ID="`+written+`">`+written+"</"+name+"><!-- "+value+" --></text><entry><"+name+">"+written+"</"+name+"></entry></section></component>")
			}
		}
	}
	try("QUEREJETA", "<?x QUEREJETA?>")
	t.Logf("%d documents, %d held back", docs, held)
}
