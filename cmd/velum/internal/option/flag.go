package option

import (
	"errors"
	"strings"

	"github.com/spf13/pflag"
)

// AddFlag adds a flag that sets the option key. An invalid value is reported by Load, together with all other mistakes.
func (s *Sources) AddFlag(flags *pflag.FlagSet, name, key string) {
	o := find(table(), key)
	if o == nil {
		panic("velum: flag for an unknown option") // a bug: both names are constants
	}
	usage, _, _ := strings.Cut(o.why, ". ")
	usage = strings.ToLower(usage[:1]) + strings.TrimSuffix(usage[1:], ".") + " (" + key + ")"
	usage = strings.ReplaceAll(usage, "`", "") // pflag takes what stands in them for the type
	f := flags.VarPF(&optionValue{s, key, "--" + name, o}, name, "", usage)
	if _, isBool := o.at.(*bool); isBool {
		f.NoOptDefVal = "true"
	}
}

// optionValue is the pflag.Value of an option.
type optionValue struct {
	sources   *Sources
	key, name string
	option    *option
}

func (v *optionValue) Set(s string) error {
	flags := v.sources.flags
	if _, pairs := v.option.at.(*map[string]string); pairs {
		for i := range flags { // --map A=B --map C=D
			if flags[i].key == v.key && flags[i].name == v.name {
				flags[i].text += "," + s
				return nil
			}
		}
	}
	v.sources.flags = append(flags, textSetting{v.key, s, v.name})
	return nil
}

// String returns the last value given on the command line, or "".
func (v *optionValue) String() string {
	last := ""
	for _, f := range v.sources.flags {
		if f.name == v.name {
			last = f.text
		}
	}
	return last
}

func (v *optionValue) Type() string {
	switch v.option.at.(type) {
	case *string:
		return "text"
	case *int:
		return "n"
	case *float64:
		return "x"
	case *bool:
		return "bool"
	case *size:
		return "size"
	case *map[string]string:
		return "A=B"
	case interface{ Seconds() float64 }:
		return "duration"
	}
	return "a,b"
}

// AddSetFlag adds --set, which sets any option.
func (s *Sources) AddSetFlag(flags *pflag.FlagSet) {
	flags.Var(setValue{s}, "set", "set any option, as --set tag.recall=0.95; may be repeated")
}

// setValue is the pflag.Value of --set key=value.
type setValue struct{ sources *Sources }

func (v setValue) Set(s string) error {
	key, text, ok := strings.Cut(s, "=")
	if !ok {
		return errors.New("want KEY=VALUE")
	}
	v.sources.flags = append(v.sources.flags, textSetting{key, text, "--set " + key})
	return nil
}

func (v setValue) String() string        { return "" }
func (v setValue) Type() string          { return "key=value" }
func (v setValue) Append(s string) error { return v.Set(s) }

// GetSlice returns all values given with --set. Together with Append and Replace it implements pflag.SliceValue.
func (v setValue) GetSlice() (all []string) {
	for _, f := range v.sources.flags {
		if f.name == "--set "+f.key {
			all = append(all, f.key+"="+f.text)
		}
	}
	return all
}

// Replace calls Set for each value. Unlike pflag asks, it keeps values that were set before.
func (v setValue) Replace(all []string) (err error) {
	for _, s := range all {
		err = errors.Join(err, v.Set(s))
	}
	return err
}
