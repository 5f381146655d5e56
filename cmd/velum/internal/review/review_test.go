package review

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
)

// invented notes, one of them with what would be HTML in a page.
const invented = `{"id":"a","text":"Vive en Reus con Ana.","spans":[{"start":8,"end":12,"label":"LOCATION","score":0.99},{"start":17,"end":20,"label":"PERSON","score":0.6}]}
{"id":"<img src=x onerror=alert(1)>","text":"<script>alert(1)</script> 👩‍⚕️ Dra. Puig","spans":[{"start":36,"end":40,"label":"PERSON","score":0.9}]}
{"id":"c","text":"Sin cambios.","spans":[]}
`

func opened(t *testing.T, dir string) (*session, *Options) { return asked(t, dir, "") }

func asked(t *testing.T, dir, question string) (*session, *Options) {
	t.Helper()
	o := &Options{Ask: question, In: filepath.Join(dir, "in.jsonl"), Out: filepath.Join(dir, "out.jsonl"), Lang: "en"}
	if err := os.WriteFile(o.In, []byte(invented), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := option.Load(option.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := open(t.Context(), cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.journal.Close() })
	return s, o
}

// TestOrder: the note with the least sure span comes first, those without any last.
func TestOrder(t *testing.T) {
	s, _ := opened(t, t.TempDir())
	if got := fmt.Sprint(s.order); got != "[0 1 2]" {
		t.Errorf("order %s", got)
	}
}

// TestJournal: what was decided is there after a kill, whatever the kill has
// torn, and the last decision on a note counts.
func TestJournal(t *testing.T) {
	dir := t.TempDir()
	s, o := opened(t, dir)
	person, _ := pipeline.ParseCategory("PERSON")
	for _, end := range []int32{19, 20} {
		if err := s.decide(0, []pipeline.Span{{Start: 17, End: end, Category: person}}, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.decide(2, nil, ""); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(o.Out + ".journal")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"Reus", "Ana", "cambios"} {
		if bytes.Contains(whole, []byte(word)) {
			t.Error("the journal holds words of a note")
		}
	}
	second := bytes.IndexByte(whole, '\n') + 1
	for cut := second; cut <= len(whole); cut++ {
		if err := os.WriteFile(o.Out+".journal", whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		again, _ := opened(t, dir)
		if want := min(bytes.Count(whole[:cut], []byte("\n"))-1, 1) + btoi(cut == len(whole)); again.done() != want {
			t.Fatalf("after %d bytes: %d decided, want %d", cut, again.done(), want)
		}
	}
	again, o := opened(t, dir)
	var out bytes.Buffer
	if err := again.export(t.Context(), &console.Console{Out: &out}, o); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(o.Out)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"a","text":"Vive en Reus con Ana.","spans":[{"start":17,"end":20,"label":"PERSON","source":"gold","score":1}]}
{"id":"c","text":"Sin cambios.","spans":[]}
`
	if string(written) != want {
		t.Errorf("wrote %s, want %s", written, want)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestOtherNotes: a journal is not taken for that of other notes.
func TestOtherNotes(t *testing.T) {
	dir := t.TempDir()
	s, o := opened(t, dir)
	if err := s.decide(2, nil, ""); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(o.In, []byte(`{"id":"a","text":"Otra.","spans":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, _ := option.Load(option.Sources{})
	if _, err := open(t.Context(), cfg, o); err == nil || !strings.Contains(err.Error(), "other notes") {
		t.Errorf("error %v", err)
	}
}

// browser is a client that keeps cookies, and the server that it speaks to.
type browser struct {
	*http.Client
	t      *testing.T
	server *server
	ended  bool
}

func newBrowser(t *testing.T) *browser { return newBrowserFor(t, "") }

func newBrowserFor(t *testing.T, question string) *browser {
	s, o := asked(t, t.TempDir(), question)
	b := &browser{t: t, server: newServer(s, o, "")}
	ts := httptest.NewServer(b.server.handler(func() { b.ended = true }))
	t.Cleanup(ts.Close)
	b.server.host = ts.Listener.Addr().String()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Client = &http.Client{Jar: jar}
	return b
}

func (b *browser) do(method, path, body string, change func(*http.Request)) (int, http.Header, string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, "http://"+b.server.host+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Origin", "http://"+b.server.host)
	}
	if change != nil {
		change(r)
	}
	res, err := b.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(data)
}

// TestRefused: who is not let in, comes a second time or asks for a page that there is not reads why, in the language of the page.
func TestRefused(t *testing.T) {
	b := newBrowser(t)
	address := strings.TrimPrefix(b.server.address(), "http://"+b.server.host)
	for _, lang := range Langs {
		b.server.options.Lang = lang
		if code, _, body := b.do("GET", "/", "", nil); code != http.StatusForbidden || body != texts(lang)["stranger"]+"\n" {
			t.Errorf("%s without a token: %d %s", lang, code, body)
		}
		if code, _, body := b.do("GET", "/?token=wrong", "", nil); code != http.StatusForbidden || body != texts(lang)["used"]+"\n" {
			t.Errorf("%s with another token: %d %s", lang, code, body)
		}
	}
	b.do("GET", address, "", nil)
	for _, lang := range Langs {
		b.server.options.Lang = lang
		if code, _, body := b.do("GET", "/nothing", "", nil); code != http.StatusNotFound || body != texts(lang)["nowhere"]+"\n" {
			t.Errorf("%s no page: %d %s", lang, code, body)
		}
	}
}

// TestLetIn: the token opens the page once; without its cookie, under another
// name of this machine, and from other pages, nothing is shown and nothing done.
func TestLetIn(t *testing.T) {
	b := newBrowser(t)
	for _, path := range []string{"/", "/note?at=0", "/setup", "/review.js", "/?token=wrong"} {
		if code, _, body := b.do("GET", path, "", nil); code != http.StatusForbidden || strings.Contains(body, "Reus") {
			t.Errorf("%s without a token: %d", path, code)
		}
	}
	address := strings.TrimPrefix(b.server.address(), "http://"+b.server.host)
	if code, h, body := b.do("GET", address, "", nil); code != http.StatusOK || !strings.Contains(body, "<main>") || h.Get("Content-Security-Policy") != policy {
		t.Fatalf("with the token: %d", code)
	}
	if code, _, _ := b.do("GET", "/note?at=0", "", nil); code != http.StatusOK {
		t.Fatalf("with the cookie: %d", code)
	}
	other := newClient(t)
	b.Client, other = other, b.Client
	if code, _, _ := b.do("GET", address, "", nil); code != http.StatusForbidden {
		t.Errorf("the token a second time: %d", code)
	}
	b.Client = other
	if code, _, _ := b.do("GET", "/note?at=0", "", func(r *http.Request) { r.Host = "evil.example" }); code != http.StatusMisdirectedRequest {
		t.Errorf("another Host: %d", code)
	}
	decision := `{"at":0,"spans":[]}`
	for name, change := range map[string]func(*http.Request){
		"from another page": func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") },
		"without an origin": func(r *http.Request) { r.Header.Del("Origin") },
		"from nowhere":      func(r *http.Request) { r.Header.Set("Origin", "null") },
	} {
		if code, _, _ := b.do("POST", "/decide", decision, change); code != http.StatusForbidden {
			t.Errorf("%s: %d", name, code)
		}
	}
	if code, _, _ := b.do("GET", "/note?at=0", "", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }); code != http.StatusForbidden {
		t.Errorf("a note for another page: %d", code)
	}
	if b.server.session.done() != 0 {
		t.Error("something was decided")
	}
}

func newClient(t *testing.T) *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar}
}

