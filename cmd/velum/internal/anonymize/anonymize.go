// Package anonymize makes the public tables of quasi-identifiers of an output k-anonymous. It is the last step of a run
// with anonymity.k. It reads the summaries and private parts that the units of the run have written.
package anonymize

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/models/release/anonymity"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/parquet"
	"github.com/velum-health/velum/stages/read/tagged"
	"github.com/velum-health/velum/stages/write/table"
	"github.com/velum-health/velum/stages/write/unit"
)

// Columns returns the quasi-identifiers, sorted by name: first the columns of the archive, then the categories of the
// text. It returns none without anonymity.k.
func Columns(c *option.Config, kept []pipeline.Column) (columns []unit.QuasiColumn, err error) {
	a := &c.Anonymity
	if a.K == 0 {
		return nil, nil
	}
	for _, name := range slices.Sorted(maps.Keys(a.Columns)) {
		i := slices.IndexFunc(kept, func(k pipeline.Column) bool { return k.Name == name })
		if i < 0 || kept[i].Kind == pipeline.NestedColumn {
			return nil, exit.Misconfiguredf("name a column of single values", "anonymity.columns: the archive has no column %q that could be counted", name)
		}
		q := unit.QuasiColumn{Name: name, Column: &kept[i]}
		if day, isTime := parquet.TimeOf(kept[i]); isTime {
			q.Day = day
		}
		columns = append(columns, q)
	}
	for i, name := range slices.Sorted(maps.Keys(a.Text)) {
		columns = append(columns, unit.QuasiColumn{Name: strings.ToLower(name), Lifted: i})
	}
	return columns, nil
}

// generalized returns the quasi-identifiers with their hierarchies from the configuration alone, because the last step
// reads parts and does not need the archive, which may no longer exist.
func generalized(a *option.Anonymity) (columns []anonymity.Column) {
	for _, name := range slices.Sorted(maps.Keys(a.Columns)) {
		columns = append(columns, anonymity.Column{Name: name, Hierarchy: anonymity.HierarchyOf(a.Columns[name])})
	}
	for _, name := range slices.Sorted(maps.Keys(a.Text)) {
		columns = append(columns, anonymity.Column{Name: strings.ToLower(name), Hierarchy: anonymity.HierarchyOf(a.Text[name])})
	}
	return columns
}

// Without returns the columns of kept that are no quasi-identifiers. Quasi-identifiers are written to tables of their
// own.
func Without(kept []pipeline.Column, quasi []unit.QuasiColumn) (pass []pipeline.Column) {
	for _, c := range kept {
		if !slices.ContainsFunc(quasi, func(q unit.QuasiColumn) bool { return q.Column != nil && q.Column.Name == c.Name }) {
			pass = append(pass, c)
		}
	}
	return pass
}

// anonymizer writes the public parts quasi/ from the private parts of the same name: the values of all notes,
// generalized so that each combination belongs to k people. It reads the values three times:
// to choose levels, to count people, and to write. A table is rewritten only if its values change. The result depends on the
// parts and their order alone, so a killed last step is repeated with the same bytes; tables do not count until the
// manifest lists them.
//
// Units that were committed together are a cohort with a plan of its own, which later releases resume: see package
// anonymity.
type anonymizer struct {
	config  *option.Config
	columns []anonymity.Column // in the order of unit.Options.Quasi
	f       *commit.Final
	before  *tables
	cohort  map[string]int    // of a unit, by its name
	plans   []*anonymity.Plan // by cohort; nil: nothing is left of it
	workers int
}

// Finish writes the k-anonymous tables of all units and returns the sizes of their groups for the report.
func Finish(ctx context.Context, config *option.Config, f *commit.Final) (*report.Anonymity, error) {
	a := anonymizer{config: config, f: f, columns: generalized(&config.Anonymity), workers: config.Workers()}
	return a.finish(ctx)
}

