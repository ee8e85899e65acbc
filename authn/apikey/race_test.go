//go:build race

package apikey

// crowd is many keys. Under the race detector each costs ten times as much, and the
// last of them shows it nothing that the first has not.
const crowd = 10_000
