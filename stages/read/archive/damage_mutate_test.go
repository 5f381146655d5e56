package archive

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// mutator damages a copy of a sound file.
type mutator struct {
	name string
	// forges: it makes checksums fit what it writes. No reader can tell such
	// a file from one that was meant so.
	forges bool
	do     func(data []byte, rng *rand.Rand) []byte
}

// mutators are the kinds of damage, in the order of the report. Bits and
// bytes are what disks and copies do; the others lie on purpose.
var mutators = []mutator{
	{"bits of the footer", false, func(data []byte, rng *rand.Rand) []byte {
		return flip(data, len(data)-footerSize(data)-8, len(data)-8, 1+rng.IntN(3), rng)
	}},
	{"bits anywhere", false, func(data []byte, rng *rand.Rand) []byte { return flip(data, 0, len(data), 1+rng.IntN(8), rng) }},
	{"bits of page headers", false, flipHeader},
	{"random bytes", false, func(data []byte, rng *rand.Rand) []byte {
		at := rng.IntN(len(data))
		for i := at; i < min(at+1+rng.IntN(64), len(data)); i++ {
			data[i] = byte(rng.Uint32())
		}
		return data
	}},
	{"zeroed block", false, func(data []byte, rng *rand.Rand) []byte {
		at := rng.IntN(len(data)) &^ 511
		clear(data[at:min(at+512<<rng.IntN(4), len(data))])
		return data
	}},
	{"truncated", false, func(data []byte, rng *rand.Rand) []byte { return data[:rng.IntN(len(data))] }},
	{"truncated, old end", false, func(data []byte, rng *rand.Rand) []byte { // a copy that lost a piece
		at := rng.IntN(len(data) - 8)
		return slices.Delete(data, at, min(at+1+rng.IntN(2000), len(data)-8))
	}},
	{"blocks exchanged", false, func(data []byte, rng *rand.Rand) []byte {
		n := 64 << rng.IntN(4)
		a, b := rng.IntN(len(data)-n), rng.IntN(len(data)-n)
		first := bytes.Clone(data[a : a+n])
		copy(data[a:], data[b:b+n])
		copy(data[b:], first)
		return data
	}},
	{"lying footer", false, func(data []byte, rng *rand.Rand) []byte { return patchFooter(data, rng, footerLies) }},
	{"lying page header", false, func(data []byte, rng *rand.Rand) []byte { return patchPage(data, rng, false) }},
	{"page forged with its checksum", true, func(data []byte, rng *rand.Rand) []byte { return patchPage(data, rng, true) }},
	{"footer forged", true, func(data []byte, rng *rand.Rand) []byte { return patchFooter(data, rng, footerForgeries) }},
}

func flip(data []byte, from, to, n int, rng *rand.Rand) []byte {
	for range n {
		data[from+rng.IntN(to-from)] ^= 1 << rng.IntN(8)
	}
	return data
}

func footerSize(data []byte) int { return int(binary.LittleEndian.Uint32(data[len(data)-8:])) }

// numbers are what a length or an offset is set to.
var numbers = []int64{-1, 0, 1, 2, 7, groupRows - 1, groupRows + 1, math.MinInt32, math.MaxInt32, 1 << 31, 1 << 32, 1 << 40, math.MaxInt64, math.MinInt64}

func number(rng *rand.Rand, now int64) int64 {
	switch rng.IntN(3) {
	case 0:
		return numbers[rng.IntN(len(numbers))]
	case 1:
		return now + int64(rng.IntN(9)) - 4
	}
	return now ^ 1<<rng.IntN(40)
}

type footer = format.FileMetaData

