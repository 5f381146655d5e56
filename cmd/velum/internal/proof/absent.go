package proof

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math/big"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/patientid"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/tagged"
)

// Absent checks that no note of a person who objects, or whom the output lists as forgotten or objecting, is in the
// output. It does not rely on the run: it reads the archive again, compares patient ids as bytes, as letters and
// digits, and by similarity, searches whole documents for the ids, and takes the rows from the masked parts.
func Absent(ctx context.Context, c *console.Console, load func() (*option.Config, error), o *Options) error {
	a, cfg, err := search(ctx, load, o)
	if err != nil {
		return err
	}
	if a.Masked > 0 {
		return exit.Errorf(exit.Integrity, "run it again with --exclude", "%d notes of people who object are in the output", a.Masked)
	}
	if a.Nobodys > 0 {
		return exit.Errorf(exit.Integrity, "run it again with --exclude", "%d notes without a patient's id are in the output: nobody knows whether they are of people who object", a.Nobodys)
	}
	if err := c.Tell(a, absences); err != nil || cfg.People.Unmatched != "refuse" {
		return err
	}
	if len(a.Unmatched) > 0 {
		return exit.Errorf(exit.Privacy, "write them as the archive does, or --set people.unmatched=warn if they are in other files", "%s: %d objections are no patient's of this archive", cfg.People.Exclude, len(a.Unmatched))
	}
	if n := len(slices.DeleteFunc(a.Near, func(n nearID) bool { return n.Why == oneCharacter })); n > 0 {
		return exit.Errorf(exit.Privacy, "add to the list what is the same patient's, name in people.others what is another's, or --set people.unmatched=warn", "masked notes have %d ids that may be those of people who object", n)
	}
	return nil
}

// search looks for notes of people who object.
func search(ctx context.Context, load func() (*option.Config, error), o *Options) (*absence, *option.Config, error) {
	cfg, err := load()
	if err != nil {
		return nil, nil, err
	}
	private := cmp.Or(o.Private, commit.PrivateDir(o.Path))
	a := &absence{Kind: "absent", Dir: o.Path, private: private}
	if a.remembered, err = audit.ReadForgotten(durable.OS, private); err != nil {
		return nil, nil, err
	}
	remembered := len(a.remembered.Set.Members())+len(a.remembered.Objected.Members()) > 0
	if cfg.People.Exclude == "" && !remembered || len(o.In) == 0 {
		return nil, nil, exit.Misconfiguredf("name the list and the archive", "--exclude and --in go together")
	}
	return a, cfg, a.look(ctx, cfg, o.In, private)
}

// Masked counts the notes of the archive whose patients object (notes), and the notes of the output that must not be
// there (masked): those of the same patients, and those without a patient id, because their patients may object too.
func Masked(ctx context.Context, load func() (*option.Config, error), o *Options) (notes, masked int64, err error) {
	a, _, err := search(ctx, load, o)
	if err != nil {
		return 0, 0, err
	}
	return a.Notes, a.Masked + a.Nobodys, nil
}

// absence is one search for notes of people who object, with its findings.
type absence struct {
	Kind      string   `json:"message_type"`
	Dir       string   `json:"dir"`
	Notes     int64    `json:"notes"`     // of people who object
	Masked    int64    `json:"masked"`    // of these
	Nobodys   int64    `json:"nobodys"`   // masked notes without a patient's id
	Unmatched []int64  `json:"unmatched"` // rows of the list that are nobody's
	Near      []nearID `json:"near"`      // masked notes with ids that are near

	private    string
	remembered *audit.Forgotten
	others     map[string]bool // ids of people.others, letters and digits
	list       []objector
	byRaw      map[string][]int
	byID       map[string][]int // letters and digits
	byNear     map[string][]int // the same without zeros in front, and with a character left out; the digits alone
	here       unitRows
	files      map[files.Key][]commit.UnitRecord // of the output
	part       string                            // the masked part whose rows are at hand
	rows       []int64
	named      map[nearPair]bool
}

// nearID is the place of an id that is similar to one in the list.
type nearID struct {
	Row   int64  `json:"row"` // of the list
	Input string `json:"input"`
	At    int64  `json:"at"` // row of the file
	Why   string `json:"why"`

	member int // of the list
}

type nearPair struct {
	row        int
	why, input string // no input: once in the archive
}

