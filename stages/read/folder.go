package read

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/velum-health/velum/pipeline"
)

// folder reads the files of a folder, and of those below it, in the order of
// their paths: parts of a table, months.
// Names that begin with . or _ do not count, as in an archive.
type folder struct {
	paths  []string
	open   func(path string) (Text, error)
	now    Text // nil between files
	row    int64
	warned Warnings // of the files before
}

// openFolder finds the files. Those of other formats than the first one's are read
// too: a month is not left out because it was exported otherwise.
func openFolder(format, path string, o TextOptions) (Text, error) {
	paths, err := filesBelow(path, insideTable, func(name string) bool { return fileFormat(name) != "" })
	if err == nil && len(paths) == 0 {
		err = &InputError{Path: path, Cause: "no files of " + format + " there", Remedy: "name a file, or the folder of the files"}
	}
	return &folder{paths: paths, open: func(name string) (Text, error) { return Open(fileFormat(name), name, o) }}, err
}

// filesBelow returns the paths of the files of a folder that takes says yes to, or
// path itself if it is a file that it does. into is asked of every folder before it
// is entered; nil: all may be.
func filesBelow(path string, into func(dir string) error, takes func(name string) bool) (paths []string, err error) {
	err = filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return &InputError{Path: name, Cause: inputCause(err), Remedy: "check the path and its permissions"}
		case name != path && strings.ContainsAny(e.Name()[:1], "._"):
			if e.IsDir() {
				return fs.SkipDir
			}
		case e.IsDir():
			if into != nil {
				return into(name)
			}
		case takes(name):
			paths = append(paths, name)
		}
		return nil
	})
	return paths, err
}

// Warnings implements Text: those of all files.
func (r *folder) Warnings() Warnings {
	all := r.warned
	if r.now != nil {
		all.add(r.now.Warnings())
	}
	return all
}

// Close closes the file at hand.
func (r *folder) Close() error {
	if r.now == nil {
		return nil
	}
	r.warned.add(r.now.Warnings())
	err := r.now.Close()
	r.now = nil
	return err
}

// Next implements pipeline.Source. Rows count through all files.
func (r *folder) Next(b *pipeline.Batch) error {
	for {
		if r.now == nil {
			if len(r.paths) == 0 {
				return io.EOF
			}
			var err error
			if r.now, err = r.open(r.paths[0]); err != nil {
				return err
			}
			r.paths = r.paths[1:]
		}
		err := r.now.Next(b)
		if err == nil {
			b.First = r.row
			r.row += int64(b.Len())
			return nil
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
		if err := r.Close(); err != nil {
			return err
		}
		b.Reset()
	}
}
