package configs

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/velum-health/velum/pipeline"
)

// own are the schemes that AddCategories has added, and their rows.
var own struct {
	schemes []string
	rows    []row
}

// OwnSchemes returns the label sets of files of categories.
func OwnSchemes() []string { return own.schemes }

// plainName matches the names that a label set or label may have: no format breaks them.
var plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,60}$`)

// kindNames are the kinds that a row may name, as i2b2 has them.
var kindNames = map[string]pipeline.Kind{
	"NAME": pipeline.NameKind, "PROFESSION": pipeline.ProfessionKind, "LOCATION": pipeline.PlaceKind, "AGE": pipeline.AgeKind,
	"DATE": pipeline.DateKind, "CONTACT": pipeline.ContactKind, "ID": pipeline.IDKind, "OTHER": pipeline.UntypedKind,
}

// AddCategories adds the label set of a file of categories, which is written as
// categories.yaml, with the name of the set as the column of its labels:
//
//	name: ward
//	rows:
//	  - {ward: MEDICO, meddocan: NOMBRE_PERSONAL_SANITARIO, primary-care: PERSON}
//	  - {ward: SALA, kind: LOCATION}
//
// kind (NAME, LOCATION, DATE, AGE, CONTACT, ID, PROFESSION, OTHER) is for labels
// without a counterpart: what has one is of its kind.
func AddCategories(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	file, labels, err := readCategories(text)
	if err != nil {
		return err
	}
	if err := pipeline.AddLabels(file.Name, labels); err != nil {
		return err
	}
	if slices.Contains(own.schemes, file.Name) {
		return nil
	}
	for _, r := range file.Rows {
		delete(r, "kind")
		parsed, err := parseRow(r, append(builtIn(), file.Name))
		if err != nil {
			return err
		}
		own.rows = append(own.rows, parsed)
	}
	own.schemes = append(own.schemes, file.Name)
	return nil
}

// categoryFile is a file of categories.
type categoryFile struct {
	Name string              `yaml:"name"`
	Rows []map[string]string `yaml:"rows"`
}

// readCategories reads a file of categories, and which labels it has.
func readCategories(text []byte) (file categoryFile, labels []pipeline.NewCategory, err error) {
	if err := yaml.UnmarshalWithOptions(text, &file, yaml.Strict()); err != nil {
		message, _, _ := strings.Cut(yaml.FormatError(err, false, false), "\n")
		return file, nil, errors.New("is no file of categories: " + message)
	}
	if !plainName.MatchString(file.Name) || slices.Contains(builtIn(), file.Name) || file.Name == "kind" {
		return file, nil, fmt.Errorf("name: the set wants a name of letters that no built-in set has, as in name: ward")
	}
	for i, r := range file.Rows {
		label, err := ownLabel(file.Name, r)
		if err != nil {
			return file, nil, fmt.Errorf("row %d: %w", i+1, err)
		}
		if !slices.ContainsFunc(labels, func(c pipeline.NewCategory) bool { return c.Name == label.Name }) {
			labels = append(labels, label)
		}
	}
	if len(labels) == 0 {
		return file, nil, fmt.Errorf("rows: there is none")
	}
	return file, labels, nil
}

// ownLabel is the label of a row, with its kind.
func ownLabel(set string, r map[string]string) (label pipeline.NewCategory, err error) {
	label.Name = r[set]
	if !plainName.MatchString(label.Name) {
		return label, fmt.Errorf("wants a label of letters, digits, _ and -, as in {%s: MEDICO}", set)
	}
	if known, err := pipeline.ParseCategory(label.Name); err == nil {
		label.Kind = known.Kind()
		return label, nil
	}
	for _, scheme := range builtIn() {
		if r[scheme] == "" {
			continue
		}
		c, err := pipeline.ParseCategory(r[scheme])
		if err != nil {
			return label, fmt.Errorf("%s: %w", scheme, err)
		}
		label.Kind = c.Kind()
		return label, nil
	}
	if name := r["kind"]; name != "" {
		kind, ok := kindNames[name]
		if !ok {
			return label, fmt.Errorf("kind: unknown kind %q; known: AGE, CONTACT, DATE, ID, LOCATION, NAME, OTHER, PROFESSION", name)
		}
		label.Kind = kind
	}
	return label, nil
}
