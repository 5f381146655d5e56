package read

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/text"
)

// Text reads notes with gold spans.
type Text interface {
	pipeline.Source
	Warnings() text.Warnings // complete after io.EOF
	Close() error
}

// formats lists the formats that Open reads, in the order in which users are told of them.
var formats = []struct {
	name string
	open func(path string, o text.Options) (Text, error)
}{
	{"parquet", openParquet},
	{"brat", func(p string, o text.Options) (Text, error) { return text.NewBrat(p, o) }},
	{"i2b2", func(p string, o text.Options) (Text, error) { return text.NewI2B2(p, o) }},
	{"jsonl", func(p string, o text.Options) (Text, error) { return text.NewJSONL(p, o) }},
	{"csv", func(p string, o text.Options) (Text, error) { return text.NewCSV(p, o) }},
}

// openParquet opens tagged notes, if that is what the files say that they are,
// and else a file of notes with spans.
func openParquet(path string, o text.Options) (Text, error) {
	if isTagged(path) {
		return NewTaggedFiles(path, o)
	}
	return text.NewParquet(path, o)
}

// Formats returns the names that Open accepts.
func Formats() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// ofFiles tells whether path is a folder of files that have notes each for themselves: not one whose files make up notes
// together, as in brat, i2b2 and tagged notes.
func ofFiles(format, path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() || format == "brat" || format == "i2b2" {
		return false
	}
	return format != "parquet" || !isTagged(path)
}

// Open opens notes of a format: a folder for brat and i2b2, a file or a folder of files for the others.
func Open(format, path string, o text.Options) (Text, error) {
	i := slices.Index(Formats(), format)
	if i < 0 {
		return nil, fmt.Errorf("unknown format %q; known: %s", format, strings.Join(Formats(), ", "))
	}
	if path != "-" {
		if err := archive.InTable(path); err != nil {
			return nil, err
		}
	}
	open := formats[i].open
	if ofFiles(format, path) {
		open = func(path string, o text.Options) (Text, error) { return openFolder(format, path, o) }
	}
	r, err := open(path, o)
	if err != nil {
		return nil, err // not r: a nil reader in an interface is not nil
	}
	return r, nil
}
