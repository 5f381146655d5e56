// Package report writes the report of a run as JSON, as an HTML page and as metrics for Prometheus. Reports hold
// counts, and no text and no ids of notes. Names of files are in the private tree only.
package report

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/page"

	"github.com/velum-health/velum/pipeline/tally"

	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/mask"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/resolve"
)

// Report is the content of report.json, which report.html shows: counts only, no text, no ids of notes, no entries of
// lists. The private tree has the full report with the names of files that could not be read; the public tree has what
// Public leaves. It depends on input, configuration, model and version alone, so that interrupted and uninterrupted
// runs give the same bytes. Times, paths and the run's identity are on a separate page beside the audit log (About);
// speed goes to stdout.
type Report struct {
	Schema   string          `json:"schema"`
	Language string          `json:"language"` // language of the texts below and of the page
	Light    light           `json:"light"`
	Sentence string          `json:"sentence"`
	Findings []reportFinding `json:"findings"`
	Private  bool            `json:"private"` // it has all counts and must not be given away

	Notes      reportNotes `json:"notes"`
	Reasons    []named     `json:"quarantine_reasons,omitempty"`
	Spans      reportSpans `json:"spans"`
	Languages  []named     `json:"languages,omitempty"`
	Confidence []Bin       `json:"confidence,omitempty"`
	Rows       []FileRows  `json:"rows,omitempty"`  // of the files of which most was set aside, or of all
	Files      int         `json:"files,omitempty"` // that Rows is of
	Selection  *Selection  `json:"selection,omitempty"`
	Uses       *reportUses `json:"uses,omitempty"`
	Anonymity  *Anonymity  `json:"k_anonymity,omitempty"`
	Rare       *Rare       `json:"rare,omitempty"`
	Leak       *Leak       `json:"leak,omitempty"`
	Risk       *Risk       `json:"risk,omitempty"`
	Trend      *Trend      `json:"months,omitempty"`

	Calendar *reportCalendar `json:"calendar,omitempty"`
	// dates move, and rows stand in the order of their days, or parts are of stretches of them
	Stretches bool `json:"stretches,omitempty"`

	Drift     []reportDrift    `json:"schema_drift"`
	BadInputs []reportBadInput `json:"bad_inputs"`
	BadUnits  int              `json:"bad_units"`
	Damaged   []reportDamage   `json:"damaged_units,omitempty"`
	Others    int64            `json:"notes_of_other_runs,omitempty"` // masked by earlier runs with other options or another model
	Unvouched int              `json:"files_without_checksums"`       // number of files without checksums, in a list or of their own

	Model         reportModel  `json:"model"`
	Configuration reportConfig `json:"configuration"`
	Velum         string       `json:"velum"`

	language page.Language
	attacks  *Attacks // that were made; nil: none
	output   string   // digest of this output
}

// light is the verdict of a report: green, amber or red.
type light string

const (
	green light = "green" // nothing to look at, and people have read a sample of just this output
	amber light = "amber" // done, and something to look at
	red   light = "red"   // not to be used before somebody has looked
)

// reportFinding is something to be looked at: what was found, as a code with values, and the
// same as a sentence of the report's language.
type reportFinding struct {
	Light  light   `json:"light"`
	Text   string  `json:"text"`
	Code   string  `json:"code"` // key of the words
	Values []value `json:"values,omitempty"`
}

// value is a value inside the sentence of a finding.
type value struct {
	As     string  `json:"as"` // percent, number, plural (of the noun Name), measure (of that name), name
	Number float64 `json:"number,omitempty"`
	Name   string  `json:"name,omitempty"`
}

func percent(x float64) value           { return value{As: "percent", Number: x} }
func number(x float64) value            { return value{As: "number", Number: x} }
func plural(n int64, noun string) value { return value{As: "plural", Number: float64(n), Name: noun} }
func name(text string) value            { return value{As: "name", Name: text} }

