package propose

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/stages/vet"
)

// said is a role of a column as people read it.
type said struct {
	Role   string `json:"role"` // key below read.columns
	Column string `json:"column"`
	About  string `json:"about"` // nothing that stands in a note
}

// said are the roles of the columns.
func (p *proposal) said() (all []said) {
	if p.table == nil {
		return nil
	}
	r, t := &p.roles, p.table
	about := fmt.Sprintf("%d characters a note", r.text.bytes/max(r.text.filled, 1))
	if tongues := p.examples[r.text].tongues(); tongues != "" {
		about += "; " + tongues
	}
	all = append(all, said{"text", r.text.name, about})
	if c := r.id; c != nil {
		about = fmt.Sprintf("unique in %d rows", t.rows)
		if again := t.rows - len(c.values); again > 0 {
			about = fmt.Sprintf("missing, or there before, in %d of %d rows", again, t.rows)
		}
		all = append(all, said{"id", c.name, about + "; as " + c.shape})
	}
	if c := r.patient; c != nil {
		all = append(all, said{"patient", c.name, fmt.Sprintf("%d patients, as %s", len(c.values), c.shape)})
	}
	if c := r.date; c != nil {
		all = append(all, said{"date", c.name, "as " + c.shape})
	}
	return all
}

// left are the columns without a role.
func (p *proposal) left() (names []string) {
	if p.table == nil {
		return nil
	}
	for _, c := range p.table.columns {
		if r := &p.roles; c != r.text && c != r.id && c != r.patient && c != r.date {
			names = append(names, c.shown())
		}
	}
	return names
}

// source says what the files are, in a line.
func (p *proposal) source() string {
	files := p.archive.Files
	bytes := int64(0)
	var folders, formats []string
	for _, f := range files {
		bytes += f.Bytes
		if f.Folder != "" && (len(folders) == 0 || folders[len(folders)-1] != f.Folder) {
			folders = append(folders, f.Folder)
		}
		if format := cmp.Or(p.as, f.Format()); !strings.Contains(strings.Join(formats, " "), format) {
			formats = append(formats, format)
		}
	}
	parts := []string{strings.Join(formats, " and ")}
	if len(files) > 1 {
		parts[0] = fmt.Sprintf("%d files of %s", len(files), parts[0])
	}
	if n := len(folders); n > 1 && flow.VetNames(p.flow.Config, p.archive) == nil {
		parts = append(parts, fmt.Sprintf("in %d folders from %s to %s", n, folders[0], folders[n-1]))
	}
	if p.table != nil && p.table.head.Encoding != "" {
		parts = append(parts, p.table.head.Encoding)
	}
	if p.table != nil && p.table.head.Comma != 0 {
		parts = append(parts, fmt.Sprintf("delimiter %q", p.table.head.Comma))
	}
	return strings.Join(append(parts, p.notes, fmt.Sprintf("%.1f MB", float64(bytes)/1e6)), ", ")
}

// vetted is the error of a run whose files, folders or ids say who somebody is.
func (p *proposal) vetted() error {
	if err := flow.VetNames(p.flow.Config, p.archive); err != nil || p.table == nil || p.roles.id == nil || p.flow.Read.IDs != "keep" {
		return err
	}
	var ids [][]byte
	for _, row := range p.table.kept {
		ids = append(ids, []byte(valueOf(row, p.roles.id)))
	}
	if what := vet.NewVetter().Column(ids); what != "" {
		return flow.IDsHold(p.roles.id.name, "", what)
	}
	return nil
}

