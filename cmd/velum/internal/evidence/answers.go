package evidence

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/look"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/page"
	"github.com/velum-health/velum/cmd/velum/internal/proof"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
)

// known holds the data from which the templates of dossier.txt compute their answers.
type known struct {
	Report   *report.Report
	Manifest *commit.Manifest
	Output   Output
	Build    look.Build
	SBOM     string           // digest; "": no file was named
	Readings []audit.Recorded // all that the log has
	Reading  *audit.Reading   // that counts; nil: nobody read
	Current  *audit.Reading   // the same, if the output is still as it was when people read it
	Releases []audit.Release
	Release  audit.Release   // the last one of this output; empty: none
	Attacks  []report.Attack // by the names of all that there are; none: none was made
	Absent   []int64         // notes of people who object, and those of them that are masked; none: nobody looked

	PerPatient float64 // the largest share of patients who can have a note that keeps something; 0: not known

	Lines  int
	Torn   int64
	Done   []event // runs
	Failed []event
	Erased []event
}

// event is a line of the audit log.
type event struct {
	Date, Who string
	What      any
}

// Same reports whether the version of this program also made the output.
func (k *known) Same() bool { return k.Build.Version == k.Report.Velum }

// InputFiles counts the input files of the output that differ in content.
func (k *known) InputFiles() int {
	files := map[string]bool{}
	for _, u := range k.Manifest.Inputs() {
		files[u.SHA256] = true
	}
	return len(files)
}

// NoColumn tells whether no column of the archive passes into the output.
func (k *known) NoColumn() bool { return k.Report.Configuration.Options["read.keep"] == "" }

// Runs reports whether the audit log lists any run. If it lists none, the runs were logged elsewhere and nothing is
// known of them.
func (k *known) Runs() bool { return len(k.Done)+len(k.Failed) > 0 }

// Comparable counts the releases that could be compared with an earlier one, and were allowed.
func (k *known) Comparable() (n int) {
	for i := range k.Releases {
		if k.Releases[i].Allowed {
			n++
		}
	}
	return n
}

// Powered returns the names of the attacks on this very output that ended with one of the verdicts.
func (k *known) Powered(verdicts ...string) (names []string) {
	for i := range k.Attacks {
		if a := &k.Attacks[i]; a.Output == k.Output.Masked && slices.Contains(verdicts, a.Verdict) {
			names = append(names, a.Name)
		}
	}
	return names
}

// collect computes the record of the dossier.
func collect(ctx context.Context, s *source, o *Options) (*Record, error) {
	r, l, err := reportOf(s, o.Language)
	if err != nil {
		return nil, err
	}
	k := &known{Report: r, Manifest: s.manifest, Output: s.output, Build: o.Build, Lines: s.audit.Lines}
	said := map[string]string{}
	if o.Facts != "" {
		if said, err = readHouse(o.Facts); err != nil {
			return nil, err
		}
	}
	for _, part := range []func() error{
		func() error { return k.bill(o.SBOM) },
		func() error { return k.people(ctx, o) },
		func() error { return k.released(s, o.Ledger) },
		func() error { return k.log(s) },
	} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	if patients, _ := strconv.ParseInt(said["patients"], 10, 64); k.Current != nil && patients > 0 {
		// Each note with something left is of one patient, so that no larger share of them can have one.
		k.PerPatient = min(1, k.Current.Upper()*float64(r.Notes.Masked)/float64(patients))
	}
	k.attacked(o.Known)
	answers, err := k.answers(said)
	record := &Record{Schema: schema, Language: l.String(), Made: now().UTC().Format("2006-01-02T15:04:05Z"), Velum: o.Build.Version,
		Output: s.output}
	record.Sections = sectionsOf(answers)
	record.Clauses = clausesOf(answers)
	return record, err
}

// bill computes the digest of the software bill of materials.
func (k *known) bill(file string) error {
	if file == "" {
		return nil
	}
	data, err := readSmall(file, option.MaxNamed)
	k.SBOM = sum(data)
	return err
}

// people searches the output for notes of people who object, if the archive is given.
func (k *known) people(ctx context.Context, o *Options) error {
	if len(o.In) == 0 {
		return nil
	}
	notes, masked, err := proof.Masked(ctx, o.Config, &proof.Options{Path: o.Dir, Private: o.Private, In: o.In})
	k.Absent = []int64{notes, masked}
	return err
}

// released reads the ledger of releases, which is the log of the output if no other is named.
func (k *known) released(s *source, ledger string) (err error) {
	if ledger != "" {
		k.Releases, err = proof.Ledger(ledger)
	} else {
		k.Releases, err = audit.Releases(s.log)
	}
	for _, x := range k.Releases {
		if x.Output == k.Output.Masked {
			k.Release = x
		}
	}
	return err
}

// attacked lists the attacks in the report, and those that were not run.
func (k *known) attacked(names []string) {
	if k.Report.Leak == nil || k.Report.Leak.Attacks == nil {
		return
	}
	k.Attacks = slices.Clone(k.Report.Leak.Tried)
	for _, name := range names {
		if !slices.ContainsFunc(k.Attacks, func(a report.Attack) bool { return a.Name == name }) {
			k.Attacks = append(k.Attacks, report.Attack{Name: name, Verdict: "not tried"})
		}
	}
}

