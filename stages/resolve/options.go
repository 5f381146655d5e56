package resolve

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	networks "github.com/velum-health/velum/models/tag/rules"
	"github.com/velum-health/velum/pipeline"
)

// Options holds the options of the stage. Labels is required; Defaults returns a useful set.
type Options struct {
	Labels     string             // label set of the spans: primary-care, meddocan...
	Categories map[string]string  // for each pattern category the one of Labels; those left out are dropped
	MinScore   map[string]float32 // by pattern category: matches below are dropped, unless their check digit is right
	Always     []Entry            // phrases that are masked wherever they occur
	Never      []string           // phrases that a model may not mask
	Repeat     []string           // categories whose values are masked wherever else they occur
	RepeatPart []string           // categories for which the same is done with each word of a value
	Rules      map[string]bool    // which rules are on, see Rules; those left out are off

	Words networks.Words `yaml:"-"` // the word lists that rules use, all of them: those of configs with the user's changes

	// rules that people write: what they find are candidates of origin rule; a network with the name of a rule stands in its place
	Packs []*networks.Pack `yaml:"-"`

	Lexicons Lexicons `yaml:"-"`
	Workers  int      `yaml:"-"`
	Counts   *Counts  `yaml:"-"` // nil: not counted

	Trace Trace `yaml:"-"` // for one worker and not for runs; nil: nobody looks
}

// Trace is called with the spans of each note after each step that may change them, for explanations.
type Trace func(step string, spans []pipeline.Span)

// Entry is a phrase of the always-mask list.
type Entry struct {
	Phrase   string
	Category string
}

// A Lexicon reports whether a word or phrase is in a list, regardless of case and accents. It is shared by the workers.
type Lexicon interface {
	Contains(phrase []byte) bool
}

// Lexicons holds the word lists of the stage. A nil list disables the rules that need it.
type Lexicons struct {
	GivenNames Lexicon
	Surnames   Lexicon
	Common     Lexicon        // common words, which are never masked as a repeated part of a name
	Never      []NamedLexicon // eponyms, drugs: added to the never list
}

// NamedLexicon is a list with the name under which its uses are counted.
type NamedLexicon struct {
	Name string
	Lexicon
}

// origin is what proposed a candidate. Lower values win. It distinguishes more than pipeline.SpanSource.
type origin uint8

const (
	byKnown origin = iota // who is known is no guess
	byList
	byCheckedPattern // the check digit is right
	byForm           // a pattern of what has a form of its own: formed
	byModel
	byPattern
	byRule
)

var sourceOf = [...]pipeline.SpanSource{
	byKnown: pipeline.FromKnown, byList: pipeline.FromList, byCheckedPattern: pipeline.FromPattern, byForm: pipeline.FromPattern,
	byModel: pipeline.FromModel, byPattern: pipeline.FromPattern, byRule: pipeline.FromRule,
}

// formed lists the pattern categories whose finds win against the model's.
var formed = []string{"EMAIL", "IBAN", "URL"}

// ofPattern returns the origin of what a pattern finds.
func ofPattern(c pipeline.Category, checked bool) origin {
	switch {
	case checked:
		return byCheckedPattern
	case slices.Contains(formed, c.String()):
		return byForm
	}
	return byPattern
}

// Defaults returns the options for a label set and the word lists of the rules. The numbers were chosen on MEDDOCAN
// train with held-out predictions.
func Defaults(labels string, words networks.Words) (Options, error) {
	set, err := pipeline.Labels(labels)
	if err != nil {
		return Options{}, err
	}
	o := Options{
		Labels:   labels,
		Words:    words,
		Rules:    map[string]bool{},
		MinScore: map[string]float32{},
	}
	for _, r := range rules {
		o.Rules[r.name] = slices.Contains(strings.Fields(r.on), labels)
	}
	for _, c := range set.Categories {
		if name := c.String(); name != "FAMILIARES_SUJETO_ASISTENCIA" { // a mother is not always the patient's
			o.Repeat = append(o.Repeat, name)
		}
	}
	o.RepeatPart = namesIn(set)
	if labels == "meddocan" {
		o.Categories, o.MinScore = meddocanCategories, meddocanScores
		return o, nil
	}
	o.Categories = map[string]string{}
	own, _ := pipeline.Labels("pattern")
	for _, c := range own.Categories {
		if slices.Contains(set.Categories, c) {
			o.Categories[c.String()] = c.String()
		}
	}
	if labels == "primary-care" {
		o.Categories = primaryCareCategories
	}
	return o, nil
}

