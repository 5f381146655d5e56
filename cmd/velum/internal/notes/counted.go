package notes

import (
	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/write"
)

// Counted is a sink that counts what passes.
type Counted struct {
	write.Text
	*console.Progress
	Gold                     bool
	Notes, Spans, Unreadable int64

	Reasons map[string]int64 // unreadable notes by reason
	Rows    []int64          // of the first of them, from 1
}

// namedRows is how many rows a message names.
const namedRows = 5

func (n *Counted) unreadable(row int64, r pipeline.Reason) {
	if n.Unreadable++; n.Reasons == nil {
		n.Reasons = map[string]int64{}
	}
	n.Reasons[r.String()]++
	if len(n.Rows) < namedRows {
		n.Rows = append(n.Rows, row+1)
	}
}

// Put implements pipeline.Sink.
func (n *Counted) Put(b *pipeline.Batch) error {
	n.Progress.Add(int64(b.Len()))
	n.Notes += int64(b.Len())
	for i, r := range b.Reason {
		if r != pipeline.Sound {
			n.unreadable(b.First+int64(i), r)
		}
	}
	if n.Gold {
		n.Spans += int64(len(b.Gold.Items))
	} else {
		n.Spans += int64(len(b.Spans.Items))
	}
	return n.Text.Put(b)
}
