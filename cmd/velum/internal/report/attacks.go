package report

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
)

// Attacks are findings of `velum attack --json` that a report shows and its gate
// heeds.
type Attacks struct {
	Parrot  []Parrot `json:"parrot,omitempty"`
	Linkage *Linkage `json:"linkage,omitempty"`
}

// Parrot is what the attack on surrogates found out of one strategy.
type Parrot struct {
	Strategy  string  `json:"strategy"`
	Misses    float64 `json:"misses"` // share of names that were left
	Recall    float64 `json:"recall"` // of these, those that it pointed at
	Precision float64 `json:"precision"`
	Chance    float64 `json:"chance"`
}

// Linkage is how many people of a table are near to notes.
type Linkage struct {
	People  int `json:"people"`
	Matched int `json:"matched"`
	Alone   int `json:"alone"`
	Few     int `json:"few"` // with fewer notes than AtLeast
	AtLeast int `json:"at_least"`
}

// Share returns the share of people with too few notes.
func (l *Linkage) Share() float64 { return float64(l.Few) / float64(max(l.People, 1)) }

// recall returns what the parrot attack told apart of a strategy where as many, or
// the most, were left; 0 if it was not tried.
func (a *Attacks) recall(strategy string, misses float64) (recall float64) {
	if a == nil {
		return 0
	}
	near := math.Inf(1)
	for _, p := range a.Parrot {
		if d := math.Abs(math.Log(p.Misses / max(misses, 1e-9))); p.Strategy == strategy && d < near {
			near, recall = d, p.Recall
		}
	}
	return recall
}

// errFindings says that a file is none of findings; it quotes nothing.
var errFindings = errors.New("is no output of `velum attack --json`")

const maxFindings = 16 << 20

// ReadAttacks reads a file of findings, a JSON object a line; those of other
// attacks are passed over, and of two of a kind the last counts.
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
			Kind    string          `json:"message_type"`
			Attack  string          `json:"attack"`
			Figures json.RawMessage `json:"figures"`
		}
		if json.Unmarshal(lines.Bytes(), &finding) != nil || finding.Kind != "finding" {
			return nil, errFindings
		}
		if !a.take(finding.Attack, finding.Figures) {
			return nil, errFindings
		}
	}
	if lines.Err() != nil || a.Parrot == nil && a.Linkage == nil {
		return nil, errFindings
	}
	return a, nil
}

// take takes the figures of a finding in.
func (a *Attacks) take(attack string, figures []byte) bool {
	switch attack {
	case "parrot":
		a.Parrot = nil
		if json.Unmarshal(figures, &a.Parrot) != nil {
			return false
		}
		for _, p := range a.Parrot {
			if !(p.Misses > 0 && p.Misses < 1 && p.Recall >= 0 && p.Recall <= 1) {
				return false
			}
		}
	case "linkage":
		a.Linkage = new(Linkage)
		if l := a.Linkage; json.Unmarshal(figures, l) != nil || l.People < 1 || l.Few < 0 || l.Few > l.People {
			return false
		}
	}
	return true
}
