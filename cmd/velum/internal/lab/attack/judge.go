package attack

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// A cell is a mention as an attack sees it, reduced to few values: mentions with equal cells are equally suspect.
type cell [8]uint8

// look returns the cell of mention k of a note.
type look func(n *note, k int) cell

// suspect is a mention with its cells and its true status.
type suspect struct {
	round   int // which extract; -1: the natural one
	patient int
	tie     uint32
	left    bool
	judged  bool
	cells   []cell // by attack
}

// Result holds the figures of one attack for one kind of missed names: planted or natural.
type Result struct {
	Attack  string  `json:"attack"`
	Kind    string  `json:"kind,omitempty"`   // kind of missed names: planted, natural
	Misses  float64 `json:"misses,omitempty"` // share of names that were left unmasked on purpose
	Verdict string  `json:"verdict"`          // passed, failed, no power
	Of      string  `json:"of"`               // what the attacker points at

	Patients int `json:"patients"`
	Rounds   int `json:"rounds,omitempty"` // extracts over which the counts are summed

	All       int     `json:"all"` // number of things that the attacker could point at
	Left      int     `json:"left"`
	Pointed   int     `json:"pointed"`
	Right     int     `json:"right"`
	Recall    float64 `json:"recall"`    // found, as a share of what was left
	Precision float64 `json:"precision"` // found, as a share of what was pointed at
	Guess     float64 `json:"guess"`     // precision of guessing
	Lift      float64 `json:"lift"`      // precision, divided by that of guessing
	Low       float64 `json:"lift_low"`  // lower end of its 95 % interval, with patients drawn again
	High      float64 `json:"lift_high"`
	Surest    float64 `json:"surest_lift"`     // lift of the tenth that the attacker is most certain of
	SurestLow float64 `json:"surest_lift_low"` // lower end of its 95 % interval
	Named     float64 `json:"named"`           // patients for whom at least half of what is pointed at is right, per extract
	NamedBy   float64 `json:"named_by_guess"`  //
	Needed    int     `json:"needed"`          // how many must be left before anything can be said
	Why       string  `json:"why,omitempty"`

	spread float64 // how much more the lift varies by patient than if each mention were alone
}

// The verdicts of an attack.
const (
	passed  = "passed"
	failed  = "failed"
	noPower = "no power"
)

const (
	resamples = 400
	// powerError is the largest standard error of the lift, as a share of the distance between the limit and guessing,
	// at which a perfect extract passes four times in five.
	powerError = 1 / (1.96 + 0.84)
	// namedMost is the share of patients who may be named beyond twice as many as by guessing: three of three hundred.
	namedMost = 0.01
)

// patientSum counts the selected mentions in the notes of one patient.
type patientSum struct{ all, left, pointed, right, surest, surestRight float64 }

// judge selects, in each round separately, as many of the most suspect mentions as there are missed names, and measures
// how many of them are right. pick selects the suspects to count.
func judge(all []suspect, scores []float64, patients int, pick func(*suspect) bool, most float64, seed uint64) *Result {
	r := &Result{Of: "names", Patients: patients}
	sums := make([]patientSum, patients)
	byRound := map[int][]int{}
	for i := range all {
		if s := &all[i]; pick(s) {
			byRound[s.round] = append(byRound[s.round], i)
			sums[s.patient].all++
			if s.left {
				sums[s.patient].left++
			}
		}
	}
	r.Rounds = len(byRound)
	for _, these := range byRound {
		left := 0
		for _, i := range these {
			if all[i].left {
				left++
			}
		}
		slices.SortFunc(these, func(x, y int) int { return cmp.Compare(all[x].tie, all[y].tie) })
		r.NamedBy += float64(named(all, these[:left]))
		slices.SortStableFunc(these, func(x, y int) int { return cmp.Compare(scores[y], scores[x]) })
		r.Named += float64(named(all, these[:left]))
		for rank, i := range these[:left] {
			p := &sums[all[i].patient]
			right := 0.
			if all[i].left {
				right = 1
			}
			p.pointed, p.right = p.pointed+1, p.right+right
			if rank < (left+9)/10 {
				p.surest, p.surestRight = p.surest+1, p.surestRight+right
			}
		}
	}
	r.Named, r.NamedBy = r.Named/float64(max(r.Rounds, 1)), r.NamedBy/float64(max(r.Rounds, 1))
	r.measure(sums, seed)
	r.settle(most)
	return r
}

