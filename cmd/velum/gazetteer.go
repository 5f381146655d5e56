package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/models/gazetteer"
	"github.com/velum-health/velum/pipeline/durable"
)

func newGazetteerCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "gazetteer",
		Short: "Compile lists of names, places and words into one file; look into such a file",
		Example: `  velum gazetteer build --out names.velum hombres.csv,mujeres.csv apellidos.csv --words es_50k.txt
  velum gazetteer show names.velum Rosa "María Carmen"`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newGazetteerBuildCommand(a), newGazetteerShowCommand(a))
	return c
}

type gazetteerFlags struct {
	out, name string
	words     []string
	maxBad    float64
}

func newGazetteerBuildCommand(a *app) *cobra.Command {
	var f gazetteerFlags
	c := &cobra.Command{
		Use:   "build --out FILE [CLASS=]LIST[,LIST...][?form=COLUMN&count=COLUMN+COLUMN]...",
		Short: "Compile lists into one file",
		Long: `Compile lists into one file: CSV or TSV (compressed with gzip or not), words with counts,
the lists of INE, Softcatalà and wordfreq, plain lines. Class and columns are told from the
header where they can be; otherwise say them:

  GivenName=staff.csv?form=name          the column "name" holds given names
  Surname=list.tsv?form=1&count=3+4      columns by number, two counts added
  Drug=drugs.txt                         one entry a line
  own.csv?form=word&separator=;          a column "class" names the class of each entry

Counts of one form are added within an argument (men and women, say) and the largest counts
between arguments, which may be editions of one census. A place's official name gives all
its names: "Pobla de Massaluca, La", "Alicante/Alacant". Rows that cannot be used are left
out, counted and named by their place. --words gives the frequency of common words, against
which names are held: a word is ambiguous where its ratio is small.

Classes: ` + strings.Join(gazetteer.ClassNames(), ", ") + `.`,
		Example: `  velum gazetteer build --out names.velum hombres.csv,mujeres.csv apellidos.csv --words es_50k.txt
  velum gazetteer build --out staff.velum GivenName=staff.csv?form=first Surname=staff.csv?form=last`,
		RunE: func(_ *cobra.Command, args []string) error { return a.buildGazetteer(&f, args) },
	}
	flags := c.Flags()
	flags.StringVar(&f.out, "out", "", "`FILE` to write")
	flags.StringVar(&f.name, "name", "", "name of the lists (default: that of the file)")
	flags.StringSliceVar(&f.words, "words", nil, "`LISTS` of common words with their counts")
	flags.Float64Var(&f.maxBad, "max-bad", 0.01, "share of a list's rows that may be left out")
	return c
}

func newGazetteerShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show FILE [WORD...]",
		Short: "Print what a file holds, or what it knows of words and phrases",
		Example: `  velum gazetteer show names.velum
  velum gazetteer show names.velum Rosa garcía "María Carmen"`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Errorf(exit.Config, "see `velum gazetteer show --help`", "velum gazetteer show: name a file")
			}
			return a.showGazetteer(args[0], args[1:])
		},
	}
}

// listArgument is one argument of `velum gazetteer build`.
type listArgument struct {
	files  []string
	source gazetteer.Source
}

// parseListArgument reads [CLASS=]LIST[,LIST...][?key=value&key=value].
func parseListArgument(arg string) (l listArgument, err error) {
	paths, options, _ := strings.Cut(arg, "?")
	if class, rest, named := strings.Cut(paths, "="); named {
		if l.source.Class, err = gazetteer.ParseClass(class); err != nil {
			return l, exit.With(exit.Config, err, flow.ClassRemedy(class))
		}
		paths = rest
	}
	l.files = strings.Split(paths, ",")
	if slices.Contains(l.files, "") {
		return l, exit.Errorf(exit.Config, "write [CLASS=]LIST", "%q names no list", arg)
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
	case key == "count" && value != "":
		l.source.Counts = strings.Split(value, "+")
	case key == "separator" && value == "tab":
		l.source.Separator = '\t'
	case key == "separator" && size == len(value) && strings.ContainsRune(",;:| \t", separator):
		l.source.Separator = separator
	case key == "header" && value == "no":
		l.source.NoHeader = true
	case key == "header" && value == "yes":
	default:
		return exit.Errorf(exit.Config, "known: form=COLUMN, count=COLUMN+COLUMN, separator=; (or tab), header=no", "a list has no option %q with that value", key)
	}
	return nil
}

func (a *app) buildGazetteer(f *gazetteerFlags, args []string) error {
	if f.out == "" || len(args) == 0 {
		return exit.Errorf(exit.Config, "see `velum gazetteer build --help`", "--out and at least one list are needed")
	}
	build := &gazetteerBuild{app: a, flags: f, builder: gazetteer.NewBuilder()}
	for _, arg := range args {
		l, err := parseListArgument(arg)
		if err != nil {
			return err
		}
		build.builder.Group()
		if err := build.lists(l, build.builder.Add); err != nil {
			return err
		}
	}
	for _, arg := range f.words {
		l, err := parseListArgument(arg)
		if err != nil {
			return err
		}
		l.source.Class = gazetteer.CommonWord
		word := func(e gazetteer.Entry) { build.builder.Word(e.Form, e.Frequency) }
		if err := build.lists(l, word); err != nil {
			return err
		}
	}
	return build.save()
}

// gazetteerBuild is one run of `velum gazetteer build`.
type gazetteerBuild struct {
	*app
	flags     *gazetteerFlags
	builder   *gazetteer.Builder
	rows, bad int
}

