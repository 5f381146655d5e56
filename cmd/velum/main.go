// Command velum takes personal health information out of archives of clinical
// notes: Parquet in, masked Parquet out.
//
// Read internal/flow/flow.go first: it is the table of stages of every verb. This file is
// the shell around it: flags, configuration, logging, signals, exit codes.
// verbs.txt has the verbs, and verbs.go what each of them calls.
package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/look"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/fence"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == fence.WorkerArgument {
		os.Exit(fence.Work(os.Stdin, os.Stdout)) // this process decodes Parquet for another one
	}
	errs := console.Harden()
	os.Exit(int(start(os.Args[1:], os.Stdout, errs, os.Environ())))
}

// start is main without process-wide setup, for tests.
func start(args []string, out, errs io.Writer, env []string) exit.Code {
	return newApp(out, errs, env).run(args)
}

func (a *app) run(args []string) exit.Code {
	ctx, stop := signalContext()
	defer stop()
	defer a.EndHard(ctx)()
	root := newRootCommand(a)
	root.SetArgs(args)
	err := a.execute(ctx, root)
	// A wrong flag ends the parsing, perhaps before --json was seen.
	exit.Print(a.Errs, err, a.JSON || slices.Contains(args, "--json"))
	return exit.CodeOf(err)
}

// execute runs the command. A panic becomes an error that names the place and
// not the value, which may hold text of a note.
func (a *app) execute(ctx context.Context, root *cobra.Command) error {
	var c *cobra.Command
	err := pipeline.Try(func() (err error) {
		c, err = root.ExecuteContextC(ctx)
		return err
	})
	if cause := context.Cause(ctx); err != nil && cause != nil && errors.Is(err, context.Canceled) {
		err = cause
	}
	if c != nil && resumes(c) {
		return exit.GoesOn(err)
	}
	return err
}

// resumes reports whether the command continues where it stopped when it is started again; other commands begin from
// the start.
func resumes(c *cobra.Command) bool {
	stream := c.Name() == "mask" && c.Flags().NArg() > 0 // velum mask - -
	return !stream && slices.Contains([]string{"run", "mask", "learn", "review", "start", "study"}, c.Name())
}

// signalContext returns a context that SIGINT, SIGTERM and SIGHUP cancel with
// exit.ErrInterrupted, exit.ErrTerminated and exit.ErrHungUp. The second signal ends
// the process at once: the first puts the default behaviour back. A signal that
// whoever started the process has it ignore, as nohup does, stays ignored.
func signalContext() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	stops := []func(){func() { cancel(nil) }}
	for _, s := range []struct {
		signal os.Signal
		cause  error
	}{{os.Interrupt, exit.ErrInterrupted}, {syscall.SIGTERM, exit.ErrTerminated}, {syscall.SIGHUP, exit.ErrHungUp}} {
		if signal.Ignored(s.signal) {
			continue
		}
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

func newRootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "velum",
		Short: "Take personal health information out of archives of clinical notes",
		Example: `  velum run --in archive/ --out masked/     # with the model of the binary
  velum prove evaluate --gold dev/ --model meddocan   # scores with intervals
  velum run options     # every option and where its value came from
  velum check machine   # what this machine has, and what is wrong with it`,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(c *cobra.Command, args []string) error {
			a.StartLog()
			return cmp.Or(rightFlags(c), mayRead(c, args), mayWrite(c, args))
		},
		Args:    unknownVerb,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
		Version: look.NewBuild(version, revision).String(), // --version, which people try before the verb
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetOut(a.Out)
	root.SetErr(a.Errs)
	root.SetFlagErrorFunc(wrongFlag)
	a.globalFlags(root.PersistentFlags())
	root.SetUsageTemplate(usageTemplate)
	root.SetHelpTemplate(helpTemplate)
	cobra.EnableCommandSorting = false // the order of verbs is that of the help text
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpCommand(newHelpCommand())
	a.addVerbs(root, verbsText)
	completeValues(root)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}

func (a *app) globalFlags(f *pflag.FlagSet) {
	f.BoolVar(&a.JSON, "json", false, "write JSON for machines: results on stdout, JSON lines on stderr")
	f.BoolVarP(&a.Quiet, "quiet", "q", false,
		"write no progress, no log and no summary: warnings and errors alone, and what was asked for (--json, --dry-run)")
	f.BoolVar(&a.NoColor, "no-color", false, "no colours on a terminal; the variable NO_COLOR does the same")
	f.BoolVarP(&a.Verbose, "verbose", "v", false, "log more; never text of a note")
	f.StringVar(&a.options.File, "config", "", "configuration `FILE` in YAML; the variable VELUM_CONFIG does the same")
	a.options.AddSetFlag(f)
	a.options.AddFlag(f, "profile", "profile")
	f.SortFlags = false
}

const helpTemplate = `{{with or .Long .Short}}{{prose .}}

{{end}}{{.UsageString}}`

// usageTemplate begins with examples: most readers want one to copy.
const usageTemplate = `{{if .HasExample}}Examples:
{{.Example}}

{{end}}Usage:{{if .Runnable}}
  {{hang 2 .UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{if not .HasParent}}
  velum help COMMAND | TOPIC{{end}}

Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding }} {{hang 14 .Short}}{{end}}{{end}}{{end}}{{if not .HasParent}}

Topics, by velum help TOPIC:
  {{hang 2 topics}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{flags .LocalFlags}}{{end}}{{if .HasAvailableInheritedFlags}}

Flags of every command:
{{flags .InheritedFlags}}{{end}}{{if not .HasParent}}

Exit codes: 0 done, 1 failed, 3 done with more quarantined than allowed,
4 nothing to do, 10 configuration, 11 locked, 12 key, 13 integrity, 14 disk
full, 15 privacy gate, 129, 130 and 143 stopped by a signal; 2 crashed, without
a word, since the words may be a note's (set GOTRACEBACK=single to see them).{{end}}
`
