package option

import (
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// Keys returns the keys of all options in printing order.
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

// Values returns the possible values of an option; none if it takes numbers, files or free text.
func Values(key string) []string {
	o := find(table(), key)
	if o == nil {
		return nil
	}
	if o.names != nil {
		return o.names
	}
	if _, yes := o.at.(*bool); yes {
		return []string{"true", "false"}
	}
	return o.allowed
}

// TakesFile reports whether a value of the option may be a path.
func TakesFile(key string) bool {
	o := find(table(), key)
	return o != nil && (o.file || o.nameOr)
}

// size is a number of bytes, written 64MiB, 1.5GB or 1048576.
type size int64

var sizeUnits = []struct {
	name  string
	bytes float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1},
}

func parseSize(s string) (size, bool) {
	for _, u := range sizeUnits {
		number, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(n >= 0) || n*u.bytes >= math.MaxInt64 {
			return 0, false
		}
		return size(n * u.bytes), true
	}
	return 0, false
}

// String returns the size in the largest binary unit that divides it.
func (s size) String() string {
	for i, u := range []string{"TiB", "GiB", "MiB", "KiB"} {
		if unit := size(1) << (40 - 10*i); s >= unit && s%unit == 0 {
			return strconv.FormatInt(int64(s/unit), 10) + u
		}
	}
	return strconv.FormatInt(int64(s), 10)
}
