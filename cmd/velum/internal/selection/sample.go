package selection

import (
	"bufio"
	"cmp"
	"container/heap"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/models/tag/calibrate"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/read/tagged"
)

// auditSamplePath is where the sample stands, below the private tree.
const auditSamplePath = "audit/sample.jsonl"

// extentPath is where it stands which masked parts the sample was drawn of (audit.Extent).
const extentPath = "audit/extent.json"

// Drawn returns the extent (the masked parts) from which the sample in a private tree was drawn; an empty one if there
// is no sample.
func Drawn(private string) (e audit.Extent) {
	if data, err := os.ReadFile(filepath.Join(private, extentPath)); err != nil || json.Unmarshal(data, &e) != nil {
		return audit.Extent{} // which parts stand may be asked before there is a tree
	}
	return e
}

// maxSample bounds the memory of a sample. Nobody reads a million notes.
const maxSample = 1_000_000

// Sample says how many notes to draw: N notes from all alike, or, with Rate, as many as prove that at most this share
// of the notes still holds an identifier, stratified by confidence (report.PlanOf).
type Sample struct {
	N    int
	Rate float64
}

// ParseSample parses a number of notes ("598") or a rate ("0.5%"); "" means no sample.
func ParseSample(text string) (s Sample, err error) {
	if share, ok := strings.CutSuffix(text, "%"); ok {
		if s.Rate, err = strconv.ParseFloat(strings.TrimSpace(share), 64); err != nil || !(s.Rate >= 0.001 && s.Rate < 100) {
			return s, exit.Misconfiguredf("write the share that is to be shown, as 0.5%", "--audit: want 0.001%% to 100%%")
		}
		s.Rate /= 100
		return s, nil
	}
	if text == "" {
		return s, nil
	}
	if s.N, err = strconv.Atoi(text); err != nil || s.N < 0 || s.N > maxSample {
		return s, exit.Misconfiguredf("see `velum prove sample --help` for how many", "--audit: want 0 to %d notes, or a share as 0.5%%",
			maxSample)
	}
	return s, nil
}

// Wanted reports whether a sample is wanted at all.
func (s Sample) Wanted() bool { return s != Sample{} }

// String formats the sample in the form that ParseSample reads.
func (s Sample) String() string {
	if s.Rate > 0 {
		return strconv.FormatFloat(100*s.Rate, 'g', -1, 64) + "%"
	}
	return strconv.Itoa(s.N)
}

// Draw draws a random sample of masked notes for people to read, and writes which notes they are: id, unit, masked
// part, row in the input file, and the masked spans as byte offsets in the original note. It writes no text.
//
// Every masked note gets a pseudorandom number; the smallest numbers of each stratum are the sample. The numbers depend
// on the configuration, the model, the key and the units: the same run draws the same notes on any machine, and a
// person who prepares the input cannot choose them without running velum. Memory grows with the sample alone. The notes
// of a stratum are in the order of their numbers, so that the first k are a random sample of size k. The least sure
// notes come first. A centre with few or no notes in the sample gets some more at the end; they inform about that
// centre and count for no stratum.
//
// A sample stays until it is read, whatever runs follow. The next one is drawn from the parts that no reading covers.
func (s Sample) Draw(ctx context.Context, f *commit.Final, risk *calibrate.Risk, readings []audit.Recorded) error {
	extent := audit.ExtentOf(f.Manifest, func(part string) bool {
		return !slices.ContainsFunc(readings, func(r audit.Recorded) bool { return r.In(f.Manifest) && r.Has(part) })
	})
	kept, was, err := s.keep(f, risk, readings, len(extent.Parts) > 0)
	if kept || err != nil || !s.Wanted() {
		return err
	}
	if was != nil {
		extent = *was
	}
	drawn, err := drawSample(f, &extent, s.strata(f.Manifest, &extent, risk))
	if err != nil {
		return err
	}
	if err := findSample(ctx, f, drawn); err != nil {
		return err
	}
	return errors.Join(writeLines(f, "audit", auditSamplePath, drawn...), writeLines(f, "extent", extentPath, extent))
}

func writeLines[T any](f *commit.Final, kind, path string, lines ...T) error {
	part, err := f.Create(kind, path, true)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(part)
	to := json.NewEncoder(w)
	to.SetEscapeHTML(false)
	for _, line := range lines {
		if err := to.Encode(line); err != nil {
			return err
		}
	}
	part.Rows = int64(len(lines))
	return w.Flush()
}

