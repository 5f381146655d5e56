package choose

import (
	"math"
	"slices"

	"github.com/velum-health/velum/models/tag/calibrate"
)

// balance finds how many notes of every stratum to take so that the wanted
// proportions hold and the surest notes are preferred.
//
// The proportions are linear in the numbers x_i of notes: with n_ic spans of
// class c in a note of kind i and n_i in all, the share p_c asks for
// Σ x_i (n_ic - p_c n_i) = 0, a mean length l_c for Σ x_i (t_ic - l_c n_ic) = 0,
// the size for Σ x_i = k. Taking the fraction f_i = x_i / N_i of each kind,
// the balance maximizes Σ N_i (confidence_i f_i / T + entropy(f_i)) under these
// conditions. Its dual is smooth and convex in one price a condition,
//
//	min over λ of Σ N_i log(1 + exp(confidence_i / T + λ·g_i)) - λ·k + ρ|λ|²/2,
//	f_i = σ(confidence_i / T + λ·g_i),
//
// and is solved by Newton's method. Taking notes by confidence while quotas
// last was tried first: it gets stuck where notes hold several classes. The
// term with ρ keeps prices finite where the conditions cannot hold.
type balance struct {
	*pool
	kinds   []kind   // of notes with spans
	vectors []vector // by stratum
	rows    []row    // conditions; the first is the size
	soft    []bool   // per row: a length
	prices  []float64
}

// kind is the candidates of one stratum whose confidence is about the same.
type kind struct {
	stratum int
	number  float64
	bonus   float64 // confidence / T
}

// temperature T: a note that is surer by 0.005 is e times as likely to be
// taken. Lower ones prefer confidence more and give harder thresholds.
const temperature = 0.005

// confidenceStep is the width of a kind, in steps of Confidence.
const confidenceStep = 20

// Indexes of the coordinates by which notes are balanced.
const (
	one         = 0 // every note
	firstSpan   = 1
	firstLength = firstSpan + MaxClasses
	coordinates = firstLength + MaxClasses
)

// row is one condition: the weights of the coordinates.
type row [coordinates]float64

// vector holds the counts of a stratum, sparse.
type vector struct {
	at    []int
	value []float64
}

func (s *stratum) vector() (v vector) {
	put := func(at int, value float64) {
		v.at = append(v.at, at)
		v.value = append(v.value, value)
	}
	put(one, 1)
	for _, c := range s.classes {
		put(firstSpan+c, float64(s.spans[c]))
		put(firstLength+c, float64(s.lengths[c]))
	}
	return v
}

func newBalance(p *pool) *balance {
	b := &balance{pool: p}
	for i, s := range p.sorted {
		b.vectors = append(b.vectors, s.vector())
		if s.total == 0 {
			continue
		}
		for from := 0; from < len(s.entries); {
			step := s.entries[from].confidence / confidenceStep
			to := from
			for to < len(s.entries) && s.entries[to].confidence/confidenceStep == step {
				to++
			}
			b.kinds = append(b.kinds, kind{i, float64(to - from), float64(step) * confidenceStep / 10_000 / temperature})
			from = to
		}
	}
	return b
}

// conditions sets the conditions for a choice of n notes with spans.
func (b *balance) conditions(n int) {
	b.rows, b.soft = b.rows[:0], b.soft[:0]
	b.add(row{one: 1}, false)
	there := b.sums(b.all()).class
	b.addShares(there, b.attainable(n))
	b.addLengths(there)
	b.prices = make([]float64, len(b.rows))
}

func (b *balance) add(r row, soft bool) {
	b.rows = append(b.rows, r)
	b.soft = append(b.soft, soft)
}

// addShares adds a condition a class that has candidates.
func (b *balance) addShares(there [MaxClasses]int, shares []float64) {
	sum := 0.0
	for _, share := range shares {
		sum += share
	}
	if sum == 0 {
		return
	}
	for c, spans := range there {
		if spans == 0 {
			continue
		}
		share := 0.0
		if c < len(shares) {
			share = shares[c] / sum
		}
		var r row
		for other, spans := range there {
			if spans > 0 {
				r[firstSpan+other] = -share
			}
		}
		r[firstSpan+c]++
		b.add(r, false)
	}
}

func (b *balance) addLengths(there [MaxClasses]int) {
	for c, length := range b.Lengths {
		if there[c] > 0 && length > 0 {
			var r row
			r[firstLength+c], r[firstSpan+c] = 1/length, -1
			b.add(r, true)
		}
	}
}

// take returns the number of notes to take from each stratum: n with spans, with or without regard to their lengths,
// and the given number without spans.
func (b *balance) take(n, empty int, lengths bool) []int {
	take := b.all()
	all := b.sums(take)
	if n < all.notes-all.empty {
		b.conditions(n)
		b.solve(float64(n), lengths)
		b.fill(take, round(take, b.numbers(), n))
	}
	for i, s := range b.sorted {
		if s.total == 0 {
			take[i] = min(empty, len(s.entries))
		}
	}
	if n < all.notes-all.empty {
		b.repair(take)
	}
	return take
}

