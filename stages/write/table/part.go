package table

import (
	"github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/pipeline/commit"
)

// Part is a table and the file of a unit, or of a last step, that it goes to.
type Part struct {
	*Table
	File *commit.Part
}

// Take appends a row of another table, of whose columns those of the part are; those of one value keep theirs.
func (p *Part) Take(row parquet.Row) error {
	for _, v := range row {
		if c := &p.Columns[v.Column()]; !c.Fills() {
			c.take(v)
		}
	}
	return p.Full()
}

// End ends the file and says what is in it.
func (p *Part) End() error {
	var err error
	p.File.Rows, p.File.Digest, err = p.Close()
	return err
}