// TestDecide: spans come and go in the units of browsers; what does not fit the
// note is refused.
func TestDecide(t *testing.T) {
	b := newBrowser(t)
	b.do("GET", strings.TrimPrefix(b.server.address(), "http://"+b.server.host), "", nil)
	_, _, body := b.do("GET", "/note?at=1", "", nil)
	var n struct {
		ID, Text string
		Spans    []shownSpan
	}
	if err := json.Unmarshal([]byte(body), &n); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(body, "<script") || strings.Contains(body, "<img") { // json.Encoder writes \u003c
		t.Error("a note could be read as HTML")
	}
	if len(n.Spans) != 1 || n.Spans[0].Start != 37 || n.Spans[0].End != 41 {
		t.Fatalf("spans %v, want one at 37 to 41 of UTF-16", n.Spans)
	}
	for _, c := range []struct {
		body string
		want int
	}{
		{`{"at":1,"spans":[{"start":37,"end":41,"label":"PERSON"}]}`, 200},
		{`{"at":9,"spans":[]}`, 404},
		{`{"at":-1,"spans":[]}`, 404},
		{`{"at":1,"spans":[{"start":37,"end":42,"label":"PERSON"}]}`, 400},
		{`{"at":1,"spans":[{"start":27,"end":30,"label":"PERSON"}]}`, 400}, // within a character
		{`{"at":1,"spans":[{"start":5,"end":5,"label":"PERSON"}]}`, 400},
		{`{"at":1,"spans":[{"start":0,"end":5,"label":"PERSON"},{"start":4,"end":6,"label":"PERSON"}]}`, 400},
		{`{"at":1,"spans":[{"start":0,"end":5,"label":"NONSENSE"}]}`, 400},
		{`{"at":1,`, 400},
	} {
		if code, _, _ := b.do("POST", "/decide", c.body, nil); code != c.want {
			t.Errorf("%s: %d, want %d", c.body, code, c.want)
		}
	}
	if got := b.server.session.notes[1].final; len(got) != 1 || b.server.session.notes[1].text[got[0].Start:got[0].End] != "Puig" {
		t.Error("the decision is another")
	}
	if _, _, body := b.do("GET", "/search?from=1&q=reus", "", nil); !strings.Contains(body, `"at":0`) {
		t.Errorf("search: %s", body)
	}
	if b.do("POST", "/end", "{}", nil); !b.ended {
		t.Error("the session did not end")
	}
}

