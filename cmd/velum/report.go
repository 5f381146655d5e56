package main

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/velum-health/velum/models/crf"
	"github.com/velum-health/velum/models/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/resolve"
)

// report is what report.json holds and report.html shows. It may be given
// away with the masked notes: counts only, no text, no ids of notes, no paths,
// no entries of lists. And it is a function of input, configuration, model and
// version: no time, no speed, no machine, so that a run that was stopped and
// went on ends with the same bytes. Speed goes to stdout.
type report struct {
	Schema   string          `json:"schema"`
	Light    light           `json:"light"`
	Sentence string          `json:"sentence"`
	Findings []reportFinding `json:"findings"`

	Notes      reportNotes      `json:"notes"`
	Reasons    []named          `json:"quarantine_reasons"`
	Spans      reportSpans      `json:"spans"`
	Languages  []named          `json:"languages"`
	Confidence []bin            `json:"confidence"`
	Folders    []folder         `json:"folders"`
	Selection  *selectionReport `json:"selection,omitempty"`
	Uses       reportUses       `json:"uses"`

	Drift     []reportDrift    `json:"schema_drift"`
	BadInputs []reportBadInput `json:"bad_inputs"`
	BadUnits  int              `json:"bad_units"`

	Model         reportModel  `json:"model"`
	Configuration reportConfig `json:"configuration"`
	Velum         string       `json:"velum"`
}

// light is the traffic light.
type light string

const (
	green light = "green" // nothing to look at
	amber light = "amber" // done, and something to look at
	red   light = "red"   // not to be used before somebody has looked: exit code 3
)

type reportFinding struct {
	Light light  `json:"light"`
	Text  string `json:"text"`
}

type reportNotes struct {
	Read        int64   `json:"read"`
	Masked      int64   `json:"masked"`
	Quarantined int64   `json:"quarantined"`
	Share       float64 `json:"quarantined_share"`
	Allowed     float64 `json:"quarantined_allowed"`
	WithSpans   int64   `json:"with_spans"`
	Duplicates  *int64  `json:"duplicate_ids,omitempty"` // ids that came before; nil when ids are dropped
}

// named is a count with its name.
type named struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

type reportSpans struct {
	Total      int64         `json:"total"`
	Sources    []string      `json:"sources"`
	Categories []categoryRow `json:"categories"`
	BySource   []named       `json:"by_source"`
}

type categoryRow struct {
	Category string  `json:"category"`
	Count    int64   `json:"count"`
	BySource []int64 `json:"by_source"` // in the order of reportSpans.Sources
}

// bin counts the masked notes with a confidence in [From, To).
type bin struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Count int64   `json:"count"`
}

// folder is a month, or whatever else the folders of the archive are.
type folder struct {
	Name        string `json:"name"`
	Read        int64  `json:"read"`
	Quarantined int64  `json:"quarantined"`
	WithSpans   int64  `json:"with_spans"`
	Spans       int64  `json:"spans"`
}

// reportUses counts what lists and rules did. Entries of lists are numbered
// as the configuration has them, from 1: they may be names of people.
type reportUses struct {
	Rules      []named `json:"rules"`
	Always     []named `json:"always"`
	Never      []named `json:"never"`
	NeverLists []named `json:"never_lists"`
	LowScore   int64   `json:"matches_below_min_score"`
}

type reportDrift struct {
	File   string `json:"file_sha256"`
	Column string `json:"column"`
	Change string `json:"change"`
}

type reportBadInput struct {
	File  string `json:"file_sha256"`
	Bytes int64  `json:"bytes"`
	Cause string `json:"cause"`
}

type reportModel struct {
	Name   string             `json:"name"`
	Kind   string             `json:"kind"`
	SHA256 string             `json:"sha256"`
	Parent string             `json:"parent_sha256,omitempty"`
	Notes  int                `json:"training_sequences"`
	Tokens int                `json:"training_tokens"`
	Scores map[string]float64 `json:"scores,omitempty"`
	Dial   *reportDial        `json:"recall_dial,omitempty"`
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
	IDs     string `json:"ids"`
}

// reportInput is what a report is made of beside the manifest.
type reportInput struct {
	config     *Config
	files      []read.ArchiveFile
	drift      []read.Drift
	model      crf.Header
	dial       *crf.DialPoint
	always     int // entries of the lists
	never      int
	selection  *selectionReport
	duplicates *int64
}

func rounded(x float64) float64 { return math.Round(x*10_000) / 10_000 }

