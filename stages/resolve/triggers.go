package resolve

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	networks "github.com/velum-health/velum/models/tag/rules"
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
	relative                       // kin
	of                             // de
	sexed                          // a noun or adjective that tells the sex of the patient
	patient                        // may stand before such a word
	until                          // between the ends of a range: al, hasta
	eponymous                      // before an eponym: tendón de Aquiles
	trait                          // a people, colour or leaning that tells of the patient: mujer blanca
	traitLabel                     // stands before such a word: de nacionalidad
	abbreviation                   // what is written as capitals with full stops and is nobody: T.A.

	numClasses int = iota
)

// classNames are the names of the lists, in the order of the bits.
var classNames = [numClasses]string{
	"title", "short-title", "particle", "article", "institution", "kin", "of", "sexed", "patient", "until", "eponymous", "trait",
	"trait-label", "abbreviation",
}

// checkWords wants all lists that rules ask for, and no other.
func checkWords(words networks.Words) error {
	for _, name := range classNames {
		if _, ok := words[name]; !ok {
			return fmt.Errorf("words: no list %q", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(words)) {
		if !slices.Contains(classNames[:], name) {
			return fmt.Errorf("words: unknown list %q; known: %s", name, strings.Join(slices.Sorted(slices.Values(classNames[:])), ", "))
		}
	}
	return nil
}