// TestWords: no language lacks a word, and no key is bound twice.
func TestWords(t *testing.T) {
	for _, lang := range Langs {
		for word := range texts("en") {
			if texts(lang)[word] == "" {
				t.Errorf("%s: no %q", lang, word)
			}
		}
	}
	for _, q := range questions {
		for _, answer := range q.answers {
			if texts("en")[answer] == "" {
				t.Errorf("%s: no word for %q", q.name, answer)
			}
		}
	}
	bound := map[string]bool{}
	for name, key := range Keys() {
		if texts("en")[name] == "" {
			t.Errorf("no word for the key %s", name)
		}
		if bound[key] {
			t.Errorf("%s is bound twice", key)
		}
		bound[key] = true
	}
	set, err := pipeline.Labels("meddocan")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lettered(set.Categories) {
		if l["key"] == "" || bound[l["key"]] {
			t.Errorf("%s has no key of its own", l["name"])
		}
		bound[l["key"]] = true
	}
}

// TestAgreement: two curators on the same notes, by hand: 2 of 3 and 2 spans the
// same; 8 tokens, of which 7 agree.
func TestAgreement(t *testing.T) {
	p, _ := pipeline.ParseCategory("PERSON")
	tokens := make([]pipeline.Token, 8)
	for i := range tokens {
		tokens[i] = pipeline.Token{Start: int32(2 * i), End: int32(2*i + 1)}
	}
	at := func(places ...int32) (spans []pipeline.Span) {
		for _, x := range places {
			spans = append(spans, pipeline.Span{Start: 2 * x, End: 2*x + 1, Category: p})
		}
		return spans
	}
	s := &session{notes: []note{{tokens: tokens, spans: at(0, 1, 2), other: at(0, 1), differs: true}, {}}}
	a := s.agreement()
	// p_o = 7/8; p_e = (3*2 + 5*6) / 64 = 36/64; kappa = (56-36)/(64-36) = 20/28
	if a.Both != 2 || a.F1 != 4.0/5 || a.Missing != 1 || a.Differ != 1 || fmt.Sprintf("%.6f", a.Kappa) != fmt.Sprintf("%.6f", 20.0/28) {
		t.Errorf("agreement %+v", a)
	}
}

