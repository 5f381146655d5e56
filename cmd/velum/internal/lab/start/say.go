package start

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/lab/turns"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
)

// summary reports a start to machines; lines says the same for people.
type summary struct {
	Kind     string    `json:"message_type"`
	Rows     int64     `json:"rows"`
	Masked   int64     `json:"masked"`
	Aside    int64     `json:"quarantined"`
	Light    string    `json:"light"`
	Sentence string    `json:"sentence"`
	Learned  bool      `json:"learned"` // this start did a turn with new answers
	Judged   []string  `json:"judged"`  // what learning says of its turns
	InUse    int       `json:"in_use"`  // the turn whose model masks the month; 0: the first model
	Again    bool      `json:"again"`   // it is what was in use before, trained again with all answers
	Read     int       `json:"notes_read"`
	Minutes  float64   `json:"minutes"`
	Agreed   []float64 `json:"agreed"`         // by turn: with the model before
	Done     string    `json:"done,omitempty"` // why nothing is asked any more
	Evenings []evening `json:"evenings"`
	Next     []string  `json:"next"`
}

// masked returns the sentence about the masked month.
func (m *month) masked() error {
	manifest, err := commit.ReadManifest(commit.PrivateDir(m.at(maskedName)))
	if err != nil {
		return err
	}
	s := &m.said
	s.Rows, s.Masked, s.Aside = manifest.Counts.Rows, manifest.Counts.Masked, manifest.Counts.Quarantined
	s.Light, s.Sentence, _, err = report.Said(durable.OS, commit.PrivateDir(m.at(maskedName)))
	return err
}

// judged returns the sentence about the turns of learning: whether a model is better, on how many notes, and which is in use.
func (m *month) judged() error {
	var learned turns.Report
	name := m.at(learnedName, "report.json")
	if _, err := turns.Decode(name, turns.ReportSchema, &learned); err != nil {
		return err
	}
	if n := learned.Promoted; n < 0 || n > 0 && (n >= len(learned.Turns) || learned.Turns[n] == nil) {
		return &durable.IntegrityError{Path: name, Cause: "is not the report of learning"}
	}
	m.said.Judged, m.said.InUse = append([]string{learned.Sentence}, learned.Remarks...), learned.Promoted
	m.said.Again = m.said.InUse > 0 && !learned.Turns[m.said.InUse].Promoted
	return nil
}

// secondsANote is the assumed time per question before any was answered.
const secondsANote = 12

// print says what was done, what it cost, and the command that comes next.
func (m *month) print() error {
	s := &m.said
	s.Kind, s.Evenings, s.Agreed = "start", m.state.Evenings, m.state.Agreed
	if err := m.judged(); err != nil {
		return err
	}
	seconds := int64(0)
	for _, e := range s.Evenings {
		s.Read, seconds = s.Read+e.Read, seconds+e.Seconds
	}
	s.Minutes = float64(seconds/6) / 10
	s.Next = m.next()
	if m.JSON {
		return m.Console.WriteJSON(s)
	}
	if m.Quiet {
		return nil
	}
	_, err := m.Printf("%s", []byte(strings.Join(m.lines(seconds), "\n")+"\n"))
	return err
}

// next returns the next commands. The command for later months repeats the options for reading and masking.
func (m *month) next() (all []string) {
	config := ""
	if !m.Own {
		config = " --config " + exit.Quoted(m.at(configName))
	}
	if m.waiting() {
		k := len(m.state.Evenings) - 1
		return []string{"velum review --in " + exit.Quoted(m.questions(k)) + " --out " + exit.Quoted(m.answers(k)) + config, m.again()}
	}
	return []string{"velum run --in ARCHIVE --out DIR --model " + exit.Quoted(m.at(learnedName, "models")) + config}
}

// again is the command of this evening, for the next one.
func (m *month) again() string {
	words := []string{"velum"}
	for _, word := range m.Typed {
		if !slices.Contains([]string{"--more", "--json", "--quiet", "-q"}, word) {
			words = append(words, exit.Quoted(word))
		}
	}
	return strings.Join(words, " ")
}

// lines are the words of a start.
func (m *month) lines(seconds int64) (all []string) {
	s := &m.said
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	add("masked: %d of %d notes, %d in quarantine -> %s", s.Masked, s.Rows, s.Aside, exit.Printable(filepath.Join(m.at(maskedName), "masked")))
	add("  %s: %s", s.Light, s.Sentence)
	for k, e := range m.state.Evenings {
		if e.Read == 0 {
			continue
		}
		add("evening %d: %d of %d questions answered%s: %s", k+1, e.Read, e.Asked, in(e.Seconds), e.Before)
		if e.Random.Notes > 0 {
			add("  those drawn at random: %s", e.Random)
		}
	}
	if s.Read > 0 {
		add("so far %d notes were read%s; the month is masked by %s", s.Read, in(seconds), m.inUse())
		for _, sentence := range s.Judged {
			add("  %s", sentence)
		}
		if n := len(m.state.Agreed); n > 0 {
			add("the last turn changed %.1f %% of what the model finds; two below 1 %% end the questions", 100*(1-m.state.Agreed[n-1]))
		}
	}
	if s.Done != "" {
		add("that is enough: %s", s.Done)
	}
	if m.waiting() {
		each := int64(secondsANote)
		if s.Read > 0 && seconds > 0 {
			each = max(seconds/int64(s.Read), 1)
		}
		n := m.state.Evenings[len(m.state.Evenings)-1].Asked
		add("\nnext: %d questions, some %s; stop when you are tired, what is decided counts\n%s", n, minutes(int64(n)*each),
			exit.Printable(s.Next[0]))
		add("then, this evening or the next one:\n%s", exit.Printable(s.Next[1]))
		return all
	}
	add("\nnext, for every month that comes:\n%s", exit.Printable(s.Next[0]))
	return all
}

// inUse names the model that masks the month.
func (m *month) inUse() string {
	switch {
	case m.said.Again:
		return "what was in use before, trained again with all answers"
	case m.said.InUse > 0:
		return fmt.Sprintf("the model of turn %d of %d", m.said.InUse, m.turns()-1)
	}
	return "the first model"
}

// String returns how many identifiers the model masked and its strict F1, as a sentence.
func (s *scores) String() string {
	return fmt.Sprintf("of %d identifiers in %d notes %d had been masked, strict F1 %.3f", s.Gold, s.Notes, s.Masked, s.StrictF1)
}

// in formats how long the answers took; "" if they were not given on the page.
func in(seconds int64) string {
	if seconds == 0 {
		return ""
	}
	return " in " + minutes(seconds)
}

func minutes(seconds int64) string {
	if seconds < 90 {
		return fmt.Sprintf("%d s", seconds)
	}
	return fmt.Sprintf("%d minutes", (seconds+30)/60)
}
