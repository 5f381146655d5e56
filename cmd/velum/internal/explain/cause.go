package explain

import (
	"math"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/page"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/mask"
)

// Cause is one reason for which a word is masked or is not.
type Cause struct {
	Code     string  `json:"code"` // below
	Category string  `json:"category,omitempty"`
	By       string  `json:"by,omitempty"` // step, pattern, list, option or reason
	Value    float64 `json:"value,omitempty"`
	Bound    float64 `json:"bound,omitempty"`
	Says     string  `json:"says"` // the same as a sentence
}

// The causes. A masked word has the first one; a word that is not masked has one or more of the others.
const (
	causeMasked   = "masked"    // it is in a span of By
	causeAside    = "set aside" // the note does not leave
	causeKept     = "kept"      // it is in a span, and the policy keeps its category
	causeTaken    = "taken"     // somebody found it, and step By took it away
	causeBelow    = "below"     // a pattern's match is under its smallest score
	causeHint     = "hint"      // a pattern only hints at it
	causeOff      = "off"       // a pattern that is switched off would find it
	causeDoubt    = "doubt"     // the tagger was in doubt
	causeDial     = "dial"      // and with the recall dial at Bound it would be masked, by its own odds
	causeSure     = "sure"      // the tagger was sure that it is nothing
	causeLetIn    = "let in"    // the inverse model let it in by list By
	causeUnlisted = "unlisted"  // no list of names or places knows it
)

// inDoubt is the probability of a personal category from which on the tagger counts as unsure. Each line below the
// threshold of the cascade has at least one such word.
const inDoubt = 0.05

// says formats a cause as a sentence in a language.
func (c *Cause) says(l page.Language) string {
	switch c.Code {
	case causeMasked:
		return l.Text("explain masked", c.By, c.Category, l.Number(c.Value, 3))
	case causeAside:
		return l.Text("explain aside", c.By)
	case causeKept:
		return l.Text("explain kept", c.Category)
	case causeTaken:
		return l.Text("explain taken", c.Category, c.By)
	case causeBelow:
		return l.Text("explain below", c.By, l.Number(c.Value, 2), l.Number(c.Bound, 2))
	case causeHint:
		return l.Text("explain hint", c.Category)
	case causeOff:
		return l.Text("explain off", c.By)
	case causeDoubt:
		return l.Text("explain doubt", c.Category, l.Number(c.Value, 4))
	case causeDial:
		return l.Text("explain dial", l.Number(c.Bound, 3))
	case causeSure:
		return l.Text("explain sure", c.Category, l.Number(c.Value, 4))
	case causeLetIn:
		return l.Text("explain let in", c.By, l.Number(c.Value, 3))
	}
	return l.Text("explain unlisted")
}

// chainsKeep returns for every category whether the policy leaves its values readable.
func chainsKeep(chains []*mask.Chain) []bool {
	keeps := make([]bool, len(chains))
	for c, chain := range chains {
		keeps[c] = chain != nil && chain.Keeps()
	}
	return keeps
}

// causes fills in why each word is masked or is not.
func (e *explaining) causes(w *Word, v *believed, keeps []bool) {
	say := func(c Cause) {
		c.Says = c.says(0)
		w.Why = append(w.Why, c)
	}
	if e.said.Status != "masked" {
		say(Cause{Code: causeAside, By: e.said.Status})
	}
	for _, s := range e.said.Spans {
		if !over(s, w) {
			continue
		}
		c, _ := pipeline.ParseCategory(s.Category)
		if keeps[c] {
			w.Masked = false
			say(Cause{Code: causeKept, Category: s.Category})
		} else {
			say(Cause{Code: causeMasked, By: s.Source, Category: s.Category, Value: float64(s.Score)})
		}
		return
	}
	for _, step := range e.said.Steps {
		for _, s := range step.Removed {
			if over(s, w) && (step.Name != "merge" || !slices.ContainsFunc(step.Added, func(s Span) bool { return over(s, w) })) {
				say(Cause{Code: causeTaken, Category: s.Category, By: step.Name})
			}
		}
	}
	e.byPatterns(w, say)
	e.byTagger(w, v, say)
}

func over(s Span, w *Word) bool { return s.Start < w.End && w.Start < s.End }

// byPatterns returns why no pattern has masked a word.
func (e *explaining) byPatterns(w *Word, say func(Cause)) {
	for _, p := range w.Patterns {
		least := float64(e.least[p.Category])
		switch {
		case p.Off:
			say(Cause{Code: causeOff, By: p.Category})
		case p.Score == pipeline.HintScore:
			say(Cause{Code: causeHint, Category: p.Category})
		case !p.Checked && float64(p.Score) < least:
			say(Cause{Code: causeBelow, By: p.Category, Value: float64(p.Score), Bound: least})
		}
	}
}

// byTagger returns the reasons given by the tagger's probabilities.
func (e *explaining) byTagger(w *Word, v *believed, say func(Cause)) {
	category := w.Rival[strings.IndexByte(w.Rival, '-')+1:]
	if w.Says != nil && w.Tag == "O" {
		personal := 1 - float64(w.Says.Tag)
		if personal < inDoubt {
			say(Cause{Code: causeSure, Category: category, Value: float64(w.Says.Rival)})
		} else {
			say(Cause{Code: causeDoubt, Category: category, Value: float64(w.Says.Rival)})
		}
		need := math.Log(float64(w.Says.Tag)/float64(max(w.Says.Rival, 1e-30))) - float64(v.bias)
		for _, at := range e.Model.Header().RecallDial {
			if float64(at.Bias) >= need && at.Bias > e.Model.Label.OBias && at.Precision >= flow.PrecisionFloor {
				say(Cause{Code: causeDial, Bound: at.Recall})
				break
			}
		}
	}
	if !w.named {
		say(Cause{Code: causeUnlisted})
	}
	for _, m := range w.Members {
		if m.List != "" && m.Says != nil {
			say(Cause{Code: causeLetIn, By: m.List, Value: float64(m.Says.Tag)})
			return
		}
	}
}
