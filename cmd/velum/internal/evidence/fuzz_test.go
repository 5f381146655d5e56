package evidence

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"testing"
)

// FuzzPublicKey: whatever a file of a key holds, it is an Ed25519 key as openssl prints it or an error, and a key that is read is
// written as it was.
func FuzzPublicKey(f *testing.F) {
	der, err := x509.MarshalPKIXPublicKey(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public())
	if err != nil {
		f.Fatal(err)
	}
	whole := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	f.Add(whole)
	f.Add([]byte(base64.StdEncoding.EncodeToString(der)))
	f.Add(whole[:len(whole)/2])
	f.Add([]byte("-----BEGIN PUBLIC KEY-----\n\n-----END PUBLIC KEY-----\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		key, err := parsePublic(data, "key.pem")
		if err != nil {
			if key != nil {
				t.Error("a key and an error")
			}
			return
		}
		again, err := x509.MarshalPKIXPublicKey(key)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := parsePublic([]byte(base64.StdEncoding.EncodeToString(again)), "key.pem"); err != nil || !bytes.Equal(same, key) {
			t.Errorf("read again: %v", err)
		}
	})
}
