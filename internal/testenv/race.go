//go:build race

package testenv

// perProcessor is how many parallel tests Overlap runs for every processor. Under the race detector they
// compute more than they wait, and limits of seconds are to be kept all the same.
const perProcessor = 2

// raceEnabled says whether the race detector watches.
const raceEnabled = true
