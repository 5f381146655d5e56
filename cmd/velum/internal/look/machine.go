package look

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

// A finding is the result of one check of `velum check machine`.
type finding struct {
	What   string `json:"what"`
	State  string `json:"state"` // ok, warning or failed
	Detail string `json:"detail"`
	Remedy string `json:"remedy,omitempty"`
}

const (
	fine    = "ok"
	warning = "warning"
	failed  = "failed"
)

// checkups lists the checks of the machine, in order. dir is where output would go.
var checkups = []func(dir string) finding{
	checkCPU, checkMemory, checkSpace, checkSync, checkHardening,
}

// MachineOptions names the folder that a run would write to.
type MachineOptions struct{ Path string }

// Machine checks memory, processor, disk and hardening of this machine and prints the results.
func Machine(_ context.Context, c *console.Console, o *MachineOptions) error {
	var all []finding
	for _, check := range checkups {
		all = append(all, check(o.Path))
	}
	if err := c.Tell(all, findingsText); err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(f finding) bool { return f.State == failed }) {
		return exit.Errorf(exit.Failed, "the lines marked failed say what to do", "this machine is not ready for a run")
	}
	return nil
}

const findingsText = `{{range .}}{{$color := 32}}{{if eq .state "warning"}}{{$color = 33}}{{else if eq .state "failed"}}{{$color = 31}}{{end -}}
{{paint $color (printf "%-8s" .state)}} {{printf "%-10s" .what}} {{.detail}}{{with .remedy}}; {{.}}{{end}}
{{end}}`

// checkCPU tells whether the fast kernels can be used. They give the same
// result either way.
func checkCPU(string) finding {
	f := finding{What: "cpu", State: fine}
	var have []string
	for _, c := range []cpuid.FeatureID{cpuid.AVX2, cpuid.FMA3, cpuid.AVX512F} {
		if cpuid.CPU.Supports(c) {
			have = append(have, c.String())
		}
	}
	f.Detail = fmt.Sprintf("%d of %d cores, %s", runtime.GOMAXPROCS(0), runtime.NumCPU(), strings.Join(have, " "))
	if runtime.GOARCH == "amd64" && !cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3) {
		f.State, f.Remedy = warning, "without AVX2 and FMA velum is slower and gives the same result"
	}
	return f
}

// enoughMemory is the memory that a run with an embedded model takes, with room.
const enoughMemory = int64(1 << 30)

func checkMemory(string) finding {
	total, limit := console.TotalMemory(), console.CgroupMemory()
	f := finding{What: "memory", State: fine, Detail: gigabytes(total) + " in the machine"}
	if total == 0 {
		f.Detail = "size unknown on this system"
		return f
	}
	if limit > 0 && limit < total {
		f.Detail += ", control group allows " + gigabytes(limit)
		total = limit
	}
	if total < enoughMemory {
		f.State, f.Remedy = warning, "a run wants "+gigabytes(enoughMemory)
	}
	return f
}

func gigabytes(s int64) string { return fmt.Sprintf("%.1f GiB", float64(s)/(1<<30)) }

func checkSpace(dir string) finding {
	f := finding{What: "disk", State: fine}
	free, err := console.FreeSpace(dir)
	if err != nil {
		f.State, f.Detail, f.Remedy = failed, "cannot tell the free space: "+err.Error(), "name an existing folder with --path"
		return f
	}
	f.Detail = gigabytes(free) + " free"
	if free < 1<<30 {
		f.State, f.Remedy = warning, "a masked month takes about as much space as the month itself"
	}
	return f
}

// checkSync measures how long the disk takes to sync a file. A run syncs a few times a unit.
func checkSync(dir string) finding {
	f := finding{What: "fsync", State: fine}
	times, err := timeSyncs(dir, 15)
	if err != nil {
		f.State, f.Detail, f.Remedy = failed, err.Error(), "name a folder that you may write to with --path"
		return f
	}
	slices.Sort(times)
	median := times[len(times)/2]
	f.Detail = fmt.Sprintf("median %.2f ms", float64(median)/float64(time.Millisecond))
	if median > 100*time.Millisecond {
		f.State, f.Remedy = warning, "a slow disk or a network; small units will wait for it"
	}
	return f
}

// timeSyncs writes and syncs a page n times in a file of its own that it
// removes.
func timeSyncs(dir string, n int) (times []time.Duration, err error) {
	file, err := os.CreateTemp(dir, ".velum-doctor-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	page := make([]byte, 4096)
	for range n {
		begin := time.Now()
		if _, err := file.Write(page); err != nil {
			return nil, err
		}
		if err := file.Sync(); err != nil {
			return nil, err
		}
		times = append(times, time.Since(begin))
	}
	return times, nil
}

func checkHardening(string) finding {
	umask, core, dumpable := console.Hardened()
	f := finding{What: "privacy", State: fine, Detail: fmt.Sprintf("umask %03o, core limit %d, dumpable %t", umask, core, dumpable)}
	switch {
	case umask&0o077 != 0o077:
		f.State, f.Remedy = failed, "others could read what velum writes"
	case core != 0 || dumpable:
		f.State, f.Remedy = warning, "a crash could write memory to disk; start velum under LimitCORE=0"
	}
	return f
}
