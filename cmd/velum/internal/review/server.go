package review

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/offset"
)

//go:embed page
var pages embed.FS

// server serves the page of one session to one browser on this machine. The first browser with the token of the address
// gets the cookie; all others are refused.
type server struct {
	session *session
	options *Options
	host    string // of the Host header

	mu     sync.Mutex // requests come side by side; notes, journal and token are behind it
	token  string     // "" once it was used
	cookie string
	index  offset.Index
}

// cookieName returns the name of the session's only cookie. Browsers store cookies per host without the port, so two
// sessions with one name would lock each other out.
func (v *server) cookieName() string {
	_, port, _ := net.SplitHostPort(v.host)
	return "velum-" + port
}

// policy is the content security policy of the page: only its own files.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// maxBody is the largest size in bytes of the body of a request, which holds the spans of one note.
const maxBody = 8 << 20

func secretText() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	return hex.EncodeToString(b[:])
}

// serve listens until the context ends or the page says that it is done.
func (s *session) serve(ctx context.Context, c *console.Console, o *Options) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)))
	if err != nil {
		return exit.Misconfigured(err, "name a free port with --port")
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	v := newServer(s, o, listener.Addr().String())
	h := &http.Server{Handler: v.handler(end), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 1 << 16, ErrorLog: nil}
	stop := context.AfterFunc(ctx, func() {
		late, done := context.WithTimeout(context.Background(), time.Second)
		defer done()
		_ = h.Shutdown(late) // what was decided is in the journal
	})
	defer stop()
	if s.unseen > 0 {
		c.Log.Warn("notes without a text that can be shown are left out", "notes", s.unseen)
	}
	if _,
		err := c.Printf("%d notes, %d decided. Open this address, once, on this machine:\n\n  %s\n\nCtrl-C ends the session; what is decided stays decided.\n",
		len(s.order), s.done(), v.address()); err != nil {
		return err
	}
	if err := h.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// address returns the address that velum prints. The first browser that opens it is let in.
func (v *server) address() string { return "http://" + v.host + "/?token=" + v.token }

func newServer(s *session, o *Options, host string) *server {
	return &server{session: s, options: o, host: host, token: secretText(), cookie: secretText()}
}

// handler is the routes; end ends the session.
func (v *server) handler(end func()) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", v.file("review.html", "text/html; charset=utf-8"))
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) { v.refuse(w, "nowhere", http.StatusNotFound) })
	mux.HandleFunc("GET /review.js", v.file("review.js", "text/javascript; charset=utf-8"))
	mux.HandleFunc("GET /review.css", v.file("review.css", "text/css; charset=utf-8"))
	mux.HandleFunc("GET /setup", v.setup)
	mux.HandleFunc("GET /note", v.note)
	mux.HandleFunc("POST /decide", v.decide)
	mux.HandleFunc("GET /search", v.search)
	mux.HandleFunc("POST /end", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"ended": true})
		end()
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers(w.Header())
		if r.Host != v.host { // another name for this machine: DNS rebinding
			http.Error(w, "wrong host", http.StatusMisdirectedRequest)
			return
		}
		if !v.letIn(w, r) {
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func headers(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// letIn checks the cookie, or exchanges the token for it. Requests that change something must come from the page
// itself.
func (v *server) letIn(w http.ResponseWriter, r *http.Request) bool {
	if token := r.URL.Query().Get("token"); token != "" && r.URL.Path == "/" {
		if !v.trade(token) {
			v.refuse(w, "used", http.StatusForbidden)
			return false
		}
		http.SetCookie(w, &http.Cookie{Name: v.cookieName(), Value: v.cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return false
	}
	cookie, err := r.Cookie(v.cookieName())
	if err != nil || subtle.ConstantTimeCompare([]byte(cookie.Value), []byte(v.cookie)) != 1 {
		v.refuse(w, "stranger", http.StatusForbidden)
		return false
	}
	if origin := r.Header.Get("Origin"); r.Method != http.MethodGet && origin != "http://"+v.host || origin != "" &&
		origin != "http://"+v.host {
		http.Error(w, "another page asks", http.StatusForbidden)
		return false
	}
	return true
}

// lang is the language of the page.
func (v *server) lang() string { return cmp.Or(v.options.Lang, "es") }

// refuse answers a request with the reason why it is refused, in the language of the page.
func (v *server) refuse(w http.ResponseWriter, word string, status int) {
	http.Error(w, texts(v.lang())[word], status)
}

// trade exchanges the token for the cookie; the token is then invalid.
func (v *server) trade(token string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.token == "" || subtle.ConstantTimeCompare([]byte(token), []byte(v.token)) != 1 {
		return false
	}
	v.token = ""
	return true
}

func (v *server) file(name, kind string) http.HandlerFunc {
	data, err := pages.ReadFile("page/" + name)
	if err != nil {
		panic("review: no page " + name) // a bug: the files are embedded
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(data) // the browser went away
	}
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // the browser went away
}

// setup tells the page words, categories and keys.
func (v *server) setup(w http.ResponseWriter, _ *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	lang := v.lang()
	first := 0
	for i, n := range v.session.order {
		if !v.session.notes[n].decided {
			first = i
			break
		}
	}
	asks := v.session.asks
	labels := lettered(v.session.labels)
	if !asks.marks {
		labels = nil
	}
	words := wordsOf(lang, asks)
	words["guideline"] = cmp.Or(v.session.guideline, words["guideline"])
	answer(w, map[string]any{
		"lang": lang, "words": words, "labels": labels, "answers": answersOf(lang, asks), "keys": keysOf(v.options, asks),
		"notes": len(v.session.order), "decided": v.decidedShown(), "first": first, "next": v.session.next(v.options),
	})
}

func (v *server) decidedShown() (n int) {
	for _, i := range v.session.order {
		if v.session.notes[i].decided {
			n++
		}
	}
	return n
}

// shownSpan is a span on the page: offsets count UTF-16 units.
type shownSpan struct {
	Start int     `json:"start"`
	End   int     `json:"end"`
	Label string  `json:"label"`
	Score float32 `json:"score"`
}

// note sends the note of the given place in the order.
func (v *server) note(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	at, err := strconv.Atoi(r.URL.Query().Get("at"))
	if err != nil || at < 0 || at >= len(v.session.order) {
		http.Error(w, "no such note", http.StatusNotFound)
		return
	}
	n := &v.session.notes[v.session.order[at]]
	shown := v.shown(n.text, n.tokens, n.shown(), n.other)
	if !v.session.asks.marks {
		original := shown
		shown = v.shown(masked(n))
		shown["original"] = original
	}
	maps.Copy(shown, map[string]any{
		"at": at, "id": inOrder(n.id), "decided": n.decided, "doubt": n.doubt(), "about": strings.TrimSpace(n.about + " " + turned(n.text)),
		"answer": n.answer, "against": n.against,
	})
	answer(w, shown)
}

// shown returns a text for the page, with its tokens and spans in UTF-16 units.
func (v *server) shown(text string, tokens []pipeline.Token, spans, other []pipeline.Span) map[string]any {
	v.index.Reset([]byte(text), offset.UTF16)
	places := make([][2]int, len(tokens))
	for i, t := range tokens {
		places[i] = [2]int{v.unit(t.Start), v.unit(t.End)}
	}
	return map[string]any{"text": inOrder(text), "tokens": places, "spans": v.shownSpans(spans), "other": v.shownSpans(other)}
}

// masked returns the masked note as its readers see it, with a token such as [PERSON] in place of each span.
func masked(n *note) (text string, tokens []pipeline.Token, spans, other []pipeline.Span) {
	var b strings.Builder
	at := int32(0)
	keep := func(end int32) { // the text up to end, and its tokens
		moved := int32(b.Len()) - at
		for _, t := range n.tokens {
			if at <= t.Start && t.End <= end {
				tokens = append(tokens, pipeline.Token{Start: t.Start + moved, End: t.End + moved})
			}
		}
		b.WriteString(n.text[at:end])
	}
	for _, s := range n.shown() {
		keep(s.Start)
		start := int32(b.Len())
		b.WriteString("[" + s.Category.String() + "]")
		end := int32(b.Len())
		tokens = append(tokens, pipeline.Token{Start: start, End: end})
		spans = append(spans, pipeline.Span{Start: start, End: end, Category: s.Category, Score: s.Score})
		at = s.End
	}
	keep(int32(len(n.text)))
	return b.String(), tokens, spans, nil
}

// inOrder replaces characters that reverse the displayed order by a visible sign, so that a person marks what is
// stored. Offsets do not change.
func inOrder(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.Is(unicode.Bidi_Control, c) {
			return '\u2426'
		}
		return c
	}, text)
}

// turned returns the code points of these characters, for the person who reads the note; "" if the text has none.
func turned(text string) string {
	var names []string
	for _, c := range text {
		if name := fmt.Sprintf("U+%04X", c); unicode.Is(unicode.Bidi_Control, c) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

func (v *server) unit(at int32) int {
	u, _ := v.index.FromByte(int(at)) // tokens and spans lie on borders of characters
	return u
}

func (v *server) shownSpans(spans []pipeline.Span) []shownSpan {
	shown := make([]shownSpan, len(spans))
	for i, s := range spans {
		shown[i] = shownSpan{v.unit(s.Start), v.unit(s.End), s.Category.String(), s.Score}
	}
	return shown
}

// decide records a decision: the spans that the page sends for a note.
func (v *server) decide(w http.ResponseWriter, r *http.Request) {
	var body struct {
		At     *int        `json:"at"`
		Spans  []shownSpan `json:"spans"`
		Answer string      `json:"answer"`
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil || json.Unmarshal(data, &body) != nil || body.At == nil || body.Spans == nil && body.Answer == "" {
		http.Error(w, "no decision", http.StatusBadRequest)
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if *body.At < 0 || *body.At >= len(v.session.order) {
		http.Error(w, "no such note", http.StatusNotFound)
		return
	}
	i := v.session.order[*body.At]
	spans, ok := v.spans(i, body.Spans)
	if !ok || v.session.check(i, spans, body.Answer) != nil {
		http.Error(w, errSpans.Error(), http.StatusBadRequest)
		return
	}
	if err := v.session.decide(i, spans, body.Answer); err != nil {
		http.Error(w, "the decision could not be written to the disk", http.StatusInsufficientStorage)
		return
	}
	answer(w, map[string]any{"decided": v.decidedShown()})
}

// spans converts the spans that the page sends from UTF-16 units to bytes. It returns false if one of them is not in
// the note.
func (v *server) spans(i int, shown []shownSpan) ([]pipeline.Span, bool) {
	v.index.Reset([]byte(v.session.notes[i].text), offset.UTF16)
	spans := make([]pipeline.Span, 0, len(shown))
	for _, s := range shown {
		start, ok1 := v.index.ToByte(s.Start)
		end, ok2 := v.index.ToByte(s.End)
		c, err := pipeline.ParseCategory(s.Label)
		if !ok1 || !ok2 || err != nil {
			return nil, false
		}
		spans = append(spans, pipeline.Span{Start: int32(start), End: int32(end), Category: c, Score: 1, Source: pipeline.FromGold})
	}
	slices.SortFunc(spans, pipeline.ByStart)
	return spans, true
}

// search finds the next note, from the given place on, whose text or id contains the words.
func (v *server) search(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	query := strings.ToLower(r.URL.Query().Get("q"))
	from, _ := strconv.Atoi(r.URL.Query().Get("from"))
	count := len(v.session.order)
	for k := 0; k < count && query != ""; k++ {
		at := ((from+k)%count + count) % count
		n := &v.session.notes[v.session.order[at]]
		if strings.Contains(strings.ToLower(n.text), query) || strings.Contains(strings.ToLower(n.id), query) {
			answer(w, map[string]any{"at": at})
			return
		}
	}
	answer(w, map[string]any{"at": -1})
}
