package proxy

// cursors seals what clients bring back unchanged: page tokens of lists and the event ids by which
// streams are resumed.
type cursors struct {
	sealer Sealer
}
