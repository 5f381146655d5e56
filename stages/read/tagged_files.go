package read

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/velum-health/velum/pipeline"
)

// TaggedFiles reads the tagged notes of a file, or of all Parquet files of a
// folder in the order of their paths, as notes with gold spans: a selection
// set trains the next model as any other labelled notes do.
type TaggedFiles struct {
	paths []string
	o     TaggedOptions
	file  *os.File
	notes *Tagged // of the file; nil between files
	row   int64
}

// NewTaggedFiles finds the files. TextOptions give the size of batches.
func NewTaggedFiles(path string, o TextOptions) (*TaggedFiles, error) {
	o = o.withDefaults()
	paths, err := taggedPaths(path)
	if err != nil {
		return nil, err
	}
	return &TaggedFiles{paths: paths, o: TaggedOptions{NotesOnly: true, BatchNotes: o.Notes, BatchBytes: o.Bytes}}, nil
}

func taggedPaths(path string) (paths []string, err error) {
	err = filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return &InputError{Path: name, Cause: inputCause(err), Remedy: "check the path and its permissions"}
		case name != path && strings.ContainsAny(e.Name()[:1], "._"):
			if e.IsDir() {
				return fs.SkipDir
			}
		case !e.IsDir() && (name == path || formOfExt[strings.ToLower(filepath.Ext(name))] == parquetForm):
			paths = append(paths, name)
		}
		return nil
	})
	if err == nil && len(paths) == 0 {
		err = &InputError{Path: path, Cause: "no Parquet files there", Remedy: taggedRemedy}
	}
	return paths, err
}

// isTagged tells whether the first Parquet file at path says that its notes
// are tagged. A file that cannot be opened does not; who reads it says why.
func isTagged(path string) bool {
	paths, err := taggedPaths(path)
	if err != nil {
		return false
	}
	f, err := os.Open(paths[0])
	if err != nil {
		return false
	}
	defer f.Close()
	tagged := false
	err = fence(path, func() error {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		footer, err := readFooter(path, f, info.Size())
		if err == nil {
			_, tagged = footer.lookup(pipeline.TagSetKey)
		}
		return err
	})
	return err == nil && tagged
}

// Warnings returns nothing: our own files hold nothing to warn of.
func (r *TaggedFiles) Warnings() Warnings { return Warnings{} }

// Close closes the file at hand.
func (r *TaggedFiles) Close() error {
	if r.notes == nil {
		return nil
	}
	err := errors.Join(r.notes.Close(), r.file.Close())
	r.notes, r.file = nil, nil
	return err
}

// Next implements pipeline.Source. Errors are those of NewTagged.
func (r *TaggedFiles) Next(b *pipeline.Batch) error {
	for {
		if r.notes == nil {
			if len(r.paths) == 0 {
				return io.EOF
			}
			if err := r.open(); err != nil {
				return err
			}
		}
		err := r.notes.Next(b)
		if err == nil {
			b.First = r.row
			r.row += int64(b.Len())
		}
		if err != io.EOF {
			return err
		}
		if err := r.Close(); err != nil {
			return err
		}
	}
}

func (r *TaggedFiles) open() error {
	path := r.paths[0]
	r.paths = r.paths[1:]
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		r.notes, err = NewTagged(f, info.Size(), path, r.o)
	}
	if err != nil {
		r.notes = nil
		return errors.Join(err, f.Close())
	}
	r.file = f
	return nil
}
