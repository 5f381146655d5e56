package resolve

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	networks "github.com/velum-health/velum/models/rules"
)

// class is the kinds of trigger word that a word belongs to. The words stand in
// lists of Options.Words, each under the name that classNames has for its kind.
type class uint64

const (
	title        class = 1 << iota // stands before a name
	shortTitle                     // the same, but also a letter or a word of its own: needs a given name behind it
	particle                       // joins the words of a name
	article                        // may stand in the name of a place, never in one of a person
	institution                    // begins the name of a health centre
	telephone                      // stands before a telephone number
	fax                            // stands before a fax number
	person                         // a noun for the patient, before "de 70 años"
	relative                       // kin
	owner                          // stands before kin: su, un...
	unit                           // of an age
	numeral                        // written-out number
	ofAge                          // edad
	of                             // de
	sexLabel                       // sexo
	sexValue                       // what may stand behind it
	heading                        // ends a name: the next field of a report
	street                         // begins an address
	episode                        // stands before the number of a stay
	record                         // stands before a record number
	insurance                      // stands before a social security number
	sexed                          // a noun or adjective that tells the sex of the patient
	patient                        // may stand before such a word
	organisation                   // begins the name of an institution that is no health centre
	republic                       // belongs to the name of a country
	collegiate                     // stands before a collegiate number
	weekday                        // ends the name of a centre: an appointment begins
	expecting                      // before "de 20 semanas", which is no age
	general                        // with the head of a centre still the name of none: Centro de Salud
	house                          // short for a centre: H., Hº, HU
	opener                         // begins a clause, and so ends a name: Acudirá, Seguimiento
	breaker                        // never in the name of a centre: para, desde
	service                        // a part of a centre, before its name: Unidad de Crónicos del Hospital
	species                        // behind H. it is a microbe: H. Pylori
	until                          // between the ends of a range: al, hasta
	yearWord                       // before a year, no part of it: año
	bond                           // in the name of a centre, goes on behind it: Nuestra, Universitario
	month                          // abril
	plainHead                      // the head of a centre that means nothing else: hospital
	clinical                       // before clínica where it is an adjective: evolución
	kindWord                       // with the head of a centre still the name of none: comarcal
	eponymous                      // before an eponym: tendón de Aquiles
	comesFrom                      // before the place a person comes from: procedente, viaje
	region                         // before the name of a place: municipio
	place                          // before a place: en, desde
	specialty                      // behind the name of a doctor: Hematología
	acts                           // behind a person who is its subject: va dir, explica
	source                         // before a person who says so: segons
	namesake                       // a doctor after whom a hospital is named: Gran Canaria Dr. Negrín
	scale                          // before a town that names a scale or a disease: criterios de Roma
	role                           // what a person is, right before the name: president, infermera
	adverb                         // between a person and the verb: també, ja
	elliptic                       // an adjective for a hospital that is left out: el pediátrico de
	trait                          // a people, colour or leaning that tells of the patient: mujer blanca
	traitLabel                     // stands before such a word: de nacionalidad
	doctor                         // Dr and Dra: behind them a word in capitals is a name, too
	inside                         // en: a title behind it with a capital is that of a town (en Doña Mencía)
	personal                       // the article that Catalan gives to persons; a single letter needs an apostrophe behind it: l'Anna
	nobiliary                      // begins a surname if it has a capital: Van Gaal
	determiner                     // no name behind it is the subject of a verb: el Puig
	linking                        // may stand before a surname of the lists amid a Catalan sentence: de Puig, a Puig
	lasting                        // behind years that are no age: 20 años fumando
	leads                          // before a person whom it tells of: avisa, firma, acompañado

	numClasses int = iota
)

// classNames are the names of the lists, in the order of the bits.
var classNames = [numClasses]string{
	"title", "short-title", "particle", "article", "institution", "telephone", "fax", "person", "kin", "owner", "unit", "numeral",
	"of-age", "of", "sex-label", "sex-value", "heading", "street", "episode", "record", "insurance", "sexed", "patient",
	"organisation", "republic", "collegiate", "weekday", "expecting", "general", "house", "opener", "breaker", "service", "species",
	"until", "year", "bond", "month", "plain-head", "clinical", "kind", "eponymous", "comes-from", "region", "place", "specialty",
	"acts", "source", "namesake", "scale", "role", "adverb", "elliptic", "trait", "trait-label", "doctor", "inside", "personal",
	"nobiliary", "determiner", "linking", "lasting", "lead",
}

// The lists of parts of words.
const (
	nounEndings      = "noun-ending"
	adjectiveEndings = "adjective-ending"
	familyEndings    = "family-ending"
	familyBeginnings = "family-beginning"
)

// checkWords wants all lists that rules ask for, and no other.
func checkWords(words networks.Words) error {
	names := append(slices.Clone(classNames[:]), nounEndings, adjectiveEndings, familyEndings, familyBeginnings)
	for _, name := range names {
		if _, ok := words[name]; !ok {
			return fmt.Errorf("words: no list %q", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(words)) {
		if !slices.Contains(names, name) {
			return fmt.Errorf("words: unknown list %q; known: %s", name, strings.Join(slices.Sorted(slices.Values(names)), ", "))
		}
	}
	return nil
}
