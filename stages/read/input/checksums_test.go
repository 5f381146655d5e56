package input

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const anySum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

func TestReadChecksums(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "sums")
	read := func(text string) (map[string]string, error) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return ReadChecksums(name)
	}
	sums, err := read(anySum + "  a.csv\r\n\n" + strings.ToUpper(anySum) + " *b/c d.csv\n" + anySum + "  /x/e.csv")
	if err != nil || len(sums) != 3 || sums[filepath.Join(dir, "a.csv")] != anySum || sums[filepath.Join(dir, "b/c d.csv")] != anySum || sums["/x/e.csv"] != anySum {
		t.Errorf("%v, %v", sums, err)
	}
	for _, text := range []string{"a.csv", anySum, anySum + " ", anySum + " a", anySum[2:] + "  a.csv", anySum + "00  a.csv", "zz" + anySum[2:] + "  a.csv", strings.Repeat("x", 1<<17)} {
		if _, err := read(anySum + "  a.csv\n" + text + "\n"); err == nil {
			t.Errorf("%.80q: %v", text, err)
		}
	}
	if sums, err := ReadChecksums(""); sums != nil || err != nil {
		t.Errorf("no list: %v, %v", sums, err)
	}
	if err := CheckList(filepath.Join(dir, "missing")); err == nil {
		t.Error("a list that is not there: no error")
	}
}

func FuzzChecksums(f *testing.F) {
	f.Add(anySum + "  a.csv\n")
	f.Add(anySum + " *\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		name := filepath.Join(t.TempDir(), "sums")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		sums, err := ReadChecksums(name)
		for path, sum := range sums {
			if err != nil || len(sum) != 64 || !filepath.IsAbs(path) {
				t.Fatalf("a sum of %d digits, %v", len(sum), err)
			}
		}
	})
}
