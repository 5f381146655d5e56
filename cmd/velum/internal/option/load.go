package option

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/models/word/locale"
)

// An origin says where a value came from.
type origin struct {
	from string // "built-in", "profile NAME", a file, a variable or a flag
	at   place  // in the file or profile
}

// String formats the place as editors expect it.
func (o origin) String() string {
	if o.at.line > 0 {
		return fmt.Sprintf("%s:%d", o.from, o.at.line)
	}
	return o.from
}

// Given reports whether a user, policy or profile has set the option, so that it is not the built-in default.
func (c *Config) Given(key string) bool { return c.origins[key].from != "built-in" }

// Sources holds the places that values come from. The order of precedence is: flags, environment, plan, file, policy,
// profile, built-in values.
type Sources struct {
	File  string        // --config; "" takes VELUM_CONFIG
	Env   []string      // as os.Environ returns it
	Plan  []byte        // options that a plan was made with, of Portable: they go before the file
	flags []textSetting // in the order of the command line
}

// With returns a copy of the sources with further settings KEY=VALUE, which take precedence over all others.
func (s Sources) With(settings []string) Sources {
	s.flags = slices.Clip(s.flags) // what is added is a copy's own
	_ = setValue{&s}.Replace(settings)
	return s
}

// textSetting is an option set by a flag or a variable.
type textSetting struct{ key, text, name string }

// Load reads all sources and returns the effective configuration, or an
// error with every mistake of every source.
func Load(s Sources) (*Config, error) {
	c := &Config{origins: map[string]origin{}}
	l := loader{Config: c, options: c.options()}
	for _, o := range l.options {
		o.reset()
		c.origins[o.key] = origin{from: "built-in"}
	}
	env, file := l.environment(s.Env)
	file = cmp.Or(s.File, file)
	text, err := readFile(file)
	if err != nil {
		return nil, err
	}
	if s.Plan != nil {
		l.profile(s.Plan, env, s.flags)
	} else {
		l.profile(text, env, s.flags)
	}
	l.file(file, file, text)
	l.relativeTo(file)
	l.file("plan", "plan.json", s.Plan)
	for _, e := range env {
		l.text("environment", e)
	}
	for _, f := range s.flags {
		l.text("command line", f)
	}
	l.policyOptions()
	if wrong := c.files(); len(wrong) > 0 {
		return c, (&exit.ConfigError{Mistakes: append(l.mistakes, wrong...)}).OrNil()
	}
	if c.Read.Categories != "" {
		if err := configs.AddCategories(c.Read.Categories); err != nil {
			l.mistakes = append(l.mistakes, c.Mistake("read.categories", c.Read.Categories+": "+err.Error(), "write it as configs/categories.yaml"))
		}
	}
	for _, path := range c.Read.Languages {
		words, err := os.ReadFile(path)
		if err == nil {
			err = locale.Add(string(words))
		}
		if err != nil {
			l.mistakes = append(l.mistakes, c.Mistake("read.languages", path+": "+err.Error(), "`velum help languages` has an example"))
		}
	}
	l.mistakes = append(l.mistakes, c.contradictions()...)
	return c, (&exit.ConfigError{Mistakes: l.mistakes}).OrNil()
}

// maxFile bounds a file of YAML, whatever it is: of a device no size is known.
const maxFile = 1 << 20

// MaxNamed is the largest size in bytes of a file that an option names and that is read as a whole.
const MaxNamed = 64 << 20

// files returns mistakes for options that name no regular file, or one that is too large. It runs before any file is
// opened, because a device has no end and a pipe can block.
func (c *Config) files() []exit.Mistake {
	k := checker{Config: c}
	for _, o := range c.options() {
		most := int64(MaxNamed)
		if o.large {
			most = math.MaxInt64
		}
		var paths []string
		switch at := o.at.(type) {
		case *string:
			paths = []string{*at}
		case *[]string:
			paths = *at
		}
		for _, path := range paths {
			if !o.isPath(path) {
				continue
			}
			if problem := NotPlain(path, most); problem != "" {
				k.note(o.key, path+": "+problem, "name a file")
			}
		}
	}
	return k.mistakes
}

// NotPlain returns why a path must not be read as a file: it is a device, or larger than most bytes. It returns "" for
// a regular file, a folder or a missing path; a missing path is reported when it is opened.
func NotPlain(path string, most int64) string {
	info, err := os.Stat(path)
	switch {
	case err != nil || info.IsDir():
		return ""
	case !info.Mode().IsRegular():
		return "is a device, a pipe or a socket, and no file"
	case info.Size() > most:
		return fmt.Sprintf("has %d MiB, more than such a file has", info.Size()>>20)
	}
	return ""
}

