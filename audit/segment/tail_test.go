package segment

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
		want  Tail
		ok    bool
	}{
		"empty":                  {"", true, Tail{}, true},
		"one":                    {"{\"seq\":7,\"v\":1}\n", true, Tail{Seq: 7}, true},
		"two":                    {"{\"seq\":7,}\n{\"seq\":8,}\n", true, Tail{Seq: 8}, true},
		"torn":                   {"{\"seq\":7,}\n{\"se", true, Tail{Seq: 7, Torn: true}, true},
		"torn first":             {"{\"se", true, Tail{Torn: true}, true},
		"torn, part":             {"x", false, Tail{}, false},
		"part":                   {"rest\n{\"seq\":8,}\n", false, Tail{Seq: 8}, true},
		"part without beginning": {"{\"seq\":8,}\n", false, Tail{}, false},
		"no number":              {"{\"seq\":,}\n", true, Tail{}, false},
		"no comma":               {"{\"seq\":8}\n", true, Tail{}, false},
		"zero":                   {"{\"seq\":0,}\n", true, Tail{}, false},
		"negative":               {"{\"seq\":-1,}\n", true, Tail{}, false},
		"too long":               {"{\"seq\":" + strings.Repeat("9", 19) + ",}\n", true, Tail{}, false},
		"other file":             {"hello\n", true, Tail{}, false},
		"empty line":             {"{\"seq\":8,}\n\n", true, Tail{}, false},
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
		if end, ok := parseTail(rest, true); ok && end.Seq == 0 && bytes.IndexByte(rest, '\n') >= 0 {
			t.Fatalf("a tail with lines has no number: %q", rest)
		}
		c := chain.Chain{Seq: seq % (1 << 50)}
		line := c.Assemble(nil, nil, []byte(`,"type":"event"`), nil)
		torn, _, _ := bytes.Cut(rest, []byte("\n"))
		end, ok := parseTail(append(line, torn...), true)
		if !ok || end.Seq != c.Seq || end.Torn != (len(torn) > 0) || end.Hash != c.Hash {
			t.Fatalf("%q after record %d: %+v, %v", torn, c.Seq, end, ok)
		}
	})
}
