// Package turns defines the records that self-learning keeps: turn.json of each turn, and the report of all turns. It
// reads and compares records; it does not train or read notes.
package turns

import (
	"fmt"

	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/stages/score"
)

// Turn is the content of turn.json. It depends on options and input alone, and holds no time and no name of a machine.
type Turn struct {
	Schema  string `json:"schema"`
	Number  int    `json:"turn"`
	Options string `json:"options"`          // hash of the options that shaped the turn
	Parent  string `json:"parent,omitempty"` // SHA-256 of the turn.json before

	Template  string            `json:"template,omitempty"`    // name; empty for a model that was given
	Answers   int               `json:"answer_sets,omitempty"` // number of a person's answers that the model was trained on
	Slice     Slice             `json:"slice"`
	Selection *report.Selection `json:"selection,omitempty"`
	Groups    []Group           `json:"groups"` // notes of the archive that joined the training set
	Dropped   []int             `json:"dropped,omitempty"`
	Training  Training          `json:"training"`

	Validation Scores   `json:"validation"`
	Base       *Base    `json:"base,omitempty"`  // what the gate protects, where people have answered since the model in use
	Folds      []string `json:"folds,omitempty"` // SHA-256 of the turn of each fold, whose models were judged

	Files []File `json:"files"`

	Judgment

	Sum string `json:"-"` // SHA-256 of turn.json
}

// Slice describes the part of the archive that a turn has tagged.
type Slice struct {
	From       int64        `json:"from"` // number of the first note in the archive
	To         int64        `json:"to"`
	Notes      int64        `json:"notes"` // (or lines) that were tagged
	Unsound    int64        `json:"unsound,omitempty"`
	Known      int64        `json:"known,omitempty"`        // number left out because they were labelled, asked about or taken before
	Missed     int64        `json:"missed_words,omitempty"` // of those tagged, left out because a word that is mostly in spans is in none
	Damaged    []int        `json:"damaged_units,omitempty"`
	Confidence []report.Bin `json:"confidence"` // of those with spans
}

// Group is a file of notes of the archive that one turn added to the training set.
type Group struct {
	Turn  int    `json:"turn"`
	File  string `json:"file"` // below the folder of learning
	Notes int    `json:"notes"`
}

// Base is a second candidate for use with its scores. It was trained on the training set of the model in use plus the
// answers since then. It goes into use if the model of the turn does not, so that no answer is lost.
type Base struct {
	Of       int      `json:"of"`   // number of the turn that was in use when it was trained
	File     string   `json:"file"` // in the folder of the turn
	Groups   []Group  `json:"groups"`
	Training Training `json:"training"`
}

// Training describes the notes that a model was trained on, and the size of the model.
type Training struct {
	Gold    int `json:"gold"` // notes
	Answers int `json:"answers,omitempty"`
	Chosen  int `json:"chosen"` // notes or lines
	Tokens  int `json:"tokens"`
	Spans   int `json:"spans"`

	Iterations int `json:"iterations"`
	Features   int `json:"features"`
	Weights    int `json:"weights"`
}

// Scores holds the measures of a model on a set of labelled notes.
type Scores struct {
	Notes      int             `json:"notes"`
	Strict     Ratio           `json:"strict"`
	Span       Ratio           `json:"span"`
	Masked     Ratio           `json:"masked_entities"`
	F1Ends     *[2]float64     `json:"strict_f1_interval,omitempty"`     // 95 %
	MaskedEnds *[2]float64     `json:"masked_recall_interval,omitempty"` // 95 %
	Categories []CategoryScore `json:"categories"`
}

// Ratio holds precision, recall and F1 of one measure.
type Ratio struct {
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
}

// CategoryScore holds the measures of one category.
type CategoryScore struct {
	Category string `json:"category"`
	Gold     int64  `json:"gold"`
	Ratio
	MaskedRecall float64 `json:"masked_recall"`
}

// File describes a file of a turn: name, size and SHA-256.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// F1 returns the strict F1 on the validation notes.
func (t *Turn) F1() float64 { return t.Validation.Strict.F1 }

// ModelName is the file name of the model that a turn trained.
const ModelName = "model.velum"

// InUse reports whether a model of the turn went into use.
func (t *Turn) InUse() bool { return t.Promoted || t.Protected() }

// Protected reports whether the turn's model was compared with Base, which was trained on the data of the model in use.
func (t *Turn) Protected() bool { return t.Base != nil && t.Base.Of == t.Beside }

// Ships returns the model of the turn that went into use: Base, or the turn's own.
func (t *Turn) Ships() *Base {
	if t.Protected() && !t.Promoted {
		return t.Base
	}
	return &Base{t.Number, ModelName, t.Groups, t.Training}
}

// Name returns the folder name of the turn.
func (t *Turn) Name() string { return Folder(t.Number) }

// Folder returns the folder name of turn n.
func Folder(n int) string { return fmt.Sprintf("turn-%02d", n) }

// ScoresOf returns the measures of a score report by which a turn is judged.
func ScoresOf(r *score.Report) Scores {
	at := func(m score.Measure) Ratio {
		x, _ := r.Measure(m)
		return Ratio{report.Rounded(x.Precision), report.Rounded(x.Recall), report.Rounded(x.F1)}
	}
	s := Scores{Notes: r.Notes, Strict: at(score.Strict), Span: at(score.Span), Masked: at(score.MaskedEntities)}
	if f1, _ := r.Measure(score.Strict); f1.Interval != nil {
		masked, _ := r.Measure(score.MaskedEntities)
		s.F1Ends, s.MaskedEnds = new(report.RoundedEnds(f1.Interval.F1)), new(report.RoundedEnds(masked.Sure()))
	}
	for _, c := range r.Categories {
		s.Categories = append(s.Categories, CategoryScore{c.Category, c.Gold,
			Ratio{report.Rounded(c.Precision), report.Rounded(c.Recall), report.Rounded(c.F1)}, report.Rounded(c.MaskedRecall)})
	}
	return s
}