// round makes whole numbers of exact, at most take of each, so that all sums
// from the first stratum on stay within one: neighbours in the order have
// similar counts. It returns how many of k are missing.
func round(take []int, exact []float64, k int) (missing int) {
	sum, before := 0.0, 0
	for i, x := range exact {
		sum += x
		upTo := min(int(math.Floor(sum+0.5)), k)
		take[i] = min(upTo-before, take[i])
		missing -= take[i]
		before = upTo
	}
	return missing + k
}

// fill takes so many more notes with spans, of every stratum the same part of
// what is left: where the conditions cannot hold, the prices may miss the size.
func (b *balance) fill(take []int, missing int) {
	room, left := make([]int, len(take)), 0
	for i, s := range b.sorted {
		if s.total > 0 {
			room[i] = len(s.entries) - take[i]
			left += room[i]
		}
	}
	exact := make([]float64, len(take))
	for i, n := range room {
		exact[i] = float64(missing) * float64(n) / float64(max(left, 1))
	}
	round(room, exact, missing)
	for i, n := range room {
		take[i] += n
	}
}

// price returns the price of a coordinate for the given prices of the
// conditions.
func (b *balance) price(prices []float64) (mu row) {
	for j, r := range b.rows {
		for at, w := range r {
			mu[at] += prices[j] * w
		}
	}
	return mu
}

func (v vector) score(mu *row) float64 {
	sum := 0.0
	for i, at := range v.at {
		sum += mu[at] * v.value[i]
	}
	return sum
}

// numbers returns Σ f of every stratum for the current prices.
func (b *balance) numbers() []float64 {
	exact := make([]float64, len(b.sorted))
	mu := b.price(b.prices)
	last, score := -1, 0.0
	for _, k := range b.kinds {
		if k.stratum != last {
			last, score = k.stratum, b.vectors[k.stratum].score(&mu)
		}
		exact[k.stratum] += k.number * calibrate.Sigmoid(k.bonus+score)
	}
	return exact
}

// softplus returns log(1 + exp(z)).
func softplus(z float64) float64 { return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) }

const (
	newtonSteps = 80
	// hard and loose are ρ for shares and for lengths, times k. A condition that cannot be met distorts all others;
	// lengths may distort them less.
	hard, loose = 1e-5, 1e-3
	// highest is higher than the price of any condition that can be met: confidence is worth at most 1/T = 200.
	highest = 4000
)

