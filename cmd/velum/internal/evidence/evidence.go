// Package evidence makes the dossier of one release, which a data-protection officer reads, signs and keeps. The dossier
// lists what is known of an output, the source of each statement (a program or a person), and the questions that nobody
// has answered. It is a record in JSON. The page that people read is rendered from the record, always with the same
// bytes, and a signature is that of a digest of the record. The audit log records that the dossier was made and signed.
// A dossier holds counts and digests, and no text and no id of a note.
//
//	report, manifests, audit log, facts of the institution ── collect ──> record ── page
//	                                                       └── statement, signature
package evidence

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/look"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/page"
	"github.com/velum-health/velum/cmd/velum/internal/proof"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
)

// Options holds the arguments of `velum evidence`. A file name is "" if the user gave none.
type Options struct {
	Dir      string
	Private  string   // its private tree; "": beside it
	Language string   // of the page: en, es, ca; "": that of the report
	Facts    string   // file with the institution's answers
	SBOM     string   // file of the program's bill of materials
	DCAT     string   // file for the catalogue record; "": none
	Ledger   string   // log of the releases; "": that of the output
	In       []string // archive in which notes of people who object are looked up; none: they are not
	Known    []string // names of all attacks that exist
	Build    look.Build
	Config   func() (*option.Config, error)

	Template, Verify, Interview bool

	Sign         string // file of a private key
	Name, Limits string // who signs, and within which limits
	PublicKey    string // key that the signature must be made with; "": any
}

// Run makes, signs or verifies the dossier of the output o.Dir.
func Run(ctx context.Context, c *console.Console, o *Options) error {
	switch {
	case o.Template:
		_, err := c.Out.Write([]byte(Template()))
		return err
	case o.Dir == "":
		return exit.Misconfiguredf("velum evidence DIR", "name the output of a run")
	}
	if o.Private == "" {
		o.Private = commit.PrivateDir(o.Dir)
	}
	if beside := filepath.Join(filepath.Dir(filepath.Clean(o.Dir)), houseFile); o.Facts == "" {
		if _, err := os.Stat(beside); err == nil || o.Interview {
			o.Facts = beside
		}
	}
	if o.Interview {
		if err := interview(ctx, c, o.Facts, page.LanguageOf(cmp.Or(o.Language, c.Language()))); err != nil {
			return err
		}
	}
	switch {
	case o.Verify:
		return verify(ctx, c, o)
	case o.Sign != "":
		return sign(ctx, c, o)
	}
	return compile(ctx, c, o)
}

// A Record is the whole dossier. Its fields stand in the order of the printed page.
type Record struct {
	Schema   string    `json:"schema"`
	Language string    `json:"language"`
	Made     string    `json:"made"` // RFC 3339, UTC
	Velum    string    `json:"velum"`
	Output   Output    `json:"output"`
	Sections []Section `json:"sections"`
	Clauses  []Clause  `json:"clauses"`
}

// Output identifies the output that the dossier describes, by SHA-256 digests.
type Output struct {
	Public  string `json:"manifest_sha256"`
	Private string `json:"private_manifest_sha256"`
	Masked  string `json:"masked_sha256"` // audit.OutputDigest
	Head    string `json:"audit_head"`    // hash of the audit log's last line when the dossier was made
}

// Section is a chapter of the dossier.
type Section struct {
	Name  string `json:"name"`
	Facts []Fact `json:"facts"`
}

// Fact is one question with its answer: values, a table, or nothing.
type Fact struct {
	Name    string    `json:"name"`
	House   bool      `json:"said_by_the_house,omitempty"`
	Values  []Value   `json:"values,omitempty"`
	Columns []string  `json:"columns,omitempty"`
	Rows    [][]Value `json:"rows,omitempty"`
	Missing string    `json:"not_answered,omitempty"` // what would answer it
}

