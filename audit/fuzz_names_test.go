package audit

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// FuzzOriginal: a text comes back from a record as it was, as far as it was not cut; any
// other text gives some text and an end.
func FuzzOriginal(f *testing.F) {
	for _, seed := range []string{"plain", "a\\b\x00\u202e\xff", `\x`, `\u12`, `\Uffffffff`, `\…+7`, strings.Repeat("\n", 300)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, whole := original(telemetry.Clean(text))
		if whole != (len(text) <= telemetry.MaxText) || !strings.HasPrefix(text, got) || whole && got != text {
			t.Errorf("%q is %q in a record, and comes back as %q, %t", text, telemetry.Clean(text), got, whole)
		}
		_, _ = original(text)
		_, _ = parseCall([]byte(text))
	})
}

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
	for line, err := range (Source{Path: dir}).Records(f.Context(), Cursor{}) {
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
