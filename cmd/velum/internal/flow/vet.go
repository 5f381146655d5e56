package flow

import (
	"context"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/vet"
)

// vetted returns the step that quarantines notes with an identifying id; none if ids are not written unchanged.
func (f *Flow) vetted() []pipeline.Step {
	if f.Read.IDs != "keep" {
		return nil
	}
	return []pipeline.Step{vet.New(f.Workers())}
}

// vettedUnits is the number of units whose ids are checked before a run. The stage checks all ids during the run.
const vettedUnits = 16

// Vet returns an error if note ids, file names or folder names that would stand in the public tree identify a person.
func Vet(ctx context.Context, c *option.Config, a *archive.Archive) error {
	err := VetNames(c, a)
	if err == nil && c.Read.IDs == "keep" && !a.HasDocuments() { // documents are vetted one by one
		err = vetColumn(ctx, a, strings.Join(c.Read.Columns.ID, ", "))
	}
	return err
}

// VetNames is Vet for file and folder names only.
func VetNames(c *option.Config, a *archive.Archive) error {
	o, err := ReadOptions(c)
	if err != nil || c.Read.IDs == "verbatim" {
		return err
	}
	v := vet.NewVetter()
	for i := range a.Files {
		f := &a.Files[i]
		where := fmt.Sprintf("file %d of %d in the order of their paths", i+1, len(a.Files))
		if what := v.Holds([]byte(f.Folder)); what != "" && !o.Opaque {
			return refused("the name of the folder of "+where, what, "give the folders opaque names: read.opaque: true, with a key.file")
		}
		if what := v.Holds([]byte(path.Base(f.Path))); what != "" && f.Format() == "txt" && c.Read.IDs == "keep" {
			return refused("the name of "+where+", which is the id of its note,", what, keyIDs)
		}
	}
	return nil
}

const keyIDs = "write a keyed code in place of the id: read.ids: keyed, with a key.file"

// IDsHold returns the error for an id column that holds identifying values; what names their kind.
func IDsHold(column, where, what string) error {
	return refused(fmt.Sprintf("read.columns.id: column %q%s", column, where), what, keyIDs)
}

func refused(where, what, remedy string) error {
	return exit.Misconfiguredf(remedy+"; or read.ids: verbatim, if it says nothing of anybody", "%s holds %s and would be public", where, what)
}

// vetColumn checks the first ids of some units.
func vetColumn(ctx context.Context, a *archive.Archive, column string) error {
	v, every := vet.NewVetter(), max(1, len(a.Units)/vettedUnits)
	for i := 0; i < len(a.Units); i += every {
		ids, err := firstIDs(a, i)
		if err != nil {
			continue // the run says what is wrong with it
		}
		if what := v.Column(ids); what != "" {
			return IDsHold(column, fmt.Sprintf(" of file %d of %d", fileOf(a, i), len(a.Files)), what)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// firstIDs returns the ids of the first batch of a unit.
func firstIDs(a *archive.Archive, unit int) (ids [][]byte, err error) {
	src, err := a.Open(&a.Units[unit])
	if err != nil {
		return nil, err
	}
	defer src.Close() // only read
	var b pipeline.Batch
	if err := src.Next(&b); err != nil && err != io.EOF {
		return nil, err
	}
	for i := range b.Len() {
		ids = append(ids, b.ID.At(i))
	}
	return ids, nil
}

// fileOf returns the number of a unit's file, counted from 1.
func fileOf(a *archive.Archive, unit int) int {
	for i := range a.Files {
		if a.Files[i].Path == a.Units[unit].Input {
			return i + 1
		}
	}
	return 0
}
