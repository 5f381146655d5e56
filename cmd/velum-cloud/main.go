// Command velum-cloud masks archives that lie in object stores: see package cloud. It is a
// module of its own, since velum has no network code.
package main

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
	_ "gocloud.dev/blob/azureblob"
	_ "gocloud.dev/blob/fileblob"
	_ "gocloud.dev/blob/gcsblob"
	_ "gocloud.dev/blob/s3blob"

	"github.com/velum-health/velum/cmd/velum-cloud/cloud"
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
  --scratch-limit SIZE    the most bytes there, as 50GB (default: 50GB); inputs are brought in batches of a third of it
  --velum FILE            the velum to start (default: that beside velum-cloud, or in PATH)
  --json                  log lines for machines; velum is told too
  --empty-ok              end with exit code 0, not 4, when nothing is new

Credentials come from where the providers' own tools look: variables (AWS_*, GOOGLE_APPLICATION_CREDENTIALS, AZURE_*),
files, the machine's role. What follows "?" in an URL is for the provider:
  s3://notes/2026?region=eu-south-2    s3://notes/2026?endpoint=http://127.0.0.1:17070&use_path_style=true

Exit codes are those of velum; 11: another run has scratch, or has committed first.
`

func main() {
	syscall.Umask(0o077)
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code, err := start(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "velum-cloud:", err)
	}
	os.Exit(code)
}

func start(ctx context.Context, args []string) (int, error) {
	if len(args) == 0 || slices.Contains([]string{"help", "--help", "-h"}, args[0]) || slices.Contains(args, "--help") {
		fmt.Print(help)
		return 0, nil
	}
	o, c, err := parse(args[1:])
	if err != nil {
		return cloud.ExitCode(err), err
	}
	o.Open, o.Velum = blob.OpenBucket, c.velum
	o.Log = slog.New(c.handler())
	code := 0
	switch verb := args[0]; {
	case o.Out == "", verb == "run" && len(o.In) == 0:
		err = refused("see `velum-cloud help`", "--in and --out are needed")
	case verb == "run":
		if code, err = cloud.Run(ctx, o); code == cloud.Nothing && err == nil {
			o.Log.Info("nothing is new")
		}
	case verb == "forget":
		code, err = cloud.Forget(ctx, o)
	case verb == "check":
		code, err = cloud.Check(ctx, o, os.Stdout)
	default:
		err = refused("it knows run, forget and check; velum has the others", "velum-cloud has no command %q", verb)
	}
	if code == 0 {
		code = cloud.ExitCode(err)
	}
	if code == cloud.Nothing && err == nil && c.emptyOK {
		code = 0
	}
	return code, err
}

func refused(remedy, format string, args ...any) error {
	return &cloud.Error{Code: cloud.Config, Cause: fmt.Sprintf(format, args...), Remedy: remedy}
}

// command is what is told of the process, and not of the run.
type command struct {
	file                 string // velum
	json, quiet, emptyOK bool
}

// parse takes what is ours out of the arguments: the others are velum's.
func parse(args []string) (*cloud.Options, *command, error) {
	o, c := &cloud.Options{Limit: 50e9}, &command{}
	size := ""
	values := map[string]*string{"--out": &o.Out, "--private": &o.Private, "--scratch": &o.Scratch, "--scratch-limit": &size, "--velum": &c.file}
	for i := 0; i < len(args); i++ {
		flag, value, is := strings.Cut(args[i], "=")
		if to := values[flag]; to != nil || flag == "--in" {
			if !is {
				if i++; i == len(args) {
					return nil, nil, refused("see `velum-cloud help`", "%s has no value", flag)
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
			c.json = true
		case "-q", "--quiet":
			c.quiet = true
		case "--empty-ok":
			c.emptyOK = true
		case "--dry-run", "--patient":
			return nil, nil, refused("bring the archive to this machine and use velum", "velum-cloud has no %s", flag)
		}
		o.Args = append(o.Args, args[i])
	}
	if size == "" {
		return o, c, nil
	}
	n, unit, err := 0.0, 1.0, error(nil)
	for i, suffix := range []string{"KB", "MB", "GB", "TB"} {
		if number, is := strings.CutSuffix(strings.ToUpper(size), suffix); is {
			size = number
			for range i + 1 {
				unit *= 1000
			}
		}
	}
	if n, err = strconv.ParseFloat(strings.TrimSpace(size), 64); err != nil || n <= 0 || n > 1e9 && unit > 1 {
		return nil, nil, refused("write it as 50GB", "--scratch-limit is no size")
	}
	o.Limit = int64(n * unit)
	return o, c, nil
}

func (c *command) handler() slog.Handler {
	o := &slog.HandlerOptions{}
	if c.quiet {
		o.Level = slog.LevelWarn
	}
	if c.json {
		return slog.NewJSONHandler(os.Stderr, o)
	}
	return slog.NewTextHandler(os.Stderr, o)
}

// find finds velum.
func (c *command) find() (string, error) {
	if c.file != "" {
		return c.file, nil
	}
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), "velum")
		if _, err := os.Stat(beside); err == nil {
			return beside, nil
		}
	}
	return exec.LookPath("velum")
}

// velum starts velum, without what opens the store, and returns its exit code.
func (c *command) velum(ctx context.Context, out io.Writer, lock *os.File, args ...string) (int, error) {
	name, err := c.find()
	if err != nil {
		return 0, refused("put it beside velum-cloud, or name it with --velum", "no velum was found")
	}
	v := exec.CommandContext(ctx, name, args...)
	v.Stdout, v.Stderr, v.ExtraFiles = os.Stdout, os.Stderr, []*os.File{lock}
	if out != nil {
		v.Stdout = out
	}
	v.Env = slices.DeleteFunc(os.Environ(), func(s string) bool {
		return slices.ContainsFunc([]string{"AWS_", "AZURE_", "GOOGLE_", "STORAGE_"}, func(p string) bool { return strings.HasPrefix(s, p) })
	})
	v.Cancel = func() error { return v.Process.Signal(syscall.SIGTERM) }
	v.WaitDelay = 30 * time.Second
	err = v.Run()
	if ended, is := errors.AsType[*exec.ExitError](err); is && ended.Exited() {
		return ended.ExitCode(), nil
	}
	if err != nil && ctx.Err() != nil {
		return 143, nil
	}
	return 0, err
}
