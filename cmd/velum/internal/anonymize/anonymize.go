// Package anonymize makes the public tables of quasi-identifiers of an output k-anonymous:
// the last step of a run with anonymity.k, out of summaries and private parts of units.
package anonymize

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	"github.com/velum-health/velum/stages/write"
)

// Columns are the quasi-identifiers, by name: columns of the archive, then
// categories of the text. None without anonymity.k.
func Columns(c *option.Config, kept []pipeline.Column) (columns []write.QuasiColumn, err error) {
	a := &c.Anonymity
	if a.K == 0 {
		return nil, nil
	}
	for _, name := range slices.Sorted(maps.Keys(a.Columns)) {
		i := slices.IndexFunc(kept, func(k pipeline.Column) bool { return k.Name == name })
		if i < 0 || kept[i].Kind == pipeline.NestedColumn {
			return nil, exit.Errorf(exit.Config, "name a column of single values", "anonymity.columns: the archive has no column %q that could be counted", name)
		}
		q := write.QuasiColumn{Name: name, Column: &kept[i]}
		if day, isTime := parquet.TimeOf(kept[i]); isTime {
			q.Day = day
		}
		columns = append(columns, q)
	}
	for i, name := range slices.Sorted(maps.Keys(a.Text)) {
		columns = append(columns, write.QuasiColumn{Name: strings.ToLower(name), Lifted: i})
	}
	return columns, nil
}

// generalized are the same columns with their hierarchies: the last step reads
// parts of ours, and needs no archive, which may be gone.
func generalized(a *option.Anonymity) (columns []anonymity.Column) {
	for _, name := range slices.Sorted(maps.Keys(a.Columns)) {
		columns = append(columns, anonymity.Column{Name: name, Hierarchy: anonymity.HierarchyOf(a.Columns[name])})
	}
	for _, name := range slices.Sorted(maps.Keys(a.Text)) {
		columns = append(columns, anonymity.Column{Name: strings.ToLower(name), Hierarchy: anonymity.HierarchyOf(a.Text[name])})
	}
	return columns
}

// Without leaves out the columns that go to a table of their own.
func Without(kept []pipeline.Column, quasi []write.QuasiColumn) (pass []pipeline.Column) {
	for _, c := range kept {
		if !slices.ContainsFunc(quasi, func(q write.QuasiColumn) bool { return q.Column != nil && q.Column.Name == c.Name }) {
			pass = append(pass, c)
		}
	}
	return pass
}

// anonymizer makes quasi/ of the private parts of the same name: the values of all
// notes, general enough that each combination belongs to k people. Summaries of units
// say which combinations there are, twice: to choose levels, to count people. A table
// is written again if other values stand in it now. What is written is a function
// of the parts and their order, so a last step that was killed is done again with the
// same bytes; until the manifest is written there is no table.
//
// Units that came together are a cohort, with a plan of their own, which later releases
// resume: see package anonymity.
type anonymizer struct {
	config  *option.Config
	columns []anonymity.Column // in the order of write.UnitOptions.Quasi
	f       *commit.Final
	before  *tables
	cohort  map[string]int    // of a unit, by its name
	plans   []*anonymity.Plan // by cohort; nil: nothing is left of it
	values  []string
}

// pairsAtOnce is how many pairs of group and person are in memory: 16 to 40 bytes
// each in a map. An archive of more is counted by ranges of their hash.
const pairsAtOnce = 4 << 20

// Finish writes the tables, and says what is in them.
func Finish(ctx context.Context, config *option.Config, f *commit.Final) (*report.Anonymity, error) {
	a := anonymizer{config: config, f: f, columns: generalized(&config.Anonymity)}
	return a.finish(ctx)
}

