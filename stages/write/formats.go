package write

import (
	"fmt"
	"slices"
	"strings"

	"github.com/velum-health/velum/pipeline"
)

// Text writes notes with spans. It must be ended by Close or Abort.
type Text interface {
	pipeline.Sink
	Skipped() int // notes that the format cannot hold
	Close() error // gives files that are still unfinished their names
	Abort()       // removes files that are still unfinished
}

// formats lists the formats that Create writes, in the order in which users are told of them.
var formats = []struct {
	name   string
	create func(path string, o TextOptions) (Text, error)
}{
	{"parquet", func(p string, o TextOptions) (Text, error) { return NewNotes(p, o) }},
	{"brat", func(p string, o TextOptions) (Text, error) { return NewBrat(p, o) }},
	{"jsonl", func(p string, o TextOptions) (Text, error) { return NewJSONL(p, o) }},
	{"csv", func(p string, o TextOptions) (Text, error) { return NewCSV(p, o) }},
}

// Formats returns the names that Create accepts.
func Formats() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// Create creates an output of a format: a folder for parquet and brat, a file for the others.
func Create(format, path string, o TextOptions) (Text, error) {
	i := slices.Index(Formats(), format)
	if i < 0 {
		return nil, fmt.Errorf("unknown format %q; known: %s", format, strings.Join(Formats(), ", "))
	}
	w, err := formats[i].create(path, o)
	if err != nil {
		return nil, err // not w: a nil writer in an interface is not nil
	}
	return w, nil
}
