//go:build !race

package testenv

// perProcessor is how many parallel tests Overlap runs for every processor.
const perProcessor = 4

// raceEnabled says whether the race detector watches.
const raceEnabled = false
