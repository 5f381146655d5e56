package learn

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/cmd/velum/internal/run"
	"github.com/velum-health/velum/models/calibrate"
	"github.com/velum-health/velum/models/tagger"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/score"
)

// turn is what turn.json says. It is a function of options and input: no time,
// no machine.
type turn struct {
	Schema  string `json:"schema"`
	Number  int    `json:"turn"`
	Options string `json:"options"`          // digest of what shaped the turn
	Parent  string `json:"parent,omitempty"` // SHA-256 of the turn.json before

	Template  string            `json:"template,omitempty"`    // name; empty for a model that was given
	Offers    []tagger.Offer    `json:"offers,omitempty"`      // clusterings that one was chosen of
	Answers   int               `json:"answer_sets,omitempty"` // of a person or an oracle, that the model learned from
	Asked     int               `json:"asked,omitempty"`       // notes that the turn asks about
	Slice     sliceRecord       `json:"slice"`
	Selection *report.Selection `json:"selection,omitempty"`
	Groups    []group           `json:"groups"` // what the archive gave to the training set
	Dropped   []int             `json:"dropped,omitempty"`
	Training  trainingRecord    `json:"training"`

	Validation  scores            `json:"validation"`
	Gate        *scores           `json:"gate,omitempty"` // where it is another set
	Gated       []gateLine        `json:"gated"`
	Promoted    bool              `json:"promoted"`
	Chance      *float64          `json:"chance,omitempty"` // of a promotion: probability of as large a gain of F1 between models that are alike
	Calibration calibrationRecord `json:"calibration"`

	Files []fileRecord `json:"files"`

	sum string // SHA-256 of turn.json
}

// sliceRecord is what a turn looked at.
type sliceRecord struct {
	From       int64        `json:"from"` // number of the first note in the archive
	To         int64        `json:"to"`
	Notes      int64        `json:"notes"` // (or lines) that were tagged
	Unsound    int64        `json:"unsound,omitempty"`
	Known      int64        `json:"known,omitempty"`        // labelled, asked or taken before: left out
	Missed     int64        `json:"missed_words,omitempty"` // of those tagged: left out, for a word that is mostly in spans stands in none
	Damaged    []int        `json:"damaged_units,omitempty"`
	Confidence []report.Bin `json:"confidence"` // of those with spans
}

// group is the notes of the archive that one turn gave to the training set.
type group struct {
	Turn  int    `json:"turn"`
	File  string `json:"file"` // below the folder of learning
	Notes int    `json:"notes"`
}

type trainingRecord struct {
	Gold    int `json:"gold"` // notes
	Answers int `json:"answers,omitempty"`
	Chosen  int `json:"chosen"` // notes or lines
	Tokens  int `json:"tokens"`
	Spans   int `json:"spans"`

	Iterations int `json:"iterations"`
	Features   int `json:"features"`
	Weights    int `json:"weights"`
}

// scores are those on a set of labelled notes.
type scores struct {
	Notes      int             `json:"notes"`
	Strict     ratio           `json:"strict"`
	Span       ratio           `json:"span"`
	Masked     ratio           `json:"masked_entities"`
	F1Ends     *[2]float64     `json:"strict_f1_interval,omitempty"`     // 95 %
	MaskedEnds *[2]float64     `json:"masked_recall_interval,omitempty"` // 95 %
	Categories []categoryScore `json:"categories"`
}

type ratio struct {
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
}

type categoryScore struct {
	Category string `json:"category"`
	Gold     int64  `json:"gold"`
	ratio
	MaskedRecall float64 `json:"masked_recall"`
}

// gateLine is a category that would lose recall.
type gateLine struct {
	Category string  `json:"category"`
	Measure  string  `json:"measure"`
	Was      float64 `json:"was"`
	Now      float64 `json:"now"`
}

type calibrationRecord struct {
	Map    calibrate.Map         `json:"map"` // used by the next turn
	Before calibrate.Reliability `json:"before"`
	After  calibrate.Reliability `json:"after"`
}

type fileRecord struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

const (
	turnSchema   = "velum.turn/1"
	turnName     = "turn.json"
	modelName    = "model.velum"
	secondName   = "second.velum"
	selectedName = "selected.parquet"
	chosenName   = "chosen.jsonl"
)

func (t *turn) f1() float64  { return t.Validation.Strict.F1 }
func (t *turn) name() string { return turnFolder(t.Number) }

