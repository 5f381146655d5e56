package cloud

import (
	"context"
	"fmt"
	"io"
)

// Check reads every object of the output and names what differs from the last commit.
func Check(ctx context.Context, o *Options, out io.Writer) (exit int, err error) {
	r, err := newRun(ctx, o)
	if err != nil {
		return ExitCode(err), err
	}
	n, err := r.newest(ctx)
	if err == nil && n == 0 {
		err = &Error{Nothing, r.trees[0].url + ": there is no output", "look at --out and --private"}
	}
	if err == nil {
		r.base, err = r.load(ctx, n)
	}
	if err != nil {
		return ExitCode(err), err
	}
	differs := 0
	name := func(what string, f *folder, key string) {
		differs++
		fmt.Fprintf(out, "%s\t%s/%s\n", what, f.url, key)
	}
	listed := r.base.names()
	for i, t := range r.trees {
		there, err := t.all(ctx, "")
		if err != nil {
			return ExitCode(err), err
		}
		for _, f := range r.base.Files {
			key := f.Path
			if i == 2 {
				key = f.staged()
			} else if f.tree() != i {
				continue
			}
			if !listed[i][key] {
				continue // a part is staged nowhere
			}
			have, is := there[key]
			sum := ""
			if is && have.size == f.Bytes {
				if sum, err = t.copyTo(ctx, key, f.Bytes, io.Discard); err != nil {
					return ExitCode(err), err
				}
			}
			if !is {
				name("missing", t, key)
			} else if sum != f.SHA256 {
				name("changed", t, key)
			}
		}
		for key := range there {
			if !listed[i][key] && i < 2 {
				name("unknown", t, key)
			}
		}
	}
	fmt.Fprintf(out, "%d files of %s/%s read, %d differ\n", len(r.base.Files), r.state.url, manifestKey(n), differs)
	if differs > 0 {
		return Integrity, nil
	}
	return 0, nil
}
