package read

import (
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/parquet"
	"github.com/velum-health/velum/stages/read/tagged"
	"github.com/velum-health/velum/stages/read/text"
)

// NewTaggedFiles reads the tagged notes of a file, or of all Parquet files of a folder in the order of their paths, as
// notes with gold spans, so that a selection set can train the next model. o sets the size of batches; errors of the
// source are those of tagged.New.
func NewTaggedFiles(path string, o text.Options) (Text, error) {
	paths, err := taggedPaths(path)
	if err != nil {
		return nil, err
	}
	o = o.WithDefaults()
	t := tagged.Options{NotesOnly: true, BatchNotes: o.Notes, BatchBytes: o.Bytes}
	return &folder{paths: paths, open: func(name string) (Text, error) {
		notes, err := tagged.Open(name, t)
		if err != nil {
			return nil, err
		}
		return taggedFile{notes}, nil
	}}, nil
}

func taggedPaths(path string) ([]string, error) {
	paths, err := filesBelow(path, nil, func(name string) bool {
		return name == path || archive.FormatOf(name) == "parquet"
	})
	if err == nil && len(paths) == 0 {
		err = &input.Error{Path: path, Cause: "no Parquet files there", Remedy: tagged.Remedy}
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
	return parquet.Says(paths[0], pipeline.TagSetKey)
}

// taggedFile is one file of tagged notes.
type taggedFile struct{ *tagged.Reader }

// Warnings returns no warnings, since files of velum need none.
func (taggedFile) Warnings() text.Warnings { return text.Warnings{} }
