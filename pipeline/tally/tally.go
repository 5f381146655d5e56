// Package tally holds named counts of notes beside their outcome: spans by category, languages, confidences, uses of
// rules. Stages and verbs write the counts under the names defined here, units carry them, manifests store them, and
// reports and metrics read them. No other package spells the names.
package tally

import (
	"fmt"
	"math"
	"strings"
)

// Counts maps names, such as "category/PERSON", to counts. In JSON it is an object; the names are part of the format of
// manifests.
type Counts map[string]int64

// Of is the kind of thing that is counted: the first part of a count's name.
type Of string

// The kinds of things that are counted.
const (
	Category   Of = "category"         // masked spans, by category
	Source     Of = "source"           // by who found them
	Span       Of = "span"             // by category and source, see Pair
	Language   Of = "language"         // masked notes
	Confidence Of = "confidence"       // masked notes, by BinName
	Doubt      Of = "doubt"            // masked notes, by bin of models/tag/calibrate
	DoubtBy    Of = "doubt_by"         // the same of some of the notes: see ByLanguage, ByCenter
	Words      Of = "words"            // of masked notes, that were looked at for their language; has no second part
	Unknown    Of = "unknown_words"    // of these, those that are in no available language; has no second part
	Foreign    Of = "foreign"          // masked notes in another language; has no second part
	Chosen     Of = "chosen"           // notes, by what they were chosen for
	WithSpans  Of = "notes_with_spans" // notes; has no second part
	Empty      Of = "empty"            // masked notes without text; has no second part
	Rule       Of = "rule"             // uses, by name
	Always     Of = "always"           // uses of an entry, by its number in the configuration
	Never      Of = "never"            // the same
	NeverList  Of = "never_list"       // uses of a built-in list, by name
	Operator   Of = "operator"         // uses, by category and operator
	LowScore   Of = "low_score"        // matches below the least score of their category; has no second part

	Calendar Of = "calendar" // of words that fix a date, where dates move: see CalendarHidden

)

// Second parts of the names under Calendar.
const (
	CalendarHidden  = "hidden"  // words and phrases that were hidden
	CalendarNotes   = "notes"   // that had one
	CalendarKeeping = "keeping" // notes that keep a word which may be one
)

// Second parts of Order.
const ()

// Prefixes of the names under DoubtBy; the name of the part and the bin follow.
const (
	ByLanguage = "language/"
	ByCenter   = "center/"
)

func (of Of) key(name string) string {
	if name == "" {
		return string(of)
	}
	return string(of) + "/" + name
}

// Pair returns the second part of the name for spans of a category and a source.
func Pair(category, source string) string { return category + "/" + source }

// Note adds n to a count; it does nothing if n is 0.
func (c *Counts) Note(of Of, name string, n int64) {
	if n <= 0 {
		return
	}
	if *c == nil {
		*c = Counts{}
	}
	(*c)[of.key(name)] += n
}

// NoteSpans adds n spans of a category and a source.
func (c *Counts) NoteSpans(category, source string, n int64) {
	c.Note(Category, category, n)
	c.Note(Source, source, n)
	c.Note(Span, Pair(category, source), n)
}

// Get returns a count.
func (c Counts) Get(of Of, name string) int64 { return c[of.key(name)] }

// By returns the counts of one kind by the second part of their names.
func (c Counts) By(of Of) map[string]int64 {
	some := map[string]int64{}
	for name, n := range c {
		if rest, ok := strings.CutPrefix(name, string(of)+"/"); ok {
			some[rest] = n
		}
	}
	return some
}

// Add adds all counts of d.
func (c *Counts) Add(d Counts) {
	if *c == nil && len(d) > 0 {
		*c = make(Counts, len(d))
	}
	for name, n := range d {
		(*c)[name] += n
	}
}

// Bins is the number of equal bins of confidence. With twenty bins, the least confidence for selection (C_min) is a
// border of one.
const Bins = 20

// Bin returns the bin of a confidence after rounding to 1e-4, so that the last bits of a kernel's result do not matter.
func Bin(confidence float32) int {
	if !(confidence > 0) {
		return 0
	}
	rounded := int(math.Floor(min(float64(confidence), 1)*10_000 + 0.5))
	return min(rounded*Bins/10_000, Bins-1)
}

// Bounds returns the range [from, to) of confidences in a bin.
func Bounds(bin int) (from, to float64) { return float64(bin) / Bins, float64(bin+1) / Bins }

// BinName returns the second part of the name of a bin: its lower bound.
func BinName(bin int) string {
	from, _ := Bounds(bin)
	return fmt.Sprintf("%.2f", from)
}
