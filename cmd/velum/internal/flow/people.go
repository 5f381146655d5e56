package flow

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/form/people"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/patientid"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/parquet"
	"github.com/velum-health/velum/stages/read/text"
	"github.com/velum-health/velum/stages/recognize"
)

// People holds what is known of patients and staff from the tables of the institution, and who objects.
type People struct {
	Table   *people.Table // nil: nobody is known
	Objects *Objections   // nil: nobody objects
	Passed  []string      // columns of the table that hold nothing that is looked for
	Empty   int64         // rows of it with nothing that could be found
	Given   *Given        // what others have found; nil: nothing
	file    *os.File
}

// Close closes the file of the index.
func (p *People) Close() error {
	if p == nil || p.file == nil {
		return nil
	}
	return p.file.Close()
}

// OpenPeople reads the tables of known people and of objectors; it returns nil if the configuration names none. The
// index of known people is an unnamed file in the folder near, beside the output: it vanishes with the process, and no
// other process can open it. The patients, relatives and staff of a FHIR bulk export among the files in are read as
// such a table, too.
func OpenPeople(c *option.Config, near string, in ...string) (*People, error) {
	exports := peopleFiles(in)
	if c.People.Table == "" && c.People.Exclude == "" && c.Resolve.Spans == "" && len(exports) == 0 {
		return nil, nil
	}
	if c.Read.Columns.Patient == "" && c.People.Table+c.People.Exclude != "" {
		return nil, exit.Misconfiguredf("name the column of the patient's id with read.columns.patient",
			"people.table and people.exclude are joined with the notes by patient")
	}
	p := &People{}
	var err error
	if c.Resolve.Spans != "" {
		if p.Given, err = openGiven(c); err != nil {
			return nil, err
		}
	}
	if c.People.Exclude != "" {
		if p.Objects, err = ReadObjections(c); err != nil {
			return nil, err
		}
	}
	if c.People.Table == "" && len(exports) == 0 {
		return p, nil
	}
	if p.file, err = durable.NamelessFile(near); err != nil {
		return nil, err
	}
	b := people.NewBuilder(p.file)
	if c.People.Table != "" {
		err = p.read(c, b)
	}
	for _, path := range exports {
		err = cmp.Or(err, p.readExport(b, path))
	}
	if err == nil {
		p.Table, err = b.Table(p.file)
	}
	if err != nil {
		return nil, errors.Join(InputError(err), p.Close())
	}
	return p, nil
}

// exported matches the name of a file with persons in a FHIR bulk export.
var exported = regexp.MustCompile(`(?i)^(Patient|RelatedPerson|Practitioner)([^A-Za-z].*)?\.ndjson(\.gz|\.zst)?$`)

// peopleFiles returns the files of an archive that hold persons. Read errors are reported later, with the archive.
func peopleFiles(in []string) (files []string) {
	for _, root := range in {
		_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && exported.MatchString(entry.Name()) {
				files = append(files, path)
			}
			return nil
		})
	}
	return files
}

// readExport adds the persons in a file of FHIR resources. Invalid lines are reported later, with the archive.
func (p *People) readExport(b *people.Builder, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	in, _, err := text.Unpacked(f, path)
	if err != nil {
		return err
	}
	for {
		line, end := in.ReadBytes('\n')
		if row := people.FromFHIR(line, func(id string) string { return string(patientid.AppendText(nil, []byte(id))) }); row != nil {
			if err := p.add(b, row); err != nil {
				return err
			}
		}
		if end == io.EOF {
			return nil
		} else if end != nil {
			return end
		}
	}
}

// add adds a row, or counts it as empty if it holds nothing that could be found in a note.
func (p *People) add(b *people.Builder, row []people.Value) error {
	err := b.Add(row)
	if errors.Is(err, people.ErrNothing) {
		p.Empty++
		return nil
	}
	return err
}

// tableOptions are how tables beside the archive are read: as text of UTF-8, or
// what read.encoding says.
func tableOptions(c *option.Config) (o text.Options, err error) {
	if o.Encoding, err = input.ParseEncoding(c.Read.Encoding); err != nil {
		return o, exit.Misconfigured(err, "")
	}
	o.Comma, err = delimiter(c.Read.Delimiter)
	return o, err
}

// read adds the rows of the table of known people.
func (p *People) read(c *option.Config, b *people.Builder) error {
	o, err := tableOptions(c)
	if err != nil {
		return err
	}
	var fields []people.Field
	var row []people.Value
	return read.EachRow(c.People.Table, o, func(names []string) (err error) {
		fields, err = p.fields(c, names)
		return err
	}, func(n int64, cells []parquet.Cell) error {
		row = row[:0]
		for _, cell := range cells {
			text := cell.Text
			if fields[cell.Column] == people.Patient {
				text = string(read.PatientForm(cell))
			}
			row = append(row, people.Value{Field: fields[cell.Column], Text: text})
		}
		return p.add(b, row)
	})
}

// fields tells what each column holds.
func (p *People) fields(c *option.Config, names []string) ([]people.Field, error) {
	fields := make([]people.Field, len(names))
	something := false
	for _, from := range sortedNames(c.People.Columns) {
		if !slices.Contains(names, from) {
			return nil, exit.Misconfiguredf(hasColumns(c.People.Table, names), "people.columns: %s has no column %q", c.People.Table, from)
		}
	}
	for i, name := range names {
		fields[i] = people.FieldOf(name)
		if to, ok := c.People.Columns[name]; ok {
			fields[i] = people.FieldOf(to)
		}
		if fields[i] == people.NoField {
			p.Passed = append(p.Passed, name)
		}
		something = something || fields[i] > people.RoleField
	}
	remedy := fmt.Sprintf("name columns %s, or say in people.columns which column is which; the table has: %s",
		strings.Join(people.FieldNames(), ", "), strings.Join(names, ", "))
	if !slices.Contains(fields, people.Patient) {
		return nil, exit.Misconfiguredf(remedy, "people.table: %s has no column of patients' ids", c.People.Table)
	}
	if !something {
		return nil, exit.Misconfiguredf(remedy, "people.table: %s has no column of names, dates of birth, addresses, telephones or ids",
			c.People.Table)
	}
	return fields, nil
}

// hasColumns describes the columns of a table for an error. If the first line of a CSV file may be personal data and no
// header, only the number of columns is given.
func hasColumns(path string, names []string) string {
	if read.IsCSV(path) {
		return fmt.Sprintf("the table has %d columns", len(names))
	}
	return "the table has: " + strings.Join(names, ", ")
}

func sortedNames(m map[string]string) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// recognized returns the step that finds known people: those in tables and, with fields, those in the fields of
// documents; none without either.
func (f *Flow) recognized(fields bool) ([]pipeline.Step, error) {
	if nobody := f.People == nil || f.People.Table == nil && f.People.Given == nil && !f.People.Objects.Anybody(); nobody && !fields {
		return nil, nil
	}
	set, err1 := pipeline.Labels(f.labels())
	into, err2 := IntoLabels(f.labels())
	err := errors.Join(err1, err2)
	o := recognize.Options{Into: into, PatientColumn: input.PatientColumn, Labels: set, Workers: f.Workers()}
	if f.People != nil {
		o.People, o.Excluded = f.People.Table, f.People.Objects.sets()
	}
	if fields {
		document, err := documentOptions(f.Config)
		if err != nil {
			return nil, err
		}
		o.Source, o.Document = input.SourceColumn, document
	}
	return append(f.People.given(), recognize.New(o)), err
}
