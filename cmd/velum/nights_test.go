package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

// year is an archive into which a file comes every day of a simulated clock, and an output that grows by it night after night.
type year struct {
	*testing.T
	dir   string
	texts []string         // of notes: those of the last file, and those that nobody has had yet
	last  string           // file
	rows  map[string]int64 // of all files that the output is to hold, by path
	flags []string
}

// velum runs a verb in this process and returns what it printed.
func (y *year) velum(want exit.Code, args ...string) string {
	y.Helper()
	var out, log bytes.Buffer
	if code := start(args, &out, &log, nil); code != want {
		y.Fatalf("velum %v: exit code %d, want %d: %s%s", args, code, want, out.String(), log.String())
	}
	return out.String()
}

func (y *year) path(name string) string { return filepath.Join(y.dir, name) }

// put writes the file of a day with so many notes, or corrects one of those that it has.
func (y *year) put(day time.Time, notes int, corrected bool) {
	y.Helper()
	name := day.Format("2006/01/notes-2006-01-02.csv")
	if corrected {
		y.texts[0] = "Se corrige: sin cambios desde la visita anterior."
	} else {
		y.texts = y.texts[y.rows[y.last]:]
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write([]string{"note_id", "text"})
	for i, text := range y.texts[:notes] {
		_ = w.Write([]string{day.Format("20060102-") + strconv.Itoa(i), text})
	}
	w.Flush()
	y.write(name, b.String())
	y.rows[name], y.last = int64(notes), name
}

func (y *year) write(name, text string) {
	y.Helper()
	at := filepath.Join(y.dir, "in", name)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		y.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		y.Fatal(err)
	}
}

// night runs velum night. It writes a mail where, and only where, wrong says that something is, and its ledger adds up.
func (y *year) night(wrong exit.Code, more ...string) (mail string) {
	y.Helper()
	mail = y.velum(wrong, append(append([]string{"night", "--in", y.path("in"), "--out", y.path("out")}, y.flags...), more...)...)
	if (mail != "") != (wrong != exit.Done) {
		y.Fatalf("exit code %d, and the mail is %q", wrong, mail)
	}
	y.velum(exit.Done, "check", y.path("out"))
	ledger, err := os.ReadFile(y.path("out.private/rows.csv"))
	if err != nil {
		y.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(ledger)).ReadAll()
	if err != nil {
		y.Fatal(err)
	}
	got := map[string]int64{}
	for _, line := range lines[1:] {
		rows, _ := strconv.ParseInt(line[3], 10, 64)
		if got[line[0]] += rows; line[1] == "unread" {
			delete(got, line[0])
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(y.rows) {
		y.Fatalf("the ledger has %v, and the archive had %v", got, y.rows)
	}
	return mail
}

func (y *year) light() (light string, read int64) {
	y.Helper()
	data, err := os.ReadFile(y.path("out.private/report.json"))
	if err != nil {
		y.Fatal(err)
	}
	var r struct {
		Light string
		Risk  struct{ Reading *struct{ Read int64 } }
	}
	if err := json.Unmarshal(data, &r); err != nil {
		y.Fatal(err)
	}
	if r.Risk.Reading != nil {
		read = r.Risk.Reading.Read
	}
	return r.Light, read
}

// TestYearOfNights: a file comes every night of a simulated clock; one comes late, one is corrected, one of the month
// before vanishes, and things come that are no notes. A mail is written in just those nights in which somebody has to
// look. At the end of a month somebody
// reads 200 notes: the light is green with the third month, at 600 readings in all, and at the end of every later one.
func TestYearOfNights(t *testing.T) {
	const read = 200
	months, nights, notes := 4, 5, 100
	if *longForm {
		months, nights, notes = 12, 28, 18
	}
	y := &year{T: t, dir: t.TempDir(), rows: map[string]int64{}}
	synth := func(notes, seed int, name string) {
		y.velum(0, "teach", "synth", "--notes", strconv.Itoa(notes), "--seed", strconv.Itoa(seed), "--split", "train", "--density", "5", "--out", y.path(name))
	}
	synth(300, 3, "train.jsonl")
	synth(300, 4, "held.jsonl")
	synth((months*nights+3)*notes, 5, "all.jsonl")
	y.velum(0, "teach", "train", "--train", y.path("train.jsonl"), "--out", y.path("plain.velum"), "--set", "train.iterations=5", "--quiet")
	y.velum(0, "model", "measure", "--model", y.path("plain.velum"), "--held", y.path("plain.velum")+"="+y.path("held.jsonl"), "--out", y.path("m.velum"))
	data, err := os.ReadFile(y.path("all.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var note struct{ Text string }
		if err := json.Unmarshal(line, &note); err != nil {
			t.Fatal(err)
		}
		y.texts = append(y.texts, note.Text)
	}
	y.flags = []string{"--set", "tag.model=" + y.path("m.velum"), "--set", "report.expected=0.9", "--set", "report.read_seconds=0"}

	mails, all := 0, int64(0)
	for month := range months {
		day := func(night int) time.Time { return time.Date(2026, time.Month(1+month), 1+night, 0, 0, 0, 0, time.UTC) }
		for night := range nights {
			wrong := exit.Done
			switch night {
			case 1: // late: its file comes two nights later
			case 2:
				y.put(day(2), notes, false)
				y.write("2026/export.xlsx", "no table of text")
				wrong = exit.Quarantined
			case 3:
				if err := os.Remove(filepath.Join(y.dir, "in", "2026/export.xlsx")); err != nil {
					t.Fatal(err)
				}
				y.put(day(2), notes, true) // a new version
				y.put(day(1), notes, false)
				y.put(day(3), notes, false)
			default:
				y.put(day(night), notes, false)
			}
			if night == nights-1 && month == 1 { // its notes stay in the output
				if err := os.Remove(filepath.Join(y.dir, "in", day(0).AddDate(0, -1, 0).Format("2006/01/notes-2006-01-02.csv"))); err != nil {
					t.Fatal(err)
				}
			}
			if mail := y.night(wrong); wrong != exit.Done {
				mails++
				if !strings.Contains(mail, "export.xlsx") {
					t.Errorf("the mail does not name the file: %s", mail)
				}
			}
		}
		y.night(exit.Done) // nothing new
		y.night(exit.Done, "--audit", strconv.Itoa(read))
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		journal := y.path(fmt.Sprintf("read-%02d.jsonl", month))
		c := exec.Command(self, "review", "--ask", "audit", "--of", y.path("out"), "--in", y.path("in"), "--out", journal, "--reader", "Ada")
		c.Env = append(os.Environ(), testProcess+"=velum", "VELUM_CONFIG=")
		if err := readOnPage(c, read); err != nil {
			t.Fatal(err)
		}
		y.velum(0, "prove", "sample", y.path("out"), "--reading", journal)
		y.night(exit.Done)
		all += read
		want := "amber"
		if month >= 2 {
			want = "green"
		}
		if light, got := y.light(); light != want || got != all {
			t.Errorf("month %d: the light is %s after %d readings, want %s after %d", month+1, light, got, want, all)
		}
	}
	if mails != months {
		t.Errorf("%d mails in %d months", mails, months)
	}
}
