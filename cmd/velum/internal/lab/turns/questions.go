package turns

import (
	"errors"
	"os"
)

// Questions is the content of asked.json: which notes a person was asked about, and why. It holds no text of the notes.
type Questions struct {
	Schema string     `json:"schema"`
	Turn   int        `json:"turn"` // the turn whose model was uncertain
	From   int64      `json:"from"` // the slice of the archive
	To     int64      `json:"to"`
	Path   string     `json:"path,omitempty"` // where the notes went, if it is elsewhere
	Notes  []Question `json:"notes"`
}

// Question is one note that a person is asked to correct.
type Question struct {
	ID         string  `json:"id"`
	Confidence float64 `json:"confidence"`
	Why        string  `json:"why"`
	Category   string  `json:"category,omitempty"`
	Said       string  `json:"said,omitempty"` // hash of the spans that the model found in it
}

// Answers is the content of answers.json: counts of the answers that a person sent back. An answer is unchanged if its
// spans are those that were shown; then either all were right or nobody looked.
type Answers struct {
	Schema    string `json:"schema"`
	Notes     int    `json:"notes"`
	Unchanged int    `json:"unchanged"`
	Others    int    `json:"others"` // number of answers that nobody had asked for, and of repeated ids
}

const (
	AskedName     = "asked.json"
	AnswersName   = "answers.json"
	AskedSchema   = "velum.asked/1"
	AnswersSchema = "velum.answers/1"
)

// IDs returns the set of the ids of the notes.
func (q *Questions) IDs() map[string]bool {
	ids := map[string]bool{}
	for _, n := range q.Notes {
		ids[n.ID] = true
	}
	return ids
}

// Add adds the counts in the answers.json at path. A missing file, as of older versions, adds nothing.
func (a *Answers) Add(path string) error {
	var one Answers
	if _, err := Decode(path, AnswersSchema, &one); errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	a.Notes, a.Unchanged, a.Others = a.Notes+one.Notes, a.Unchanged+one.Unchanged, a.Others+one.Others
	return nil
}

// ReadQuestions reads asked.json; a missing file yields no questions.
func ReadQuestions(path string) (*Questions, error) {
	q := new(Questions)
	_, err := Decode(path, AskedSchema, q)
	if errors.Is(err, os.ErrNotExist) {
		err = nil // a turn that asked nothing
	}
	return q, err
}
