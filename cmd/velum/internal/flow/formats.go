package flow

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/text"
	"github.com/velum-health/velum/stages/write"
)

// extensions lists the file extensions of each format, by which formats are recognized.
var extensions = map[string]string{
	".ann": "brat", ".xml": "i2b2", ".parquet": "parquet",
	".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv", ".tsv": "csv",
}

// FormatOf returns the format called name, or, if name is "", the format of the files at path.
func FormatOf(flag, name, path string) (string, error) {
	if name != "" {
		if slices.Contains(read.Formats(), name) {
			return name, nil
		}
		return "", exit.Misconfiguredf(exit.Suggest(name, read.Formats()), "--%s: unknown format %q", flag, name)
	}
	if path == text.Stdin {
		return "jsonl", nil
	}
	ext := filepath.Ext(strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst"))
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		ext = cmp.Or(firstExt(path), ext) // its own, where a conversion that was killed left nothing else
	}
	if format := extensions[strings.ToLower(ext)]; format != "" {
		return format, nil
	}
	return "", exit.Misconfiguredf("name one with --"+flag+" "+strings.Join(read.Formats(), "|"),
		"%s: its format cannot be told from its name", path)
}

// firstExt finds the first file below dir that has the extension of a format.
func firstExt(dir string) (found string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		ext := strings.ToLower(filepath.Ext(path))
		if err == nil && !d.IsDir() && extensions[ext] != "" {
			found = ext
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// TextOptions returns the options of the configuration for labelled notes.
func TextOptions(c *option.Config) (o text.Options, err error) {
	if o.Encoding, err = input.ParseEncoding(c.Read.Encoding); err != nil {
		return o, exit.Misconfigured(err, "")
	}
	if o.Comma, err = delimiter(c.Read.Delimiter); err != nil {
		return o, err
	}
	if c.Given("read.columns.id") {
		if len(c.Read.Columns.ID) != 1 {
			return o, exit.Misconfiguredf("name one in read.columns.id, or with --id", "labelled notes have one column of ids")
		}
		o.IDColumn = c.Read.Columns.ID[0]
	}
	if c.Given("read.columns.text") {
		o.TextColumn = c.Read.Columns.Text
	}
	o.SkipUnknown = c.Read.SkipUnknown
	o.Category, err = categoriesOf(c.Read.Labels)
	return o, err
}

// delimiter reads the one character of read.delimiter; "" and 0 mean any.
func delimiter(text string) (rune, error) {
	if text == "" {
		return 0, nil
	}
	if text == `\t` {
		return '\t', nil
	}
	comma, size := utf8.DecodeRuneInString(text)
	if size != len(text) {
		return 0, exit.Misconfiguredf("give one character, or none to look at the header", "read.delimiter")
	}
	return comma, nil
}

// categoriesOf returns the category of every label: the one in labels, or else the category of that name. nil means the
// latter for all labels.
func categoriesOf(labels map[string]string) (func(string) (pipeline.Category, error), error) {
	if len(labels) == 0 {
		return nil, nil
	}
	to := map[string]pipeline.Category{}
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		name := labels[label]
		if strings.EqualFold(name, "none") {
			to[label] = pipeline.None
			continue
		}
		category, err := pipeline.ParseCategory(name)
		if err != nil {
			return nil, exit.Misconfigured(fmt.Errorf("read.labels: %s: %w", label, err), labelRemedy(name))
		}
		to[label] = category
	}
	return func(label string) (pipeline.Category, error) {
		if category, ok := to[label]; ok {
			return category, nil
		}
		return pipeline.ParseCategory(label)
	}, nil
}

// labelRemedy suggests what a label may be mapped to: the nearest category, or those of primary care.
func labelRemedy(name string) string {
	known := append(option.LabelNames("primary-care"), "NONE")
	if near := exit.DidYouMean(name, known); near != "" {
		return near
	}
	return strings.Join(known, ", ") + " (leaves it out); `velum run options --schema` has all categories"
}

// OpenNotes opens labelled notes of any format. A wrong path or a broken file is an error with exit code 10.
func OpenNotes(flag, format, path string, o text.Options) (read.Text, error) {
	format, err := FormatOf(flag, format, path)
	if err != nil {
		return nil, err
	}
	src, err := read.Open(format, path, o)
	if err != nil {
		return nil, exit.Misconfigured(err, "")
	}
	return src, nil
}

// CreateNotes creates the output file of a verb that writes labelled notes.
func CreateNotes(flag, format, path string, o write.TextOptions) (write.Text, error) {
	format, err := FormatOf(flag, format, path)
	if err != nil {
		return nil, err
	}
	dst, err := write.Create(format, path, o)
	if err != nil {
		err = exit.Misconfigured(err, "")
	}
	return dst, err
}
