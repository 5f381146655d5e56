package train

import (
	"cmp"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/models/learn/calibratetrain"
	"github.com/velum-health/velum/models/tag/calibrate"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/score"
)

// heldNotes counts notes of one file by a group of writers or the kind of document that they are of.
type heldNotes struct {
	scorer *score.Scorer
	file   string
	of     map[string]*calibrate.Source
}

// Put implements pipeline.Sink.
func (h *heldNotes) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		name, id := h.file, string(b.ID.At(i))
		if at := strings.LastIndex(id, "voice:"); at >= 0 { // voice:104-001, voice:1001: two houses of each file, by the parity of a writer's number over its fold
			writer, _ := strconv.Atoi(strings.TrimRight(id[at+len("voice:"):len(id)-3], "-"))
			name += "/" + strconv.Itoa(writer/cmp.Or(map[bool]int{true: 5}[strings.Contains(id, "own:")], 2)%2)
		}
		s := h.of[name]
		if s == nil {
			s = new(calibrate.Source)
			h.of[name] = s
		}
		h.scorer.Add(b.Text.At(i), nil, b.Gold.At(i), b.Spans.At(i))
		s.Note(b.Conf[i], false, b.Words[i], len(b.Spans.At(i)))
		if h.scorer.Left() {
			s.Leaks[calibrate.DoubtBin(b.Conf[i])]++
		}
	}
	return nil
}

// How many notes keep something, of writers and kinds of document that models have not seen, each foretold by the
// others: before anyone has read, and when
// the first 100 notes of a sample were read (report.PlanOf). VELUM_HELD="FOLD0.velum=a.jsonl,b.jsonl
// FOLD1.velum=c.jsonl" names models and notes that they
// have not seen, as scripts/bench/real/transfer.py leaves them in its folder; VELUM_BIAS turns the dial.
func TestPromise(t *testing.T) {
	if os.Getenv("VELUM_HELD") == "" {
		t.Skip("VELUM_HELD names no models and notes")
	}
	bias, _ := strconv.ParseFloat(os.Getenv("VELUM_BIAS"), 32)
	at, dialled := map[string]*calibrate.Source{}, map[string]*calibrate.Source{}
	for held := range strings.FieldsSeq(os.Getenv("VELUM_HELD")) {
		model, paths, _ := strings.Cut(held, "=")
		for path := range strings.SplitSeq(paths, ",") {
			countHeld(t, model, path, 0, at)
			countHeld(t, model, path, bias, dialled)
		}
	}
	const readings = 5
	inside, narrow, before := 0, 0, 0
	for name, s := range dialled {
		var others []calibrate.Source
		for other, o := range at {
			if other != name {
				others = append(others, *o)
			}
		}
		slices.SortFunc(others, func(a, b calibrate.Source) int { return cmp.Compare(a.MeanDoubt(), b.MeanDoubt()) })
		r, err := calibratetrain.FitRisk(others)
		if err != nil {
			t.Fatal(err)
		}
		r = r.Dialled(bias)
		notes, leaks := s.All()
		m := &commit.Manifest{Counts: commit.Counts{Masked: notes}}
		for k, n := range s.Notes {
			m.Counts.Tally.Note("doubt", calibrate.BinName(k), n)
		}
		plan := report.PlanOf(m, r, 0.005).Strata
		e := r.Outlook(s).Expect()
		if e.Low <= leaks && leaks <= e.High {
			before++
		}
		var after calibrate.Expected
		for seed := range uint64(readings) {
			draw, toRead := rand.New(rand.NewPCG(seed, 77)), int64(report.First)
			var read []calibrate.Sampled
			for _, x := range plan {
				some := calibrate.Sampled{From: x.From, To: x.To}
				left, keep := int64(0), int64(0)
				for k := x.From; k < x.To; k++ {
					left, keep = left+s.Notes[k], keep+s.Leaks[k]
				}
				for range min(x.Read, toRead) { // without replacement
					if draw.Int64N(left) < keep {
						some.Leaks, keep = some.Leaks+1, keep-1
					}
					some.Read, left = some.Read+1, left-1
				}
				toRead -= some.Read
				read = append(read, some)
			}
			o := r.Outlook(s)
			o.Read(read)
			if after = o.Expect(); after.Low <= leaks && leaks <= after.High {
				inside++
			}
			if after.High <= 4*max(after.Low, 1) {
				narrow++
			}
		}
		t.Logf("%-24s %5d notes, %3d keep something: %d [%d to %d], with the last of %d readings %d [%d to %d]", name, notes, leaks, e.Notes, e.Low, e.High, readings, after.Notes, after.Low, after.High)
	}
	t.Logf("inside: %d of %d before anyone has read, %d of %d after; at most four times as wide as the lower end: %d", before, len(at), inside, readings*len(at), narrow)
	if inside*12 < 11*readings*len(at) {
		t.Error("the interval holds the true number in fewer than 11 of 12")
	}
}

// countHeld counts what a model makes of notes that it has not seen.
func countHeld(t *testing.T, model, path string, bias float64, all map[string]*calibrate.Source) {
	t.Helper()
	cfg, err := option.Load(option.Sources{}.With([]string{"profile=primary-care"}))
	if err != nil {
		t.Fatal(err)
	}
	m, err := flow.OpenModel(model, cfg)
	if err != nil {
		t.Fatal(err)
	}
	m.Label = flow.LabelOptions(cfg)
	m.Label.SpanProbs, m.Label.OBias = true, float32(bias)
	into, err := flow.IntoLabels("primary-care")
	if err != nil {
		t.Fatal(err)
	}
	h := heldNotes{score.New(score.Options{Draws: -1, Map: into}), path[strings.LastIndex(path, "/")+1:], all}
	gold := flow.Labelled{Paths: []string{path}, Config: cfg}
	if err := gold.Each(func(src pipeline.Source) error {
		steps, err := flow.With(cfg, m).TagSteps()
		if err != nil {
			return err
		}
		return pipeline.Run(t.Context(), src, steps, &h, nil)
	}); err != nil {
		t.Fatal(err)
	}
}
