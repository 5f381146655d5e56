package proof

import (
	"context"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline/audit"
)

// Ledger returns the releases in a ledger. It is an error if the hash chain of the log is broken.
func Ledger(name string) ([]audit.Release, error) {
	verified, err := Verified(name, "")
	if err != nil {
		return nil, err
	}
	if len(verified.Findings) > 0 {
		return nil, exit.Errorf(exit.Integrity, "velum prove log names the lines", "the ledger is not as it was written: %d findings",
			len(verified.Findings))
	}
	return audit.Releases(name)
}

// Releases lists the releases in a ledger or in the audit log of a tree.
func Releases(_ context.Context, c *console.Console, o *LogOptions) error {
	all, err := Ledger(logOf(o.File))
	if err != nil {
		return err
	}
	rows := make([]release, len(all))
	for i, r := range all {
		r.Files, r.IDs = nil, nil
		rows[i] = release{"release", i + 1, r.Time.Format("2006-01-02"), r.Key, r.Model, r}
		if c.JSON {
			if err := c.WriteJSON(rows[i]); err != nil {
				return err
			}
		}
	}
	if c.JSON {
		return nil
	}
	return c.Tell(rows, releasesText)
}

// release is a line of what Releases prints.
type release struct {
	Kind  string `json:"message_type"`
	N     int    `json:"n"`
	Date  string `json:"date"`
	Key   string `json:"key_id,omitempty"`
	Model string `json:"model_sha256"`
	audit.Release
}

const releasesText = `release	date	purpose	recipients	notes	key	policy	k	columns	output
{{range .}}{{.n}}	{{.date}}	{{or .purpose "-"}}	{{or .recipients "-"}}	{{.notes}}	{{or .key_id "-"}}	{{.policy_sha256}}	{{or .k 0}}	{{or .k_plan "-"}}	{{printf "%.12s" .output_sha256}}
{{end}}`
