package read

import (
	"fmt"
	"slices"
	"strings"

	"github.com/velum-health/velum/pipeline"
)

// Text is a reader of notes with gold spans.
type Text interface {
	pipeline.Source
	Warnings() Warnings // complete after io.EOF
	Close() error
}

// formats is what Open knows, in the order in which it is told to users.
var formats = []struct {
	name string
	open func(path string, o TextOptions) (Text, error)
}{
	{"parquet", openParquet},
	{"brat", func(p string, o TextOptions) (Text, error) { return NewBrat(p, o) }},
	{"i2b2", func(p string, o TextOptions) (Text, error) { return NewI2B2(p, o) }},
	{"conll", func(p string, o TextOptions) (Text, error) { return NewCoNLL(p, o) }},
	{"jsonl", func(p string, o TextOptions) (Text, error) { return NewJSONL(p, o) }},
	{"csv", func(p string, o TextOptions) (Text, error) { return NewCSV(p, o) }},
}

// openParquet opens tagged notes, if that is what the files say that they are,
// and else tables of notes and spans.
func openParquet(path string, o TextOptions) (Text, error) {
	if isTagged(path) {
		return NewTaggedFiles(path, o)
	}
	return NewTables(path, o)
}

// Formats returns the names that Open takes.
func Formats() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// Open opens notes of the named format: a folder for brat and i2b2, a folder
// or a file for parquet (tables, or tagged notes), a file for the others.
func Open(format, path string, o TextOptions) (Text, error) {
	i := slices.Index(Formats(), format)
	if i < 0 {
		return nil, fmt.Errorf("unknown format %q; known: %s", format, strings.Join(Formats(), ", "))
	}
	r, err := formats[i].open(path, o)
	if err != nil {
		return nil, err // not r: a nil reader in an interface is not nil
	}
	return r, nil
}