type reportNotes struct {
	Read        int64   `json:"read"`
	Masked      int64   `json:"masked"`
	Quarantined int64   `json:"quarantined"`
	Share       float64 `json:"quarantined_share"`
	Excluded    int64   `json:"excluded,omitempty"` // of people who object: left out, and no part of the quarantine
	Trimmed     int64   `json:"trimmed,omitempty"`  // held back at the edges of the archive: no part of it either
	Allowed     float64 `json:"quarantined_allowed"`
	WithSpans   int64   `json:"with_spans"`
	Empty       int64   `json:"empty,omitempty"`         // masked, and without text
	Duplicates  *int64  `json:"duplicate_ids,omitempty"` // ids that came before; nil when ids are dropped
}

// reportCalendar counts words that fix a date, where dates move.
type reportCalendar struct {
	Hidden  int64 `json:"hidden"`
	Notes   int64 `json:"notes"`         // that had one
	Keeping int64 `json:"notes_keeping"` // notes that keep a word which may be one
}

// calendarOf returns nil where nobody looked.
func calendarOf(t tally.Counts, dates string) *reportCalendar {
	if dates == "" {
		return nil
	}
	return &reportCalendar{t.Get(tally.Calendar, tally.CalendarHidden), t.Get(tally.Calendar, tally.CalendarNotes),
		t.Get(tally.Calendar, tally.CalendarKeeping)}
}

// named is a count with its name.
type named struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

type reportSpans struct {
	Total      int64         `json:"total"`
	Sources    []string      `json:"sources,omitempty"`
	Categories []categoryRow `json:"categories"`
	BySource   []named       `json:"by_source,omitempty"`
}

type categoryRow struct {
	Category string  `json:"category"`
	Count    int64   `json:"count"`
	BySource []int64 `json:"by_source,omitempty"` // in the order of reportSpans.Sources
}

// Bin counts the masked notes whose confidence is in [From, To).
type Bin struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Count int64   `json:"count"`
}

// reportUses counts what lists and rules did. Entries of lists are numbered
// as the configuration has them, from 1: they may be names of people.
type reportUses struct {
	Rules      []named `json:"rules"`
	Always     []named `json:"always"`
	Never      []named `json:"never"`
	NeverLists []named `json:"never_lists"`
	LowScore   int64   `json:"matches_below_min_score"`
	Operators  []named `json:"operators,omitempty"` // what replaced how many values, but for placeholders that the policy wants
}

type reportDrift struct {
	File   string `json:"file_sha256,omitempty"`
	Column string `json:"column"`
	Change string `json:"change"`
}

type reportBadInput struct {
	File  string `json:"file_sha256,omitempty"`
	Name  string `json:"file,omitempty"` // below the archive
	Bytes int64  `json:"bytes"`
	Cause string `json:"cause"`
	Known bool   `json:"known,omitempty"` // it is no fault that the file is not read
}

// reportDamage is a unit that could not be decoded: row groups or bytes [From,
// To) of a file.
type reportDamage struct {
	File  string `json:"file_sha256"`
	Name  string `json:"file,omitempty"` // below the archive
	From  int64  `json:"from"`
	To    int64  `json:"to"`
	Notes int64  `json:"notes"`
	Cause string `json:"cause"`
}

type reportModel struct {
	Name   string      `json:"name"`
	Kind   string      `json:"kind"`
	SHA256 string      `json:"sha256"`
	Parent string      `json:"parent_sha256,omitempty"`
	Notes  int         `json:"training_sequences"`
	Tokens int         `json:"training_tokens"`
	Dial   *reportDial `json:"recall_dial,omitempty"`

	Measured *tagger.Measured `json:"measured,omitempty"` // on real notes, at the setting of the dial; nil: it was not
}

// reportDial is the setting of the recall dial and what it reached on the
// model's gold set.
type reportDial struct {
	Asked     float64 `json:"asked"`
	Recall    float64 `json:"recall"`
	Precision float64 `json:"precision"`
}

