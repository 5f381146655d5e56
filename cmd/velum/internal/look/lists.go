package look

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline/durable"
)

// MaxBad is the default for the share of a list's rows that may be invalid and skipped.
const MaxBad = 0.01

// ListOptions holds the arguments of `velum teach gazetteer`: lists to compile, or a compiled file to look words up in.
type ListOptions struct {
	Lists     []string // [CLASS=]LIST[,LIST...][?key=value&...], to compile
	File      string   // compiled lists, to look into
	Out, Name string
	Words     []string // lists of common words; words to look up
	MaxBad    float64  // share of a list's rows that may be left out
}

// listArgument is one argument of `velum teach gazetteer build`.
type listArgument struct {
	files  []string
	source gazetteer.Source
}

// parseListArgument reads [CLASS=]LIST[,LIST...][?key=value&key=value].
func parseListArgument(arg string) (l listArgument, err error) {
	paths, options, _ := strings.Cut(arg, "?")
	if class, rest, named := strings.Cut(paths, "="); named {
		if l.source.Class, err = gazetteer.ParseClass(class); err != nil {
			return l, exit.Misconfigured(err, files.ClassRemedy(class))
		}
		paths = rest
	}
	l.files = strings.Split(paths, ",")
	if slices.Contains(l.files, "") {
		return l, exit.Misconfiguredf("write [CLASS=]LIST", "%q names no list", arg)
	}
	for option := range strings.SplitSeq(options, "&") {
		if option == "" {
			continue
		}
		key, value, _ := strings.Cut(option, "=")
		if err := l.set(key, value); err != nil {
			return l, err
		}
	}
	return l, nil
}

func (l *listArgument) set(key, value string) error {
	separator, size := utf8.DecodeRuneInString(value)
	switch {
	case key == "form" && value != "":
		l.source.Form = value
	case key == "count" && !slices.Contains(strings.Split(value, "+"), ""):
		l.source.Counts = strings.Split(value, "+")
	case key == "separator" && value == "tab":
		l.source.Separator = '\t'
	case key == "separator" && size == len(value) && strings.ContainsRune(",;:| \t", separator):
		l.source.Separator = separator
	case key == "header" && value == "no":
		l.source.NoHeader = true
	case key == "header" && value == "yes":
	default:
		return exit.Misconfiguredf("known: form=COLUMN, count=COLUMN+COLUMN, separator=; (or tab), header=no",
			"a list has no option %q with that value", key)
	}
	return nil
}

// BuildList compiles lists into one file.
func BuildList(_ context.Context, c *console.Console, f *ListOptions) error {
	b := &building{Console: c, flags: f, builder: gazetteer.NewBuilder()}
	for _, arg := range f.Lists {
		l, err := parseListArgument(arg)
		if err != nil {
			return err
		}
		b.builder.Group()
		if err := b.lists(l, b.builder.Add); err != nil {
			return err
		}
	}
	for _, arg := range f.Words {
		l, err := parseListArgument(arg)
		if err != nil {
			return err
		}
		l.source.Class = gazetteer.CommonWord
		word := func(e gazetteer.Entry) { b.builder.Word(e.Form, e.Frequency) }
		if err := b.lists(l, word); err != nil {
			return err
		}
	}
	return b.save()
}

// building is one run of `velum teach gazetteer build`.
type building struct {
	*console.Console
	flags     *ListOptions
	builder   *gazetteer.Builder
	rows, bad int
}

// lists reads the files of one argument.
func (b *building) lists(l listArgument, add func(gazetteer.Entry)) error {
	for _, path := range l.files {
		data, err := os.ReadFile(path)
		if err != nil {
			return exit.Misconfigured(err, "name a list")
		}
		l.source.Name = path
		got, err := l.source.Read(bytes.NewReader(data), add)
		if row := new(gazetteer.RowError); errors.As(err, &row) {
			return exit.Misconfigured(row, row.Remedy)
		}
		if err != nil {
			return exit.Misconfigured(err, "is it a list?")
		}
		for _, why := range got.Why {
			b.Log.Warn("row left out", "at", why.Error(), "remedy", why.Remedy)
		}
		if got.Rows == 0 || float64(got.Bad) > b.flags.MaxBad*float64(got.Rows+got.Bad) {
			return b.tooBad(path, got)
		}
		b.rows, b.bad = b.rows+got.Rows, b.bad+got.Bad
		b.builder.Source(gazetteer.SourceHeader{
			File: filepath.Base(path), SHA256: fmt.Sprintf("%x", sha256.Sum256(data)), Rows: got.Rows, Bad: got.Bad,
		})
	}
	return nil
}