// Value is one entry of an answer: a text, a word of the table of translated words, a count, a share, a number with its
// interval, or a digest.
type Value struct {
	Text    string      `json:"text,omitempty"`
	Word    string      `json:"word,omitempty"` // key in the table of words
	Count   *int64      `json:"count,omitempty"`
	Share   *float64    `json:"share,omitempty"`
	Number  *float64    `json:"number,omitempty"`
	Between *[2]float64 `json:"between,omitempty"` // interval of the figure
	SHA256  string      `json:"digest,omitempty"`
}

// Clause is a requirement of a standard, a law or an authority, with the facts that answer it.
type Clause struct {
	Anchor  string   `json:"anchor"`
	Clause  string   `json:"clause,omitempty"`
	Asks    string   `json:"asks"`                   // key of its words
	At      []string `json:"answered_at,omitempty"`  // facts
	Missing []string `json:"not_answered,omitempty"` // facts
}

const schema = "velum.evidence/1"

// now is the clock; tests set it.
var now = time.Now

func text(s string) Value    { return Value{Text: s} }
func term(key string) Value  { return Value{Word: key} }
func count(n int64) Value    { return Value{Count: &n} }
func share(x float64) Value  { return Value{Share: &x} }
func number(x float64) Value { return Value{Number: &x} }
func digest(s string) Value  { return Value{SHA256: s} }
func (v Value) in(low, high float64) Value {
	v.Between = &[2]float64{low, high}
	return v
}

// compile makes the dossier of an output in its present state.
func compile(ctx context.Context, c *console.Console, o *Options) error {
	s, err := open(ctx, o)
	if err != nil {
		return err
	}
	if len(s.wrong) > 0 {
		return exit.Errorf(exit.Integrity, "`velum check` names all; the same `velum run` makes missing and changed parts again",
			"%s is not as it was written: %s", o.Dir, s.wrong[0])
	}
	r, err := collect(ctx, s, o)
	if err != nil {
		return err
	}
	e, err := s.write(r, nil, nil)
	if err != nil {
		return err
	}
	if o.DCAT != "" {
		if err := s.catalogue(r, o.DCAT); err != nil {
			return err
		}
	}
	return said(c, o, s, r, e)
}

// said prints where the dossier is, and how many of its questions are answered.
func said(c *console.Console, o *Options, s *source, r *Record, e *audit.Evidence) error {
	facts := r.Facts()
	return c.Tell(struct {
		Kind     string `json:"message_type"`
		ID       string `json:"id"`
		Page     string `json:"page"`
		House    string `json:"institution_answers,omitempty"`
		Record   string `json:"record_sha256"`
		Answered int    `json:"answered"`
		Asked    int    `json:"asked"`
		Clauses  int    `json:"clauses_answered"`
		Of       int    `json:"clauses"`
		By       string `json:"signed_by,omitempty"`
	}{"evidence", e.ID(), s.name(e, ".html"), o.Facts, e.Record, len(r.Answered(facts)), len(facts), len(r.Met()), len(r.Clauses), e.By},
		saidText)
}

const saidText = `{{with .institution_answers}}answers of the institution: {{.}}
{{end}}{{.page}}
{{.answered}} of {{.asked}} facts answered, {{.clauses_answered}} of {{.clauses}} clauses; SHA-256 of the record {{.record_sha256}}
`

// source is an output with all data for a dossier.
type source struct {
	dir, private string
	manifest     *commit.Manifest // private
	output       Output
	report       []byte
	log          string
	audit        *audit.Report
	wrong        []string // that is not as it was written
	spoilt       []string // the same of files of dossiers
}

