// Command pgo makes a CPU profile fit for the repository: the compiler reads
// from it which functions call which how often, so names of functions and numbers
// stay, and every path of the machine that made it goes. `make pgo` calls it.
//
//	pgo in.prof out.pgo
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: pgo in.prof out.pgo")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "pgo:", err)
		os.Exit(1)
	}
}

func run(in, out string) error {
	packed, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	profile, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if profile, err = withoutPaths(profile); err != nil {
		return err
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(profile); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(out, b.Bytes(), 0o644)
}

// fields of the message Profile (github.com/google/pprof, proto/profile.proto)
const (
	mappings = 3  // the binary and where it lay in memory: of no use here
	strings  = 6  // all texts, in the order in which numbers name them
	times    = 9  // when it was made
	lasting  = 10 // for how long
)

// types of a field on the wire
const (
	varint = 0
	length = 2
)

// errShape says that the input is no profile.
var errShape = errors.New("not a CPU profile of Go")

// withoutPaths copies a profile but for its mappings and times; of a text that is
// a path of the machine nothing stays.
func withoutPaths(profile []byte) (kept []byte, err error) {
	for at := 0; at < len(profile); {
		key, n := binary.Uvarint(profile[at:])
		value, m := binary.Uvarint(profile[at+max(n, 0):])
		end := at + n + m
		if key&7 == length {
			end += int(min(value, 1<<40))
		}
		if n <= 0 || m <= 0 || end > len(profile) || key&7 != length && key&7 != varint {
			return nil, errShape
		}
		switch field := key >> 3; {
		case field == mappings, field == times, field == lasting:
		case field == strings && end > at+n+m && profile[at+n+m] == '/':
			kept = append(binary.AppendUvarint(kept, key), 0)
		default:
			kept = append(kept, profile[at:end]...)
		}
		at = end
	}
	return kept, nil
}
