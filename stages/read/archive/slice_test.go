package archive_test

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/write"
)

// Every slice of an archive of three files is the notes of its numbers.
func TestSlice(t *testing.T) {
	dir, number := t.TempDir(), 0
	var want []string
	for file, notes := range []int{5, 1, 4} {
		w := write.NewArchive(filepath.Join(dir, fmt.Sprintf("%d.parquet", file)), 2, write.TextOptions{})
		b := new(pipeline.Batch)
		for range notes {
			b.ID.Append(fmt.Append(nil, number))
			b.Text.Append(fmt.Append(nil, "note ", number))
			b.Reason = append(b.Reason, pipeline.Sound)
			want = append(want, fmt.Sprint(number))
			number++
		}
		if err := w.Put(b); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	a, err := archive.Scan(context.Background(), []string{dir}, input.Options{ID: []string{"note_id"}, Text: "text", UnitNotes: 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for from := range number + 1 {
		for to := from; to <= number+1; to++ {
			s := archive.NewSlice(a, int64(from), int64(to))
			got := []string{}
			b := new(pipeline.Batch)
			for {
				b.Reset()
				if err := s.Next(b); err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				for i := range b.Len() {
					if number := fmt.Sprint(b.First + int64(i)); number != string(b.ID.At(i)) {
						t.Fatalf("note %s has number %s", b.ID.At(i), number)
					}
					got = append(got, string(b.ID.At(i)))
				}
			}
			if diff := cmp.Diff(want[from:max(from, min(to, number))], got); diff != "" {
				t.Fatalf("%d to %d: %s", from, to, diff)
			}
			if err := s.Close(); err != nil || len(s.Damaged()) > 0 {
				t.Fatal(err, s.Damaged())
			}
		}
	}
}
