package evidence

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/proof"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/durable"
)

// A Statement is what a person who has read a dossier declares about it. Its bytes are signed with Ed25519 (RFC 8032).
type Statement struct {
	Schema  string `json:"schema"`
	Record  string `json:"record_sha256"`
	Output  Output `json:"output"`
	Name    string `json:"name"`
	Limits  string `json:"limits,omitempty"` // within which the release is accepted
	Date    string `json:"date"`
	Kind    string `json:"kind"`       // ed25519
	Key     string `json:"public_key"` // SubjectPublicKeyInfo, as openssl prints it in one line
	Printed string `json:"public_key_sha256"`
}

const statementSchema = "velum.signature/1"

// sign signs the newest dossier of an output, the one that was read.
func sign(ctx context.Context, c *console.Console, o *Options) error {
	s, e, r, err := newest(ctx, o)
	if err != nil {
		return err
	}
	if e.Statement != "" {
		return exit.Misconfiguredf("make another with `velum evidence`, and read it", "dossier %s is signed already, by %s", e.ID(), e.By)
	}
	if wrong := append(s.stale(r), s.wrong...); len(wrong) > 0 {
		return exit.Errorf(exit.Integrity, "make another with `velum evidence`, and read it", "dossier %s: %s", e.ID(), wrong[0])
	}
	if problems := s.files(e, r, nil, o.Build.Version); len(problems) > 0 {
		return exit.Errorf(exit.Integrity, "make another with `velum evidence`, and read it", "dossier %s: %s", e.ID(), problems[0])
	}
	st := &Statement{Schema: statementSchema, Record: e.Record, Output: r.Output, Name: strings.TrimSpace(o.Name),
		Limits: strings.TrimSpace(o.Limits), Date: now().UTC().Format("2006-01-02T15:04:05Z")}
	if st.Name == "" || len(st.Name) > 200 || len(st.Limits) > maxFact {
		return exit.Misconfiguredf(`velum evidence DIR --sign KEY --name "A. Soler, DPO"`,
			"--name: who signs, in at most 200 characters; --limits: at most %d", maxFact)
	}
	signature, err := st.sign(o.Sign)
	if err != nil {
		return err
	}
	if e, err = s.write(r, st, signature); err != nil {
		return err
	}
	return said(c, o, s, r, e)
}

// sign fills in the statement and returns its signature.
func (st *Statement) sign(file string) ([]byte, error) {
	data, err := readSmall(file, maxKey)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		block = new(pem.Block)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	private, ok := key.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, exit.Errorf(exit.Key, "make one with `openssl genpkey -algorithm ed25519 -out key.pem`",
			"%s is no private Ed25519 key in PEM (PKCS #8)", file)
	}
	der, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		return nil, err
	}
	st.Kind, st.Key, st.Printed = "ed25519", base64.StdEncoding.EncodeToString(der), sum(der)
	message, err := marshal(st)
	return ed25519.Sign(private, message), err
}

const maxKey = 1 << 20 // bytes

