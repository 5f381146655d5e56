package review

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/option"
)

// chromium starts a headless browser. Where none is installed the test says so
// and is skipped.
func chromium(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no browser is installed (Debian: chromium)")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WSURLReadTimeout(2*time.Minute))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, 4*time.Minute)
	t.Cleanup(stop)
	return ctx
}

// served serves invented notes: n of them, each with a place that is marked and
// a name that is not.
func served(t *testing.T, n int, lang string) *server { return servedFor(t, n, lang, "") }

func servedFor(t *testing.T, n int, lang, question string) *server {
	t.Helper()
	return servedAgainst(t, n, lang, question, "")
}

// servedAgainst is servedFor with what another curator has made of the notes.
func servedAgainst(t *testing.T, n int, lang, question, theirs string) *server {
	t.Helper()
	dir := t.TempDir()
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `{"id":"n%d","text":"Vive en Reus con Eva. Eva llama desde Reus, <b>no</b> acude.","spans":[{"start":8,"end":12,"label":"LOCATION","score":%.2f}]}`+"\n", i, 0.3+0.6*float64(i)/float64(n))
	}
	o := &Options{In: filepath.Join(dir, "in.jsonl"), Out: filepath.Join(dir, "out.jsonl"), Lang: lang, Ask: question}
	if err := os.WriteFile(o.In, []byte(text.String()), 0o600); err != nil {
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
	if theirs != "" {
		o.Other = filepath.Join(dir, "theirs.jsonl")
		if err := os.WriteFile(o.Other, []byte(theirs), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.compare(t.Context(), &console.Console{Out: io.Discard}, cfg, o); err != nil {
			t.Fatal(err)
		}
	}
	v := newServer(s, o, "")
	ts := httptest.NewServer(v.handler(func() {}))
	t.Cleanup(ts.Close)
	v.host = ts.Listener.Addr().String()
	return v
}

func note0(at int) chromedp.Action {
	return chromedp.WaitVisible(fmt.Sprintf(`body[data-note="%d"] .cursor`, at), chromedp.ByQuery)
}

// TestKeyboard: fifty notes by the keyboard alone. The cursor begins on the
// least sure span; the name is marked, its twin with it, and one key goes on.
func TestKeyboard(t *testing.T) {
	ctx := chromium(t)
	const notes = 50
	v := served(t, notes, "es")
	if err := chromedp.Run(ctx, chromedp.Navigate(v.address()), note0(0)); err != nil {
		t.Fatal(err)
	}
	var times []int
	for i := range notes {
		var took int
		// from Reus two words on to Eva, p for PERSON, = for its twin, Enter
		if err := chromedp.Run(ctx, note0(i), chromedp.Evaluate(`Number(document.body.dataset.milliseconds)`, &took),
			chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent("p"), chromedp.KeyEvent("="), chromedp.KeyEvent(kb.Enter)); err != nil {
			t.Fatalf("note %d: %v", i, err)
		}
		times = append(times, took)
	}
	deadline := time.Now().Add(20 * time.Second)
	for v.doneNow() < notes && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
	}
	if done := v.doneNow(); done != notes {
		t.Fatalf("%d of %d notes decided", done, notes)
	}
	for i := range v.session.notes {
		n := &v.session.notes[i]
		var got []string
		for _, s := range n.final {
			got = append(got, n.text[s.Start:s.End]+"/"+s.Category.String())
		}
		if want := "Reus/LOCATION Eva/PERSON Eva/PERSON"; strings.Join(got, " ") != want {
			t.Fatalf("note %d: %s, want %s", i, strings.Join(got, " "), want)
		}
	}
	slices.Sort(times)
	t.Logf("next note on the screen: median %d ms, 95th percentile %d ms", times[notes/2], times[notes*95/100])
}

func (v *server) doneNow() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.session.done()
}

// TestKeys: what each key does to one note, and that nothing of a note becomes HTML.
func TestKeys(t *testing.T) {
	ctx := chromium(t)
	v := served(t, 3, "ca")
	spans := func() (text string) {
		if err := chromedp.Run(ctx, chromedp.Evaluate(`spans.map((s) => note.text.slice(s.start, s.end) + "/" + s.label).join(" ")`, &text)); err != nil {
			t.Fatal(err)
		}
		return text
	}
	if err := chromedp.Run(ctx, chromedp.Navigate(v.address()), note0(0)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ key, want string }{
		{kb.Delete, ""}, {kb.Backspace, "Reus/LOCATION"}, {"p", "Reus/PERSON"}, {"=", "Reus/PERSON Reus/PERSON"}, {kb.Backspace, "Reus/PERSON"},
		{kb.Backspace, "Reus/LOCATION"}, {kb.Backspace, "Reus/LOCATION"}, {kb.ArrowRight, "Reus/LOCATION"}, {"l", "Reus/LOCATION con/LOCATION"},
	} {
		if err := chromedp.Run(ctx, chromedp.KeyEvent(c.key)); err != nil {
			t.Fatal(err)
		}
		if got := spans(); got != c.want {
			t.Errorf("after %q: %q, want %q", c.key, got, c.want)
		}
	}
	if err := chromedp.Run(ctx, chromedp.KeyEvent(kb.PageDown), note0(1), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight, chromedp.KeyModifiers(8)), chromedp.KeyEvent("p")); err != nil {
		t.Fatal(err)
	}
	if got, want := spans(), "Reus/LOCATION con Eva/PERSON"; got != want {
		t.Errorf("extended with Shift: %q, want %q", got, want)
	}
	var bold int
	var title string
	if err := chromedp.Run(ctx, chromedp.Evaluate(`document.querySelectorAll("b").length`, &bold), chromedp.Title(&title)); err != nil {
		t.Fatal(err)
	}
	if bold != 0 || title != "velum: Revisió" {
		t.Errorf("%d elements made of a note's text, title %q", bold, title)
	}
}

