// Command velum takes personal health information out of archives of clinical
// notes: Parquet in, masked Parquet out.
//
// Read plan.go first: it is the table of stages of every verb. This file is
// the shell around it: flags, configuration, logging, signals, exit codes.
// Every verb has one file with one constructor, named in the list below.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read"
)

// verbs lists the commands in the order of the help text. To add one, write
// newXCommand in its own file and name it here.
var verbs = []func(*app) *cobra.Command{
	newRunCommand,
	newTagCommand,
	newTrainCommand,
	newLearnCommand,
	newEvaluateCommand,
	newConvertCommand,
	newSynthCommand,
	newEmbedCommand,
	newInspectCommand,
	newGazetteerCommand,
	newCheckCommand,
	newAuditCommand,
	newModelsCommand,
	newConfigCommand,
	newDoctorCommand,
	newVersionCommand,
	newManCommand,
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == read.WorkerArgument {
		os.Exit(read.Work(os.Stdin, os.Stdout)) // this process decodes Parquet for another one
	}
	errs := harden()
	os.Exit(int(run(os.Args[1:], os.Stdout, errs, os.Environ())))
}

// run is main without the process around it.
func run(args []string, out, errs io.Writer, env []string) exitCode {
	return (&app{out: out, errs: errs, env: env}).run(args)
}

func (a *app) run(args []string) exitCode {
	ctx, stop := signalContext()
	defer stop()
	defer a.endHard(ctx)()
	root := newRootCommand(a)
	root.SetArgs(args)
	err := a.execute(ctx, root)
	// A wrong flag ends the parsing, perhaps before --json was seen.
	printExit(a.errs, err, a.json || slices.Contains(args, "--json"))
	return exitCodeOf(err)
}

// execute runs the command. A panic becomes an error that names the place and
// not the value, which may hold text of a note.
func (a *app) execute(ctx context.Context, root *cobra.Command) error {
	err := pipeline.Try(func() error { return root.ExecuteContext(ctx) })
	if cause := context.Cause(ctx); err != nil && cause != nil && errors.Is(err, context.Canceled) {
		err = cause
	}
	return err
}

// signalContext returns a context that SIGINT and SIGTERM cancel with
// errInterrupted and errTerminated. The second signal ends the process at
// once: the first puts the default behaviour back.
func signalContext() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	stops := []func(){func() { cancel(nil) }}
	for _, s := range []struct {
		signal os.Signal
		cause  error
	}{{os.Interrupt, errInterrupted}, {syscall.SIGTERM, errTerminated}} {
		got, stop := signal.NotifyContext(context.Background(), s.signal)
		context.AfterFunc(got, func() { cancel(s.cause) })
		context.AfterFunc(ctx, stop)
		stops = append(stops, stop)
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// app is what all verbs share: streams, global flags and what is made from
// them. Verbs read it when they run, not when they are built.
type app struct {
	out, errs io.Writer
	env       []string

	json       bool
	quiet      bool
	noColor    bool
	verbose    bool
	configFile string
	settings   []textSetting // options set by flags, in their order

	spoil func(*pipeline.Line) // tests put faults into the line of a run here
	disk  pipeline.FS          // and below its output here; nil: the machine's
	grace time.Duration        // and have less patience; 0: endGrace
	hung  atomic.Bool          // endHard ends the process

	log *slog.Logger
}

// config loads the effective configuration.
func (a *app) config() (*Config, error) {
	return loadConfig(sources{file: a.configFile, env: a.env, flags: a.settings})
}

// terminal tells whether a person reads w now.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// paint colours s for w: with ANSI colour n on a terminal that wants it.
func (a *app) paint(w io.Writer, n int, s string) string {
	if !terminal(w) || a.noColor || a.getenv("NO_COLOR") != "" || a.getenv("TERM") == "dumb" {
		return s
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", n, s)
}

func (a *app) getenv(name string) string {
	for _, e := range a.env {
		if k, v, _ := strings.Cut(e, "="); k == name {
			return v
		}
	}
	return ""
}

// optionFlag adds a flag that sets the option key. What is wrong with its
// value is reported with all other mistakes when the configuration is loaded.
func (a *app) optionFlag(c *cobra.Command, name, key string) {
	a.addOptionFlag(c.Flags(), name, key)
}

func (a *app) addOptionFlag(flags *pflag.FlagSet, name, key string) {
	o := find(new(Config).options(), key)
	if o == nil {
		panic("velum: flag for an unknown option") // a bug: both names are constants
	}
	usage, _, _ := strings.Cut(o.why, ". ")
	usage = strings.ToLower(usage[:1]) + strings.TrimSuffix(usage[1:], ".") + " (" + key + ")"
	f := flags.VarPF(&optionValue{a, key, "--" + name, o}, name, "", usage)
	if _, isBool := o.at.(*bool); isBool {
		f.NoOptDefVal = "true"
	}
}

// optionValue is the pflag.Value of an option.
type optionValue struct {
	app       *app
	key, name string
	option    *option
}

func (v *optionValue) Set(s string) error {
	v.app.settings = append(v.app.settings, textSetting{v.key, s, v.name})
	return nil
}

func (v *optionValue) String() string { return "" }

func (v *optionValue) Type() string {
	switch v.option.at.(type) {
	case *string:
		return "text"
	case *int:
		return "n"
	case *float64:
		return "x"
	case *bool:
		return "bool"
	case *size:
		return "size"
	case interface{ Seconds() float64 }:
		return "duration"
	}
	return "a,b"
}

// setValue is the pflag.Value of --set key=value.
type setValue struct{ app *app }

func (v setValue) Set(s string) error {
	key, text, ok := strings.Cut(s, "=")
	if !ok {
		return errors.New("want KEY=VALUE")
	}
	v.app.settings = append(v.app.settings, textSetting{key, text, "--set " + key})
	return nil
}

func (v setValue) String() string { return "" }
func (v setValue) Type() string   { return "key=value" }

func newRootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "velum",
		Short: "Take personal health information out of archives of clinical notes",
		Example: `  velum run --in archive/ --out masked/           # mask an archive with the embedded model
  velum tag --in notes/ --from brat --out tagged/ --to brat --model meddocan
  velum evaluate --gold dev/ --model meddocan     # scores with intervals
  velum config print                              # every option and where its value came from
  velum doctor                                    # what this machine has, and what is wrong with it`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: func(*cobra.Command, []string) error { a.startLog(); return nil },
		Args:              unknownVerb,
		RunE:              func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetOut(a.out)
	root.SetErr(a.errs)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return exitf(exitConfig, "see `"+c.CommandPath()+" --help`", "%s: %w", c.CommandPath(), err)
	})
	a.globalFlags(root.PersistentFlags())
	root.SetUsageTemplate(usageTemplate)
	root.SetHelpTemplate(helpTemplate)
	for _, newVerb := range verbs {
		root.AddCommand(newVerb(a))
	}
	root.InitDefaultCompletionCmd()
	return root
}

