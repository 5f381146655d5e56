package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStartTakesThePage: what somebody decided on the page counts, also where the page ended before it
// could write the answers: the journal has them.
func TestStartTakesThePage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	archive, out := filepath.Join(dir, "notes.csv"), filepath.Join(dir, "first")
	rows := "COD;TXT_EVOL\n1;Acude con su hermana Rosa Puig\n2;Sin cambios, INR 2.4\n3;Vive en Reus con su hija Montse\n4;Dolor lumbar desde el 12/03/2019\n"
	if err := os.WriteFile(archive, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	begin := func() string {
		t.Helper()
		said, err := process(t, "velum", "start", "--in", archive, "--out", out, "--model", "primary-care").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		if strings.Contains(string(said), "Puig") {
			t.Error("the terminal shows words of a note")
		}
		return string(said)
	}
	begin()
	answers := filepath.Join(out, "answers-01.jsonl")
	page := process(t, "velum", "review", "--in", filepath.Join(out, "learned", "ask-01", "notes.jsonl"), "--out", answers, "--config", filepath.Join(out, "velum.yaml"))
	if err := readOnPage(page, 2); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(answers); err != nil {
		t.Fatal(err)
	}
	if said := begin(); !strings.Contains(said, "evening 1: 2 of 4 questions answered") || !strings.Contains(said, "so far 2 notes were read") {
		t.Errorf("%s", said)
	}
}
