package selection

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/models/release/rarity"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/tagged"
)

// rarePath is where the notes stand that single somebody out, below the private tree.
const rarePath = "rare/rare.jsonl"

// rareRow is a row of a part with identifying facts.
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
	ID      string     `json:"note_id"`
	Unit    string     `json:"unit"`
	Row     int64      `json:"row"`
	Score   float64    `json:"score"`         // of one person in 10^(10 × score) all of it is true
	Patient float64    `json:"patient_score"` // the same of all notes of its patient
	Spans   []rareSpan `json:"spans"`

	person int64
	said   map[int64]float64 // by phrase
}

type rareSpan struct {
	Start    int32  `json:"start"`
	End      int32  `json:"end"`
	Category string `json:"category"`
	Place    uint64 `json:"place"` // hash of where it stands in the archive: what a reader lets stand is known by it
}

// rareList makes the list in passes over the parts of all units.
type rareList struct {
	ctx    context.Context
	final  *commit.Final
	stand  map[uint64]bool // places that a reader lets stand
	alone  float64
	counts rarity.Counts
	notes  []*rareNote // of the people of a pass
	worst  []*rareNote // of the passes until now, listedRare at the most
	report report.Rare
}

const (
	// listedRare is how many notes are listed: of a month more than people read, and 5 % of an archive of 100,000.
	listedRare = 5000
	// rowsAtOnce is how many rows a pass keeps: some 150 bytes each.
	rowsAtOnce = 1 << 19
)

// Rare counts and lists the notes that single a person out by rare facts, judged over the words of all units. stand
// holds places that a person has read and accepted; they do not count. A first pass counts phrases over the archive;
// each further pass judges a share of the people with all their notes, so that memory does not grow with the archive.
func Rare(ctx context.Context, c *option.Config, f *commit.Final, stand map[uint64]bool) (*report.Rare, error) {
	l := &rareList{ctx: ctx, final: f, stand: stand, alone: rarity.Alone(c.Anonymity.K), counts: rarity.Counts{}}
	l.report.K = max(c.Anonymity.K, 1)
	rows := uint64(0)
	err := l.each(func(_ *commit.UnitRecord, r *rareRow) {
		l.counts.Add(uint64(r.Phrase), uint64(r.Person))
		rows++
	})
	passes := rows/rowsAtOnce + 1
	for pass := uint64(0); pass < passes && err == nil; pass++ {
		l.notes = nil
		err = l.each(func(u *commit.UnitRecord, r *rareRow) {
			if uint64(r.Person)%passes == pass {
				l.add(u, r)
			}
		})
		l.judge()
	}
	if err != nil {
		return nil, err
	}
	l.report.Listed = int64(len(l.worst))
	return &l.report, writeLines(f, "rare", rarePath, l.worst...)
}

// each reads the rows of all units in order.
func (l *rareList) each(do func(u *commit.UnitRecord, r *rareRow)) error {
	for u, p := range tagged.Parts(l.final.Manifest, "rare") {
		if l.ctx.Err() != nil {
			return context.Cause(l.ctx)
		}
		err := tagged.RowsFrom(l.final, p, func(r rareRow) error {
			do(u, &r)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// add takes up a row, unless a reader lets it stand.
func (l *rareList) add(u *commit.UnitRecord, r *rareRow) {
	file, row := u.File(r.Row)
	place := xxh3.HashString(fmt.Sprintf("%s %d %d %d %d", file.SHA256, file.From, row, r.Start, r.End))
	if l.stand[place] {
		return
	}
	if len(l.notes) == 0 || l.notes[len(l.notes)-1].Row != r.Row || l.notes[len(l.notes)-1].Unit != u.Name {
		l.notes = append(l.notes, &rareNote{ID: r.ID, Unit: u.Name, Row: r.Row, person: r.Person, said: map[int64]float64{}})
	}
	n := l.notes[len(l.notes)-1]
	n.Spans = append(n.Spans, rareSpan{r.Start, r.End, r.Category, place})
	n.said[r.Phrase] = max(n.said[r.Phrase], l.counts.Score(uint64(r.Phrase), r.Score, l.final.Manifest.Counts.Masked))
}

// judge computes the scores of the notes in a pass and of their patients, and keeps the highest.
func (l *rareList) judge() {
	said := map[int64]map[int64]float64{} // by person and phrase
	for _, n := range l.notes {
		if said[n.person] == nil {
			said[n.person] = map[int64]float64{}
		}
		for phrase, score := range n.said {
			said[n.person][phrase] = max(said[n.person][phrase], score)
		}
	}
	for _, all := range said {
		if sumOf(all) >= l.alone {
			l.report.People++
		}
	}
	for _, n := range l.notes {
		n.Patient = sumOf(said[n.person])
		if n.Score = sumOf(n.said); n.Score >= l.alone {
			l.report.Alone++
		}
	}
	l.report.Notes += int64(len(l.notes))
	l.worst = append(l.worst, l.notes...)
	slices.SortStableFunc(l.worst, func(a, b *rareNote) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Patient, a.Patient), cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.Row, b.Row))
	})
	l.worst = l.worst[:min(len(l.worst), listedRare)]
}

// sumOf adds up the scores of phrases, to four digits.
func sumOf(of map[int64]float64) (sum float64) {
	for _, score := range of {
		sum += math.Round(score * 1e4)
	}
	return sum / 1e4
}
