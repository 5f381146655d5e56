package report

import (
	"cmp"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/page"
	"github.com/velum-health/velum/models/tag/calibrate"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/tally"
)

// Risk estimates how many notes still hold an identifier. It uses the confidences of the notes, if the model is
// calibrated, and the findings of people who read a random sample of this output. Scores on a corpus do not enter,
// because notes of another institution differ.
type Risk struct {
	Calibration *Calibration        `json:"calibration,omitempty"` // nil: the confidences say nothing
	Left        *calibrate.Expected `json:"expected_left,omitempty"`
	Corrected   *calibrate.Expected `json:"corrected_left,omitempty"` // the same, corrected by what people found in a sample; nil: nobody read
	Parts
	Many    bool     `json:"many"`           // the expected number is more than RedFrom of the notes
	RedFrom float64  `json:"red_from"`       // report.expected, a share of the notes
	Proven  float64  `json:"proven_by"`      // report.proven, the share that a reading must show
	Unlike  []Shift  `json:"unlike"`         // differences between these notes and those of the calibration
	Plan    *Plan    `json:"plan,omitempty"` // of a sample that would show Proven; nil: one was read
	Reading *Reading `json:"reading,omitempty"`

	spans float64 // a note
}

// sparse separates two kinds of archives by spans per note: sentences of hospital documents have .14 to .2, hurried
// primary-care notes 1 to 1.6. For four kinds of document and eight groups of writers, each predicted from the other
// corpora, the predicted number was wrong by a factor of at most 2.7 and 7.3.
const sparse = 0.45

// Parts divides the expected number of leaking notes by category, month, centre and language, corrected by a reading if
// there was one. A list is empty if the parts are not known.
type Parts struct {
	Categories []RiskPart `json:"by_category,omitempty"`
	Months     []RiskPart `json:"by_month,omitempty"`
	Centers    []RiskPart `json:"by_center,omitempty"`
	Languages  []RiskPart `json:"by_language,omitempty"`
}

// direct lists the kinds of categories that identify a person directly. Ages, dates, places and professions identify
// only in combination.
var direct = []pipeline.Kind{pipeline.NameKind, pipeline.ContactKind, pipeline.IDKind}

// Direct returns the estimate for the categories that identify a person directly, such as names; nil if categories are
// not known. It adds the ends of the intervals, so the interval of the sum is not too narrow.
func (p *Parts) Direct() *calibrate.Expected {
	if len(p.Categories) == 0 {
		return nil
	}
	var sum calibrate.Expected
	for i := range p.Categories {
		x := &p.Categories[i]
		if c, err := pipeline.ParseCategory(x.Name); err == nil && slices.Contains(direct, c.Kind()) {
			sum.Notes, sum.Low, sum.High = sum.Notes+x.Notes, sum.Low+x.Low, sum.High+x.High
		}
	}
	return &sum
}

// RiskPart is the estimate for one part of the notes, such as a month.
type RiskPart struct {
	Name string `json:"name"`
	Of   int64  `json:"of"` // number of masked notes; for a category, of its spans
	calibrate.Expected

	Read  int64 `json:"read,omitempty"`  // of these notes, in the sample
	Leaks int64 `json:"leaks,omitempty"` // of these, with something left; of a category, with something of it
}

// Calibration describes the labelled notes on which the confidences were calibrated.
type Calibration struct {
	Notes   int64   `json:"notes"`
	Leaks   int64   `json:"leaks"`
	Sources int     `json:"sources"`
	Spread  float64 `json:"spread"`
}

// Shift compares one figure of these notes with its range in the notes that the model was calibrated on.
type Shift struct {
	What   string  `json:"what"` // language, words, spans, confidence
	Here   float64 `json:"here,omitempty"`
	Lowest float64 `json:"lowest,omitempty"` // of the sources, or what is taken for them
	Most   float64 `json:"highest,omitempty"`
	Beyond bool    `json:"beyond"` // differs by more than the light allows

	Languages []string `json:"languages,omitempty"` // languages of at least 1 % of the notes that the model was not trained on
}

// Reading summarizes the findings of people who read a random sample of this output.
type Reading struct {
	audit.Reading
	Upper float64 `json:"upper"`    // upper 95 % bound of the share of notes with something unmasked
	Share float64 `json:"estimate"` // estimated share of such notes, strata weighted by their notes
	Stale bool    `json:"stale"`    // the output has changed since
	Fast  bool    `json:"fast"`     // a note took less time than report.read_seconds
}

// plain has the limits used without a calibration, for notes in Spanish and Catalan: none of the writers of
// notes-voices and the wards of NUBes was beyond them.
var plain = calibrate.Risk{Foreign: calibrate.Range{0, 0.03}, Unknown: calibrate.Range{0, 0.35}}

