package redis

import (
	"strconv"
	"strings"
	"testing"
)

// FuzzReplies: what somebody else has written into the store, or a server that is not one
// answers, is an error, and never more than was there.
func FuzzReplies(f *testing.F) {
	for _, seed := range []string{
		"1 5 0 1000000", "1 5 0", "9223372036854775808 0 0 0", "# Server\r\nredis_version:7.2.4\r\nrole:master\r\n",
		string([]byte{valueForm, 0, 0, 0, 0, 0, 0, 0, 1}) + "data", string([]byte{valueForm, 255, 255, 255, 255, 255, 255, 255, 255}),
		"12-0", "18446744073709551615-0", "-1-0", "12-1",
	} {
		f.Add(seed, int64(1))
	}
	f.Fuzz(func(t *testing.T, text string, size int64) {
		if v, err := decodeValue(text, "s", "k"); err == nil && string(v.Data) != text[valueHead:] {
			t.Errorf("%q has the data %q", text, v.Data)
		}
		if d, ok := readDrawn(text); ok && (len(strings.Fields(text)) != 4 || d.OK != (strings.Fields(text)[0] == "1" || parsesAsOne(text))) {
			t.Errorf("%q is %+v", text, d)
		}
		for name, value := range parseInfo(text) {
			if !strings.Contains(text, name+":"+value) {
				t.Errorf("%q has %q = %q", text, name, value)
			}
		}
		tail, err := readTail([]any{text, size, "", "entry"})
		if err == nil && (tail.First < 1 || tail.First > tail.Last || tail.Last-tail.First+1 != uint64(size)) {
			t.Errorf("a log of %d entries until %q is %+v", size, text, tail)
		}
	})
}

// parsesAsOne reports whether the first word is 1 in another spelling, such as +1.
func parsesAsOne(text string) bool {
	n, err := strconv.ParseInt(strings.Fields(text)[0], 10, 64)
	return err == nil && n == 1
}
