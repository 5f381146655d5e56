package proof

import (
	"cmp"
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline/audit"
)

// Ledger returns the releases in a ledger. It is an error if the hash chain of the log is broken.
func Ledger(name string) ([]audit.Release, error) {
	verified, err := verifyLog(name, "")
	if err != nil {
		return nil, err
	}
	if len(verified.Findings) > 0 {
		return nil, exit.Errorf(exit.Integrity, "velum prove log names the lines", "the ledger is not as it was written: %d findings", len(verified.Findings))
	}
	return audit.Releases(name)
}

// Releases lists the releases in a ledger or in the audit log of a tree.
func Releases(_ context.Context, c *console.Console, o *LogOptions) error {
	all, err := Ledger(logOf(o.File))
	if err != nil {
		return err
	}
	if c.JSON {
		for i := range all {
			r := all[i]
			r.Files, r.IDs = nil, nil
			err := c.WriteJSON(struct {
				Kind  string `json:"message_type"`
				N     int    `json:"n"`
				Date  string `json:"date"`
				Key   string `json:"key_id,omitempty"`
				Model string `json:"model_sha256"`
				audit.Release
			}{"release", i + 1, r.Time.Format("2006-01-02"), r.Key, r.Model, r})
			if err != nil {
				return err
			}
		}
		return nil
	}
	w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "release\tdate\tpurpose\trecipients\tnotes\tkey\tpolicy\tk\tcolumns\toutput\n")
	for i := range all {
		r := &all[i]
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%d\t%s\t%s\t%d\t%s\t%.12s\n", i+1, r.Time.Format("2006-01-02"), cmp.Or(r.Purpose, "-"), cmp.Or(r.Recipients, "-"), r.Notes,
			cmp.Or(r.Key, "-"), r.Policy, r.K, cmp.Or(r.Plan, "-"), r.Output)
	}
	return w.Flush()
}