// riskOf computes the risk section of the report.
func riskOf(m *commit.Manifest, in *Input) *Risk {
	o, s := &in.Config.Report, archiveOf(&m.Counts)
	r := &Risk{RedFrom: o.Expected, Proven: o.Proven, Unlike: []Shift{}}
	if in.Reading != nil {
		r.Reading = &Reading{*in.Reading, rounded6(in.Reading.Upper()), rounded6(in.Reading.Estimate()), !in.Reading.In(m),
			in.Reading.Seconds() < int64(o.ReadSeconds)}
	}
	if m.Counts.Masked == 0 {
		return r
	}
	if !r.Read() {
		r.Plan = PlanOf(m, in.Model.Risk, o.Proven)
	}
	c := in.Model.Risk
	like, enough := cmp.Or(c, &plain), s.Told >= fewNotes
	r.compare("language", s.ForeignShare(), like.Foreign, -1, like.Foreign[1]+shiftLanguage, enough)
	r.Unlike[0].Languages = unheard(&m.Counts, in.Model.Heard())
	if in.Model.Heard().Home() {
		r.compare("words", s.UnknownShare(), like.Unknown, -1, like.Unknown[1]+shiftWords, enough)
	}
	if c == nil {
		return r
	}
	r.spans = s.SpansPerNote()
	r.compare("spans", r.spans, c.Spans, c.Spans[0]/shiftSpans, c.Spans[1]*shiftSpans, enough)
	if c.Confidence == in.Config.Tag.Confidence {
		r.compare("confidence", s.MeanDoubt(), c.Doubt, c.Doubt[0]-shiftDoubt, c.Doubt[1]+shiftDoubt, enough)
		outlook := c.Outlook(s)
		left := outlook.Expect()
		r.Many = float64(left.Notes) > o.Expected*float64(m.Counts.Masked)
		if r.Read() {
			outlook.Read(sampled(r.Reading))
			r.Corrected = new(outlook.Expect())
		}
		r.Parts = partsOf(m, outlook, r.Reading)
		r.Left, r.Calibration = &left, &Calibration{c.Notes, c.Leaks, c.Sources, Rounded(c.Spread)}
	}
	return r
}

// Limits of the distance between these notes and the calibration notes, above which the verdict of the report is red.
const (
	fewNotes      = 50   // fewer notes are not compared: of them chance says more than they do
	shiftLanguage = 0.05 // share of notes in a language that the model does not know: it finds few names between words that it has never seen
	shiftWords    = 0.1  // share of unknown words
	shiftSpans    = 5    // times more or fewer spans a note: writers lie up to twenty times apart, wards of one hospital up to ten
	shiftDoubt    = 1.5  // mean log odds of doubt: writers of one corpus lie within 2, and 4 is what lies between short notes and reports
)

// unheard returns the codes of the languages unknown to the model in at least one of a hundred masked notes.
func unheard(c *commit.Counts, heard pipeline.Languages) (codes []string) {
	for code, n := range c.Tally.By(tally.Language) {
		if l, known := pipeline.ParseLanguage(code); known && n*100 >= c.Masked && heard.Foreign(l, pipeline.Words{}) {
			codes = append(codes, code)
		}
	}
	slices.Sort(codes)
	return codes
}

// Foreign reports whether too many notes are in a language that the model does not know, so that a report would be red.
// c is nil for a model without a calibration.
func Foreign(s *calibrate.Source, c *calibrate.Risk) bool {
	return s.Told >= fewNotes && s.ForeignShare() > cmp.Or(c, &plain).Foreign[1]+shiftLanguage
}

// archiveOf returns the counts of the masked notes.
func archiveOf(c *commit.Counts) *calibrate.Source {
	t := c.Tally
	s := &calibrate.Source{Words: t.Get(tally.Words, ""), Unknown: t.Get(tally.Unknown, ""), Foreign: t.Get(tally.Foreign, ""), Told: c.Masked}
	for k := range s.Notes {
		s.Notes[k] = t.Get(tally.Doubt, calibrate.BinName(k))
	}
	for _, n := range t.By(tally.Category) {
		s.Spans += n
	}
	return s
}

