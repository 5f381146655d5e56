package restore

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
)

// threeNotes is a unit of three notes, of which the second is set aside; the others are documents that have been masked.
type threeNotes struct {
	docs [3]string
	done bool
}

func (s *threeNotes) Next(b *pipeline.Batch) error {
	if s.done {
		return io.EOF
	}
	s.done = true
	from := pipeline.Column{Name: "doc", Kind: pipeline.BytesColumn}
	for i, doc := range s.docs {
		b.ID.Append(nil)
		b.Text.Append(nil)
		b.Reason = append(b.Reason, pipeline.Sound)
		if i == 1 {
			b.Reason[i] = pipeline.BadRow
		}
		from.Bytes.Append([]byte(doc))
		from.Valid = append(from.Valid, doc != "")
	}
	b.Extra = append(b.Extra, from)
	return nil
}

type nothing struct{}

func (nothing) Put(*pipeline.Batch) error { return nil }
func (nothing) Close() (commit.Counts, error) {
	return commit.Counts{Rows: 3, Masked: 2, Quarantined: 1, Reasons: map[string]int64{pipeline.BadRow.String(): 1}}, nil
}

// TestSink: the documents of a unit stand in one part, each with its end, and those of notes that are set aside do not.
func TestSink(t *testing.T) {
	masked := strings.ReplaceAll(resource, "Ada Pou", "[PERSON]")
	written := func(column string, docs [3]string) (string, *commit.Result, error) {
		dir := filepath.Join(t.TempDir(), "out")
		plan := &commit.Plan{Units: []commit.Unit{{Input: "a.ndjson", To: 1, Rows: 3}}}
		r, err := commit.RunUnits(t.Context(), plan, commit.Output{Dir: dir}, func(_ int, _ *commit.Unit, parts *commit.Parts) (commit.Line, error) {
			return commit.Line{Source: &threeNotes{docs: docs}, Sink: NewSink(nothing{}, parts, column)}, nil
		}, commit.UnitOptions{})
		if err != nil {
			return "", r, err
		}
		all := ""
		for _, p := range r.Manifest.Units[0].Parts {
			data, err := os.ReadFile(filepath.Join(dir, p.Path))
			if err != nil || p.Kind != "documents" || p.Private {
				t.Errorf("%+v, %v", p, err)
			}
			all += string(data)
		}
		return all, r, nil
	}
	got, r, err := written("doc", [3]string{masked, "secret", masked + "\n"})
	if err != nil || got != masked+"\n"+masked+"\n" || len(r.Manifest.Units[0].Parts) != 1 || r.Manifest.Units[0].Parts[0].Rows != 2 {
		t.Errorf("%q, %+v, %v", got, r, err)
	}
	for what, c := range map[string]struct {
		column string
		docs   [3]string
		says   string
	}{
		"no such column": {"other", [3]string{masked, "", masked}, "has no masked document of note 0; a stage is missing"},
		"one is missing": {"doc", [3]string{masked, "", ""}, "has no masked document of note 2; a stage is missing"},
	} {
		if _, _, err := written(c.column, c.docs); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
