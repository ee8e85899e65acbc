package audit

import (
	"bytes"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
)

func TestParseTail(t *testing.T) {
	t.Parallel()
	for testName, c := range map[string]struct {
		in    string
		whole bool
		want  tail
		ok    bool
	}{
		"empty":                  {"", true, tail{}, true},
		"one":                    {"{\"seq\":7,\"v\":1}\n", true, tail{seq: 7}, true},
		"two":                    {"{\"seq\":7,}\n{\"seq\":8,}\n", true, tail{seq: 8}, true},
		"torn":                   {"{\"seq\":7,}\n{\"se", true, tail{seq: 7, torn: true}, true},
		"torn first":             {"{\"se", true, tail{torn: true}, true},
		"torn, part":             {"x", false, tail{}, false},
		"part":                   {"rest\n{\"seq\":8,}\n", false, tail{seq: 8}, true},
		"part without beginning": {"{\"seq\":8,}\n", false, tail{}, false},
		"no number":              {"{\"seq\":,}\n", true, tail{}, false},
		"no comma":               {"{\"seq\":8}\n", true, tail{}, false},
		"zero":                   {"{\"seq\":0,}\n", true, tail{}, false},
		"negative":               {"{\"seq\":-1,}\n", true, tail{}, false},
		"too long":               {"{\"seq\":" + strings.Repeat("9", 19) + ",}\n", true, tail{}, false},
		"other file":             {"hello\n", true, tail{}, false},
		"empty line":             {"{\"seq\":8,}\n\n", true, tail{}, false},
	} {
		t.Run(testName, func(t *testing.T) {
			t.Parallel()
			got, ok := parseTail([]byte(c.in), c.whole)
			if ok != c.ok || ok && got != c.want {
				t.Errorf("got %+v, %v; want %+v, %v", got, ok, c.want, c.ok)
			}
		})
	}
}

// FuzzParseTail: whatever bytes a crash left behind an intact record, its number
// is found; and no bytes make the reader of tails panic.
func FuzzParseTail(f *testing.F) {
	f.Add([]byte(""), uint64(1))
	f.Add([]byte("{\"seq\":2,\"v\":1}\n{\"s"), uint64(99))
	f.Add([]byte("\n"), uint64(5))
	f.Add(bytes.Repeat([]byte{0}, 100), uint64(1<<40))
	f.Fuzz(func(t *testing.T, rest []byte, seq uint64) {
		parseTail(rest, false)
		if end, ok := parseTail(rest, true); ok && end.seq == 0 && bytes.IndexByte(rest, '\n') >= 0 {
			t.Fatalf("a tail with lines has no number: %q", rest)
		}
		c := chain.Chain{Seq: seq % (1 << 50)}
		line := c.Assemble(nil, nil, []byte(`,"type":"event"`), nil)
		torn, _, _ := bytes.Cut(rest, []byte("\n"))
		end, ok := parseTail(append(line, torn...), true)
		if !ok || end.seq != c.Seq || end.torn != (len(torn) > 0) || end.hash != c.Hash {
			t.Fatalf("%q after record %d: %+v, %v", torn, c.Seq, end, ok)
		}
	})
}