// TestAnswers: a question with answers takes these and no spans, keeps them
// through a kill, writes them, and compares them with another person's.
func TestAnswers(t *testing.T) {
	b := newBrowserFor(t, "usefulness")
	b.do("GET", strings.TrimPrefix(b.server.address(), "http://"+b.server.host), "", nil)
	_, _, setup := b.do("GET", "/setup", "", nil)
	for _, want := range []string{`"labels":null`, `"key":"3","name":"lost-all"`, "Judge what"} {
		if !strings.Contains(setup, want) {
			t.Errorf("setup lacks %s", want)
		}
	}
	// The page begins with the masked note, and has the note as it was beside it.
	if _, _, shown := b.do("GET", "/note?at=0", "", nil); !strings.Contains(shown, `"text":"Vive en [LOCATION] con [PERSON]."`) ||
		!strings.Contains(shown, `"spans":[{"start":8,"end":18,"label":"LOCATION"`) || !strings.Contains(shown, `"tokens":[[0,4],[5,7],[8,18],[19,22],[23,31],[31,32]]`) ||
		!strings.Contains(shown, `"original":{`) || !strings.Contains(shown, `"text":"Vive en Reus con Ana."`) {
		t.Errorf("shown: %s", shown)
	}
	for _, c := range []struct {
		body string
		want int
	}{
		{`{"at":0,"answer":"kept"}`, 200}, {`{"at":1,"answer":"lost-all"}`, 200}, {`{"at":0,"answer":"lost-something"}`, 200},
		{`{"at":0,"answer":"perhaps"}`, 400}, {`{"at":0}`, 400}, {`{"at":0,"answer":"kept","spans":[{"start":8,"end":12,"label":"LOCATION"}]}`, 400},
	} {
		if code, _, _ := b.do("POST", "/decide", c.body, nil); code != c.want {
			t.Errorf("%s: %d, want %d", c.body, code, c.want)
		}
	}
	o := b.server.options
	cfg, _ := option.Load(option.Sources{})
	s, err := open(t.Context(), cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.journal.Close()
	var out bytes.Buffer
	if err := s.export(t.Context(), &console.Console{Out: &out}, o); err != nil {
		t.Fatal(err)
	}
	written, _ := os.ReadFile(o.Out)
	if want := `{"id":"a","answer":"lost-something"}` + "\n" + `{"id":"<img src=x onerror=alert(1)>","answer":"lost-all"}` + "\n"; string(written) != want {
		t.Errorf("wrote %s, want %s", written, want)
	}
	o.Other = filepath.Join(t.TempDir(), "other.jsonl")
	if err := os.WriteFile(o.Other, []byte(`{"id":"a","answer":"kept"}`+"\n"+`{"id":"<img src=x onerror=alert(1)>","answer":"lost-all"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	// p_o = 1/2; p_e = 1/2 * 0 + 1/2 * 1/2 = 1/4; kappa = (1/2 - 1/4) / (3/4)
	if err := s.compare(t.Context(), &console.Console{Out: &out}, cfg, o); err != nil || !strings.Contains(out.String(), "2 notes that both have answered, 1 differ; kappa 0.3333") || fmt.Sprint(s.order) != "[0]" {
		t.Errorf("%v: %s, order %v", err, out.String(), s.order)
	}
	for _, ask := range []string{"spans", "audit"} { // of the same notes, another question
		o.Ask = ask
		if again, err := open(t.Context(), cfg, o); err == nil {
			again.journal.Close()
			t.Errorf("the journal was taken for one of %s", ask)
		}
	}
}

// TestFinished: when all is decided the terminal and the page say so and name the next command; a guideline of the house stands
// in place of velum's.
func TestFinished(t *testing.T) {
	dir := t.TempDir()
	s, o := opened(t, dir)
	said := func() string {
		var out bytes.Buffer
		if err := s.export(t.Context(), &console.Console{Out: &out}, o); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	for i := range s.notes {
		if err := s.decide(i, nil, ""); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("%d are left: the same command goes on\n", len(s.notes)-1-i)
		if i == len(s.notes)-1 {
			want = "all are decided; next: velum teach learn --answers " + o.Out
		}
		if got := said(); !strings.Contains(got, want) {
			t.Errorf("%d decided: %q, want %q", i+1, got, want)
		}
	}
	s.asks, o.Of = questionNamed("audit"), "masked"
	if got, want := s.next(o), "velum prove sample masked --reading "+o.Out; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.asks = questionNamed("usefulness")
	if got, want := s.next(o), "velum review --ask usefulness --in "+o.In+" --out "+o.Out+" --against OTHER --export"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for text, want := range map[string]string{"  Marcar <b>todo</b>.\n": "Marcar <b>todo</b>.", "": "expected UTF-8", "\xff": "expected UTF-8"} {
		file := filepath.Join(dir, "guide.txt")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := guideline(file); got != want && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

// TestLeaks: a note counts if a token is marked that nothing covered before.
func TestLeaks(t *testing.T) {
	s, _ := opened(t, t.TempDir())
	person, _ := pipeline.ParseCategory("PERSON")
	for i, final := range [][]pipeline.Span{{{Start: 8, End: 12, Category: person}}, {{Start: 33, End: 40, Category: person}}, {{Start: 4, End: 11, Category: person}}} {
		if err := s.decide(i, final, ""); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.leaks(); got != 2 { // the first was masked, of the second the title was not
		t.Errorf("%d notes with leaks, want 2", got)
	}
}