func readFile(file string) ([]byte, error) {
	if file == "" {
		return nil, nil
	}
	text, err := readBounded(file)
	if errors.Is(err, errTooLong) {
		return nil, exit.Misconfiguredf("name a YAML file with --config", "configuration file %s: %w", file, err)
	}
	if err != nil {
		return nil, exit.Misconfiguredf("name a readable YAML file with --config", "configuration file: %w", err)
	}
	return text, nil
}

var errTooLong = errors.New("longer than 1 MiB")

func readBounded(file string) ([]byte, error) {
	if problem := NotPlain(file, maxFile); problem != "" && !strings.HasPrefix(file, "/dev/fd/") {
		return nil, fmt.Errorf("%s: %s", file, problem)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if len(text) > maxFile {
		return nil, errTooLong
	}
	return text, err
}

// loader fills a Config from one source after the other.
type loader struct {
	*Config
	options  []option
	mistakes []exit.Mistake
}

// profile applies the profile that the strongest source names. A name that
// does not exist is reported when that source itself is applied.
func (l *loader) profile(text []byte, env, flags []textSetting) {
	var named Config
	r := strictReader{options: []option{{key: "profile", at: &named.Profile}}}
	r.read(text)
	name := cmp.Or(named.Profile, configs.DefaultProfile)
	for _, s := range slices.Concat(env, flags) {
		if s.key == "profile" {
			name = s.text
		}
	}
	if profile, err := configs.Profile(name); err == nil && slices.Contains(configs.Profiles(), name) {
		l.file("profile "+name, name+".yaml", profile)
	}
}

func (l *loader) file(from, file string, text []byte) {
	r := strictReader{file: file, options: l.options}
	r.read(text)
	l.mistakes = append(l.mistakes, r.mistakes...)
	for key, at := range r.places {
		l.origins[key] = origin{from, at}
	}
}

// relativeTo makes relative paths in the file relative to its folder, so that a configuration does not depend on the
// working directory.
func (l *loader) relativeTo(file string) {
	for _, o := range l.options {
		if list, ok := o.at.(*[]string); ok && l.origins[o.key].from == file {
			for i, name := range *list {
				if o.isPath(name) && !filepath.IsAbs(name) {
					(*list)[i] = filepath.Join(filepath.Dir(file), name)
				}
			}
		}
		at, ok := o.at.(*string)
		if !ok || l.origins[o.key].from != file || !o.isPath(*at) || filepath.IsAbs(*at) {
			continue
		}
		*at = filepath.Join(filepath.Dir(file), *at)
	}
}

// isPath tells whether a value of o is a path: a name that ships with velum
// has neither slash nor dot.
func (o *option) isPath(s string) bool {
	return s != "" && (o.file || o.nameOr && strings.ContainsAny(s, "./"))
}

// environment returns the options set by variables, and the value of
// VELUM_CONFIG. A variable that looks like one of ours and is none is a
// mistake; others are let be, since Kubernetes sets VELUM_PORT and its like
// for a service of that name.
func (l *loader) environment(env []string) (set []textSetting, file string) {
	keys := map[string]string{}
	for _, o := range l.options {
		keys[envName(o.key)] = o.key
	}
	for _, e := range env {
		name, text, _ := strings.Cut(e, "=")
		key, known := keys[name]
		switch {
		case !strings.HasPrefix(name, "VELUM_") || text == "":
		case name == "VELUM_CONFIG":
			file = text
		case known:
			set = append(set, textSetting{key, text, name})
		case exit.DidYouMean(name, sortedKeys(keys)) != "" || isSection(l.options, sectionOf(name)):
			l.mistakes = append(l.mistakes, exit.Mistake{File: "environment", Key: name,
				Message: "unknown variable", Hint: exit.DidYouMean(name, sortedKeys(keys))})
		}
	}
	slices.SortFunc(set, func(a, b textSetting) int { return strings.Compare(a.name, b.name) })
	return set, file
}

// envName returns the variable of an option: VELUM_READ_COLUMNS_ID.
func envName(key string) string { return "VELUM_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_")) }

func sectionOf(variable string) string {
	section, _, _ := strings.Cut(strings.TrimPrefix(variable, "VELUM_"), "_")
	return strings.ToLower(section)
}

func (l *loader) text(source string, s textSetting) {
	m := exit.Mistake{File: source, Key: s.name}
	o := find(l.options, s.key)
	if o == nil {
		r := strictReader{options: l.options}
		m.Message, m.Hint = fmt.Sprintf("unknown key %q", s.key), r.suggest(s.key, "")
	} else {
		m.Message, m.Hint = o.setText(s.text)
	}
	if m.Message != "" {
		l.mistakes = append(l.mistakes, m)
		return
	}
	l.origins[s.key] = origin{from: s.name}
}
