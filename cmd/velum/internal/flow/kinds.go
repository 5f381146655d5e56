package flow

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/embedded"
	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/bilstm"
	"github.com/velum-health/velum/models/tag/crf"
	"github.com/velum-health/velum/models/tag/dictionary"
	"github.com/velum-health/velum/models/tag/ensemble"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/inverse"
	"github.com/velum-health/velum/models/tag/rules"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/models/word/gazetteer"
)

// A Kind describes one kind of tagger, such as crf or bilstm.
type Kind struct {
	Name string // as the header of its model files has it, and --kind

	// Load opens a model of the kind.
	Load func(f *modelfile.File, in *Opening) (tagger.Model, error)
	// Learns is true if models of the kind are trained from labelled notes, by the trainer of this name in package
	// train. Others are made in another way.
	Learns bool

	Template bool // its trainer wants a feature template and what that looks up
	// DefaultTemplate returns the feature template for a configuration that names none. nil: the profile's.
	DefaultTemplate func(c *option.Config) string
	Anew            bool // its trainer begins with no model: tagger.ErrInit
	Dial            bool // its labellers use LabelOptions.OBias: the recall dial can be measured and used

	Labels  string // the one label set that it knows; "": any
	Without bool   // can be made without labelled notes, from what the configuration names
}

// Kinds is the table of all kinds of taggers. All verbs learn of a kind from this table alone.
var Kinds = []Kind{
	{Name: crf.Kind, Load: loadCRF, Learns: true, Template: true, Dial: true},
	{Name: crf.SVM, Load: loadSVM, Learns: true, Template: true, Anew: true, Dial: true},
	{Name: dictionary.Kind, Load: loadDictionary},
	{Name: bilstm.Kind, Load: loadNetwork, Learns: true, Template: true, DefaultTemplate: networkTemplate, Dial: true},
	{Name: rules.Kind, Load: loadRules},
	{Name: ensemble.Kind, Load: loadEnsemble, Learns: true, Anew: true, Dial: true},
	{Name: inverse.Kind, Load: loadInverse, Learns: true, Template: true, DefaultTemplate: inverseTemplate, Dial: true, Labels: "untyped",
		Without: true},
}

// KindNamed returns the Kind called name.
func KindNamed(name string) (*Kind, bool) {
	i := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return nil, false
	}
	return &Kinds[i], true
}

// Together splits a name such as crf+bilstm into its kinds. A training verb trains one tagger of each and joins them in
// an ensemble.
func Together(name string) []string { return strings.Split(name, "+") }

// KindsThat lists the names of the kinds for which can is true, as "crf or dictionary".
func KindsThat(can func(*Kind) bool) string {
	var names []string
	for i := range Kinds {
		if can(&Kinds[i]) {
			names = append(names, Kinds[i].Name)
		}
	}
	return strings.Join(names, " or ")
}

// Opening holds the arguments of Kind.Load.
type Opening struct {
	Config *option.Config
	Lists  *gazetteer.Gazetteer // of features
	// Open opens a model that is stored within this one: a member of an ensemble or a cascade.
	Open func(f *modelfile.File) (tagger.Model, error)
	// Weights is true if the model is only the start of further training, so that it need not have been trained with
	// the present lists and patterns.
	Weights bool

	stored sync.Map // resources of members: what several have is opened once
}

// resources returns the resources of one member of an ensemble.
func (o *Opening) resources() features.Resources {
	r := Resources(o.Lists)
	open := r.Open
	r.Open = func(kind string, data []byte) (features.Stored, error) {
		once, _ := o.stored.LoadOrStore([2]uint64{xxh3.HashString(kind), xxh3.Hash(data)},
			sync.OnceValues(func() (features.Stored, error) { return open(kind, data) }))
		return once.(func() (features.Stored, error))()
	}
	return r
}

func loadCRF(f *modelfile.File, in *Opening) (tagger.Model, error) {
	if in.Weights {
		return crf.LoadWeights(f, in.resources())
	}
	return crf.Load(f, in.resources())
}

func loadSVM(f *modelfile.File, in *Opening) (tagger.Model, error) {
	return crf.LoadKind(crf.SVM, f, in.resources())
}

func loadDictionary(f *modelfile.File, _ *Opening) (tagger.Model, error) { return dictionary.Load(f) }

func loadRules(f *modelfile.File, in *Opening) (tagger.Model, error) {
	r, err := files.Resources(in.Lists)
	if err != nil {
		return nil, err
	}
	return rules.Load(f, r)
}

func loadNetwork(f *modelfile.File, in *Opening) (tagger.Model, error) {
	return bilstm.Load(f, in.resources())
}

// networkTemplate returns the template of features that the network of the configuration has beside words
// and characters.
func networkTemplate(c *option.Config) string { return bilstm.VariantTemplate(c.Network.Variant) }

// calibrated returns the embedded model that is equal to a member of a cascade, if there is one. That model was
// calibrated after the cascade had been made, so its header has a calibration of the confidences.
func (in *Opening) calibrated(m tagger.Model, err error) (tagger.Model, error) {
	if err != nil || m.Header().Risk != nil || !slices.Contains(embedded.Names(), m.Header().Name) {
		return m, err
	}
	f, err := embedded.Open(m.Header().Name)
	if err != nil {
		return nil, err
	}
	whole, err := in.Open(f)
	if err != nil {
		return nil, err
	}
	alone := whole.Header()
	if alone.Risk = nil; !reflect.DeepEqual(alone, m.Header()) { // another model of that name
		return m, nil
	}
	return whole, nil
}

func loadEnsemble(f *modelfile.File, in *Opening) (tagger.Model, error) {
	if in.Config.Tag.Fast {
		if m, err := ensemble.LoadFast(f, in.Open); m != nil || err != nil {
			return in.calibrated(m, err)
		}
	}
	m, err := ensemble.Load(f, in.Open)
	if err != nil {
		return nil, err
	}
	if threshold := in.Config.Ensemble.Threshold; threshold > 0 {
		m = m.WithThreshold(float32(threshold))
	}
	return m, nil
}
