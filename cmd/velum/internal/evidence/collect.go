package evidence

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/page"
	"github.com/velum-health/velum/cmd/velum/internal/proof"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/audit"
)

// dossier gathers answers by their names.
type dossier struct {
	*source
	o        *Options
	report   *report.Report
	language page.Language
	answers  map[string]*Fact
}

func (d *dossier) say(name string, values ...any) {
	d.answers[name] = &Fact{Name: name, Values: row(values...)}
}

// row makes values: a string is a text and a whole number a count; what is a share, a digest or
// a word of the page is a Value.
func row(values ...any) (all []Value) {
	for _, v := range values {
		switch v := v.(type) {
		case string:
			all = append(all, text(v))
		case int:
			all = append(all, count(int64(v)))
		case int64:
			all = append(all, count(v))
		default:
			all = append(all, v.(Value))
		}
	}
	return all
}

// table says a table; one without rows says "none".
func (d *dossier) table(name string, rows [][]Value, columns ...string) {
	if d.answers[name] = (&Fact{Name: name, Columns: columns, Rows: rows}); len(rows) == 0 {
		d.say(name, term("none"))
	}
}

// collect makes the record.
func collect(ctx context.Context, s *source, o *Options) (*Record, error) {
	r, l, err := reportOf(s, o.Language)
	if err != nil {
		return nil, err
	}
	d := &dossier{s, o, r, l, map[string]*Fact{}}
	for _, part := range []func() error{d.run, d.program, d.risk, d.reading, d.attacks, d.anonymity, func() error { return d.people(ctx) }, d.months, d.history, d.house} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	record := &Record{Schema: schema, Language: l.String(), Made: now().UTC().Format("2006-01-02T15:04:05Z"), Velum: o.Build.Version, Output: s.output}
	record.Sections = sectionsOf(d.answers)
	record.Clauses = clausesOf(d.answers)
	return record, nil
}

// run says what was read, by which model and configuration, and what was masked.
func (d *dossier) run() error {
	r, m := d.report, d.manifest
	d.say("notes_read", r.Notes.Read, term("notes"))
	var files []string
	for _, u := range m.Inputs() {
		files = append(files, u.SHA256)
	}
	slices.Sort(files)
	d.say("input_files", len(slices.Compact(files)), term("files"))
	var languages [][]Value
	for _, x := range r.Languages {
		languages = append(languages, row(x.Name, x.Count, share(float64(x.Count)/float64(max(r.Notes.Masked, 1)))))
	}
	d.table("languages", languages, "language", "notes", "share")
	d.say("unread", r.Unread(), term("files"), ",", r.BadUnits, term("units"))
	d.say("unvouched", r.Unvouched, term("files"))
	d.say("schema_drift", len(r.Drift), term("places"))
	if d.say("duplicates", term("ids dropped")); r.Notes.Duplicates != nil {
		d.say("duplicates", *r.Notes.Duplicates)
	}
	d.model()
	c := &r.Configuration
	d.say("profile", c.Profile)
	d.say("policy", c.Policy)
	d.say("config_sha256", digest(c.SHA256))
	d.say("last_step", cmp.Or(c.Last, "-"))
	d.say("ids", c.IDs)
	var options [][]Value
	for _, key := range slices.Sorted(maps.Keys(c.Options)) {
		options = append(options, row(key, c.Options[key]))
	}
	d.table("options", options, "option", "value")
	if d.say("key_id", term("no key")); c.Key != "" {
		d.say("key_id", digest(c.Key))
	}
	var categories, operators, reasons [][]Value
	for _, x := range r.Spans.Categories {
		categories = append(categories, row(x.Category, x.Count, number(100*float64(x.Count)/float64(max(r.Notes.Masked, 1)))))
	}
	d.table("categories", categories, "category", "places", "per_hundred")
	d.say("operators", term("placeholders"))
	if r.Uses != nil {
		for _, x := range r.Uses.Operators {
			operators = append(operators, row(x.Name, x.Count))
		}
		if len(operators) > 0 {
			d.table("operators", operators, "operator", "times")
		}
		d.lost()
	}
	d.say("dates", term(cmp.Or(c.Dates, "dates hidden")))
	d.say("calendar", term("dates hidden"))
	if k := r.Calendar; k != nil {
		d.table("calendar", [][]Value{row(k.Hidden, k.Notes, k.Keeping)}, "hidden", "notes", "notes_keeping")
	}
	d.say("quarantined", r.Notes.Quarantined, ",", share(r.Notes.Share), term("allowed"), share(r.Notes.Allowed))
	for _, x := range r.Reasons {
		reasons = append(reasons, row(x.Name, term("why "+x.Name), x.Count))
	}
	d.table("reasons", reasons, "reason", "meaning", "notes")
	return nil
}

