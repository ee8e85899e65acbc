//go:build !race

package proxytest

// RaceEnabled says whether the race detector watches, under which all takes longer.
const RaceEnabled = false