// namesIn returns the categories of a label set that are names of persons.
func namesIn(set *pipeline.LabelSet) (names []string) {
	for _, c := range set.Categories {
		if c.Kind() == pipeline.NameKind {
			names = append(names, c.String())
		}
	}
	return names
}

// The categories of patterns in MEDDOCAN's scheme.
var meddocanCategories = map[string]string{
	"TELEPHONE":          "NUMERO_TELEFONO",
	"EMAIL":              "CORREO_ELECTRONICO",
	"DNI":                "ID_SUJETO_ASISTENCIA",
	"SOCIAL_SECURITY_ID": "ID_ASEGURAMIENTO",
	"SANITARY_CARD_ID":   "ID_ASEGURAMIENTO",
	"DATE":               "FECHAS",
	"AGE":                "EDAD_SUJETO_ASISTENCIA",
	"POSTAL_CODE":        "TERRITORIO",
	"COLLEGIATE_ID":      "ID_TITULACION_PERSONAL_SANITARIO",
	"RECORD_ID":          "ID_SUJETO_ASISTENCIA",
	"PASSPORT":           "ID_SUJETO_ASISTENCIA",
	"URL":                "URL_WEB",
	"IP_ADDRESS":         "DIREC_PROT_INTERNET",
	"LICENSE_PLATE":      "IDENTIF_VEHICULOS_NRSERIE_PLACAS",
	"IBAN":               "OTRO_NUMERO_IDENTIF",
}

// Scores of MEDDOCAN's patterns. Behind a tagger that saw the patterns as
// features, what is left of the weaker ages is mostly durations ("falleció a
// los 4 meses": 20 of 26 on train), and of the weaker telephone numbers record
// numbers.
var meddocanScores = map[string]float32{"AGE": 0.93, "TELEPHONE": 0.55}

// The categories of patterns in the primary-care scheme. A category of which
// the scheme has no name goes to the one whose surrogate does least harm: an
// identifier of any kind is masked as an identifier.
var primaryCareCategories = map[string]string{
	"TELEPHONE":          "TELEPHONE",
	"EMAIL":              "EMAIL",
	"URL":                "EMAIL",
	"IP_ADDRESS":         "EMAIL",
	"DNI":                "DNI",
	"PASSPORT":           "DNI",
	"IBAN":               "DNI",
	"LICENSE_PLATE":      "DNI",
	"SOCIAL_SECURITY_ID": "SOCIAL_SECURITY_ID",
	"SANITARY_CARD_ID":   "SANITARY_CARD_ID",
	"RECORD_ID":          "SANITARY_CARD_ID",
	"COLLEGIATE_ID":      "DNI",
	"DATE":               "DATE",
	"AGE":                "AGE",
	"POSTAL_CODE":        "LOCATION",
}

// plan is the options as tables. It is read-only and shared by the workers.
type plan struct {
	Options
	words    *wordTable
	category []pipeline.Category // by pattern category
	minScore []float32           // by pattern category
	repeat   []bool              // by category
	part     []bool              // by category
	always   phrases
	alwaysAs []pipeline.Category // by entry
	never    phrases
	rules    [phases][]int // indices of those that are on
	labels   categories

	packAs []pipeline.Category // by category of packs
}

// compile checks the options.
func compile(o Options) (*plan, error) {
	set, err := pipeline.Labels(o.Labels)
	if err != nil {
		return nil, fmt.Errorf("resolve: %w", err)
	}
	n := pipeline.Categories()
	p := &plan{
		Options:  o,
		category: make([]pipeline.Category, n), minScore: make([]float32, n),
		repeat: make([]bool, n), part: make([]bool, n), packAs: make([]pipeline.Category, n),
	}
	p.labels = categoriesOf(set)
	return p, firstOf(
		p.vocabulary, p.patterns, p.replaced, p.switches, p.packs,
		func() error { return p.mark(p.repeat, o.Repeat) },
		func() error { return p.mark(p.part, o.RepeatPart) },
		p.lists,
	)
}

// firstOf runs checks until one returns an error, and returns that.
func firstOf(checks ...func() error) error {
	for _, check := range checks {
		if err := check(); err != nil {
			return fmt.Errorf("resolve: %w", err)
		}
	}
	return nil
}

