package review

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/pipeline/durable"
)

// TestTurnedText: what turns the order of characters round is named, and shown as a
// sign of the same length.
func TestTurnedText(t *testing.T) {
	text := "pide cita \u202e65432Z\u202c hoy \u2066x\u2069"
	shown := inOrder(text)
	if strings.ContainsAny(shown, "\u202e\u202c\u2066\u2069") || len(shown) != len(text) || !strings.Contains(shown, "\u242665432Z\u2426") {
		t.Errorf("shown: %q", shown)
	}
	if got := turned(text); got != "U+202E U+202C U+2066 U+2069" {
		t.Errorf("named: %q", got)
	}
	if inOrder("tos") != "tos" || turned("tos") != "" {
		t.Error("plain text is not as it was")
	}
}

// TestCookieOfPort: two sessions of one browser have two cookies.
func TestCookieOfPort(t *testing.T) {
	a, b := newServer(nil, nil, "127.0.0.1:4000"), newServer(nil, nil, "127.0.0.1:4001")
	if a.cookieName() == b.cookieName() || a.cookieName() != "velum-4000" {
		t.Errorf("%s, %s", a.cookieName(), b.cookieName())
	}
}

// TestOneSession: a second session of the same output is refused while the first
// one goes on.
func TestOneSession(t *testing.T) {
	out := t.TempDir() + "/a.jsonl"
	lock, err := durable.OS.Lock(out+".lock", durable.NewHolder("review"))
	if err != nil {
		t.Fatal(err)
	}
	err = Run(t.Context(), &console.Console{}, nil, &Options{In: "x", Out: out})
	if _, locked := errors.AsType[*durable.LockedError](err); !locked {
		t.Errorf("a second session: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestNoDecision: a body that decides nothing is refused, and nothing is kept.
func TestNoDecision(t *testing.T) {
	s, o := opened(t, t.TempDir())
	v := newServer(s, o, "127.0.0.1:4000")
	before, err := os.ReadFile(o.Out + ".journal")
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{"null", "{}", `{"at":null,"spans":[]}`, `{"spans":[]}`, `{"at":0}`, "[]", "0", `{"at":0,"spans":null}`} {
		w := &recorder{header: http.Header{}}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/decide", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if v.decide(w, r); w.code != http.StatusBadRequest {
			t.Errorf("%s: %d", body, w.code)
		}
	}
	if after, err := os.ReadFile(o.Out + ".journal"); err != nil || !bytes.Equal(before, after) || s.done() != 0 {
		t.Errorf("something was decided: %v", err)
	}
}

// TestChangedJournal: a line that is changed, taken out, doubled or put elsewhere is
// found, whatever it says.
func TestChangedJournal(t *testing.T) {
	s, o := opened(t, t.TempDir())
	for i := range 3 {
		if err := s.decide(i, nil, ""); err != nil {
			t.Fatal(err)
		}
	}
	name := o.Out + ".journal"
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n"))
	join := func(order ...int) []byte {
		var all []byte
		for _, k := range order {
			all = append(append(all, bytes.TrimSuffix(lines[k], []byte("\n"))...), '\n')
		}
		return all
	}
	for what, data := range map[string][]byte{
		"changed": bytes.Replace(whole, []byte(`"note":1`), []byte(`"note":2`), 1), "taken out": join(0, 2, 3), "doubled": join(0, 1, 1, 2, 3), "exchanged": join(0, 2, 1, 3),
		"null": append(join(0, 1), "null\n"...), "no line": append(join(0, 1), "{}\n"...),
	} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		again := &session{asks: s.asks, notes: s.notes, labels: s.labels}
		_, err := openJournal(name, again)
		if _, found := errors.AsType[*durable.IntegrityError](err); !found {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := os.WriteFile(name, join(0, 1, 2, 3), 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := openJournal(name, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.journal.Close(), j.Close()); err != nil {
		t.Fatal(err)
	}
}

// recorder is a response writer.
type recorder struct {
	header http.Header
	code   int
}

func (r *recorder) Header() http.Header            { return r.header }
func (r *recorder) Write(data []byte) (int, error) { return len(data), nil }
func (r *recorder) WriteHeader(code int)           { r.code = code }
