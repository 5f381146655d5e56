package tagger

import (
	"fmt"
	"math"

	"github.com/velum-health/velum/models/tag/calibrate"
	"github.com/velum-health/velum/pipeline"
)

// Header describes a model. It is stored as JSON at the beginning of the model file.
type Header struct {
	Kind         string             `json:"kind"`
	Name         string             `json:"name,omitempty"`
	Scheme       string             `json:"scheme"`
	Categories   []string           `json:"categories"`
	Template     string             `json:"template,omitempty"`     // of features, if the kind has one
	Fingerprints map[string]string  `json:"fingerprints,omitempty"` // data, gazetteer, patterns...
	Resources    []Resource         `json:"resources,omitempty"`    // that the file holds, in the template's order
	Training     Training           `json:"training"`
	Languages    []string           `json:"languages,omitempty"` // that a tenth of the training notes or more are in; none: es and ca
	Scores       map[string]float64 `json:"scores,omitempty"`
	RecallDial   []DialPoint        `json:"recall_dial,omitempty"` // by rising recall
	Measured     *Measured          `json:"measured,omitempty"`    // scores and dial are those of real notes; nil: of others, or none
	Risk         *calibrate.Risk    `json:"risk,omitempty"`        // what its confidences are worth; nil: nobody knows
	Parent       string             `json:"parent,omitempty"`      // fingerprint of the model that this one was started from
}

// With returns h with the fields that are known only after training taken from made: name, scores, recall dial,
// measured notes, risk and parent.
func (h Header) With(made Header) Header {
	h.Name, h.Scores, h.RecallDial, h.Measured, h.Risk, h.Parent = made.Name, made.Scores, made.RecallDial, made.Measured, made.Risk,
		made.Parent
	return h
}

// Heard returns the languages in the training notes of the model.
func (h Header) Heard() (heard pipeline.Languages) {
	for _, code := range h.Languages {
		if l, known := pipeline.ParseLanguage(code); known {
			heard |= 1 << l
		}
	}
	return heard
}

// PatternsPrint is the key in Header.Fingerprints for the version of the patterns whose matches are features of the
// model; it runs only with a compatible version.
const PatternsPrint = "patterns"

// Resource describes a slot of the template whose content is stored in the model file: clusters, parts of speech,
// lemmas.
type Resource struct {
	Group   string `json:"group"`   // of the template
	Kind    string `json:"kind"`    // see features.Stored
	Section string `json:"section"` // of the file; groups of the same content share one
}

// Training describes how a model was trained; each kind fills in the fields that it knows.
type Training struct {
	Sequences  int     `json:"sequences"`
	Tokens     int     `json:"tokens"`
	Forms      int     `json:"forms"`
	Iterations int     `json:"iterations"` // or epochs: passes over the notes
	L1         float64 `json:"l1"`
	L2         float64 `json:"l2"`
	Cost       float64 `json:"cost,omitempty"` // C of an SVM
	MinCount   int     `json:"min_count"`
	Prune      float32 `json:"prune"`

	Spans      map[string]int `json:"spans,omitempty"`       // by category
	SpanTokens map[string]int `json:"span_tokens,omitempty"` // in spans of the category
}

// Measured holds the scores of a model on real notes that it has not seen. Generated notes always give better scores
// and do not count. The report shows it; the estimate of leaks rests on Header.Risk.
type Measured struct {
	On       string `json:"on"`   // name of the labelled notes
	Date     string `json:"date"` // 2026-11-22
	Notes    int64  `json:"notes"`
	Entities int64  `json:"entities"`

	DialPoint // of the model as it was trained, at no bias
}

// DialPoint is a setting of the recall dial: subtracting Bias from the score of tag O gave this masking recall and
// precision on held-out notes.
type DialPoint struct {
	Recall    float64    `json:"recall"` // share of the entities that are masked whole
	Bias      float32    `json:"bias"`
	Precision float64    `json:"precision"`                // share of the spans that touch an entity
	Interval  [2]float64 `json:"recall_interval,omitzero"` // 95 %, of Recall; if it was taken
}

// Bias returns the smallest bias with at least the given masking recall on the notes of the recall dial, and the recall
// and precision there. If the dial does not reach the recall, or only with a precision below floor, the error says what
// it does reach.
func (h *Header) Bias(recall, floor float64) (DialPoint, error) {
	best := 0.0
	for _, p := range h.RecallDial {
		switch {
		case p.Recall >= recall && p.Precision < floor:
			return DialPoint{},
				fmt.Errorf("the model's recall dial reaches %.4f with a precision of %.4f, below the floor of %v; with the floor kept, %.4f%s",
					p.Recall, p.Precision, floor, best, h.where())
		case p.Recall >= recall:
			return p, nil
		case p.Precision >= floor:
			best = math.Max(best, p.Recall)
		}
	}
	return DialPoint{}, fmt.Errorf("the model's recall dial goes up to %.4f%s", best, h.where())
}

// where says on which notes the dial was measured.
func (h *Header) where() string {
	if h.Measured == nil {
		return " (not measured on real notes)"
	}
	return fmt.Sprintf(" (measured on %s: %d notes, %d entities)", h.Measured.On, h.Measured.Notes, h.Measured.Entities)
}
