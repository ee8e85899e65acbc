//go:build !linux

package netpoll

type token struct{}

// poller watches nothing.
var poller none

type none struct{}

func (none) add(*Watch) bool { return false }

func (none) remove(*Watch) {}

// Waits has nobody to tell.
func Waits() {}
