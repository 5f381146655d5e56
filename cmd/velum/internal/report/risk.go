package report

import (
	"encoding/json"
	"errors"
	"github.com/velum-health/velum/cmd/velum/internal/page"
	"path/filepath"

	"github.com/velum-health/velum/models/tag/calibrate"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/tally"
)

// Risk is what a run says of the notes that keep something: by the confidences of
// its own notes, if those of its model are calibrated, and by what people found who
// read a random sample of this very output. No corpus on which anything was chosen
// speaks for it, for notes of another house are other notes.
type Risk struct {
	Calibration *Calibration        `json:"calibration,omitempty"` // nil: the confidences say nothing
	Left        *calibrate.Expected `json:"expected_left,omitempty"`
	Many        bool                `json:"many"`      // more than RedFrom of the notes
	RedFrom     float64             `json:"red_from"`  // report.expected, a share of the notes
	Proven      float64             `json:"proven_by"` // report.proven, the share that a reading must show
	Unlike      []Shift             `json:"unlike"`    // in what the notes were compared
	Reading     *Reading            `json:"reading,omitempty"`
}

// Calibration is what the number expected was learned of.
type Calibration struct {
	Notes   int64   `json:"notes"`
	Leaks   int64   `json:"leaks"`
	Sources int     `json:"sources"`
	Spread  float64 `json:"spread"`
}

// Shift is one figure of the notes beside those that the model was calibrated on.
type Shift struct {
	What   string  `json:"what"` // language, words, spans, confidence
	Here   float64 `json:"here,omitempty"`
	Lowest float64 `json:"lowest,omitempty"` // of the sources, or what is taken for them
	Most   float64 `json:"highest,omitempty"`
	Beyond bool    `json:"beyond"` // further away than report.shift allows
}

// Reading is what people found who read a random sample of this output.
type Reading struct {
	audit.Reading
	Upper float64 `json:"upper"` // share of notes that keep something, at 95 %
	Stale bool    `json:"stale"` // the output has changed since
	Fast  bool    `json:"fast"`  // a note took less than report.read_seconds
}

// Without a calibration these are the limits of notes in Spanish and Catalan: of
// the hands of notes-voices and the wards of NUBes none was beyond.
var plainForeign, plainUnknown = calibrate.Range{0, 0.03}, calibrate.Range{0, 0.35}

// riskOf puts it together.
func riskOf(m *commit.Manifest, in *Input) *Risk {
	o, s := &in.Config.Report, archiveOf(&m.Counts)
	r := &Risk{RedFrom: o.Expected, Proven: o.Proven, Unlike: []Shift{}}
	if in.Reading != nil {
		r.Reading = &Reading{*in.Reading, rounded6(in.Reading.Upper()), in.Reading.Output != audit.OutputDigest(m), in.Reading.Seconds() < int64(o.ReadSeconds)}
	}
	if m.Counts.Masked == 0 {
		return r
	}
	foreign, unknown := plainForeign, plainUnknown
	c := in.Model.Risk
	if c != nil {
		foreign, unknown = c.Foreign, c.Unknown
	}
	enough := s.Told >= int64(o.Shift.Notes)
	r.compare("language", s.ForeignShare(), foreign, foreign[1]+o.Shift.Language, enough)
	r.compare("words", s.UnknownShare(), unknown, unknown[1]+o.Shift.Words, enough)
	if c == nil {
		return r
	}
	r.compareBoth("spans", s.SpansPerNote(), c.Spans, c.Spans[0]/o.Shift.Spans, c.Spans[1]*o.Shift.Spans, enough)
	if c.Confidence == in.Config.Tag.Confidence {
		r.compareBoth("confidence", s.MeanDoubt(), c.Doubt, c.Doubt[0]-o.Shift.Confidence, c.Doubt[1]+o.Shift.Confidence, enough)
		left := c.Expect(s)
		r.Many = float64(left.Notes) > o.Expected*float64(m.Counts.Masked)
		r.Left, r.Calibration = &left, &Calibration{c.Notes, c.Leaks, c.Sources, Rounded(c.Spread)}
	}
	return r
}

