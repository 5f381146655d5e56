// Package propose inspects an unknown archive and proposes how to read it: the contents of files and columns with
// masked samples, a configuration, and the next commands. It reads only the first rows. Text of notes is printed only
// after masking, and only to standard output.
package propose

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/paced"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/parquet"
	"github.com/velum-health/velum/stages/read/text"
)

// Options holds the arguments of `velum init` beside the configuration.
type Options struct {
	In    string
	Out   string // file of the configuration that is written
	Yes   bool   // the proposal is taken without asking
	Force bool   // a file that is there is replaced
	Try   int    // so many notes are shown, and nothing is written
}

// proposal is all that is known of an archive.
type proposal struct {
	*console.Console
	o        *Options
	flow     *flow.Flow
	read     input.Options
	archive  *archive.Archive
	as       string // format that the configuration has to name; "": files' names tell
	table    *table // nil: files have no columns
	roles    roles
	notes    string // how many there are
	examples map[*column]*examples
}

// Run inspects o.In, asks questions if a person is at the terminal, and writes the configuration.
func Run(ctx context.Context, c *console.Console, cfg *option.Config, o *Options) error {
	if err := writable(c, o); err != nil {
		return err
	}
	f, err := flow.Open(cfg, nil)
	if err != nil {
		return err
	}
	p := &proposal{Console: c, o: o, flow: f, examples: map[*column]*examples{}}
	if p.read, err = flow.ReadOptions(cfg); err == nil {
		err = p.look(ctx)
	}
	switch {
	case err != nil:
		return flow.InputError(err)
	case o.Try > 0:
		return p.printNotes()
	case !c.JSON && !c.Quiet:
		if _, err := p.Printf("%s", p.text("summary")); err != nil {
			return err
		}
	}
	if !o.Yes && p.table != nil {
		if err := p.ask(ctx); err != nil {
			return err
		}
	}
	return p.write()
}

// writable refuses what could not be written, or asked, before anything is read.
func writable(c *console.Console, o *Options) error {
	if _, err := os.Stat(o.In); err != nil {
		return flow.InputError(&input.Error{Path: o.In, Cause: input.Cause(err), Remedy: "check the path and its permissions"})
	}
	if o.Try > 0 {
		return nil
	}
	if err := commit.Writable(o.Out, ""); err != nil {
		return err
	}
	if _, err := os.Lstat(o.Out); err == nil && !o.Force {
		return exit.Misconfiguredf("write another one with --out FILE, or replace it with --force", "%s is there already", o.Out)
	}
	if !o.Yes && (c.JSON || !c.Asks()) {
		return exit.Misconfiguredf("say --yes to take what is proposed", "nobody is there to be asked: this is no terminal")
	}
	return nil
}

// look finds the files, reads the first rows of their tables and masks some of them.
func (p *proposal) look(ctx context.Context) (err error) {
	if p.archive, err = archive.Find([]string{p.o.In}, p.read); err != nil {
		return err
	}
	var files []archive.File
	for _, f := range p.archive.Files {
		if f.Bytes > 0 {
			files = append(files, f)
		}
	}
	switch info, err := os.Stat(p.o.In); {
	case len(files) == 0:
		return p.nothing()
	case p.read.Format != "auto":
		p.as = p.read.Format
	case err == nil && !info.IsDir():
		if p.as, err = p.formatOf(&files[0]); err != nil {
			return err
		}
	}
	if f := cmp.Or(p.as, files[0].Format()); f != "parquet" && f != "csv" && f != "jsonl" {
		if f == "txt" && len(files) > 1 && p.isTable(&files[0]) {
			return p.strange("files called .txt that are tables", "call them .csv, or give one of them by its name")
		}
		src, err := p.unitsOf(ctx, files)
		if err != nil {
			return err
		}
		return p.draw(ctx, nil, src)
	}
	if p.table, err = lookAt(files, p.as, p.textOptions(), min(max(p.o.Try, mostKept), mostRows/10)); err != nil {
		return err
	}
	if p.roles, err = p.settled(); err != nil {
		return err
	}
	p.count(files)
	for _, c := range append([]*column{p.roles.text}, p.roles.others...) {
		if err := p.draw(ctx, c, &cells{p: p, text: c}); err != nil {
			return err
		}
	}
	return nil
}

func (p *proposal) textOptions() text.Options {
	return text.Options{Encoding: p.read.Encoding, Comma: p.read.Comma}
}

