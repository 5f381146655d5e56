package main

import (
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
)

// wholeFlags lists the flags that name files which are read as a whole, with their largest size: a gigabyte for models,
// much less for texts.
var wholeFlags = map[string]int64{"guideline": option.MaxNamed, "rules": option.MaxNamed, "morph": 4 << 30, "init": 4 << 30,
	"members": 4 << 30}

// mayRead refuses arguments and values of flags that are devices, or larger than
// what they name ever is, before anything is opened: /dev/zero has no end. The
// streams of the process and pipes of a shell, <(zcat notes.gz), are read.
func mayRead(c *cobra.Command, args []string) (err error) {
	ask := func(path string, most int64) {
		if info, bad := os.Stat(path); bad != nil || info.Mode()&os.ModeNamedPipe != 0 || path == os.DevNull ||
			strings.HasPrefix(path, "/dev/std") {
			return
		}
		if problem := option.NotPlain(path, most); problem != "" && err == nil {
			err = exit.Misconfiguredf("name a file", "%s %s", path, problem)
		}
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		most, ok := wholeFlags[f.Name]
		if !ok {
			most = math.MaxInt64
		}
		values := []string{f.Value.String()}
		if s, ok := f.Value.(pflag.SliceValue); ok {
			values = s.GetSlice()
		}
		if !slices.Contains(writingFlags, f.Name) {
			for _, v := range values {
				ask(v, most)
			}
		}
	})
	most := int64(math.MaxInt64)
	if strings.Contains(c.CommandPath(), " rules ") {
		most = option.MaxNamed
	}
	for _, v := range args {
		ask(v, most)
	}
	return err
}
