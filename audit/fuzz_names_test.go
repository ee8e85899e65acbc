package audit

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
)

// FuzzCheckpoint: of all lines that can stand in the place of a checkpoint, none is
// without an error but those that a trusted key has signed, as they were signed.
func FuzzCheckpoint(f *testing.F) {
	dir, ring := specimen(f)
	r := verified(f, dir, Check{Keys: ring.JWKS()})
	if len(r.Findings) > 0 {
		f.Fatal(r.Findings)
	}
	before := chain.Previous{Record: true}
	var good []string
	for line, err := range (reader.Source{Path: dir}).Records(f.Context(), reader.Cursor{}) {
		if err != nil {
			f.Fatal(err)
		}
		if strings.Contains(string(line.Line), `"checkpoint":`) && len(good) == 0 {
			good = append(good, string(line.Line))
			f.Add(string(line.Line))
		} else if len(good) == 0 {
			before.Seq = line.Seq
			_, before.Hash, _ = chain.CutHash(line.Line)
		}
	}
	if len(good) == 0 {
		f.Fatal("no checkpoint")
	}
	head, tail, _ := strings.Cut(good[0], `"checkpoint":"`)
	jws, _, _ := strings.Cut(tail, `"`)
	f.Add(head + `"checkpoint":"` + strings.Replace(jws, ".", "..", 1) + `"}`)
	f.Add(`{"checkpoint":"e30.e30.","key":{"kty":"oct","k":"AA"}}`)
	f.Add(`{"checkpoint":"` + jws + `","checkpoint":""}`)
	var trusted keySet
	if err := json.Unmarshal(ring.JWKS(), &trusted.trusted); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, line string) {
		s := trusted.verify([]byte(line), before.Seq+1, before)
		if s.err == nil && !s.foreign && !strings.Contains(line, jws) {
			t.Errorf("%q is taken for a checkpoint: %+v", line, s)
		}
	})
}
