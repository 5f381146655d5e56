package option

import (
	"github.com/spf13/pflag"

	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/models/embedded"
)

// named are the built-in names of options that take a name or a path.
var named = map[string]func() []string{
	"tag.model":        embedded.Names,
	"learn.start":      embedded.Names,
	"ensemble.members": embedded.Names,
	"mask.policy":      configs.Policies,
	"train.template":   configs.Templates,
	"learn.agree":      configs.Templates,
	"learn.templates":  configs.Templates,
	"learn.labels":     configs.Schemes,
}

// Keys are the keys of all options, in the order of printing.
func Keys() (keys []string) {
	for _, o := range table() {
		keys = append(keys, o.key)
	}
	return keys
}

// KeyOf returns the key of the option that a flag sets; "" for other flags.
func KeyOf(f *pflag.Flag) string {
	if v, ok := f.Value.(*optionValue); ok {
		return v.key
	}
	return ""
}

// Values are the values that the option may have; none where they are numbers,
// files or words of one's own.
func Values(key string) []string {
	o := find(table(), key)
	if o == nil {
		return nil
	}
	if names := named[key]; names != nil {
		return names()
	}
	if _, yes := o.at.(*bool); yes {
		return []string{"true", "false"}
	}
	return o.allowed
}

// TakesFile tells whether a value of the option may be a path.
func TakesFile(key string) bool {
	o := find(table(), key)
	return o != nil && (o.file || o.nameOr)
}