// lists reads the files of one argument.
func (b *gazetteerBuild) lists(l listArgument, add func(gazetteer.Entry)) error {
	for _, path := range l.files {
		data, err := os.ReadFile(path)
		if err != nil {
			return exit.With(exit.Config, err, "name a list")
		}
		l.source.Name = path
		got, err := l.source.Read(bytes.NewReader(data), add)
		if row := new(gazetteer.RowError); errors.As(err, &row) {
			return exit.With(exit.Config, row, row.Remedy)
		}
		if err != nil {
			return exit.With(exit.Config, err, "is it a list?")
		}
		for _, why := range got.Why {
			b.Log.Warn("row left out", "at", why.Error(), "remedy", why.Remedy)
		}
		if got.Rows == 0 || float64(got.Bad) > b.flags.maxBad*float64(got.Rows+got.Bad) {
			return b.tooBad(path, got)
		}
		b.rows, b.bad = b.rows+got.Rows, b.bad+got.Bad
		b.builder.Source(gazetteer.SourceHeader{
			File: filepath.Base(path), SHA256: fmt.Sprintf("%x", sha256.Sum256(data)), Rows: got.Rows, Bad: got.Bad,
		})
	}
	return nil
}

func (b *gazetteerBuild) tooBad(path string, got gazetteer.Intake) error {
	remedy := "look at the rows named above, or allow more with --max-bad"
	if len(got.Why) > 0 {
		remedy = "first: " + got.Why[0].Error() + "; " + got.Why[0].Remedy
	}
	return exit.Errorf(exit.Config, remedy, "%s: %d of %d rows cannot be used", path, got.Bad, got.Rows+got.Bad)
}

func (b *gazetteerBuild) save() error {
	name := b.flags.name
	if name == "" {
		name = strings.TrimSuffix(filepath.Base(b.flags.out), filepath.Ext(b.flags.out))
	}
	table, err := b.builder.Table(name)
	if err != nil {
		return err
	}
	var file bytes.Buffer
	if err := table.Write(&file); err != nil {
		return err
	}
	if err := durable.WriteFile(nil, b.flags.out, file.Bytes()); err != nil {
		return err
	}
	if b.JSON {
		return json.NewEncoder(b.Out).Encode(map[string]any{
			"message_type": "gazetteer", "file": b.flags.out, "bytes": file.Len(), "rows": b.rows, "bad": b.bad, "header": table.Header(),
		})
	}
	_, err = fmt.Fprintf(b.Out, "%s: %.1f MB, %d entries from %d rows, %d rows left out\n", b.flags.out, float64(file.Len())/1e6, table.Header().Entries, b.rows, b.bad)
	return err
}

func (a *app) showGazetteer(path string, words []string) error {
	t, err := flow.OpenTable(path)
	if err != nil {
		return err
	}
	if len(words) == 0 {
		return a.showStats(path, t)
	}
	for _, w := range words {
		if err := a.showWord(t, w); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) showStats(path string, t *gazetteer.Table) error {
	h := t.Header()
	if a.JSON {
		return json.NewEncoder(a.Out).Encode(map[string]any{"message_type": "gazetteer", "file": path, "header": h})
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: %d entries, fingerprint %x\n", path, h.Entries, h.Print)
	for _, name := range gazetteer.ClassNames() {
		if sum, ok := h.Classes[name]; ok {
			fmt.Fprintf(&b, "  %-16s %8d forms, counts add up to %d\n", name, sum.Forms, sum.Count)
		}
	}
	if h.Words != nil {
		fmt.Fprintf(&b, "  %-16s %8d forms, counts add up to %d\n", "common words", h.Words.Forms, h.Words.Count)
	}
	for _, s := range h.Sources {
		fmt.Fprintf(&b, "  from %s: %d rows, %d left out, sha256 %.12s\n", s.File, s.Rows, s.Bad, s.SHA256)
	}
	_, err := io.Copy(a.Out, &b)
	return err
}

// showWord prints one line a class of a word.
func (a *app) showWord(t *gazetteer.Table, word string) error {
	f, known := t.Find(word)
	if a.JSON {
		return json.NewEncoder(a.Out).Encode(describeFound(t, word, f))
	}
	if !known {
		_, err := fmt.Fprintf(a.Out, "%s: in no list\n", word)
		return err
	}
	for rest := f.Class; rest != 0; rest &= rest - 1 {
		c := rest & -rest
		name, common := t.Relative(f, c)
		against := "no common word"
		if common > 0 {
			against = fmt.Sprintf("%.3g times as frequent as the common word", name/common)
		}
		if name == 0 {
			against = "count not known"
		}
		if _, err := fmt.Fprintf(a.Out, "%s: %v, %d (%.3g of all), %s\n", word, c, f.Count(c), name, against); err != nil {
			return err
		}
	}
	return nil
}

// foundJSON is what a table knows of a word as one class.
type foundJSON struct {
	Class    string  `json:"class"`
	Count    int     `json:"count"`
	Relative float64 `json:"relative"`
	Ratio    float64 `json:"ratio,omitempty"` // to the common word's; 0: none
}

func describeFound(t *gazetteer.Table, word string, f gazetteer.Found) map[string]any {
	classes := []foundJSON{}
	for rest := f.Class; rest != 0; rest &= rest - 1 {
		c := rest & -rest
		name, common := t.Relative(f, c)
		j := foundJSON{Class: c.String(), Count: f.Count(c), Relative: name}
		if common > 0 {
			j.Ratio = name / common
		}
		classes = append(classes, j)
	}
	return map[string]any{"word": word, "form": f.Form, "common_word_count": f.Word, "classes": classes}
}