// newReport puts the report together.
func newReport(m *pipeline.Manifest, in *reportInput) *report {
	c := &m.Counts
	r := &report{
		Schema: "velum.report/1", Findings: []reportFinding{},
		Notes: reportNotes{
			Read: c.Rows, Masked: c.Masked, Quarantined: c.Quarantined, Share: rounded6(float64(c.Quarantined) / float64(max(c.Rows, 1))),
			Allowed: in.config.Write.MaxQuarantined, WithSpans: c.Tally["notes_with_spans"], Duplicates: in.duplicates,
		},
		Reasons: sortedCounts(c.Reasons), Languages: sortedCounts(below(c.Tally, "language/")),
		Spans: spansOf(c.Tally), Confidence: bins(c.Tally), Folders: folders(m), Selection: in.selection,
		Uses: uses(c.Tally, in), Drift: in.driftByDigest(), BadInputs: []reportBadInput{}, Velum: version,
		Model: reportModel{
			Name: in.model.Name, Kind: in.model.Kind, SHA256: m.Model, Parent: in.model.Parent,
			Notes: in.model.Training.Sequences, Tokens: in.model.Training.Tokens, Scores: roundedScores(in.model.Scores),
		},
		Configuration: reportConfig{SHA256: m.Config, Last: m.LastStep, Key: m.Key, Profile: in.config.Profile, Policy: in.policy(), IDs: in.config.Read.IDs},
	}
	if in.dial != nil {
		r.Model.Dial = &reportDial{Asked: in.config.Tag.Recall, Recall: rounded(in.dial.Recall), Precision: rounded(in.dial.Precision)}
	}
	for _, b := range m.BadInputs {
		r.BadInputs = append(r.BadInputs, reportBadInput{b.SHA256, b.Bytes, b.Cause})
	}
	for _, u := range m.Units {
		if u.Damage != "" {
			r.BadUnits++
		}
	}
	r.judge()
	return r
}

// policy is the name of a built-in policy; the path of a file is nobody's
// business.
func (in *reportInput) policy() string {
	if name := in.config.Mask.Policy; path.Base(name) == name && path.Ext(name) == "" {
		return name
	}
	return "(file)"
}

func (in *reportInput) driftByDigest() []reportDrift {
	digests := map[string]string{}
	for _, f := range in.files {
		digests[f.Path] = hex.EncodeToString(f.SHA256[:])
	}
	drift := []reportDrift{}
	for _, d := range in.drift {
		drift = append(drift, reportDrift{digests[d.Path], d.Column, d.Change})
	}
	return drift
}

func rounded6(x float64) float64 { return math.Round(x*1e6) / 1e6 }

func roundedScores(scores map[string]float64) map[string]float64 {
	all := make(map[string]float64, len(scores))
	for name, v := range scores {
		all[name] = rounded(v)
	}
	return all
}

// below returns the counts whose names begin with prefix, without it.
func below(tally map[string]int64, prefix string) map[string]int64 {
	some := map[string]int64{}
	for name, n := range tally {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			some[rest] = n
		}
	}
	return some
}

// sortedCounts lists counts, the largest first.
func sortedCounts(counts map[string]int64) []named {
	all := []named{}
	for name, n := range counts {
		all = append(all, named{name, n})
	}
	slices.SortFunc(all, func(a, b named) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
	return all
}

func spansOf(tally map[string]int64) reportSpans {
	s := reportSpans{Sources: []string{}, Categories: []categoryRow{}, BySource: sortedCounts(below(tally, "source/"))}
	for _, source := range s.BySource {
		s.Sources = append(s.Sources, source.Name)
		s.Total += source.Count
	}
	for _, c := range sortedCounts(below(tally, "category/")) {
		row := categoryRow{c.Name, c.Count, make([]int64, len(s.Sources))}
		for k, source := range s.Sources {
			row.BySource[k] = tally["span/"+c.Name+"/"+source]
		}
		s.Categories = append(s.Categories, row)
	}
	return s
}

// confidenceBins is into how many equal parts write.Unit sorts confidences.
const confidenceBins = 20

func bins(tally map[string]int64) []bin {
	all := []bin{}
	for k := range confidenceBins {
		from, to := float64(k)/confidenceBins, float64(k+1)/confidenceBins
		all = append(all, bin{rounded(from), rounded(to), tally[fmt.Sprintf("confidence/%.2f", from)]})
	}
	return all
}

// folders sums up the units by the folder of their parts. Units that left no
// part stand together.
func folders(m *pipeline.Manifest) []folder {
	byName := map[string]*folder{}
	for _, u := range m.Units {
		name := folderOf(&u)
		f := byName[name]
		if f == nil {
			f = &folder{Name: name}
			byName[name] = f
		}
		f.Read += u.Rows
		f.Quarantined += u.Quarantined
		f.WithSpans += u.Tally["notes_with_spans"]
		for _, n := range below(u.Tally, "category/") {
			f.Spans += n
		}
	}
	all := []folder{}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, *byName[name])
	}
	return all
}