// level finds by bisection the price per note at which k notes are taken when all other prices are zero. Newton's
// method starts there: from zero, where nearly all or no notes would be taken, its first step is useless.
func (b *balance) level(k float64) float64 {
	low, high := -2/temperature, 1/temperature
	for range 50 {
		mid := (low + high) / 2
		sum := 0.0
		for _, kind := range b.kinds {
			sum += kind.number * calibrate.Sigmoid(kind.bonus+mid)
		}
		if sum < k {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// solve sets b.prices for k notes, always from the same start, so that the
// answer for k does not depend on what was asked before.
func (b *balance) solve(k float64, lengths bool) {
	clear(b.prices)
	b.prices[0] = b.level(k)
	d := newDual(b, k, lengths)
	value := d.at(b.prices, true)
	for range newtonSteps {
		step, descent := d.step()
		if descent > -1e-9*(1+math.Abs(value)) || slices.ContainsFunc(b.prices, func(p float64) bool { return math.Abs(p) > highest }) {
			return
		}
		trial := make([]float64, len(step))
		length := 1.0
		for ; length > 1e-6; length /= 2 {
			for j := range trial {
				trial[j] = b.prices[j] + length*step[j]
			}
			if d.at(trial, false) <= value+1e-4*length*descent {
				break
			}
		}
		copy(b.prices, trial)
		value = d.at(b.prices, true)
	}
}

// dual is the function that solve minimizes, with its derivatives.
type dual struct {
	*balance
	k     float64
	ridge []float64
	fixed []bool // a length that does not count

	gradient []float64
	hessian  [][]float64
}

func newDual(b *balance, k float64, lengths bool) *dual {
	n := len(b.rows)
	d := &dual{balance: b, k: k, ridge: make([]float64, n), fixed: make([]bool, n), gradient: make([]float64, n),
		hessian: make([][]float64, n)}
	for j := range d.hessian {
		d.hessian[j] = make([]float64, n)
		d.ridge[j] = hard * k
		if b.soft[j] {
			d.ridge[j], d.fixed[j] = loose*k, !lengths
		}
	}
	return d
}

// at returns the value for these prices and, if asked, sets gradient and
// hessian there. Sums are made in coordinates of the notes, of which a note
// has few, and brought to the conditions at the end.
func (d *dual) at(prices []float64, derive bool) float64 {
	mu := d.price(prices)
	value := -prices[0] * d.k
	for j, p := range prices {
		value += d.ridge[j] * p * p / 2
	}
	var first row
	var second [coordinates]row
	last, score := -1, 0.0
	for _, k := range d.kinds {
		v := &d.vectors[k.stratum]
		if k.stratum != last {
			last, score = k.stratum, v.score(&mu)
		}
		z := k.bonus + score
		value += k.number * softplus(z)
		if !derive {
			continue
		}
		f := calibrate.Sigmoid(z)
		w := k.number * f * (1 - f)
		for i, at := range v.at {
			first[at] += k.number * f * v.value[i]
			for l, other := range v.at {
				second[at][other] += w * v.value[i] * v.value[l]
			}
		}
	}
	if derive {
		d.derive(prices, &first, &second)
	}
	return value
}

func (d *dual) derive(prices []float64, first *row, second *[coordinates]row) {
	for j := range d.rows {
		d.gradient[j] = d.ridge[j]*prices[j] + dot(&d.rows[j], first)
		var along row // second · row j
		for at := range second {
			along[at] = dot(&d.rows[j], &second[at])
		}
		for l := range d.rows {
			d.hessian[j][l] = dot(&d.rows[l], &along)
		}
		d.hessian[j][j] += d.ridge[j] + 1e-9
	}
	d.gradient[0] -= d.k
	for j, fixed := range d.fixed {
		if !fixed {
			continue
		}
		d.gradient[j] = 0
		for l := range d.rows {
			d.hessian[j][l], d.hessian[l][j] = 0, 0
		}
		d.hessian[j][j] = 1
	}
}

func dot(a, b *row) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// step returns Newton's step and the slope along it, by Cholesky.
func (d *dual) step() (step []float64, slope float64) {
	n := len(d.gradient)
	l := d.hessian
	for i := range n {
		for j := range i + 1 {
			sum := l[i][j]
			for k := range j {
				sum -= l[i][k] * l[j][k]
			}
			if i == j {
				l[i][i] = math.Sqrt(max(sum, 1e-12))
			} else {
				l[i][j] = sum / l[j][j]
			}
		}
	}
	step = make([]float64, n)
	for i := range n {
		sum := -d.gradient[i]
		for k := range i {
			sum -= l[i][k] * step[k]
		}
		step[i] = sum / l[i][i]
	}
	for i := n - 1; i >= 0; i-- {
		sum := step[i]
		for k := i + 1; k < n; k++ {
			sum -= l[k][i] * step[k]
		}
		step[i] = sum / l[i][i]
	}
	for i, g := range d.gradient {
		slope += g * step[i]
	}
	return step, slope
}

const (
	repairs       = 100
	repairsStrata = 20_000 // above, a whole number more or less does not matter
)

// repair swaps single notes where that brings the proportions nearer to the
// target: in small selections, whole numbers miss it.
func (b *balance) repair(take []int) {
	if len(b.sorted) > repairsStrata {
		return
	}
	for range repairs {
		t := b.sums(take)
		if b.off(t) <= b.Tolerance/4 {
			return
		}
		now := b.squares(t)
		out, _ := b.best(t, -1, func(i int) bool { return take[i] > 0 && b.sorted[i].total > 0 })
		if out < 0 {
			return
		}
		without := b.sorted[out].change(t, -1)
		in, after := b.best(without, 1, func(i int) bool { return take[i] < len(b.sorted[i].entries) && i != out && b.sorted[i].total > 0 })
		if in < 0 || after >= now {
			return
		}
		take[out]--
		take[in]++
	}
}

// best returns the stratum of which one note more (or less) makes squares
// smallest.
func (b *balance) best(t sums, sign int, may func(int) bool) (best int, least float64) {
	best, least = -1, math.Inf(1)
	for i, s := range b.sorted {
		if !may(i) {
			continue
		}
		if v := b.squares(s.change(t, sign)); v < least {
			best, least = i, v
		}
	}
	return best, least
}

// change returns t with sign notes of s more.
func (s *stratum) change(t sums, sign int) sums {
	t.notes += sign
	t.spans += sign * s.total
	for _, c := range s.classes {
		t.class[c] += sign * int(s.spans[c])
		t.length[c] += sign * int(s.lengths[c])
	}
	return t
}

// squares is the squared deviation from the target; of lengths a tenth.
func (p *pool) squares(t sums) float64 {
	sum := 0.0
	for c := 0; p.Shares != nil && c < MaxClasses; c++ {
		share := 0.0
		if c < len(p.Shares) {
			share = p.Shares[c]
		}
		d := ratio(t.class[c], t.spans) - share
		sum += d * d
	}
	for c, length := range p.Lengths {
		if length > 0 && t.class[c] > 0 {
			d := ratio(t.length[c], t.class[c])/length - 1
			sum += 0.1 * d * d
		}
	}
	return sum
}
