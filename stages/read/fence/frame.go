package fence

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/input"
)

// A frame is what a decode worker and its owner say to each other: kind,
// length and xxh3 of the payload, then the payload. Batches are in the layout
// of pipeline.Batch, everything else, which is rare and small, is JSON.
//
// The owner trusts no frame: a worker that a damaged file has broken may send
// anything. Memory is taken as bytes arrive, never as a length promises.
type frameKind uint32

const (
	helloFrame   frameKind = 0x76656c01 + iota // the worker is there
	inspectFrame                               // request: workerRequest
	openFrame                                  // request: workerRequest
	layoutFrame                                // answer to inspect: layout
	openedFrame                                // answer to open: opened; batches follow
	batchFrame                                 // a batch
	endFrame                                   // no more batches: identity
	failFrame                                  // workerFailure, instead of any answer
)

const (
	frameHead = 16        // bytes in front of the payload
	maxFrame  = 128 << 20 // bytes of a payload: some 100 times a usual batch
)

var errFrame = errors.New("broken frame")

// beginFrame begins a frame in buf; endFrame closes it.
func beginFrame(buf []byte) []byte { return append(buf[:0], make([]byte, frameHead)...) }

func sealFrame(buf []byte, kind frameKind) []byte {
	payload := buf[frameHead:]
	binary.LittleEndian.PutUint32(buf, uint32(kind))
	binary.LittleEndian.PutUint32(buf[4:], uint32(len(payload)))
	binary.LittleEndian.PutUint64(buf[8:], xxh3.HashSeed(payload, uint64(kind)))
	return buf
}

// jsonFrame makes a frame of a value.
func jsonFrame(buf []byte, kind frameKind, v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return sealFrame(append(beginFrame(buf), data...), kind), nil
}

// readFrame reads a frame. The payload is kept in buf, which is returned to
// be given again. Errors: those of r, io.EOF before a frame, errFrame.
func readFrame(r io.Reader, buf []byte) (kind frameKind, payload, grown []byte, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, buf, err
	}
	kind = frameKind(binary.LittleEndian.Uint32(head[:]))
	size := int(binary.LittleEndian.Uint32(head[4:]))
	if size > maxFrame || kind < helloFrame || kind > failFrame {
		return 0, nil, buf, errFrame
	}
	const step = 1 << 20
	for have := 0; have < size; {
		to := min(have+step, size)
		if to > cap(buf) {
			buf = append(make([]byte, 0, min(max(2*cap(buf), to), maxFrame)), buf[:have]...)
		}
		buf = buf[:to]
		if _, err := io.ReadFull(r, buf[have:]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return 0, nil, buf, err
		}
		have = to
	}
	payload = buf[:size]
	if xxh3.HashSeed(payload, uint64(kind)) != binary.LittleEndian.Uint64(head[8:]) {
		return 0, nil, buf, errFrame
	}
	return kind, payload, buf, nil
}

// appendBatch appends the notes of a batch as they were read: texts, reasons,
// id columns, columns to pass through. Ids are made by the owner: the key
// never goes to a worker.
func appendBatch(buf []byte, b *pipeline.Batch, ids []pipeline.Bytes) []byte {
	buf = binary.LittleEndian.AppendUint32(buf, uint32(b.Len()))
	buf = appendBytes(buf, &b.Text)
	for _, r := range b.Reason {
		buf = append(buf, byte(r))
	}
	for i := range ids {
		buf = appendBytes(buf, &ids[i])
	}
	for i := range b.Extra {
		c := &b.Extra[i]
		buf = append(buf, byte(c.Kind))
		if c.Kind == pipeline.NestedColumn {
			buf = appendLeaves(buf, c.Leaves)
			continue
		}
		for _, valid := range c.Valid {
			bit := byte(0)
			if valid {
				bit = 1
			}
			buf = append(buf, bit)
		}
		if c.Kind == pipeline.BytesColumn {
			buf = appendBytes(buf, &c.Bytes)
			continue
		}
		for _, v := range c.Fixed {
			buf = binary.LittleEndian.AppendUint64(buf, v)
		}
	}
	return buf
}

func appendLeaves(buf []byte, leaves []pipeline.Leaf) []byte {
	for i := range leaves {
		l := &leaves[i]
		for _, at := range l.Rows {
			buf = binary.LittleEndian.AppendUint32(buf, uint32(at))
		}
		buf = append(append(buf, l.Rep...), l.Def...)
		buf = binary.LittleEndian.AppendUint32(buf, uint32(l.Values.Len()))
		if l.Values.Len() > 0 {
			buf = appendBytes(buf, &l.Values)
		}
	}
	return buf
}

func appendBytes(buf []byte, c *pipeline.Bytes) []byte {
	for _, at := range c.Offsets {
		buf = binary.LittleEndian.AppendUint32(buf, uint32(at))
	}
	return append(buf, c.Data...)
}

// batchLimits bounds a batch of a worker.
type batchLimits struct {
	notes, bytes int // of a batch, bytes of text before its last note
	text         int // bytes of a note
}

