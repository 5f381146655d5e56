package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"html"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

// signedOutput makes a small output with a signed dossier, and returns its folder and
// the file of the public key. velum runs a command line there.
func signedOutput(t *testing.T) (dir string, velum func(args ...string) (exit.Code, string)) {
	t.Helper()
	dir = t.TempDir()
	t.Chdir(dir)
	canaryArchive(t, "in/a.parquet", 1, faultNotes, false)
	velum = func(args ...string) (exit.Code, string) {
		var said bytes.Buffer
		return newApp(&said, &said, nil).run(append(args, "-q")), said.String()
	}
	public, private, err := ed25519.GenerateKey(rand.NewChaCha8([32]byte{7}))
	if err != nil {
		t.Fatal(err)
	}
	der, _ := x509.MarshalPKCS8PrivateKey(private)
	spki, _ := x509.MarshalPKIXPublicKey(public)
	for name, block := range map[string]*pem.Block{"key.pem": {Type: "PRIVATE KEY", Bytes: der}, "public.pem": {Type: "PUBLIC KEY", Bytes: spki}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{"run --in in --out out", "evidence out", "evidence out --sign key.pem --name Ada --limits year", "evidence out --verify --public-key public.pem"} {
		if code, said := velum(strings.Fields(line)...); code != exit.Done {
			t.Fatal(line, code, said)
		}
	}
	return dir, velum
}

// TestEvidenceTampering changes single bytes of the output, its private tree, the audit
// log and the dossier, wherever they fall: each is found, and nothing else is said of
// what was put back. VELUM_TAMPER is how many of them; 2,000 were tried.
func TestEvidenceTampering(t *testing.T) {
	_, velum := signedOutput(t)
	var files []string
	for _, root := range []string{"out", "out.private"} {
		if err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				files = append(files, name)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(files)
	if len(files) < 12 {
		t.Fatalf("only %q", files)
	}
	n, _ := strconv.Atoi(os.Getenv("VELUM_TAMPER"))
	draw := rand.New(rand.NewPCG(1, 2))
	for i := range max(n, 2*len(files)) {
		name := files[i%len(files)] // each file as often: most bytes are those of one
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) == 0 {
			continue
		}
		at, flip := draw.IntN(len(data)), byte(1+draw.IntN(255))
		spoilt := bytes.Clone(data)
		spoilt[at] ^= flip
		if err := os.WriteFile(name, spoilt, 0o600); err != nil {
			t.Fatal(err)
		}
		if code, said := velum("evidence", "out", "--verify", "--public-key", "public.pem"); code != exit.Integrity && code != exit.Privacy {
			t.Errorf("%s: byte %d changed by %#x: exit code %d: %s", name, at, flip, code, said)
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code, said := velum("evidence", "out", "--verify", "--public-key", "public.pem"); code != exit.Done {
		t.Error(code, said)
	}
}

// officersQuestions are what a data-protection officer asks of a release, and the label
// under which the page answers, or says that nobody has.
var officersQuestions = []struct{ question, label string }{
	{"What is it for?", "Purpose"}, {"Who gets it?", "Recipients"}, {"Who answers for it?", "Controller"}, {"By which law?", "Legal basis"},
	{"What could the recipient tell by?", "How a recipient could re-identify a person, and why"}, {"What have they signed?", "What the recipients have signed"},
	{"Which key?", "Id of the key"}, {"Who holds it?", "Who holds the key"}, {"How many notes went in?", "Notes read"}, {"What of it could not be read?", "Could not be read"},
	{"Which model?", "Model"}, {"How good is it on notes that it had not seen?", "Measured on notes that it had not seen"}, {"Which program, and who can build it again?", "How to check the binary"},
	{"What was it told to do?", "Digest of all that shapes the output"}, {"How many notes keep something?", "Notes estimated to contain an identifier still (95 %)"},
	{"How do you know?", "That is calibrated on"}, {"Has anybody read of it?", "Read by people"}, {"Who, and how long?", "Readers"}, {"What does that prove?", "Upper bound for all notes (95 %)"},
	{"And for a patient?", "Leak per patient (95 %)"}, {"Of just these bytes?", "What was read"}, {"Who tried to break it?", "Attacks"}, {"Could they have?", "Made on this output, with power"},
	{"What stands in place of names and dates?", "What replaces the values"}, {"Is anybody alone in the table?", "Smallest group that is left"},
	{"What else was released?", "Releases of the same archive"}, {"Is somebody in it who objected?", "Notes of people who object in this output"}, {"What was erased?", "Erased since"},
	{"What went wrong?", "Runs that failed, were refused or killed"}, {"How long is it kept?", "Retention"},
}

// answerOf is what a page says under a label: "" if it has no such label.
func answerOf(t *testing.T, page, label string) string {
	t.Helper()
	label = regexp.QuoteMeta(html.EscapeString(label))
	m := regexp.MustCompile(`(?s)<dt>` + label + `</dt><dd>(.*?)</dd>|<h3>` + label + `</h3>(.*?)</table>`).FindStringSubmatch(page)
	if m == nil {
		return ""
	}
	return strings.Join(strings.Fields(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(m[1]+m[2], " "))), " ")
}

// TestOfficersQuestions: thirty questions are answered from the page alone, or it says
// that nobody has answered; what the house says turns one into the other.
func TestOfficersQuestions(t *testing.T) {
	if len(officersQuestions) != 30 {
		t.Fatal(len(officersQuestions))
	}
	_, velum := signedOutput(t)
	if err := os.WriteFile("said.yaml", []byte("purpose: a study\nrecipients: Institute A\ncontroller: Hospital\nlegal_basis: art. 9(2)(j)\nrecipient_means: none\ncontract: yes\nkey_custody: Eva\nretention: a year\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	pages := map[bool]string{}
	for _, house := range []bool{false, true} {
		args := []string{"evidence", "out"}
		if house {
			args = append(args, "--facts", "said.yaml")
		}
		if code, said := velum(append(args, "--json")...); code != exit.Done {
			t.Fatal(code, said)
		} else {
			page, err := os.ReadFile(regexp.MustCompile(`"page":"([^"]+)"`).FindStringSubmatch(said)[1])
			if err != nil {
				t.Fatal(err)
			}
			pages[house] = string(page)
		}
	}
	for _, tt := range []struct{ label, bare, house string }{
		{"Purpose", "not answered --facts: purpose", "a study (stated by the institution)"},
		{"Controller", "not answered --facts: controller", "Hospital (stated by the institution)"},
		{"Who holds the key", "not answered --facts: key_custody", "Eva (stated by the institution)"},
		{"Read by people", "not answered velum prove sample", "not answered velum prove sample"},
		{"Smallest group that is left", "not asked for: no column of the archive passes into the output", "not asked for: no column of the archive passes into the output"},
		{"Erased since", "none", "none"},
		{"Notes read", strconv.Itoa(faultNotes) + " notes", strconv.Itoa(faultNotes) + " notes"},
	} {
		if bare, house := answerOf(t, pages[false], tt.label), answerOf(t, pages[true], tt.label); bare != tt.bare || house != tt.house {
			t.Errorf("%s: %q and %q, want %q and %q", tt.label, bare, house, tt.bare, tt.house)
		}
	}
	for _, q := range officersQuestions {
		for _, page := range pages {
			if answerOf(t, page, q.label) == "" {
				t.Errorf("%s: the page has nothing under %q", q.question, q.label)
			}
		}
	}
}
