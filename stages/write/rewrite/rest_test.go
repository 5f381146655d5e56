package rewrite_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/tally"
	"github.com/velum-health/velum/stages/write/rewrite"
	"github.com/velum-health/velum/stages/write/summary"
	"github.com/velum-health/velum/stages/write/table"
	"github.com/velum-health/velum/stages/write/unit"
)

var restTags = &pipeline.TagSet{Categories: []pipeline.Category{mixedPerson}}

// restSource gives out notes of some rows. All that is known of a note is a function of its row.
type restSource struct{ rows []int64 }

func (s *restSource) Next(b *pipeline.Batch) error {
	if len(s.rows) == 0 {
		return io.EOF
	}
	b.TagSet = restTags
	b.Extra = []pipeline.Column{{Name: "center"}, {Name: "patient"}}
	b.Lifted = make([]pipeline.Bytes, 1)
	some := s.rows[:min(7, len(s.rows))]
	s.rows = s.rows[len(some):]
	for _, row := range some {
		rng := rand.New(rand.NewPCG(uint64(row), 1))
		b.Rows, b.Keyed = append(b.Rows, row), append(b.Keyed, row)
		b.ID.Append(fmt.Appendf(nil, "id%d", row))
		text := fmt.Appendf(nil, "nota %d ñ", row)
		b.Text.Append(text)
		b.Tokens.Append(pipeline.Token{End: 4, Flags: pipeline.LineStart})
		b.Tags = append(b.Tags, 0)
		for k := range int32(rng.IntN(3)) {
			b.Spans.Items = append(b.Spans.Items, pipeline.Span{Start: 2 * k, End: 2*k + 2, Category: mixedPerson, Score: .5, Source: pipeline.SpanSource(rng.IntN(pipeline.SpanSources()))})
		}
		b.Spans.End()
		if rng.IntN(4) == 0 {
			b.Rare.Append(pipeline.Span{Start: 5, End: 6, Category: mixedPerson, Score: .25})
		} else {
			b.Rare.Append()
		}
		if rng.IntN(5) == 0 { // nothing is left of it
			b.Masked.End()
			b.Places.End()
		} else {
			b.Masked.Append(text)
			b.Places.Append(b.Spans.At(b.Spans.Len() - 1)...)
		}
		b.Lifted[0].Append(fmt.Appendf(nil, "%d", 40+rng.IntN(3)))
		for k, value := range []string{[]string{"A", "B", ""}[rng.IntN(3)], fmt.Sprint("p", rng.IntN(4))} {
			b.Extra[k].Valid = append(b.Extra[k].Valid, value != "")
			b.Extra[k].Bytes.Append([]byte(value))
		}
		b.Conf = append(b.Conf, rng.Float32())
		b.Language = append(b.Language, pipeline.Language(rng.IntN(3)))
		b.Chosen = append(b.Chosen, pipeline.Choice(rng.IntN(3)))
		b.Reason = append(b.Reason, pipeline.Sound)
		b.Seal(b.Len() - 1)
		if rng.IntN(5) == 0 {
			b.Quarantine(b.Len()-1, pipeline.Reason(1+rng.IntN(3)))
		}
	}
	return nil
}

// restList keeps every candidate, and says at which places they stand.
type restList struct{ listed, added, places int }

func (l *restList) Add(*pipeline.Batch, int) (bool, error) { l.added++; return true, nil }

func (l *restList) Settle() (all []int) {
	for ; l.listed < l.added; l.listed++ {
		all = append(all, len(all))
		l.places++
	}
	return all
}

func (l *restList) AppendBinary(dst []byte) []byte {
	for k := range l.places {
		dst = append(dst, byte(k))
	}
	return dst
}

func restRemaining(list []byte, place func(int32) (int32, bool)) (left []byte, err error) {
	for _, was := range list {
		if now, stays := place(int32(was)); stays {
			left = append(left, byte(now))
		}
	}
	return left, nil
}

// resting is the sink of a unit that is what is left of another one.
type resting struct{ rest func() (commit.Counts, error) }

func (resting) Put(*pipeline.Batch) error       { return nil }
func (r resting) Close() (commit.Counts, error) { return r.rest() }

// unitOf runs one unit of so many rows.
func unitOf(t *testing.T, rows int, line func(*commit.Parts) (commit.Line, error)) (string, *commit.UnitRecord, error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	plan := &commit.Plan{Units: []commit.Unit{{Input: "notes", Rows: int64(rows)}}}
	result, err := commit.RunUnits(t.Context(), plan, commit.Output{Dir: dir, FS: durable.OS}, func(_ int, _ *commit.Unit, parts *commit.Parts) (commit.Line, error) {
		return line(parts)
	}, commit.UnitOptions{Verify: table.Verify})
	if err != nil {
		return dir, nil, err
	}
	for _, u := range result.Manifest.Units {
		return dir, &u, nil
	}
	return dir, nil, errors.New("no unit")
}