// partsOf divides the expected leaks by month, centre and language. Months and languages are given only if all notes
// have one.
func partsOf(m *commit.Manifest, o *calibrate.Outlook, reading *Reading) (p Parts) {
	var found audit.Found
	if reading != nil && !reading.Stale {
		found = reading.Found
	}
	var kinds []calibrate.Kind
	for name, n := range m.Counts.Tally.By(tally.Category) {
		kinds = append(kinds, calibrate.Kind{Name: name, Found: n, Read: found.Categories[name]})
	}
	slices.SortFunc(kinds, func(a, b calibrate.Kind) int {
		return cmp.Or(cmp.Compare(b.Found, a.Found), cmp.Compare(a.Name, b.Name))
	})
	for i, e := range o.Kinds(kinds) {
		p.Categories = append(p.Categories, RiskPart{Name: kinds[i].Name, Of: kinds[i].Found, Expected: e, Leaks: kinds[i].Read})
	}
	months := map[string]*calibrate.Source{}
	for name, c := range byMonth(m) {
		months[name] = archiveOf(c)
	}
	p.Months = riskParts(m, months, func(s *calibrate.Source) calibrate.Expected { return o.Part(s, false) }, nil)
	doubts := map[string]map[string]*calibrate.Source{tally.ByLanguage: {}, tally.ByCenter: {}}
	for name, n := range m.Counts.Tally.By(tally.DoubtBy) {
		by, rest, _ := strings.Cut(name, "/")
		at := strings.LastIndexByte(rest, '/')
		bin, err := strconv.Atoi(rest[at+1:])
		if all := doubts[by+"/"]; all != nil && at >= 0 && err == nil && bin >= 0 && bin < calibrate.DoubtBins {
			if all[rest[:at]] == nil {
				all[rest[:at]] = new(calibrate.Source)
			}
			all[rest[:at]].Notes[bin] += n
		}
	}
	p.Languages = riskParts(m, doubts[tally.ByLanguage], func(s *calibrate.Source) calibrate.Expected { return o.Part(s, false) }, nil)
	p.Centers = riskParts(m, doubts[tally.ByCenter], func(s *calibrate.Source) calibrate.Expected { return o.Part(s, true) }, found.Centers)
	return p
}

// mostParts bounds what a table of parts has.
const mostParts = 120

// riskParts returns the parts by name; none if no note is in a part, or all are in one.
func riskParts(m *commit.Manifest, parts map[string]*calibrate.Source, expect func(*calibrate.Source) calibrate.Expected,
	read map[string]audit.Share) (all []RiskPart) {
	sum := int64(0)
	if len(parts) > mostParts {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		notes, _ := parts[name].All()
		if sum += notes; notes == 0 {
			continue
		}
		all = append(all, RiskPart{Name: printable(name), Of: notes, Expected: expect(parts[name]), Read: read[name].Read,
			Leaks: read[name].Leaks})
	}
	if sum != m.Counts.Masked || len(all) < 2 {
		return nil
	}
	return all
}

// sampled groups a reading by the bins of doubt from which its notes were drawn.
func sampled(r *Reading) (all []calibrate.Sampled) {
	read := r.Samples
	if read == nil {
		read = r.Strata
	}
	for _, s := range read {
		all = append(all, calibrate.Sampled{From: s.From, To: s.To, Read: s.Read, Leaks: s.Leaks})
	}
	if all == nil {
		all = []calibrate.Sampled{{To: calibrate.DoubtBins, Read: r.Reading.Read, Leaks: r.Reading.Leaks}}
	}
	return all
}

func (r *Risk) compare(what string, here float64, known calibrate.Range, least, most float64, enough bool) {
	r.Unlike = append(r.Unlike, Shift{What: what, Here: Rounded(here), Lowest: Rounded(known[0]), Most: Rounded(known[1]), Beyond: enough &&
		(here > most || here < least)})
}

// public returns the part that may be released: the findings of readers. Languages, words and confidences of notes are
// functions of the masked words under a model that everybody has; a light that depended on them distinguished names in
// a small archive.
func (r *Risk) public() *Risk {
	p := *r
	p.Left, p.Corrected, p.Parts, p.Plan, p.Many, p.Unlike = nil, nil, Parts{}, nil, false, []Shift{}
	if r.Reading != nil {
		p.Reading = new(*r.Reading)
		p.Reading.By, p.Reading.Output, p.Reading.Sample, p.Reading.Readers, p.Reading.Kappa = "", "", "", nil, nil
		p.Reading.Strata, p.Reading.Found, p.Reading.Before = nil, audit.Found{}, nil
	}
	return &p
}

// Read reports whether people have read a sample of exactly this output.
func (r *Risk) Read() bool { return r.Reading != nil && !r.Reading.Stale }

// shown reports whether a reading proves the wanted leak rate.
func (r *Risk) shown() bool { return r.Read() && !r.Reading.Fast && r.Reading.Upper <= r.Proven }

