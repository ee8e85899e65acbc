package main

import (
	"regexp"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdAwait runs a command until it prints what a pattern wants, for what happens by
// itself: await PATTERN COMMAND…. Its last output is there to be looked at.
func cmdAwait(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	if len(args) < 2 {
		ts.Fatalf("usage: await PATTERN COMMAND…")
	}
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	if !eventually(patience, func() bool {
		err = ts.Exec(args[1], args[2:]...)
		return err == nil && want.MatchString(ts.ReadFile("stdout"))
	}) {
		ts.Fatalf("%s does not come; the last time: %v\n%s%s", args[0], err, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}
