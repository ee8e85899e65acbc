package keys

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
)

// FuzzParseMaster: a key is 32 bytes, which all ways of writing them mean, and an error
// shows nothing of the text.
func FuzzParseMaster(f *testing.F) {
	key := make([]byte, masterSize)
	for i := range key {
		key[i] = byte(i * 37)
	}
	for _, seed := range []string{
		hex.EncodeToString(key), strings.ToUpper(hex.EncodeToString(key)) + "\r\n",
		base64.StdEncoding.EncodeToString(key), " " + base64.RawURLEncoding.EncodeToString(key) + "\n",
		strings.Repeat("00", masterSize), strings.Repeat("A", 44), "-----BEGIN PRIVATE KEY-----", "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := parseMaster(data)
		if err != nil {
			if text := string(bytes.TrimSpace(data)); len(text) > 16 && strings.Contains(err.Error(), text) {
				t.Errorf("%q is in the error: %v", data, err)
			}
			return
		}
		if len(got) != masterSize {
			t.Fatalf("%q is a key of %d bytes", data, len(got))
		}
		again, err := parseMaster([]byte(hex.EncodeToString(got)))
		if err != nil || !bytes.Equal(got, again) {
			t.Errorf("%q is %x, and that %x, %v", data, got, again, err)
		}
	})
}