type reportConfig struct {
	SHA256  string `json:"sha256"`              // of what shapes units
	Last    string `json:"last_step,omitempty"` // options of the last step
	Key     string `json:"key_id,omitempty"`
	Profile string `json:"profile"`
	Policy  string `json:"policy"`
	Dates   string `json:"dates,omitempty"` // how they were moved
	Purpose string `json:"purpose,omitempty"`
	IDs     string `json:"ids"`

	Options map[string]string `json:"options,omitempty"` // that are not as velum has them; private

}

// Input holds what New needs beside the manifest.
type Input struct {
	Config     *option.Config
	Files      []archive.File
	Drift      []archive.Drift
	Unvouched  int // files that can be damaged without a sign
	Model      tagger.Header
	Dial       *tagger.DialPoint
	Always     int // entries of the lists
	Never      int
	Selection  *Selection
	Anonymity  *Anonymity
	Rare       *Rare
	Attacks    *Attacks       // nil: none
	Reading    *audit.Reading // of a sample, by people; nil: none
	Duplicates *int64
	Rows       []FileRows // of all files
	Stretches  bool       // dates move, and parts are of stretches of time
	Version    string     // of velum
}

// Rounded rounds to four decimals, so that reports are the same on every machine.
func Rounded(x float64) float64 { return math.Round(x*10_000) / 10_000 }

// RoundedEnds rounds both ends of an interval.
func RoundedEnds(ends [2]float64) [2]float64 { return [2]float64{Rounded(ends[0]), Rounded(ends[1])} }

// LeftOut counts the notes that were left out on purpose: those of people who object, and those at the edges of the
// archive's date range.
func LeftOut(c *commit.Counts) int64 {
	return c.Reasons[pipeline.Excluded.String()] + c.Reasons[pipeline.RangeEdge.String()]
}

// New computes the report from the manifest and in.
func New(m *commit.Manifest, in *Input) *Report {
	c := &m.Counts
	excluded, trimmed, quarantined := c.Reasons[pipeline.Excluded.String()], c.Reasons[pipeline.RangeEdge.String()], maps.Clone(c.Reasons)
	delete(quarantined, pipeline.Excluded.String()) // the table of reasons adds up to the number in the tile
	delete(quarantined, pipeline.RangeEdge.String())
	r := &Report{
		Schema: "velum.report/5", Language: in.Config.Report.Lang, language: page.LanguageOf(in.Config.Report.Lang), Findings: []reportFinding{},
		Private: true,
		Notes: reportNotes{
			Read: c.Rows, Masked: c.Masked, Quarantined: c.Quarantined - LeftOut(c), Excluded: excluded, Trimmed: trimmed,
			Share:   rounded6(float64(c.Quarantined-LeftOut(c)) / float64(max(c.Rows, 1))),
			Allowed: in.Config.Write.MaxQuarantined, WithSpans: c.Tally.Get(tally.WithSpans, ""), Empty: c.Tally.Get(tally.Empty, ""),
			Duplicates: in.Duplicates,
		},
		Reasons: sortedCounts(quarantined), Languages: sortedCounts(c.Tally.By(tally.Language)),
		Spans: spansOf(c.Tally), Confidence: bins(c.Tally), Rows: worst(in.Rows), Files: len(in.Rows), Selection: in.Selection,
		Anonymity: in.Anonymity, Rare: in.Rare, Uses: uses(c.Tally, in), Drift: in.driftByDigest(), BadInputs: []reportBadInput{},
		Unvouched: in.Unvouched, Velum: in.Version,
		Model: reportModel{
			Name: in.Model.Name, Kind: in.Model.Kind, SHA256: m.Model, Parent: in.Model.Parent,
			Notes: in.Model.Training.Sequences, Tokens: in.Model.Training.Tokens,
		},
		Configuration: reportConfig{SHA256: m.Config, Last: m.LastStep, Key: m.Key, Profile: in.Config.Profile, Policy: in.policy(),
			IDs: in.Config.Read.IDs, Purpose: in.Config.Mask.Purpose, Options: chosen(in.Config)},
	}
	r.Configuration.Dates, _ = in.Config.Dates() // the policy was read before
	r.Calendar, r.Stretches = calendarOf(c.Tally, r.Configuration.Dates), in.Stretches
	if in.Dial != nil {
		r.Model.Dial = &reportDial{Asked: in.Config.Tag.Recall, Recall: Rounded(in.Dial.Recall), Precision: Rounded(in.Dial.Precision)}
	}
	for _, b := range m.BadInputs {
		r.BadInputs = append(r.BadInputs, reportBadInput{b.SHA256, printable(b.Input), b.Bytes, b.Cause, b.Known})
	}
	for _, u := range m.Inputs() {
		if u.Damage != "" {
			r.BadUnits++
			r.Damaged = append(r.Damaged, reportDamage{u.SHA256, printable(u.Input), u.From, u.To, u.Rows, u.Damage})
		}
	}
	for _, u := range m.Units {
		if u.Config != "" || u.Model != "" {
			r.Others += u.Rows
		}
	}
	r.measured(in)
	strategies, _ := in.Config.Strategies() // the policy was read before
	r.Leak = leakOf(&leakInput{c.Tally, c.Masked, in.Config.Gate.Missed, strategies, in.Attacks, in.Config.Gate.MaxLeak})
	r.attacks, r.output = in.Attacks, audit.OutputDigest(m)
	r.Risk, r.Trend = riskOf(m, in), trendOf(m)
	r.judge()
	return r
}

