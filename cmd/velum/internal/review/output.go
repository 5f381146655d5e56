package review

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/read/tagged"
)

// wantedNotes holds the notes of an archive to show, by unit and row of the input file, with the spans to show.
type wantedNotes map[files.Key]*wantedFile

// wantedFile is a file, or a piece of one, as the run that wrote the output called it, with its notes by row.
type wantedFile struct {
	input string
	notes map[int64]wantedNote
}

type wantedNote struct {
	spans []pipeline.Span
	about string // why it is shown
	sampled
}

// add records that the note in this row of a unit is to be shown.
func (w wantedNotes) add(u *commit.UnitRecord, row int64, n wantedNote) {
	f, row := u.File(row)
	k := files.KeyIn(&f)
	if w[k] == nil {
		w[k] = &wantedFile{f.Input, map[int64]wantedNote{}}
	}
	w[k].notes[row] = n
}

// sampled says how a note was drawn for a sample.
type sampled struct {
	Rank   int    `json:"rank,omitempty"` // line of its file, from 0
	Center string `json:"center,omitempty"`
	*audit.Drawn

	places []uint64 // of the spans, of what singles somebody out
}

// sampleLine is a line of the sample that `velum run --audit` draws.
type sampleLine struct {
	Unit  string `json:"unit"`
	Row   int64  `json:"row"`
	Spans []struct {
		Start    int32  `json:"start"`
		End      int32  `json:"end"`
		Category string `json:"category"`
		Place    uint64 `json:"place"`
	} `json:"spans"`
	sampled
}

// listed reads from the archive the notes that a file of the output lists. They are shown with the spans that were
// masked, so that additional spans are misses, or with the identifying facts (question rare).
func listed(kind, remedy string) func(context.Context, *option.Config, *Options) ([]note, int, error) {
	return func(ctx context.Context, cfg *option.Config, o *Options) ([]note, int, error) {
		dir, m, err := files.Private(o.Of)
		if err != nil {
			return nil, 0, err
		}
		at := slices.IndexFunc(m.Files, func(f commit.PartRecord) bool { return f.Kind == kind })
		if at < 0 {
			return nil, 0, exit.Misconfiguredf(remedy, "%s has no list of such notes", dir)
		}
		wanted, err := wantedOf(dir, m, &m.Files[at])
		if err != nil {
			return nil, 0, err
		}
		return wanted.find(ctx, cfg, o.In)
	}
}

// wantedOf reads a file of the output that lists notes, and returns the notes to show.
func wantedOf(dir string, m *commit.Manifest, list *commit.PartRecord) (wantedNotes, error) {
	data, err := files.Part(dir, list)
	if err != nil {
		return nil, err
	}
	wanted, rank := wantedNotes{}, 0
	for line := range bytes.Lines(data) {
		var s sampleLine
		u := -1
		if json.Unmarshal(line, &s) == nil {
			u = slices.IndexFunc(m.Units, func(r commit.UnitRecord) bool { return r.Name == s.Unit })
		}
		if u < 0 {
			return nil, &durable.IntegrityError{Path: list.Path, Cause: "is no sample of this output"}
		}
		s.Rank = rank
		n := wantedNote{sampled: s.sampled}
		rank++
		for _, x := range s.Spans {
			c, err := pipeline.ParseCategory(x.Category)
			if err != nil {
				return nil, &durable.IntegrityError{Path: list.Path, Cause: "names a category that is not known"}
			}
			n.spans, n.places = append(n.spans, pipeline.Span{Start: x.Start, End: x.End, Category: c, Score: 1}), append(n.places, x.Place)
		}
		wanted.add(&m.Units[u], s.Row, n)
	}
	return wanted, nil
}

// drawnFrom identifies, for the journal, the sample that is read.
func drawnFrom(o *Options) (drawn, error) {
	dir, m, err := files.Private(o.Of)
	if err != nil {
		return drawn{}, err
	}
	sample, extent, err := files.Sample(dir, m)
	if err != nil {
		return drawn{}, err
	}
	return drawn{Reader: cmp.Or(o.Reader, audit.UserName(), "unknown"), Output: extent.Output, Sample: sample.SHA256}, nil
}

