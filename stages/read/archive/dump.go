package archive

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/input"
)

// Dump reads the raw form of the archives (BOOT appendix B): no header, and
// for every note three numbers divided by vertical bars, then its text.
//
//	4711|2|90210|Pac que finaliza tto
//	4711|3|90211 controlada anualment.
//	segona línia de la mateixa nota
//	4712|1|90300
//	Text que comença a la línia següent
//
// Behind the numbers stand a bar, a tab or a space, or the line ends. Lines
// that do not begin with three numbers belong to the note before. Texts keep
// their inner line ends; the last one is not part of the text. Lines before
// the first numbers are a note without an id. It is a pipeline.Source.
type Dump struct {
	path     string
	o        input.Options
	file     *os.File
	in       *bufio.Reader
	first    int64 // row of the first note in the file
	done     int64
	naming   input.Naming
	ids      [1]pipeline.Bytes
	text     []byte // note that is being gathered
	long     bool   // the note is longer than MaxText
	open     bool   // a note is being gathered
	id       []byte
	lineOpen bool // the last piece did not end its line

	stays func(*os.File) error // checks that the file is what was hashed; nil: nobody hashed it
}

// NewDump opens the bytes [from, to) of a dump; to < 0 means to its end. Both
// must be where a record begins. first is the row of the first note.
func NewDump(path string, from, to, first int64, o input.Options) (*Dump, error) {
	o = o.WithDefaults()
	if err := o.Check(); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if to < 0 {
		info, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		to = info.Size()
	}
	in := bufio.NewReaderSize(io.NewSectionReader(f, from, to-from), 1<<18)
	return &Dump{path: path, o: o, file: f, in: in, first: first, naming: input.NewNaming(&o)}, nil
}

// Hold calls stays with the open file, now and after the last note, to check that the file is still the one that was
// hashed.
func (d *Dump) Hold(stays func(*os.File) error) error {
	d.stays = stays
	return stays(d.file)
}

// Close closes the file.
func (d *Dump) Close() error { return d.file.Close() }

// Next implements pipeline.Source.
func (d *Dump) Next(b *pipeline.Batch) error {
	b.First = d.first + d.done
	d.ids[0].Reset()
	err := input.Fill(b, d.o.Full, func() error {
		// Lines may be of any length: they come in pieces of the buffer.
		piece, err := d.in.ReadSlice('\n')
		if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
			return input.Unread(d.path, "cannot be read to its end")
		}
		if len(piece) > 0 {
			d.piece(b, piece)
		}
		if err == io.EOF {
			d.finish(b)
			return err
		}
		return nil
	})
	if err == io.EOF && d.stays != nil {
		err = cmp.Or(d.stays(d.file), err)
	}
	if err != nil {
		return err
	}
	d.naming.Name(b, d.ids[:])
	d.done += int64(b.Len())
	return nil
}

// piece adds a line, or a piece of a long one.
func (d *Dump) piece(b *pipeline.Batch, piece []byte) {
	begins := !d.lineOpen
	d.lineOpen = piece[len(piece)-1] != '\n'
	if begins {
		if id, text, ok := cutHeader(piece); ok {
			d.finish(b)
			d.open = true
			d.id = append(d.id[:0], id...)
			piece = text
		}
	}
	d.open = true
	if len(d.text)+len(piece) > d.o.MaxText+2 { // the last line end does not count
		d.long = true
		return
	}
	d.text = append(d.text, piece...)
}

// finish ends the note that is being gathered.
func (d *Dump) finish(b *pipeline.Batch) {
	if !d.open {
		return
	}
	text := bytes.TrimSuffix(bytes.TrimSuffix(d.text, []byte("\n")), []byte("\r"))
	if d.long || len(text) > d.o.MaxText {
		b.Text.End()
		b.Reason = append(b.Reason, pipeline.TooLong)
	} else {
		input.AppendText(b, text, d.o.MaxText)
	}
	d.ids[0].Append(d.id)
	d.text, d.id, d.long, d.open = d.text[:0], d.id[:0], false, false
}

// cutHeader cuts the three numbers of a record, and the separators behind them, off the beginning of a line.
func cutHeader(line []byte) (id, text []byte, ok bool) {
	at := 0
	for number := range 3 {
		if number > 0 {
			if at >= len(line) || line[at] != '|' {
				return nil, nil, false
			}
			at++
		}
		from := at
		for at < len(line) && line[at]-'0' <= 9 {
			at++
		}
		if at == from || at-from > 20 {
			return nil, nil, false
		}
	}
	id, text = line[:at], line[at:]
	switch {
	case len(text) == 0, text[0] == '\n':
		return id, bytes.TrimPrefix(text, []byte("\n")), true
	case bytes.HasPrefix(text, []byte("\r\n")):
		return id, text[2:], true
	case text[0] == '|', text[0] == '\t', text[0] == ' ':
		return id, text[1:], true
	}
	return nil, nil, false
}

// cut is a place in a dump where a unit may begin: its byte offset, and the number of notes before it.
type cut struct{ at, rows int64 }

// maxHeader is the most bytes of a header: three numbers of twenty digits,
// two bars and what follows.
const maxHeader = 64

// cutter receives the bytes of a dump and finds the places, one every so many records or bytes, where a unit may begin.
// It recognizes records as Dump does.
type cutter struct {
	every int64 // records after which a unit is full
	full  int64 // or bytes, see textUnit
	cuts  []cut
	at    int64 // bytes so far
	rows  int64 // records so far

	line  [maxHeader]byte // beginning of the line
	n     int             // bytes of it; maxHeader: the rest does not matter
	start int64           // where the line begins
}

// Write implements io.Writer.
func (c *cutter) Write(data []byte) (int, error) {
	total := len(data)
	for len(data) > 0 {
		end := bytes.IndexByte(data, '\n') + 1
		line := data[:max(end, 0)]
		if end == 0 {
			line = data
		}
		c.n += copy(c.line[c.n:], line)
		c.at += int64(len(line))
		data = data[len(line):]
		if end > 0 {
			c.endLine()
		}
	}
	return total, nil
}

func (c *cutter) endLine() {
	if c.n == 0 {
		return
	}
	_, _, header := cutHeader(c.line[:c.n])
	if header || c.rows == 0 {
		if n := len(c.cuts); n == 0 || c.rows-c.cuts[n-1].rows >= c.every || c.start/c.full > c.cuts[n-1].at/c.full {
			c.cuts = append(c.cuts, cut{c.start, c.rows})
		}
		c.rows++
	}
	c.start, c.n = c.at, 0
}

// end returns all such places, and the end of the file as the last.
func (c *cutter) end() []cut {
	c.endLine()
	if len(c.cuts) == 0 {
		c.cuts = []cut{{}}
	}
	return append(c.cuts, cut{c.at, c.rows})
}