// named counts the patients of whom half or more of what is pointed at is right.
func named(all []suspect, pointed []int) (n int) {
	balance := map[int]int{}
	for _, i := range pointed {
		if all[i].left {
			balance[all[i].patient]++
		} else {
			balance[all[i].patient]--
		}
	}
	for _, b := range balance {
		if b >= 0 {
			n++
		}
	}
	return n
}

// add adds up sums of patients.
func (p *patientSum) add(q *patientSum) {
	p.all, p.left, p.pointed, p.right = p.all+q.all, p.left+q.left, p.pointed+q.pointed, p.right+q.right
	p.surest, p.surestRight = p.surest+q.surest, p.surestRight+q.surestRight
}

// lifts returns the precision relative to guessing, for all selected mentions and for the most suspect tenth.
func (p *patientSum) lifts() (all, surest float64) {
	guess := p.left / max(p.all, 1)
	if guess == 0 {
		return 0, 0
	}
	return p.right / max(p.pointed, 1) / guess, p.surestRight / max(p.surest, 1) / guess
}

// measure adds up the patients and computes bootstrap intervals over patients.
func (r *Result) measure(sums []patientSum, seed uint64) {
	var all patientSum
	for i := range sums {
		all.add(&sums[i])
	}
	r.All, r.Left, r.Pointed, r.Right = int(all.all), int(all.left), int(all.pointed), int(all.right)
	r.Lift, r.Surest = all.lifts()
	if r.Left == 0 {
		return
	}
	r.Recall, r.Precision, r.Guess = all.right/all.left, all.right/all.pointed, all.left/all.all
	rng := rand.New(rand.NewPCG(seed, 11))
	lifts, surest := make([]float64, resamples), make([]float64, resamples)
	for k := range lifts {
		var drawn patientSum
		for range sums {
			drawn.add(&sums[rng.IntN(len(sums))])
		}
		lifts[k], surest[k] = drawn.lifts()
	}
	slices.Sort(lifts)
	slices.Sort(surest)
	r.Low, r.High, r.SurestLow = lifts[resamples/40], lifts[resamples-1-resamples/40], surest[resamples/40]
	// With few or no right answers the variance is underestimated: no interval is shorter than that of a Poisson count.
	poisson := 1.96 / math.Sqrt(all.pointed*r.Guess)
	r.High = max(r.High, r.Lift+poisson)
	if r.Right > 0 {
		r.spread = math.Pow((r.High-r.Lift)/poisson, 2) / max(r.Lift, 1)
	}
	r.spread = max(r.spread, 1)
}

// settle sets the verdict: whether the attack was right more than most times as often as guessing.
func (r *Result) settle(most float64) {
	if r.Left == 0 {
		r.Verdict, r.Needed, r.Why = noPower, 1, "nothing was left that is known"
		return
	}
	r.Needed = int(math.Ceil(r.spread / r.Guess / math.Pow((most-1)*powerError, 2)))
	named := max(2*r.NamedBy, r.NamedBy+namedMost*float64(r.Patients))
	switch {
	case r.Lift > most && r.Low > 1:
		r.Verdict, r.Why = failed, "points at what was left more often than is allowed"
	case r.Surest > most && r.SurestLow > 1 && r.Right >= 10:
		r.Verdict, r.Why = failed, "what it is surest of was left more often than is allowed"
	case r.Named > named && r.Right >= 10:
		r.Verdict, r.Why = failed, "names patients"
	case r.Left < r.Needed:
		r.Verdict, r.Why = noPower, "too few were left to tell"
	case r.Lift > most:
		r.Verdict, r.Why = failed, "points at what was left more often than is allowed"
	default:
		r.Verdict = passed
	}
}