// parsePublic reads a public key: PEM, or the same in one line as a statement has it.
func parsePublic(data []byte, name string) (ed25519.PublicKey, error) {
	der, _ := base64.StdEncoding.DecodeString(string(data))
	if block, _ := pem.Decode(data); block != nil {
		der = block.Bytes
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if public, ok := key.(ed25519.PublicKey); ok && err == nil {
		return public, nil
	}
	return nil, exit.Errorf(exit.Key, "print it with `openssl pkey -in key.pem -pubout`", "%s is no public Ed25519 key in PEM", name)
}

// newest returns the dossier of the last line of the log that concerns one.
func newest(ctx context.Context, o *Options) (*source, *audit.Evidence, *Record, error) {
	s, err := open(ctx, o)
	if err != nil {
		return nil, nil, nil, err
	}
	var e *audit.Evidence
	if err := audit.Each(s.log, func(l *audit.Line) {
		if l.Evidence != nil {
			e = l.Evidence
		}
	}); err != nil {
		return nil, nil, nil, err
	}
	if e == nil {
		return nil, nil, nil, exit.Misconfiguredf("make one with `velum evidence DIR`", "%s has no dossier, by its audit log", s.dir)
	}
	data, err := durable.ReadFile(durable.OS, s.name(e, ".json"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil, err
	}
	r := &Record{}
	if sum(data) != e.Record || json.Unmarshal(data, r) != nil || r.Schema != schema {
		return nil, nil, nil, exit.Errorf(exit.Integrity, "put its copy back, or make another with `velum evidence`",
			"%s is not as it was written, or is not there", s.name(e, ".json"))
	}
	return s, e, r, nil
}

func (s *source) name(e *audit.Evidence, ext string) string {
	return filepath.Join(s.private, audit.EvidenceDir, e.ID()+ext)
}

// stale returns how the output differs from the one that a dossier describes.
func (s *source) stale(r *Record) (wrong []string) {
	for _, x := range []struct{ what, was, is string }{
		{"the masked notes", r.Output.Masked, s.output.Masked}, {"manifest.json", r.Output.Public, s.output.Public},
		{"manifest.json of the private tree", r.Output.Private, s.output.Private},
	} {
		if x.was != x.is {
			return []string{"is of an output that has changed since: " + x.what}
		}
	}
	return nil
}

// files returns what is wrong with the files of a dossier. Each must have the digest in the log, and the page must be
// equal to the page that this program makes from the record. For a dossier of another version only the digest is
// compared.
func (s *source) files(e *audit.Evidence, r *Record, st *Statement, version string) (wrong []string) {
	for name, want := range e.Files() {
		if data, err := durable.ReadFile(durable.OS, filepath.Join(s.private, audit.EvidenceDir, name)); err != nil {
			wrong = append(wrong, name+" is not there")
		} else if sum(data) != want {
			wrong = append(wrong, name+" is not as it was written")
		}
	}
	slices.Sort(wrong)
	if again, err := render(r, st, e.Record); len(wrong) == 0 && r.Velum == version && (err != nil || sum(again) != e.Page) {
		wrong = append(wrong, s.name(e, ".html")+" is not the page of the record, as this version of velum makes it")
	}
	return wrong
}

// check is one check of verify, with its result.
type check struct {
	What  string   `json:"what"`
	Sound bool     `json:"sound"`
	Said  []string `json:"said,omitempty"`
}

// verify checks that the newest dossier, its signature, the audit log and the output have not changed since the dossier
// was made.
func verify(ctx context.Context, c *console.Console, o *Options) error {
	s, e, r, err := newest(ctx, o)
	if err != nil {
		return err
	}
	st, signed := s.signature(e, o)
	all := []check{{"record and page", true, s.files(e, r, st, o.Build.Version)}, signed, {"audit log", true, nil}, {"output", true, s.wrong},
		{"dossier and output", true, s.stale(r)}}
	v, err := proof.Verified(s.log, r.Output.Head)
	if err != nil {
		return err
	}
	for _, f := range v.Findings {
		all[2].Said = append(all[2].Said, f.String())
	}
	bad := 0
	for i := range all {
		if i != 1 {
			all[i].Sound = len(all[i].Said) == 0
		}
		if !all[i].Sound {
			bad++
		}
	}
	if r.Velum != o.Build.Version {
		all[0].Said = append(all[0].Said, "made by velum "+r.Velum+": the page was compared with the log, and not made again by this version")
	}
	if err := c.Tell(map[string]any{"message_type": "evidence_verified", "id": e.ID(), "checks": all, "unsigned": e.Statement == ""},
		checksText); err != nil {
		return err
	}
	switch {
	case bad == 1 && !all[4].Sound:
		return exit.Errorf(exit.Privacy, "make another with `velum evidence`, read it and sign it",
			"dossier %s is stale: the output has changed since it was made", e.ID())
	case bad > 0:
		return exit.Errorf(exit.Integrity, "put the copies back, or make another with `velum evidence`, read it and sign it",
			"dossier %s does not stand: %d of %d checks", e.ID(), bad, len(all))
	case st == nil:
		return exit.Errorf(exit.Privacy, `velum evidence DIR --sign KEY --name "..."`, "nobody has signed dossier %s", e.ID())
	}
	return nil
}

// checksText is a template of what verify prints.
const checksText = `{{range .checks}}{{.what}}: {{if not .sound}}NOT SOUND{{else if and (eq .what "signature") $.unsigned}}none{{else}}sound{{end}}
{{range .said}}  {{.}}
{{end}}{{end}}dossier {{.id}}
`

// signature checks whether the dossier is signed, by whom, and whether the signature is valid.
func (s *source) signature(e *audit.Evidence, o *Options) (*Statement, check) {
	bad := func(format string, args ...any) (*Statement, check) {
		return nil, check{"signature", false, []string{fmt.Sprintf(format, args...)}}
	}
	if e.Statement == "" {
		return nil, check{"signature", true, []string{"nobody has signed it"}}
	}
	statement, err := durable.ReadFile(durable.OS, s.name(e, ".signed.json"))
	signature, err2 := durable.ReadFile(durable.OS, s.name(e, ".sig"))
	st := &Statement{}
	if err := errors.Join(err, err2); err != nil || json.Unmarshal(statement, st) != nil || st.Schema != statementSchema {
		return bad("the statement or its signature cannot be read")
	}
	if again, err := marshal(st); err != nil || string(again) != string(statement) || st.Record != e.Record {
		return bad("the statement is not as it was written, or of another dossier")
	}
	said := fmt.Sprintf("%s, %s", st.Name, st.Date)
	public, err := parsePublic([]byte(st.Key), "the statement")
	if err != nil || !ed25519.Verify(public, statement, signature) {
		return bad("the signature is not that of the key")
	}
	if o.PublicKey == "" {
		return st,
			check{"signature", true,
				[]string{said, "by the key with the SHA-256 " + st.Printed + ", which the dossier names: whose it is, only --public-key tells"}}
	}
	data, err := readSmall(o.PublicKey, maxKey)
	given, err2 := parsePublic(data, o.PublicKey)
	switch err := cmp.Or(err, err2); {
	case err != nil:
		return bad("%v", err)
	case !given.Equal(public):
		return bad("it is not by the key in %s", o.PublicKey)
	}
	return st, check{"signature", true, []string{said + ", by the key in " + o.PublicKey}}
}