// open reads and verifies an output, every byte of it, and its audit log.
func open(ctx context.Context, o *Options) (*source, error) {
	s := &source{dir: o.Dir, private: o.Private, log: audit.LogIn(o.Private)}
	var files [2][]byte
	for i, dir := range []string{s.dir, s.private} {
		var err error
		if files[i], err = durable.ReadFile(durable.OS, filepath.Join(dir, "manifest.json")); err != nil {
			return nil, noOutput(dir, err)
		}
		diffs, err := commit.Check(ctx, dir, audit.InTree...)
		if err != nil {
			return nil, err
		}
		for _, d := range diffs {
			if strings.HasPrefix(d.Path, audit.EvidenceDir+"/") {
				s.spoilt = append(s.spoilt, d.Path)
				continue
			}
			s.wrong = append(s.wrong, filepath.Join(dir, d.Path)+": "+d.Kind)
		}
	}
	m, err := commit.ParseManifest(files[1])
	if err != nil {
		return nil, exit.With(exit.Integrity, err, "start the same `velum run` again")
	}
	if s.manifest = m; !m.Vouches(files[0]) {
		s.wrong = append(s.wrong, filepath.Join(s.dir, "manifest.json")+": of another run")
	}
	if s.report, err = durable.ReadFile(durable.OS, filepath.Join(s.private, "report.json")); err != nil {
		return nil, noOutput(s.private, err)
	}
	if s.audit, err = proof.Verified(s.log, ""); err != nil {
		return nil, err
	}
	s.output = Output{Public: sum(files[0]), Private: sum(files[1]), Masked: audit.OutputDigest(m), Head: s.audit.Head}
	return s, nil
}

func noOutput(dir string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return exit.Misconfiguredf("name the folder that a run wrote, with its private tree beside it",
			"%s has no output of a run that was committed", dir)
	}
	return err
}

// sum is the SHA-256 of data.
func sum(data []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

// marshal returns the bytes of a record or of a statement, which are signed.
func marshal(v any) ([]byte, error) {
	data, err := json.MarshalIndent(v, "", " ")
	return append(data, '\n'), err
}

// write stores a dossier in the private tree. The line of the audit log is written first, so a crash can leave a line
// too many, but never a dossier that the log does not know.
func (s *source) write(r *Record, signed *Statement, signature []byte) (*audit.Evidence, error) {
	record, err := marshal(r)
	if err != nil {
		return nil, err
	}
	html, err := render(r, signed, sum(record))
	if err != nil {
		return nil, err
	}
	e := &audit.Evidence{Record: sum(record), Page: sum(html)}
	files := map[string][]byte{".json": record, ".html": html}
	if signed != nil {
		statement, err := marshal(signed)
		if err != nil {
			return nil, err
		}
		e.Statement, e.Signature, e.By = sum(statement), sum(signature), signed.Name
		files[".signed.json"], files[".sig"] = statement, signature
	}
	dir := filepath.Join(s.private, audit.EvidenceDir)
	if err := s.sweep(dir); err != nil {
		return nil, err
	}
	if _, err := audit.Append(s.log, audit.Entry{Event: "evidence", Config: s.manifest.Config, Model: s.manifest.Model,
		Evidence: e}); err != nil {
		return nil, err
	}
	if err := durable.MkdirAll(durable.OS, dir); err != nil {
		return nil, err
	}
	for _, ext := range []string{".json", ".signed.json", ".sig", ".html"} {
		if data, ok := files[ext]; ok {
			if err := durable.WriteBy(durable.OS, filepath.Join(dir, e.ID()+ext+".tmp"), filepath.Join(dir, e.ID()+ext), data); err != nil {
				return nil, err
			}
		}
	}
	return e, nil
}

// sweep removes files left by a process that died.
func (s *source) sweep(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, "*.tmp"))
	for _, name := range left {
		err = errors.Join(err, durable.RemoveIfThere(durable.OS, name))
	}
	return err
}

// reportOf is the report of the private tree in a language.
func reportOf(s *source, language string) (*report.Report, page.Language, error) {
	if language == "" {
		var of struct{ Language string }
		if json.Unmarshal(s.report, &of) == nil {
			language = of.Language
		}
	}
	l := page.LanguageOf(language)
	r, err := report.Read(s.report, l)
	if err != nil {
		return nil, l, exit.With(exit.Integrity, err, "start the same `velum run` again")
	}
	if r.Schema == "" {
		return nil, l, fmt.Errorf("%s: no report", s.private)
	}
	return r, l, nil
}
