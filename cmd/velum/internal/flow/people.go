package flow

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/form/people"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/parquet"
	"github.com/velum-health/velum/stages/read/text"
	"github.com/velum-health/velum/stages/recognize"
)

// People is who is known, and who objects.
type People struct {
	Table   *people.Table // nil: nobody is known
	Objects *Objections   // nil: nobody objects
	Passed  []string      // columns of the table that hold nothing that is looked for
	Empty   int64         // rows of it with nothing that could be found
	file    *os.File
}

// Close gives the index back.
func (p *People) Close() error {
	if p == nil || p.file == nil {
		return nil
	}
	return p.file.Close()
}

// OpenPeople reads the tables of known people and of those who object; nil if the
// configuration has none. The index of known people is a file without a name in
// the folder beside the output, near: it ends with the process, however that
// ends, and nobody else can open it.
func OpenPeople(c *option.Config, near string) (*People, error) {
	if c.People.Table == "" && c.People.Exclude == "" {
		return nil, nil
	}
	if c.Read.Columns.Patient == "" {
		return nil, exit.Errorf(exit.Config, "name the column of the patient's id with read.columns.patient", "people.table and people.exclude are joined with the notes by patient")
	}
	p := &People{}
	var err error
	if c.People.Exclude != "" {
		if p.Objects, err = ReadObjections(c); err != nil {
			return nil, err
		}
	}
	if c.People.Table == "" {
		return p, nil
	}
	if p.file, err = durable.NamelessFile(near); err != nil {
		return nil, err
	}
	if err := p.read(c); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// tableOptions are how tables beside the archive are read: as text of UTF-8, or
// what read.encoding says.
func tableOptions(c *option.Config) (o text.Options, err error) {
	if o.Encoding, err = input.ParseEncoding(c.Read.Encoding); err != nil {
		return o, exit.With(exit.Config, err, "")
	}
	o.Comma, err = delimiter(c.Read.Delimiter)
	return o, err
}

// read makes the table of known people.
func (p *People) read(c *option.Config) error {
	o, err := tableOptions(c)
	if err != nil {
		return err
	}
	b := people.NewBuilder(p.file)
	var fields []people.Field
	var row []people.Value
	err = read.EachRow(c.People.Table, o, func(names []string) (err error) {
		fields, err = p.fields(c, names)
		return err
	}, func(n int64, cells []parquet.Cell) error {
		row = row[:0]
		for _, cell := range cells {
			text := cell.Text
			if fields[cell.Column] == people.Patient {
				text = string(read.PatientForm(PatientRules(c), cell))
			}
			row = append(row, people.Value{Field: fields[cell.Column], Text: text})
		}
		err := b.Add(row)
		if errors.Is(err, people.ErrNothing) {
			p.Empty++
			return nil
		}
		return err
	})
	if err == nil {
		p.Table, err = b.Table(p.file)
	}
	return InputError(err)
}

// fields tells what each column holds.
func (p *People) fields(c *option.Config, names []string) ([]people.Field, error) {
	fields := make([]people.Field, len(names))
	something := false
	for _, from := range sortedNames(c.People.Columns) {
		if !slices.Contains(names, from) {
			return nil, exit.Errorf(exit.Config, hasColumns(c.People.Table, names), "people.columns: %s has no column %q", c.People.Table, from)
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
	remedy := fmt.Sprintf("name columns %s, or say in people.columns which column is which; the table has: %s", strings.Join(people.FieldNames(), ", "), strings.Join(names, ", "))
	if !slices.Contains(fields, people.Patient) {
		return nil, exit.Errorf(exit.Config, remedy, "people.table: %s has no column of patients' ids", c.People.Table)
	}
	if !something {
		return nil, exit.Errorf(exit.Config, remedy, "people.table: %s has no column of names, dates of birth, addresses, telephones or ids", c.People.Table)
	}
	return fields, nil
}

// hasColumns says what columns a table has. The first line of CSV may be no header
// but somebody's data: of it no more than the number is said.
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

// recognized is the step of known people: those of tables, and with fields those that
// documents themselves name. None without either.
func (f *Flow) recognized(fields bool) ([]pipeline.Step, error) {
	if nobody := f.People == nil || f.People.Table == nil && !f.People.Objects.Anybody(); nobody && !fields {
		return nil, nil
	}
	set, err := pipeline.Labels(f.labels())
	o := recognize.Options{PatientColumn: input.PatientColumn, Labels: set, Workers: f.Workers()}
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
	return []pipeline.Step{recognize.New(o)}, err
}
