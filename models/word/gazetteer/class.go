package gazetteer

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// Class is a set of word classes, one bit each. A form in lists of several classes has several bits: Rosa is GivenName
// and CommonWord.
type Class uint32

// The word classes. The order is part of the features of trained models: append new classes.
const (
	GivenName       Class = 1 << iota // Montserrat, Paco
	Surname                           // García, Puig
	Municipality                      // towns, neighbourhoods, large cities of the world
	Province                          // provinces, regions, comarques, islands
	Country                           // countries and continents
	HospitalHead                      // hospital, CAP, ABS, ambulatori, residencia
	Centre                            // names of hospitals, clinics and insurers: Sant Pau, HUVH
	StreetType                        // calle, c/, avda, carrer, passeig
	Profession                        // paleta, camarera, jubilado
	Kinship                           // madre, germà, vecina
	Month                             // abril, gener, dic
	Weekday                           // lunes, dissabte
	Holiday                           // navidad, Sant Joan
	Title                             // Dr., Sra., D., en, na
	Drug                              // INN and brand names
	MedicalTerm                       // diseases, signs, tests, clinical abbreviations
	Eponym                            // Parkinson, Glasgow, Babinski: names that are not people here
	CommonWord                        // frequent words, among them those that are names too
	Nationality                       // marroquí, búlgara
	LegalForm                         // S.A., S.L., GmbH
	InstitutionHead                   // universidad, col·legi, ajuntament, institut
	numClasses      = iota
)

var classNames = [numClasses]string{
	"GivenName", "Surname", "Municipality", "Province", "Country", "HospitalHead", "Centre", "StreetType",
	"Profession", "Kinship", "Month", "Weekday", "Holiday", "Title", "Drug", "MedicalTerm", "Eponym",
	"CommonWord", "Nationality", "LegalForm", "InstitutionHead",
}

// Place is every kind of geographical name.
const Place = Municipality | Province | Country

// String returns the names of the bits, joined with "|"; "" for no bit.
func (c Class) String() string {
	var b strings.Builder
	for rest := c; rest != 0; rest &= rest - 1 {
		if b.Len() > 0 {
			b.WriteByte('|')
		}
		i := bits.TrailingZeros32(uint32(rest))
		if i >= numClasses {
			b.WriteByte('?')
			continue
		}
		b.WriteString(classNames[i])
	}
	return b.String()
}

// NumClasses returns how many kinds of word there are; kind i is bit 1<<i.
func NumClasses() int { return numClasses }

// ParseClass returns the kind of that name.
func ParseClass(name string) (Class, error) {
	for i, n := range classNames {
		if n == name {
			return 1 << i, nil
		}
	}
	return 0, fmt.Errorf("unknown class %q", name)
}

// ClassNames returns the names of all kinds of word, in the order of the bits.
func ClassNames() []string { return slices.Clone(classNames[:]) }