// lost says which words were masked in vain, if a model looked that knows.
func (d *dossier) lost() {
	u := d.report.Uses
	if len(u.VainLists) == 0 {
		return
	}
	var rows [][]Value
	for _, x := range u.VainLists {
		rows = append(rows, row(x.Name, x.Count))
	}
	for _, x := range u.VainCategories {
		rows = append(rows, row(x.Name, x.Count))
	}
	d.say("words_lost", report.WordsLost(&d.manifest.Counts), term("words"))
	d.table("in_vain", rows, "list", "times")
}

func (d *dossier) model() {
	m := &d.report.Model
	d.say("model", m.Name+" ("+m.Kind+")", digest(m.SHA256))
	d.say("trained_on", m.Notes, term("sequences"))
	if x := m.Measured; x != nil {
		d.say("measured", share(x.Recall).in(x.Interval[0], x.Interval[1]), term("recall"), ",", share(x.Precision), term("precision"))
		d.say("measured_on", term(x.On), ",", x.Date, ",", x.Notes, term("notes"))
	}
	if d.say("dial", term("no dial")); m.Dial != nil {
		x := m.Dial
		d.say("dial", share(x.Asked), term("asked_for"), ",", share(x.Recall), term("reached"))
	}
}

// program says what did it, and how somebody builds the same.
func (d *dossier) program() error {
	b := d.o.Build
	d.say("program", "velum "+d.report.Velum)
	if b.Commit != "" {
		d.say("revision", b.Commit)
	}
	d.say("toolchain", b.Go+" "+b.Platform)
	if b.Version != d.report.Velum {
		delete(d.answers, "toolchain") // another program made the output
		delete(d.answers, "revision")
	} else if b.Commit != "" && !b.Modified {
		d.say("reproducible", term("build again"))
	}
	if d.o.SBOM == "" {
		return nil
	}
	if problem := option.NotPlain(d.o.SBOM, option.MaxNamed); problem != "" {
		return exit.Misconfiguredf("name the file of the bill of materials", "%s %s", d.o.SBOM, problem)
	}
	data, err := os.ReadFile(d.o.SBOM)
	if err != nil {
		return exit.Misconfigured(err, "name the file of the bill of materials")
	}
	d.say("sbom", digest(sum(data)))
	return nil
}

