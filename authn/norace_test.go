//go:build !race

package authn

const crowd = 100_000
