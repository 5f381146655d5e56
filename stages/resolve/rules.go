package resolve

import (
	"bytes"

	"github.com/velum-health/velum/pipeline"
)

// phase says at which point of resolving a rule runs, and so what it can change.
type phase uint8

const (
	onModel phase = iota // corrects the model's spans in w.cands
	onText               // proposes candidates
	onSpans              // corrects the disjoint spans in w.spans
	phases
)

// rule is one correction of the candidates that can be switched on and off. do returns how often it changed something.
type rule struct {
	name  string
	on    string // label sets in which Defaults switches it on
	phase phase
	needs class // it can do nothing in a note without such a word; 0: any note
	do    func(w *worker) int
}

// rules in the order in which they run.
var rules = []rule{
	{"titles", "meddocan primary-care", onModel, title | shortTitle, (*worker).stripTitles},
	{"script", "meddocan primary-care", onText, 0, (*worker).findScripts},
	{"initials", "primary-care", onText, 0, (*worker).findInitials},
	{"initials-beside", "primary-care", onSpans, 0, (*worker).joinInitials},
	{"house-number", "primary-care", onSpans, 0, (*worker).joinNumbers},
	{"date-borders", "primary-care", onSpans, 0, (*worker).endDates},
	{"trait", "meddocan", onSpans, trait, (*worker).findTraits},
}

// RuleNames returns the names that Options.Rules may disable, in the order of Tally.Rules.
func RuleNames() []string {
	names := make([]string, len(rules))
	for i, r := range rules {
		names[i] = r.name
	}
	return names
}

func (w *worker) run(p phase) {
	for _, i := range w.plan.rules[p] {
		if rules[i].needs != 0 {
			w.cutWords()
		}
		if r := &rules[i]; r.needs == 0 || w.seen&r.needs != 0 {
			if n := r.do(w); n > 0 {
				w.counts.Rules[i] += int64(n)
				w.traced(r.name, p != onSpans)
			}
		}
	}
}

// stripTitles takes Dr., Sra. and the like off the front of the model's names,
// and drops what is only a title.
func (w *worker) stripTitles() int {
	n := 0
	kept := w.cands[:0]
	for _, c := range w.cands {
		if w.isPerson(c.Category) {
			i, j := w.wordsIn(c.Start, c.End)
			first := i
			for i < j && w.titleAt(i) {
				i++
			}
			if i > first {
				n++
				if i == j {
					continue
				}
				c.Start = w.words[i].start
			}
		}
		kept = append(kept, c)
	}
	w.cands = kept
	return n
}

func (w *worker) isPerson(c pipeline.Category) bool {
	return c != pipeline.None && (c == w.labels.person[0] || c == w.labels.person[1] || c == w.labels.person[2])
}

// titleAt tells whether word k is a title that belongs to what follows: a
// full title, or D. and Dña. in short with their mark.
func (w *worker) titleAt(k int) bool {
	x := &w.words[k]
	if x.class&(title|shortTitle) == 0 || k+1 < len(w.words) && !w.linked(k, true) {
		return false
	}
	if x.class&title != 0 {
		return true
	}
	return x.is(capital) && (w.byteAt(x.end) == '.' || bytes.HasSuffix(w.text[x.start:x.end], []byte("ª")))
}

// byteAt returns the byte at an offset, 0 outside the text.
func (w *worker) byteAt(at int32) byte {
	if at < 0 || int(at) >= len(w.text) {
		return 0
	}
	return w.text[at]
}

// linked tells whether word k+1 follows word k on the same line with nothing
// but spaces between, or also a full stop or colon where dots are allowed.
func (w *worker) linked(k int, dots bool) bool {
	if w.words[k+1].is(lineStart) {
		return false
	}
	for _, c := range w.text[w.words[k].end:w.words[k+1].start] {
		if c != ' ' && c != '\t' && !(dots && (c == '.' || c == ':')) {
			return false
		}
	}
	return true
}

// touch tells whether word k+1 follows word k with nothing but spaces.
func (w *worker) touch(k int) bool { return w.linked(k, false) }

// findTraits gives a word for the people, colour or leaning of the patient the
// category that MEDDOCAN has for what else identifies them, where it stands
// directly behind them, "mujer blanca", or behind its label, "de nacionalidad
// alemana". The tagger takes it for the sex, or for nothing.
func (w *worker) findTraits() int {
	n, found := 0, len(w.spans)
	c := w.labels.patientID
	if c == pipeline.None || w.labels.sex == pipeline.None {
		return 0
	}
	s := 0
	for k := 1; k < len(w.words); k++ {
		x := &w.words[k]
		if x.class&trait == 0 || !w.touch(k-1) || w.words[k-1].class&(sexed|patient|traitLabel) == 0 {
			continue
		}
		for s < found && w.spans[s].End <= x.start {
			s++
		}
		switch {
		case s < found && w.spans[s].Start == x.start && w.spans[s].End == x.end && w.spans[s].Category == w.labels.sex:
			w.spans[s].Category = c
		case s < found && w.spans[s].Start < x.end:
			continue
		default:
			w.spans = append(w.spans, pipeline.Span{Start: x.start, End: x.end, Category: c, Source: pipeline.FromRule, Score: ruleScore})
		}
		n++
	}
	if len(w.spans) > found {
		sortSpans(w.spans)
	}
	return n
}
