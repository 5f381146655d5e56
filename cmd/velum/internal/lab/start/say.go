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

// summary reports a start to machines; told says the same for people.
type summary struct {
	Kind     string    `json:"message_type"`
	Rows     int64     `json:"rows"`
	Masked   int64     `json:"masked"`
	Aside    int64     `json:"quarantined"`
	Light    string    `json:"light"`
	Sentence string    `json:"sentence"`
	Learned  bool      `json:"learned"`   // this start did a turn with new answers
	Judged   []string  `json:"judged"`    // what learning says of its turns
	InUse    int       `json:"in_use"`    // the turn whose model masks the month; 0: the first model
	By       string    `json:"masked_by"` // the same in words
	In       string    `json:"masked_in"` // folder of the masked month
	Again    bool      `json:"again"`     // it is what was in use before, trained again with all answers
	Read     int       `json:"notes_read"`
	Minutes  float64   `json:"minutes"`
	Ahead    int64     `json:"minutes_ahead"`  // that the next questions may take
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
	s.Next, s.By, s.In = m.next(), m.inUse(), filepath.Join(m.at(maskedName), "masked")
	if m.waiting() {
		each := int64(secondsANote)
		if s.Read > 0 && seconds > 0 {
			each = max(seconds/int64(s.Read), 1)
		}
		s.Ahead = (int64(s.Evenings[len(s.Evenings)-1].Asked)*each + 59) / 60
	}
	if m.Quiet && !m.JSON {
		return nil
	}
	return m.Tell(s, told)
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

// told is a start in words.
const told = `{{define "scores"}}of {{.identifiers}} identifiers in {{.notes}} notes {{.masked}} had been masked, strict F1 {{figure "%.3f" .strict_f1}}
{{end -}}
masked: {{.masked}} of {{.rows}} notes, {{.quarantined}} in quarantine -> {{.masked_in}}
  {{.light}}: {{.sentence}}
{{$asked := 0}}{{range $k, $e := .evenings}}{{$asked = .asked}}{{if .read -}}
evening {{next $k}}: {{.read}} of {{.asked}} questions answered{{with .seconds}} in {{.}} s{{end}}: {{template "scores" .before}}{{with .random}}{{if .notes -}}
{{"  "}}those drawn at random: {{template "scores" .}}{{end}}{{end}}{{end}}{{end}}{{if .notes_read -}}
so far {{.notes_read}} notes were read{{with .minutes}} in {{.}} minutes{{end}}; the month is masked by {{.masked_by}}
{{range .judged}}  {{.}}
{{end}}{{$last := ""}}{{range .agreed}}{{$last = .}}{{end}}{{if .agreed -}}
the last turn kept {{times 100 $last | figure "%.1f"}} % of what the model finds; two above 99 % end the questions
{{end}}{{end}}{{with .done}}that is enough: {{.}}
{{end}}{{if .minutes_ahead}}
next: {{$asked}} questions, some {{.minutes_ahead}} minutes; stop when you are tired, what is decided counts
{{index .next 0}}
then, this evening or the next one:
{{index .next 1}}
{{else}}
next, for every month that comes:
{{index .next 0}}
{{end}}`

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