// packs checks that every category of the packs' networks is in the label set, directly or as a pattern category that
// is mapped into it.
func (p *plan) packs() error {
	set, err := pipeline.Labels(p.Labels)
	if err != nil {
		return err
	}
	for _, pack := range p.Packs {
		for _, c := range pack.Categories() {
			to := c
			if !slices.Contains(set.Categories, c) {
				to = p.category[c]
			}
			if to == pipeline.None {
				return fmt.Errorf("a network finds %s, which is no category of the label set %s", c, p.Labels)
			}
			p.packAs[c] = to
		}
	}
	return nil
}

// vocabulary reads the lists of words.
func (p *plan) vocabulary() (err error) {
	if err = checkWords(p.Words); err == nil {
		p.words, err = newWordTable(p.Words)
	}
	return err
}

func (p *plan) patterns() error {
	for from, to := range p.Categories {
		c, err := pipeline.ParseCategory(from)
		if err != nil {
			return fmt.Errorf("categories: %w", err)
		}
		if to == "" {
			continue
		}
		if p.category[c], err = pipeline.ParseCategory(to); err != nil {
			return fmt.Errorf("categories: %s: %w", from, err)
		}
	}
	for name, score := range p.MinScore {
		c, err := pipeline.ParseCategory(name)
		if err != nil {
			return fmt.Errorf("min score: %w", err)
		}
		p.minScore[c] = score
	}
	return nil
}

// replaced switches off each rule for which a pack has a network of the same name.
func (p *plan) replaced() error {
	for _, pack := range p.Packs {
		for _, name := range pack.Networks() {
			if p.Rules[name] {
				p.Rules = maps.Clone(p.Rules)
				p.Rules[name] = false
			}
		}
	}
	return nil
}

func (p *plan) switches() error {
	for name := range p.Rules {
		if !slices.ContainsFunc(rules, func(r rule) bool { return r.name == name }) {
			return fmt.Errorf("unknown rule %q; known: %s", name, strings.Join(RuleNames(), ", "))
		}
	}
	for i, r := range rules {
		if p.Rules[r.name] {
			p.rules[r.phase] = append(p.rules[r.phase], i)
		}
	}
	return nil
}

func (p *plan) mark(table []bool, names []string) error {
	for _, name := range names {
		c, err := pipeline.ParseCategory(name)
		if err != nil {
			return fmt.Errorf("repeat: %w", err)
		}
		table[c] = true
	}
	return nil
}

func (p *plan) lists() error {
	for i, e := range p.Always {
		c, err := pipeline.ParseCategory(e.Category)
		if err != nil {
			return fmt.Errorf("always list, entry %d: %w", i+1, err)
		}
		if !p.always.add(p.words.phrase(e.Phrase), int32(i)) {
			return fmt.Errorf("always list, entry %d: no word, or more than %d letters", i+1, longestPhrase)
		}
		p.alwaysAs = append(p.alwaysAs, c)
	}
	for i, e := range p.Never {
		if !p.never.add(p.words.phrase(e), int32(i)) {
			return fmt.Errorf("never list, entry %d: no word, or more than %d letters", i+1, longestPhrase)
		}
	}
	return nil
}

// categories are the ones that rules write, None where the label set does not
// have them.
type categories struct {
	person    [3]pipeline.Category // patient, staff, kin; one of them in schemes with one PERSON
	place     pipeline.Category    // towns, postal codes
	date      pipeline.Category
	sex       pipeline.Category
	patientID pipeline.Category
}

func categoriesOf(set *pipeline.LabelSet) categories {
	return categories{
		person: [3]pipeline.Category{
			set.First("PERSON", "NOMBRE_SUJETO_ASISTENCIA", "PATIENT", "PER"),
			set.First("PERSON", "NOMBRE_PERSONAL_SANITARIO", "DOCTOR", "PER"),
			set.First("PERSON", "FAMILIARES_SUJETO_ASISTENCIA", "PATIENT", "PER"),
		},
		place:     set.First("LOCATION", "TERRITORIO", "CITY", "LOC"),
		date:      set.First("DATE", "FECHAS"),
		sex:       set.First("SEXO_SUJETO_ASISTENCIA"),
		patientID: set.First("ID_SUJETO_ASISTENCIA", "MEDICALRECORD"),
	}
}