// loadQuarantined reads from the archive the notes that a run has quarantined.
func loadQuarantined(ctx context.Context, cfg *option.Config, o *Options) ([]note, int, error) {
	dir, m, err := files.Private(o.Of)
	if err != nil {
		return nil, 0, err
	}
	wanted := wantedNotes{}
	for u, p := range tagged.Parts(m, "quarantine") {
		data, err := files.Part(dir, p)
		if err != nil {
			return nil, 0, err
		}
		err = tagged.RowsIn(p.Path, bytes.NewReader(data), func(r quarantinedRow) error {
			wanted.add(u, r.Row, wantedNote{about: r.Reason})
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
	}
	return wanted.find(ctx, cfg, o.In)
}

type quarantinedRow struct {
	Row    int64  `parquet:"row"`
	Reason string `parquet:"reason"`
}

// find reads the notes from the archive, and returns how many of them cannot be shown because they are no text or their
// patient objects. A note that was quarantined for its tokens is shown.
func (w wantedNotes) find(ctx context.Context, cfg *option.Config, in string) (notes []note, unseen int, err error) {
	r, err := flow.ReadOptions(cfg)
	if err != nil {
		return nil, 0, err
	}
	a, err := flow.Scan(ctx, []string{in}, r)
	if err != nil {
		return nil, 0, err
	}
	defer a.Close()
	apart, err := (&flow.Flow{Config: cfg, Documents: a.HasDocuments()}).Apart()
	if err != nil {
		return nil, 0, err
	}
	lenient := *cfg
	lenient.Lenient = true
	for i := range a.Units {
		u := &a.Units[i]
		k := files.KeyOf(u)
		file := w[k]
		if file == nil {
			continue
		}
		delete(w, k)
		unseen += len(file.notes)
		src, err := a.Open(u)
		if err != nil {
			return nil, 0, err
		}
		err = pipeline.Run(ctx, src, append(apart, flow.Tokenized(&lenient)), &picker{rows: file.notes, notes: &notes}, nil)
		if err := errors.Join(err, src.Close()); err != nil {
			return nil, 0, err
		}
	}
	if len(w) > 0 {
		return nil, 0, w.missing(in)
	}
	if len(notes) == 0 {
		return nil, 0, exit.Errorf(exit.Nothing, "there is nothing to do", "no note that can be shown")
	}
	return notes, unseen - len(notes), nil
}

// missing returns an error with the files that are not in the archive. Then nothing is shown, because a part of a
// sample would be taken for the whole.
func (w wantedNotes) missing(in string) error {
	names := map[string]bool{}
	for _, file := range w {
		names[file.input] = true
	}
	all := slices.Sorted(maps.Keys(names))
	return exit.Misconfiguredf("give the archive that was masked, unchanged, with the same read.unit_notes; a file that was corrected since is masked by the same `velum run`, which draws again",
		"%s: %d files that were masked are not there as they were: %s", in, len(all), strings.Join(all[:min(len(all), namedFiles)], ", "))
}

// namedFiles is the largest number of missing files that an error names.
const namedFiles = 10

// picker is a sink that keeps the notes of some rows.
type picker struct {
	rows  map[int64]wantedNote
	notes *[]note
}

// Put implements pipeline.Sink.
func (p *picker) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		n, ok := p.rows[b.First+int64(i)]
		if !ok || b.Reason[i] != pipeline.Sound {
			continue
		}
		if len(*p.notes) == maxNotes {
			return errTooMany
		}
		*p.notes = append(*p.notes, note{
			id: string(b.ID.At(i)), text: string(b.Text.At(i)), about: n.about, sampled: n.sampled, tokens: slices.Clone(b.Tokens.At(i)),
			spans: n.spans,
		})
	}
	return nil
}
