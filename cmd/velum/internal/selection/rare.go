package selection

import (
	"cmp"
	"context"
	"io"
	"math"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/models/release/rarity"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/tagged"
)

// rarePath is where the notes stand that single somebody out, below the private tree.
const rarePath = "rare/rare.jsonl"

// rareRow is a row of a part of what singles somebody out.
type rareRow struct {
	ID       string  `parquet:"note_id"`
	Row      int64   `parquet:"row"`
	Start    int32   `parquet:"start"`
	End      int32   `parquet:"end"`
	Category string  `parquet:"category"`
	Score    float32 `parquet:"score"`
	Phrase   int64   `parquet:"phrase"`
	Person   int64   `parquet:"person"`
}

// rareNote is a note with such words, and a line of the file: the worst first.
type rareNote struct {
	ID      string        `json:"note_id"`
	Unit    string        `json:"unit"`
	Row     int64         `json:"row"`
	Score   float64       `json:"score"`         // of one person in 10^(10 × score) all of it is true
	Patient float64       `json:"patient_score"` // the same of all notes of its patient
	Spans   []sampledSpan `json:"spans"`

	person  int64
	phrases []int64
	public  []float32
}

// Rare lists the notes that single somebody out, by what all units have of their words, and says how many there are. Memory grows
// with these notes: some 300 bytes each.
func Rare(ctx context.Context, c *option.Config, f *commit.Final) (*report.Rare, error) {
	notes, counts := []*rareNote(nil), rarity.Counts{}
	for _, u := range f.Manifest.Units {
		for _, p := range u.Parts {
			if p.Kind != "rare" {
				continue
			}
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			file, err := f.Open(p)
			if err != nil {
				return nil, err
			}
			err = tagged.RowsIn(p.Path, io.NewSectionReader(file, 0, p.Bytes), func(r rareRow) error {
				if len(notes) == 0 || notes[len(notes)-1].Row != r.Row || notes[len(notes)-1].Unit != u.Name {
					notes = append(notes, &rareNote{ID: r.ID, Unit: u.Name, Row: r.Row, person: r.Person})
				}
				n := notes[len(notes)-1]
				n.Spans = append(n.Spans, sampledSpan{r.Start, r.End, r.Category, ""})
				n.phrases, n.public = append(n.phrases, r.Phrase), append(n.public, r.Score)
				counts.Add(uint64(r.Phrase), uint64(r.Person))
				return nil
			})
			if err := cmp.Or(err, file.Close()); err != nil {
				return nil, err
			}
		}
	}
	return judgeRare(c, f, notes, counts)
}

// judgeRare gives the notes and patients their scores, and writes the worst.
func judgeRare(c *option.Config, f *commit.Final, notes []*rareNote, counts rarity.Counts) (*report.Rare, error) {
	said := map[int64]map[int64]float64{} // by person and phrase
	for _, n := range notes {
		of := map[int64]float64{}
		if said[n.person] == nil {
			said[n.person] = map[int64]float64{}
		}
		for k, phrase := range n.phrases {
			of[phrase] = counts.Score(uint64(phrase), n.public[k], f.Manifest.Counts.Masked)
			said[n.person][phrase] = of[phrase]
		}
		n.Score = sumOf(of)
	}
	alone, r := rarity.Alone(c.Anonymity.K), &report.Rare{Notes: int64(len(notes)), K: max(c.Anonymity.K, 1)}
	for _, all := range said {
		if sumOf(all) >= alone {
			r.People++
		}
	}
	for _, n := range notes {
		if n.Patient = sumOf(said[n.person]); n.Score >= alone {
			r.Alone++
		}
	}
	slices.SortStableFunc(notes, func(a, b *rareNote) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Patient, a.Patient))
	})
	var lines []any
	for _, n := range notes[:min(len(notes), listedRare)] {
		lines = append(lines, n)
	}
	r.Listed = int64(len(lines))
	return r, writeLines(f, "rare", rarePath, lines...)
}

// listedRare is how many notes are listed: of a month more than people read, and 5 % of an archive of 100,000.
const listedRare = 5000

// sumOf adds up the scores of phrases, to four digits.
func sumOf(of map[int64]float64) (sum float64) {
	for _, score := range of {
		sum += math.Round(score * 1e4)
	}
	return sum / 1e4
}
