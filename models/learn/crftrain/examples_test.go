package crftrain

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/velum-health/velum/models/tag/crf/crftest"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/pipeline"
)

// The rows of Examples are what Describe says of the tokens, features that are seen
// too seldom left out.
func TestExamples(t *testing.T) {
	template := crftest.Template + "linefromend 0\ntokeninnote -1..0\n"
	c := toyCorpus(t, pipeline.BIO, template, 30, 4)
	parsed, set := crftest.Parsed(t, template), crftest.Set(pipeline.BIO)
	var want []map[string]float32 // of each token, by group, row and key
	count := map[string]float64{}
	for _, n := range crftest.Notes(t, set, 30, 4) {
		for _, sequence := range features.Describe(parsed, crftest.Resources(), n.Text, n.Tokens, n.Matches) {
			for _, attributes := range sequence {
				row := map[string]float32{}
				for _, a := range attributes {
					row[columnOf(t, parsed, a.Name)] += a.Value
				}
				for name, v := range row {
					count[name] += float64(v)
				}
				want = append(want, row)
			}
		}
	}
	for _, least := range []int{0, 3} {
		x := c.Examples(least)
		if x.Rows() != len(want) || x.Value == nil {
			t.Fatalf("%d rows of %d, values %t", x.Rows(), len(want), x.Value != nil)
		}
		for i := range want {
			kept, got := maps.Clone(want[i]), map[string]float32{}
			maps.DeleteFunc(kept, func(name string, _ float32) bool { return count[name] < float64(least) })
			for k := x.Start[i]; k < x.Start[i+1]; k++ {
				column := x.Columns[x.Column[k]]
				got[fmt.Sprint(column.Key, " ", column.Row)] += x.Value[k]
			}
			if !maps.Equal(got, kept) {
				t.Fatalf("least %d, token %d: %d numbers, want %d", least, i, len(got), len(kept))
			}
		}
	}
}

// columnOf names the column of an attribute, as "word[-1]=calle".
func columnOf(t *testing.T, parsed *features.Template, attribute string) string {
	for _, g := range parsed.Groups {
		if rest, ok := strings.CutPrefix(attribute, g.Name+"["); ok {
			at, value, _ := strings.Cut(rest, "]=")
			offset := 0
			if _, err := fmt.Sscan(at, &offset); err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(features.Key(g.Name, value), " ", g.Hi-offset)
		}
	}
	t.Fatal("an attribute of no group")
	return ""
}