type objector struct {
	row     int64
	id      string // letters and digits
	number  bool
	matched bool
	heading bool
}

// unitRows holds the rows of the current unit that must not be in the output, and those with a similar id, which a
// person should check if they are in the output.
type unitRows struct {
	objects, nobodys map[int64]bool
	near             map[int64]nearID
}

// absences is the template that prints an absence for people.
const absences = `{{.dir}}: {{.notes}} notes of people who object, none of them masked
{{with .unmatched}}rows of the list that are no patient's of this archive:{{range .}} {{.}}{{end}}
{{end}}{{range .near}}row {{.row}} of the list is near the id of a masked note ({{.why}}): row {{.at}} of {{.input}}
{{end}}`

// look reads the list, the archive and the masked parts.
func (a *absence) look(ctx context.Context, c *option.Config, in []string, private string) error {
	if c.Read.Columns.Patient == "" {
		return exit.Misconfiguredf("name the column of the patient's id with read.columns.patient", "--exclude is joined with the notes by patient")
	}
	if err := a.readList(c); err != nil {
		return err
	}
	m, err := commit.ReadManifest(private)
	if err != nil {
		return err
	}
	a.files = map[files.Key][]commit.UnitRecord{}
	for _, f := range m.Inputs() {
		k := files.KeyIn(&f)
		a.files[k] = append(a.files[k], f)
	}
	keep := *c
	keep.Read.IDs, keep.Read.Opaque = "keep", false // neither is looked at
	o, err := flow.ReadOptions(&keep)
	if err != nil {
		return err
	}
	o.RawPatients = true
	archive, err := flow.Scan(ctx, in, o)
	if err != nil {
		return err
	}
	defer archive.Close()
	for i := range archive.Units {
		if err := a.unit(ctx, archive, &archive.Units[i]); err != nil {
			return err
		}
	}
	a.Near = slices.DeleteFunc(a.Near, func(n nearID) bool { return n.Why == oneCharacter && a.list[n.member].matched })
	for k := range a.list {
		if x := &a.list[k]; !x.matched && !x.heading {
			a.Unmatched = append(a.Unmatched, x.row)
		}
	}
	return nil
}

// readList reads the list with its ids as they stand.
func (a *absence) readList(c *option.Config) error {
	a.others = map[string]bool{}
	for _, id := range c.People.Others {
		a.others[plain(id)] = true
	}
	if c.People.Exclude == "" {
		return nil
	}
	objections, err := flow.ReadObjections(c)
	if err != nil {
		return err
	}
	a.byRaw, a.byID, a.byNear, a.named = map[string][]int{}, map[string][]int{}, map[string][]int{}, map[nearPair]bool{}
	for k, x := range objections.Rows {
		id := plain(x.Raw)
		a.list = append(a.list, objector{row: x.Row, id: id, number: x.Number, heading: x.Heading})
		if id == "" {
			continue
		}
		a.byRaw[x.Raw] = append(a.byRaw[x.Raw], k)
		a.byID[id] = append(a.byID[id], k)
		eachNear(id, func(near string) { a.byNear[near] = append(a.byNear[near], k) })
	}
	return nil
}

// eachNear calls do with the digits of an id, and with the id without leading zeros, whole and with each character left
// out. Two ids that differ by one edit share one of these (deletion neighbourhoods, Garbe's SymSpell).
func eachNear(id string, do func(string)) {
	id = bare(id)
	if m := around.FindStringSubmatch(id); m != nil {
		do("digits " + m[2])
	}
	do(id)
	runes := []rune(id)
	for i := range runes {
		do(string(runes[:i]) + string(runes[i+1:]))
	}
}

// bare returns the letters and digits of an id, without zeros in front.
func bare(id string) string {
	return strings.TrimLeft(strings.Map(func(c rune) rune {
		if strings.ContainsRune(marks, c) {
			return -1
		}
		return c
	}, id), "0")
}

// withoutZeros leaves out zeros in front, behind a sign too.
func withoutZeros(id string) string {
	digits, minus := strings.CutPrefix(id, "-")
	if digits = strings.TrimLeft(digits, "0"); minus && digits != "" {
		return "-" + digits
	}
	return digits
}

// around splits an id into its digits and the letters around them.
var around = regexp.MustCompile(`^(\D*)0*(\d(?:.*\d)?)(\D*)$`)