// judgeRisk sets the light by the risk: it is never green without a reading.
func (r *Report) judgeRisk() {
	k := r.Risk
	if r.Notes.Masked == 0 || k == nil {
		return
	}
	expected := red
	if k.shown() { // what people saw in these very notes counts for more than what notes of others let expect
		expected = amber
	}
	for _, s := range k.Unlike {
		if s.Beyond {
			key, as := "find unlike "+s.What, percent
			if s.What == "spans" || s.What == "confidence" {
				as = number
			}
			said := []value{as(s.Here), as(s.Lowest), as(s.Most)}
			if s.What == "language" {
				said = append(said, name(cmp.Or(strings.Join(s.Languages, ", "), "?")))
			}
			r.find(expected, key, said...)
		}
	}
	if k.Many {
		r.find(expected, "find many", percent(k.RedFrom))
	}
	if k.Calibration == nil {
		r.find(amber, "find uncalibrated")
	}
	switch p := k.Reading; {
	case p == nil:
		r.find(amber, "find unread", percent(k.Proven))
	case p.Stale:
		r.find(amber, "find stale")
	case p.Fast:
		r.find(amber, "find fast")
	case p.Share > k.Proven:
		r.find(red, "find leaks", plural(p.Leaks, "note"), percent(k.Proven))
	case p.Upper > k.Proven:
		r.find(amber, "find few read", percent(k.Proven))
	}
}

// Said reads the verdict (light) of the report in a private tree, its sentence, and the reasons if the verdict is red.
func Said(disk durable.FS, private string) (light, sentence string, reasons []string, err error) {
	data, err := durable.ReadFile(disk, filepath.Join(private, "report.json"))
	if err != nil {
		return "", "", nil, err
	}
	var r Report
	if json.Unmarshal(data, &r) != nil {
		return "", "", nil, exit.Errorf(exit.Integrity, "start the run again", "report.json of the private tree is none")
	}
	for _, f := range r.Findings {
		if f.Light == red {
			reasons = append(reasons, f.Text)
		}
	}
	return string(r.Light), r.Sentence, reasons, nil
}

// riskSentences says whether people have read a sample, and how many leaks are expected.
func (r *Report) riskSentences() (first string, last []string) {
	k, l := r.Risk, r.language
	first = l.Text("sentence unread")
	if r.Light == red { // "amber at best" in a red page reads as if it were amber
		first = l.Text("sentence unread red")
	}
	if k == nil {
		return first, nil
	}
	if p := k.Reading; k.Read() {
		first = l.Text("sentence proven", l.Plural(p.Read, "note"), page.Thousands(p.Leaks), l.Percent(p.Upper))
		if p.Others > 0 {
			last = append(last, l.Text("sentence others", page.Thousands(p.Others)))
		}
		if p.Signed != "" {
			last = append(last, l.Text("sentence signed"))
		} else {
			last = append(last, l.Text("sentence unsigned"))
		}
	}
	switch left := k.Left; {
	case left != nil:
		last = append(last, l.Text("sentence left", page.Thousands(left.Notes), page.Thousands(left.Low), page.Thousands(left.High),
			l.Plural(r.Notes.Masked, "note"),
			l.Plural(k.Calibration.Notes, "note"), l.Plural(int64(k.Calibration.Sources), "source")))
	case k.Calibration == nil:
		last = append(last, l.Text("sentence uncalibrated"))
	}
	if p := k.Plan; p != nil && len(p.Strata) > 0 {
		house, wrong := l.Text("house sparse"), "3"
		if k.spans > sparse {
			house, wrong = l.Text("house dense"), "7"
		}
		last = append(last, l.Text("sentence house", house, wrong, l.Plural(min(p.Notes(), First), "note")))
	}
	if c := k.Corrected; c != nil {
		last = append(last, l.Text("sentence corrected", page.Thousands(c.Notes), page.Thousands(c.Low), page.Thousands(c.High)))
	}
	switch p := k.Plan; {
	case p == nil || k.Left == nil:
	case p.Plain == 0:
		last = append(last, l.Text("sentence hopeless", l.Percent(p.Wanted)))
	case p.Notes() >= p.Plain:
		last = append(last, l.Text("sentence plain", l.Percent(p.Wanted), l.Plural(p.Clean, "note"), page.Thousands(p.Plain),
			strconv.FormatFloat(100*p.Wanted, 'g', -1, 64)+"%"))
	default:
		sure := p.Strata[len(p.Strata)-1]
		last = append(last, l.Text("sentence plan", l.Percent(p.Wanted), l.Plural(p.Clean, "note"), page.Thousands(p.Plain),
			page.Thousands(p.Notes()),
			page.Thousands(p.Notes()-sure.Read), page.Thousands(r.Notes.Masked-sure.Notes), strconv.FormatFloat(100*p.Wanted, 'g', -1, 64)+"%"))
	}
	return first, last
}

// riskTable is one list of parts as the page shows it.
type riskTable struct {
	By   string // key of its words
	Rows []RiskPart
}

func (r *Report) riskTables() (all []riskTable) {
	if r.Risk == nil || !r.Private {
		return nil
	}
	p := &r.Risk.Parts
	for _, t := range []riskTable{{"category", p.Categories}, {"month", p.Months}, {"center", p.Centers}, {"language", p.Languages}} {
		if len(t.Rows) > 0 {
			all = append(all, t)
		}
	}
	return all
}
