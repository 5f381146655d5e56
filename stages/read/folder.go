package read

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/text"
)

// folder reads the files of a folder, and of those below it, in the order of
// their paths: parts of a table, months.
// Names that begin with . or _ do not count, as in an archive.
type folder struct {
	paths  []string
	open   func(path string) (Text, error)
	now    Text // nil between files
	row    int64
	warned text.Warnings // of the files before
}

// openFolder finds the files. Those of other formats than the first one's are read
// too: a month is not left out because it was exported otherwise.
func openFolder(format, path string, o text.Options) (Text, error) {
	paths, err := filesBelow(path, archive.InTable, func(name string) bool { return archive.FormatOf(name) != "" })
	if err == nil && len(paths) == 0 {
		err = &input.Error{Path: path, Cause: "no files of " + format + " there", Remedy: "name a file, or the folder of the files"}
	}
	return &folder{paths: paths, open: func(name string) (Text, error) { return Open(archive.FormatOf(name), name, o) }}, err
}

// filesBelow returns the paths of the files of a folder that takes says yes to, or
// path itself if it is a file that it does. into is asked of every folder before it
// is entered; nil: all may be.
func filesBelow(path string, into func(dir string) error, takes func(name string) bool) (paths []string, err error) {
	err = filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return &input.Error{Path: name, Cause: input.Cause(err), Remedy: "check the path and its permissions"}
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

// Warnings implements Text: it returns the warnings of all files.
func (f *folder) Warnings() text.Warnings {
	all := f.warned
	if f.now != nil {
		all.Add(f.now.Warnings())
	}
	return all
}

// Close closes the current file.
func (f *folder) Close() error {
	if f.now == nil {
		return nil
	}
	f.warned.Add(f.now.Warnings())
	err := f.now.Close()
	f.now = nil
	return err
}

// Next implements pipeline.Source. Rows are numbered through all files.
func (f *folder) Next(b *pipeline.Batch) error {
	for {
		if f.now == nil {
			if len(f.paths) == 0 {
				return io.EOF
			}
			var err error
			if f.now, err = f.open(f.paths[0]); err != nil {
				return err
			}
			f.paths = f.paths[1:]
		}
		err := f.now.Next(b)
		if err == nil {
			b.First = f.row
			f.row += int64(b.Len())
			return nil
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
		b.Reset()
	}
}
