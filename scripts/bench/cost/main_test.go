package main

import (
	"testing"
	"testing/synctest"
	"time"
)

// sleeping does what a plan, its shares and a finish do, with sleep in place of work, on so
// many cores. Time is that of the bubble: it passes when all sleep.
func sleeping(p parts, j job, cores, each int64) time.Duration {
	began := time.Now()
	time.Sleep(p.plan(j))
	notes, units := j.shares(cores * each)
	next, done := make(chan int, len(notes)), make(chan bool)
	for k := range notes {
		next <- k
	}
	close(next)
	for range cores {
		go func() {
			for k := range next {
				time.Sleep(p.start)
				for u := range units[k] {
					time.Sleep(time.Duration(notes[k]/units[k])*p.note + p.unit)
					if u == units[k]-1 {
						time.Sleep(time.Duration(notes[k]%units[k]) * p.note)
					}
				}
			}
			done <- true
		}()
	}
	for range cores {
		<-done
	}
	time.Sleep(p.finish(j))
	return time.Since(began)
}

// TestModel: what the model says is what sleeping stages take, from one core to 256, in
// archives of few and of many units.
func TestModel(t *testing.T) {
	for _, j := range []job{{1000, 1000, 0}, {330_000, 1000, 1}, {2_950_001, 30_000, 9}, {100_000_000, 100_000, 6}} {
		for _, cores := range []int64{1, 2, 7, 64, 256} {
			for _, each := range []int64{1, 2, 3} {
				synctest.Test(t, func(t *testing.T) {
					if got, want := measured.total(j, cores, each), sleeping(measured, j, cores, each); got != want {
						t.Errorf("%+v on %d cores, %d shares each: %v, asleep %v", j, cores, each, got, want)
					}
				})
			}
		}
	}
}

// TestFigures: ten years of a region, 330 M notes, take less than ten minutes on 64 cores,
// and what does not divide bounds 256 cores.
func TestFigures(t *testing.T) {
	j := job{330_000_000, 100_000, 20}
	if at := measured.total(j, 64, 2); at > 10*time.Minute {
		t.Errorf("64 cores take %v", at)
	}
	if a, b := measured.total(j, 64, 2), measured.total(j, 256, 2); b >= a || b < measured.plan(j)+measured.finish(j) {
		t.Errorf("64 cores take %v, 256 %v", a, b)
	}
}
