package option

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/models/form/people"
	"github.com/velum-health/velum/models/release/anonymity"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/mask"
)

// Operators returns the chain of operators of each category, indexed by pipeline.Category: those of the policy, changed
// by mask.operators.
func (c *Config) Operators() ([]*mask.Chain, error) {
	byCategory, wrong := c.policy()
	if len(wrong) > 0 {
		return nil, (&exit.ConfigError{Mistakes: wrong}).OrNil()
	}
	chains := make([]*mask.Chain, len(byCategory))
	made := map[string]*mask.Chain{}
	for i, text := range byCategory {
		if made[text] == nil {
			chain, err := mask.ReadChain(text, c.Read.Columns.Patient == "", readBounded)
			if err != nil {
				return nil, exit.Misconfigured(fmt.Errorf("policy: %w", err), "")
			}
			made[text] = chain
		}
		chains[i] = made[text]
	}
	return chains, nil
}

// Dates returns how the policy shifts dates; "" if it does not.
func (c *Config) Dates() (string, error) {
	chains, err := c.Operators()
	for _, chain := range chains {
		if chain.Moves() != "" {
			return chain.Moves(), err
		}
	}
	return "", err
}

// Imitated returns the categories whose values the policy replaces by realistic values rather than placeholders.
func (c *Config) Imitated() (all []pipeline.Category, err error) {
	chains, err := c.Operators()
	for i, chain := range chains {
		if pipeline.Category(i) != pipeline.None && chain.Imitates() {
			all = append(all, pipeline.Category(i))
		}
	}
	return all, err
}

// Strategies returns how surrogates are chosen, by category.
func (c *Config) Strategies() (map[string]string, error) {
	chains, err := c.Operators()
	all := map[string]string{}
	for i, chain := range chains {
		if s := chain.Strategy(); s != "" && pipeline.Category(i) != pipeline.None {
			all[pipeline.Category(i).String()] = s
		}
	}
	return all, err
}

// operatorChain says what is wrong with the operators of a category.
func operatorChain(text string) (problem, hint string) {
	_, err := mask.ReadChain(text, false, readBounded)
	if p, ok := errors.AsType[*mask.PolicyError](err); ok {
		return p.Message, exit.DidYouMean(p.Word, p.Known)
	}
	return "", ""
}

// policy reads the masking policy.
func (c *Config) policy() ([]string, []exit.Mistake) {
	file, text, err := c.policyText()
	if err != nil {
		k := checker{Config: c}
		k.note("mask.policy", err.Error(), exit.DidYouMean(c.Mask.Policy, configs.Policies()))
		return nil, k.mistakes
	}
	fallback, named := "placeholder", map[string]string(nil)
	r := strictReader{file: file, options: []option{
		{key: "default", at: &fallback, valid: operatorChain},
		{key: "categories", at: &named, valid: operatorChain},
		{key: "options", at: &map[string]string{}},
	}}
	r.read(text)
	byCategory := slices.Repeat([]string{fallback}, pipeline.Categories())
	for _, name := range sortedKeys(named) {
		category, err := pipeline.ParseCategory(name)
		if err != nil {
			r.mistakes = append(r.mistakes, exit.Mistake{File: file, Key: "categories",
				Message: fmt.Sprintf("unknown category %q", name), Hint: exit.DidYouMean(name, allCategories())})
			continue
		}
		byCategory[category] = named[name]
	}
	for name, operator := range c.Mask.Operators {
		if category, err := pipeline.ParseCategory(name); err == nil { // contradictions reports it otherwise
			byCategory[category] = operator
		}
	}
	return byCategory, r.mistakes
}

// policyOptions sets the options that the policy wants and the user has not set. Mistakes in a policy are reported
// where its operators are read.
func (l *loader) policyOptions() {
	_, text, _ := l.policyText()
	wanted := map[string]string{}
	r := strictReader{options: []option{{key: "options", at: &wanted}}}
	r.read(text)
	for _, key := range sortedKeys(wanted) {
		if from := l.origins[key].from; !l.Given(key) || strings.HasPrefix(from, "profile ") || from == "" {
			l.text("policy", textSetting{key, wanted[key], "policy " + l.Mask.Policy})
		}
	}
}

// DropPolicy resets the options of a section that the policy has set to their built-in values, and reports whether
// there were any.
func (c *Config) DropPolicy(section string) (dropped bool) {
	for _, o := range c.options() {
		if strings.HasPrefix(o.key, section+".") && strings.HasPrefix(c.origins[o.key].from, "policy ") {
			o.reset()
			c.origins[o.key], dropped = origin{from: "built-in"}, true
		}
	}
	return dropped
}

func (c *Config) policyText() (file string, text []byte, err error) {
	name := c.Mask.Policy
	if o := (option{nameOr: true}); o.isPath(name) {
		text, err = readBounded(name)
		if err != nil {
			return name, nil, fmt.Errorf("cannot read the policy file: %w", err)
		}
		return name, text, nil
	}
	text, err = configs.Policy(name)
	if err != nil {
		return "", nil, fmt.Errorf("%q is none of the policies %s", name, strings.Join(configs.Policies(), ", "))
	}
	return "policy " + name, text, nil
}

// peopleField says what is wrong with what a column of people is said to hold.
func peopleField(name string) (problem, hint string) {
	if people.FieldOf(name) != people.NoField {
		return "", ""
	}
	return fmt.Sprintf("%q is none of %s", name, strings.Join(people.FieldNames(), ", ")), exit.DidYouMean(name, people.FieldNames())
}

// hierarchies describes how columns can be generalized.
func hierarchies() (all []string) {
	for _, name := range anonymity.HierarchyNames() {
		all = append(all, name+" ("+anonymity.HierarchyOf(name).Does+")")
	}
	return all
}

// anonymity says what is wrong with the columns that k-anonymity is to see to.
func (k *checker) anonymity() {
	a := &k.Anonymity
	k.categories("anonymity.text", sortedKeys(a.Text))
	if n := len(a.Columns) + len(a.Text); a.K > 0 && (n == 0 || n > anonymity.MaxColumns) {
		k.note("anonymity.k", fmt.Sprintf("%d columns and categories are named, want 1 to %d", n, anonymity.MaxColumns),
			"name them in anonymity.columns and anonymity.text")
	}
	if of := slices.Collect(maps.Values(a.Columns)); (a.L > 0 || a.T < 1) && (a.K == 0 || !slices.Contains(of, "sensitive")) {
		k.note("anonymity.l", "anonymity.l and anonymity.t want anonymity.k and a sensitive column",
			"name it in anonymity.columns, as {diagnosis: sensitive}")
	}
	for _, name := range sortedKeys(a.Columns) {
		if a.K > 0 && !slices.Contains(k.Read.Keep, name) {
			k.note("anonymity.columns", fmt.Sprintf("column %q is not kept", name), "name it in read.keep, too")
		}
	}
}

// ParseAudited parses MISSED/TOTAL, as in "3/1000": an audit found that so many of so many values were missed.
func ParseAudited(text string) (missed, of int, ok bool) {
	a, b, found := strings.Cut(text, "/")
	missed, err1 := strconv.Atoi(strings.TrimSpace(a))
	of, err2 := strconv.Atoi(strings.TrimSpace(b))
	return missed, of, found && err1 == nil && err2 == nil && missed >= 0 && of > 0 && missed < of
}

// auditedShare says what is wrong with "3/1000".
func auditedShare(text string) (problem, hint string) {
	if _, _, ok := ParseAudited(text); !ok {
		return "want missed/all, as 3/1000", ""
	}
	return "", ""
}