// TestAnswerKeys: a question with answers is one key a note; spans are shown and
// stay as they are, whatever is pressed.
func TestAnswerKeys(t *testing.T) {
	ctx := chromium(t)
	v := servedFor(t, 3, "es", "usefulness")
	if err := chromedp.Run(ctx, chromedp.Navigate(v.address()), note0(0)); err != nil {
		t.Fatal(err)
	}
	for i, keys := range [][]string{{kb.Delete, "p", kb.Enter, "1"}, {"2"}, {kb.ArrowRight, "3"}} {
		if err := chromedp.Run(ctx, note0(i)); err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			if err := chromedp.Run(ctx, chromedp.KeyEvent(key)); err != nil {
				t.Fatal(err)
			}
		}
	}
	deadline := time.Now().Add(20 * time.Second)
	for v.doneNow() < 3 && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for i, want := range []string{"kept", "lost-something", "lost-all"} {
		if n := &v.session.notes[v.session.order[i]]; n.answer != want || len(n.final) != 0 || len(n.spans) != 1 {
			t.Errorf("note %d: %q with %d spans, want %q", i, n.answer, len(n.final), want)
		}
	}
}

// TestFinishedPage: the command that the page names at the end counts what was decided there, and names the output that was read.
func TestFinishedPage(t *testing.T) {
	ctx := chromium(t)
	v := served(t, 3, "es")
	v.session.asks, v.options.Of = questionNamed("audit"), "masked"
	if err := chromedp.Run(ctx, chromedp.Navigate(v.address())); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := chromedp.Run(ctx, note0(i), chromedp.KeyEvent(kb.Enter)); err != nil {
			t.Fatal(err)
		}
	}
	want := "velum prove sample masked --reading " + v.options.Out
	var said, counts string
	if err := chromedp.Run(ctx, chromedp.Poll(`document.getElementById("message").textContent.match(/velum .*/)?.[0]`, &said),
		chromedp.Text("#counts", &counts, chromedp.ByQuery)); err != nil {
		t.Fatal(err)
	}
	if said != want || counts != "3 decididas, 0 quedan" {
		t.Errorf("%q, %q", said, counts)
	}
}

// theirs is what a second curator made of the notes of served: of the first the
// same, of the second the name with the place, of the third nothing.
const theirs = `{"id":"n0","text":"Vive en Reus con Eva. Eva llama desde Reus, <b>no</b> acude.","spans":[{"start":8,"end":12,"label":"LOCATION"}]}
{"id":"n1","text":"Vive en Reus con Eva. Eva llama desde Reus, <b>no</b> acude.","spans":[{"start":8,"end":12,"label":"LOCATION"},{"start":17,"end":20,"label":"PERSON"}]}
{"id":"n2","text":"Vive en Reus con Eva. Eva llama desde Reus, <b>no</b> acude.","spans":[]}
`

// TestAdjudication: two curators on the same notes. Only those that differ are
// shown, each with the other one's spans; F8 takes these, Backspace gives one's
// own back, Enter decides.
func TestAdjudication(t *testing.T) {
	ctx := chromium(t)
	v := servedAgainst(t, 3, "en", "", theirs)
	if err := chromedp.Run(ctx, chromedp.Navigate(v.address()), note0(0)); err != nil {
		t.Fatal(err)
	}
	if n := len(v.session.order); n != 2 {
		t.Fatalf("%d notes on the page, want the two that differ", n)
	}
	state := func() (text string) {
		if err := chromedp.Run(ctx, chromedp.Evaluate(`note.id + ": " + spans.map((s) => note.text.slice(s.start, s.end) + "/" + s.label).join(" ") + " | " + [...document.querySelectorAll(".theirs")].map((e) => e.textContent).join(" ")`, &text)); err != nil {
			t.Fatal(err)
		}
		return text
	}
	for _, c := range []struct{ key, want string }{
		{"", "n1: Reus/LOCATION | PERSON"},
		{kb.F8, "n1: Reus/LOCATION Eva/PERSON | "},
		{kb.Backspace, "n1: Reus/LOCATION | PERSON"},
		{kb.F8, "n1: Reus/LOCATION Eva/PERSON | "},
		{kb.Enter, ""},
	} {
		if err := chromedp.Run(ctx, chromedp.KeyEvent(c.key)); err != nil {
			t.Fatal(err)
		}
		if c.want == "" {
			continue
		}
		if got := state(); got != c.want {
			t.Errorf("after %q: %q, want %q", c.key, got, c.want)
		}
	}
	if err := chromedp.Run(ctx, note0(1)); err != nil {
		t.Fatal(err)
	}
	if got, want := state(), "n2: Reus/LOCATION | "; got != want {
		t.Errorf("the next note: %q, want %q", got, want)
	}
	if err := chromedp.Run(ctx, chromedp.KeyEvent(kb.F8), chromedp.KeyEvent(kb.Enter)); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(20 * time.Second)
	for v.doneNow() < 2 && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, want := range map[string]string{"n1": "Reus/LOCATION Eva/PERSON", "n2": ""} {
		for i := range v.session.notes {
			n := &v.session.notes[i]
			var got []string
			for _, s := range n.final {
				got = append(got, n.text[s.Start:s.End]+"/"+s.Category.String())
			}
			if n.id == id && (!n.decided || strings.Join(got, " ") != want) {
				t.Errorf("%s: %s, want %s", id, strings.Join(got, " "), want)
			}
		}
	}
}