func (a *anonymizer) finish(ctx context.Context) (*report.Anonymity, error) {
	for i := range a.f.Manifest.Units {
		if u := &a.f.Manifest.Units[i]; (u.Config != "" || u.Model != "") && u.Masked > 0 {
			return nil, exit.Misconfiguredf("give the files of all months again, or --replace", "the output has notes that were masked with other options: their columns cannot be counted")
		}
	}
	var err error
	if a.before, err = a.tablesBefore(); err != nil {
		return nil, err
	}
	if err := a.cohorts(); err != nil {
		return nil, err
	}
	k := a.config.Anonymity.K
	all := new(anonymity.Sizes)
	for cohort := range a.plans {
		plan, err := a.choose(ctx, cohort)
		if err == nil && plan != nil {
			err = a.count(ctx, cohort, plan)
		}
		if err != nil {
			return nil, err
		}
		if a.plans[cohort] = plan; plan == nil {
			continue
		}
		plan.Settle(a.everyNoteAPerson(), anonymity.Diversity{L: a.config.Anonymity.L, T: a.config.Anonymity.T})
		sizes := plan.Sizes()
		if sizes.Groups > 0 && sizes.Smallest < int64(k) && sizes.Suppressed > 0 {
			return nil, exit.Errorf(exit.Privacy, "report it", "a group of %d people is left where %d are wanted", sizes.Smallest, k)
		}
		all.Add(&sizes)
	}
	if err := a.write(ctx); err != nil {
		return nil, err
	}
	return a.report(all), nil
}

