package fence

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"unsafe"

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

// codec writes the vectors of a batch, or reads them: both sides go through vectors in one order, and what is sent is
// the length of each and its bytes as they stand in memory, since both are this program on this machine.
type codec struct {
	payload []byte // what was written, or what is left to be read
	reads   bool
	bad     bool // there was less to read than it said
}

// vector is one column of numbers or bytes.
func vector[T byte | bool | int32 | uint64 | pipeline.Reason](c *codec, v *[]T) {
	if !c.reads {
		c.payload = append(binary.LittleEndian.AppendUint32(c.payload, uint32(len(*v))), memory(*v)...)
		return
	}
	n := 0
	if len(c.payload) >= 4 {
		n, c.payload = int(binary.LittleEndian.Uint32(c.payload)), c.payload[4:]
	} else {
		c.bad = true
	}
	if n > len(c.payload)/int(unsafe.Sizeof(*new(T))) {
		n, c.bad = 0, true
	}
	*v = slices.Grow((*v)[:0], n)[:n]
	c.payload = c.payload[copy(memory(*v), c.payload):]
}

// memory is the bytes of a vector.
func memory[T any](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), uintptr(len(v))*unsafe.Sizeof(*new(T)))
}

func (c *codec) bytes(b *pipeline.Bytes) {
	vector(c, &b.Offsets)
	vector(c, &b.Data)
}

// batch goes through a batch as it was read: texts, reasons, id columns, columns to pass through, which have names and
// kinds on both sides. Ids are made by the owner: the key never goes to a worker.
func (c *codec) batch(b *pipeline.Batch, ids []pipeline.Bytes) {
	c.bytes(&b.Text)
	vector(c, &b.Reason)
	for i := range ids {
		c.bytes(&ids[i])
	}
	for i := range b.Extra {
		switch x := &b.Extra[i]; x.Kind {
		case pipeline.NestedColumn:
			for k := range x.Leaves {
				l := &x.Leaves[k]
				vector(c, &l.Rows)
				vector(c, &l.Rep)
				vector(c, &l.Def)
				c.bytes(&l.Values)
			}
		case pipeline.BytesColumn:
			vector(c, &x.Valid)
			c.bytes(&x.Bytes)
		default:
			vector(c, &x.Valid)
			vector(c, &x.Fixed)
		}
	}
}

func appendBatch(buf []byte, b *pipeline.Batch, ids []pipeline.Bytes) []byte {
	c := codec{payload: buf}
	c.batch(b, ids)
	return c.payload
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
	c := codec{payload: payload, reads: true}
	c.batch(b, ids)
	if c.bad || len(c.payload) > 0 || !l.sound(b, ids) {
		return errFrame
	}
	return nil
}

// sound tells whether the columns of a batch are ones that a worker may send.
func (l *batchLimits) sound(b *pipeline.Batch, ids []pipeline.Bytes) bool {
	n := len(b.Reason)
	if n == 0 || n > l.notes || !whole(&b.Text, n, 0, nil) || int(b.Text.Offsets[n-1]) >= max(l.bytes, 1) {
		return false
	}
	for i, r := range b.Reason {
		if !l.reason(b.Text.At(i), r) {
			return false
		}
	}
	for i := range ids {
		if !whole(&ids[i], n, 0, nil) {
			return false
		}
	}
	return !slices.ContainsFunc(b.Extra, func(c pipeline.Column) bool { return !passes(&c, n) })
}

// reason tells whether a worker's word on a text is right.
func (l *batchLimits) reason(text []byte, r pipeline.Reason) bool {
	if r == pipeline.NullText || r == pipeline.TooLong {
		return len(text) == 0
	}
	return r == input.Soundness(text, l.text)
}

// rises tells whether offsets are those of n values that fill so many bytes, or levels.
func rises(offsets []int32, n, size int) bool {
	if n == 0 {
		return len(offsets)+size == 0
	}
	return len(offsets) == n+1 && offsets[0] == 0 && int(offsets[n]) == size && slices.IsSorted(offsets)
}

// whole tells whether a column has n values, each of so many bytes if it is valid; 0: of any number. valid is nil if all are.
func whole(c *pipeline.Bytes, n, width int, valid []bool) bool {
	if !rises(c.Offsets, n, len(c.Data)) {
		return false
	}
	for i := 0; width > 0 && i < n; i++ {
		if (valid == nil || valid[i]) && len(c.At(i)) != width {
			return false
		}
	}
	return true
}

// passes tells whether a column to pass through has values of n notes.
func passes(c *pipeline.Column, n int) bool {
	for i := range c.Leaves {
		if !started(&c.Leaves[i], n) {
			return false
		}
	}
	switch {
	case c.Kind == pipeline.NestedColumn:
		return true
	case len(c.Valid) != n || slices.Max(memory(c.Valid)) > 1:
		return false
	case c.Kind != pipeline.BytesColumn:
		return len(c.Fixed) == n
	}
	return whole(&c.Bytes, n, c.Width, c.Valid)
}

// started notes where the values of each of n rows begin, and tells whether levels and values fit together.
func started(l *pipeline.Leaf, n int) bool {
	values := bytes.Count(l.Def, []byte{l.Full})
	if !rises(l.Rows, n, len(l.Def)) || len(l.Rep) != len(l.Def) || !whole(&l.Values, values, l.Width, nil) {
		return false
	}
	have := int32(0)
	l.Starts = append(l.Starts[:0], 0)
	for i, from := range l.Rows[:n] {
		row := l.Def[from:l.Rows[i+1]]
		if len(row) == 0 || l.Rep[from] != 0 || slices.Max(row) > l.Full {
			return false
		}
		have += int32(bytes.Count(row, []byte{l.Full}))
		l.Starts = append(l.Starts, have)
	}
	return true
}
