package option

import (
	"runtime"
	"strings"
	"time"

	"github.com/velum-health/velum/models/release/anonymity"
	"github.com/velum-health/velum/pipeline/limit"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/write"

	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/models/tag/bilstm"
	"github.com/velum-health/velum/models/tag/ensemble"
	"github.com/velum-health/velum/models/tag/inverse"
	"github.com/velum-health/velum/pipeline"
)

// Config is every option, in the order in which the notes meet them. What an
// option means and why it has its default stands in the table below, and only
// there: help, schema, printing and checking are made from it.
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

	// Lenient lets notes pass that a run sets aside, for those who look at what it set aside; no option.
	Lenient bool

	origins map[string]origin
}

// Read holds the options of reading the archive.
type Read struct {
	Columns       Columns
	Format        string
	Encoding      string
	Delimiter     string
	Categories    string
	Labels        map[string]string
	SkipUnknown   bool
	Keep          []string
	IDs           string
	Opaque        bool
	MaxNoteBytes  size
	UnitNotes     int
	SHA256, Twice string
}

// Columns is the columns of the input by their use.
type Columns struct {
	ID                          []string
	Text, Patient, Date, Center string
}

// Tag is the model and how it tags.
type Tag struct {
	Model  string
	Recall float64
	Fast   bool

	Confidence string
	Cache      size
	Gazetteers []string
}

// Inverse are the thresholds of an inverse model, which masks all that is not known to be safe, and what trains one.
type Inverse struct {
	Dial    float64
	Low     float64
	High    float64
	Never   []string
	Words   string
	Learner string
}

// Patterns is which patterns are looked for.
type Patterns struct {
	Use bool
}

// People is who is known, and who objects.
type People struct {
	Table   string
	Columns map[string]string
	Exclude string

	Unmatched, Case string
	Others          []string
}

