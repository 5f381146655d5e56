package pipeline

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Category is a kind of personal health information. The list is fixed, except for the label sets that an institution
// adds (AddLabels); the names appear in configuration, files and reports.
type Category uint8

// None is the category of text that is no PHI.
const None Category = 0

// ErrCategory is returned for a name that is in no label set, often because the file of the institution's own labels
// was not given.
var ErrCategory = errors.New("unknown category")

// LabelSet lists the categories of one annotation scheme or one kind of model, in the order of its tags.
type LabelSet struct {
	Name       string
	Categories []Category
}

// First returns the first of the names that is a category of the set, or None.
func (s *LabelSet) First(names ...string) Category {
	for _, name := range names {
		for _, c := range s.Categories {
			if c.String() == name {
				return c
			}
		}
	}
	return None
}

// schemes lists the categories of every label set. A name that stands in
// several sets is one category.
var schemes = []struct {
	name  string
	names string
}{
	// IDIAP's seven (BOOT §3.1) plus DATE and AGE.
	{"primary-care", "PERSON LOCATION TELEPHONE EMAIL DNI SOCIAL_SECURITY_ID SANITARY_CARD_ID DATE AGE"},
	// What models/form/patterns can find.
	{"pattern",
		"TELEPHONE EMAIL DNI SOCIAL_SECURITY_ID SANITARY_CARD_ID DATE AGE URL IP_ADDRESS POSTAL_CODE IBAN LICENSE_PLATE COLLEGIATE_ID RECORD_ID PASSPORT"},
	// MEDDOCAN's 29 types, 22 of which occur in the corpus.
	{"meddocan",
		"TERRITORIO FECHAS EDAD_SUJETO_ASISTENCIA NOMBRE_SUJETO_ASISTENCIA NOMBRE_PERSONAL_SANITARIO SEXO_SUJETO_ASISTENCIA CALLE PAIS ID_SUJETO_ASISTENCIA CORREO_ELECTRONICO ID_TITULACION_PERSONAL_SANITARIO ID_ASEGURAMIENTO HOSPITAL FAMILIARES_SUJETO_ASISTENCIA INSTITUCION ID_CONTACTO_ASISTENCIAL NUMERO_TELEFONO PROFESION NUMERO_FAX OTROS_SUJETO_ASISTENCIA CENTRO_SALUD ID_EMPLEO_PERSONAL_SANITARIO"},
	{"meddocan-rare",
		"IDENTIF_VEHICULOS_NRSERIE_PLACAS IDENTIF_DISPOSITIVOS_NRSERIE NUMERO_BENEF_PLAN_SALUD URL_WEB DIREC_PROT_INTERNET IDENTF_BIOMETRICOS OTRO_NUMERO_IDENTIF"},
	// i2b2 2014/2016.
	{"i2b2",
		"PATIENT DOCTOR USERNAME PROFESSION HOSPITAL ORGANIZATION STREET CITY STATE COUNTRY ZIP LOCATION-OTHER AGE DATE PHONE FAX EMAIL URL IPADDRESS SSN MEDICALRECORD HEALTHPLAN ACCOUNT LICENSE VEHICLE DEVICE BIOID IDNUM"},
	// AnCora names, for the Catalan experiments.
	{"names", "PER LOC ORG MISC"},
	// The identifiers of HIPAA 164.514(b)(2).
	{"hipaa",
		"NAME GEOGRAPHIC DATE TELEPHONE FAX EMAIL SSN MEDICAL_RECORD HEALTH_PLAN ACCOUNT LICENSE VEHICLE DEVICE URL IP_ADDRESS BIOMETRIC PHOTO OTHER_IDENTIFIER"},
	// The inverse model masks without a type (INV §4.2).
	{"untyped", "PHI"},
	// What singles somebody out without a name (stages/rare).
	{"rare", "DISEASE OFFICE FIRST MEDIA COURT FAMILY BODY EVENT"},
}

var (
	categoryNames = []string{""}
	categoryOf    = map[string]Category{}
	labelSets     = map[string]*LabelSet{}
)

func init() {
	for _, s := range schemes {
		set := &LabelSet{Name: s.name}
		for name := range strings.FieldsSeq(s.names) {
			c, known := categoryOf[name]
			if !known {
				c = Category(len(categoryNames))
				categoryNames = append(categoryNames, name)
				categoryOf[name] = c
			}
			set.Categories = append(set.Categories, c)
		}
		labelSets[s.name] = set
	}
}

// A NewCategory is a category that is in no built-in label set.
type NewCategory struct {
	Name string
	Kind Kind
}

// AddLabels adds the label set of an institution: its categories in the order of its tags; new names are added to the
// list of categories. It must be called before tables indexed by category are made. Adding the same set again has no
// effect.
func AddLabels(name string, categories []NewCategory) error {
	if old := labelSets[name]; old != nil {
		same := len(old.Categories) == len(categories)
		for i, c := range categories {
			same = same && old.Categories[i].String() == c.Name
		}
		if !same {
			return fmt.Errorf("there is another label set %q", name)
		}
		return nil
	}
	set := &LabelSet{Name: name}
	for _, add := range categories {
		c, known := categoryOf[add.Name]
		if !known {
			if len(categoryNames) > math.MaxUint8 {
				return fmt.Errorf("more than %d categories", math.MaxUint8)
			}
			c = Category(len(categoryNames))
			categoryNames = append(categoryNames, add.Name)
			categoryOf[add.Name], kindOf[add.Name] = c, add.Kind
		}
		set.Categories = append(set.Categories, c)
	}
	labelSets[name] = set
	return nil
}

// String returns the name used in configuration, files and reports; "" for
// None.
func (c Category) String() string { return nameOf(categoryNames, int(c)) }

// Categories returns how many categories there are, None included, for
// tables indexed by Category.
func Categories() int { return len(categoryNames) }

// ParseCategory returns the category of that name.
func ParseCategory(name string) (Category, error) {
	c, ok := categoryOf[name]
	if !ok {
		return None, fmt.Errorf("%w %q", ErrCategory, name)
	}
	return c, nil
}

// MustCategory is ParseCategory for names that the program itself has: the registry is fixed, and a wrong name panics.
func MustCategory(name string) Category {
	c, err := ParseCategory(name)
	if err != nil {
		panic(err)
	}
	return c
}

// Labels returns the label set of that name.
func Labels(name string) (*LabelSet, error) {
	s, ok := labelSets[name]
	if !ok {
		return nil, fmt.Errorf("unknown label set %q", name)
	}
	return s, nil
}
