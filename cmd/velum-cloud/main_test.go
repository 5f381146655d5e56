package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum-cloud/cloud"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"--in s3://b/x --in=gs://c --out s3://b/y --recall 0.99 --fresh", "[s3://b/x gs://c] s3://b/y 50000000000 [--recall 0.99 --fresh]"},
		{"--scratch-limit 1.5TB --in a,b --json", "[a b]  1500000000000 [--json]"},
		{"--scratch-limit 20000", "[]  20000 []"},
		{"--scratch-limit much", "refused"},
		{"--out", "refused"},
		{"--dry-run", "refused"},
	} {
		o, _, err := parse(strings.Fields(c.line))
		got := "refused"
		if err == nil {
			got = fmt.Sprint(o.In, " ", o.Out, " ", o.Limit, " ", o.Args)
		} else if cloud.ExitCode(err) != cloud.Config {
			t.Errorf("%s: %v", c.line, err)
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.line, got, c.want)
		}
	}
}
