package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// pageAddress is what `velum review` prints.
var pageAddress = regexp.MustCompile(`(http://127\.0\.0\.1:\d+)/\?token=[0-9a-f]+`)

// reviewing starts `velum review` and returns its address and a client that was
// let in.
func reviewing(t *testing.T, in, out string) (*exec.Cmd, string, *http.Client) {
	t.Helper()
	c := process(t, "velum", "review", "--in", in, "--out", out)
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
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
			t.Fatal(err)
		}
		res.Body.Close()
		return c, address[1], client
	}
	t.Fatal("velum review printed no address")
	return nil, "", nil
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