// measured says what the model is worth on real notes at the setting of the
// run.
func (r *Report) measured(in *Input) {
	if in.Model.Measured == nil {
		return
	}
	m := *in.Model.Measured
	if in.Dial != nil {
		m.DialPoint = *in.Dial
	}
	m.Recall, m.Precision, m.Interval = Rounded(m.Recall), Rounded(m.Precision), [2]float64{Rounded(m.Interval[0]), Rounded(m.Interval[1])}
	r.Model.Measured = &m
}

// printable writes the name of a file with what a terminal or a page would not
// show as Go does.
func printable(name string) string {
	if quoted := strconv.Quote(name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}

// policy is the name of a built-in policy; the path of a file is nobody's
// business.
func (in *Input) policy() string {
	if name := in.Config.Mask.Policy; path.Base(name) == name && path.Ext(name) == "" {
		return name
	}
	return "(file)"
}

func (in *Input) driftByDigest() []reportDrift {
	digests := map[string]string{}
	for _, f := range in.Files {
		digests[f.Path] = hex.EncodeToString(f.SHA256[:])
	}
	drift := []reportDrift{}
	for _, d := range in.Drift {
		drift = append(drift, reportDrift{digests[d.Path], d.Column, d.Change})
	}
	return drift
}

func rounded6(x float64) float64 { return math.Round(x*1e6) / 1e6 }

// sortedCounts lists counts, the largest first.
func sortedCounts(counts map[string]int64) []named {
	all := []named{}
	for name, n := range counts {
		all = append(all, named{name, n})
	}
	slices.SortFunc(all, func(a, b named) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
	return all
}

func spansOf(counts tally.Counts) reportSpans {
	s := reportSpans{Sources: []string{}, Categories: []categoryRow{}, BySource: sortedCounts(counts.By(tally.Source))}
	for _, source := range s.BySource {
		s.Sources = append(s.Sources, source.Name)
		s.Total += source.Count
	}
	for _, c := range sortedCounts(counts.By(tally.Category)) {
		row := categoryRow{c.Name, c.Count, make([]int64, len(s.Sources))}
		for k, source := range s.Sources {
			row.BySource[k] = counts.Get(tally.Span, tally.Pair(c.Name, source))
		}
		s.Categories = append(s.Categories, row)
	}
	return s
}

func bins(counts tally.Counts) []Bin {
	return Bins(func(k int) int64 { return counts.Get(tally.Confidence, tally.BinName(k)) })
}

// Bins returns the bins of confidence, with the count of each by its number.
func Bins(count func(bin int) int64) (all []Bin) {
	for k := range tally.Bins {
		from, to := tally.Bounds(k)
		all = append(all, Bin{Rounded(from), Rounded(to), count(k)})
	}
	return all
}

// folderOf is the folder of the masked part of a unit below that of all; "" if it has none.
func folderOf(u *commit.UnitRecord) string {
	for _, p := range u.Parts {
		if p.Kind == "masked" {
			return strings.TrimPrefix(strings.TrimPrefix(path.Dir(p.Path), "masked"), "/")
		}
	}
	return ""
}

// operatorUse is the name of an operator at work on a category: "DATE shift",
// "DATE placeholder (fallback)"; "" for placeholders that the policy wants.
func operatorUse(u mask.Use) string {
	name := u.Category.String() + " " + u.Operator
	switch {
	case u.Fallback:
		return name + " (fallback)"
	case u.Operator == mask.PlaceholderName:
		return ""
	}
	return name
}

// NoteOperator adds n uses of an operator to the counts.
func NoteOperator(to *tally.Counts, u mask.Use, n int64) {
	if name := operatorUse(u); name != "" {
		to.Note(tally.Operator, name, n)
	}
}

func uses(counts tally.Counts, in *Input) *reportUses {
	u := &reportUses{Rules: []named{}, NeverLists: []named{}, LowScore: counts.Get(tally.LowScore, "")}
	for _, name := range resolve.RuleNames() {
		u.Rules = append(u.Rules, named{name, counts.Get(tally.Rule, name)})
	}
	for _, l := range files.LexiconsOf(gazetteer.Default()).Never {
		u.NeverLists = append(u.NeverLists, named{l.Name, counts.Get(tally.NeverList, l.Name)})
	}
	u.Always, u.Never = numbered(counts, tally.Always, in.Always), numbered(counts, tally.Never, in.Never)
	u.Operators = sortedCounts(counts.By(tally.Operator))
	return u
}

func numbered(counts tally.Counts, of tally.Of, n int) []named {
	all := []named{}
	for k := range n {
		name := strconv.Itoa(k + 1)
		all = append(all, named{name, counts.Get(of, name)})
	}
	return all
}

// Unread returns the number of input files that could not be read.
func (r *Report) Unread() (n int) {
	for _, b := range r.BadInputs {
		if !b.Known {
			n++
		}
	}
	return n
}

// judge sets the light, the sentence and the findings.
func (r *Report) judge() {
	n := &r.Notes
	if n.Read > 0 && float64(n.Quarantined) > n.Allowed*float64(n.Read) {
		r.find(red, "find quarantine", percent(n.Share), percent(n.Allowed))
	}
	if k := r.Unread(); k > 0 {
		r.find(red, "find files", plural(int64(k), "file"))
	}
	if r.BadUnits > 0 {
		r.find(amber, "find units", plural(int64(r.BadUnits), "unit"))
	}
	if n.Read == 0 {
		r.find(amber, "find empty")
	}
	if r.Stretches {
		r.find(red, "find stretches")
	}
	if r.Rare != nil && r.Rare.Alone > 0 {
		r.find(amber, "find rare", plural(r.Rare.Alone, "note"), number(float64(r.Rare.People)), number(float64(r.Rare.K)))
	}
	r.judgeRisk()
	r.judgeTrend()
	r.judgeAttacks()
	if r.Others > 0 {
		r.find(amber, "find others", plural(r.Others, "note"))
	}
	for _, reason := range r.Reasons {
		switch reason.Name {
		case pipeline.Panicked.String(), pipeline.TimedOut.String(), pipeline.TooCostly.String(), pipeline.NoModel.String(),
			pipeline.Unsealed.String():
			r.find(amber, "find failure", plural(reason.Count, "note"), name(reason.Name))
		}
	}
	if n.Duplicates != nil && *n.Duplicates > 0 {
		r.find(amber, "find duplicates", plural(*n.Duplicates, "note"))
	}
	if len(r.Drift) > 0 {
		r.find(amber, "find drift", plural(int64(len(r.Drift)), "place"))
	}
	r.Light = green
	for _, f := range r.Findings {
		if f.Light == red || r.Light == green {
			r.Light = f.Light
		}
	}
	r.Sentence = r.sentence()
}

// sentence returns the summary: first whether people have read a sample, then the result, then the expected leaks.
func (r *Report) sentence() string {
	n, l := &r.Notes, r.language
	if n.Read == 0 {
		return l.Text("sentence empty")
	}
	first, last := r.riskSentences()
	said := []string{first}
	if r.Light == red {
		said = append(said, l.Text("sentence red"))
	}
	said = append(said, l.Text("sentence read", l.Plural(n.Read, "note"), page.Thousands(n.Masked), page.Thousands(n.Quarantined),
		l.Percent(n.Share), l.Percent(n.Allowed)))
	if n.Excluded > 0 {
		said = append(said, l.Text("sentence excluded", l.Plural(n.Excluded, "note")))
	}
	if n.Trimmed > 0 {
		said = append(said, l.Text("sentence trimmed", l.Plural(n.Trimmed, "note")))
	}
	return strings.Join(append(said, last...), " ")
}

func (r *Report) find(light light, code string, values ...value) {
	r.Findings = append(r.Findings, reportFinding{light, r.said(code, values), code, values})
}

// said is the sentence of a finding in the language of the report.
func (r *Report) said(code string, values []value) string {
	l := r.language
	var in []any
	for _, v := range values {
		text := v.Name
		switch v.As {
		case "percent":
			text = l.Percent(v.Number)
		case "number":
			text = l.Number(v.Number, 2)
		case "plural":
			text = l.Plural(int64(v.Number), v.Name)
		case "measure":
			text = r.measureName(v.Name)
		}
		in = append(in, text)
	}
	return l.Text(code, in...)
}

// Public returns the part of the report that may be released with the masked notes: nothing that depends on the masked
// values except their categories. Who found a span, the confidences, quarantine reasons and languages are functions of
// the masked words under a model that everybody has; a histogram of few notes reveals a value, and digests of input
// files depend on all of them.
func (r *Report) Public() *Report {
	p := *r
	p.Private, p.Findings = false, []reportFinding{}
	p.Damaged, p.Rows, p.Files = nil, nil, 0 // each names its file
	p.Reasons, p.Languages, p.Confidence, p.Selection, p.Uses = nil, nil, nil, nil, nil
	p.Leak, p.Calendar, p.Trend, p.Configuration.Options, p.Stretches = nil, nil, nil, nil, false
	p.Risk = r.Risk.public()
	p.Spans.Sources, p.Spans.BySource = nil, nil
	if r.Anonymity != nil {
		a := *r.Anonymity
		a.Sizes = nil
		p.Anonymity = &a
	}
	p.Spans.Categories = slices.Clone(r.Spans.Categories)
	for i := range p.Spans.Categories {
		p.Spans.Categories[i].BySource = nil
	}
	p.Drift = slices.Clone(r.Drift)
	p.BadInputs = slices.DeleteFunc(slices.Clone(r.BadInputs), func(b reportBadInput) bool { return b.Known })
	for i := range p.Drift {
		p.Drift[i].File = ""
	}
	for i := range p.BadInputs {
		p.BadInputs[i].File, p.BadInputs[i].Name, p.BadInputs[i].Bytes = "", "", 0
	}
	p.judge()
	return &p
}

// Write writes report.json and report.html: the full report into the private tree, and the public part into the public
// tree.
func (r *Report) Write(f *commit.Final) error {
	if err := r.write(f); err != nil {
		return err
	}
	return r.Public().write(f)
}

func (r *Report) write(f *commit.Final) error {
	data, err1 := json.MarshalIndent(r, "", " ")
	html, err2 := r.html()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	for i, content := range [][]byte{append(data, '\n'), html} {
		part, err := f.Create("report", []string{"report.json", "report.html"}[i], r.Private)
		if err == nil {
			_, err = part.Write(content)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
