package column

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/velum-health/velum/pipeline"
)

// element returns one of a schema: a group of so many, or a leaf if there are none.
func element(name string, r format.FieldRepetitionType, children int) format.SchemaElement {
	e := format.SchemaElement{Name: name, RepetitionType: thrift.New(r)}
	if children == 0 {
		e.Type = thrift.New(format.Int32)
	} else {
		e.NumChildren = thrift.New(int32(children))
	}
	return e
}

// TestOf takes schemas apart: names, paths, levels and numbers of chunks.
func TestOf(t *testing.T) {
	const required, optional, repeated = format.Required, format.Optional, format.Repeated
	deep := func(depth int) (all []format.SchemaElement) {
		for range depth {
			all = append(all, element("g", required, 1))
		}
		return append(all, element("x", required, 0))
	}
	both := element("x", required, 0)
	both.NumChildren = thrift.New[int32](1) // says nothing beside a type
	for name, c := range map[string]struct {
		elements []format.SchemaElement
		want     string // of each column its name, whether it is flat, its first chunk, and of each leaf path and levels
	}{
		"none":       {nil, ""},
		"flat":       {[]format.SchemaElement{element("a", required, 0), element("b", optional, 0)}, "a true 0 [a]:0:0; b true 1 [b]:0:1; "},
		"repeated":   {[]format.SchemaElement{element("a", repeated, 0), element("b", required, 0)}, "a false 0 [a]:1:1; b true 1 [b]:0:0; "},
		"list":       {[]format.SchemaElement{element("a", optional, 1), element("list", repeated, 1), element("x", optional, 0)}, "a false 0 [a list x]:1:3; "},
		"struct":     {[]format.SchemaElement{element("a", required, 2), element("x", optional, 0), element("y", repeated, 0), element("b", optional, 0)}, "a false 0 [a x]:0:1 [a y]:1:1; b true 2 [b]:0:1; "},
		"of one":     {[]format.SchemaElement{element("a", required, 1), element("x", required, 0)}, "a false 0 [a x]:0:0; "},
		"both":       {[]format.SchemaElement{both}, "x true 0 [x]:0:0; "},
		"too few":    {[]format.SchemaElement{element("a", required, 2), element("x", required, 0)}, "no schema"},
		"minus one":  {[]format.SchemaElement{element("a", required, -1)}, "no schema"},
		"repetition": {[]format.SchemaElement{element("a", 3, 0)}, "no schema"},
		"deepest":    {deep(63), "g false 0 " + fmt.Sprint(append(slices.Repeat([]string{"g"}, 63), "x")) + ":0:0; "},
		"too deep":   {deep(64), "no schema"},
	} {
		all, ok := Of(c.elements)
		got := ""
		for i := range all {
			got += fmt.Sprint(all[i].Name, " ", all[i].Flat(), " ", all[i].First)
			for _, l := range all[i].Leaves {
				got += fmt.Sprintf(" %v:%d:%d", l.Path, l.MaxRep, l.MaxDef)
			}
			got += "; "
		}
		if !ok {
			got = "no schema"
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestParse: Parse is the inverse of Type, and takes no more than one column.
func TestParse(t *testing.T) {
	a := element("a", format.Optional, 0)
	c, err := Parse(Type([]format.SchemaElement{a}))
	if err != nil || c.Name != "a" || !bytes.Equal(Type(c.Elements), Type([]format.SchemaElement{a})) {
		t.Errorf("%+v, %v", c, err)
	}
	for name, kept := range map[string][]byte{
		"nothing": nil, "no thrift": []byte("\xff"), "none": Type(nil), "two": Type([]format.SchemaElement{a, a}),
		"cut off": Type([]format.SchemaElement{a})[:5], "no column": Type([]format.SchemaElement{element("a", format.Optional, 2)}),
		"too long": Type([]format.SchemaElement{element(string(bytes.Repeat([]byte("a"), 1<<20)), format.Optional, 0)}),
	} {
		if _, err := Parse(kept); err != ErrType {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestElements: the columns that velum makes have the elements that the library gives the same types.
func TestElements(t *testing.T) {
	passed := func(k pipeline.ColumnKind) Column {
		c, err := Passed(&pipeline.Column{Name: "x", Kind: k})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	kept, err := Passed(&pipeline.Column{Name: "b", Type: string(Type([]format.SchemaElement{element("a", format.Required, 0)}))})
	if err != nil || kept.Name != "a" || kept.Encoding != format.Plain {
		t.Errorf("kept: %+v, %v", kept, err)
	}
	for _, c := range []struct {
		column Column
		node   parquet.Node
		how    format.Encoding
	}{
		{Text("x"), parquet.String(), format.DeltaLengthByteArray},
		{Names("x"), parquet.String(), format.RLEDictionary},
		{Bytes("x"), parquet.Leaf(parquet.ByteArrayType), format.DeltaLengthByteArray},
		{Int32("x"), parquet.Int(32), format.Plain},
		{Int64("x"), parquet.Int(64), format.Plain},
		{Float("x"), parquet.Leaf(parquet.FloatType), format.Plain},
		{passed(pipeline.BytesColumn), parquet.Optional(parquet.String()), format.DeltaLengthByteArray},
		{passed(pipeline.Int32Column), parquet.Optional(parquet.Int(32)), format.DeltaLengthByteArray},
		{passed(pipeline.DoubleColumn), parquet.Optional(parquet.Leaf(parquet.DoubleType)), format.DeltaLengthByteArray},
		{passed(pipeline.BoolColumn), parquet.Optional(parquet.Leaf(parquet.BooleanType)), format.DeltaLengthByteArray},
		{passed(pipeline.DateColumn), parquet.Optional(parquet.Date()), format.DeltaLengthByteArray},
		{passed(pipeline.TimestampColumn), parquet.Optional(parquet.Timestamp(parquet.Microsecond)), format.DeltaLengthByteArray},
	} {
		var out bytes.Buffer
		w := parquet.NewGenericWriter[any](&out, parquet.NewSchema("s", parquet.Group{"x": c.node}))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if want := f.Metadata().Schema[1:]; !bytes.Equal(Type(c.column.Elements), Type(want)) || c.column.Encoding != c.how {
			t.Errorf("%+v in %v, want %+v in %v", c.column.Elements, c.column.Encoding, want, c.how)
		}
	}
}

// TestPart: the column part has one value, and is not there without one.
func TestPart(t *testing.T) {
	if all := Part("p1"); len(all) != 1 || all[0].Name != "part" || string(all[0].Constant) != "p1" || all[0].Encoding != format.RLEDictionary {
		t.Errorf("%+v", all)
	}
	if all := Part(""); all != nil {
		t.Errorf("without a mark: %+v", all)
	}
}
