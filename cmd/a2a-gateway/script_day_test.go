package main

import (
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// longestScript is how long a script may take beside all others.
const longestScript = 3 * time.Minute

// cmdSameDay waits where the day (UTC) would end while the script goes on: audit logs have a file a day,
// and a script that takes the one there is away has done nothing to the next.
func cmdSameDay(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	if len(args) > 0 {
		ts.Fatalf("usage: sameday")
	}
	now := time.Now()
	midnight := now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	if left := midnight.Sub(now); left < longestScript {
		time.Sleep(left + time.Second)
	}
}
