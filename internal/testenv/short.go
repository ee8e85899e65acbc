package testenv

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// Long skips a test where `go test -short` asks for an answer within a minute, and says why it
// takes longer than its share. Everywhere else, as under make test and in CI, it does nothing.
func Long(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: " + why)
	}
}

// Short is Long for a package of which every test is long: its TestMain asks before it sets
// anything up, and returns if so.
func Short(why string) bool {
	if !flag.Parsed() {
		flag.Parse()
	}
	if testing.Short() {
		_, _ = fmt.Fprintln(os.Stderr, "-short: nothing is run: "+why)
	}
	return testing.Short()
}