func (b *building) tooBad(path string, got gazetteer.Intake) error {
	if got.Rows+got.Bad == 0 {
		return exit.Misconfiguredf("leave the list out", "%s: a header and no rows", path)
	}
	remedy := "look at the rows named above, or allow more with --max-bad"
	if len(got.Why) > 0 {
		remedy = "first: " + got.Why[0].Error() + "; " + got.Why[0].Remedy
	}
	return exit.Misconfiguredf(remedy, "%s: %d of %d rows cannot be used", path, got.Bad, got.Rows+got.Bad)
}

func (b *building) save() error {
	name := b.flags.Name
	if name == "" {
		name = strings.TrimSuffix(filepath.Base(b.flags.Out), filepath.Ext(b.flags.Out))
	}
	table, err := b.builder.Table(name)
	if err != nil {
		return err
	}
	var file bytes.Buffer
	if err := table.Write(&file); err != nil {
		return err
	}
	if err := durable.WriteFile(nil, b.flags.Out, file.Bytes()); err != nil {
		return err
	}
	return b.Tell(map[string]any{
		"message_type": "gazetteer", "file": b.flags.Out, "bytes": file.Len(), "rows": b.rows, "bad": b.bad, "header": table.Header(),
	}, `{{.file}}: {{times 1e-6 .bytes | figure "%.1f"}} MB, {{.header.entries}} entries from {{.rows}} rows, {{.bad}} rows left out
`)
}

// List prints statistics of a file of compiled lists, or its entries for some words.
func List(_ context.Context, c *console.Console, f *ListOptions) error {
	t, err := files.OpenTable(f.File)
	if err != nil {
		return err
	}
	if len(f.Words) == 0 {
		return showStats(c, f.File, t)
	}
	for _, w := range f.Words {
		if err := showWord(c, t, w); err != nil {
			return err
		}
	}
	return nil
}

func showStats(c *console.Console, path string, t *gazetteer.Table) error {
	return c.Tell(map[string]any{"message_type": "gazetteer", "file": path, "header": t.Header(),
		"fingerprint": fmt.Sprintf("%x", t.Header().Print)}, statsText)
}

const statsText = `{{with .header}}{{$.file}}: {{.entries}} entries, fingerprint {{$.fingerprint}}
{{range $name, $sum := .classes}}  {{printf "%-16s %8d" $name .forms}} forms, counts add up to {{.count}}
{{end}}{{with .words}}  {{printf "%-16s %8d" "common words" .forms}} forms, counts add up to {{.count}}
{{end}}{{range .sources}}  from {{.file}}: {{.rows}} rows, {{or .bad 0}} left out, sha256 {{printf "%.12s" .sha256}}
{{end}}{{end}}`

// foundClass is the entry of a word as one class of a table.
type foundClass struct {
	Class    string  `json:"class"`
	Count    int     `json:"count"`
	Relative float64 `json:"relative"`
	Ratio    float64 `json:"ratio,omitempty"` // to the common word's; 0: none
}

// showWord prints one line a class of a word.
func showWord(c *console.Console, t *gazetteer.Table, word string) error {
	f, known := t.Find(word)
	classes := []foundClass{}
	for rest := f.Class; rest != 0; rest &= rest - 1 {
		class := rest & -rest
		name, common := t.Relative(f, class)
		found := foundClass{class.String(), f.Count(class), name, 0}
		if common > 0 {
			found.Ratio = name / common
		}
		classes = append(classes, found)
	}
	shown := map[string]any{"word": word, "form": f.Form, "common_word_count": f.Word, "classes": classes}
	if !known {
		return c.Tell(shown, "{{.word}}: in no list\n")
	}
	return c.Tell(shown, `{{range .classes}}{{$.word}}: {{.class}}, {{.count}} ({{figure "%.3g" .relative}} of all), {{if eq (figure "%g" .relative) "0" -}}
count not known{{else if .ratio}}{{figure "%.3g" .ratio}} times as frequent as the common word{{else}}no common word{{end}}
{{end}}`)
}
