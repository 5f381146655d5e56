package modelfile

import (
	"bytes"
	"crypto/sha256"

	"github.com/klauspost/compress/zstd"
)

// A Packer compresses model files that ship in one binary. A section that another model already holds is replaced by
// its path, and a section that zstd shrinks by at least an eighth is compressed. Other sections are stored as they are,
// so that they can be used in place.
type Packer struct {
	encoder *zstd.Encoder
	where   map[[sha256.Size]byte]string // path of what has been packed
}

// NewPacker returns a packer without models.
func NewPacker() (*Packer, error) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	return &Packer{e, map[[sha256.Size]byte]string{}}, err
}

// Pack returns the packed form of an unpacked model file; path is the model's name.
func (p *Packer) Pack(path string, data []byte) ([]byte, error) {
	f, err := Parse(data)
	if err != nil {
		return nil, err
	}
	sections, forms := make([]Section, len(f.sections)), make([]form, len(f.sections))
	for i, s := range f.sections {
		sections[i].Name = s.Name
		if sections[i].Data, forms[i], err = p.stored(path+"/"+s.Name, s.Data); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	err = write(&b, packed, f.header, sections, forms)
	p.where[sha256.Sum256(data)] = path
	return b.Bytes(), err
}

// stored returns how a section is stored.
func (p *Packer) stored(path string, data []byte) ([]byte, form, error) {
	sum := sha256.Sum256(data)
	if have, ok := p.where[sum]; ok && len(have) < len(data) {
		return []byte(have), form{kind: elsewhere}, nil
	}
	p.where[sum] = path
	if bytes.HasPrefix(data, []byte(magic)) {
		inner, err := p.Pack(path, data)
		return inner, form{kind: part}, err
	}
	best, how := data, form{}
	for _, width := range []int{1, 2, 4, 8} {
		if len(data)%width != 0 {
			continue
		}
		if small := p.compress(data, width); len(small) < len(best) && len(small) < len(data)/8*7 {
			best, how = small, form{compressed, uint16(width)}
		}
	}
	return best, how, nil
}

// compress compresses numbers of a given width. Bytes of equal rank are stored together, because those of high rank are
// similar.
func (p *Packer) compress(data []byte, width int) []byte {
	n := len(data) / width
	planes := make([]byte, 0, len(data))
	for k := range width {
		for i := range n {
			planes = append(planes, data[i*width+k])
		}
	}
	return p.encoder.EncodeAll(planes, nil)
}