// written runs a unit of notes of some rows.
func written(t *testing.T, rows []int64) (string, *commit.UnitRecord) {
	t.Helper()
	dir, record, err := unitOf(t, len(rows), func(parts *commit.Parts) (commit.Line, error) {
		sink, err := unit.New(parts, unit.Options{
			Model: "m", Part: "p", Categories: []pipeline.Category{mixedPerson}, Pass: []pipeline.Column{{Name: "center"}}, IDs: true, Centers: true,
			Quasi: []unit.QuasiColumn{{Name: "age"}}, Patients: "patient", Candidates: new(restList),
		})
		return commit.Line{Source: &restSource{rows}, Sink: sink}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir, record
}

// pathOf is where a part of a unit lies.
func pathOf(dir string, p *commit.PartRecord) string {
	if p.Private {
		dir += ".private"
	}
	return filepath.Join(dir, p.Path)
}

// contentOf returns each part of a unit: rows of Parquet as text, and of the summary its fields.
func contentOf(t *testing.T, dir string, u *commit.UnitRecord) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for i := range u.Parts {
		p := &u.Parts[i]
		data, err := os.ReadFile(pathOf(dir, p))
		if err != nil {
			t.Fatal(err)
		}
		if p.Kind == "summary" {
			s, err := summary.Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			all[p.Kind] = []string{fmt.Sprintf("%x %x", s.IDs, s.Candidates)}
			continue
		}
		f, err := parquet.OpenFile(strings.NewReader(string(data)), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range f.RowGroups() {
			rows := make([]parquet.Row, g.NumRows())
			r := g.Rows()
			if n, err := r.ReadRows(rows); n != len(rows) || err != nil && err != io.EOF {
				t.Fatal(n, err)
			}
			for _, row := range rows {
				all[p.Kind] = append(all[p.Kind], fmt.Sprintf("%v", row))
			}
			r.Close()
		}
	}
	return all
}

// TestRest: what is left of a unit without some rows is what a unit of the other rows has, and is counted as that.
func TestRest(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var all, left []int64
		share := seed%4 + 1 // of four stay
		for row := range int64(40 + rng.IntN(40)) {
			if all = append(all, row*3); rng.Uint64N(4) < share {
				left = append(left, row*3)
			}
		}
		from, whole := written(t, all)
		dir, rest, err := unitOf(t, len(left), func(parts *commit.Parts) (commit.Line, error) {
			return commit.Line{Source: &restSource{left}, Sink: resting{func() (commit.Counts, error) {
				return rewrite.Rest(parts, whole, func(p commit.PartRecord) (durable.File, error) { return os.Open(pathOf(from, &p)) },
					func(row int64) bool { return slices.Contains(left, row) }, restRemaining)
			}}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		direct, want := written(t, left)
		got, should := contentOf(t, dir, rest), contentOf(t, direct, want)
		for kind := range maps.Keys(should) {
			if !slices.Equal(got[kind], should[kind]) {
				t.Errorf("seed %d: %s has\n%s\nwant\n%s", seed, kind, strings.Join(got[kind], "\n"), strings.Join(should[kind], "\n"))
			}
		}
		if len(got) > len(should) {
			t.Errorf("seed %d: parts %v", seed, slices.Collect(maps.Keys(got)))
		}
		for _, name := range []tally.Of{tally.Words, tally.Unknown, tally.Foreign} { // these are counted of all notes alone
			delete(want.Tally, string(name))
			delete(rest.Tally, string(name))
		}
		if rest.Rows != want.Rows || rest.Masked != want.Masked || rest.Quarantined != want.Quarantined || !maps.Equal(rest.Reasons, want.Reasons) || !maps.Equal(rest.Tally, want.Tally) {
			t.Errorf("seed %d: counted\n%+v\nwant\n%+v", seed, rest.Counts, want.Counts)
		}
	}
}

// TestRestChanged: a part that does not read as it was written is not copied.
func TestRestChanged(t *testing.T) {
	rows := []int64{0, 1, 2, 3, 4, 5, 6, 7}
	from, whole := written(t, rows)
	for name, change := range map[string]func(p *commit.PartRecord, data []byte) []byte{
		"a byte of a page": func(_ *commit.PartRecord, data []byte) []byte { data[40] ^= 1; return data },
		"cut off":          func(p *commit.PartRecord, data []byte) []byte { p.Bytes -= 9; return data[:len(data)-9] },
	} {
		for i, p := range whole.Parts {
			if p.Kind == "summary" {
				continue
			}
			data, err := os.ReadFile(pathOf(from, &p))
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "part")
			record := *whole
			record.Parts = slices.Clone(whole.Parts)
			if err := os.WriteFile(path, change(&record.Parts[i], data), 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, err = unitOf(t, len(rows), func(parts *commit.Parts) (commit.Line, error) {
				return commit.Line{Source: &restSource{rows}, Sink: resting{func() (commit.Counts, error) {
					return rewrite.Rest(parts, &record, func(q commit.PartRecord) (durable.File, error) {
						if q.Path == p.Path {
							return os.Open(path)
						}
						return os.Open(pathOf(from, &q))
					}, func(int64) bool { return true }, restRemaining)
				}}}, nil
			})
			if damage, changed := errors.AsType[*durable.IntegrityError](err); !changed || damage.Path != p.Path {
				t.Errorf("%s of %s: %v", name, p.Kind, err)
			}
		}
	}
}
