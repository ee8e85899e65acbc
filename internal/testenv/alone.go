package testenv

import "testing"

// Alone skips a test under the race detector, which makes it take ten times as long and sees nothing in it:
// all that it does is in one goroutine, and it shares nothing. why says what takes long.
// Its package is run once more without the detector (.ci/run).
func Alone(t testing.TB, why string) {
	t.Helper()
	if raceEnabled {
		t.Skip("under the race detector: " + why + ", in one goroutine")
	}
}
