package option

import (
	_ "embed"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/models/embedded"
	"github.com/velum-health/velum/models/release/anonymity"
	"github.com/velum-health/velum/models/tag/bilstm"
	"github.com/velum-health/velum/models/tag/ensemble"
	"github.com/velum-health/velum/models/tag/inverse"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/input"
)

// Config holds all options, in the order in which notes pass the stages. The table below documents each option and its
// default; help, schema, printing and checking are generated from it.
type Config struct {
	Profile  string
	Read     Read
	Tag      Tag
	Inverse  Inverse
	Patterns Patterns
	People   People
	Resolve  Resolve
	Mask     Mask

	Anonymity Anonymity

	Choose   Choose
	Gate     Gate
	Write    Write
	Run      Run
	Report   Report
	Train    Train
	SVM      SVM
	Network  Network
	Ensemble Ensemble
	Learn    Learn
	Key      Key

	// Lenient lets notes pass that a run would quarantine, for commands that show the quarantine. It is not an option.
	Lenient bool

	// Cache is the memory in bytes for cached scores of words; 0: cacheBytes of package flow. A stream uses less. It is
	// not an option.
	Cache int

	origins map[string]origin
}

// Read holds the options of reading the archive.
type Read struct {
	Columns      Columns
	Format       string
	Encoding     string
	Delimiter    string
	Categories   string
	Languages    []string
	Labels       map[string]string
	SkipUnknown  bool
	Keep         []string
	IDs          string
	Opaque       bool
	MaxNoteBytes size
	UnitNotes    int
	SHA256       string
}

// Columns names the columns of the input by their use.
type Columns struct {
	ID                          []string
	Text, Patient, Date, Center string
}

// Tag holds the options of the tagger: the model and its recall.
type Tag struct {
	Model  string
	Recall float64
	Fast   bool

	Confidence string
	Gazetteers []string
}

// Inverse holds the options of the inverse model, which masks every word that is not known to be safe: its thresholds,
// its lists, and how it is trained.
type Inverse struct {
	Dial    float64
	Low     float64
	High    float64
	Never   []string
	Words   string
	Learner string
}

// Patterns holds the options of pattern matching.
type Patterns struct {
	Use bool
}

// People holds the tables of known people and of people who object.
type People struct {
	Table   string
	Columns map[string]string
	Exclude string

	Unmatched string
	Others    []string
}

// Resolve holds the options of stages/resolve, which turns candidates into spans.
type Resolve struct {
	Always     []string
	AlwaysFile string
	Never      []string
	NeverFile  string
	Rules      bool
	SkipRules  []string
	Packs      []string
	Words      []string
	Gazetteers []string
	Spans      string
}

// Mask holds the options of the operators that replace spans.
type Mask struct {
	Policy    string
	Operators map[string]string
	Purpose   string
	Calendar  []string
	Rare      string
	RareRules []string
	Names     string // table of names

	WithoutPatient bool

	Recipients, Again, Ledger string // of releases
}

// Anonymity holds the options of k-anonymity.
type Anonymity struct {
	K, L     int
	T        float64
	Columns  map[string]string
	Text     map[string]string
	Suppress float64
	Releases string
}

// Choose holds the options of the selection set and the curators' list.
type Choose struct {
	Use           bool
	MinConfidence float64
	K             int
	Classes       map[string]float64
	Review        int
}

// Gate holds the limits above which an output is refused: probability of a leak, findings of attacks, drift.
type Gate struct {
	Missed  map[string]string
	Attacks string
	MaxLeak float64
	Drift   bool
}

// Write holds the options of the output files.
type Write struct {
	RowGroupRows   int
	Spans          bool
	Group          bool
	MaxQuarantined float64
}

// Run holds the options of the run as a whole: workers, memory, time limits.
type Run struct {
	Workers     int
	Units       int
	MemoryLimit size
	NoteTimeout time.Duration
	Deadline    time.Duration
	Changed     string
	Vanished    string
	Recheck     string
}

// Report holds the options of the report pages.
type Report struct {
	Lang     string
	Expected float64
	Proven   float64

	ReadSeconds int
}

// Train holds the options of training a tagger.
type Train struct {
	Template, Scheme     string
	L2, L1, Bias         float64
	MinCount, Iterations int
	Clusters             []string
}

// SVM holds the options of training a support vector machine.
type SVM struct{ Cost float64 }

// Network holds the architecture and the training options of a neural network.
type Network struct {
	Variant string
	Units   int
	Epochs  int
	Rate    float64
	Noise   float64
	Blind   float64
	Vectors string
	Seed    int
}

// Ensemble holds the options of combining several taggers.
type Ensemble struct {
	Mode      string
	Members   []string
	Threshold float64
	First     float64
	Bias      float64
}

