package archive

import (
	"cmp"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/input"
)

// Folders called year=2026 say of all notes in them what a column would, as
// Hive, Spark, DuckDB and pyarrow write them. A column that is kept may be such
// a key: its values stand in no file. It is a whole number if all folders have
// numbers there, as pyarrow takes it, and else text; a folder without the key,
// or with the name that Hive has for null, gives null.

const nullPartition = "__HIVE_DEFAULT_PARTITION__"

// period matches names of folders that say of which time their notes are: a partition, a day, month or year, or the
// name of a month.
var period = regexp.MustCompile(`(?i)^([^=]+=.*|(19|20)\d\d([-_.]?(0[1-9]|1[0-2])([-_.]?[0-3]\d)?)?` +
	`|((19|20)\d\d[-_ .]?)?(\d\d?[-_ .])?(` + months + `)([-_ .]?(19|20)\d\d)?)$`)

const months = `ene(ro)?|gen(er)?|jan(uary)?|janvier|feb(rero|rer|ruary)?|février|mar(zo|ç|ch|s)?|abr(il)?|apr(il)?|avril|mayo?|maig|mai|jun(io|y|e)?|juin` +
	`|jul(io|iol|y)?|juillet|ago(sto|st)?|aug(ust)?|août|sep(t|tiembre|tember|tembre)?|set(embre)?|oct(ubre|ober|obre)?|nov(iembre|ember|embre)?|dic(iembre)?|des(embre)?|dec(ember)?|décembre`

var monthNumber = regexp.MustCompile(`^(0[1-9]|1[0-2])$`)

// periods are the last folders of a path, with slashes, that say which notes lie
// in them. A folder of one month that is given itself is called as it would be if
// the archive above it were given, so that its month is not lost.
func periods(dir string) string {
	full, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	parts := strings.Split(filepath.ToSlash(full), "/")
	at := len(parts)
	for at > 0 && (period.MatchString(parts[at-1]) || at > 1 && monthNumber.MatchString(parts[at-1]) && period.MatchString(parts[at-2])) {
		at--
	}
	return input.PlainPath(strings.Join(parts[at:], "/"))
}

// shelfOf returns the folder without trailing elements that do not name a period, such as folders of patients or wards.
func shelfOf(folder string) string {
	for folder != "" && !period.MatchString(path.Base(folder)) {
		if folder = path.Dir(folder); folder == "." {
			return ""
		}
	}
	return folder
}

// unescaped undoes the %2F of names of folders, if that gives text.
func unescaped(s string) string {
	if plain, err := url.PathUnescape(s); err == nil && utf8.ValidString(plain) {
		return plain
	}
	return s
}

// partition returns the value of a key in the name of a folder.
func partition(folder, key string) (value string, ok bool) {
	for part := range strings.SplitSeq(folder, "/") {
		name, v, is := strings.Cut(part, "=")
		if is && unescaped(name) == key {
			value, ok = unescaped(v), true
		}
	}
	return value, ok
}

// kindOf returns the kind of a column whose values are in names of folders: integer if all are whole numbers, otherwise
// text.
func (a *Archive) kindOf(key string) (kind pipeline.ColumnKind, there bool) {
	kind = pipeline.Int32Column
	for i := range a.Files {
		value, ok := partition(a.Files[i].Folder, key)
		there = there || ok
		if _, err := strconv.ParseInt(value, 10, 32); ok && err != nil && value != nullPartition {
			kind = pipeline.BytesColumn
		}
	}
	return kind, there
}

// settlePartitions removes columns that are in names of folders from those that files must have. The folder's value
// goes before that in a file, as in other programs.
func (a *Archive) settlePartitions() {
	for _, name := range a.o.Pass {
		kind, there := a.kindOf(name)
		if there {
			a.partitions = append(a.partitions, pipeline.Column{Name: name, Kind: kind})
		}
	}
	a.keepPartitions()
}

// keepPartitions takes what folders say out of the columns that files have to have.
func (a *Archive) keepPartitions() {
	a.o.Pass = slices.DeleteFunc(slices.Clone(a.o.Pass), func(name string) bool {
		return slices.ContainsFunc(a.partitions, func(c pipeline.Column) bool { return c.Name == name })
	})
}

// partitioned is a source that gives every note the values in the names of its folders.
type partitioned struct {
	UnitSource
	columns []pipeline.Column // without values
	values  []string          // of them; nullPartition for null
	base    int               // columns of the source itself
}

func (a *Archive) partitioned(src UnitSource, f *File) UnitSource {
	if len(a.partitions) == 0 {
		return src
	}
	p := &partitioned{UnitSource: src, columns: a.partitions, base: len(a.Extra) - len(a.partitions)}
	for _, c := range a.partitions {
		value, ok := partition(f.Folder, c.Name)
		if !ok {
			value = nullPartition
		}
		p.values = append(p.values, value)
	}
	return p
}

// Next implements pipeline.Source.
func (p *partitioned) Next(b *pipeline.Batch) error {
	ours := len(b.Extra) == p.base+len(p.columns)
	if ours {
		b.Extra = b.Extra[:p.base]
	}
	if err := p.UnitSource.Next(b); err != nil {
		return err
	}
	if ours {
		b.Extra = b.Extra[:p.base+len(p.columns)]
	} else {
		b.Extra = append(b.Extra[:p.base], p.columns...)
	}
	for k, value := range p.values {
		constant(&b.Extra[p.base+k], value, b.Len())
	}
	return nil
}

// constant fills a column with the same value for n notes.
func constant(c *pipeline.Column, value string, n int) {
	c.Reset()
	number, err := strconv.ParseInt(value, 10, 32)
	valid := value != nullPartition && (err == nil || c.Kind == pipeline.BytesColumn)
	for range n {
		c.Valid = append(c.Valid, valid)
		if c.Kind != pipeline.BytesColumn {
			c.Fixed = append(c.Fixed, uint64(number))
			continue
		}
		if valid {
			c.Bytes.Data = append(c.Bytes.Data, value...)
		}
		c.Bytes.End()
	}
}

// kept returns the columns that are written as they were read, in the order of
// the options.
func (a *Archive) kept(order []string, files []pipeline.Column) []pipeline.Column {
	all := slices.Concat(files, a.partitions)
	slices.SortStableFunc(all, func(x, y pipeline.Column) int {
		return cmp.Compare(slices.Index(order, x.Name), slices.Index(order, y.Name))
	})
	return all
}
