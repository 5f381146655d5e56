package archive

import (
	"encoding/json"
	"errors"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/fence"
	"github.com/velum-health/velum/stages/read/input"
)

// What a scan has found out goes from one process to others as JSON, so that nobody
// looks at all files again: an archive that was planned opens the same units.

// plannedArchive is an Archive without its units.
type plannedArchive struct {
	Files      []plannedFile
	Drift      []Drift                `json:",omitempty"`
	Shapes     map[string]input.Shape `json:",omitempty"` // of the columns of Batch.Extra
	Partitions []pipeline.Column      `json:",omitempty"`
}

type plannedFile struct {
	File
	Path, Raw []byte // of any bytes
	SHA256    []byte
	Form      form
	Given     bool `json:",omitempty"`
	Text      int64
	Identity  input.Identity
}

func newPlannedFile(f *File) plannedFile {
	p := plannedFile{File: *f, Path: []byte(spelled(f.Path)), Raw: []byte(f.raw), SHA256: f.SHA256[:], Form: f.form, Given: f.given,
		Text: f.text}
	if f.hashed != nil {
		p.Identity = f.hashed.identity
		p.Identity.Device = 0 // each machine counts its devices
	}
	return p
}

func (p *plannedFile) file() (f File) {
	f = p.File
	f.Path, f.raw, f.form, f.given, f.text = string(p.Path), string(p.Raw), p.Form, p.Given, p.Text
	f.hashed = &hashed{identity: p.Identity}
	copy(f.SHA256[:], p.SHA256)
	return f
}

var errPlan = errors.New("the archive of the plan is damaged")

// MarshalJSON implements json.Marshaler. Units are left out, because the plan stores them.
func (a *Archive) MarshalJSON() ([]byte, error) {
	p := plannedArchive{Shapes: a.o.Shapes, Partitions: a.partitions}
	for _, d := range a.Drift {
		d.Path = spelled(d.Path)
		p.Drift = append(p.Drift, d)
	}
	for i := range a.Files {
		p.Files = append(p.Files, newPlannedFile(&a.Files[i]))
	}
	return json.Marshal(p)
}

// Planned restores an archive that another process has scanned with the same options.
func Planned(data []byte, o input.Options, behind *fence.Fence) (*Archive, error) {
	var p plannedArchive
	if json.Unmarshal(data, &p) != nil {
		return nil, errPlan
	}
	a := &Archive{o: o.WithDefaults(), fence: behind, Drift: p.Drift, partitions: p.Partitions, files: map[string]*File{}}
	if err := a.o.Check(); err != nil {
		return nil, err
	}
	for i := range p.Files {
		a.Files = append(a.Files, p.Files[i].file())
	}
	for i := range a.Files {
		a.files[a.Files[i].Path] = &a.Files[i]
	}
	a.keepPartitions()
	s := scanner{a: a, asked: o.Pass, shapes: map[string]known{}}
	for key, x := range p.Shapes {
		s.shapes[key] = known{Shape: x}
	}
	return a, s.extras()
}

// Unchanged checks that the files of a unit have not changed since they were planned. The error is a
// *commit.DamageError.
func (a *Archive) Unchanged(u *commit.Unit) error {
	for i := range u.Members {
		if err := a.Unchanged(&u.Members[i]); err != nil {
			return err
		}
	}
	if len(u.Members) > 0 {
		return nil
	}
	f := a.files[u.Input]
	if f == nil || !f.same() {
		return input.Damage(u.Input, "is gone, or has changed since it was planned")
	}
	return nil
}