// footerLies change what the footer says of the pages.
var footerLies = []func(m *footer, rng *rand.Rand){
	func(m *footer, rng *rand.Rand) { m.NumRows = number(rng, m.NumRows) },
	func(m *footer, rng *rand.Rand) { // rows move between groups
		g := m.RowGroups
		n := int64(1 + rng.IntN(5))
		g[0].NumRows, g[1].NumRows = g[0].NumRows-n, g[1].NumRows+n
	},
	func(m *footer, rng *rand.Rand) { // all counts lie alike
		n := number(rng, groupRows)
		g := &m.RowGroups[rng.IntN(len(m.RowGroups))]
		m.NumRows += n - g.NumRows
		g.NumRows = n
		for i := range g.Columns {
			g.Columns[i].MetaData.NumValues = n
		}
	},
	func(m *footer, rng *rand.Rand) { c := chunk(m, rng); c.NumValues = number(rng, c.NumValues) },
	func(m *footer, rng *rand.Rand) { c := chunk(m, rng); c.DataPageOffset = number(rng, c.DataPageOffset) },
	func(m *footer, rng *rand.Rand) {
		c := chunk(m, rng)
		c.DictionaryPageOffset = number(rng, c.DictionaryPageOffset)
	},
	func(m *footer, rng *rand.Rand) {
		c := chunk(m, rng)
		c.TotalCompressedSize = number(rng, c.TotalCompressedSize)
	},
	func(m *footer, rng *rand.Rand) { // two chunks share their pages
		a, b := chunk(m, rng), chunk(m, rng)
		a.DataPageOffset, a.DictionaryPageOffset, a.TotalCompressedSize = b.DataPageOffset, b.DictionaryPageOffset, b.TotalCompressedSize
	},
	func(m *footer, rng *rand.Rand) { chunk(m, rng).Codec = format.CompressionCodec(rng.IntN(9)) },
	func(m *footer, rng *rand.Rand) { chunk(m, rng).Type = format.Type(rng.IntN(9)) },
	func(m *footer, rng *rand.Rand) { chunk(m, rng).PathInSchema = chunk(m, rng).PathInSchema },
	func(m *footer, rng *rand.Rand) { // the same group twice
		g := m.RowGroups
		g[rng.IntN(len(g))] = g[rng.IntN(len(g))]
	},
	func(m *footer, rng *rand.Rand) { // a column less, or none
		g := &m.RowGroups[rng.IntN(len(m.RowGroups))]
		g.Columns = g.Columns[:rng.IntN(len(g.Columns))]
	},
	func(m *footer, rng *rand.Rand) { // columns in another order than the schema
		g := &m.RowGroups[rng.IntN(len(m.RowGroups))]
		rng.Shuffle(len(g.Columns), func(i, j int) { g.Columns[i], g.Columns[j] = g.Columns[j], g.Columns[i] })
	},
	func(m *footer, rng *rand.Rand) { m.Schema[0].NumChildren = thrift.New(int32(number(rng, 4))) },
	func(m *footer, rng *rand.Rand) { // groups in groups
		for i := range m.Schema {
			m.Schema[i].NumChildren = thrift.New(int32(1 + rng.IntN(3)))
		}
	},
	func(m *footer, rng *rand.Rand) { // as deep as it gets
		e := m.Schema[0]
		e.NumChildren = thrift.New(int32(1))
		m.Schema = slices.Concat(slices.Repeat([]format.SchemaElement{e}, 1+rng.IntN(20_000)), m.Schema)
	},
	func(m *footer, rng *rand.Rand) {
		element(m, rng).RepetitionType = thrift.New(format.FieldRepetitionType(rng.IntN(4)))
	},
	func(m *footer, rng *rand.Rand) { element(m, rng).Type = thrift.New(format.Type(rng.IntN(9))) },
	func(m *footer, rng *rand.Rand) { element(m, rng).TypeLength = thrift.New(int32(number(rng, 1))) },
	func(m *footer, rng *rand.Rand) {
		element(m, rng).ConvertedType = thrift.New(deprecated.ConvertedType(rng.IntN(24)))
	},
	func(m *footer, rng *rand.Rand) { m.Schema = m.Schema[:rng.IntN(len(m.Schema))] },
	func(m *footer, rng *rand.Rand) { element(m, rng).Name = m.Schema[rng.IntN(len(m.Schema))].Name },
	func(m *footer, rng *rand.Rand) {
		chunk(m, rng).Encoding = []format.Encoding{format.Encoding(rng.IntN(10))}
	},
}

// footerForgeries make another sound file of the same pages: nothing in it
// contradicts anything else.
var footerForgeries = []func(m *footer, rng *rand.Rand){
	func(m *footer, rng *rand.Rand) { // a group is gone, and the count with it
		g := rng.IntN(len(m.RowGroups))
		m.NumRows -= m.RowGroups[g].NumRows
		m.RowGroups = slices.Delete(m.RowGroups, g, g+1)
	},
	func(m *footer, rng *rand.Rand) { // two chunks change places
		a, b := chunk(m, rng), chunk(m, rng)
		a.DataPageOffset, b.DataPageOffset = b.DataPageOffset, a.DataPageOffset
		a.DictionaryPageOffset, b.DictionaryPageOffset = b.DictionaryPageOffset, a.DictionaryPageOffset
		a.TotalCompressedSize, b.TotalCompressedSize = b.TotalCompressedSize, a.TotalCompressedSize
	},
	func(m *footer, rng *rand.Rand) {
		rng.Shuffle(len(m.RowGroups), func(i, j int) { m.RowGroups[i], m.RowGroups[j] = m.RowGroups[j], m.RowGroups[i] })
	},
}

