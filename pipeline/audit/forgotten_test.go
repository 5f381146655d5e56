package audit

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/velum-health/velum/pipeline/durable"
)

// TestForgotten keeps who was forgotten and who objected over a restart, and takes a damaged file for no empty one.
func TestForgotten(t *testing.T) {
	dir := t.TempDir()
	f, err := ReadForgotten(durable.OS, dir)
	if err != nil || len(f.Set.Members())+len(f.Objected.Members()) != 0 {
		t.Fatalf("%+v, %v", f, err)
	}
	f.Set.Add([]byte("A1"), 0)
	if !f.Object([]byte("A2")) || f.Object([]byte("A2")) {
		t.Error("who objects is new once")
	}
	if err := f.Write(durable.OS, dir); err != nil {
		t.Fatal(err)
	}
	again, err := ReadForgotten(durable.OS, dir)
	if err != nil || !again.Set.Has([]byte("A1")) || again.Set.Has([]byte("A2")) || !again.Objected.Has([]byte("A2")) {
		t.Fatalf("%v", err)
	}
	late, err := ReadForgotten(durable.OS, dir)
	if err != nil || !again.Object([]byte("A4")) || again.Write(durable.OS, dir) != nil {
		t.Fatal(err)
	}
	if _, other := errors.AsType[*durable.LockedError](late.Write(durable.OS, dir)); !other {
		t.Error("what another process added was written over")
	}
	if !bytes.Equal([]byte(again.Mark(nil, []byte("A1"))), []byte(f.Mark(nil, []byte("A1")))) || again.Mark(nil, []byte("A1")) == again.Mark(nil, []byte("A2")) {
		t.Error("marks")
	}
	if again.TakeBack([]byte("A3")) || !again.TakeBack([]byte("A1")) || !again.TakeBack([]byte("A2")) || again.Set.Has([]byte("A1")) || again.Objected.Has([]byte("A2")) {
		t.Error("taken back")
	}
	name := filepath.Join(dir, forgottenName)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data { // a byte that is another one, wherever
		changed := bytes.Clone(data)
		changed[i] ^= 1
		if _, ok := parseForgotten(changed); ok {
			t.Fatalf("byte %d of %d was changed, and nobody saw it", i, len(data))
		}
	}
	if err := os.WriteFile(name, data[:len(data)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = ReadForgotten(durable.OS, dir)
	if _, damaged := errors.AsType[*durable.IntegrityError](err); !damaged {
		t.Errorf("half a file: %v", err)
	}
}

func FuzzForgotten(f *testing.F) {
	one := newForgotten(bytes.Repeat([]byte{7}, 32))
	one.Set.Add([]byte("A1"), 0)
	file := forgottenFile{Format: forgottenFormat, Secret: "0707070707070707070707070707070707070707070707070707070707070707", Patients: one.Set.Members(), Objected: one.Objected.Members()}
	data, err := file.marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if read, ok := parseForgotten(data); ok != (read != nil) {
			t.Fatal("read, and not")
		}
	})
}