func turnFolder(n int) string { return fmt.Sprintf("turn-%02d", n) }

// scoresOf keeps of a report what a turn is judged by.
func scoresOf(r *score.Report) scores {
	at := func(m score.Measure) ratio {
		x, _ := r.Measure(m)
		return ratio{report.Rounded(x.Precision), report.Rounded(x.Recall), report.Rounded(x.F1)}
	}
	s := scores{Notes: r.Notes, Strict: at(score.Strict), Span: at(score.Span), Masked: at(score.MaskedEntities)}
	if f1, _ := r.Measure(score.Strict); f1.Interval != nil {
		masked, _ := r.Measure(score.MaskedEntities)
		ends := masked.Sure()
		s.F1Ends = &[2]float64{report.Rounded(f1.Interval.F1[0]), report.Rounded(f1.Interval.F1[1])}
		s.MaskedEnds = &[2]float64{report.Rounded(ends[0]), report.Rounded(ends[1])}
	}
	for _, c := range r.Categories {
		s.Categories = append(s.Categories, categoryScore{c.Category, c.Gold, ratio{report.Rounded(c.Precision), report.Rounded(c.Recall), report.Rounded(c.F1)}, report.Rounded(c.MaskedRecall)})
	}
	return s
}

// notShaping are the options of learning that change no turn, only how many
// there are and where things stand. Inputs count by content, the kind by itself.
var notShaping = []string{
	"learn.kind", "learn.in", "learn.gold", "learn.dev", "learn.gate", "learn.oracle", "learn.turns", "learn.patience", "learn.models", "learn.draws",
}

// digest names everything that shapes a turn, besides the turn before.
func (l *learning) digest() (string, error) {
	h := sha256.New()
	base, err := l.cfg.Hash()
	if err != nil {
		return "", err
	}
	fmt.Fprintf(h, "%s%s\n%s %s %s %s\n", run.OutputVersion, base, l.gold.Digest, l.dev.Digest, l.gate.Digest, l.oracle.Digest)
	for i := range l.archive.Files {
		fmt.Fprintf(h, "%x\n", l.archive.Files[i].SHA256)
	}
	sections := []string{"learn", "choose"}
	if l.cfg.Learn.Kind != flow.Kinds[0].Name {
		sections = append(sections, "network", "ensemble")
	}
	l.cfg.Each(func(key, text string) {
		section, _, _ := strings.Cut(key, ".")
		if slices.Contains(sections, section) && !slices.Contains(notShaping, key) {
			fmt.Fprintf(h, "%s=%s\n", key, text)
		}
	})
	if l.cfg.Learn.Kind != flow.Kinds[0].Name { // turns of before there was a choice are those of the first kind
		fmt.Fprintf(h, "learn.kind=%s\n", l.cfg.Learn.Kind)
	}
	files := append([]string{l.cfg.Learn.Agree}, l.cfg.Learn.Templates...)
	for _, text := range l.cfg.Learn.Clusters {
		_, file, _ := flow.CutClusters(text)
		files = append(files, file)
	}
	for _, name := range files {
		if text, err := os.ReadFile(name); err == nil {
			fmt.Fprintf(h, "%x\n", sha256.Sum256(text))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:10]), nil
}

// resume reads the turns that are there, and forgets those after turn backTo
// if that is not negative.
func (l *learning) resume(backTo int) error {
	for n := 0; ; n++ {
		folder := filepath.Join(l.out, turnFolder(n))
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
			break
		}
		if backTo >= 0 && n > backTo {
			break
		}
		t, err := l.readTurn(folder)
		if err != nil {
			return err
		}
		l.turns = append(l.turns, t)
	}
	if backTo >= len(l.turns) {
		return exit.Errorf(exit.Config, "look at --back-to", "there is no turn %d", backTo)
	}
	if backTo >= 0 {
		if err := l.forget(backTo); err != nil {
			return err
		}
	}
	if err := l.loadAnswers(); err != nil {
		return err
	}
	if len(l.turns) == 0 {
		return nil
	}
	if last := l.last(); last.Options != l.options && backTo < 0 {
		return exit.Errorf(exit.Config, fmt.Sprintf("give --back-to %d to go on with the new ones, or another --out", last.Number),
			"options or input are not those of turn %d", last.Number)
	}
	return errors.Join(l.loadModels(l.last()), l.settle())
}

