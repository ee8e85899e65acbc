package record_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/a2a-gateway/a2a-gateway/proxy/record"
)

func TestRequestID(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Millisecond)
	seen := map[string]bool{}
	for i := range 1000 {
		text := record.NewRequestID(now.Add(time.Duration(i%10) * time.Millisecond))
		id, err := uuid.Parse(text)
		if err != nil || id.String() != text || id.Version() != 7 || id.Variant() != uuid.RFC4122 {
			t.Fatalf("%q is no UUID of version 7: %v", text, err)
		}
		if seen[text] {
			t.Fatalf("%q came twice", text)
		}
		seen[text] = true
		if sec, nsec := id.Time().UnixTime(); !time.Unix(sec, nsec).Equal(now.Add(time.Duration(i%10) * time.Millisecond)) {
			t.Fatalf("%q is of %s, want %s", text, time.Unix(sec, nsec), now)
		}
	}
	if a, b := record.NewRequestID(now), record.NewRequestID(now.Add(time.Millisecond)); a >= b {
		t.Errorf("%q does not sort before %q", a, b)
	}
}
