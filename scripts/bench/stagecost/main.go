// Command stagecost times the stages between reading and writing by
// themselves: tokenize, patterns and tag over the notes of an archive, in one
// goroutine, in processor time, so that the figures hold on a busy machine.
// It prints a digest of all tags and confidences: a fast path that changes a
// bit changes the digest.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/pprof"
	"syscall"
	"time"

	"github.com/velum-health/velum/models/crf"
	"github.com/velum-health/velum/models/embed"
	"github.com/velum-health/velum/models/embedded"
	"github.com/velum-health/velum/models/features"
	"github.com/velum-health/velum/models/gazetteer"
	"github.com/velum-health/velum/models/language"
	"github.com/velum-health/velum/models/modelfile"
	"github.com/velum-health/velum/models/patterns"
	"github.com/velum-health/velum/models/tagger"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/tokenize"
	"github.com/zeebo/xxh3"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "stagecost:", err)
		os.Exit(1)
	}
}

func run() error {
	in := flag.String("in", "", "archive: a file or a folder")
	name := flag.String("model", "primary-care", "embedded model")
	warm := flag.Bool("warm", false, "a second pass, with the form cache full; else a new process as it is")
	cpu := flag.String("cpu", "", "write a CPU profile of the timed passes")
	flag.Parse()
	m, err := open(*name)
	if err != nil {
		return err
	}
	notes, err := load(*in)
	if err != nil {
		return err
	}
	c := &costs{matcher: patterns.New(patterns.Options{}), labeller: m.NewLabeller(tagger.LabelOptions{}).(*crf.Labeller), tokenizer: tokenize.New(tokenize.Options{}).New()}
	if *warm {
		for _, b := range notes {
			if err := c.batch(b); err != nil {
				return err
			}
		}
		*c = costs{matcher: c.matcher, labeller: c.labeller, tokenizer: c.tokenizer}
	}
	if *cpu != "" {
		f, err := os.Create(*cpu)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	for _, b := range notes {
		if err := c.batch(b); err != nil {
			return err
		}
	}
	c.print()
	return nil
}

func open(name string) (*crf.Model, error) {
	data, ok := embedded.Model(name)
	if !ok {
		return nil, fmt.Errorf("no embedded model %q", name)
	}
	f, err := modelfile.Parse(data)
	if err != nil {
		return nil, err
	}
	g := gazetteer.Default()
	return crf.Load(f, features.Resources{Lexicon: g, Phrases: g, Open: openClusters})
}

// openClusters reads the clusters that a model brings along: those embedded
// have no other resource.
func openClusters(kind string, data []byte) (features.Stored, error) {
	if kind != embed.ClustersKind {
		return nil, fmt.Errorf("resource of kind %q", kind)
	}
	return embed.OpenClusters(data)
}

// load reads the archive into batches that stay.
func load(in string) (notes []*pipeline.Batch, err error) {
	archive, err := read.Scan(context.Background(), []string{in}, read.ParquetOptions{ID: []string{"note_id"}, Text: "text"})
	if err != nil {
		return nil, err
	}
	for i := range archive.Units {
		src, err := archive.Open(&archive.Units[i])
		if err != nil {
			return nil, err
		}
		for err == nil {
			b := new(pipeline.Batch)
			if err = src.Next(b); err == nil {
				notes = append(notes, b)
			}
		}
		if err := src.Close(); err != nil {
			return nil, err
		}
		if !errors.Is(err, io.EOF) {
			return nil, err
		}
	}
	return notes, nil
}

type costs struct {
	matcher   *patterns.Matcher
	labeller  *crf.Labeller
	tokenizer func(*pipeline.Batch) error

	notes, tokens, bytes                int
	tokenize, language, patterns, label time.Duration
	digest                              xxh3.Hasher
	languages                           uint64
}

// batch passes a batch through the stages and adds up what each took.
func (c *costs) batch(b *pipeline.Batch) error {
	b.Tokens.Reset()
	b.Matches.Reset()
	b.Language = b.Language[:0]
	at := processor()
	if err := c.tokenizer(b); err != nil {
		return err
	}
	at = c.lap(&c.tokenize, at)
	for i := range b.Len() {
		lang, _ := language.Of(b.Text.At(i), b.Tokens.At(i))
		c.languages += uint64(lang)
	}
	at = c.lap(&c.language, at)
	for i := range b.Len() {
		b.Matches.Items = c.matcher.Find(b.Matches.Items, b.Text.At(i))
		b.Matches.End()
	}
	at = c.lap(&c.patterns, at)
	b.Tags, b.Conf = make([]pipeline.Tag, len(b.Tokens.Items)), make([]float32, b.Len())
	for i := range b.Len() {
		b.Conf[i] = c.labeller.Label(b.Text.At(i), b.Tokens.At(i), b.Matches.At(i), b.TagsOf(i))
	}
	c.lap(&c.label, at)
	c.count(b)
	return nil
}

// lap adds the processor time since at to sum and returns the time now.
func (c *costs) lap(sum *time.Duration, at time.Duration) time.Duration {
	now := processor()
	*sum += now - at
	return now
}

func (c *costs) count(b *pipeline.Batch) {
	c.notes += b.Len()
	c.tokens += len(b.Tokens.Items)
	c.bytes += len(b.Text.Data)
	var line []byte
	for _, y := range b.Tags {
		line = append(line, byte(y))
	}
	for _, conf := range b.Conf {
		line = binary.LittleEndian.AppendUint32(line, math.Float32bits(conf))
	}
	c.digest.Write(line) // never fails
}

func (c *costs) print() {
	fmt.Printf("%d notes, %d tokens, %d bytes; tags and confidences %016x\n", c.notes, c.tokens, c.bytes, c.digest.Sum64())
	for _, s := range []struct {
		name string
		took time.Duration
	}{
		{"tokenize", c.tokenize}, {"of it language", c.language}, {"patterns", c.patterns}, {"tag", c.label},
		{"all", c.tokenize + c.patterns + c.label},
	} {
		fmt.Printf("%-16s %6.2f us/note %7.1f ns/token\n", s.name, s.took.Seconds()*1e6/float64(c.notes), s.took.Seconds()*1e9/float64(c.tokens))
	}
	asked, found := c.labeller.CacheStats()
	fmt.Printf("form cache       %d of %d found, %.4f\n", found, asked, float64(found)/float64(max(asked, 1)))
}

// processor returns the processor time that this process took so far.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it has no way to fail
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
