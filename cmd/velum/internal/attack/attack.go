// Package attack tries velum's own output as somebody would who has all of it
// but the private tree: every attack in the table below takes an archive or an
// extract, says in figures what it could find out, and whether that is more than
// is allowed. To add one: its file, its options, its row.
package attack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"text/tabwriter"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
)

// Options are what `velum attack` is told beside the configuration.
type Options struct {
	Oracle OracleOptions
	Parrot ParrotOptions
	Link   LinkOptions

	Work string // folder for what attacks need on the disk; it holds words of notes, is made here and removed at the end
	Seed uint64 // of everything that is drawn
}

// finding is what an attack found out.
type finding struct {
	Attack   string `json:"attack"`
	Passed   bool   `json:"passed"` // it found out no more than is allowed
	Sentence string `json:"sentence"`
	Figures  any    `json:"figures"`

	table  func(w io.Writer) // the figures for a person; columns end in tabs
	remedy string            // if it did not pass
}

// attacks are tried in this order, those that are wanted.
var attacks = []struct {
	name   string
	wanted func(*Options) bool
	do     func(*attacker, context.Context) (*finding, error)
}{
	{"oracle", func(o *Options) bool { return o.Oracle.Use }, (*attacker).oracle},
	{"parrot", func(o *Options) bool { return len(o.Parrot.Gold) > 0 }, (*attacker).parrot},
	{"linkage", func(o *Options) bool { return o.Link.Extract != "" }, (*attacker).linkage},
}

// attacker is what attacks share.
type attacker struct {
	*console.Console
	*Options
	config *option.Config
}

// Run tries the attacks that are wanted, prints what each found out, and ends
// with exit code 15 if one of them found out more than is allowed.
func Run(ctx context.Context, c *console.Console, load func() (*option.Config, error), o *Options) (err error) {
	wanted := 0
	for _, a := range attacks {
		if a.wanted(o) {
			wanted++
		}
	}
	if wanted == 0 {
		return exit.Errorf(exit.Config, "see `velum attack --help`", "name an attack")
	}
	a := &attacker{Console: c, Options: o}
	if a.config, err = load(); err != nil {
		return err
	}
	if err := a.begin(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.Work)) }()
	var shut error
	for _, attack := range attacks {
		if !attack.wanted(o) {
			continue
		}
		f, err := attack.do(a, ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", attack.name, err)
		}
		f.Attack = attack.name
		if err := a.print(f); err != nil {
			return err
		}
		if !f.Passed {
			shut = errors.Join(shut, exit.Errorf(exit.Privacy, f.remedy, "%s: %s", f.Attack, f.Sentence))
		}
	}
	return shut
}

// begin makes the working folder. One that is there is somebody's.
func (a *attacker) begin() error {
	if a.Work == "" {
		return exit.Errorf(exit.Config, "name a folder that is not there yet; it is removed at the end", "--work is needed")
	}
	err := os.Mkdir(a.Work, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return exit.Errorf(exit.Config, "name one that is not, or remove it", "--work: %s is there already", a.Work)
	}
	return err
}

func (a *attacker) print(f *finding) error {
	if a.JSON {
		return json.NewEncoder(a.Out).Encode(struct {
			Kind string `json:"message_type"`
			*finding
		}{"finding", f})
	}
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	f.table(w)
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := a.Printf("%s: %s\n", f.Attack, f.Sentence)
	return err
}
