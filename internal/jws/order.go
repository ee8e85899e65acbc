package jws

import (
	"crypto/ed25519"
	"encoding/hex"
	"slices"
)

// smallOrders are the points of edwards25519 that a multiple of eight makes the neutral
// one, in every spelling of theirs, without the sign of x. For a key that is one of them
// anybody can make signatures that hold, and RFC 8032 §5.1.7 does not have verifiers look.
func smallOrders() [7]string {
	return [...]string{
		"0000000000000000000000000000000000000000000000000000000000000000",
		"0100000000000000000000000000000000000000000000000000000000000000",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", // 0 again
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", // 1 again
	}
}

// smallOrder reports whether a key is nobody's.
func smallOrder(k ed25519.PublicKey) bool {
	if len(k) != ed25519.PublicKeySize {
		return false
	}
	y := slices.Clone(k)
	y[len(y)-1] &= 0x7f
	all := smallOrders()
	return slices.Contains(all[:], hex.EncodeToString(y))
}