// risk says what is expected to be left, by whatever was measured.
func (d *dossier) risk() error {
	r := d.report
	said := row(term(string(r.Light)))
	for _, f := range r.Findings {
		said = append(said, text(f.Text))
	}
	d.answers["light"] = &Fact{Name: "light", Values: said}
	if k := r.Risk; k != nil {
		if x := k.Left; x != nil {
			d.say("expected", count(x.Notes).in(float64(x.Low), float64(x.High)), term("notes"), term("of"), r.Notes.Masked)
		}
		d.parts(&k.Parts)
		if x := k.Corrected; x != nil {
			d.say("corrected", count(x.Notes).in(float64(x.Low), float64(x.High)), term("notes"), term("of"), r.Notes.Masked)
		}
		if x := k.Calibration; x != nil {
			d.say("calibration", x.Notes, term("notes"), ",", x.Sources, term("sources"), ",", x.Leaks, term("leaks there"))
		}
		var rows [][]Value
		for _, x := range k.Unlike {
			beyond := term("within")
			if x.Beyond {
				beyond = term("beyond")
			}
			rows = append(rows, row(term("unlike "+x.What), figure(x.What, x.Here), figure(x.What, x.Lowest), figure(x.What, x.Most), beyond))
		}
		d.table("unlike", rows, "figure", "here", "from", "to", "verdict")
	}
	if l := r.Leak; l != nil && len(l.Categories) > 0 {
		d.say("leak_probability", share(l.Probability).in(l.Low, l.High))
		var rows [][]Value
		for _, x := range l.Categories {
			rows = append(rows, row(x.Category, share(x.Missed), number(x.Expected), share(x.Told)))
		}
		d.table("by_audited", rows, "category", "missed", "left", "told")
	}
	return nil
}

// direct are the kinds of what names somebody by itself; ages, dates, places and what a
// person works as tell by being put together.
var direct = []pipeline.Kind{pipeline.NameKind, pipeline.ContactKind, pipeline.IDKind}

// parts says where the notes are that are expected to keep something. Ends of intervals
// are added: the sum is no narrower than it should be.
func (d *dossier) parts(k *report.Parts) {
	part := func(x *report.RiskPart) []Value {
		read := "-"
		if x.Read > 0 {
			read = fmt.Sprintf("%d / %d", x.Leaks, x.Read)
		}
		return row(cmp.Or(x.Name, "?"), x.Of, count(x.Notes).in(float64(x.Low), float64(x.High)), read)
	}
	var names, rows [][]Value
	var notes, low, high int64
	for i := range k.Categories {
		x := &k.Categories[i]
		names = append(names, part(x))
		if c, err := pipeline.ParseCategory(x.Name); err == nil && slices.Contains(direct, c.Kind()) {
			notes, low, high = notes+x.Notes, low+x.Low, high+x.High
		}
	}
	if len(names) > 0 {
		d.table("by_category", names, "category", "places", "expected", "left_read")
		d.say("direct", count(notes).in(float64(low), float64(high)), term("notes"))
	}
	for _, of := range []struct {
		name  string
		parts []report.RiskPart
	}{{"month", k.Months}, {"center", k.Centers}, {"language", k.Languages}} {
		for i := range of.parts {
			rows = append(rows, append(row(term("risk by "+of.name)), part(&of.parts[i])...))
		}
	}
	if len(rows) > 0 {
		d.table("by_part", rows, "part", "part_name", "notes", "expected", "left_read")
	}
}

// figure is a share, or a number of what is none.
func figure(what string, x float64) Value {
	switch what {
	case "quarantine", "language", "words":
		return share(x)
	}
	return number(x)
}

// reading says what people found who read a sample of just this output.
func (d *dossier) reading() error {
	for _, f := range d.manifest.Files {
		if f.Kind == "audit" {
			d.say("sample", term("sample drawn"), f.Rows, term("notes"), digest(f.SHA256))
		}
	}
	all, err := audit.Readings(d.log)
	x := audit.Standing(all, d.manifest)
	if err != nil || x == nil {
		return err
	}
	d.readings(all)
	d.say("read", x.Read, term("notes"))
	d.say("leaks", x.Leaks, term("notes"))
	if d.say("current", term("current")); !x.In(d.manifest) {
		d.say("current", term("stale"))
		return nil // it says nothing of these notes
	}
	upper := x.Upper()
	d.say("bound", share(upper).in(0, upper), term("exact bound"))
	d.say("per_note", share(x.Estimate()).in(0, upper), term("note is document"))
	var rows [][]Value
	for _, y := range x.Readers {
		rows = append(rows, row(y.By, y.Notes, y.From, y.To, y.Seconds))
	}
	if len(rows) == 0 {
		rows = [][]Value{row(x.By, x.Read, "-", "-", "-")}
	}
	d.table("readers", rows, "reader", "notes", "from", "to", "seconds")
	rows = nil
	for _, y := range x.Strata {
		rows = append(rows, row(fmt.Sprintf("%d-%d", y.From, y.To), y.Notes, y.Read, y.Leaks))
	}
	if d.table("strata", rows, "doubt", "notes", "read", "left"); len(rows) == 0 {
		d.say("strata", term("one stratum"))
	}
	if x.Kappa != nil {
		d.say("kappa", number(*x.Kappa))
	}
	return nil
}

