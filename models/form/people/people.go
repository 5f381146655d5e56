// Package people finds known people in notes: those whom the tables of an institution name as patient, relative or
// member of staff. It reads the rows of such a table once, then notes with their patient ids. It returns the places of
// the names, birth dates, addresses, telephones and numbers of these people in all usual spellings: without accents, in
// any case and order, with initials, abbreviated like Fdez., or with one typing error (a letter too many, too few,
// wrong or swapped with its neighbour).
//
// A person in the table belongs to a patient and is searched in that patient's notes only. So a single word is enough,
// and one typing error is allowed; searched over all notes, half of the language would match (METHODS par. 8). Staff is
// searched in all notes, so two words are required: two names, an initial and a surname, or a surname after a title
// (staff.go).
//
// Memory: the table is a file of records, of which those of one patient are read for each note. In memory are 16 bytes
// per row, the position of each patient's records: 80 MB for five million rows. Staff is kept in memory, some hundred
// bytes per word.
package people

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/models/word/locale"
	"github.com/velum-health/velum/pipeline/patientid"
)

// Field is the meaning of a column in a table of people.
type Field uint8

// The fields.
const (
	NoField   Field = iota
	Patient         // the patient in whose notes this person is looked for, as a form of patientid; null for staff
	RoleField       // patient, relative or staff
	Given
	Surname
	Name  // the whole name, "Ana García López" or "García López, Ana"
	Birth // date of birth, 1950-03-12 or 12/03/1950
	Address
	Telephone
	Identifier
	numFields
)

var fieldNames = [numFields]string{"", "patient_id", "role", "given", "surname", "name", "birth_date", "address", "telephone", "id"}

// FieldNames returns the names of the fields.
func FieldNames() []string { return fieldNames[1:] }

// FieldOf returns the field of a column by its name: a field name, optionally followed by a number or by _ and more
// (surname2, id_card).
func FieldOf(column string) Field {
	column = strings.ToLower(column)
	for f := numFields - 1; f > NoField; f-- {
		rest, ok := strings.CutPrefix(column, fieldNames[f])
		if ok && (rest == "" || rest[0] == '_' || rest[0] >= '0' && rest[0] <= '9') {
			return f
		}
	}
	return NoField
}

// Role is the relation of a person to a patient.
type Role uint8

// The roles.
const (
	IsPatient Role = iota
	IsRelative
	IsStaff
)

// roleOf reads a role by how it begins, in Spanish, Catalan or English; who has
// no patient is staff.
func roleOf(word string, patient bool) Role {
	word = strings.ToLower(word)
	for _, begin := range []string{"staff", "sanit", "prof", "med", "met", "doct", "nurs", "enf", "infer", "inf"} {
		if strings.HasPrefix(word, begin) {
			return IsStaff
		}
	}
	switch {
	case !patient:
		return IsStaff
	case strings.HasPrefix(word, "rel"), strings.HasPrefix(word, "fam"), strings.HasPrefix(word, "contact"):
		return IsRelative
	}
	return IsPatient
}

// Value is one cell of a row with its field.
type Value struct {
	Field Field
	Text  string
}

// Builder writes the records of a table to a file and indexes them by patient.
type Builder struct {
	w       *bufio.Writer
	at      int64
	entries []entry
	staff   staffBuilder
	record  []byte
	words   []byte
}

type entry struct {
	hash uint64 // of the key of the patient's id
	at   int64  // of the record
}

// NewBuilder returns a builder that writes to w.
func NewBuilder(w io.Writer) *Builder { return &Builder{w: bufio.NewWriterSize(w, 1<<18)} }

// ErrNothing is returned for a row without any value that could be found in a note.
var ErrNothing = errors.New("nothing in it that could be found in a note")