// Resolve holds the options of the decision about candidates.
type Resolve struct {
	MinScore   map[string]float64
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

// Mask holds the options of replacing a span.
type Mask struct {
	Policy    string
	Operators map[string]string
	Purpose   string
	Calendar  []string
	Names     string // table of names

	WithoutPatient bool

	Recipients, Again, Ledger string // of releases
}

// Anonymity is k-anonymity.
type Anonymity struct {
	K        int
	Columns  map[string]string
	Text     map[string]string
	Suppress float64
	Releases string
}

// Choose is the selection set and the curators' list.
type Choose struct {
	Use           bool
	MinConfidence float64
	MinTokens     int
	K             int
	Classes       map[string]float64
	WithoutSpans  float64
	ReviewBelow   float64
	Review        int
}

// Gate holds the bounds on what an output may give away.
type Gate struct {
	Missed  map[string]string
	Attacks string
	MaxLeak float64
	Drift   bool
}

// Write is the output.
type Write struct {
	RowGroupRows   int
	Spans          bool
	Group          bool
	QuarantineText bool
	MaxQuarantined float64
}

// Run is the run as a whole.
type Run struct {
	Workers     int
	Units       int
	MemoryLimit size
	NoteTimeout time.Duration
	MaxFailures float64
	Deadline    time.Duration
	Changed     string
	Vanished    string
	Recheck     string
}

// Report is the pages that say what came out.
type Report struct {
	Lang     string
	Expected float64
	Proven   float64

	ReadSeconds int
}

// Train is training.
type Train struct {
	Template, Scheme        string
	L2, L1, Bias, Tolerance float64
	MinCount, Iterations    int
	Clusters                []string
}

// SVM is how the hyperplanes of an SVM are found.
type SVM struct{ Cost float64 }

// Network is the architecture and the training of a network.
type Network struct {
	Named   string
	Units   int
	Epochs  int
	Batch   int
	Rate    float64
	Noise   float64
	Blind   float64
	Vectors string
	Seed    int
}

// Ensemble holds the options of putting several taggers together.
type Ensemble struct {
	Mode      string
	Members   []string
	Threshold float64
	First     float64
	Bias      float64
}

// Learn is self-learning.
type Learn struct {
	In     []string
	Gold   []string
	Dev    []string
	Redraw int
	Labels string
	Kind   []string
	Slice  int
	Turns  int
	Folds  int
	Again  bool
	Start  string
	Seed   int
}

// Key is the secret key.
type Key struct{ File string }

// Workers of each heavy stage: what the configuration says, else one a core
// that Go may use.
func (c *Config) Workers() int {
	if c.Run.Workers > 0 {
		return c.Run.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// Text returns the value of an option as `velum run options` shows it.
func (c *Config) Text(key string) string { return find(c.options(), key).text() }

// Each calls do with every key, its value, and whether it shapes the output, in the order of printing.
func (c *Config) Each(do func(key, text string, shapes bool)) {
	for _, o := range c.options() {
		do(o.key, o.text(), o.shapes)
	}
}

// parts of the table, in the order of printing.
var parts = []func(*Config) []option{
	(*Config).inputOptions, (*Config).findOptions, (*Config).outputOptions, (*Config).trainOptions, (*Config).networkOptions,
	(*Config).learnOptions, (*Config).keyOptions,
}

// options binds every key to its place in c.
func (c *Config) options() (all []option) {
	for _, part := range parts {
		all = append(all, part(c)...)
	}
	return all
}

func (c *Config) inputOptions() []option {
	r := &c.Read
	return []option{
		opt("profile", &c.Profile, configs.DefaultProfile, "Built-in set of values that this file starts from. primary-care is the default because short notes are what the archive holds.", oneOf(configs.Profiles()...)),

		opt("read.columns.id", &r.Columns.ID, []string{"note_id"}, "Columns of the row's id, text or whole numbers; several are joined with bars, as 7|31|2. An id is the only thing of a note that may appear in a log.", shaping),
		opt("read.columns.text", &r.Columns.Text, "text", "Column of the note. It never passes through.", shaping),
		opt("read.columns.patient", &r.Columns.Patient, "", "Column of the patient's id; empty when there is none. Never written unless it is kept.", shaping),
		opt("read.columns.date", &r.Columns.Date, "", "Column of the note's date; empty when there is none.", shaping),
		opt("read.columns.center", &r.Columns.Center, "", "Column of the centre; empty when there is none.", shaping),
		opt("read.format", &r.Format, "auto", "What the files of an archive are. auto tells by their names: Parquet and dumps of a|b|c ids and text, or else CSV and JSONL, or else .txt files of a note each.", shaping, oneOf(archive.Formats()...)),
		opt("read.encoding", &r.Encoding, "auto", "Encoding of text files. auto looks at the whole of each file: a Latin-1 export with one accent in its last note is not UTF-8. Standard input is UTF-8 unless this says otherwise.", shaping, oneOf(input.Encodings()...)),
		opt("read.delimiter", &r.Delimiter, "", "Delimiter of CSV, one character; empty takes the commonest of comma, semicolon, tab and bar in the header.", shaping),
		opt("read.categories", &r.Categories, "", "File of categories of the house, written as configs/categories.yaml: its labels, and what they are called in other label sets. Its name can be used where a label set is named (--labels, --categories).", shaping, aFile),
		opt("read.labels", &r.Labels, nil, "Labels of labelled notes that are called otherwise here, as {DOCTOR: PERSON, CITY: LOCATION}. NONE leaves a label out.", shaping),
		opt("read.skip_unknown", &r.SkipUnknown, false, "Leave spans of unknown labels out and count them. Off: a model trained on, or scored against, half of the labels is worse than none.", shaping),
		opt("read.keep", &r.Keep, nil, "Columns that pass through bit for bit, of any type; keys of folders such as year=2026 count as columns. None by default: a column that nobody named may identify a person.", shaping),
		opt("read.ids", &r.IDs, "keep", "What is written as row id: the id itself (keep), an HMAC of it under the key (keyed), or nothing but the row's place (drop; read.columns.id may be [] then). keep, since masked notes go back to the house that knows the ids; an extract for others wants keyed or drop. keep refuses ids, files and folders that hold an identifier, an e-mail address, a telephone number or a person's name; verbatim takes all of them as they are.", shaping, oneOf("keep", "keyed", "drop", "verbatim")),
		opt("read.opaque", &r.Opaque, false, "Give the folders of the output opaque names in place of those of the input. On for extracts whose dates are shifted: a folder named for the real month would undo the shift.", shaping),
		opt("read.max_note_bytes", &r.MaxNoteBytes, limit.NoteBytes, "Longest note; a longer one goes to quarantine. The longest hospital reports have about 200 kB, so what is longer than 1 MiB is an attachment.", shaping, within(1, 1<<30)),
		opt("read.unit_notes", &r.UnitNotes, input.UnitNotes, "Notes after which a unit of work is full; units hold whole row groups. A crash loses at most one unit a worker: 262,144 notes are some seconds.", shaping, within(1, 1<<40)),
		opt("read.sha256", &r.SHA256, "", "File of SHA-256 sums of the input, as sha256sum writes it. Parquet readers can return changed content from a damaged file without an error; with this list they cannot.", aFile, large),
	}
}

func (c *Config) findOptions() []option {
	t, i, p, n, r, m, a := &c.Tag, &c.Inverse, &c.Patterns, &c.People, &c.Resolve, &c.Mask, &c.Anonymity
	return []option{
		opt("tag.model", &t.Model, "primary-care", "Name of an embedded model, or path of a model file or of a folder in which `velum model list` has promoted one. Its own digest goes into every key of output beside these options.", nameOrFile, large),
		opt("tag.fast", &t.Fast, false, "Of a cascade the first member alone, a CRF: faster, and more is left. Other models are as they are.", shaping),
		opt("tag.recall", &t.Recall, 0, "Masking recall to reach, by the table that the model keeps from its gold set, as 0.99; 0 leaves the model as it was trained. A higher recall masks more that need not be.", shaping, within(0, 1)),
		opt("tag.confidence", &t.Confidence, "path", "Confidence of a note: the probability of the best path (path), as BOOT defines it; or of its least certain line (line). path shrinks with length, so reports want line.", shaping, oneOf("path", "line")),
		opt("tag.cache", &t.Cache, 64<<20, "Memory for state scores of token forms: of a CRF for all workers, and half of it for each; of a network, or one worker, for each (in a cascade half of it). A form's scores never change, and 64 MiB hold those of nearly all tokens of a month. A stream takes 24 MiB at the most.", within(0, 1<<40)),

		opt("tag.gazetteers", &t.Gazetteers, nil, "Files of `velum teach gazetteer build` whose entries stand beside the built-in lists, in what the tagger sees and in resolve. A model runs with the lists that it was trained with and with no others.", shaping, aFile, large),

		opt("inverse.dial", &i.Dial, 0.85, "How much of what may be safe is masked, 0 to 1: of an inverse model as tag.model: at 0 nothing, at 0.5 what is less likely safe than not, at 1 what does not reach the thresholds below. 0.85 leaves 97 of 100 doses, drugs and values in reports and masks 99 of 100 identifiers in notes of a kind that the model never saw (BENCHMARKS.md). `velum prove evaluate --set inverse.dial=0.5` measures what a setting costs.", shaping, within(0, 1)),
		opt("inverse.low", &i.Low, 0.9, "Probability from which on a word is safe that the safe lists have, at dial 1. 0.9 and 0.95 are the pair of INV §4.3.6, 0.8 and 0.9 its lower one.", shaping, within(0.5, 1)),
		opt("inverse.high", &i.High, 0.95, "The same for a word that they have not, or that an unsafe list has.", shaping, within(0.5, 1)),
		opt("inverse.never", &i.Never, inverse.NeverNames(), "Lists whose words are never safe at dial 1, however probable: INV masks them always.", shaping, oneOf(inverse.NeverNames()...)),
		opt("inverse.words", &i.Words, "", "File of common words to train with, from `velum teach train --kind words`; it becomes part of the model. Empty: those of the model that training begins with, or none.", aFile, large),
		opt("inverse.learner", &i.Learner, "crf", "Kind that learns the probability of being safe: crf; bilstm, which INV takes; or ensemble, which puts the inverse models of ensemble.members together. The mean of both masks more than either (BENCHMARKS.md).", oneOf("crf", "bilstm", "ensemble")),

		opt("patterns.use", &p.Use, true, "Look for e-mail addresses, telephones, identity numbers, dates and the like by pattern. On: a tagger misses rare numbers that a pattern cannot miss.", shaping),

		opt("people.table", &n.Table, "", "Table of known people, Parquet or CSV: columns patient_id, role, given, surname, name, birth_date, address, telephone, id, and more of each as surname2, id_card. They are found in the notes of their patient in any spelling; rows without a patient are staff and are looked for in all notes. Empty: nobody is known.", shaping, aFile, large),
		opt("people.columns", &n.Columns, nil, "What the columns of people.table hold that have other names, as {apellido1: surname, NHC: id}.", shaping, valid(peopleField)),
		opt("people.exclude", &n.Exclude, "", "Table of the ids of patients who object, Parquet or CSV, in a column patient_id or its only one: their notes are counted and left out, and so are notes that are nobody's. The output remembers them: they stay out of later runs without the list, until `velum run forget --take-back`. `velum check --exclude` proves it.", aFile, large),
		opt("people.unmatched", &n.Unmatched, "refuse", "What becomes of a run if an id of people.exclude is no patient's of the archive, the list has no ids, or no patient of people.table has a note: it ends with exit code 15 and writes nothing (refuse), or says so, with the rows, and goes on (warn). refuse, since an id that was written otherwise would let the notes through; with months that come one by one, warn.", oneOf("refuse", "warn")),
		opt("people.others", &n.Others, nil, "Ids that look like that of a patient who objects or is forgotten (the same digits, but for zeros in front or letters around them: 1000, 0001000, P1000) and are another patient's. A run ends with exit code 15 and writes nothing while there are notes with such ids and nobody has said whose they are: name the id here, or as one of the patient's own in people.exclude or `velum run forget --patient`."),
		opt("people.case", &n.Case, "fold", "Whether ab12 and AB12 are the same patient (fold) or two (keep). Blanks, quotes, invisible characters, wide and other digits, +, .0 and, where either column holds numbers, zeros in front never count.", shaping, oneOf("fold", "keep")),

		opt("resolve.min_score", &r.MinScore, nil, "Score by pattern category below which a match without a right check digit is dropped, as {AGE: 0.7}. Empty drops none: a number masked in vain costs less than one let through.", shaping, within(0, 1)),
		opt("resolve.always", &r.Always, nil, "Words that are always masked, as [PERSON:Ferran, LOCATION:Can Ruti]. Case and accents do not matter.", shaping),
		opt("resolve.always_file", &r.AlwaysFile, "", "More of them, one a line.", shaping, aFile),
		opt("resolve.never", &r.Never, nil, "Words that are never masked unless they stand beside a masked one, for eponyms and drugs that the built-in list lacks.", shaping),
		opt("resolve.never_file", &r.NeverFile, "", "More of them, one a line.", shaping, aFile),
		opt("resolve.gazetteers", &r.Gazetteers, nil, "Files of `velum teach gazetteer build` whose entries stand beside the built-in lists in resolve alone: the names of the house's own staff, say. Any model may be used with them. They help rules that ask for names; what must always be masked is for resolve.always.", shaping, aFile, large),
		opt("resolve.spans", &r.Spans, "", "File of notes with the spans that others have found, a curator or another program, in any format of labelled notes with their text: they are masked beside what velum finds, as what they say. A note whose text there is another one, or with a label that has no counterpart (read.labels), is held back (bad_tags). In a pipe the rows have them, in a field spans of JSON.", shaping, aFile, large),
		opt("resolve.packs", &r.Packs, nil, "Files of rules that people write (`velum teach rules`), whose finds stand beside those of the model; shipped names those of velum. Their categories are the model's, or those of patterns.", shaping, nameOrFile),
		opt("resolve.words", &r.Words, nil, "Files that change the lists of words by which the rules of velum go (titles, kin, heads of centres, verbs of residence...): `words +title hna` adds, `words -title don` takes away, `words title dr dra` puts others in place. `velum teach rules words` prints the lists as they are used, `velum teach rules check` tells mistakes. Empty: the lists that ship, for Spanish and Catalan.", shaping, aFile),
		opt("resolve.rules", &r.Rules, true, "Apply the rules on span borders and kinds after tagging. On: worth 0.2 to 0.3 points of F1 on MEDDOCAN.", shaping),
		opt("resolve.skip_rules", &r.SkipRules, nil, "Names of rules that are not applied.", shaping),

		opt("mask.policy", &m.Policy, "placeholder", "Name of a built-in policy, or path of a policy file: which operator masks which category. placeholder replaces all of them by their name in brackets.", shaping, nameOrFile),
		opt("mask.operators", &m.Operators, nil, "Operators by category that go before the policy, as {DATE: keep}: one, or several with | between them, the next where one cannot.", shaping, valid(operatorChain)),
		opt("mask.without_patient", &m.WithoutPatient, false, "Each note stands alone: where no column names the patient, a policy that moves dates or draws surrogates by patient does so by note, and the dates of one patient move apart. Off: such a policy is refused.", shaping),
		opt("mask.purpose", &m.Purpose, "", "Name of what the extract is for. It goes into what is drawn under the key: extracts for other purposes have other surrogates, hashes and offsets of dates, and cannot be joined.", shaping),

		opt("mask.names", &m.Names, "", "Table of names that surrogates are drawn from, Parquet or CSV: columns kind (man, woman, surname), name, people (how many bear it), as offices of statistics publish them. A name has one in its place that about as many people bear. Empty: velum's own lists, which lack a fifth of the rare names of a country: whoever has such a table tells some of those that were missed.", shaping, aFile, large),

		opt("mask.calendar", &m.Calendar, []string{configs.CalendarPack}, "Where the policy moves dates: files of rules (`velum teach rules`) for words that fix a date, as Nochebuena, elections, a state of alarm, the first day of school. What their networks find as DATE with a score of 0.5 or more is hidden; what has less stays and is counted. calendar names the rules that ship (es, ca, en); [calendar, ours.atn] adds those of the house; [] looks for none.", shaping, nameOrFile),
		opt("mask.recipients", &m.Recipients, "", "Who gets the extract: for the ledger of releases (`velum prove releases`), and nothing else."),
		opt("mask.again", &m.Again, "refuse", "What becomes of an extract with notes that were released before with another key, purpose, policy, model or other spans: whoever has both compares them, and what is the same in both was missed. refuse: exit code 15, and nothing is written; allow: the ledger says so.", oneOf("refuse", "allow")),
		opt("mask.ledger", &m.Ledger, "", "File of the ledger of releases, an audit log. Empty: the audit log of the tree that --tagged names, or else that of the output; the outputs in the same folder are asked, too. Name one for all runs over an archive into several folders."),
		opt("anonymity.k", &a.K, 0, "Least people to whom any combination of the columns below belongs in the output; 0 leaves them as they are. With k, these columns go to a table of their own, quasi/, row for row with masked/, generalized over the whole archive until few notes are in smaller groups, which are suppressed.", within(0, 1e6)),
		opt("anonymity.columns", &a.Columns, nil, "Columns of read.keep that could single somebody out, with how they are generalized, as {sex: value, birth_year: number, town: place, date: date}: "+strings.Join(hierarchies(), "; ")+".", shaping, oneOf(anonymity.HierarchyNames()...)),
		opt("anonymity.text", &a.Text, nil, "Categories whose values could single somebody out, as {AGE: number, PROFESSION: value}: the first one of a note goes to quasi/ as the policy writes it, and all leave a placeholder in the text.", shaping, oneOf(anonymity.HierarchyNames()...)),
		opt("anonymity.suppress", &a.Suppress, 0.05, "Largest share of notes that may be in groups under k when generalizing ends; their columns are suppressed. 5 %: a few rare people must not cost all others their detail.", within(0, 1)),

		opt("anonymity.releases", &a.Releases, "keep", "What an output that grows makes of tables that were released before: each note keeps what it was given, and what comes new is k-anonymous by itself, so that no join of releases has a class under k (keep); or all is generalized anew, for tables that nobody has got (anew).", oneOf("keep", "anew")),
	}
}

func (c *Config) outputOptions() []option {
	h, w, r, p := &c.Choose, &c.Write, &c.Run, &c.Report
	return []option{
		opt("choose.use", &h.Use, true, "Make the selection set, the training form of notes tagged with confidence.", shaping),
		opt("choose.min_confidence", &h.MinConfidence, 0.85, "Lowest confidence of a chosen note: C_min of BOOT for CRF.", shaping, within(0, 1)),
		opt("choose.min_tokens", &h.MinTokens, 3, "Least tokens of a chosen note. A note of one or two words is certain and teaches nothing.", shaping, within(0, 1e6)),
		opt("choose.k", &h.K, 5000, "Most notes in the selection set. BOOT tried 2,000 to 20,000; 5,000 of 50,000 was its middle.", atLeast(0)),
		opt("choose.classes", &h.Classes, nil, "Shares of the categories among chosen spans, as {PERSON: 0.6, LOCATION: 0.4}. Empty takes those of the model's training set.", within(0, 1)),
		opt("choose.without_spans", &h.WithoutSpans, 0, "Share of chosen notes in which nothing was found. 0, as in BOOT, whose training notes nearly all held an entity; a larger one teaches what is no name.", shaping, within(0, 0.99)),
		opt("choose.review_below", &h.ReviewBelow, 0.5, "Confidence below which a note may go to a curator. Above one half the model's own answer is more likely right than all others together.", shaping, within(0, 1)),
		opt("choose.review", &h.Review, 250, "Least confident notes that go to a curator: 250 a turn in BOOT's active learning.", atLeast(0)),

		opt("gate.missed", &c.Gate.Missed, nil, "What an audit missed, by category, as {PERSON: 3/1000}: 3 of 1,000 that were there. The private report then says how probable it is that a note leaks (velum prove sample and velum prove evaluate give the numbers).", valid(auditedShare)),
		opt("gate.attacks", &c.Gate.Attacks, "", "File of what `velum prove attack --json` found out: the private report shows it, is red where an attack failed and amber where one had no power, and gate.max_leak heeds it. Surrogates are held to be told as often as the best attack told them.", aFile),
		opt("gate.drift", &c.Gate.Drift, false, "Commit nothing, with exit code 15, when the newest month drifts (report.drift.*)."),
		opt("gate.max_leak", &c.Gate.MaxLeak, 0, "Largest probability that a note leaks, by gate.missed, at the upper end of its 95 % interval, and largest share of people who match fewer notes than are wanted, by gate.attacks; above it nothing is committed, exit code 15. 0: any.", within(0, 1)),

		opt("write.row_group_rows", &w.RowGroupRows, write.RowGroupRows, "Rows in a row group. 100,000 short notes are 14 MB of text: large enough for readers, small enough for memory.", shaping, within(1, 10_000_000)),
		opt("write.spans", &w.Spans, true, "Write a public part with place and category of every replacement. Those that look like values (surrogate, shuffle, randomize, shift) are never in it, nor counted by note: what else looks so was missed, and would be known by it. The private part of spans is written always.", shaping),
		opt("write.group", &w.Group, false, "Let the group of the files read the public tree: mode 0640 and 0750, not 0600 and 0700. The private tree stays its owner's. Parts that are done already keep their mode; --fresh writes them again."),
		opt("write.quarantine_text", &w.QuarantineText, false, "Write the unmasked text of quarantined notes, mode 0600. Off: a reason and a row number find it in the archive.", shaping),
		opt("write.max_quarantined", &w.MaxQuarantined, 0.01, "Share of notes in quarantine above which the run ends with exit code 3. A healthy archive has fewer than one in a thousand.", within(0, 1)),

		opt("run.workers", &r.Workers, 0, "Workers a heavy stage; 0 takes one a core. Never changes a byte of the output.", within(0, 1024)),
		opt("run.units", &r.Units, 0, "Units side by side; 0 takes one for every four cores, at which the writer of a unit has half its time left.", within(0, 1024)),
		opt("run.memory_limit", &r.MemoryLimit, 0, "Soft limit of the Go heap; 0 takes GOMEMLIMIT, else 90 % of the cgroup's limit. The rest is for what the heap does not count.", within(0, 1<<50)),
		opt("run.note_timeout", &r.NoteTimeout, 30*time.Second, "Time that a stage may take for one note of 16 KiB or more, after which it goes to quarantine; 0 is none. The longest sound note takes less than a second: more is a fault, and what made it slow may have made it wrong."),
		opt("run.max_failures", &r.MaxFailures, 10, "Notes in 10,000 on which a stage failed (a panic, a time-out, an answer that cannot be) above which the run stops with exit code 15, and at least so many. One bad note is no reason to stop; a hundred say that the model or the program is not what it should be.", within(0, 10_000)),
		opt("run.changed", &r.Changed, "", "What becomes of a file at whose path another lay when the output was made. Empty: the notes tell. Mostly the same ids: a new version, which replaces the other; mostly others: another month, which is added; else the run is refused with exit code 13. add, replace and refuse do the same with every such file.", oneOf("", "add", "replace", "refuse")),
		opt("run.recheck", &r.Recheck, "30d", "How long after every byte of the output was last read and compared with its manifest a run does so again; by the times of the audit log. 0d: each run; never: velum check alone. In between, parts of earlier runs are looked for by name and length.", valid(notAnInterval)),
		opt("run.vanished", &r.Vanished, "keep", "What becomes of notes in the output whose file has gone from the folder that is given: keep them, and say so; remove them; or refuse to run, with exit code 13. An output grows: what is not given at all always stays.", oneOf("keep", "remove", "refuse")),
		opt("run.deadline", &r.Deadline, 0, "Time after which the run stops cleanly, to be resumed; 0 is none."),

		opt("report.lang", &c.Report.Lang, "en", "Language of report.html and of the sentences in report.json: English (en), Spanish (es), Catalan (ca). Names of options, categories, reasons and files are the same in all of them.", oneOf("en", "es", "ca")),
		opt("report.expected", &p.Expected, 0.05, "Share of the notes expected to keep something, by the calibrated confidences, above which the light is red. One in twenty: nobody gives such an archive away unread.", within(0, 1)),
		opt("report.proven", &p.Proven, 0.005, "Largest share of notes that keep something, at 95 % confidence, which a random sample of the output that people have read must show for a green light. 0.005: 598 notes without a find.", within(0, 1)),
		opt("report.read_seconds", &p.ReadSeconds, 2, "Seconds that a note of the sample must have taken the reader, the median, for the light to be green: who clicks through reads nothing.", within(0, 600)),
	}
}

func (c *Config) trainOptions() []option {
	t := &c.Train
	return []option{
		opt("train.template", &t.Template, "", "Feature template, a built-in name or a file; empty takes the template of the profile's model.", shaping, nameOrFile),
		opt("train.clusters", &t.Clusters, nil, "Clusters for the groups of the template that are called cluster/NAME: NAME=FILE:K, K clusters of a file of `velum teach embed`. A study compares them: --vary train.clusters=wc=words.velum:128,wc=words.velum:1024.", shaping, large),
		opt("train.scheme", &t.Scheme, "BIO", "Tag scheme. BIO: on MEDDOCAN BIOESU gained nothing that could be told from chance, and has twice the tags.", shaping, oneOf("BIO", "BIOESU")),
		opt("train.l2", &t.L2, 1, "Strength of the quadratic penalty, λ₂/2·‖w‖². 1 with min_count 2 scores as 0.5 without a cut-off and halves the weights.", shaping, within(0, 1e6)),
		opt("train.l1", &t.L1, 0, "Strength of the absolute penalty, λ₁·‖w‖₁ (OWL-QN). 0: L2 alone scores highest where memory is no concern; VIGI's ratio of 0.13 makes models ten times smaller.", shaping, within(0, 1e6)),
		opt("train.min_count", &t.MinCount, 2, "Least occurrences of a feature. 2 halves the weights at the same score.", shaping, within(1, 1e6)),
		opt("train.iterations", &t.Iterations, 120, "Most iterations. MEDDOCAN gains about 0.1 point of F1 between 80 and 160.", shaping, within(1, 100_000)),
		opt("train.tolerance", &t.Tolerance, 1e-5, "Training stops when the objective fell by less than this share over ten iterations.", shaping, within(0, 1)),
		opt("train.bias", &t.Bias, 0, "Taken from O's score in the weights when they are learned: a CRF that masks more, without a dial. 0.5 masks 2.7 points more on writers left out, at a precision of .96 for .97.", shaping, within(0, 20)),

		opt("svm.cost", &c.SVM.Cost, 0.1, "Cost C of a token on the wrong side of its margin: more fits the notes, less keeps the weights small. 0.1 is what VIGI chose by five folds.", shaping, within(1e-6, 1e6)),
	}
}

func (c *Config) networkOptions() []option {
	n, e := &c.Network, &c.Ensemble
	return []option{
		opt("network.variant", &n.Named, "default", "Network and way of training for --kind bilstm, by name: default, or one of the papers' (boot, fhu, ls: BOOT; ngrid: NGRID; a-1, b-1, c-1, d-2: INV). The options below change single things of it.", oneOf(bilstm.Variants()...)),
		opt("network.units", &n.Units, 0, "Units a direction, rounded up to a multiple of 8; 0 takes the variant's (104). On MEDDOCAN 64 lost 0.4 points of F1 and 200 gained nothing that could be told from chance.", within(0, 4096)),
		opt("network.epochs", &n.Epochs, 0, "Passes over the notes; 0 takes the variant's (10).", within(0, 10_000)),
		opt("network.batch", &n.Batch, 0, "Sequences a step; 0 takes the variant's (48).", within(0, 100_000)),
		opt("network.rate", &n.Rate, 0, "Learning rate; 0 takes the variant's (0.003).", within(0, 10)),
		opt("network.noise", &n.Noise, -1, "Share of the sequences that an epoch sees in capitals, in lower case or without accents, a third each; below 0 takes the variant's (0).", within(-1, 1)),
		opt("network.blind", &n.Blind, 0, "Share of the tokens of which an epoch sees neither word nor list nor cluster, only shape, characters and what stands around: so names are learned from their context.", within(0, 0.9)),
		opt("network.vectors", &n.Vectors, "", "File of `velum teach embed` whose vectors the words begin with, by the form as it stands, in lower case, of the lemma if the template has lemma, else their mean. All its words become part of the model, those too that no training note has. Empty begins at random.", aFile, large),
		opt("network.seed", &n.Seed, 1, "Seed of first weights, order and dropout. Two seeds differ by 0.1 to 0.2 points of F1.", within(0, 1e9)),

		opt("ensemble.mode", &e.Mode, "mean", "How --kind ensemble puts its members together: mean of their marginals, each kind of model as much as the others; the first, and all where it is not sure (cascade); all spans, of two that overlap that of the more precise (priority).", oneOf(ensemble.Modes()...)),
		opt("ensemble.members", &e.Members, nil, "Models of an ensemble, names or files, that have the same tags. Earlier ones win where the mode has no other reason.", nameOrFile, large),
		opt("ensemble.first", &e.First, -1, "Share of the first member in the mean of a cascade's lines of which it is not sure; the others share the rest. Below 0 each kind of model counts as much as the others.", shaping, within(-1, 1)),
		opt("ensemble.bias", &e.Bias, 0, "Bias against O in what is decoded of the members' mean, in a cascade of the lines alone that the first has not decided: more is masked there. The recall dial comes on top.", shaping, within(0, 20)),
		opt("ensemble.threshold", &e.Threshold, 0, "Threshold of a cascade: all members read the lines of which the first is less sure. 0 takes that of the model, and in training 0.95; above 1 they read all lines.", shaping, within(0, 2)),
	}
}

func (c *Config) learnOptions() []option {
	l := &c.Learn
	return []option{
		opt("learn.in", &l.In, nil, "The archive to learn from: files or folders, as `velum run` reads them.", aFile, large),
		opt("learn.gold", &l.Gold, nil, "Labelled notes to begin with, in any format. None if learn.start names a model.", aFile, large),
		opt("learn.dev", &l.Dev, nil, "Labelled notes of the archive for validation, of which nothing is learned: they stop learning, calibrate and judge. Empty: see learn.folds.", aFile, large),
		opt("learn.labels", &l.Labels, "", "Label set of the model; gold of other schemes is mapped. Empty takes that of the profile."),
		opt("learn.kind", &l.Kind, []string{"crf"}, "Kind of tagger by turn, from the supervised model on; the last one stays: one that `velum teach train --kind` trains on labelled notes. crf trains in a fifth of the time of a network; crf,bilstm has a CRF tag what a network then learns from. Several, as crf+bilstm, all learn from the same notes and teach together: an ensemble by ensemble.mode; of two of a kind the second network has the next seed. crf,crf+bilstm gained most from reports to short notes."),
		opt("learn.redraw", &l.Redraw, 1, "Copies of each note of the archive that a turn learns from, each with other names and places (surrogates drawn by the seed): so a model does not learn by heart the names that its teacher found. 0: the notes as they stand.", within(0, 10)),
		opt("learn.slice", &l.Slice, 50_000, "Notes of the archive that a turn looks at, in order, each note once. 50,000 as in BOOT: ten times the notes that a turn takes.", within(1, 1e9)),
		opt("learn.turns", &l.Turns, 20, "Most turns: It_max of BOOT.", within(0, 1000)),
		opt("learn.folds", &l.Folds, 5, "Folds that all labelled notes and answers are dealt out to where no --dev is named: every fold is judged by models that learned from the others alone, teachers too, and the model in use learns from all. Each fold costs a turn as much as the turn itself. 0: nothing is measured.", within(0, 20)),
		opt("learn.again", &l.Again, false, "Begin at the archive's first note again when it ends; notes that were taken are not taken twice. Off: BOOT never shows a note twice. On for pools that are smaller than a few slices."),
		opt("learn.start", &l.Start, "", "Model that does the first turn in place of one trained on the labelled notes, such as a dictionary model: how to begin without labelled notes.", nameOrFile, large),
		opt("learn.seed", &l.Seed, 1, "Seed of what is drawn: held-out and labelled notes, random notes to correct. The slices have the order of the archive whatever it is.", within(0, 1e9)),
	}
}

func (c *Config) keyOptions() []option {
	return []option{
		opt("key.file", &c.Key.File, "", "File with the secret key, mode 0400, at least 32 bytes. Only a path: flags and variables can be read by others. Its id, never the key, goes into manifests.", aFile),
	}
}

// LabelNames are the names of the categories of a built-in label set.
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