// TestReflow: at a width of 320 CSS pixels, which is 1280 at 400 %, and of 200,
// which is 400 at 200 %, nothing needs to be scrolled sideways.
func TestReflow(t *testing.T) {
	ctx := chromium(t)
	v := servedAgainst(t, 3, "ca", "", theirs)
	if err := chromedp.Run(ctx, chromedp.Navigate(v.address()), note0(0), chromedp.KeyEvent("?")); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int64{200, 320, 700} {
		var beyond int64
		if err := chromedp.Run(ctx, chromedp.EmulateViewport(width, 450, chromedp.EmulateScale(2)),
			chromedp.Evaluate(`document.documentElement.scrollWidth - document.documentElement.clientWidth`, &beyond)); err != nil {
			t.Fatal(err)
		}
		if beyond > 0 {
			t.Errorf("at %d pixels the page is %d wider than the window", width, beyond)
		}
	}
}

// TestLook writes what the page looks like to VELUM_SCREENSHOTS, for people: in
// both themes, at two widths, as it is and at 200 %.
func TestLook(t *testing.T) {
	dir := os.Getenv("VELUM_SCREENSHOTS")
	if dir == "" {
		t.Skip("VELUM_SCREENSHOTS names no folder")
	}
	ctx := chromium(t)
	for _, look := range []struct{ name, question, theirs string }{{"spans", "", ""}, {"usefulness", "usefulness", ""}, {"adjudication", "", theirs}} {
		v := servedAgainst(t, 3, "es", look.question, look.theirs)
		if err := chromedp.Run(ctx, chromedp.Navigate(v.address()), note0(0), chromedp.KeyEvent("?")); err != nil {
			t.Fatal(err)
		}
		for _, theme := range []string{"light", "dark"} {
			for _, size := range []struct {
				width int64
				zoom  float64
			}{{400, 1}, {1400, 1}, {400, 2}, {1400, 2}} {
				var picture []byte
				if err := chromedp.Run(ctx, chromedp.EmulateViewport(size.width/int64(size.zoom), 900/int64(size.zoom), chromedp.EmulateScale(size.zoom)),
					emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}),
					chromedp.FullScreenshot(&picture, 100)); err != nil {
					t.Fatal(err)
				}
				name := fmt.Sprintf("%s-%s-%d-%g.png", look.name, theme, size.width, size.zoom)
				if err := os.WriteFile(filepath.Join(dir, name), picture, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestKeepAll: a category that is to be kept is marked no more, here and in the notes that follow; the end of the session is said,
// and takes no keys.
func TestKeepAll(t *testing.T) {
	ctx := chromium(t)
	v := served(t, 3, "es")
	var rule, ended string
	var here, next, shown int
	spans := `document.querySelectorAll(".span").length`
	if err := chromedp.Run(ctx, chromedp.Navigate(v.address()), note0(0), chromedp.Text("#rule", &rule), chromedp.KeyEvent("-"), chromedp.Evaluate(spans, &here),
		chromedp.KeyEvent(kb.Enter), note0(1), chromedp.Evaluate(spans, &next), chromedp.KeyEvent(kb.F9), chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Enter),
		chromedp.Text("#place", &ended), chromedp.Evaluate(`[...document.querySelectorAll("button")].filter((b) => b.getClientRects().length).length`, &shown)); err != nil {
		t.Fatal(err)
	}
	if shown != 0 {
		t.Errorf("%d buttons are shown after the end", shown)
	}
	if rule != texts("es")["rule"] || here != 0 || next != 0 || ended != texts("es")["ended"] {
		t.Errorf("rule %q, %d spans, then %d, at the end %q", rule, here, next, ended)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if n := v.decidedShown(); n != 1 {
		t.Errorf("%d notes are decided, want 1", n)
	}
}
