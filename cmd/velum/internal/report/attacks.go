package report

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"slices"
)

// Attacks holds findings of `velum prove attack --json` (option gate.attacks). The report shows them, and they enter
// its estimate of leaks.
type Attacks struct {
	Tried   []Attack `json:"attacks"`
	Linkage *Linkage `json:"linkage,omitempty"`
}

// Attack holds the findings of one attack.
type Attack struct {
	Name    string         `json:"attack"`
	Verdict string         `json:"verdict"`
	Output  string         `json:"output,omitempty"` // digest of what was attacked; "": labelled notes
	Results []AttackResult `json:"results,omitempty"`
}

// AttackResult holds the findings of an attack for one kind of missed names.
type AttackResult struct {
	Kind      string  `json:"kind"`   // of misses: planted, natural
	Misses    float64 `json:"misses"` // share of names that were planted
	Verdict   string  `json:"verdict"`
	Left      int     `json:"left"`
	Recall    float64 `json:"recall"` // of these, those that it pointed at
	Precision float64 `json:"precision"`
	Guess     float64 `json:"guess"` // precision of guessing
	Named     float64 `json:"named"` // patients
	Patients  int     `json:"patients"`
	Needed    int     `json:"needed"` // left, to tell
}

// Linkage counts the people of a table who match few or no notes.
type Linkage struct {
	People  int `json:"people"`
	Matched int `json:"matched"`
	Alone   int `json:"alone"`
	Few     int `json:"few"` // with fewer notes than AtLeast
	AtLeast int `json:"at_least"`
}

// Share returns the share of people who match fewer than AtLeast notes.
func (l *Linkage) Share() float64 { return float64(l.Few) / float64(max(l.People, 1)) }

// verdicts are those of `velum prove attack`; what was not tried says nothing.
var verdicts = []string{"passed", "failed", "no power", "not tried"}

// recall returns the largest share of missed names that an attack recognized, at the planted miss rate nearest to
// misses; 0 if no attack was run. An attack without power counts as 1.
func (a *Attacks) recall(misses float64) (recall float64) {
	if a == nil {
		return 0
	}
	for _, t := range a.Tried {
		near, told := math.Inf(1), 0.
		for _, r := range t.Results {
			if r.Kind != "planted" {
				continue
			}
			if d := math.Abs(math.Log(r.Misses / max(misses, 1e-9))); d < near {
				if near, told = d, r.Recall; r.Verdict == "no power" {
					told = 1
				}
			}
		}
		recall = max(recall, told)
	}
	return recall
}

// judgeAttacks makes the report red if an attack found more than allowed, and amber if an attack had no power or was
// made on another output.
func (r *Report) judgeAttacks() {
	if r.attacks == nil {
		return
	}
	for _, t := range r.attacks.Tried {
		switch {
		case t.Verdict == "failed":
			r.find(red, "find attack failed", name(t.Name))
		case t.Verdict == "no power":
			r.find(amber, "find attack weak", name(t.Name))
		case t.Verdict == "passed" && t.Output != "" && r.output != "" && t.Output != r.output:
			r.find(amber, "find attack stale", name(t.Name))
		}
	}
}

// errFindings says that a file is none of findings; it quotes nothing.
var errFindings = errors.New("is no output of `velum prove attack --json`")

const maxFindings = 16 << 20

// ReadAttacks reads a file of findings, one JSON object per line. If an attack occurs twice, the last line counts.
func ReadAttacks(path string) (*Attacks, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAttacks(io.LimitReader(f, maxFindings))
}

func readAttacks(r io.Reader) (*Attacks, error) {
	lines, a := bufio.NewScanner(r), new(Attacks)
	lines.Buffer(nil, maxFindings)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var finding struct {
			Kind string `json:"message_type"`
			Attack
			Figures json.RawMessage `json:"figures"`
		}
		if json.Unmarshal(lines.Bytes(), &finding) != nil || finding.Kind != "finding" || !a.take(&finding.Attack, finding.Figures) {
			return nil, errFindings
		}
	}
	if lines.Err() != nil || len(a.Tried) == 0 {
		return nil, errFindings
	}
	return a, nil
}

// take takes a finding in.
func (a *Attacks) take(t *Attack, figures []byte) bool {
	if t.Name == "" || !slices.Contains(verdicts, t.Verdict) {
		return false
	}
	for _, r := range t.Results {
		if !(r.Misses >= 0 && r.Misses < 1 && r.Recall >= 0 && r.Recall <= 1) || !slices.Contains(verdicts, r.Verdict) {
			return false
		}
	}
	if t.Name == "linkage" && len(figures) > 0 {
		l := new(Linkage)
		if json.Unmarshal(figures, l) != nil || l.People < 1 || l.Few < 0 || l.Few > l.People {
			return false
		}
		a.Linkage = l
	}
	a.Tried = append(slices.DeleteFunc(a.Tried, func(was Attack) bool { return was.Name == t.Name }), *t)
	return true
}