func chunk(m *footer, rng *rand.Rand) *format.ColumnMetaData {
	g := &m.RowGroups[rng.IntN(len(m.RowGroups))]
	return &g.Columns[rng.IntN(len(g.Columns))].MetaData
}

func element(m *footer, rng *rand.Rand) *format.SchemaElement {
	return &m.Schema[1+rng.IntN(len(m.Schema)-1)]
}

func parseFooter(data []byte) (m footer, err error) {
	size := footerSize(data)
	err = thrift.Unmarshal(new(thrift.CompactProtocol), data[len(data)-8-size:len(data)-8], &m)
	return m, err
}

// patchFooter applies one or two of the changes.
func patchFooter(data []byte, rng *rand.Rand, changes []func(*footer, *rand.Rand)) []byte {
	m, err := parseFooter(data)
	if err != nil {
		panic("the sound file is not sound")
	}
	changes[rng.IntN(len(changes))](&m, rng)
	out, err := thrift.Marshal(new(thrift.CompactProtocol), m)
	if err != nil {
		panic("a footer cannot be written")
	}
	data = append(data[:len(data)-8-footerSize(data)], out...)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(out)))
	return append(data, "PAR1"...)
}

// page is where a page stands.
type page struct{ at, body, end int }

// pagesOf walks the pages of a column chunk.
func pagesOf(data []byte, c *format.ColumnMetaData) []page {
	at := c.DataPageOffset
	if c.DictionaryPageOffset > 0 {
		at = min(at, c.DictionaryPageOffset)
	}
	var all []page
	for end := at + c.TotalCompressedSize; at < end; {
		h, n := pageHeader(data[at:])
		p := page{int(at), int(at) + n, int(at) + n + int(h.CompressedPageSize)}
		all = append(all, p)
		at = int64(p.end)
	}
	return all
}

func pageHeader(data []byte) (h format.PageHeader, size int) {
	r := bytes.NewReader(data)
	if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(r)).Decode(&h); err != nil {
		panic("the sound file is not sound")
	}
	return h, len(data) - r.Len()
}

func anyPage(data []byte, rng *rand.Rand) page {
	m, err := parseFooter(data)
	if err != nil {
		panic("the sound file is not sound")
	}
	pages := pagesOf(data, chunk(&m, rng))
	return pages[rng.IntN(len(pages))]
}

// sumsFit tells whether every page of a damaged file has its own checksum, as where two pages were exchanged whole: no checksum of a
// page can see that. chunks are those of the sound file.
func sumsFit(sound, damaged []byte) (fit bool) {
	defer func() {
		if recover() != nil {
			fit = false // pages that cannot be walked
		}
	}()
	m, err := parseFooter(sound)
	if err != nil {
		panic("the sound file is not sound")
	}
	for _, g := range m.RowGroups {
		for i := range g.Columns {
			for _, p := range pagesOf(damaged, &g.Columns[i].MetaData) {
				if h, _ := pageHeader(damaged[p.at:]); h.CRC != int32(crc32.ChecksumIEEE(damaged[p.body:p.end])) {
					return false
				}
			}
		}
	}
	return true
}

// TestSumsFit: a file fits, one with a changed byte in a page does not, one whose pages changed places does.
func TestSumsFit(t *testing.T) {
	sound, err := soundFiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sound {
		if !s.sums {
			continue
		}
		m, err := parseFooter(s.data)
		if err != nil || !sumsFit(s.data, s.data) {
			t.Fatal(s.name, err)
		}
		p := pagesOf(s.data, &m.RowGroups[0].Columns[0].MetaData)[0]
		changed := bytes.Clone(s.data)
		changed[p.end-1] ^= 1
		if sumsFit(s.data, changed) {
			t.Error(s.name, "a byte of a page")
		}
		for i := range m.RowGroups[0].Columns { // two chunks of the same length change places
			a, b := pagesOf(s.data, &m.RowGroups[0].Columns[i].MetaData)[0], pagesOf(s.data, &m.RowGroups[2].Columns[i].MetaData)[0]
			if a.end-a.at != b.end-b.at {
				continue
			}
			exchanged := bytes.Clone(s.data)
			copy(exchanged[a.at:a.end], s.data[b.at:b.end])
			copy(exchanged[b.at:b.end], s.data[a.at:a.end])
			if !sumsFit(s.data, exchanged) {
				t.Error(s.name, "pages exchanged")
			}
		}
	}
}

func flipHeader(data []byte, rng *rand.Rand) []byte {
	p := anyPage(data, rng)
	return flip(data, p.at, p.body, 1+rng.IntN(3), rng)
}

