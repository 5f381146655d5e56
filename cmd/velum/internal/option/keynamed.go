package option

import "strings"

// KeyNamed returns the one option whose key, or its last word, is name; "" if
// there is none or more than one.
func KeyNamed(name string) string {
	var found []string
	for _, o := range table() {
		if o.key == name || o.key[strings.LastIndexByte(o.key, '.')+1:] == name {
			found = append(found, o.key)
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}