func folderOf(u *pipeline.UnitRecord) string {
	for _, p := range u.Parts {
		if p.Kind == "masked" {
			dir := strings.TrimPrefix(path.Dir(p.Path), "masked")
			return cmp.Or(strings.TrimPrefix(dir, "/"), "(no folder)")
		}
	}
	return "(unreadable)"
}

// Names under which the uses of lists and rules stand in the tally of a unit.
const (
	ruleUses      = "rule/"
	alwaysUses    = "always/"
	neverUses     = "never/"
	neverListUses = "never_list/"
	lowScore      = "low_score"
)

func uses(tally map[string]int64, in *reportInput) reportUses {
	u := reportUses{Rules: []named{}, NeverLists: []named{}, LowScore: tally[lowScore]}
	for _, name := range resolve.RuleNames() {
		u.Rules = append(u.Rules, named{name, tally[ruleUses+name]})
	}
	for _, l := range lexicons(gazetteer.Default()).Never {
		u.NeverLists = append(u.NeverLists, named{l.Name, tally[neverListUses+l.Name]})
	}
	u.Always, u.Never = numbered(tally, alwaysUses, in.always), numbered(tally, neverUses, in.never)
	return u
}

func numbered(tally map[string]int64, prefix string, n int) []named {
	all := []named{}
	for k := range n {
		name := strconv.Itoa(k + 1)
		all = append(all, named{name, tally[prefix+name]})
	}
	return all
}

// judge sets the light, the sentence and what is to be looked at.
func (r *report) judge() {
	n := &r.Notes
	if n.Read > 0 && float64(n.Quarantined) > n.Allowed*float64(n.Read) {
		r.find(red, "%s of the notes are in quarantine; %s are allowed.", percent(n.Share), percent(n.Allowed))
	}
	if k := len(r.BadInputs); k > 0 {
		r.find(red, "%s of the archive could not be read.", plural(int64(k), "file"))
	}
	if r.BadUnits > 0 {
		r.find(amber, "%s could not be decoded; all of their notes are in quarantine.", plural(int64(r.BadUnits), "unit"))
	}
	for _, reason := range r.Reasons {
		switch reason.Name {
		case pipeline.Panicked.String(), pipeline.TimedOut.String(), pipeline.NoModel.String(), pipeline.Unsealed.String():
			r.find(amber, "%s in quarantine for a failure of velum itself (%s).", plural(reason.Count, "note"), reason.Name)
		}
	}
	if n.Duplicates != nil && *n.Duplicates > 0 {
		r.find(amber, "Ids come again: %s with the id of a note before.", plural(*n.Duplicates, "note"))
	}
	if len(r.Drift) > 0 {
		r.find(amber, "The columns of the files differ in %s.", plural(int64(len(r.Drift)), "place"))
	}
	if s := r.Selection; s != nil && s.Notes > 0 && !s.Met {
		r.find(amber, "The selection set does not have the wanted shares of categories.")
	}
	r.Light = green
	for _, f := range r.Findings {
		if f.Light == red || r.Light == green {
			r.Light = f.Light
		}
	}
	r.Sentence = fmt.Sprintf("%s %s read: %s masked, %s in quarantine (%s, up to %s allowed).",
		map[light]string{green: "All well.", amber: "Done, with something to look at.", red: "Look at this before the output is used."}[r.Light],
		plural(n.Read, "note"), thousands(n.Masked), thousands(n.Quarantined), percent(n.Share), percent(n.Allowed))
}

func (r *report) find(l light, format string, args ...any) {
	r.Findings = append(r.Findings, reportFinding{l, fmt.Sprintf(format, args...)})
}

func plural(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return thousands(n) + " " + what
}

// thousands writes a number in groups of three, with the narrow space that
// all three languages of the readers take.
func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && digits[i-1] != '-' && (len(digits)-i)%3 == 0 {
			b.WriteRune('\u202f')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// percent writes a share with three significant digits, or two of a small one.
func percent(share float64) string {
	p := 100 * share
	digits := 1
	if p < 10 {
		digits = 2
	}
	text := strconv.FormatFloat(p, 'f', digits, 64)
	if p < 0.1 {
		text = strconv.FormatFloat(p, 'g', 2, 64)
	}
	return strings.TrimSuffix(strings.TrimSuffix(text, ".00"), ".0") + "\u202f%"
}

// write writes report.json and report.html into the public tree.
func (r *report) write(f *pipeline.Final) error {
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	for _, file := range []struct {
		path string
		make func() ([]byte, error)
	}{
		{"report.json", func() ([]byte, error) { return append(data, '\n'), nil }},
		{"report.html", r.html},
	} {
		content, err := file.make()
		if err != nil {
			return err
		}
		part, err := f.Create("report", file.path, false)
		if err != nil {
			return err
		}
		if _, err := part.Write(content); err != nil {
			return err
		}
	}
	return nil
}
