// Package configs holds what ships inside the binary as text: the built-in
// profiles, the map between annotation schemes, the masking policies and the
// JSON Schema of the configuration.
//
// It knows where a file is and what the category map means; what an option
// means is cmd/velum's to know.
package configs

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// FS is the folder itself.
//
//go:embed *.yaml policies/*.yaml templates/*.txt rules/*.atn deploy/velum.service deploy/velum.timer deploy/velum-alert@.service deploy/kubernetes.yaml
var FS embed.FS

// The profiles. DefaultProfile is used when nobody names one.
const (
	DefaultProfile = "primary-care"
	reportProfile  = "meddocan"
	OMOPProfile    = "omop" // of tables, not of labels: they are those of the default
)

// Profiles returns the names of the built-in profiles.
func Profiles() []string { return []string{DefaultProfile, reportProfile, OMOPProfile} }

// Profile returns the YAML of a built-in profile.
func Profile(name string) ([]byte, error) { return read("profile", name+".yaml") }

// Policies returns the names of the built-in masking policies, sorted.
func Policies() []string { return namesOf("policies/*.yaml") }

func namesOf(pattern string) []string {
	files, err := fs.Glob(FS, pattern)
	if err != nil {
		panic("configs: bad glob") // a bug: the pattern is a constant
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(path.Base(f), path.Ext(f))
	}
	slices.Sort(files) // - goes before .
	return files
}

// Policy returns the YAML of a built-in masking policy.
func Policy(name string) ([]byte, error) { return read("policy", "policies/"+name+".yaml") }

// Templates returns the names of the built-in feature templates, sorted.
func Templates() []string { return namesOf("templates/*.txt") }

// Template returns the feature template of that name (see models/tag/features).
func Template(name string) ([]byte, error) { return read("template", "templates/"+name+".txt") }

// ShippedPack is the name of the rules that ship (see models/tag/rules).
const ShippedPack = "shipped"

// CalendarPack is the name of the rules for words that fix a date (see stages/calendar).
const CalendarPack = "calendar"

// RarePack is the name of the rules for what singles somebody out (see stages/rare).
const RarePack = "rare"

// PackVersion changes with the rules and lists of words that ship: what was
// masked with others is not taken for done.
const PackVersion = "rules-11"

// Pack returns the rules of that name.
func Pack(name string) ([]byte, error) { return read("pack of rules", "rules/"+name+".atn") }

func read(what, file string) ([]byte, error) {
	b, err := FS.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("no built-in %s of that name", what)
	}
	return b, nil
}