// Add adds a row. It returns ErrNothing or an error of the file.
func (b *Builder) Add(row []Value) error {
	patient, role := "", ""
	for _, v := range row {
		switch v.Field {
		case Patient:
			patient = strings.TrimSpace(v.Text)
		case RoleField:
			role = v.Text
		}
	}
	of := roleOf(role, patient != "")
	if of == IsStaff {
		return b.staff.add(row)
	}
	r := append(b.record[:0], byte(of))
	r = appendText(r, []byte(patient))
	empty := len(r)
	for _, v := range row {
		r = b.appendValue(r, v)
	}
	b.record = r
	if len(r) == empty {
		return ErrNothing
	}
	var size [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(size[:], uint64(len(r)))
	b.entries = append(b.entries, entry{hashOf([]byte(patient)), b.at})
	b.at += int64(n + len(r))
	_, err1 := b.w.Write(size[:n])
	_, err2 := b.w.Write(r)
	return errors.Join(err1, err2)
}

func hashOf(patient []byte) uint64 { return xxh3.Hash(patientid.Key(patient)) }

func appendText(r, text []byte) []byte {
	return append(binary.AppendUvarint(r, uint64(len(text))), text...)
}

// appendValue appends a value in the form in which notes are compared with it.
func (b *Builder) appendValue(r []byte, v Value) []byte {
	w := b.words[:0]
	field := v.Field
	switch v.Field {
	case Name:
		given, surname := parts(v.Text)
		r = b.appendValue(r, Value{Given, given})
		return b.appendValue(r, Value{Surname, surname})
	case Given, Surname, Address:
		w = appendFolded(w, []byte(v.Text), v.Field == Address)
	case Birth:
		if day, ok := birthDay(v.Text); ok {
			w = binary.AppendVarint(w, int64(day))
		}
	case Telephone, Identifier:
		w = appendPlain(w, []byte(v.Text))
		if len(w) < shortestNumber {
			w = w[:0]
		}
		if v.Field == Telephone && len(w) > nationalNumber {
			w = w[len(w)-nationalNumber:] // without the country's
		}
	default:
		return r
	}
	b.words = w
	if len(w) == 0 {
		return r
	}
	return appendText(append(r, byte(field)), w)
}

// shortestNumber is the least letters and digits of a number that is looked
// for, nationalNumber the digits of a Spanish telephone.
const (
	shortestNumber = 5
	nationalNumber = 9
)

// parts cuts a whole name into given name and surnames.
func parts(name string) (given, surname string) {
	if surname, given, ok := strings.Cut(name, ","); ok {
		return given, surname
	}
	given, surname, _ = strings.Cut(strings.TrimSpace(name), " ")
	return given, surname
}

// appendFolded appends the words of a text, folded, with blanks between;
// numbers only if they are wanted.
func appendFolded(dst, text []byte, numbers bool) []byte {
	first := len(dst)
	for i := 0; i < len(text); {
		end, kind := wordAt(text, i)
		if kind == letters || kind == digits && numbers {
			if len(dst) > first {
				dst = append(dst, ' ')
			}
			dst = gazetteer.Fold(dst, text[i:end])
		}
		i = end
	}
	return dst
}

// appendPlain appends the letters and digits of a number, folded.
func appendPlain(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		end, kind := wordAt(text, i)
		if kind != between {
			dst = gazetteer.Fold(dst, text[i:end])
		}
		i = end
	}
	return dst
}

// birthDay reads a date of birth of a table: what stands first is the day
// unless it is a year.
func birthDay(text string) (day int32, ok bool) {
	text, _, _ = strings.Cut(strings.TrimSpace(text), " ")
	text, _, _ = strings.Cut(text, "T")
	for _, form := range []string{time.DateOnly, "2/1/2006", "2-1-2006", "2.1.2006", "20060102", "2006/1/2"} {
		if t, err := time.Parse(form, text); err == nil {
			return int32(t.Unix() / (24 * 60 * 60)), true
		}
	}
	return 0, false
}

// Table returns the table of all rows. r must read the file that the builder has written.
func (b *Builder) Table(r io.ReaderAt) (*Table, error) {
	if err := b.w.Flush(); err != nil {
		return nil, err
	}
	slices.SortFunc(b.entries, func(x, y entry) int { return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(x.at, y.at)) })
	return &Table{file: r, size: b.at, entries: b.entries, staff: b.staff.done()}, nil
}

// Table holds the people that an institution knows. It is safe for concurrent use.
type Table struct {
	file    io.ReaderAt
	size    int64
	entries []entry // in the order of their hashes
	staff   *staff  // nil: none
}

// Rows returns the number of people who belong to a patient.
func (t *Table) Rows() int { return len(t.entries) }

// Knows reports whether the table has people for the patient id, or for one of several joined ids (see package
// patientid).
func (t *Table) Knows(patient []byte) bool {
	return patientid.Each(patient, func(id []byte) bool {
		_, found := slices.BinarySearchFunc(t.entries, hashOf(id), byHash)
		return found
	})
}

