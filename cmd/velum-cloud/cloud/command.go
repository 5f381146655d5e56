package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gocloud.dev/blob"
)

const help = `velum-cloud masks archives that lie in object stores, by the velum beside it.

Usage:
  velum-cloud run --in URL --out URL [flags of velum run]
  velum-cloud forget --out URL FILE...     take files out of the output, which is all brought to scratch
  velum-cloud check --out URL              read every byte of the output and compare it with the last commit

Flags:
  --in URL                s3://BUCKET/FOLDER, gs://..., azblob://CONTAINER/FOLDER, or a path of this machine; may be repeated
  --out URL               tree to write; what is left out of it goes to URL.private and URL.private.cloud
  --private URL           for what holds words of notes; best a bucket that few can read
  --scratch DIR           folder of this machine for what is being masked (default: that of the system); its owner's alone
  --scratch-limit SIZE    the most bytes there, as 50GB (default: 50GB); inputs are brought in batches of a third of it,
                          and of less where that is too much
  --velum FILE            the velum to start (default: that beside velum-cloud, or in PATH)
  --json                  log lines for machines; velum is told too
  --empty-ok              end with exit code 0, not 4, when nothing is new

Credentials come from where the providers' own tools look: variables (AWS_*, GOOGLE_APPLICATION_CREDENTIALS, AZURE_*),
files, the machine's role. What follows "?" in an URL is for the provider:
  s3://notes/2026?region=eu-south-2    s3://notes/2026?endpoint=http://127.0.0.1:17070&use_path_style=true

Exit codes are those of velum; 11: another run has scratch, or has committed first.
`

// Start is the command. It returns the exit code.
func Start(ctx context.Context, args []string, open func(context.Context, string) (*blob.Bucket, error)) int {
	ctx, stop := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		s := <-signals
		signal.Reset() // a second one ends the process at once
		number, _ := s.(syscall.Signal)
		stop(&Error{128 + int(number), "stopped by a signal: " + s.String(), "the same command goes on"})
	}()
	code, err := command(ctx, args, open)
	if err != nil {
		fmt.Fprintln(os.Stderr, "velum-cloud:", err)
	}
	return code
}

func command(ctx context.Context, args []string, open func(context.Context, string) (*blob.Bucket, error)) (code int, err error) {
	if len(args) == 0 || slices.Contains([]string{"help", "--help", "-h"}, args[0]) || slices.Contains(args, "--help") {
		fmt.Print(help)
		return 0, nil
	}
	o, err := parseFlags(args[1:])
	if err != nil {
		return ExitCode(err), err
	}
	o.Open, o.Velum, o.Log = open, o.start, slog.New(o.handler())
	switch verb := args[0]; {
	case o.Out == "", verb == "run" && len(o.In) == 0:
		err = wrong("see `velum-cloud help`", "--in and --out are needed")
	case verb == "run":
		if code, err = Run(ctx, o); code == Nothing && err == nil {
			o.Log.Info("nothing is new")
		}
	case verb == "forget":
		code, err = Forget(ctx, o)
	case verb == "check":
		code, err = Check(ctx, o, os.Stdout)
	default:
		err = wrong("it knows run, forget and check; velum has the others", "velum-cloud has no command %q", verb)
	}
	if err != nil {
		return ExitCode(err), err
	}
	if code == Nothing && o.emptyOK {
		code = 0
	}
	return code, nil
}

// parseFlags takes what is ours out of the arguments: the others are velum's.
func parseFlags(args []string) (o *Options, err error) {
	o = &Options{}
	size := "50GB"
	values := map[string]*string{"--out": &o.Out, "--private": &o.Private, "--scratch": &o.Scratch, "--scratch-limit": &size, "--velum": &o.program}
	for i := 0; i < len(args); i++ {
		flag, value, is := strings.Cut(args[i], "=")
		if to := values[flag]; to != nil || flag == "--in" {
			if !is {
				if i++; i == len(args) {
					return nil, wrong("see `velum-cloud help`", "%s has no value", flag)
				}
				value = args[i]
			}
			if to != nil {
				*to = value
			} else {
				o.In = append(o.In, strings.Split(value, ",")...)
			}
			continue
		}
		switch flag {
		case "--json":
			o.json = true
		case "-q", "--quiet":
			o.quiet = true
		case "--empty-ok":
			o.emptyOK = true
		case "--dry-run", "--patient", "--plan", "--shard":
			return nil, wrong("bring the archive to this machine and use velum", "velum-cloud has no %s", flag)
		}
		o.Args = append(o.Args, args[i])
	}
	o.Limit, err = bytesOf(size)
	return o, err
}

// bytesOf reads a size as 1.5TB.
func bytesOf(size string) (int64, error) {
	number, unit := strings.ToUpper(size), 1.0
	for i, suffix := range []string{"KB", "MB", "GB", "TB"} {
		if n, is := strings.CutSuffix(number, suffix); is {
			number = n
			for range i + 1 {
				unit *= 1000
			}
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if n *= unit; err != nil || !(n >= 1 && n < 1<<60) {
		return 0, wrong("write it as 50GB", "--scratch-limit is no size")
	}
	return int64(n), nil
}

func (o *Options) handler() slog.Handler {
	level := &slog.HandlerOptions{}
	if o.quiet {
		level.Level = slog.LevelWarn
	}
	if o.json {
		return slog.NewJSONHandler(os.Stderr, level)
	}
	return slog.NewTextHandler(os.Stderr, level)
}

// find finds velum.
func (o *Options) find() (string, error) {
	if o.program != "" {
		return o.program, nil
	}
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), "velum")
		if _, err := os.Stat(beside); err == nil {
			return beside, nil
		}
	}
	return exec.LookPath("velum")
}

// start starts velum, and returns its exit code. It is in a group of its own, so that Ctrl-C comes to it once, from here.
func (o *Options) start(ctx context.Context, out io.Writer, lock *os.File, args ...string) (int, error) {
	name, err := o.find()
	if err != nil {
		return 0, wrong("put it beside velum-cloud, or name it with --velum", "no velum was found")
	}
	v := exec.CommandContext(ctx, name, args...)
	v.Stdout, v.Stderr, v.ExtraFiles, v.Env = os.Stdout, os.Stderr, []*os.File{lock}, environment(os.Environ())
	if out != nil {
		v.Stdout = out
	}
	v.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	v.Cancel = func() error { return v.Process.Signal(syscall.SIGTERM) }
	v.WaitDelay = 30 * time.Second
	err = v.Run()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if ended, is := errors.AsType[*exec.ExitError](err); is && ended.Exited() {
		return ended.ExitCode(), nil
	}
	return 0, err
}

// environment is what velum sees of the variables of this process. What may open a store is not among them: there is
// no list of all that may.
func environment(all []string) []string {
	known := strings.Fields("HOME PATH TMPDIR TZ LANG TERM COLUMNS NO_COLOR USER LOGNAME GOMAXPROCS GOMEMLIMIT GOGC GODEBUG GOTRACEBACK")
	return slices.DeleteFunc(all, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !slices.Contains(known, name) && !strings.HasPrefix(name, "VELUM_") && !strings.HasPrefix(name, "LC_")
	})
}