// readings names all readings that the log has, whatever became of them, and says what a journal
// proves.
func (d *dossier) readings(all []audit.Recorded) {
	var rows [][]Value
	signed := term("journals signed")
	for _, r := range all {
		what := term("this output")
		if !r.In(d.manifest) {
			what = term("another output")
		} else if r.Signed == "" {
			signed = term("journals unsigned")
		}
		judged := "-"
		if r.Judged != nil {
			judged = r.Judged.By + ": " + r.Judged.Why
		}
		rows = append(rows, row(r.Line, r.Time.UTC().Format("2006-01-02"), what, r.By, r.Read, r.Leaks, share(r.Upper()), judged))
	}
	d.table("readings", rows, "line", "date", "output", "reader", "notes", "left", "bound", "set_aside")
	d.say("journals", signed)
}

// attacks says which attacks were made on this output, which had the power to find
// something out, and which were not made.
func (d *dossier) attacks() error {
	var tried []report.Attack
	var link *report.Linkage
	if d.report.Leak != nil && d.report.Leak.Attacks != nil {
		tried, link = d.report.Leak.Tried, d.report.Leak.Linkage
	}
	if d.o.Attacks != "" {
		a, err := report.ReadAttacks(d.o.Attacks)
		if err != nil {
			return exit.Misconfiguredf("give what `velum prove attack --json` printed", "%s: %w", d.o.Attacks, err)
		}
		tried, link = a.Tried, a.Linkage
	}
	if len(tried) == 0 {
		if d.answers["operators"].Rows == nil { // an attack looks for originals among surrogates
			d.say("attacks", term("placeholders"))
		}
		return nil
	}
	var rows [][]Value
	var failed []string
	powered := int64(0)
	names := slices.Clone(d.o.Known)
	for i := range tried {
		if !slices.Contains(names, tried[i].Name) {
			names = append(names, tried[i].Name) // of several spies together
		}
	}
	for _, name := range names {
		at := slices.IndexFunc(tried, func(t report.Attack) bool { return t.Name == name })
		if at < 0 {
			rows = append(rows, row(name, term("verdict not tried"), term("-"), "-", "-", "-", "-"))
			continue
		}
		t := &tried[at]
		of := term("this output")
		switch {
		case t.Verdict == "not tried":
			of = term("-")
		case t.Output == "":
			of = term("labelled notes")
		case t.Output != d.output.Masked:
			of = term("another output")
		case t.Verdict == "failed":
			powered++
			failed = append(failed, name)
		case t.Verdict == "passed":
			powered++
		}
		for _, x := range t.Results {
			rows = append(rows, row(name, term("verdict "+x.Verdict), of, strconv.Itoa(x.Left)+" / "+strconv.Itoa(x.Needed), share(x.Recall), share(x.Precision), share(x.Guess)))
		}
		if len(t.Results) == 0 {
			rows = append(rows, row(name, term("verdict "+t.Verdict), of, "-", "-", "-", "-"))
		}
	}
	d.table("attacks", rows, "attack", "verdict", "made_on", "left_needed", "recall", "precision", "guess")
	if len(failed) > 0 { // whether or not the run that made the report knew of it
		d.say("attacks_failed", strings.Join(failed, ", "))
		said := d.answers["light"]
		said.Values[0] = term("red")
		for _, name := range failed {
			said.Values = append(said.Values, text(d.language.Text("find attack failed", name)))
		}
	} else if powered > 0 {
		d.say("attacks_failed", term("none"))
	}
	if powered > 0 {
		d.say("attacks_power", powered, term("of"), len(names))
	}
	if link != nil {
		d.say("linkage", link.Few, term("of"), link.People, term("people with few"), link.AtLeast)
	}
	return nil
}