func byHash(e entry, h uint64) int { return cmp.Compare(e.hash, h) }

// Staff returns the number of members of staff.
func (t *Table) Staff() int {
	if t.staff == nil {
		return 0
	}
	return t.staff.people
}

// person holds the facts about one person that records have.
type person struct {
	role      Role
	names     []nameWord
	births    []int32
	addresses [][]byte
	numbers   []number
}

type nameWord struct {
	word   []byte
	given  bool
	common bool // it is a word of the language too
}

type number struct {
	plain     []byte
	telephone bool
}

// readAhead is the number of bytes read for a record, more than nearly every record has.
const readAhead = 512

// errTable says that the file is not what the builder wrote.
var errTable = errors.New("the index of the people's table cannot be read")

// of reads the records of a patient, who may have several ids, into people, whose memory is used again.
func (t *Table) of(patient, buf []byte, people []person) ([]byte, []person, error) {
	people = people[:0]
	var err error
	patientid.Each(patient, func(id []byte) bool {
		buf, people, err = t.ofOne(id, buf, people)
		return err != nil
	})
	return buf, people, err
}

// ofOne appends the people who belong to one id of a patient.
func (t *Table) ofOne(patient, buf []byte, people []person) ([]byte, []person, error) {
	h := hashOf(patient)
	i, _ := slices.BinarySearchFunc(t.entries, h, byHash)
	for ; i < len(t.entries) && t.entries[i].hash == h; i++ {
		record, grown, err := t.record(t.entries[i].at, buf)
		buf = grown
		if err != nil {
			return buf, people, err
		}
		id, rest, ok := text(record[1:])
		if !ok || !patientid.Same(id, patient) {
			continue
		}
		people = slices.Grow(people, 1)[:len(people)+1]
		p := &people[len(people)-1]
		*p = person{Role(record[0]), p.names[:0], p.births[:0], p.addresses[:0], p.numbers[:0]}
		if !p.read(rest) {
			return buf, people, errTable
		}
	}
	return buf, people, nil
}

// record reads the record at a place of the file. It keeps those before it.
func (t *Table) record(at int64, buf []byte) (record, grown []byte, err error) {
	first := len(buf)
	n := int(min(readAhead, t.size-at))
	buf = slices.Grow(buf, n)[:first+n]
	if _, err := t.file.ReadAt(buf[first:], at); err != nil {
		return nil, buf, errTable
	}
	size, head := binary.Uvarint(buf[first:])
	if head <= 0 || size == 0 || int64(size) > t.size-at {
		return nil, buf, errTable
	}
	if want := head + int(size); want > n {
		buf = slices.Grow(buf, want-n)[:first+want]
		if _, err := t.file.ReadAt(buf[first:], at); err != nil {
			return nil, buf, errTable
		}
	}
	buf = buf[:first+head+int(size)]
	return buf[first+head:], buf, nil
}

func text(r []byte) (text, rest []byte, ok bool) {
	n, head := binary.Uvarint(r)
	if head <= 0 || uint64(len(r)-head) < n {
		return nil, nil, false
	}
	return r[head : head+int(n)], r[head+int(n):], true
}

// read takes the fields of a record.
func (p *person) read(r []byte) bool {
	for len(r) > 0 {
		field := Field(r[0])
		value, rest, ok := text(r[1:])
		if !ok {
			return false
		}
		switch r = rest; field {
		case Given, Surname:
			for word := range bytes.SplitSeq(value, []byte(" ")) {
				if !particles[string(word)] {
					p.names = append(p.names, nameWord{word, field == Given, isCommon(word)})
				}
			}
		case Birth:
			day, _ := binary.Varint(value)
			p.births = append(p.births, int32(day))
		case Address:
			p.addresses = append(p.addresses, value)
		case Telephone, Identifier:
			p.numbers = append(p.numbers, number{value, field == Telephone})
		}
	}
	return true
}

// isCommon tells whether a folded word of a name is a word of the language, a
// drug or an eponym as well.
func isCommon(word []byte) bool {
	return gazetteer.Default().Classes(word)&(gazetteer.CommonWord|gazetteer.Drug|gazetteer.Eponym) != 0
}

// saints begin surnames, and many other names.
var saints = locale.Words("people saint")

// particles stand between the words of a name.
var particles = locale.Words("people particle")