func (p *proposal) strange(cause, remedy string) error {
	return &input.Error{Path: p.o.In, Cause: cause, Remedy: remedy}
}

// nothing describes the files that were found instead of notes.
func (p *proposal) nothing() error {
	if len(p.archive.Files) > 0 {
		return p.strange("the file is empty", "export it again")
	}
	zips, _ := filepath.Glob(filepath.Join(p.o.In, "*.zip")) // a pattern that is none finds none
	if len(zips) > 0 {
		return p.strange("no files of notes, but "+input.PlainPart(filepath.Base(zips[0])), "unpack it: "+unzip(zips[0]))
	}
	return p.strange("no files of notes there",
		"give files of Parquet, CSV, TSV, JSONL or .txt, packed with gzip or zstd or not, or a folder of them")
}

func unzip(name string) string {
	return "unzip " + exit.Quoted(name) + " -d notes && velum init notes"
}

// formatOf returns the format of a file whose extension is missing or wrong; "" if the extension is right.
func (p *proposal) formatOf(f *archive.File) (string, error) {
	file, err := os.Open(f.Path)
	if err != nil {
		return "", p.strange(input.Cause(err), "check its permissions")
	}
	defer file.Close() // only read
	head := make([]byte, 4096)
	n, _ := file.Read(head) // what cannot be read is told by who reads it
	begin := string(head[:n])
	begins := func(magic string) bool { return strings.HasPrefix(begin, magic) }
	format := archive.FormatOf(f.Path) // "" of notes of a file each as well
	plain := format == "" && f.Format() != "parquet"
	switch {
	case begins("PAR1") && format != "parquet":
		return "parquet", nil
	case begins("PK\x03\x04") && strings.EqualFold(filepath.Ext(f.Path), ".zip"):
		return "", p.strange("is a zip file", "unpack it: "+unzip(f.Path))
	case begins("PK\x03\x04"), begins("\xd0\xcf\x11\xe0"):
		return "", p.strange("is a document or a workbook", "save its sheet as CSV (UTF-8)")
	case format == "parquet" && !begins("PAR1"):
		return "", p.strange("is no Parquet file", "export it again")
	case format != "", plain && f.Format() != "txt":
		return "", nil
	case begins("\x1f\x8b"), begins("\x28\xb5\x2f\xfd"):
		return "", p.strange("is packed, and its name does not say what is in it", "call it .csv.gz or .jsonl.gz")
	case begins("%PDF"), begins("SQLite format"), !plain && strings.Contains(begin, "\x00\x00"):
		return "", p.strange("is no file of notes", "export the notes as CSV, JSONL or Parquet")
	case strings.HasPrefix(strings.TrimSpace(begin), `{"`):
		return "jsonl", nil
	case !plain || f.Format() == "txt" && p.isTable(f):
		return "csv", nil
	}
	return "", nil
}

// isTable tells whether a file called .txt is a table: some rows of as many columns as it names.
func (p *proposal) isTable(f *archive.File) bool {
	t, err := lookAt([]archive.File{*f}, "csv", p.textOptions(), mostKept)
	return err == nil && len(t.columns) > 1 && t.rows >= 2 && t.head.Broken == 0 && t.headed()
}

// headed tells whether the first line has names of columns.
func (t *table) headed() bool {
	named := 0
	for _, c := range t.columns {
		named += points(c.name != "")
	}
	return 2*named > len(t.columns)
}

// count says how many notes there are: by what was read, by footers, or by the size of what was not read.
func (p *proposal) count(files []archive.File) {
	t := p.table
	rows, bytes := int64(0), int64(0)
	for i := range files {
		bytes += files[i].Bytes
		if l, err := p.layout(roles{text: p.roles.text}, files[i].Path); err == nil && l != nil {
			for _, g := range l.Groups {
				rows += g.Rows
			}
		}
	}
	switch {
	case t.whole:
		p.notes = fmt.Sprintf("%d notes", t.rows)
	case rows > 0:
		p.notes = fmt.Sprintf("%d notes", rows)
	default:
		p.notes = fmt.Sprintf("about %d notes", int64(t.rows)*bytes/max(t.bytes+int64(t.rows*len(t.columns)), 1))
	}
}

