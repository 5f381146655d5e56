// Package ensemble combines several taggers into one (NGRID combines a CRF and an LSTM, VIGI three systems).
//
//	in:  taggers of one label set
//	out: one tag a token, and a confidence
//
// It combines either probabilities (marginals: their weighted mean, decoded once) or spans (those of the more precise
// member first). A cascade asks its first member about all lines, and the others only about lines of which the first is
// not sure; that gives most of the gain for a fraction of the work.
package ensemble

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// Kind identifies model files of this package.
const Kind = "ensemble"

// Mode is the way in which members are combined.
type Mode string

// The modes. NGRID found that combining a CRF and a network can be worse than the network alone, so the best mode has
// to be measured.
const (
	Mean     Mode = "mean"     // weighted mean of the marginals, each kind of member as much as the others
	Cascade  Mode = "cascade"  // the first member, and all of them where it is not sure
	Priority Mode = "priority" // all spans; of two that overlap that of the member of higher measured precision in the category (VIGI)
)

// Modes lists all modes.
func Modes() []string { return []string{string(Mean), string(Cascade), string(Priority)} }

// A deferring labeller processes lines of many notes side by side. See bilstm.Labeller.
type deferring interface {
	// Defer queues the runs of wanted tokens of a note.
	Defer(text []byte, tokens []pipeline.Token, matches []pipeline.Match, wanted []bool)
	// Deferred calls do for each run of tokens queued since the last call, with the number of its note (from 0), its
	// first token and its end, and the probabilities of its tags in rows stride apart.
	Deferred(do func(note, from, to int, probs []float32, stride int))
}

// A deciding labeller decides lines of a cascade by itself.
type deciding interface {
	tagger.Spanned
	// LabelSure tags the lines whose best path has at least the probability sure, and returns their confidence;
	// SpanProbs then returns their spans. Tokens of the other lines stay open, and probs gets their marginals. See
	// crf.Labeller.
	LabelSure(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag, sure float32, open []bool,
		probs []float32) float32
}

// labelling is a member's labeller. Members that only propose spans need no marginals.
type labelling interface {
	tagger.Labeller
	tagger.Marginals
}

// An Opener opens the model file of a member.
type Opener func(f *modelfile.File) (tagger.Model, error)

// header describes a model: the fields that all kinds have, and more.
type header struct {
	tagger.Header
	Mode      Mode      `json:"mode"`
	Members   []About   `json:"members"`
	Weights   []float32 `json:"weights"`             // of the members' marginals; their sum is 1
	Threshold float32   `json:"threshold,omitempty"` // of a cascade
	Bias      float32   `json:"bias,omitempty"`      // against O, in what is decoded of means; the dial's comes on top
}

// About describes a member in the header.
type About struct {
	Name      string             `json:"name"`
	Kind      string             `json:"kind"`
	Precision map[string]float32 `json:"precision,omitempty"` // of spans that cover gold, by category, on the measured notes
}

// Model is an ensemble. It is shared by all labellers and is never changed.
type Model struct {
	header  header
	set     *pipeline.TagSet
	members []tagger.Model
}

// Header returns the header. Its training notes are those of the member trained on most notes, because the members
// learn from the same notes and the ensemble's own notes only weight them.
func (m *Model) Header() tagger.Header {
	h := m.header.Header
	for _, member := range m.members {
		if t := member.Header().Training; t.Sequences > h.Training.Sequences {
			h.Training = t
		}
	}
	return h
}

// WithHeader implements tagger.Model.
func (m *Model) WithHeader(h tagger.Header) tagger.Model {
	n := *m
	n.header.Header = m.header.With(h)
	return &n
}

// Members returns the taggers of the ensemble, in their order.
func (m *Model) Members() []tagger.Model { return m.members }

// TagSet returns the tags of the model.
func (m *Model) TagSet() *pipeline.TagSet { return m.set }

// Summary describes in a line how the members are combined: the mode, the members and, for a cascade, the confidence
// below which all are asked.
func (m *Model) Summary() string {
	h := &m.header
	var names []string
	for _, a := range h.Members {
		names = append(names, cmp.Or(a.Name, a.Kind))
	}
	said := fmt.Sprintf("%s of %s", h.Mode, strings.Join(names, ", "))
	if h.Mode == Cascade {
		said += fmt.Sprintf(", threshold %.4g", h.Threshold)
	}
	return said
}

// Mode returns how the members are put together.
func (m *Model) Mode() Mode { return m.header.Mode }

// MarshalHeader returns the header as indented JSON, for `velum model list`.
func (m *Model) MarshalHeader() ([]byte, error) { return json.MarshalIndent(m.header, "", "  ") }

// New returns an ensemble of members, which must have the same tags.
func New(mode Mode, members []tagger.Model) (*Model, error) {
	if len(members) < 2 || len(members) > maxMembers {
		return nil, fmt.Errorf("an ensemble has 2 to %d members, not %d", maxMembers, len(members))
	}
	first := members[0].Header()
	m := &Model{set: members[0].TagSet(), members: members}
	m.header = header{Header: tagger.Header{Kind: Kind, Scheme: first.Scheme, Categories: first.Categories}, Mode: mode}
	for _, member := range members {
		if member.TagSet().String() != m.set.String() {
			return nil, errors.New("the members of an ensemble must have the same tags")
		}
		_, believes := member.NewLabeller(tagger.LabelOptions{CacheBytes: 1 << 16}).(tagger.Marginals)
		if !believes && mode != Priority {
			return nil, fmt.Errorf("a model of kind %s has no marginals for the mode %s", member.Header().Kind, mode)
		}
		m.header.Members = append(m.header.Members, About{Name: member.Header().Name, Kind: member.Header().Kind})
	}
	m.header.Weights = byKind(m.header.Members)
	if mode == Cascade {
		m.header.Threshold = threshold
	}
	return m, nil
}

