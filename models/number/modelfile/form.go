package modelfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/velum-health/velum/models/number/kernels"
)

// form is the storage format of a section: plain, compressed, a nested model, or a reference to another model.
type form struct {
	kind  uint16
	width uint16 // of a number, of compressed ones
}

const (
	plain      = iota
	compressed // zstd of the first bytes of all numbers, then of the second, and so on
	part       // a model file of version 2
	elsewhere  // the path of a model, or of a section of one: "model/section"
)

var decoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(4), zstd.WithDecoderLowmem(true))
})

// Section returns the data of the section with that name. The data of an uncompressed section aliases the file.
func (f *File) Section(name string) ([]byte, error) {
	data, form, err := f.stored(name)
	if err != nil || form.kind == plain {
		return data, err
	}
	if form.kind == compressed {
		return f.expanded(data, int(form.width), name)
	}
	if form.kind == elsewhere {
		if model, section := split(string(data)); section != "" {
			from, err := f.other(model, name)
			if err != nil {
				return nil, err
			}
			return from.Section(section)
		}
	}
	whole, err := f.Part(name)
	if err != nil {
		return nil, err
	}
	return whole.Alone()
}

// Part opens the model file that is stored in a section, without copying it.
func (f *File) Part(name string) (*File, error) {
	data, form, err := f.stored(name)
	switch {
	case err != nil:
		return nil, err
	case form.kind == elsewhere:
		model, section := split(string(data))
		from, err := f.other(model, name)
		if err != nil || section == "" {
			return from, err
		}
		return from.Part(section)
	case form.kind != plain && form.kind != part:
		return nil, ErrNotAModel
	}
	return parse(data, &File{find: f.find, trusted: f.trusted})
}

// stored finds a section.
func (f *File) stored(name string) ([]byte, form, error) {
	i := slices.IndexFunc(f.sections, func(s Section) bool { return s.Name == name })
	if i < 0 {
		return nil, form{}, fmt.Errorf("%w: it has no section %q", ErrDamaged, name)
	}
	return f.sections[i].Data, f.forms[i], nil
}

// split splits the path of a section into the model that holds it, including enclosing models, and the section's name;
// the name is empty for a whole model.
func split(path string) (model, section string) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return path, ""
	}
	return path[:i], path[i+1:]
}

// other opens the model of a path: one of the binary, or a part of it.
func (f *File) other(path, name string) (*File, error) {
	if f.find == nil {
		return nil, fmt.Errorf("%w: section %q stands in a model of the binary that it was made for", ErrDamaged, name)
	}
	parts := strings.Split(path, "/")
	from, err := f.find(parts[0])
	for _, p := range parts[1:] {
		if err != nil {
			break
		}
		from, err = from.Part(p)
	}
	return from, err
}

// shipped caches decompressed sections of embedded models by the address of the compressed data, so that models which
// share a section decompress it once.
var shipped sync.Map

func (f *File) expanded(data []byte, width int, name string) ([]byte, error) {
	if !f.trusted || len(data) == 0 {
		return expand(data, width, name)
	}
	once, _ := shipped.LoadOrStore(&data[0], sync.OnceValues(func() ([]byte, error) { return expand(data, width, name) }))
	return once.(func() ([]byte, error))()
}

// Ahead decompresses all sections, including those of nested models, in parallel, before the model is opened. Errors
// are ignored here; they are returned again when the section is read.
func (f *File) Ahead() {
	kernels.Parallel(runtime.GOMAXPROCS(0), len(f.sections), func(_, i int) {
		switch f.forms[i].kind {
		case compressed:
			_, _ = f.Section(f.sections[i].Name)
		case part, elsewhere:
			if p, err := f.Part(f.sections[i].Name); err == nil {
				p.Ahead()
			} else if f.forms[i].kind == elsewhere {
				_, _ = f.Section(f.sections[i].Name)
			}
		}
	})
}

// rooms is a pool of buffers for decompression, since memory that was touched before costs no page faults.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

// expand is the inverse of compress.
func expand(data []byte, width int, name string) ([]byte, error) {
	wrong := fmt.Errorf("%w: section %q cannot be expanded", ErrDamaged, name)
	d, err := decoder()
	if err != nil {
		return nil, err
	}
	if width == 1 {
		if data, err = d.DecodeAll(data, nil); err != nil {
			return nil, wrong
		}
		return data, nil
	}
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	planes, err := d.DecodeAll(data, (*room)[:0])
	if err != nil || width < 1 || len(planes)%width != 0 {
		return nil, wrong
	}
	*room = planes
	all, n := make([]byte, len(planes)), len(planes)/width
	for k := range width {
		for i, b := range planes[k*n : (k+1)*n] {
			all[i*width+k] = b
		}
	}
	return all, nil
}

// Alone returns the file in unpacked form, which does not refer to other models.
func (f *File) Alone() ([]byte, error) {
	var sections []Section
	for _, s := range f.sections {
		data, err := f.Section(s.Name)
		if err != nil {
			return nil, err
		}
		sections = append(sections, Section{s.Name, data})
	}
	var b bytes.Buffer
	err := Write(&b, json.RawMessage(f.header), sections...)
	return b.Bytes(), err
}