// keep keeps the sample of the last commit if all its parts still exist and it has not been read, or if nothing else is
// left to read. If more notes of the same parts are wanted, it returns their extent.
func (s Sample) keep(f *commit.Final, risk *calibrate.Risk, readings []audit.Recorded, unread bool) (kept bool, of *audit.Extent,
	err error) {
	var sample, extent *commit.PartRecord
	for i := range f.Before {
		switch p := &f.Before[i]; p.Kind {
		case "audit":
			sample = p
		case "extent":
			extent = p
		}
	}
	if sample == nil || extent == nil {
		return false, nil, nil
	}
	data, err := f.Read(*extent)
	if _, changed := errors.AsType[*durable.IntegrityError](err); changed {
		return false, nil, nil
	}
	if of = new(audit.Extent); err != nil || json.Unmarshal(data, of) != nil || !of.In(f.Manifest) {
		return false, nil, err
	}
	read := slices.ContainsFunc(readings, func(r audit.Recorded) bool { return r.Sample == sample.SHA256 })
	switch {
	case read && unread:
		return false, nil, nil
	case s.Wanted():
		more := -sample.Rows
		for _, x := range s.strata(f.Manifest, of, risk) {
			more += min(x.Read, x.Notes)
		}
		if more > 0 {
			return false, of, nil
		}
	}
	if kept, err = f.Keep(*sample); !kept || err != nil {
		return false, nil, err
	}
	kept, err = f.Keep(*extent)
	return kept, nil, err
}

// strata are those that the sample is drawn from: of the bins of doubt of an extent as large a share as is to be read of
// the whole output.
func (s Sample) strata(m *commit.Manifest, extent *audit.Extent, risk *calibrate.Risk) []audit.Stratum {
	strata := []audit.Stratum{{To: calibrate.DoubtBins, Notes: m.Counts.Masked}}
	if s.Rate > 0 {
		plan := report.PlanOf(m, risk, s.Rate)
		strata[0].Read = min(plan.Notes(), maxSample)
		if len(plan.Strata) > 0 {
			strata = plan.Strata
		}
	}
	for k := range strata {
		x := &strata[k]
		notes := report.Doubtful(m, extent, x.From, x.To)
		x.Read = int64(math.Ceil(float64(x.Read) * float64(notes) / float64(max(x.Notes, 1))))
		if x.Notes = notes; s.N > 0 {
			x.Read = int64(s.N)
		}
	}
	return strata
}

// sampledNote is one note of the sample, and one line of its file.
type sampledNote struct {
	ID    string        `json:"note_id"`
	Unit  string        `json:"unit"`
	Part  string        `json:"part"` // below the public tree
	Row   int64         `json:"row"`  // in the input file
	Spans []sampledSpan `json:"spans"`

	Center string `json:"center,omitempty"`
	*audit.Drawn

	number uint64 // drawn
	unit   int    // of the manifest
	at     int64  // row of the part
}

// sampledSpan is a masked span of a note.
type sampledSpan struct {
	Start    int32  `json:"start"` // bytes of the note as it was, half open
	End      int32  `json:"end"`
	Category string `json:"category"`
	Source   string `json:"source"`
}

func compareSampled(a, b *sampledNote) int {
	return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.unit, b.unit), cmp.Compare(a.at, b.at))
}

// fewOfCenter is the least number of notes to read per centre.
const fewOfCenter = 5

// drawSample chooses the notes: the manifest says how many rows every masked part has,
// confidences and centres stand in the parts of notes.
func drawSample(f *commit.Final, extent *audit.Extent, strata []audit.Stratum) ([]*sampledNote, error) {
	m := f.Manifest
	least := make([]sampleHeap, len(strata)) // the largest of the smallest on top
	centers := map[string]*sampleHeap{}
	for i := range m.Units {
		if !slices.ContainsFunc(m.Units[i].Parts, func(p commit.PartRecord) bool { return p.Kind == "masked" && extent.Has(p.SHA256) }) {
			continue
		}
		known, err := knownOf(f, &m.Units[i])
		if err != nil {
			return nil, err
		}
		for _, p := range m.Units[i].Parts {
			if p.Kind != "masked" || !extent.Has(p.SHA256) {
				continue
			}
			numbers := sampleNumbers(m, i, p.SHA256)
			for at := range p.Rows {
				n := sampledNote{Unit: m.Units[i].Name, Part: p.Path, number: numbers.Uint64(), unit: i, at: at}
				h, center := 0, (*sampleHeap)(nil)
				if known != nil {
					bin := calibrate.DoubtBin(known[at].Confidence)
					h = slices.IndexFunc(strata, func(s audit.Stratum) bool { return s.From <= bin && bin < s.To })
					if n.Center = known[at].Center; n.Center != "" {
						if center = centers[n.Center]; center == nil && len(centers) < mostCenters {
							center = new(sampleHeap)
							centers[n.Center] = center
						}
					}
				}
				if h < 0 {
					return nil, &durable.IntegrityError{Path: p.Path, Cause: "has notes that the counts of the run do not have"}
				}
				least[h].add(n, int(strata[h].Read))
				if center != nil {
					center.add(n, fewOfCenter)
				}
			}
		}
	}
	var all []*sampledNote
	for h, some := range least {
		slices.SortFunc(some, compareSampled)
		for i, n := range some {
			n.Drawn = &audit.Drawn{From: strata[h].From, To: strata[h].To, Notes: strata[h].Notes, Place: i}
		}
		all = append(all, some...)
	}
	return append(all, seldom(all, centers)...), nil
}

// mostCenters bounds how many centres get notes of their own.
const mostCenters = 256

