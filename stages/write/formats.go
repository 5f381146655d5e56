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
	{"parquet", newNotes}, {"brat", newBrat}, {"jsonl", newJSONL}, {"csv", newCSV},
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
	return formats[i].create(path, o)
}