// parseBatch fills an empty batch and the columns of ids from a payload. The
// batch's Extra must have names and kinds. Whatever the payload is, there is
// no panic and no more memory than some times its length.
func parseBatch(payload []byte, b *pipeline.Batch, ids []pipeline.Bytes, l batchLimits) error {
	p := frameParser{rest: payload}
	n := int(p.uint32())
	if n == 0 || n > l.notes {
		return errFrame
	}
	p.bytes(&b.Text, n)
	reasons := p.take(n)
	if p.bad {
		return errFrame
	}
	for i, r := range reasons {
		if !l.reason(b, i, pipeline.Reason(r)) {
			return errFrame
		}
		b.Reason = append(b.Reason, pipeline.Reason(r))
	}
	for i := range ids {
		p.bytes(&ids[i], n)
	}
	for i := range b.Extra {
		p.column(&b.Extra[i], n)
	}
	if p.bad || len(p.rest) > 0 || int(b.Text.Offsets[n-1]) >= max(l.bytes, 1) {
		return errFrame
	}
	return nil
}

// reason tells whether a worker's word on text i is right.
func (l *batchLimits) reason(b *pipeline.Batch, i int, r pipeline.Reason) bool {
	text := b.Text.At(i)
	if r == pipeline.NullText || r == pipeline.TooLong {
		return len(text) == 0
	}
	return r == input.Soundness(text, l.text)
}

// frameParser takes a payload apart. After the first mistake bad is set and
// everything is empty.
type frameParser struct {
	rest []byte
	bad  bool
}

func (p *frameParser) take(n int) []byte {
	if p.bad || n < 0 || n > len(p.rest) {
		p.bad = true
		return nil
	}
	got := p.rest[:n]
	p.rest = p.rest[n:]
	return got
}

func (p *frameParser) uint32() uint32 {
	word := p.take(4)
	if p.bad {
		return 0
	}
	return binary.LittleEndian.Uint32(word)
}

// bytes reads a column of n byte strings.
func (p *frameParser) bytes(to *pipeline.Bytes, n int) {
	var last int
	to.Offsets, last = p.offsets(to.Offsets, n)
	to.Data = append(to.Data[:0], p.take(last)...)
}

// offsets reads n+1 numbers that begin at 0 and never fall, and returns the
// last.
func (p *frameParser) offsets(to []int32, n int) (offsets []int32, last int) {
	words := p.take(4 * (n + 1))
	to = to[:0]
	for len(words) >= 4 {
		at := binary.LittleEndian.Uint32(words)
		if at > math.MaxInt32 || int(at) < last || len(to) == 0 && at != 0 {
			p.bad = true
			return to, 0
		}
		to = append(to, int32(at))
		last, words = int(at), words[4:]
	}
	return to, last
}

// leaf reads the levels and values of n rows of a nested column.
func (p *frameParser) leaf(to *pipeline.Leaf, n int) {
	to.Reset()
	rows, levels := p.offsets(to.Rows, n)
	reps, defs := p.take(levels), p.take(levels)
	values := int(p.uint32())
	if p.bad || values > levels || values != bytes.Count(defs, []byte{to.Full}) {
		p.bad = true
		return
	}
	if values > 0 {
		p.bytes(&to.Values, values)
	}
	if p.bad = p.bad || !wide(&to.Values, to.Width); p.bad {
		return
	}
	to.Rows, to.Rep, to.Def = rows, append(to.Rep, reps...), append(to.Def, defs...)
	have := int32(0)
	for i, from := range rows[:n] {
		row := defs[from:rows[i+1]]
		if len(row) == 0 || reps[from] != 0 || slices.Max(row) > to.Full {
			p.bad = true
			return
		}
		to.Starts = append(to.Starts, have)
		have += int32(bytes.Count(row, []byte{to.Full}))
	}
	to.Starts = append(to.Starts, have)
}

// wide tells whether all values have so many bytes.
func wide(values *pipeline.Bytes, width int) bool {
	for i := 0; width > 0 && i < values.Len(); i++ {
		if len(values.At(i)) != width {
			return false
		}
	}
	return true
}

// column reads a column to pass through.
func (p *frameParser) column(to *pipeline.Column, n int) {
	kind := p.take(1)
	if p.bad || pipeline.ColumnKind(kind[0]) != to.Kind {
		p.bad = true
		return
	}
	if to.Kind == pipeline.NestedColumn {
		for i := range to.Leaves {
			p.leaf(&to.Leaves[i], n)
		}
		return
	}
	valid := p.take(n)
	to.Valid = to.Valid[:0]
	for _, bit := range valid {
		p.bad = p.bad || bit > 1
		to.Valid = append(to.Valid, bit == 1)
	}
	if to.Kind == pipeline.BytesColumn {
		p.bytes(&to.Bytes, n)
		for i := 0; to.Width > 0 && !p.bad && i < n; i++ {
			p.bad = to.Valid[i] && len(to.Bytes.At(i)) != to.Width
		}
		return
	}
	words := p.take(8 * n)
	to.Fixed = to.Fixed[:0]
	for len(words) >= 8 {
		to.Fixed = append(to.Fixed, binary.LittleEndian.Uint64(words))
		words = words[8:]
	}
}