// forget removes the turns after turn n, the last one first.
func (l *learning) forget(n int) error {
	last := n
	for _, err := os.Stat(filepath.Join(l.out, turnFolder(last+1))); err == nil; _, err = os.Stat(filepath.Join(l.out, turnFolder(last+1))) {
		last++
	}
	for ; last > n; last-- {
		if err := durable.RemoveFolder(nil, filepath.Join(l.out, turnFolder(last))); err != nil {
			return err
		}
	}
	return nil
}

// readTurn reads and checks a turn.
func (l *learning) readTurn(folder string) (*turn, error) {
	name := filepath.Join(folder, turnName)
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	t := new(turn)
	if json.Unmarshal(data, t) != nil || t.Schema != turnSchema {
		return nil, &durable.IntegrityError{Path: name, Cause: "is not the record of a turn by this version of velum"}
	}
	t.sum = fmt.Sprintf("%x", sha256.Sum256(data))
	if n := len(l.turns); t.Number != n || n > 0 && t.Parent != l.last().sum {
		return nil, &durable.IntegrityError{Path: name, Cause: "does not follow the turn before"}
	}
	for _, f := range t.Files {
		have, err := fileOf(filepath.Join(folder, f.Name))
		if err != nil {
			return nil, err
		}
		if have != f {
			return nil, &durable.IntegrityError{Path: filepath.Join(folder, f.Name), Cause: "is not what the turn wrote"}
		}
	}
	return t, nil
}

// fileOf describes a file.
func fileOf(path string) (fileRecord, error) {
	f, err := os.Open(path)
	if err != nil {
		return fileRecord{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return fileRecord{filepath.Base(path), n, hex.EncodeToString(h.Sum(nil))}, err
}

// loadModels opens the models of a turn.
func (l *learning) loadModels(t *turn) (err error) {
	if l.model, err = l.opened(t, modelName); err != nil {
		return err
	}
	l.other = nil
	if l.cfg.Learn.Agree == "" {
		return nil
	}
	if l.other, err = l.opened(t, secondName); err != nil {
		return exit.With(exit.Config, err, "begin anew: the turns before were made without learn.agree")
	}
	return nil
}

// opened opens a model of a turn.
func (l *learning) opened(t *turn, name string) (*flow.Model, error) {
	m, err := flow.OpenModel(filepath.Join(l.out, t.name(), name), l.cfg)
	if err == nil {
		m.Label = flow.LabelOptions(l.cfg)
	}
	return m, err
}

// commit writes turn.json, gives the folder its name, and puts the model into
// use if it passed the gate.
func (l *learning) commit(draft *durable.Draft, t *turn) error {
	defer l.spent.on("commit")()
	entries, err := os.ReadDir(filepath.Dir(draft.Path("x")))
	if err != nil {
		return err
	}
	for _, e := range entries {
		f, err := fileOf(draft.Path(e.Name()))
		if err != nil {
			return err
		}
		t.Files = append(t.Files, f)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", " ")
	if err := e.Encode(t); err != nil {
		return err
	}
	t.sum = fmt.Sprintf("%x", sha256.Sum256(b.Bytes()))
	if err := draft.Write(turnName, b.Bytes()); err != nil {
		return err
	}
	if err := draft.Commit(); err != nil {
		return err
	}
	l.turns = append(l.turns, t)
	return errors.Join(l.loadAnswers(), l.settle())
}

// settle brings what follows from the turns up to date, after a turn or a
// start: the promoted model and the report.
func (l *learning) settle() error {
	for i := len(l.turns) - 1; i >= 0; i-- {
		if l.turns[i].Promoted {
			if err := l.promoteTurn(l.turns[i]); err != nil {
				return err
			}
			break
		}
	}
	return l.report()
}

// promoteTurn puts the model of a turn into use, unless it is.
func (l *learning) promoteTurn(t *turn) error {
	dir := l.cfg.Learn.Models
	if dir == "" {
		dir = filepath.Join(l.out, "models")
	}
	data, err := os.ReadFile(filepath.Join(l.out, t.name(), modelName))
	if err != nil {
		return err
	}
	folder := commit.ModelFolder{Dir: dir}
	if _, current, err := folder.Current(); err == nil && bytes.Equal(current, data) {
		return nil
	}
	_, err = folder.Promote(data, time.Now())
	return err
}
