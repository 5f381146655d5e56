package archive

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"

	arrow "github.com/apache/arrow/go/v15/parquet"
	arrowcompress "github.com/apache/arrow/go/v15/parquet/compress"
	arrowfile "github.com/apache/arrow/go/v15/parquet/file"
	arrowschema "github.com/apache/arrow/go/v15/parquet/schema"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// noteRow is a row of the sound files; dumps have such columns.
type noteRow struct {
	ID     string  `parquet:"note_id"`
	Text   *string `parquet:"text,optional"`
	Date   int32   `parquet:"date,date"`
	Center string  `parquet:"center,dict"`
}

const (
	fileRows  = 150
	groupRows = 50
)

// noteRows invents the rows of the sound files.
func noteRows() []noteRow {
	words := []string{"acude", "por", "tos", "i", "febre", "se", "cita", "en", "una", "setmana", "pauta", "ibuprofè", "mañana", "revisión", "sense", "dolor"}
	rng := rand.New(rand.NewPCG(7, 7))
	rows := make([]noteRow, fileRows)
	for i := range rows {
		var text []byte
		for range 3 + rng.IntN(20) {
			text = fmt.Append(text, words[rng.IntN(len(words))], " ")
		}
		s := fmt.Sprintf("%s%d", text, i)
		rows[i] = noteRow{ID: fmt.Sprintf("%d|%d|%d", i/3, i, 90000+i), Text: &s, Date: int32(20000 + i%40), Center: []string{"a", "b", "c"}[i%3]}
		if i%50 == 13 {
			rows[i].Text = nil
		}
	}
	return rows
}

// soundFile is a file before it is damaged.
type soundFile struct {
	name string
	sums bool // its pages have checksums
	data []byte
}

// soundFiles writes the same rows in the ways that writers have: page
// versions, codecs, dictionaries, with checksums and without.
func soundFiles() ([]soundFile, error) {
	rows := noteRows()
	var all []soundFile
	var errs []error
	for _, w := range []struct {
		name    string
		codec   compress.Codec
		version int
	}{{"v2 zstd", &parquet.Zstd, 2}, {"v1 snappy", &parquet.Snappy, 1}, {"v1 plain", &parquet.Uncompressed, 1}, {"v2 plain", &parquet.Uncompressed, 2}} {
		data, err := withSums(rows, parquet.Compression(w.codec), parquet.DataPageVersion(w.version), parquet.PageBufferSize(700))
		errs = append(errs, err)
		all = append(all, soundFile{w.name, true, data})
	}
	for _, w := range []struct {
		name    string
		codec   arrowcompress.Compression
		version arrow.DataPageVersion
		dict    bool
	}{{"v1 zstd dictionary, no sums", arrowcompress.Codecs.Zstd, arrow.DataPageV1, true}, {"v2 plain, no sums", arrowcompress.Codecs.Uncompressed, arrow.DataPageV2, false}} {
		data, err := withoutSums(rows, arrow.WithCompression(w.codec), arrow.WithDataPageVersion(w.version), arrow.WithDictionaryDefault(w.dict), arrow.WithDataPageSize(700))
		errs = append(errs, err)
		all = append(all, soundFile{w.name, false, data})
	}
	return all, errors.Join(errs...)
}

func withSums(rows []noteRow, options ...parquet.WriterOption) ([]byte, error) {
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[noteRow](&buf, options...)
	for from := 0; from < len(rows); from += groupRows {
		if _, err := w.Write(rows[from : from+groupRows]); err != nil {
			return nil, err
		}
		if err := w.Flush(); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return buf.Bytes(), err
}

// withoutSums writes with arrow, which writes no checksums.
func withoutSums(rows []noteRow, options ...arrow.WriterProperty) ([]byte, error) {
	column := func(name string, r arrow.Repetition, l arrowschema.LogicalType, t arrow.Type) arrowschema.Node {
		node, err := arrowschema.NewPrimitiveNodeLogical(name, r, l, t, 0, -1)
		if err != nil {
			panic(err) // the columns are fixed
		}
		return node
	}
	text := arrowschema.StringLogicalType{}
	root, err := arrowschema.NewGroupNode("schema", arrow.Repetitions.Required, arrowschema.FieldList{
		column("note_id", arrow.Repetitions.Required, text, arrow.Types.ByteArray),
		column("text", arrow.Repetitions.Optional, text, arrow.Types.ByteArray),
		column("date", arrow.Repetitions.Required, arrowschema.DateLogicalType{}, arrow.Types.Int32),
		column("center", arrow.Repetitions.Required, text, arrow.Types.ByteArray),
	}, -1)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	w := arrowfile.NewParquetWriter(&buf, root, arrowfile.WithWriterProps(arrow.NewWriterProperties(options...)))
	for from := 0; from < len(rows); from += groupRows {
		if err := writeGroup(w.AppendRowGroup(), rows[from:from+groupRows]); err != nil {
			return nil, err
		}
	}
	err = w.Close()
	return buf.Bytes(), err
}

func writeGroup(g arrowfile.SerialRowGroupWriter, rows []noteRow) error {
	var ids, texts, centers []arrow.ByteArray
	var dates []int32
	var levels []int16
	for _, r := range rows {
		ids, centers, dates = append(ids, arrow.ByteArray(r.ID)), append(centers, arrow.ByteArray(r.Center)), append(dates, r.Date)
		level := int16(0)
		if r.Text != nil {
			texts, level = append(texts, arrow.ByteArray(*r.Text)), 1
		}
		levels = append(levels, level)
	}
	for k := range 4 {
		c, err := g.NextColumn()
		if err != nil {
			return err
		}
		switch c := c.(type) {
		case *arrowfile.Int32ColumnChunkWriter:
			_, err = c.WriteBatch(dates, nil, nil)
		case *arrowfile.ByteArrayColumnChunkWriter:
			values := [][]arrow.ByteArray{ids, texts, nil, centers}[k]
			if k != 1 {
				_, err = c.WriteBatch(values, nil, nil)
			} else {
				_, err = c.WriteBatch(values, levels, nil)
			}
		}
		if err := errors.Join(err, c.Close()); err != nil {
			return err
		}
	}
	return g.Close()
}