// alike reports whether two ids have the same digits and no contradicting letters around them.
func alike(a, b string) bool {
	x, y := around.FindStringSubmatch(bare(a)), around.FindStringSubmatch(bare(b))
	fits := func(a, b string) bool { return a == b || a == "" || b == "" }
	return x != nil && y != nil && x[2] == y[2] && fits(x[1], y[1]) && fits(x[3], y[3])
}

// marks stand within ids.
const marks = "-_./"

// maskedPlace holds the columns of a masked part by which a note is found again.
type maskedPlace struct {
	Row int64 `parquet:"row"`
}

// maskedRows reads which rows of a unit are masked. Files that share a unit follow each other, so it keeps the rows of
// the last unit and reads them once.
func (a *absence) maskedRows(r *commit.UnitRecord) ([]int64, error) {
	at := slices.IndexFunc(r.Parts, func(p commit.PartRecord) bool { return p.Kind == "masked" })
	if at < 0 {
		return nil, nil
	}
	if name := r.Parts[at].Path; a.part != name {
		root := a.Dir
		if r.Parts[at].Private {
			root = a.private
		}
		a.part, a.rows = name, a.rows[:0]
		err := tagged.RowsOf(filepath.Join(root, name), func(row maskedPlace) error {
			a.rows = append(a.rows, row.Row)
			return nil
		})
		if err != nil {
			return nil, err
		}
		source, err := tagged.Sources(r.Parts, func(p *commit.PartRecord) ([]byte, error) { return files.Part(a.private, p) })
		if err != nil {
			return nil, err
		}
		for k, row := range a.rows {
			a.rows[k] = source(row)
		}
	}
	return a.rows, nil
}

func (a *absence) unit(ctx context.Context, archive *archive.Archive, u *commit.Unit) error {
	if err := a.find(ctx, archive, u); err != nil {
		return err
	}
	known := false
	for _, r := range a.files[files.KeyOf(u)] {
		known = true
		rows, err := a.maskedRows(&r)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if !r.Shares || row >= r.First && row < r.First+r.Rows {
				a.masked(row - r.First)
			}
		}
	}
	if !known {
		return exit.Misconfiguredf("give the archive that was masked, unchanged, with the same read.unit_notes", "%s: was not masked here", u.Input)
	}
	return nil
}

// masked counts a masked row if its patient objects or has no id, and keeps it if its id is similar to one of the list.
func (a *absence) masked(row int64) {
	if a.here.objects[row] {
		a.Masked++
	}
	if a.here.nobodys[row] {
		a.Nobodys++
	}
	if n, ok := a.here.near[row]; ok && len(a.Near) < maxNear {
		a.Near = append(a.Near, n)
	}
}

// maxNear is the largest number of similar ids that the output of the check names.
const maxNear = 100

// find records the rows of objectors, of notes without a patient, and of similar ids.
func (a *absence) find(ctx context.Context, archive *archive.Archive, u *commit.Unit) error {
	src, err := archive.Open(u)
	if err != nil {
		return err
	}
	a.here = unitRows{map[int64]bool{}, map[int64]bool{}, map[int64]nearID{}}
	b := new(pipeline.Batch)
	for {
		b.Reset()
		if err = src.Next(b); err != nil || ctx.Err() != nil {
			break
		}
		patients, documents := b.ExtraNamed(input.PatientColumn), b.ExtraNamed(input.SourceColumn)
		for i := range b.Len() {
			row := b.First + int64(i)
			if patients == nil || !patients.Valid[i] {
				a.here.nobodys[row] = true
				continue
			}
			a.note(u, row, patients.Bytes.At(i))
			if documents != nil && !a.here.objects[row] {
				a.document(u, row, documents.Bytes.At(i))
			}
		}
	}
	if errors.Is(err, io.EOF) {
		err = context.Cause(ctx)
	}
	a.Notes += int64(len(a.here.objects))
	return errors.Join(err, src.Close())
}

// note looks up the ids of a note's patient, as read.RawPatients gives them.
func (a *absence) note(u *commit.Unit, row int64, raw []byte) {
	some := false
	for one := range bytes.SplitSeq(raw, []byte{patientid.Between}) {
		text, number := bytes.CutPrefix(one, []byte{input.RawNumber})
		if id := plain(string(text)); id != "" {
			a.lookUp(u, row, text, id, number)
			some = true
		}
	}
	if !some {
		a.here.nobodys[row] = true
	}
}

