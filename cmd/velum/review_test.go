package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// pageAddress is what `velum review` prints.
var pageAddress = regexp.MustCompile(`(http://127\.0\.0\.1:\d+)/\?token=[0-9a-f]+`)

// reviewing starts `velum review` and returns its address and a client that was
// let in.
func reviewing(t *testing.T, in, out string, more ...string) (*exec.Cmd, string, *http.Client) {
	t.Helper()
	c := process(t, "velum", append([]string{"review", "--in", in, "--out", out}, more...)...)
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	address, client, err := letIn(stdout)
	if err != nil {
		t.Fatal(err)
	}
	return c, address, client
}

// letIn waits for the address that `velum review` prints, and enters.
func letIn(stdout io.Reader) (string, *http.Client, error) {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		address := pageAddress.FindStringSubmatch(lines.Text())
		if address == nil {
			continue
		}
		jar, _ := cookiejar.New(nil)
		client := &http.Client{Jar: jar}
		res, err := client.Get(address[0])
		if err != nil {
			return "", nil, err
		}
		res.Body.Close()
		return address[1], client, nil
	}
	return "", nil, errors.New("velum review printed no address")
}

// TestReviewKilled: whatever the page was told is saved is there after kill -9,
// at twenty moments.
func TestReviewKilled(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "out.jsonl")
	const notes = 2000
	var text strings.Builder
	for i := range notes {
		fmt.Fprintf(&text, "{\"id\":\"n%d\",\"text\":\"Nota inventada.\",\"spans\":[]}\n", i)
	}
	if err := os.WriteFile(in, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	saved := 0
	for range 20 {
		c, address, client := reviewing(t, in, out)
		kill := time.AfterFunc(time.Duration(random.IntN(60))*time.Millisecond, func() { _ = c.Process.Kill() })
		for ; saved < notes; saved++ {
			r, _ := http.NewRequest(http.MethodPost, address+"/decide", strings.NewReader(fmt.Sprintf(`{"at":%d,"spans":[]}`, saved)))
			r.Header.Set("Origin", address)
			res, err := client.Do(r)
			if err != nil {
				break
			}
			_, err = io.Copy(io.Discard, res.Body)
			res.Body.Close()
			if err != nil || res.StatusCode != http.StatusOK {
				break
			}
		}
		kill.Stop()
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	if saved == 0 {
		t.Fatal("nothing was decided before the kills")
	}
	if said, err := process(t, "velum", "review", "--in", in, "--out", out, "--export").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	written, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for i := range saved {
		if !strings.Contains(string(written), fmt.Sprintf(`"id":"n%d"`, i)) {
			t.Fatalf("note %d of %d that were saved is lost", i, saved)
		}
	}
}

// TestUsefulnessJudged: the page takes the sample of `velum prove usefulness`, two
// experts judge it, and what they agree on is printed.
func TestUsefulnessJudged(t *testing.T) {
	dir := t.TempDir()
	in, sample := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "sample.jsonl")
	var text strings.Builder
	for i := range 9 {
		fmt.Fprintf(&text, "{\"id\":\"n%d\",\"text\":\"Acude con Rosa Puig, toma paracetamol 500 mg.\"}\n", i)
	}
	if err := os.WriteFile(in, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := process(t, "velum", "prove", "usefulness", "--in", in, "--sample", "4", "--out", sample).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if info, err := os.Stat(sample); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the sample, which has words of notes: %v, %v", info.Mode(), err)
	}
	judge := func(out string, answers [4]string) {
		c, address, client := reviewing(t, sample, out, "--ask", "usefulness")
		defer func() {
			_ = c.Process.Kill()
			_ = c.Wait()
		}()
		for i, answer := range answers {
			res, err := client.Get(fmt.Sprintf("%s/note?at=%d", address, i))
			if err != nil {
				t.Fatal(err)
			}
			shown, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil || !strings.Contains(string(shown), `"label":"PERSON"`) || !strings.Contains(string(shown), "paracetamol") {
				t.Errorf("note %d of the page lacks its text or its spans: %v", i, err)
			}
			r, _ := http.NewRequest(http.MethodPost, address+"/decide", strings.NewReader(fmt.Sprintf(`{"at":%d,"answer":%q}`, i, answer)))
			r.Header.Set("Origin", address)
			if res, err = client.Do(r); err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != http.StatusOK {
				t.Errorf("note %d: %s", i, res.Status)
			}
		}
	}
	anna, pere := filepath.Join(dir, "anna.jsonl"), filepath.Join(dir, "pere.jsonl")
	judge(anna, [4]string{"kept", "kept", "lost-something", "lost-all"})
	judge(pere, [4]string{"kept", "lost-something", "lost-something", "lost-all"})
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--out", pere, "--export"}, "4 of 4 notes decided (kept 1, lost-something 2, lost-all 1)"},
		{[]string{"--out", anna, "--export"}, "4 of 4 notes decided (kept 2, lost-something 1, lost-all 1)"},
		// p_o = 3/4; p_e = (2*1 + 1*2 + 1*1) / 16 = 5/16; kappa = (12-5) / (16-5) = 7/11
		{[]string{"--out", anna, "--against", pere, "--export"}, "4 notes that both have answered, 1 differ; kappa 0.6364"},
	} {
		said, err := process(t, "velum", append([]string{"review", "--ask", "usefulness", "--in", sample}, c.args...)...).CombinedOutput()
		if err != nil || !strings.Contains(string(said), c.want) {
			t.Errorf("%v: %v: %s", c.args, err, said)
		}
	}
}

// reads has somebody read the first N notes of an output's sample on the page, and
// find nothing: `reads OUT ARCHIVE FILE N READER`.
func reads(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 5 {
		ts.Fatalf("usage: reads OUT ARCHIVE FILE N READER")
	}
	readOf(ts, args, "audit", "--reader", args[4])
}

// letsStand has somebody read the first N notes that single somebody out on the page, and let all of it stand:
// `letsstand OUT ARCHIVE FILE N`.
func letsStand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: letsstand OUT ARCHIVE FILE N")
	}
	readOf(ts, args, "rare")
}

func readOf(ts *testscript.TestScript, args []string, question ...string) {
	self, err := os.Executable()
	ts.Check(err)
	c := exec.Command(self, append([]string{"review", "--of", ts.MkAbs(args[0]), "--in", ts.MkAbs(args[1]), "--out", ts.MkAbs(args[2]), "--ask"}, question...)...)
	c.Env = append(os.Environ(), testProcess+"=velum", "VELUM_CONFIG=")
	n, err := strconv.Atoi(args[3])
	ts.Check(err)
	ts.Check(readOnPage(c, n))
}

// readOnPage runs `velum review` and has somebody find nothing in the first n notes.
func readOnPage(c *exec.Cmd, n int) error {
	stdout, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	defer func() { _ = c.Process.Kill() }()
	address, client, err := letIn(stdout)
	if err != nil {
		return err
	}
	for at := range n {
		r, _ := http.NewRequest(http.MethodPost, address+"/decide", strings.NewReader(fmt.Sprintf(`{"at":%d,"spans":[]}`, at)))
		r.Header.Set("Origin", address)
		res, err := client.Do(r)
		if err != nil {
			return err
		}
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("note %d: %s", at, res.Status)
		}
	}
	return errors.Join(c.Process.Signal(os.Interrupt), c.Wait())
}