// doubts returns the remarks that somebody should read before a run.
func (p *proposal) doubts() (all []string) {
	say := func(n int, format string, args ...any) {
		if n > 0 {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	if n := len(p.archive.Bad); n > 0 {
		say(n, "a run will not read %d of the files, and end with exit code 3: the first, %s, %s", n, p.archive.Bad[0].Input,
			p.archive.Bad[0].Cause)
	}
	if err := p.vetted(); err != nil {
		_, remedy := exit.Explain(err)
		say(1, "velum run refuses: %v; %s", err, remedy)
	}
	e := p.examples[p.roles.text]
	say(points(len(e.notes) == 0), "none of the notes that were looked at can be masked: %s", strings.Join(byCount(e.aside), ", "))
	if p.table == nil {
		return all
	}
	say(p.table.head.Broken, "rows that break the format, and will go to quarantine: %d", p.table.head.Broken)
	if n := len(p.table.lacks); n > 0 {
		say(n, "a column that others have is missing in %d of the files, first %s", n, p.table.lacks[0])
	}
	if n := len(p.table.differ); n > 0 {
		say(n, "of %d columns the type is not the same in all files, so that read.keep cannot name them while the files are given together: %s",
			n, strings.Join(p.table.differ, ", "))
	}
	say(points(p.roles.text.textScore() == 0), "%s does not look like notes", p.roles.text.name)
	say(points(p.roles.id == nil), "no column names a note: the place of its row will (read.ids: drop)")
	if have := " " + strings.ToLower(strings.Join(p.table.head.Names, " ")) + " "; strings.Contains(have, " note_text ") &&
		strings.Contains(have, " note_type_concept_id ") {
		say(1, "this is NOTE of OMOP: with --profile omop and a key NOTE and NOTE_NLP come out (velum help formats)")
	}
	for _, c := range p.roles.others {
		for _, n := range p.examples[c].shown(1) {
			say(1, "%s could be the text as well: %s", c.name, short(n.Text))
		}
	}
	return all
}

// shown is what is printed of a proposal, as JSON or by the templates of proposal.gotxt.
type shown struct {
	Kind     string      `json:"message_type"`
	Config   string      `json:"config"`
	Source   string      `json:"source"`
	Columns  []said      `json:"columns"`
	Left     []string    `json:"left_out"`
	Doubts   []string    `json:"note_that"`
	Samples  []example   `json:"samples"`
	Commands [][2]string `json:"commands"`

	In, Profile string      `json:"-"`
	Read        [][2]string `json:"-"` // options of the section, but for columns
	Table, ID   bool        `json:"-"` // files have columns, and one of them names a note
	Quasi       []string    `json:"-"`
}

func (p *proposal) shown() *shown {
	s := &shown{
		Kind: "proposal", Config: p.o.Out, Source: p.source(), Columns: p.said(), Left: p.left(), Doubts: p.doubts(),
		Samples: p.examples[p.roles.text].shown(3), Commands: p.commands(),
		In: p.o.In, Read: [][2]string{{"format", cmp.Or(p.as, "auto")}, {"encoding", p.flow.Read.Encoding}, {"delimiter", p.flow.Read.Delimiter}},
		Table: p.table != nil, ID: p.roles.id != nil,
	}
	if p.flow.Given("profile") {
		s.Profile = p.flow.Profile
	}
	if p.table != nil {
		s.Quasi = p.table.quasi(&p.roles)
	}
	return s
}

//go:embed proposal.gotxt
var proposalText string

// text is a proposal by the template of that name.
func (p *proposal) text(name string) []byte {
	var b bytes.Buffer
	t := template.New("").Funcs(template.FuncMap{
		"plain": exit.Printable, "quoted": option.QuoteYAML, "join": strings.Join, "base": filepath.Base, "short": short,
		"bold": func(what string) string { return p.Paint(p.Out, 1, fmt.Sprintf("%-9s", what)) },
	})
	if err := template.Must(t.Parse(proposalText)).ExecuteTemplate(&b, name, p.shown()); err != nil {
		panic(err) // the template is ours, and a buffer takes all
	}
	return b.Bytes()
}

// short is the beginning of a masked note, on one line.
func short(note string) string {
	r := []rune(strings.Join(strings.Fields(note), " "))
	if len(r) > 160 {
		r = append(r[:160], '…')
	}
	return string(r)
}

// commands returns the next commands, as they can be pasted, each with its purpose.
func (p *proposal) commands() [][2]string {
	in, config := exit.Quoted(p.o.In), " --config "+exit.Quoted(p.o.Out)
	return [][2]string{
		{"velum init " + in + config + " --try 100", "100 notes, masked, on the screen alone"},
		{"velum run --in " + in + " --out masked" + config + " --audit 20", "all notes, masked, into the folder masked"},
		{"velum night --in " + in + " --out masked" + config + " --timer systemd",
			"what is new, every night (or --timer cron, --timer kubernetes)"},
		{"velum review --ask audit --of masked --in " + in + " --out read.jsonl" + config, "read 20 of them, beside what was masked"},
	}
}

// write writes the configuration and says what comes next.
func (p *proposal) write() error {
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if p.o.Force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	file, err := os.OpenFile(p.o.Out, flags, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(p.text("yaml"))
	if err = cmp.Or(err, file.Close()); err != nil || p.Quiet && !p.JSON {
		return err
	}
	if p.JSON {
		return p.WriteJSON(p.shown())
	}
	_, err = p.Out.Write(p.text("next"))
	return err
}