// anonymity says what the columns tell, and what was released before.
func (d *dossier) anonymity() error {
	if d.report.Anonymity == nil && d.report.Configuration.Options["read.keep"] == "" {
		for _, name := range []string{"k", "columns", "suppressed", "groups", "smallest"} {
			d.say(name, term("no column passes"))
		}
	}
	if a := d.report.Anonymity; a != nil {
		d.say("k", a.K)
		var rows [][]Value
		for _, x := range a.Columns {
			rows = append(rows, row(x.Name, x.Level, x.Levels))
		}
		d.table("columns", rows, "column", "level", "levels")
		d.say("suppressed", share(a.Share), term("of notes"))
		if z := a.Sizes; z != nil {
			rows = nil
			for _, g := range a.GroupRows() {
				rows = append(rows, row(g.Limit, g.Groups, g.Notes))
			}
			d.table("groups", rows, "fewer_than", "groups", "notes")
			d.say("smallest", z.Smallest, term("notes"), term("of"), z.Groups, term("groups left"))
		}
	}
	name := cmp.Or(d.o.Ledger, d.log)
	if d.o.Ledger != "" {
		v, err := verified(name, "")
		if err != nil {
			return err
		}
		if len(v.Findings) > 0 {
			return exit.Errorf(exit.Integrity, "velum prove log names the lines", "the ledger is not as it was written: %d findings", len(v.Findings))
		}
	}
	all, err := audit.Releases(name)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		d.say("releases", term("no ledger"))
		d.say("comparable", term("no ledger"))
		return nil
	}
	var rows [][]Value
	allowed := int64(0)
	for _, x := range all {
		of := term("another output")
		if x.Output == d.output.Masked {
			of = term("this output")
		}
		if x.Allowed {
			allowed++
		}
		rows = append(rows, row(x.Time.UTC().Format("2006-01-02"), cmp.Or(x.Purpose, "-"), cmp.Or(x.Recipients, "-"), x.Notes, x.K, cmp.Or(x.Plan, "-"), of))
		if x.Output == d.output.Masked {
			if d.say("purpose", x.Purpose); x.Purpose == "" {
				delete(d.answers, "purpose")
			}
			if d.say("recipients", x.Recipients); x.Recipients == "" {
				delete(d.answers, "recipients")
			}
		}
	}
	d.table("releases", rows, "date", "for", "to_whom", "notes", "k", "generalized", "which")
	d.say("comparable", allowed, term("of"), len(all))
	return nil
}

// people says who objected and who was forgotten.
func (d *dossier) people(ctx context.Context) error {
	d.say("objections", d.report.Notes.Excluded, term("notes left out"))
	if len(d.o.In) > 0 {
		notes, masked, err := proof.Masked(ctx, d.o.Config, &proof.Options{Path: d.o.Dir, Private: d.o.Private, In: d.o.In})
		if err != nil {
			return err
		}
		d.say("absent", masked, term("of"), notes, term("notes found"))
	}
	return nil
}

// months says in what the newest month differs from those before.
func (d *dossier) months() error {
	t := d.report.Trend
	if t == nil {
		d.say("months", term("few months"))
		d.say("beyond", term("few months"))
		return nil
	}
	var rows [][]Value
	beyond := int64(0)
	for i := range t.Measures {
		m := &t.Measures[i]
		verdict, last := term("within"), text("-")
		if m.Beyond {
			verdict = term("beyond")
			beyond++
		}
		if x := m.Last(); x != nil {
			last = figure(m.Name, *x)
		}
		name := term("trend " + m.Name)
		if !known(name.Word) {
			name = text(m.Name)
		}
		rows = append(rows, row(name, last, figure(m.Name, m.Lowest), figure(m.Name, m.Most), verdict))
	}
	d.table("months", rows, "figure", "newest", "from", "to", "verdict")
	d.say("beyond", beyond, term("of"), len(t.Measures), ",", t.Months[len(t.Months)-1])
	return nil
}

