package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/review"
)

func newReviewCommand(a *app) *cobra.Command {
	var o review.Options
	c := &cobra.Command{
		Use:   "review --in PATH --out PATH",
		Short: "Correct notes in a page on this machine, by keyboard alone",
		Long: `Show notes with their spans in a browser on this machine, the least sure first, and write those that
a person has decided. The page is served to 127.0.0.1 alone, for whoever opens the printed address
first. Every decision is on the disk (OUT.journal: places, no words) before the next note comes:
started again, the session goes on where it was. --export writes what is decided and ends.
--against shows where another curator decided otherwise, and prints F1 and kappa.

--ask says what the page asks of a note: its spans; with "audit" those that "velum run --audit" drew and
that --of names, of whose masks some may lack; with "quarantine" those that it set aside; with
"usefulness" whether what matters of a note is still there when its spans are masked: one of three keys.`,
		Example: `  velum review --in questions.jsonl --out answers.jsonl
  velum review --in questions.jsonl --out answers.jsonl --export
  velum review --in anna.jsonl --against pere.jsonl --out agreed.jsonl
  velum review --ask audit --of masked/ --in archive/ --out read.jsonl
  velum review --ask usefulness --in notes.jsonl --out judged.jsonl`,
		Args: noArgs,
		RunE: call(a, review.Run, &o),
	}
	flags := c.Flags()
	flags.StringVar(&o.Reader, "reader", "", "`NAME` of who reads the sample of --ask audit (default: that of the account)")
	flags.StringVar(&o.Ask, "ask", "", "`QUESTION`: "+strings.Join(review.Questions(), ", ")+" (default: "+review.Questions()[0]+")")
	flags.StringVar(&o.Of, "of", "", "`FOLDER` that velum run wrote; --in is then its archive")
	flags.StringVar(&o.In, "in", "", "`PATH` of notes with spans: questions, samples, tagged notes")
	flags.StringVar(&o.From, "from", "", "its `FORMAT`; told from the files if left out")
	flags.StringVar(&o.Out, "out", "", "`PATH` of the decided notes")
	flags.StringVar(&o.To, "to", "", "its `FORMAT`; told from the name if left out")
	flags.StringVar(&o.Other, "against", "", "`PATH` of another curator's notes")
	flags.StringVar(&o.Labels, "labels", "", "label `SET` of the categories (default: that of the profile)")
	flags.StringVar(&o.Lang, "lang", "", "`CODE` of the page's language: "+strings.Join(review.Langs, ", ")+" (default: that of the terminal, else es)")
	flags.StringToStringVar(&o.Keys, "keys", nil, "other `KEYS`, as accept=F2,undo=F3, by the names of browsers")
	flags.StringVar(&o.Guide, "guideline", "", "`FILE` of text that the page shows on ? in place of velum's own guideline")
	flags.IntVar(&o.Port, "port", 0, "`PORT` to listen on; 0 takes a free one")
	flags.BoolVar(&o.Export, "export", false, "write what is decided, without a page")
	a.noteFlags(c)
	return c
}