func (a *anonymizer) finish(ctx context.Context) (*report.Anonymity, error) {
	for i := range a.f.Manifest.Units {
		if u := &a.f.Manifest.Units[i]; (u.Config != "" || u.Model != "") && u.Masked > 0 {
			return nil, exit.Errorf(exit.Config, "give the files of all months again, or --replace", "the output has notes that were masked with other options: their columns cannot be counted")
		}
	}
	var err error
	if a.before, err = a.tablesBefore(); err != nil {
		return nil, err
	}
	if err := a.cohorts(); err != nil {
		return nil, err
	}
	k, everyNoteAPerson := a.config.Anonymity.K, a.config.Read.Columns.Patient == ""
	all := new(anonymity.Sizes)
	for cohort := range a.plans {
		plan, err := a.choose(ctx, cohort, k)
		if err == nil && plan != nil {
			err = a.count(ctx, cohort, plan)
		}
		if err != nil {
			return nil, err
		}
		if a.plans[cohort] = plan; plan == nil {
			continue
		}
		plan.Settle(everyNoteAPerson)
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

// cohorts gives each unit its cohort: that of its table in the last release, or of the
// tables that went and had its notes, or else a new one.
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
		file, err := a.f.Open(a.before.parts[name])
		if err != nil {
			return err
		}
		err = tagged.RowsIn(name, io.NewSectionReader(file, 0, a.before.parts[name].Bytes), func(r idRow) error { of[xxh3.HashString(r.ID)] = t.Cohort; return nil })
		if err := errors.Join(err, file.Close()); err != nil {
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

// idRow is the column of a public table that is read.
type idRow struct {
	ID string `parquet:"note_id"`
}

// inherit gives a unit that was made anew the cohort that most of its notes had.
func (a *anonymizer) inherit(u *commit.UnitRecord, of map[uint64]int) error {
	for _, p := range u.Parts {
		if p.Kind != "quasi" || !p.Private {
			continue
		}
		notes, most := map[int]int{}, len(a.before.Cohorts)
		err := a.part(p, func(r *write.QuasiRow, _ []string) error {
			if cohort, again := of[xxh3.HashString(r.ID)]; again {
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

// tableOf is the path of the public table of a unit; "" if it has none.
func tableOf(u *commit.UnitRecord) string {
	for _, p := range u.Parts {
		if p.Kind == "masked" {
			return path.Join("quasi", strings.TrimPrefix(p.Path, "masked/"))
		}
	}
	return ""
}

// each calls do for every combination of every unit of a cohort, in their order.
func (a *anonymizer) each(ctx context.Context, cohort int, do func(c *write.Combination)) error {
	for i := range a.f.Manifest.Units {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if u := &a.f.Manifest.Units[i]; a.cohort[u.Name] == cohort {
			if err := a.unit(u, do); err != nil {
				return err
			}
		}
	}
	return nil
}

// unit calls do for every combination of a unit.
func (a *anonymizer) unit(u *commit.UnitRecord, do func(c *write.Combination)) error {
	for _, p := range u.Parts {
		if p.Kind != "summary" {
			continue
		}
		s, err := Summary(a.f, p)
		if err != nil {
			return err
		}
		if err := write.EachCombination(s.Quasi, len(a.columns), func(c *write.Combination) error { do(c); return nil }); err != nil {
			return fmt.Errorf("%s: %w", p.Path, err)
		}
	}
	return nil
}

func (a *anonymizer) part(p commit.PartRecord, do func(r *write.QuasiRow, values []string) error) error {
	file, err := a.f.Open(p)
	if err != nil {
		return err
	}
	defer file.Close()
	return tagged.RowsIn(p.Path, io.NewSectionReader(file, 0, p.Bytes), func(r write.QuasiRow) error {
		a.values = r.Values(a.values[:0], len(a.columns))
		return do(&r, a.values)
	})
}

// choose chooses the levels of a cohort, or takes those that it had. No plan: it has
// no notes.
func (a *anonymizer) choose(ctx context.Context, cohort, k int) (*anonymity.Plan, error) {
	if cohort < len(a.before.Cohorts) {
		return anonymity.Resume(a.columns, k, a.before.Cohorts[cohort]), nil
	}
	c, notes := anonymity.NewCounter(a.columns), int64(0)
	err := a.each(ctx, cohort, func(of *write.Combination) { c.Add(of.Values, of.Notes); notes += of.Notes })
	if notes == 0 {
		return nil, err
	}
	return c.Decide(k, a.config.Anonymity.Suppress), err
}

// count counts the people of every group of a cohort. Without a column of patients
// every note is somebody.
func (a *anonymizer) count(ctx context.Context, cohort int, plan *anonymity.Plan) error {
	if a.config.Read.Columns.Patient == "" {
		return a.each(ctx, cohort, func(of *write.Combination) { plan.Count(plan.GroupOf(of.Values), of.Notes, of.Notes) })
	}
	passes := int(a.f.Manifest.Counts.Masked/pairsAtOnce) + 1
	for pass := range passes {
		seen := map[uint64]struct{}{}
		var pair []byte
		err := a.each(ctx, cohort, func(of *write.Combination) {
			group, people := plan.GroupOf(of.Values), int64(0)
			for patients := of.Patients; len(patients) > 0; patients = patients[8:] {
				pair = append(binary.LittleEndian.AppendUint64(pair[:0], group), patients[:8]...)
				hash := xxh3.Hash(pair)
				if _, again := seen[hash]; !again && int(hash%uint64(passes)) == pass {
					seen[hash] = struct{}{}
					people++
				}
			}
			if pass > 0 {
				of.Notes = 0 // counted in the first
			}
			plan.Count(group, of.Notes, people)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// write writes a public table beside every masked part, and what was decided.
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
	for i := range a.f.Manifest.Units {
		u := &a.f.Manifest.Units[i]
		name := tableOf(u)
		quasi := slices.IndexFunc(u.Parts, func(p commit.PartRecord) bool { return p.Kind == "quasi" })
		if name == "" || quasi < 0 {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		plan := a.plans[a.cohort[u.Name]]
		content, err := a.content(u, &u.Parts[quasi], plan)
		if err != nil {
			return err
		}
		now.Tables[name] = released{content, a.cohort[u.Name]}
		kept, err := a.before.keep(a.f, name, content)
		if err == nil && !kept {
			err = a.table(name, u.Mark, u.Parts[quasi], plan)
		}
		if err != nil {
			return err
		}
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

// names are those of the columns with their hierarchies.
func (a *anonymizer) names() (all []string) {
	for _, c := range a.columns {
		all = append(all, c.Name+" "+c.Hierarchy.Name)
	}
	return all
}

// content is a digest of what stands in the table of a unit.
func (a *anonymizer) content(u *commit.UnitRecord, quasi *commit.PartRecord, plan *anonymity.Plan) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "velum table 1 %s %q %d\n", quasi.SHA256, u.Mark, a.config.Write.RowGroupRows)
	for _, c := range a.columns {
		fmt.Fprintf(h, "%q\n", c.Name)
	}
	var row []byte
	err := a.unit(u, func(c *write.Combination) {
		row = row[:0]
		for _, value := range plan.Apply(c.Values) {
			row = append(binary.AppendUvarint(row, uint64(len(value))), value...)
		}
		h.Write(row)
	})
	return fmt.Sprintf("%x", h.Sum(nil)), err
}

// table writes the table of a unit.
func (a *anonymizer) table(name, mark string, quasi commit.PartRecord, plan *anonymity.Plan) error {
	var names []string
	for _, q := range a.columns {
		names = append(names, q.Name)
	}
	part, err := a.f.Create("quasi", name, false)
	if err != nil {
		return err
	}
	w, err := write.NewQuasi(part, names, a.config.Write.RowGroupRows, mark)
	if err != nil {
		return exit.With(exit.Config, err, "rename the column")
	}
	if err := a.part(quasi, func(r *write.QuasiRow, values []string) error { return w.Add(r.ID, r.Row, plan.Apply(values)) }); err != nil {
		return err
	}
	part.Rows, part.Digest, err = w.Close()
	return err
}

// tablesKind is the private part of the last step that says what stands in tables: a
// digest of a table is one of hidden values.
const tablesKind = "tables"

// tables are those of a commit.
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

// tablesBefore are those of the last commit: none if what it released is to be left
// aside, or an earlier version did it.
func (a *anonymizer) tablesBefore() (*tables, error) {
	t := &tables{parts: map[string]commit.PartRecord{}, content: map[string]string{}}
	for _, p := range a.f.Before {
		switch p.Kind {
		case "quasi":
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

// keep leaves a table as it is if the same would stand in it now.
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

// Summary reads the summary of a unit.
func Summary(f *commit.Final, p commit.PartRecord) (write.Summary, error) {
	data, err := f.Read(p)
	if err != nil {
		return write.Summary{}, err
	}
	s, err := write.ParseSummary(data)
	if err != nil {
		err = fmt.Errorf("%s: %w", p.Path, err)
	}
	return s, err
}