// WordsLost counts masked words that a list of what is safe has, if an inverse model
// looked: the price of recall, as far as lists tell.
func WordsLost(c *commit.Counts) (lost int64) {
	for _, n := range c.Tally.By(tally.VainCategory) {
		lost += n
	}
	return lost
}

// archiveOf is what was counted of masked notes.
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

func (r *Risk) compare(what string, here float64, known calibrate.Range, most float64, enough bool) {
	r.compareBoth(what, here, known, -1, most, enough)
}

func (r *Risk) compareBoth(what string, here float64, known calibrate.Range, least, most float64, enough bool) {
	r.Unlike = append(r.Unlike, Shift{what, Rounded(here), Rounded(known[0]), Rounded(known[1]), enough && (here > most || here < least)})
}

// public is what may be given away: what people found. The language of notes, their
// words and confidences are functions of the hidden words under a model that everyone
// has: a light that went by them told one name from another in a small archive.
func (r *Risk) public() *Risk {
	p := *r
	p.Left, p.Many, p.Unlike = nil, false, []Shift{}
	if r.Reading != nil {
		p.Reading = new(*r.Reading)
		p.Reading.By, p.Reading.Output, p.Reading.Sample, p.Reading.Readers, p.Reading.Kappa = "", "", "", nil, nil
	}
	return &p
}

// Read tells whether a sample of just this output was read.
func (r *Risk) Read() bool { return r.Reading != nil && !r.Reading.Stale }

// shown tells whether a reading shows the share that is wanted.
func (r *Risk) shown() bool { return r.Read() && !r.Reading.Fast && r.Reading.Upper <= r.Proven }

// judgeRisk: nothing is green but what people have read.
func (r *Report) judgeRisk() {
	k, l := r.Risk, r.language
	if r.Notes.Masked == 0 || k == nil {
		return
	}
	expected := red
	if k.shown() { // what people saw in these very notes counts for more than what notes of others let expect
		expected = amber
	}
	for _, s := range k.Unlike {
		if s.Beyond {
			key := "find unlike " + s.What
			r.find(expected, key, l.Shown(s.What, s.Here), l.Shown(s.What, s.Lowest), l.Shown(s.What, s.Most))
		}
	}
	if k.Many {
		r.find(expected, "find many", l.Percent(k.RedFrom))
	}
	if k.Calibration == nil {
		r.find(amber, "find uncalibrated")
	}
	switch p := k.Reading; {
	case p == nil:
		r.find(amber, "find unread", l.Percent(k.Proven))
	case p.Stale:
		r.find(amber, "find stale")
	case p.Fast:
		r.find(amber, "find fast")
	case float64(p.Leaks) > k.Proven*float64(p.Read):
		r.find(red, "find leaks", l.Plural(p.Leaks, "note"), l.Percent(k.Proven))
	case p.Upper > k.Proven:
		r.find(amber, "find few read", l.Percent(k.Proven))
	}
}

// Said is the light of a private tree's report, its sentence, and what made the
// light red, as they stand on disk.
func Said(disk durable.FS, private string) (light, sentence string, reasons []string, err error) {
	data, err := durable.ReadFile(disk, filepath.Join(private, "report.json"))
	if err != nil {
		return "", "", nil, err
	}
	var r Report
	if json.Unmarshal(data, &r) != nil {
		return "", "", nil, errors.New("report.json of the private tree is none")
	}
	for _, f := range r.Findings {
		if f.Light == red {
			reasons = append(reasons, f.Text)
		}
	}
	return string(r.Light), r.Sentence, reasons, nil
}

// riskSentences say whether people read of it, and what is expected to be left.
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
	}
	switch left := k.Left; {
	case left != nil:
		last = append(last, l.Text("sentence left", page.Thousands(left.Notes), page.Thousands(left.Low), page.Thousands(left.High), l.Plural(r.Notes.Masked, "note"),
			l.Plural(k.Calibration.Notes, "note"), l.Plural(int64(k.Calibration.Sources), "source")))
	case k.Calibration == nil:
		last = append(last, l.Text("sentence uncalibrated"))
	}
	return first, last
}