// log reads the audit log: readings of samples, runs, failures, forgotten patients.
func (k *known) log(s *source) (err error) {
	if len(s.audit.Findings) > 0 {
		return exit.Errorf(exit.Integrity, "velum prove log names the lines", "%s is not as it was written: %d findings", s.log,
			len(s.audit.Findings))
	}
	if k.Readings, err = audit.Readings(s.log); err != nil {
		return err
	}
	k.Reading = audit.Standing(k.Readings, s.manifest)
	if k.Reading != nil && k.Reading.In(s.manifest) {
		k.Current = k.Reading
	}
	begun := map[string]event{}
	err = audit.Each(s.log, func(l *audit.Line) {
		at := event{l.Time.Format("2006-01-02 15:04"), l.User, term("killed")}
		switch {
		case l.Torn:
			k.Torn++
		case l.Mark != "" || l.Event == "forget":
			at.What = cmp.Or(l.Mark, l.Unit)
			k.Erased = append(k.Erased, at)
		case l.Event == "start":
			if was, still := begun[l.Run]; still {
				k.Failed = append(k.Failed, was)
			}
			begun[l.Run] = at
		case l.Event == "end" && l.Exit != nil:
			delete(begun, l.Run)
			code, of := exit.Code(*l.Exit), &k.Failed
			if code == exit.Done || code == exit.Nothing {
				of = &k.Done
			}
			at.What = fmt.Sprintf("%d %v", code, code)
			*of = append(*of, at)
		}
	})
	for _, run := range slices.Sorted(maps.Keys(begun)) {
		k.Failed = append(k.Failed, begun[run])
	}
	for _, all := range []*[]event{&k.Done, &k.Failed, &k.Erased} {
		*all = (*all)[max(0, len(*all)-mostRows):]
	}
	return err
}

// mostRows is the number of runs that a dossier lists, newest first.
const mostRows = 50

// answers returns the answers of the templates; if a run's options state the same fact as the institution, both are
// shown.
func (k *known) answers(said map[string]string) (map[string]*Fact, error) {
	all := map[string]*Fact{}
	for _, q := range asked().questions {
		f := &Fact{Name: q.fact}
		t, err := template.New(q.fact).Funcs(answering).Funcs(f.funcs()).Parse(q.answer)
		if err == nil {
			err = t.Execute(new(strings.Builder), k)
		}
		if err != nil {
			return nil, err
		}
		if f.Columns != nil && f.Rows == nil {
			f.Columns, f.Values = nil, row(term("none"))
		}
		if x := said[q.fact]; x != "" {
			run := f.Values
			f.House, f.Values = true, row(x)
			if len(run) > 0 && run[0].Text != x {
				f.Values = append(f.Values, term("and the run"), run[0])
			}
		}
		if f.Values != nil || f.Rows != nil {
			all[q.fact] = f
		}
	}
	return all, nil
}

// funcs returns the functions with which a template sets the answer of a fact. They print nothing.
func (f *Fact) funcs() template.FuncMap {
	return template.FuncMap{
		"say":     func(values ...any) string { f.Values = append(f.Values, row(values...)...); return "" },
		"columns": func(names string) string { f.Columns = strings.Fields(names); return "" },
		"row":     func(values ...any) string { f.Rows = append(f.Rows, row(values...)); return "" },
	}
}

// answering holds the template functions that make values.
var answering = template.FuncMap{
	"term": term, "share": share, "number": number, "digest": digest, "count": value, "join": strings.Join,
	"in":  func(v Value, low, high any) Value { return v.in(float(low), float(high)) },
	"per": func(scale float64, n, of int64) float64 { return scale * float64(n) / float64(max(of, 1)) },
	"day": func(t time.Time) string { return t.UTC().Format("2006-01-02") },
	"either": func(is bool, yes, no string) string {
		if is {
			return yes
		}
		return no
	},
	"figure": func(what string, x float64) Value {
		if slices.Contains([]string{"quarantine", "language", "words"}, what) {
			return share(x)
		}
		return number(x)
	},
	"trend": func(name string) Value {
		if page.Known("trend " + name) {
			return term("trend " + name)
		}
		return text(name)
	},
	"part": func(x report.RiskPart) []Value {
		read := "-"
		if x.Read > 0 {
			read = fmt.Sprintf("%d / %d", x.Leaks, x.Read)
		}
		return row(cmp.Or(x.Name, "?"), x.Of, value(x.Notes).in(float64(x.Low), float64(x.High)), read)
	},
}

// row makes values.
func row(values ...any) (all []Value) {
	for _, v := range values {
		if several, ok := v.([]Value); ok {
			all = append(all, several...)
		} else {
			all = append(all, value(v))
		}
	}
	return all
}

// value converts a string to a text value and an integer to a count.
func value(v any) Value {
	switch v := v.(type) {
	case Value:
		return v
	case string:
		return text(v)
	}
	return count(reflect.Indirect(reflect.ValueOf(v)).Int())
}

// float is a number of any kind.
func float(v any) float64 {
	x := reflect.Indirect(reflect.ValueOf(v))
	if x.CanInt() {
		return float64(x.Int())
	}
	return x.Float()
}

// readSmall reads a file if it is no larger than the limit.
func readSmall(file string, most int64) ([]byte, error) {
	if problem := option.NotPlain(file, most); problem != "" {
		return nil, exit.Misconfiguredf("name a file", "%s %s", file, problem)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, exit.Misconfigured(err, "name a file")
	}
	return data, nil
}
