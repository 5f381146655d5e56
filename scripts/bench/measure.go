package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// measured is what one process took.
type measured struct {
	name      string
	wall, cpu time.Duration
	rss       int64 // bytes
}

// run starts a process and measures it. Exit code 3, more quarantined than
// allowed, is a run like any other here.
func run(args []string, env ...string) (measured, error) {
	c := exec.Command(args[0], args[1:]...)
	c.Env = append(os.Environ(), env...)
	c.Stderr = os.Stderr
	began := time.Now()
	err := c.Run()
	m := measured{wall: time.Since(began)}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 3 {
		err = nil
	}
	if err != nil {
		return m, fmt.Errorf("%s: %w", strings.Join(args[:2], " "), err)
	}
	m.cpu = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	if usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		m.rss = usage.Maxrss << 10
	}
	return m, nil
}

// machine names the processor.
func machine() string {
	name := runtime.GOARCH
	if data, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(data)) {
			if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
				name = strings.TrimSpace(v)
				break
			}
		}
	}
	load := "?"
	if data, err := os.ReadFile("/proc/loadavg"); err == nil {
		load, _, _ = strings.Cut(string(data), " ")
	}
	return fmt.Sprintf("%s, %d cores, load %s at the start, %s", name, runtime.NumCPU(), load, runtime.Version())
}

// micro runs the micro-benchmarks of stages and models and makes a table.
func micro() (string, error) {
	c := exec.Command("go", "test", "-run", "^$", "-bench", ".", "-benchmem", "-benchtime", "300ms", "./stages/...", "./models/...", "./pipeline/...")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("go test -bench: %w", err)
	}
	var b strings.Builder
	b.WriteString("| package | benchmark | ns/op | other | allocs/op |\n|---|---|---|---|---|\n")
	pkg := ""
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) == 2 && f[0] == "pkg:" {
			pkg = strings.TrimPrefix(f[1], "github.com/velum-health/velum/")
		}
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		values := map[string]string{}
		var other []string
		for i := 2; i+1 < len(f); i += 2 {
			values[f[i+1]] = f[i]
			if f[i+1] != "ns/op" && f[i+1] != "allocs/op" && f[i+1] != "B/op" {
				other = append(other, f[i]+" "+f[i+1])
			}
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(f[0], "Benchmark"), fmt.Sprintf("-%d", runtime.GOMAXPROCS(0)))
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", pkg, name, values["ns/op"], strings.Join(other, ", "), values["allocs/op"])
	}
	return b.String(), nil
}