// pageLies change what a page header says of its page.
var pageLies = []func(h *format.PageHeader, rng *rand.Rand){
	func(h *format.PageHeader, rng *rand.Rand) {
		h.UncompressedPageSize = int32(number(rng, int64(h.UncompressedPageSize)))
	},
	func(h *format.PageHeader, rng *rand.Rand) {
		h.CompressedPageSize = int32(number(rng, int64(h.CompressedPageSize)))
	},
	func(h *format.PageHeader, rng *rand.Rand) { h.Type = format.PageType(rng.IntN(5)) },
	func(h *format.PageHeader, rng *rand.Rand) {
		if h.DataPageHeader.Valid {
			h.DataPageHeader.V.NumValues = int32(number(rng, int64(h.DataPageHeader.V.NumValues)))
		}
		if d := &h.DataPageHeaderV2.V; h.DataPageHeaderV2.Valid {
			d.NumValues = int32(number(rng, int64(d.NumValues)))
		}
		if d := &h.DictionaryPageHeader.V; h.DictionaryPageHeader.Valid {
			d.NumValues = int32(number(rng, int64(d.NumValues)))
		}
	},
	func(h *format.PageHeader, rng *rand.Rand) {
		e := format.Encoding(rng.IntN(10))
		if h.DataPageHeader.Valid {
			h.DataPageHeader.V.Encoding = e
		}
		if h.DataPageHeaderV2.Valid {
			h.DataPageHeaderV2.V.Encoding = e
		}
		if h.DictionaryPageHeader.Valid {
			h.DictionaryPageHeader.V.Encoding = e
		}
	},
	func(h *format.PageHeader, rng *rand.Rand) {
		if h.DataPageHeader.Valid {
			h.DataPageHeader.V.DefinitionLevelEncoding = format.Encoding(rng.IntN(10))
		}
		if d := &h.DataPageHeaderV2.V; h.DataPageHeaderV2.Valid {
			d.DefinitionLevelsByteLength = int32(number(rng, int64(d.DefinitionLevelsByteLength)))
		}
	},
	func(h *format.PageHeader, rng *rand.Rand) {
		if d := &h.DataPageHeaderV2.V; h.DataPageHeaderV2.Valid {
			d.NumRows, d.NumNulls = int32(number(rng, int64(d.NumRows))), int32(number(rng, int64(d.NumNulls)))
			d.RepetitionLevelsByteLength = int32(number(rng, 0))
		}
	},
}

// patchPage changes the header of a page, or its body and its checksum: wrong
// levels, indexes beyond the dictionary, lengths beyond the page.
func patchPage(data []byte, rng *rand.Rand, forge bool) []byte {
	p := anyPage(data, rng)
	h, _ := pageHeader(data[p.at:])
	body := bytes.Clone(data[p.body:p.end])
	if forge {
		flip(body, 0, len(body), 1+rng.IntN(3), rng)
		if h.CRC != 0 {
			h.CRC = int32(crc32.ChecksumIEEE(body))
		}
	} else {
		pageLies[rng.IntN(len(pageLies))](&h, rng)
	}
	head, err := thrift.Marshal(new(thrift.CompactProtocol), h)
	if err != nil {
		panic("a page header cannot be written")
	}
	if len(head) == p.body-p.at {
		copy(data[p.at:], head)
		copy(data[p.body:], body)
		return data
	}
	return movePage(data, p, slices.Concat(head, body))
}

// movePage puts another page in the place of one and tells the footer where
// the others stand now.
func movePage(data []byte, p page, with []byte) []byte {
	m, err := parseFooter(data)
	if err != nil {
		panic("the sound file is not sound")
	}
	by := int64(len(with) - (p.end - p.at))
	for g := range m.RowGroups {
		for k := range m.RowGroups[g].Columns {
			c := &m.RowGroups[g].Columns[k].MetaData
			begin := c.DataPageOffset
			if c.DictionaryPageOffset > 0 {
				begin = min(begin, c.DictionaryPageOffset)
			}
			if begin <= int64(p.at) && int64(p.at) < begin+c.TotalCompressedSize {
				c.TotalCompressedSize += by
			}
			for _, at := range []*int64{&c.DataPageOffset, &c.DictionaryPageOffset} {
				if *at > int64(p.at) {
					*at += by
				}
			}
		}
	}
	out, err := thrift.Marshal(new(thrift.CompactProtocol), m)
	if err != nil {
		panic("a footer cannot be written")
	}
	pages := data[:len(data)-8-footerSize(data)]
	all := slices.Concat(pages[:p.at], with, pages[p.end:], out)
	all = binary.LittleEndian.AppendUint32(all, uint32(len(out)))
	return append(all, "PAR1"...)
}
