package audit

import (
	"bytes"
	"os"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/audit/segment"
)

// FuzzVerify: no bytes in a file make the reader of it panic or run for ever, and only what
// a gateway wrote is without findings.
func FuzzVerify(f *testing.F) {
	dir, ring := specimen(f)
	whole, err := os.ReadFile(segment.Name{Day: "2026-11-21"}.Path(dir))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole, "")
	f.Add(whole[:len(whole)/2], "")
	f.Add([]byte("{\"seq\":1,\"v\":1}\n{\"seq\":2,\"v\":1}\n\n"), "")
	f.Add([]byte("\x28\xb5\x2f\xfd\x04\x00\x19\x00\x00abc"), ".zst")
	f.Add([]byte(`{"cipher":"`+cipherName+`","key":"00000000","salt":"00"}`+"\n\x00\x00\x00\x20"), ".enc")
	f.Fuzz(func(t *testing.T, content []byte, end string) {
		n := segment.Name{Day: "2026-11-21", Form: segment.Form(end)}
		if _, ok := segment.ParseName(n.File() + end); !ok {
			return
		}
		dir := t.TempDir()
		if err := os.WriteFile(n.Path(dir), content, 0o600); err != nil {
			t.Fatal(err)
		}
		s := Config{Dir: dir, Encryption: oneKey}.Source()
		r, err := Verify(t.Context(), s, Check{Head: NoHead, Keys: ring.JWKS()})
		if err == nil && len(r.Findings) == 0 && !bytes.HasPrefix(whole, content[:min(len(content), len(whole))]) {
			t.Errorf("nothing is wrong with %q", content)
		}
		_, _, _ = s.Last(3)
		for range s.Calls() { //nolint:revive // as far as it goes
		}
	})
}
