package turns

import (
	"encoding/json"
	"errors"
	"os"

	"github.com/velum-health/velum/pipeline/durable"
)

// Questions is asked.json: which notes a person was asked about, and why. It
// has no word of the notes.
type Questions struct {
	Schema string     `json:"schema"`
	Turn   int        `json:"turn"` // whose model was unsure
	From   int64      `json:"from"` // the slice of the archive
	To     int64      `json:"to"`
	Path   string     `json:"path,omitempty"` // where the notes went, if it is elsewhere
	Notes  []Question `json:"notes"`
}

// Question is a note that is asked about.
type Question struct {
	ID         string  `json:"id"`
	Confidence float64 `json:"confidence"`
	Why        string  `json:"why"`
	Category   string  `json:"category,omitempty"`
	Said       string  `json:"said,omitempty"` // digest of the places and labels that the model gave it
}

// Answers is answers.json: what a person sent back. An answer that has
// the places and labels that were asked is unchanged: all was right, or nobody
// has looked.
type Answers struct {
	Schema    string `json:"schema"`
	Notes     int    `json:"notes"`
	Unchanged int    `json:"unchanged"`
	Others    int    `json:"others"` // that nobody had asked about, and seconds of one id
}

const (
	AskedName     = "asked.json"
	AnswersName   = "answers.json"
	AskedSchema   = "velum.asked/1"
	AnswersSchema = "velum.answers/1"
)

// IDs are the notes.
func (q *Questions) IDs() map[string]bool {
	ids := map[string]bool{}
	for _, n := range q.Notes {
		ids[n.ID] = true
	}
	return ids
}

// File is the file's content.
func (q *Questions) File() ([]byte, error) {
	data, err := json.MarshalIndent(q, "", " ")
	return append(data, '\n'), err
}

// Add adds what a file of answers says of itself; older ones say nothing.
func (a *Answers) Add(path string) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var one Answers
	if json.Unmarshal(data, &one) != nil || one.Schema != AnswersSchema {
		return &durable.IntegrityError{Path: path, Cause: "is not a record of answers by this version of velum"}
	}
	a.Notes, a.Unchanged, a.Others = a.Notes+one.Notes, a.Unchanged+one.Unchanged, a.Others+one.Others
	return nil
}

// ReadQuestions reads asked.json; no file is no question.
func ReadQuestions(path string) (*Questions, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return &Questions{}, nil // a turn that asked nothing
	}
	if err != nil {
		return nil, err
	}
	q := new(Questions)
	if json.Unmarshal(data, q) != nil || q.Schema != AskedSchema {
		return nil, &durable.IntegrityError{Path: path, Cause: "is not a record of questions by this version of velum"}
	}
	return q, nil
}
