package proof

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/models/tag/calibrate"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
)

// Leaks states what reading a sample proves: the number of notes read, the leaks found, and an upper bound of the leak
// rate.
type Leaks struct {
	Kind       string  `json:"message_type"`
	Read       int64   `json:"read"` // as given, or as needed for Rate
	Leaks      int64   `json:"leaks"`
	Confidence float64 `json:"confidence"`
	Observed   float64 `json:"observed_rate"`
	Upper      float64 `json:"upper_rate"` // Clopper-Pearson, one-sided
	Notes      int64   `json:"notes,omitempty"`
	Left       int64   `json:"notes_left_at_most,omitempty"` // of Notes
	Rate       float64 `json:"rate,omitempty"`

	Strata []audit.Stratum `json:"strata,omitempty"` // that the sample was drawn from

	By    string   `json:"by,omitempty"`    // who read the sample of an output
	Kappa *float64 `json:"kappa,omitempty"` // of two readers

	Others int64 `json:"other_readings,omitempty"` // number of readings of the same output that were recorded before
}

// Solve checks the fields and computes those that follow from the others: the bound, or the notes to read for a wanted
// rate.
func (l *Leaks) Solve() error {
	l.Kind = "proof"
	if l.Confidence <= 0 || l.Confidence >= 1 {
		return exit.Misconfiguredf("give a share such as 0.95", "--confidence must be between 0 and 1")
	}
	if l.Rate != 0 {
		if l.Rate <= 0 || l.Rate >= 1 {
			return exit.Misconfiguredf("give a share such as 0.001", "--rate must be between 0 and 1")
		}
		l.Read = audit.NotesToRead(l.Rate, l.Confidence)
	}
	if l.Read < 1 || l.Leaks < 0 || l.Leaks > l.Read || l.Notes < 0 {
		return exit.Misconfiguredf("see `velum prove sample --help`", "--read must be 1 or more, and --leaks from 0 to --read")
	}
	l.Observed = float64(l.Leaks) / float64(l.Read)
	l.Upper = audit.UpperShare(l.Read, l.Leaks, l.Confidence)
	l.Left = int64(math.Ceil(l.Upper * float64(l.Notes)))
	return nil
}

// Record appends the result of reading a sample to the audit log of an output, bound to the masked parts from which the
// sample was drawn. sums holds the digests of the lines of the readers' journals. The journals must be signed if the
// output was made with a key.
func (l *Leaks) Record(dir string, read *audit.Reading, sums map[string]bool) error {
	private, m, err := files.Private(dir)
	if err != nil {
		return err
	}
	sample, extent, err := files.Sample(private, m)
	if err != nil {
		return err
	}
	if read.Output != extent.Output || read.Sample != sample.SHA256 || !extent.In(m) {
		return exit.Misconfiguredf("read the sample that it has now", "%s: another sample was read, or the output has changed since", dir)
	}
	if m.Key != "" && read.Signed != m.Key {
		return exit.Errorf(exit.Key, "read the sample, and record it, with the key of the output: --set key.file=FILE",
			"%s was made with key %s, and not all journals are signed with it", dir, m.Key)
	}
	log := audit.LogIn(private)
	earlier, err := audit.Readings(log)
	if err != nil {
		return err
	}
	for _, r := range earlier {
		for _, x := range r.Readers {
			if sums[x.Journal] && !slices.Contains(read.Before, x.Journal) {
				read.Before = append(read.Before, x.Journal)
			}
		}
	}
	read.Parts = extent.Parts
	if l.Notes, err = untouched(private, sample, m, read); err != nil {
		return err
	}
	l.By, l.Kappa, l.Strata = read.By, read.Kappa, read.Strata
	l.Observed, l.Upper = read.Estimate(), read.UpperAt(l.Confidence)
	l.Left = int64(math.Ceil(l.Upper*float64(l.Notes) - 1e-6))
	l.Others = int64(len(slices.DeleteFunc(earlier, func(r audit.Recorded) bool { return r.Output != read.Output })))
	_, err = audit.Append(log, audit.Entry{Event: "read", Config: m.Config, Model: m.Model, Read: read})
	return err
}

// untouched adds those strata of a sample of which nobody has read a note, because all their notes may leak, and counts
// the notes from which the sample was drawn.
func untouched(private string, sample *commit.PartRecord, m *commit.Manifest, read *audit.Reading) (notes int64, err error) {
	data, err := files.Part(private, sample)
	if err != nil {
		return 0, err
	}
	for _, s := range read.Strata {
		notes += s.Notes
	}
	for line := range bytes.Lines(data) {
		var d struct{ *audit.Drawn }
		if json.Unmarshal(line, &d) != nil {
			return 0, &durable.IntegrityError{Path: sample.Path, Cause: "is no sample"}
		}
		if d.Drawn != nil && !slices.ContainsFunc(read.Strata, func(s audit.Stratum) bool { return s.From == d.From }) {
			read.Strata = append(read.Strata, audit.Stratum{From: d.From, To: d.To, Notes: d.Notes})
			notes += d.Notes
		}
	}
	if notes != report.Doubtful(m, &read.Extent, 0, calibrate.DoubtBins) {
		return 0, &durable.IntegrityError{Path: sample.Path, Cause: "is not the sample of this output"}
	}
	return notes, nil
}

// LeaksText is a template of console.Tell for Leaks.
const LeaksText = `{{if .rate -}}
to prove fewer than {{rate .rate}} at {{times 100 .confidence | figure "%.4g"}} % confidence: read {{.read}} notes and find no leak
{{else -}}
{{.read}} notes read, {{.leaks}} with a leak ({{times 100 .observed_rate | figure "%.4g"}} %)
{{with .strata}}{{if gt (len .) 1}}{{range $i, $s := .}}  stratum {{next $i}}, the least sure first: {{.read}} of {{.notes}} notes read, {{.leaks}} with a leak
{{end}}{{end}}{{end}}{{end -}}
at {{times 100 .confidence | figure "%.4g"}} % confidence at most {{times 100 .upper_rate | figure "%.4g"}} % of all notes leak: {{rate .upper_rate}}
{{with .by}}read by {{.}}
{{end}}{{with .other_readings -}}
other readings of this output are recorded ({{.}}): the worst stands, until somebody decides with velum prove adjudicate
{{end}}{{if ne (print .kappa) "<nil>"}}agreement of the two readers: kappa {{figure "%.2f" .kappa}}
{{end}}{{with .notes}}of {{.}} notes: at most {{or $.notes_left_at_most 0}}
{{end}}(exact {{if .strata -}}
bound for notes drawn without replacement, whatever the confidences are worth
{{- else}}binomial bound, Clopper and Pearson{{end}}, one-sided; for a random sample and a reader who sees every leak)
`