// history says what the audit log has: runs, what failed, who was forgotten.
func (d *dossier) history() error {
	if len(d.source.audit.Findings) > 0 {
		return exit.Errorf(exit.Integrity, "velum prove log names the lines", "%s is not as it was written: %d findings", d.log, len(d.source.audit.Findings))
	}
	var runs, failed, erased [][]Value
	torn, begun := int64(0), map[string]audit.Line{}
	err := audit.Each(d.log, func(l *audit.Line) {
		at := l.Time.Format("2006-01-02 15:04")
		switch {
		case l.Torn:
			torn++
		case l.Mark != "" || l.Event == "forget":
			erased = append(erased, row(at, l.User, cmp.Or(l.Mark, l.Unit)))
		case l.Event == "start":
			if was, still := begun[l.Run]; still {
				failed = append(failed, row(was.Time.Format("2006-01-02 15:04"), was.User, term("killed")))
			}
			begun[l.Run] = *l
		case l.Event == "end" && l.Exit != nil:
			delete(begun, l.Run)
			if code := exit.Code(*l.Exit); code != exit.Done && code != exit.Nothing {
				failed = append(failed, row(at, l.User, fmt.Sprintf("%d %v", *l.Exit, code)))
			} else {
				runs = append(runs, row(at, l.User, fmt.Sprintf("%d %v", *l.Exit, code)))
			}
		}
	})
	if err != nil {
		return err
	}
	for _, run := range slices.Sorted(maps.Keys(begun)) {
		failed = append(failed, row(begun[run].Time.Format("2006-01-02 15:04"), begun[run].User, term("killed")))
	}
	if len(runs)+len(failed) > 0 { // else runs have their log elsewhere, and nothing is known of them
		d.table("runs", last(runs), "date", "who", "how")
		d.table("failed_runs", last(failed), "date", "who", "how")
		d.table("erasures", last(erased), "date", "who", "what")
	}
	d.say("log", d.source.audit.Lines, term("lines"), ",", torn, term("torn"))
	d.say("checked", term("as written"))
	d.say("manifest", digest(d.output.Public))
	d.say("private_manifest", digest(d.output.Private))
	d.say("masked", digest(d.output.Masked))
	d.say("head", digest(d.output.Head))
	return nil
}

// mostRows is how many runs a dossier lists, the newest.
const mostRows = 50

func last(rows [][]Value) [][]Value { return rows[max(0, len(rows)-mostRows):] }

// house takes in what the house says; beside what a run was told, both stand.
func (d *dossier) house() error {
	if p := d.report.Configuration.Purpose; d.answers["purpose"] == nil && p != "" {
		d.say("purpose", p)
	}
	said := map[string]string{}
	if d.o.Facts != "" {
		var err error
		if said, err = readHouse(d.o.Facts); err != nil {
			return err
		}
	}
	for name, x := range said {
		if x == "" {
			continue
		}
		f := &Fact{Name: name, House: true, Values: row(x)}
		if was := d.answers[name]; was != nil && was.Values[0].Text != x {
			f.Values = append(f.Values, term("and the run"), was.Values[0])
		}
		d.answers[name] = f
	}
	patients, _ := strconv.ParseInt(said["patients"], 10, 64)
	if bound := d.answers["bound"]; bound != nil && patients > 0 {
		// Each note with something left is of one patient, so that no larger share of them can have one.
		high := min(1, *bound.Values[0].Share*float64(d.report.Notes.Masked)/float64(patients))
		d.say("per_patient", share(high).in(0, high), term("at most"))
	}
	return nil
}
