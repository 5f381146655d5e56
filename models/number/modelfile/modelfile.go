// Package modelfile is the file that every model is kept in.
//
//	offset  bytes
//	0       8      "velum\x00\r\n": a text-mode copy breaks it at once
//	8       4      format version
//	12      4      length of the header
//	16      4      number of sections
//	20      4      CRC-32C of the table, of the header and of the 20 bytes above
//	24      40·n   table: name [16], offset, length uint64, CRC-32C uint32, form uint16, width uint16
//	…       …      header: JSON, one line
//	…       …      sections, each at a multiple of 64 bytes
//
// All numbers are little-endian. Sections are aligned so that they can be used
// where they lie, in a mapped file or in the binary itself. Nothing of a file
// is trusted before its checksum is right, and no size in it makes the reader
// allocate.
package modelfile

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

const (
	magic     = "velum\x00\r\n"
	alone     = 1 // version of a file whose sections are all plain
	packed    = 2 // version of a file that a Packer has made
	fixedSize = 24
	entrySize = 40
	nameSize  = 16
	align     = 64
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Errors about a model file. They are returned wrapped.
var (
	ErrNotAModel = errors.New("is no velum model")
	ErrVersion   = errors.New("was written by a newer velum")
	ErrDamaged   = errors.New("is damaged")
	ErrPacked    = errors.New("is packed for the binary and shares parts with others there")
)

// Section is a named block of data in a model file; the name has at most 16 bytes.
type Section struct {
	Name string
	Data []byte
}

// File is an open model file. Its sections alias the data that it was parsed from.
type File struct {
	header   []byte
	sections []Section // as they are stored
	forms    []form    // of the sections
	find     Finder    // nil: whoever opened the file has no other models
	trusted  bool
	unmap    func() error
}

// Write writes a model file that refers to no other: the header as JSON and the sections, in this order.
func Write(w io.Writer, header any, sections ...Section) error {
	text, err := json.Marshal(header)
	if err != nil {
		return fmt.Errorf("model header: %w", err)
	}
	return write(w, alone, text, sections, make([]form, len(sections)))
}

// write writes sections as they are stored.
func write(w io.Writer, version uint32, text []byte, sections []Section, forms []form) error {
	head := append([]byte(magic), make([]byte, fixedSize-len(magic)+entrySize*len(sections))...)
	binary.LittleEndian.PutUint32(head[8:], version)
	binary.LittleEndian.PutUint32(head[12:], uint32(len(text)))
	binary.LittleEndian.PutUint32(head[16:], uint32(len(sections)))
	at := aligned(len(head) + len(text))
	for i, s := range sections {
		if len(s.Name) > nameSize {
			return fmt.Errorf("model section %q: name longer than %d bytes", s.Name, nameSize)
		}
		e := head[fixedSize+i*entrySize:]
		copy(e[:nameSize], s.Name)
		binary.LittleEndian.PutUint64(e[16:], uint64(at))
		binary.LittleEndian.PutUint64(e[24:], uint64(len(s.Data)))
		binary.LittleEndian.PutUint32(e[32:], crc32.Checksum(s.Data, castagnoli))
		binary.LittleEndian.PutUint16(e[36:], forms[i].kind)
		binary.LittleEndian.PutUint16(e[38:], forms[i].width)
		at = aligned(at + len(s.Data))
	}
	binary.LittleEndian.PutUint32(head[20:], headSum(head, text))
	if _, err := w.Write(append(head, text...)); err != nil {
		return err
	}
	end := len(head) + len(text)
	for _, s := range sections {
		start := aligned(end)
		if _, err := w.Write(make([]byte, start-end)); err != nil {
			return err
		}
		if _, err := w.Write(s.Data); err != nil {
			return err
		}
		end = start + len(s.Data)
	}
	return nil
}

// headSum is the checksum of everything but itself and the sections.
func headSum(head, text []byte) uint32 {
	sum := crc32.Update(0, castagnoli, head[:20])
	sum = crc32.Update(sum, castagnoli, head[fixedSize:])
	return crc32.Update(sum, castagnoli, text)
}

func aligned(n int) int { return (n + align - 1) / align * align }

// Parse checks a model file and locates its sections. The errors wrap ErrNotAModel, ErrVersion, ErrPacked or
// ErrDamaged.
func Parse(data []byte) (*File, error) { return parse(data, &File{}) }

// Shipped opens a model that is embedded in the binary. It does not verify checksums, because every start would have to
// read the whole model; a test does it. Sections that are stored in another embedded model are opened by find.
func Shipped(data []byte, find Finder) (*File, error) {
	return parse(data, &File{find: find, trusted: true})
}

// A Finder opens the embedded model with that name.
type Finder func(name string) (*File, error)

func parse(data []byte, f *File) (*File, error) {
	if len(data) < fixedSize || string(data[:len(magic)]) != magic {
		return nil, ErrNotAModel
	}
	switch v := binary.LittleEndian.Uint32(data[8:]); {
	case v == packed && !f.trusted:
		return nil, ErrPacked
	case v != alone && v != packed:
		return nil, fmt.Errorf("%w: format %d, this velum reads %d", ErrVersion, v, alone)
	}
	headerLen, n := uint64(binary.LittleEndian.Uint32(data[12:])), uint64(binary.LittleEndian.Uint32(data[16:]))
	table := fixedSize + n*entrySize
	if table+headerLen > uint64(len(data)) {
		return nil, fmt.Errorf("%w: shorter than its header", ErrDamaged)
	}
	head, text := data[:table], data[table:table+headerLen]
	if headSum(head, text) != binary.LittleEndian.Uint32(data[20:]) {
		return nil, fmt.Errorf("%w: wrong checksum of its header", ErrDamaged)
	}
	f.header = text
	for i := range n {
		if err := f.section(data, head[fixedSize+i*entrySize:]); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// section adds the section of a row of the table.
func (f *File) section(data, entry []byte) error {
	name := string(bytes.TrimRight(entry[:nameSize], "\x00"))
	at, size := binary.LittleEndian.Uint64(entry[16:]), binary.LittleEndian.Uint64(entry[24:])
	if at%align != 0 || at > uint64(len(data)) || size > uint64(len(data))-at {
		return fmt.Errorf("%w: section %q lies outside the file", ErrDamaged, name)
	}
	body := data[at : at+size : at+size]
	if !f.trusted && crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(entry[32:]) {
		return fmt.Errorf("%w: wrong checksum of section %q", ErrDamaged, name)
	}
	f.sections = append(f.sections, Section{Name: name, Data: body})
	f.forms = append(f.forms, form{binary.LittleEndian.Uint16(entry[36:]), binary.LittleEndian.Uint16(entry[38:])})
	return nil
}

// Open opens a model file, memory-mapped if the system can. The sections are valid until Close.
func Open(path string) (*File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w: not a regular file", path, ErrNotAModel)
	}
	data, unmap, err := load(path, info.Size())
	if err != nil {
		return nil, err
	}
	f, err := Parse(data)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), unmap())
	}
	f.unmap = unmap
	return f, nil
}

// Close unmaps or frees the memory of the file.
func (f *File) Close() error {
	if f.unmap == nil {
		return nil
	}
	unmap := f.unmap
	f.unmap = nil
	return unmap()
}

// Kind returns the kind of model in the header, or "".
func (f *File) Kind() string {
	var h struct {
		Kind string `json:"kind"`
	}
	if f.Header(&h) != nil {
		return ""
	}
	return h.Kind
}

// Header decodes the JSON header into v. Unknown fields are ignored: a newer velum may have added them to the same
// format.
func (f *File) Header(v any) error {
	if err := json.Unmarshal(f.header, v); err != nil {
		return fmt.Errorf("%w: its header is not what this kind of model has", ErrDamaged)
	}
	return nil
}

// RawHeader returns the JSON header as it stands in the file.
func (f *File) RawHeader() []byte { return f.header }

// Sections lists all sections as they are stored, in the order of the file.
func (f *File) Sections() []Section { return f.sections }
