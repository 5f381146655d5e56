package pipeline

import "strings"

// Kind is a group of categories according to the i2b2 guidelines. Stages that depend on the meaning of a category use
// its kind.
type Kind uint8

// The kinds of categories.
const (
	UntypedKind Kind = iota
	TraitKind
	NameKind
	ProfessionKind
	PlaceKind
	AgeKind
	DateKind
	ContactKind
	IDKind
	kinds
)

// String returns the name that i2b2 and MEDDOCAN give the kind.
func (k Kind) String() string { return kindRows[k].name }

// kindRows is the one place that says what a category is: every name of every
// scheme stands in it once, below what counts as it. The definitions hold for
// patterns, rules, models and generated notes alike; for the categories of one
// scheme alone its own guidelines hold.
var kindRows = [kinds]struct{ name, categories string }{
	// UntypedKind: personal information of unknown kind, and None.
	UntypedKind: {"OTHER",
		"PHI MISC DISEASE OFFICE FIRST MEDIA COURT FAMILY BODY EVENT"},
	// TraitKind: sex, kinship and other traits of a person, which i2b2 has no category for.
	TraitKind: {"OTHER",
		"SEXO_SUJETO_ASISTENCIA FAMILIARES_SUJETO_ASISTENCIA OTROS_SUJETO_ASISTENCIA"},
	// NameKind: the name of a person, without title (Dr., Sra., D., R3) and without a word of kinship before it.
	NameKind: {"NAME",
		"PERSON PATIENT DOCTOR USERNAME PER NAME NOMBRE_SUJETO_ASISTENCIA NOMBRE_PERSONAL_SANITARIO"},
	// ProfessionKind: a person's occupation.
	ProfessionKind: {"PROFESSION",
		"PROFESSION PROFESION"},
	// PlaceKind: a named place or institution, including the word for what it is ("Hospital de Reus", "c/ Nou 3");
	// "centro de salud" alone is none.
	PlaceKind: {"LOCATION",
		"LOCATION HOSPITAL ORGANIZATION STREET CITY STATE COUNTRY ZIP LOCATION-OTHER LOC ORG GEOGRAPHIC POSTAL_CODE TERRITORIO CALLE PAIS INSTITUCION CENTRO_SALUD"},
	// AgeKind: how old a person is or was ("70 años", "niña de 3m", "camina a los 13 meses"); not how long something
	// lasts, a time to wait, or the weeks of a pregnancy.
	AgeKind: {"AGE",
		"AGE EDAD_SUJETO_ASISTENCIA"},
	// DateKind: a day, month or year, with its weekday and "año"; not a weekday alone, a time of day, a holiday, the
	// fraction of a tablet ("viernes 3/4") or a score ("Apgar 9/10/10").
	DateKind: {"DATE",
		"DATE FECHAS"},
	// ContactKind: a way to contact a person or an institution: telephone, fax, e-mail, network address.
	ContactKind: {"CONTACT",
		"TELEPHONE EMAIL PHONE FAX URL IPADDRESS IP_ADDRESS CORREO_ELECTRONICO NUMERO_TELEFONO NUMERO_FAX URL_WEB DIREC_PROT_INTERNET"},
	// IDKind: a number that identifies a person, a belonging or a record of theirs. Records, referrals, samples and
	// sick notes are SANITARY_CARD_ID, registration numbers of professionals DNI.
	IDKind: {"ID",
		"DNI SOCIAL_SECURITY_ID SANITARY_CARD_ID IBAN LICENSE_PLATE COLLEGIATE_ID RECORD_ID PASSPORT " +
			"SSN MEDICALRECORD HEALTHPLAN ACCOUNT LICENSE VEHICLE DEVICE BIOID IDNUM MEDICAL_RECORD HEALTH_PLAN BIOMETRIC PHOTO OTHER_IDENTIFIER " +
			"ID_SUJETO_ASISTENCIA ID_TITULACION_PERSONAL_SANITARIO ID_ASEGURAMIENTO ID_CONTACTO_ASISTENCIAL ID_EMPLEO_PERSONAL_SANITARIO " +
			"IDENTIF_VEHICULOS_NRSERIE_PLACAS IDENTIF_DISPOSITIVOS_NRSERIE NUMERO_BENEF_PLAN_SALUD IDENTF_BIOMETRICOS OTRO_NUMERO_IDENTIF"},
}

var kindOf = map[string]Kind{}

func init() {
	for k, row := range kindRows {
		for name := range strings.FieldsSeq(row.categories) {
			kindOf[name] = Kind(k)
		}
	}
}

// Kind returns the kind of the category.
func (c Category) Kind() Kind { return kindOf[c.String()] }