// settled determines the use of each column; those that the configuration names are kept.
func (p *proposal) settled() (r roles, err error) {
	t, cols := p.table, &p.flow.Read.Columns
	if strings.HasPrefix(strings.Join(t.head.Names, ""), "sep=") {
		return r, p.strange("begins with a line sep= as Excel writes it, not with the names of columns",
			"take it out: tail -n +2 FILE > other.csv")
	}
	if t.rows == 0 {
		return r, p.strange("no rows behind the names of its columns", "export it again")
	}
	if !t.headed() && t.head.Comma != 0 {
		return r, p.strange("what stands in the first line does not look like names of columns",
			"write a header line, or name the delimiter with --delimiter")
	}
	given := func(key, name string) *column {
		if !p.flow.Given(key) || name == "" || err != nil {
			return nil
		}
		c := t.byName(name)
		if c == nil {
			err = exit.Misconfiguredf("columns: "+t.names(), "%s: no column named %s", p.o.In, name)
		}
		return c
	}
	r.text = given("read.columns.text", cols.Text)
	r.patient = given("read.columns.patient", cols.Patient)
	r.date = given("read.columns.date", cols.Date)
	if len(cols.ID) > 0 {
		r.id = given("read.columns.id", cols.ID[0])
	}
	r = t.settle(r, func(r roles) bool { _, err := p.layout(r, p.archive.Files[0].Path); return err == nil })
	if r.text == nil && err == nil {
		err = exit.Misconfiguredf("name it with --text-column, or export a table that has notes; columns: "+t.names(),
			"%s: no column looks like notes", p.o.In)
	}
	return r, err
}

// layout asks whether a file of Parquet can be read with columns for these roles; nil for other files.
func (p *proposal) layout(r roles, path string) (*parquet.Layout, error) {
	if p.table.head.Encoding != "" {
		return nil, nil
	}
	o := p.read
	o.ID, o.IDs, o.PatientID, o.Date, o.Center, o.Pass = nil, input.DropIDs, "", "", "", nil
	o.Text = r.text.name
	if r.id != nil {
		o.ID = []string{r.id.name}
	}
	if r.patient != nil {
		o.PatientID = r.patient.name
	}
	if r.date != nil {
		o.Date = r.date.name
	}
	return parquet.Inspect(path, &o)
}

// printNotes shows masked notes, a line each.
func (p *proposal) printNotes() error {
	e := p.examples[p.roles.text]
	for _, n := range e.shown(p.o.Try) {
		if err := p.Tell(n, "{{.note_id}}  {{.text}}\n"); err != nil {
			return err
		}
	}
	if !p.Quiet {
		fmt.Fprintln(p.Errs, e.summary(p.o.Try))
	}
	return nil
}

// ask asks the user for the use of the columns; Enter accepts the value in brackets.
func (p *proposal) ask(ctx context.Context) error {
	in := bufio.NewReader(paced.NewReader(ctx, p.In))
	if _, err := p.Printf("\nEnter takes what stands in brackets, - is none.\n"); err != nil {
		return err
	}
	r := &p.roles
	was := r.text
	if err := p.askFor(ctx, in, "text", &r.text); err != nil {
		return err
	}
	if r.text == nil {
		return exit.Misconfiguredf("name the column of the notes", "without a text there is nothing to mask")
	}
	if r.text != was {
		*r = p.table.settle(roles{text: r.text}, func(r roles) bool { _, err := p.layout(r, p.archive.Files[0].Path); return err == nil })
		if err := p.draw(ctx, r.text, &cells{p: p, text: r.text}); err != nil {
			return err
		}
	}
	return cmp.Or(p.askFor(ctx, in, "id", &r.id), p.askFor(ctx, in, "patient", &r.patient), p.askFor(ctx, in, "date", &r.date))
}

// askFor asks for a role until a column is named that there is.
func (p *proposal) askFor(ctx context.Context, in *bufio.Reader, role string, to **column) error {
	proposed := "-"
	if *to != nil {
		proposed = (*to).name
	}
	for {
		if _, err := p.Printf("%s column [%s]: ", role, proposed); err != nil {
			return err
		}
		line, err := in.ReadString('\n')
		if err != nil {
			return cmp.Or(context.Cause(ctx), exit.Misconfiguredf("begin again, or say --yes", "the input ended before all was answered"))
		}
		switch line = strings.TrimSpace(line); {
		case line == "":
			return nil
		case line == "-":
			*to = nil
			return nil
		case p.table.byName(line) == nil:
			_, _ = p.Printf("  no column %s; there are %s\n", line, p.table.names())
		default:
			*to = p.table.byName(line)
			return nil
		}
	}
}