// Learn holds the options of self-learning.
type Learn struct {
	In     []string
	Gold   []string
	Dev    []string
	Labels string
	Kind   []string
	Slice  int
	Turns  int
	Start  string
	Again  bool // the archive comes again when it ends, without the notes that were taken; no option
}

// Key names the file of the secret key.
type Key struct{ File string }

// Workers returns the number of workers of each heavy stage: the option, or the number of cores that Go may use.
func (c *Config) Workers() int {
	if c.Run.Workers > 0 {
		return c.Run.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// Text returns the value of an option as text, as `velum run options` shows it. Only this option is bound: a report asks for some twenty.
func (c *Config) Text(key string) string {
	return bind([]option{*find(table(), key)}, c)[0].text()
}

// Each calls do for every option in printing order, with its key, its value as text, and whether it affects the output.
func (c *Config) Each(do func(key, text string, shapes bool)) {
	for _, o := range c.options() {
		do(o.key, o.text(), o.shapes)
	}
}

// optionsText has all options in the order of printing: key and built-in value, lines that begin with a bar for what is
// known of its values, and a paragraph on what the option does and why its value is what it is. {NAME} stands for words of
// the package that knows them.
//
//go:embed options.txt
var optionsText string

// words are what stands in the text for {NAME}.
func words() *strings.Replacer {
	var pairs []string
	for name, values := range map[string][]string{
		"profiles": configs.Profiles(), "policies": configs.Policies(), "templates": configs.Templates(), "schemes": configs.Schemes(),
		"models": embedded.Names(), "formats": archive.Formats(), "encodings": input.Encodings(), "never": inverse.NeverNames(),
		"variants": bilstm.Variants(), "modes": ensemble.Modes(), "hierarchies": anonymity.HierarchyNames(),
		"generalizations": {strings.Join(hierarchies(), "; ")},
	} {
		pairs = append(pairs, "{"+name+"}", strings.Join(values, ", "))
	}
	return strings.NewReplacer(pairs...)
}

// checks are those of values that have a form of their own.
var checks = map[string]func(string) (problem, hint string){
	"peopleField": peopleField, "operatorChain": operatorChain, "auditedShare": auditedShare, "notAnInterval": notAnInterval,
}

// table has every option, bound to no configuration: for what is asked of options without one, such as flags.
var table = sync.OnceValue(func() []option { return bind(parse(words().Replace(optionsText)), new(Config)) })

// parse reads the text. It is ours: what is wrong in it is a bug.
func parse(text string) (all []option) {
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		var o option
		o.min, o.max = math.Inf(-1), math.Inf(1)
		for line := range strings.SplitSeq(block, "\n") {
			key, def, named := strings.Cut(line, " = ")
			switch property, bar := strings.CutPrefix(line, "| "); {
			case bar:
				o.property(property)
			case o.key == "" && named:
				o.key, o.def = key, def
			default:
				o.why = line
			}
		}
		all = append(all, o)
	}
	return all
}

func (o *option) property(line string) {
	kind, rest, listed := strings.Cut(line, ": ")
	list := strings.Split(rest, ", ")
	number := func(s string) float64 {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			n, _ := parseSize(s)
			f = float64(n)
		}
		return f
	}
	switch low, high, ranged := strings.Cut(strings.TrimPrefix(line, "from "), " to "); {
	case kind == "one of":
		o.allowed = list
	case kind == "checked":
		o.valid = checks[rest]
	case listed:
		o.names = list
		o.nameOr = kind == "a name or a file"
	case ranged:
		o.min, o.max = number(low), number(high)
	default:
		o.shapes = o.shapes || line == "shapes the output"
		o.file = o.file || line == "a file"
		o.nameOr = o.nameOr || line == "a name or a file"
		o.large = o.large || line == "of any size"
	}
}

// bind returns the options with their places in a configuration: read.max_note_bytes is Read.MaxNoteBytes.
func bind(options []option, c *Config) []option {
	all := slices.Clone(options)
	for i := range all {
		at := reflect.ValueOf(c).Elem()
		for part := range strings.SplitSeq(strings.ReplaceAll(all[i].key, "_", ""), ".") {
			at = at.FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, part) })
		}
		all[i].at = at.Addr().Interface()
	}
	return all
}

// options binds every key to its place in c.
func (c *Config) options() []option { return bind(table(), c) }

// LabelNames returns the names of the categories of a built-in label set.
func LabelNames(set string) []string {
	s, err := pipeline.Labels(set)
	if err != nil {
		panic("config: unknown label set") // a bug: the name is a constant
	}
	names := make([]string, len(s.Categories))
	for i, c := range s.Categories {
		names[i] = c.String()
	}
	return names
}
