package embed

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/velum-health/velum/models/tag/features"
)

var (
	_ features.Stored = (*Clusters)(nil)
	_ features.Slot   = (*Clusters)(nil)
)

func TestNormalization(t *testing.T) {
	for _, tt := range []struct{ form, lower, fold string }{
		{"Núria", "núria", "nuria"}, {"COL·LEGI", "col·legi", "collegi"}, {".", ".", "."}, {"12", "12", "12"},
		{"Dr.", "dr.", "dr"}, {"Ñ\xff", "ñ\xff", "n\xff"},
	} {
		for n, want := range map[Normalization]string{AsIs: tt.form, Lower: tt.lower, Fold: tt.fold} {
			if got := string(n.Append([]byte("x"), []byte(tt.form))); got != "x"+want {
				t.Errorf("%v of %q: %q, want %q", n, tt.form, got, want)
			}
		}
	}
	for _, name := range normalizationNames {
		if n, err := ParseNormalization(name); err != nil || n.String() != name {
			t.Errorf("%s: %v, %v", name, n, err)
		}
	}
	if _, err := ParseNormalization("upper"); err == nil {
		t.Error("no error for an unknown name")
	}
}

// BenchmarkFind asks for words of the most that clusters have, and for others.
func BenchmarkFind(b *testing.B) {
	c := &Clusters{data: append([]byte(clustersMagic), make([]byte, clustersHead-4)...), n: maxClustered}
	hashes := make([]uint32, c.n)
	for i := range hashes {
		hashes[i] = half(fmt.Appendf(nil, "word%d", i))
	}
	slices.Sort(hashes)
	for _, h := range hashes {
		c.data = binary.LittleEndian.AppendUint32(c.data, h)
	}
	c.data = append(c.data, make([]byte, 2*c.n)...)
	c.sortIn()
	var form []byte
	for i := range b.N {
		form = strconv.AppendInt(append(form[:0], "word"...), int64(i*7919%(2*c.n)), 10)
		c.Find(form)
	}
}