// seldom draws notes of the centres that have too few in the sample.
func seldom(drawn []*sampledNote, centers map[string]*sampleHeap) (more []*sampledNote) {
	type place struct {
		unit int
		at   int64
	}
	read, there := map[string]int{}, map[place]bool{}
	for _, d := range drawn {
		read[d.Center]++
		there[place{d.unit, d.at}] = true
	}
	for _, name := range slices.Sorted(maps.Keys(centers)) {
		some := *centers[name]
		slices.SortFunc(some, compareSampled)
		for _, n := range some {
			if !there[place{n.unit, n.at}] && read[name] < fewOfCenter {
				read[name]++
				more = append(more, n)
			}
		}
	}
	return more
}

// knownNote is what of a row of a part of notes decides where it is drawn.
type knownNote struct {
	Confidence float32 `parquet:"confidence"`
	Center     string  `parquet:"center,optional"`
}

// knownOf reads the notes of a unit, in the order of its masked part; nil without a
// part of them.
func knownOf(f *commit.Final, u *commit.UnitRecord) (all []knownNote, err error) {
	for _, p := range u.Parts {
		if p.Kind != "notes" {
			continue
		}
		if err := tagged.RowsFrom(f, &p, func(n knownNote) error { all = append(all, n); return nil }); err != nil {
			return nil, err
		}
		if int64(len(all)) != p.Rows {
			return nil, &durable.IntegrityError{Path: p.Path, Cause: "has not as many rows as it had"}
		}
	}
	return all, nil
}

// sampleNumbers seeds the random numbers of one part.
func sampleNumbers(m *commit.Manifest, unit int, part string) *rand.PCG {
	h := sha256.New()
	fmt.Fprintf(h, "velum audit sample 1\n%s %s %s %d %s %s\n", m.Config, m.Model, m.Key, unit, m.Units[unit].Name, part)
	sum := h.Sum(nil)
	return rand.NewPCG(binary.LittleEndian.Uint64(sum), binary.LittleEndian.Uint64(sum[8:]))
}

// sampleHeap is a heap.Interface with the largest note on top.
type sampleHeap []*sampledNote

func (h sampleHeap) Len() int           { return len(h) }
func (h sampleHeap) Less(i, j int) bool { return compareSampled(h[i], h[j]) > 0 }
func (h sampleHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *sampleHeap) Push(x any)        { *h = append(*h, x.(*sampledNote)) }
func (h *sampleHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// add keeps the n smallest.
func (h *sampleHeap) add(d sampledNote, n int) {
	if len(*h) == n && (n == 0 || d.number >= (*h)[0].number) {
		return
	}
	d.Spans = []sampledSpan{}
	if heap.Push(h, &d); len(*h) > n {
		heap.Pop(h)
	}
}

// findSample fills in ids, rows and spans, from the parts of the units that
// have any of the notes.
func findSample(ctx context.Context, f *commit.Final, drawn []*sampledNote) error {
	byUnit := slices.Clone(drawn)
	slices.SortFunc(byUnit, func(a, b *sampledNote) int { return cmp.Or(cmp.Compare(a.unit, b.unit), cmp.Compare(a.at, b.at)) })
	for len(byUnit) > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		end := slices.IndexFunc(byUnit, func(d *sampledNote) bool { return d.unit != byUnit[0].unit })
		if end < 0 {
			end = len(byUnit)
		}
		if err := findInUnit(f, byUnit[:end]); err != nil {
			return err
		}
		byUnit = byUnit[end:]
	}
	return nil
}

// findInUnit does it for the notes of one unit. They and the rows of its parts go up.
func findInUnit(f *commit.Final, notes []*sampledNote) error {
	for _, p := range f.Manifest.Units[notes[0].unit].Parts {
		left, at := notes, int64(0)
		var columns []string
		var take func(row []tagged.PartValue) error
		switch p.Kind {
		case "masked":
			columns = []string{"note_id", "row"}
			take = func(row []tagged.PartValue) error {
				if len(left) > 0 && left[0].at == at {
					left[0].ID, left[0].Row, left = string(row[0].Bytes), int64(row[1].Bits), left[1:]
				}
				at++
				return nil
			}
		case "original":
			columns = []string{"row", "start", "end", "category", "source"}
			take = func(row []tagged.PartValue) error {
				for len(left) > 0 && left[0].Row < int64(row[0].Bits) {
					left = left[1:]
				}
				if len(left) > 0 && left[0].Row == int64(row[0].Bits) {
					left[0].Spans = append(left[0].Spans, sampledSpan{int32(row[1].Bits), int32(row[2].Bits), string(row[3].Bytes), string(row[4].Bytes)})
				}
				return nil
			}
		default:
			continue
		}
		if err := tagged.EachIn(f, p, columns, take); err != nil {
			return fmt.Errorf("%s: %w", p.Path, err)
		}
		if p.Kind == "masked" && len(left) > 0 {
			return &durable.IntegrityError{Path: p.Path, Cause: "has not as many rows as it had"}
		}
	}
	source, err := tagged.Sources(f.Manifest.Units[notes[0].unit].Parts, func(p *commit.PartRecord) ([]byte, error) { return f.Read(*p) })
	if err != nil {
		return err
	}
	for _, d := range notes {
		d.Row = source(d.Row)
	}
	return nil
}
