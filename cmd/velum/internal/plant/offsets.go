package plant

import (
	"cmp"
	"context"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/mask"
)

// offsetColumn is a column of dates that nobody has, to see by how much it moves.
const offsetColumn = "velum attack: 1970-01-01"

// Offsets returns by how many days the dates of each patient move for a purpose; ""
// is that of the extract.
func (p *Planter) Offsets(ctx context.Context, purpose string) (map[int]int, error) {
	options := *p.options
	options.Purpose, options.Times = cmp.Or(purpose, options.Purpose), []mask.TimeColumn{{Name: offsetColumn, Day: 1}}
	step, err := mask.New(options)
	if err != nil {
		return nil, err
	}
	by := map[int]int{}
	to := offsetSink{p, by}
	return by, pipeline.Run(ctx, datedSource{p.Source()}, []pipeline.Step{step}, to, nil)
}

// datedSource gives every note the first of January 1970.
type datedSource struct{ pipeline.Source }

// Next implements pipeline.Source.
func (d datedSource) Next(b *pipeline.Batch) error {
	if err := d.Source.Next(b); err != nil {
		return err
	}
	dates := pipeline.Column{Name: offsetColumn, Type: "date", Kind: pipeline.Int32Column, Fixed: make([]uint64, b.Len())}
	for range b.Len() {
		dates.Valid = append(dates.Valid, true)
	}
	if n := len(b.Extra); n > 0 && b.Extra[n-1].Name == offsetColumn {
		b.Extra = b.Extra[:n-1]
	}
	b.Extra = append(b.Extra, dates)
	return nil
}

// offsetSink reads what the day has become.
type offsetSink struct {
	*Planter
	by map[int]int
}

// Put implements pipeline.Sink.
func (o offsetSink) Put(b *pipeline.Batch) error {
	dates := b.Extra[len(b.Extra)-1]
	for i := range b.Len() {
		o.by[o.Patients[o.Owner[int(b.First)+i]]] = int(int32(dates.Fixed[i]))
	}
	return nil
}
