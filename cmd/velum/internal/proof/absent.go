package proof

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/recognize"
)

// Absent proves that no note of people who object is in the output whose trees are
// dir and private ("": beside it), and says how many there are in the archive.
func Absent(ctx context.Context, c *console.Console, load func() (*option.Config, error), in []string, dir, private string) error {
	cfg, err := load()
	if err != nil {
		return err
	}
	if cfg.People.Exclude == "" || len(in) == 0 {
		return exit.Errorf(exit.Config, "see `velum check --help`", "--exclude and --in go together")
	}
	notes, masked, err := absent(ctx, cfg, in, dir, cmp.Or(private, commit.PrivateDir(dir)))
	if err != nil {
		return err
	}
	if masked > 0 {
		return exit.Errorf(exit.Integrity, "run it again with --exclude", "%d notes of people who object are in the output", masked)
	}
	if c.JSON {
		return json.NewEncoder(c.Out).Encode(map[string]any{"message_type": "absent", "notes": notes, "masked": masked})
	}
	_, err = c.Printf("%s: %d notes of people who object, none of them masked\n", dir, notes)
	return err
}

// absent looks the notes of people who object up in the archive, once more, and
// returns how many there are and how many of them are masked. It trusts nothing
// that the run counted: the archive says whose a note is, the masked parts say
// which rows they have.
func absent(ctx context.Context, c *option.Config, in []string, dir, private string) (notes, masked int64, err error) {
	if c.Read.Columns.Patient == "" {
		return 0, 0, exit.Errorf(exit.Config, "name the column of the patient's id with read.columns.patient", "--exclude is joined with the notes by patient")
	}
	a := absence{dir: dir}
	if a.excluded, err = flow.ExcludedIDs(c); err != nil {
		return 0, 0, err
	}
	m, err := commit.ReadManifest(private)
	if err != nil {
		return 0, 0, err
	}
	keep := *c
	keep.Read.IDs, keep.Read.Opaque = "keep", false // neither is looked at
	o, err := flow.ReadOptions(&keep)
	if err != nil {
		return 0, 0, err
	}
	o.Fence = read.NewFence(read.FenceOptions{Memory: int64(c.Run.DecodeMemory), Ended: ctx.Done()})
	defer o.Fence.Close()
	archive, err := read.Scan(ctx, in, o)
	if err != nil {
		return 0, 0, flow.InputError(err)
	}
	for i := range archive.Units {
		if err := a.unit(ctx, archive, &archive.Units[i], m); err != nil {
			return 0, 0, err
		}
	}
	return a.notes, a.masked, nil
}

// maskedPlace is what of a row of a masked part finds the note again.
type maskedPlace struct {
	Row int64 `parquet:"row"`
}

// absence is the state of one search.
type absence struct {
	dir           string
	excluded      map[uint64]bool
	rows          map[int64]bool // of the unit at hand, of who objects
	notes, masked int64
}

func (a *absence) unit(ctx context.Context, archive *read.Archive, u *commit.Unit, m *commit.Manifest) error {
	if err := a.find(ctx, archive, u); err != nil {
		return err
	}
	known := false
	for i := range m.Units {
		r := &m.Units[i]
		if r.SHA256 != hex.EncodeToString(u.SHA256[:]) || r.From != u.From || r.To != u.To {
			continue
		}
		known = true
		for _, p := range r.Parts {
			if p.Kind != "masked" {
				continue
			}
			err := read.RowsOf(filepath.Join(a.dir, filepath.FromSlash(p.Path)), func(row maskedPlace) error {
				if a.rows[row.Row] {
					a.masked++
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	if !known {
		return exit.Errorf(exit.Config, "give the archive that was masked, unchanged, with the same read.unit_notes", "%s: was not masked here", u.Input)
	}
	return nil
}

// find notes the rows of who objects.
func (a *absence) find(ctx context.Context, archive *read.Archive, u *commit.Unit) error {
	src, err := archive.Open(u)
	if err != nil {
		return err
	}
	a.rows = map[int64]bool{}
	b := new(pipeline.Batch)
	var id []byte
	for {
		b.Reset()
		if err = src.Next(b); err != nil || ctx.Err() != nil {
			break
		}
		patients := b.ExtraNamed(read.PatientColumn)
		for i := range b.Len() {
			if id = patients.AppendText(id[:0], i); len(id) > 0 && a.excluded[recognize.PatientHash(id)] {
				a.rows[b.First+int64(i)] = true
			}
		}
	}
	if errors.Is(err, io.EOF) {
		err = context.Cause(ctx)
	}
	a.notes += int64(len(a.rows))
	return errors.Join(err, src.Close())
}
