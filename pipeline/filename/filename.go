// Package filename converts note ids to file names that are valid on every system including Windows, and back. An id
// may contain slashes; the result is a path with slashes and without an extension.
//
// Characters that Windows rejects are written %XX as in URLs: < > : " | ? * and the percent sign itself, a dot or blank
// at the end of a path element, and the first letter of reserved device names (CON, NUL, COM1), which Windows reserves
// with any extension (docs: Naming Files, Paths, and Namespaces).
package filename

import (
	"fmt"
	"strconv"
	"strings"
)

// Of returns the file name for an id. Different ids have different names.
func Of(id string) string {
	parts := strings.Split(id, "/")
	for i, part := range parts {
		parts[i] = portable(part)
	}
	return strings.Join(parts, "/")
}

// ID is the inverse of Of. A name that Of never returns, such as one of another program, is itself the id.
func ID(name string) string {
	if strings.IndexByte(name, '%') < 0 {
		return name
	}
	var id strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] == '%' && i+2 < len(name) {
			if c, err := strconv.ParseUint(name[i+1:i+3], 16, 8); err == nil {
				id.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		id.WriteByte(name[i])
	}
	if Of(id.String()) != name {
		return name
	}
	return id.String()
}

const forbidden = `<>:"|?*%`

// portable escapes one part of a path.
func portable(part string) string {
	reserved := device(part)
	if !reserved && !strings.ContainsAny(part, forbidden) && !strings.HasSuffix(part, ".") && !strings.HasSuffix(part, " ") {
		return part
	}
	var b strings.Builder
	for i := range len(part) {
		c := part[i]
		last := i == len(part)-1 && (c == '.' || c == ' ')
		if last || i == 0 && reserved || strings.IndexByte(forbidden, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// device tells whether Windows takes the name for a device.
func device(part string) bool {
	name, _, _ := strings.Cut(part, ".")
	name = strings.ToUpper(strings.TrimRight(name, " "))
	switch name {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	n, ok := strings.CutPrefix(name, "COM")
	if !ok {
		n, ok = strings.CutPrefix(name, "LPT")
	}
	return ok && (len(n) == 1 && n[0] >= '0' && n[0] <= '9' || n == "¹" || n == "²" || n == "³")
}
