// Command cost reckons how long an archive takes on many cores, out of parts that were
// measured on one:
//
//	T(cores) = plan + the longest share of units + finish
//
// The units go to shares as commit.Prepared.Share deals them, two for each core, and a
// core does its shares one after the other. The test plays the same with stages that sleep.
//
//	go run ./scripts/bench/cost -notes 330e6 -cores 64
package main

import (
	"flag"
	"fmt"
	"slices"
	"time"
)

// parts holds the measured costs (BENCHMARKS.md, several machines).
type parts struct {
	start  time.Duration // of a process: model, lists
	note   time.Duration // tagging and writing, a core
	unit   time.Duration // syncs and renames
	gigaby time.Duration // a GB of input, hashed by the plan
	last   time.Duration // a note in the last step, however many there are
}

var measured = parts{
	start: 200 * time.Millisecond, note: 25 * time.Microsecond, unit: 30 * time.Millisecond,
	gigaby: 700 * time.Millisecond, last: 240 * time.Nanosecond,
}

// job is an archive and how it is divided.
type job struct {
	notes, inUnit int64
	gigabytes     float64
}

func (j job) units() int64 { return max((j.notes+j.inUnit-1)/j.inUnit, 1) }

func (p parts) plan(j job) time.Duration {
	return p.start + time.Duration(j.gigabytes*float64(p.gigaby))
}

func (p parts) finish(j job) time.Duration {
	return p.start + time.Duration(j.notes)*p.last
}

// shares are the notes and units of each of n shares: equal units are dealt out in turn.
func (j job) shares(n int64) (notes, units []int64) {
	notes, units = make([]int64, n), make([]int64, n)
	for k, left := int64(0), j.notes; k < j.units(); k++ {
		of := min(j.inUnit, left)
		left -= of
		notes[k%n] += of
		units[k%n]++
	}
	return notes, units
}

func (p parts) share(notes, units int64) time.Duration {
	return p.start + time.Duration(notes)*p.note + time.Duration(units)*p.unit
}

// total is how long it takes on so many cores, with so many shares for each.
func (p parts) total(j job, cores, each int64) time.Duration {
	notes, units := j.shares(cores * each)
	free := make([]time.Duration, cores) // when each core is free; the next share goes to the first one
	for k := range notes {
		at := slices.Index(free, slices.Min(free))
		free[at] += p.share(notes[k], units[k])
	}
	return p.plan(j) + slices.Max(free) + p.finish(j)
}

func main() {
	notes := flag.Float64("notes", 330e6, "notes of the archive")
	bytes := flag.Float64("bytes", 60, "bytes of input a note")
	in := flag.Int64("unit", 100_000, "notes of a unit, as a row group has them")
	cores := flag.Int64("cores", 0, "cores; 0: a table up to 256")
	micros := flag.Float64("us", 25, "processor time of a note in µs: 25 primary-care, 40 cascade")
	flag.Parse()
	p, j := measured, job{int64(*notes), *in, *notes * *bytes / 1e9}
	p.note = time.Duration(*micros * float64(time.Microsecond))
	all := []int64{1, 2, 4, 8, 16, 32, 64, 128, 256}
	if *cores > 0 {
		all = []int64{*cores}
	}
	one := p.total(j, 1, 1)
	fmt.Printf("%d notes, %d units: plan %.0f s, finish %.0f s\n", j.notes, j.units(), p.plan(j).Seconds(), p.finish(j).Seconds())
	for _, n := range all {
		t := p.total(j, n, 2)
		fmt.Printf("%3d cores: %8.0f s, %5.1f times one core\n", n, t.Seconds(), one.Seconds()/t.Seconds())
	}
}