// cohorts assigns each unit to a cohort: that of its table in the last release, that of the removed tables which had
// its notes, or a new one.
func (a *anonymizer) cohorts() error {
	a.cohort, a.plans = map[string]int{}, make([]*anonymity.Plan, len(a.before.Cohorts)+1)
	gone := maps.Clone(a.before.Tables)
	var fresh []*commit.UnitRecord
	for i := range a.f.Manifest.Units {
		u := &a.f.Manifest.Units[i]
		t, there := a.before.Tables[tableOf(u)]
		if delete(gone, tableOf(u)); !there {
			t.Cohort = len(a.before.Cohorts)
			fresh = append(fresh, u)
		}
		a.cohort[u.Name] = t.Cohort
	}
	if len(fresh) == 0 || len(gone) == 0 {
		return nil
	}
	of := map[uint64]int{} // notes of tables that went, by their ids
	for name, t := range gone {
		err := tagged.EachIn(a.f, a.before.parts[name], idColumn, func(row []tagged.PartValue) error {
			of[xxh3.Hash(row[0].Bytes)] = t.Cohort
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, u := range fresh {
		if err := a.inherit(u, of); err != nil {
			return err
		}
	}
	return nil
}

var idColumn = []string{"note_id"}

// inherit assigns a unit that was processed again to the cohort that most of its notes had before.
func (a *anonymizer) inherit(u *commit.UnitRecord, of map[uint64]int) error {
	for _, p := range u.Parts {
		if p.Kind != "quasi" || !p.Private {
			continue
		}
		notes, most := map[int]int{}, len(a.before.Cohorts)
		err := tagged.EachIn(a.f, p, idColumn, func(row []tagged.PartValue) error {
			if cohort, again := of[xxh3.Hash(row[0].Bytes)]; again {
				if notes[cohort]++; notes[cohort] > notes[most] {
					most = cohort
				}
			}
			return nil
		})
		if a.cohort[u.Name] = most; err != nil {
			return err
		}
	}
	return nil
}

// Staged is the kind of the tables of units whose masked parts are staged: see rewrite.Mix.
const Staged = "generalized"

// tableOf is the path of the table of a unit, below its kind; "" if it has none.
func tableOf(u *commit.UnitRecord) string {
	for _, p := range u.Parts {
		if p.Kind == "masked" {
			kind := "quasi"
			if p.Private {
				kind = Staged
			}
			return path.Join(kind, strings.TrimPrefix(p.Path, "masked/"))
		}
	}
	return ""
}

// of returns the units of a cohort.
func (a *anonymizer) of(cohort int) (all []*commit.UnitRecord) {
	for i := range a.f.Manifest.Units {
		if u := &a.f.Manifest.Units[i]; a.cohort[u.Name] == cohort {
			all = append(all, u)
		}
	}
	return all
}

// notes are what the notes of a unit have in the columns, and whom each is of.
type notes struct {
	*anonymity.Rows
	people []uint64
}

// notes reads those of a unit.
func (a *anonymizer) notes(u *commit.UnitRecord) (notes, error) {
	n, names := notes{Rows: anonymity.NewRows(len(a.columns))}, []string{unit.QuasiPatient}
	quasi := quasiOf(u)
	if quasi == nil {
		return n, nil
	}
	for i := range a.columns {
		names = append(names, a.columns[i].Name)
	}
	known, page := make([][]uint32, len(names)), make([]int, len(names)) // 1 + the number of a value, by its place in the page
	err := tagged.EachIn(a.f, *quasi, names, func(row []tagged.PartValue) error {
		n.people = append(n.people, row[0].Bits)
		for k := 1; k < len(row); k++ {
			v := &row[k]
			if page[k] != v.Page {
				page[k] = v.Page
				clear(known[k])
			}
			for len(known[k]) <= v.Place {
				known[k] = append(known[k], 0)
			}
			if known[k][v.Place] == 0 {
				known[k][v.Place] = 1 + n.Number(k-1, v.Bytes)
			}
			n.Of = append(n.Of, known[k][v.Place]-1)
		}
		return nil
	})
	return n, err
}

// choose returns the plan of a cohort: the levels of an earlier release, or new ones; nil if the cohort has no notes.
func (a *anonymizer) choose(ctx context.Context, cohort int) (*anonymity.Plan, error) {
	k := a.config.Anonymity.K
	if cohort < len(a.before.Cohorts) {
		return anonymity.Resume(a.columns, k, a.before.Cohorts[cohort]), nil
	}
	c, there, units := anonymity.NewCounter(a.columns), false, a.of(cohort)
	err := pipeline.Each(ctx, len(units), a.workers, func() func(int) (notes, error) {
		return func(i int) (notes, error) { return a.notes(units[i]) }
	}, func(_ int, of notes) error {
		c.Add(of.Rows)
		there = there || len(of.people) > 0
		return nil
	})
	if err != nil || !there {
		return nil, err
	}
	return c.Decide(k, a.config.Anonymity.Suppress), nil
}

// count counts the people in every group of a cohort. Without a patient column every note counts as a person.
func (a *anonymizer) count(ctx context.Context, cohort int, plan *anonymity.Plan) error {
	units := a.of(cohort)
	return pipeline.Each(ctx, len(units), a.workers, func() func(int) (struct{}, error) {
		return func(i int) (none struct{}, err error) {
			if quasi := quasiOf(units[i]); quasi != nil {
				err = a.f.Intact(*quasi)
			}
			of, bad := a.notes(units[i])
			if err = errors.Join(err, bad); err != nil {
				return none, err
			}
			if a.everyNoteAPerson() {
				of.people = nil
			}
			plan.Reader(of.Rows).Count(of.people)
			return none, nil
		}
	}, func(int, struct{}) error { return nil })
}

func (a *anonymizer) everyNoteAPerson() bool { return a.config.Read.Columns.Patient == "" }

// write writes the public table beside each masked part, and the record of the decisions.
func (a *anonymizer) write(ctx context.Context) error {
	now := tables{Columns: a.names(), Tables: map[string]released{}, Cohorts: a.before.Cohorts}
	for cohort, plan := range a.plans {
		switch {
		case cohort < len(now.Cohorts):
			now.Cohorts[cohort] = plan.Cohort()
		case plan != nil:
			now.Cohorts = append(now.Cohorts, plan.Cohort())
		}
	}
	var units []*commit.UnitRecord
	for i := range a.f.Manifest.Units {
		if u := &a.f.Manifest.Units[i]; tableOf(u) != "" && quasiOf(u) != nil {
			units = append(units, u)
		}
	}
	err := pipeline.Each(ctx, len(units), a.workers, func() func(int) (released, error) {
		return func(i int) (released, error) {
			cohort := a.cohort[units[i].Name]
			content, err := a.table(units[i], a.plans[cohort])
			return released{content, cohort}, err
		}
	}, func(i int, r released) error { now.Tables[tableOf(units[i])] = r; return nil })
	if err != nil {
		return err
	}
	data, err := json.Marshal(now)
	if err != nil {
		return err
	}
	part, err := a.f.Create(tablesKind, fmt.Sprintf("%s/part-%.20x.json", tablesKind, sha256.Sum256(data)), true)
	if err == nil {
		_, err = part.Write(data)
	}
	return err
}

// quasiOf returns the private part with the quasi-identifiers of a unit; nil if there is none.
func quasiOf(u *commit.UnitRecord) *commit.PartRecord {
	for i := range u.Parts {
		if u.Parts[i].Kind == "quasi" {
			return &u.Parts[i]
		}
	}
	return nil
}

// names returns the names of the columns with their hierarchies.
func (a *anonymizer) names() (all []string) {
	for _, c := range a.columns {
		all = append(all, c.Name+" "+c.Hierarchy.Name)
	}
	return all
}

// table writes the table of a unit unless the existing one has the same content, and returns a digest of the content.
func (a *anonymizer) table(u *commit.UnitRecord, plan *anonymity.Plan) (content string, err error) {
	quasi, h := quasiOf(u), sha256.New()
	levels, _ := plan.Levels()
	fmt.Fprintf(h, "velum table 2 %s %q %d %q %d\n", quasi.SHA256, u.Mark, a.config.Write.RowGroupRows, a.names(), levels)
	of, err := a.notes(u)
	r, lost := plan.Reader(of.Rows), make([]byte, len(of.people)) // 1: the note loses its values
	at := 0
	for row := range of.Each() {
		if r.Suppressed(row) {
			lost[at] = 1
		}
		at++
	}
	h.Write(lost)
	content = fmt.Sprintf("%x", h.Sum(nil))
	if err != nil {
		return "", err
	}
	if kept, err := a.before.keep(a.f, tableOf(u), content); kept || err != nil {
		return content, err
	}
	kind, _, _ := strings.Cut(tableOf(u), "/")
	part, err := a.f.Create(kind, tableOf(u), kind == Staged)
	if err != nil {
		return "", err
	}
	rowGroup := a.config.Write.RowGroupRows
	if part.Private {
		rowGroup = table.StagedRows
	}
	var names []string
	for _, c := range a.columns {
		names = append(names, c.Name)
	}
	w, err := unit.NewQuasi(part, names, rowGroup, u.Mark)
	if err != nil {
		return "", exit.Misconfigured(err, "rename the column")
	}
	at = 0
	n := len(a.columns)
	err = tagged.EachIn(a.f, *quasi, []string{"note_id", pipeline.RowColumn}, func(row []tagged.PartValue) error {
		values := r.Values(of.Of[at*n:(at+1)*n], lost[at] == 1)
		at++
		return w.Add(row[0].Bytes, int64(row[1].Bits), values)
	})
	if err != nil {
		return "", err
	}
	if part.Rows, part.Digest, err = w.Close(); err != nil {
		return "", err
	}
	return content, a.f.Settle(part)
}

// tablesKind is the private part of the last step with the digests of the tables' content, which depend on masked
// values.
const tablesKind = "tables"

// tables holds the records of the tables in a commit.
type tables struct {
	Columns []string            `json:"columns"`
	Tables  map[string]released `json:"tables"` // by path
	Cohorts []anonymity.Cohort  `json:"cohorts"`

	parts   map[string]commit.PartRecord // by path
	content map[string]string            // by path: of all tables, to be left as they are if the same would stand in them
}

type released struct {
	Content string `json:"content"` // digest
	Cohort  int    `json:"cohort"`
}

// tablesBefore returns the tables of the last commit; none if its release is to be ignored or another version made it.
func (a *anonymizer) tablesBefore() (*tables, error) {
	t := &tables{parts: map[string]commit.PartRecord{}, content: map[string]string{}}
	for _, p := range a.f.Before {
		switch p.Kind {
		case "quasi", Staged:
			t.parts[p.Path] = p
		case tablesKind:
			data, err := a.f.Read(p)
			if err != nil {
				return nil, err
			}
			if json.Unmarshal(data, t) != nil {
				t.Columns, t.Tables, t.Cohorts = nil, nil, nil
			}
		}
	}
	for name, is := range t.Tables {
		t.content[name] = is.Content
	}
	if a.config.Anonymity.Releases == "anew" {
		t.Columns, t.Tables, t.Cohorts = nil, nil, nil
	}
	if t.Columns != nil && !slices.Equal(t.Columns, a.names()) {
		return nil, exit.Errorf(exit.Privacy, "make another extract; or anonymity.releases: anew, if nobody has the earlier one",
			"quasi/ was released with the columns %s, which could be joined with those of now", strings.Join(t.Columns, ", "))
	}
	return t, nil
}

// keep reuses a table whose content would not change.
func (t *tables) keep(f *commit.Final, name, content string) (bool, error) {
	p, there := t.parts[name]
	if !there || t.content[name] != content {
		return false, nil
	}
	return f.Keep(p)
}

func (a *anonymizer) report(s *anonymity.Sizes) *report.Anonymity {
	r := &report.Anonymity{K: a.config.Anonymity.K, Sizes: s}
	for _, c := range a.columns {
		r.Columns = append(r.Columns, report.GeneralizedColumn{Name: c.Name})
	}
	for _, plan := range a.plans {
		if plan == nil {
			continue
		}
		r.Cohorts++
		levels, tops := plan.Levels()
		for i := range r.Columns {
			r.Columns[i].Level, r.Columns[i].Levels = max(r.Columns[i].Level, levels[i]), tops[i]
		}
	}
	r.Share = math.Round(1e6*float64(s.Suppressed)/float64(max(s.Notes, 1))) / 1e6
	return r
}
