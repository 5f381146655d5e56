package proof

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline/audit"
)

// reading is a line of what Readings prints.
type reading struct {
	Line   int64   `json:"line"`
	Time   string  `json:"time"`
	Output string  `json:"output"`
	Read   int64   `json:"read"`
	Leaks  int64   `json:"leaks"`
	Upper  float64 `json:"upper"`
	By     string  `json:"by"`
	Signed bool    `json:"signed"`
	Judged string  `json:"set_aside_by,omitempty"`
}

const readingText = `line {{.line}}, {{.time}}, output {{printf "%.12s" .output}}: {{.read}} notes read by {{.by}}, {{.leaks}} with a leak, at most {{times 100 .upper | figure "%.4g"}} %{{if .signed}}, signed{{end}}{{with .set_aside_by}}, set aside by {{.}}{{end}}
`

// readings prints the readings that a log has.
func readings(c *console.Console, all []audit.Recorded) (err error) {
	for _, r := range all {
		x := reading{r.Line, r.Time.Format("2006-01-02 15:04"), r.Output, r.Read, r.Leaks, r.Upper(), r.By, r.Signed != "", ""}
		if r.Judged != nil {
			x.Judged = r.Judged.By
		}
		if err = c.Tell(x, readingText); err != nil {
			return err
		}
	}
	return nil
}

// Adjudicate records in the audit log which of several readings of an output is valid, with the name of the person who
// decides and the reason. Without a decision in the options it prints the recorded readings.
func Adjudicate(_ context.Context, c *console.Console, o *LogOptions) error {
	log, j := logOf(o.File), o.Judged
	all, err := audit.Readings(log)
	if err != nil {
		return err
	}
	if j == (audit.Judgement{}) {
		return readings(c, all)
	}
	if strings.TrimSpace(j.By) == "" || strings.TrimSpace(j.Why) == "" {
		return exit.Misconfiguredf("give --name and --why", "whoever lets one reading stand says who that is, and why")
	}
	at := slices.IndexFunc(all, func(r audit.Recorded) bool { return r.Line == j.Line })
	if at < 0 {
		return exit.Misconfigured(&fs.PathError{Op: "adjudicate", Path: o.File, Err: fs.ErrNotExist},
			"name the line of a reading: velum prove adjudicate "+o.File)
	}
	if _, err := audit.Append(log, audit.Entry{Event: "adjudicate", Judged: &j}); err != nil {
		return err
	}
	_, err = c.Printf("%s lets the reading of line %d stand: %d notes, %d with a leak\n", j.By, j.Line, all[at].Read, all[at].Leaks)
	return err
}