// byKind gives every kind of member the same weight, shared among its members: networks with several seeds make similar
// errors, a CRF others. On MEDDOCAN dev a CRF and three networks have strict F1 .975 in this way, and .973 with four
// equal weights.
func byKind(members []About) []float32 {
	of := map[string]int{}
	for _, a := range members {
		of[a.Kind]++
	}
	weights := make([]float32, len(members))
	for i, a := range members {
		weights[i] = 1 / float32(len(of)*of[a.Kind])
	}
	return weights
}

const (
	maxMembers = 16
	maxBias    = 20 // more than any dial turns

	// threshold is the default of a cascade: all members read the lines for which the first is less certain than this.
	threshold = 0.95
)

// WithFirst returns the cascade with the given weight for the first member, and the rest shared equally among the
// others.
func (m *Model) WithFirst(share float32) *Model {
	n := *m
	n.header.Weights = slices.Repeat([]float32{(1 - share) / float32(len(m.members)-1)}, len(m.members))
	n.header.Weights[0] = share
	return &n
}

// WithBias returns the ensemble with a bias against tag O; in a cascade it applies only to lines that the first member
// has not decided.
func (m *Model) WithBias(bias float32) *Model {
	n := *m
	n.header.Bias = bias
	return &n
}

// WithThreshold returns the cascade with another threshold.
func (m *Model) WithThreshold(threshold float32) *Model {
	n := *m
	n.header.Threshold = threshold
	return &n
}

// Trained returns the model with a name, a parent and the fingerprints of its resources taken from about, and with the
// precision of its members by category if it was measured.
func (m *Model) Trained(about tagger.Header, precision []map[string]float32) *Model {
	n := *m
	n.header.Name, n.header.Parent, n.header.Fingerprints, n.header.Training.Iterations = about.Name, about.Parent, about.Fingerprints, 1
	n.header.Members = slices.Clone(n.header.Members)
	for k, p := range precision {
		n.header.Members[k].Precision = p
	}
	return &n
}

// Write writes the model with its members. The same model gives the same bytes.
func (m *Model) Write(w io.Writer) error {
	var sections []modelfile.Section
	for i, member := range m.members {
		var file bytes.Buffer
		if err := member.Write(&file); err != nil {
			return err
		}
		sections = append(sections, modelfile.Section{Name: memberSection(i), Data: file.Bytes()})
	}
	return modelfile.Write(w, m.header, sections...)
}

func memberSection(i int) string { return "member" + strconv.Itoa(i) }

// LoadFast opens only the first member of a cascade, which decides most lines by itself. It returns nil for any other
// ensemble.
func LoadFast(f *modelfile.File, open Opener) (tagger.Model, error) {
	var h header
	if err := f.Header(&h); err != nil {
		return nil, err
	}
	if h.Kind != Kind || h.Mode != Cascade {
		return nil, nil
	}
	first, err := f.Part(memberSection(0))
	if err != nil {
		return nil, err
	}
	return open(first)
}

// Load opens the model in f, which must stay open while the model is used.
func Load(f *modelfile.File, open Opener) (*Model, error) {
	var h header
	if err := f.Header(&h); err != nil {
		return nil, err
	}
	if h.Kind != Kind {
		return nil, fmt.Errorf("model is of kind %q, not %q", h.Kind, Kind)
	}
	if err := h.check(); err != nil {
		return nil, err
	}
	members, errs := make([]tagger.Model, len(h.Members)), make([]error, len(h.Members))
	kernels.Parallel(runtime.GOMAXPROCS(0), len(members), func(_, i int) {
		err := pipeline.Try(func() error {
			file, err := f.Part(memberSection(i))
			if err == nil {
				members[i], err = open(file)
			}
			return err
		})
		if err == nil && members[i].Header().Kind == Kind {
			err = damaged("an ensemble in an ensemble")
		}
		if err != nil {
			errs[i] = fmt.Errorf("member %d: %w", i+1, err)
		}
	})
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	m, err := New(h.Mode, members)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", modelfile.ErrDamaged, err)
	}
	h.Scheme, h.Categories = m.header.Scheme, m.header.Categories
	m.header = h
	return m, nil
}

// check tells what is impossible.
func (h *header) check() error {
	if !slices.Contains(Modes(), string(h.Mode)) {
		return damaged("mode")
	}
	if len(h.Members) > maxMembers || len(h.Weights) != len(h.Members) {
		return damaged("members")
	}
	sum := float32(0)
	if !(h.Bias >= 0 && h.Bias <= maxBias) {
		return damaged("bias")
	}
	for _, w := range h.Weights {
		if !(w >= 0) {
			return damaged("weights")
		}
		sum += w
	}
	if math.Abs(float64(sum)-1) > 1e-3 || !(h.Threshold >= 0) {
		return damaged("weights")
	}
	return nil
}

func damaged(what string) error {
	return fmt.Errorf("%w: header: %s", modelfile.ErrDamaged, what)
}
