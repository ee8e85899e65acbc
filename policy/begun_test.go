package policy

import (
	"testing"
	"time"
)

// TestStreamLookedAtAgain: of a stream that goes on, the age of the sign-in counts as it
// was at the beginning, and the time of day as it is now.
func TestStreamLookedAtAgain(t *testing.T) {
	t.Parallel()
	set := compile(t, Config{Rules: []Rule{
		allow("in time", signIn(Authentication{MaxAge: seconds(600)}), func(r *Rule) {
			r.Times = []Window{{From: "08:00", To: "18:00"}}
		}),
	}})
	q := signedIn(t)
	begun := moment(t, "2026-03-12T17:30:00Z")
	q.Principal.AuthTime = begun.Add(-9 * time.Minute)
	for name, tt := range map[string]struct {
		after time.Duration
		want  bool
	}{
		"at once":                           {0, true},
		"with a sign-in that is old now":    {20 * time.Minute, true},
		"after the time of day that counts": {40 * time.Minute, false},
	} {
		q.Begun, q.Now = begun, begun.Add(tt.after)
		if _, err := set.Check(q); (err == nil) != tt.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func moment(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}