// lookUp looks an id up among the ids of people who object: raw is the id as it is written, id its letters and digits.
func (a *absence) lookUp(u *commit.Unit, row int64, raw []byte, id string, number bool) {
	form := patientid.AppendText(nil, raw)
	if number {
		form = patientid.AppendNumber(nil, raw)
	}
	same := a.remembered.Set.Has(form) || a.remembered.Objected.Has(form)
	for _, all := range [][]int{a.byRaw[string(raw)], a.byID[id]} {
		for _, k := range all {
			same = a.match(k) || same
		}
	}
	eachNear(id, func(near string) {
		for _, k := range a.byNear[near] {
			switch x := &a.list[k]; {
			case same || a.others[id]:
			case (number || x.number) && withoutZeros(x.id) == withoutZeros(id):
				same = a.match(k)
			case bare(x.id) == bare(id), alike(x.id, id):
				a.near(u, row, k, "zeros, marks or letters around the digits")
			case patientid.Near([]byte(x.id), []byte(id)) && !x.matched: // else it is somebody else's, as the next number is
				a.near(u, row, k, oneCharacter)
			}
		}
	})
	if same {
		a.here.objects[row] = true
		delete(a.here.near, row)
	}
}

// shortestInDocument is the least length of an id that is searched in whole documents: a shorter number may be a dose.
const shortestInDocument = 4

// document looks for the ids in all bytes of a document, wherever they stand in it.
func (a *absence) document(u *commit.Unit, row int64, doc []byte) {
	for word := range bytes.FieldsFuncSeq(doc, func(c rune) bool { return c != '-' && c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		if len(word) < shortestInDocument || !bytes.ContainsAny(word, "0123456789") {
			continue
		}
		for _, k := range a.byID[plain(string(word))] {
			a.near(u, row, k, "elsewhere in the document")
		}
	}
}

// oneCharacter is the reason given for an id that is one edit away from an id of the list.
const oneCharacter = "one character"

func (a *absence) match(k int) bool {
	a.list[k].matched = true
	return true
}

// near keeps a similar id: for each row of the list, each file and each reason only the first place.
func (a *absence) near(u *commit.Unit, row int64, k int, why string) {
	pair := nearPair{k, why, u.Input}
	if why == oneCharacter {
		pair.input = ""
	}
	if !a.named[pair] {
		a.named[pair] = true
		a.here.near[row] = nearID{a.list[k].row, u.Input, row, why, k}
	}
}

// valueOf returns the ASCII digit for a decimal digit of Unicode. Unicode has such digits in runs of ten from zero to
// nine. Where two runs touch, NFKD has replaced the digits already.
func valueOf(c rune) rune {
	zero := c
	for unicode.IsDigit(zero - 1) {
		zero--
	}
	return '0' + (c-zero)%10
}

// part matches an id that is a whole number with a decimal part of zeros: 123.0.
var part = regexp.MustCompile(`^([^\pL\pN]*\d+)[.,]0+([^\pL\pN]*)$`)

// plain returns the letters, digits and marks of an id, without the decimal part of a whole number; "" for text that is
// no id, because it has no letter or digit or is a word such as NULL or NaN. It shares no table with package patientid,
// so that a mistake there is found here.
func plain(raw string) string {
	if text := strings.ToUpper(raw); strings.Contains(text, "E+") {
		if v, ok := new(big.Float).SetString(text); ok && v.IsInt() {
			raw = v.Text('f', 0)
		}
	}
	raw = part.ReplaceAllString(norm.NFKD.String(strings.TrimPrefix(raw, "\u00ef\u00bb\u00bf")), "$1$2")
	id := strings.Map(func(c rune) rune {
		switch {
		case unicode.IsDigit(c):
			return valueOf(c)
		case unicode.Is(unicode.Pd, c), c == '\u2212':
			return '-'
		case strings.ContainsRune(marks, c):
			return c
		case !unicode.IsLetter(c):
			return -1
		}
		return unicode.ToUpper(c)
	}, raw)
	if id = strings.TrimLeft(strings.TrimRight(id, marks), "_./"); bare(id) == "" && strings.Trim(id, "0") == id {
		return ""
	}
	if slices.Contains([]string{"NAN", "NA", "N/A", "NAT", "NONE", "NULL", "NIL"}, strings.ToUpper(id)) {
		return ""
	}
	return id
}