func (a *app) globalFlags(f *pflag.FlagSet) {
	f.BoolVar(&a.json, "json", false, "write JSON for machines: results on stdout, JSON lines on stderr")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "write no progress and no log, only results and errors")
	f.BoolVar(&a.noColor, "no-color", false, "no colours on a terminal; the variable NO_COLOR does the same")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "log more; never text of a note")
	f.StringVar(&a.configFile, "config", "", "configuration `FILE` in YAML; the variable VELUM_CONFIG does the same")
	f.Var(setValue{a}, "set", "set any option, as --set tag.recall=0.995; may be repeated")
	a.addOptionFlag(f, "profile", "profile")
	f.SortFlags = false
}

// unknownVerb refuses arguments of the root command and names the verb that
// was meant.
func unknownVerb(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	remedy := didYouMean(args[0], names)
	if remedy == "" {
		remedy = "`velum help` lists all commands"
	}
	return exitf(exitConfig, remedy, "unknown command %q", args[0])
}

func noArgs(c *cobra.Command, args []string) error { return exactArgs(0)(c, args) }

// exactArgs is cobra's ExactArgs with our exit code.
func exactArgs(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == n:
			return nil
		case c.HasSubCommands():
			return unknownVerb(c, args)
		}
		return exitf(exitConfig, "see `"+c.CommandPath()+" --help`", "%s: arguments: want %d, have %d", c.CommandPath(), n, len(args))
	}
}

// startLog makes the logger: JSON lines with --json, text otherwise, nothing
// with --quiet, always on stderr.
func (a *app) startLog() {
	level := slog.LevelInfo
	if a.verbose {
		level = slog.LevelDebug
	}
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: dropTime(terminal(a.errs))}
	switch {
	case a.quiet:
		a.log = slog.New(slog.DiscardHandler)
	case a.json:
		a.log = slog.New(slog.NewJSONHandler(a.errs, o).WithAttrs([]slog.Attr{slog.String("message_type", "log")}))
	default:
		a.log = slog.New(slog.NewTextHandler(a.errs, o))
	}
}

// dropTime leaves the time out for a person at a terminal, who has a clock.
func dropTime(drop bool) func([]string, slog.Attr) slog.Attr {
	return func(groups []string, at slog.Attr) slog.Attr {
		if drop && len(groups) == 0 && at.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return at
	}
}

// setMemory sets the soft limit of the heap.
func (a *app) setMemory(limit size) {
	if limit == 0 && a.getenv("GOMEMLIMIT") == "" {
		if cgroup := cgroupMemory(); cgroup > 0 {
			limit = cgroup / 10 * 9
		}
	}
	if limit > 0 {
		debug.SetMemoryLimit(int64(limit))
	}
}

// gcPercent is how much garbage there may be in steady state, in percent of
// what lives. That is caches and buffers, 300 MB with few pointers in them: to
// mark them takes some 10 ms of one core, and with a kilobyte of garbage a note
// a collection comes every second at 25 %. At Go's own 100 % the heap ends at
// twice what lives, but later: a run of 3 M notes took 690 MiB where one of
// 300 k took 410.
const gcPercent = 25

// steadyMemory makes the garbage collector keep the heap flat, unless the
// environment says otherwise. Before, while models and caches are being made,
// it would only cost time.
func (a *app) steadyMemory() {
	if a.getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

const helpTemplate = `{{with or .Long .Short}}{{. | trimTrailingWhitespaces}}

{{end}}{{.UsageString}}`

// usageTemplate begins with examples: most readers want one to copy.
const usageTemplate = `{{if .HasExample}}Examples:
{{.Example}}

{{end}}Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND

Commands:{{range .Commands}}{{if (or .IsAvailableCommand (eq .Name "help"))}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

Flags of every command:
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if not .HasParent}}

Exit codes: 0 done, 1 failed, 3 done with more quarantined than allowed, 4 nothing to do,
10 configuration, 11 locked, 12 key, 13 integrity, 14 disk full, 15 privacy gate,
130 and 143 stopped by a signal; 2 crashed, without a word, since the words may be a
note's (set GOTRACEBACK=single to see them).{{end}}
`
