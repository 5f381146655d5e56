// Package promote keeps a folder of models, one of which is in use. Promoting a model replaces one small file by a
// rename, as the manifest is replaced at the end of a run.
package promote

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/velum-health/velum/pipeline/durable"
)

// Folder is a folder of models of which one is in use:
//
//	_CURRENT                 which one, and which ones before: replaced by one rename
//	5e1c0a9b3f7d2c44.velum   models, named for their content, never changed
//
// Whoever opens the folder finds a whole model at any time, whatever a crash
// left: a model is there, synced and read back, before the pointer names it,
// and models that were in use stay, so that going back is one rename too. It
// is the way in which the manifest of a tree is the commit of a run.
type Folder struct {
	Dir string
	FS  durable.FS // nil means durable.OS
}

// Promotion records that a model was put into use.
type Promotion struct {
	File   string    `json:"file"` // in the folder
	SHA256 string    `json:"sha256"`
	Time   time.Time `json:"time,omitzero"` // not of models that learning promoted
}

// pointer is the content of _CURRENT.
type pointer struct {
	Schema  string      `json:"schema"`
	Current Promotion   `json:"current"`
	Before  []Promotion `json:"before"` // what a rollback goes back to, last one last
}

const (
	pointerSchema = "velum.current/1"
	pointerName   = "_CURRENT"
	modelExt      = ".velum"
)

// ErrNone is returned if no model of a folder is in use, or if there is none to go back to.
var ErrNone = errors.New("no model")

func (f *Folder) fs() durable.FS {
	if f.FS == nil {
		return durable.OS
	}
	return f.FS
}

func (f *Folder) path(name string) string { return filepath.Join(f.Dir, name) }

// History returns the models that have been in use, the current one last. The error is ErrNone if the folder has no
// pointer file, *durable.IntegrityError if that cannot be read.
func (f *Folder) History() ([]Promotion, error) {
	p, err := f.read()
	if err != nil {
		return nil, err
	}
	return append(p.Before, p.Current), nil
}

// Current reads the model in use and verifies it against its promotion.
func (f *Folder) Current() (Promotion, []byte, error) {
	p, err := f.read()
	if err != nil {
		return Promotion{}, nil, err
	}
	data, err := f.model(p.Current)
	return p.Current, data, err
}

func (f *Folder) read() (*pointer, error) {
	name := f.path(pointerName)
	data, err := durable.ReadFile(f.fs(), name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w was promoted", f.Dir, ErrNone)
	}
	if err != nil {
		return nil, err
	}
	p, cause := parsePointer(data)
	if cause != "" {
		return nil, &durable.IntegrityError{Path: name, Cause: cause}
	}
	return p, nil
}

// parsePointer reads the content of _CURRENT; cause says why it cannot.
func parsePointer(data []byte) (p *pointer, cause string) {
	p = new(pointer)
	if json.Unmarshal(data, p) != nil {
		return nil, "is no pointer: not valid JSON or of another shape"
	}
	if p.Schema != pointerSchema {
		return nil, "is of another version than " + pointerSchema + "; use the version of velum that wrote it"
	}
	for _, one := range append(p.Before, p.Current) {
		if one.File == "" || one.File != modelFile(one.SHA256) {
			return nil, "names a file that velum did not"
		}
	}
	return p, ""
}

// modelFile names a model in the folder for its content; "" for what is no
// digest.
func modelFile(sum string) string {
	if raw, err := hex.DecodeString(sum); err != nil || len(raw) != sha256.Size {
		return ""
	}
	return sum[:16] + modelExt
}

// model reads a promoted model.
func (f *Folder) model(p Promotion) ([]byte, error) {
	name := f.path(p.File)
	data, err := durable.ReadFile(f.fs(), name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &durable.IntegrityError{Path: name, Cause: "is gone, and the folder's pointer names it"}
	}
	if err != nil {
		return nil, err
	}
	if fmt.Sprintf("%x", sha256.Sum256(data)) != p.SHA256 {
		return nil, &durable.IntegrityError{Path: name, Cause: "is not the model that was promoted: its content changed"}
	}
	return data, nil
}

// Promote stores a model in the folder and puts it into use. It returns false if that model is in use already. A zero
// time is not recorded. On an error the previous model stays in use: *durable.LockedError while another process
// promotes, or an error of the file system.
func (f *Folder) Promote(data []byte, now time.Time) (done bool, err error) {
	if err := durable.MkdirAll(f.fs(), f.Dir); err != nil {
		return false, err
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(data))
	next := Promotion{File: modelFile(sum), SHA256: sum, Time: now.UTC().Truncate(time.Second)}
	err = f.locked("promote", func() error {
		p, err := f.read()
		if errors.Is(err, ErrNone) {
			p, err = &pointer{Schema: pointerSchema, Before: []Promotion{}}, nil
		}
		if err != nil {
			return err
		}
		if err := f.keep(next, data); err != nil {
			return err
		}
		if p.Current.SHA256 == sum {
			return nil
		}
		if p.Current.SHA256 != "" {
			p.Before = append(p.Before, p.Current)
		}
		p.Current, done = next, true
		return f.point(p)
	})
	return done && err == nil, err
}

// keep makes the file of a model, unless it is there and sound.
func (f *Folder) keep(p Promotion, data []byte) error {
	if have, err := f.model(p); err == nil && bytes.Equal(have, data) {
		return nil
	}
	if err := durable.WriteBy(f.fs(), f.path(".promote.tmp"), f.path(p.File), data); err != nil {
		return err
	}
	_, err := f.model(p)
	return err
}

// Rollback puts the previous model into use again and returns it. Repeated calls go back further. The error is ErrNone
// if there is no previous model; a damaged one is not used.
func (f *Folder) Rollback() (Promotion, error) {
	var back Promotion
	err := f.locked("rollback", func() error {
		p, err := f.read()
		if err != nil {
			return err
		}
		if len(p.Before) == 0 {
			return fmt.Errorf("%s: %w was in use before this one", f.Dir, ErrNone)
		}
		back = p.Before[len(p.Before)-1]
		if _, err := f.model(back); err != nil {
			return err
		}
		p.Current, p.Before = back, p.Before[:len(p.Before)-1]
		return f.point(p)
	})
	return back, err
}

// point replaces the pointer.
func (f *Folder) point(p *pointer) error {
	data, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return err
	}
	return durable.WriteBy(f.fs(), f.path(".current.tmp"), f.path(pointerName), append(data, '\n'))
}

// locked calls do while nobody else changes the folder.
func (f *Folder) locked(what string, do func() error) error {
	lock, err := f.fs().Lock(f.path(".lock"), durable.NewHolder(what))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w was promoted", f.Dir, ErrNone)
	}
	if err != nil {
		return err
	}
	// What a killed process has left is built upon only when it is durable.
	err = f.fs().SyncDir(f.Dir)
	if err == nil {
		err = do()
	}
	return errors.Join(err, lock.Close())
}

// Files lists the names of all models in the folder.
func (f *Folder) Files() ([]string, error) {
	entries, err := f.fs().ReadDir(f.Dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") && filepath.Ext(e.Name()) == modelExt {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// Read reads one of the Files.
func (f *Folder) Read(name string) ([]byte, error) {
	return durable.ReadFile(f.fs(), f.path(name))
}
