//go:build !race

package apikey

const crowd = 100_000
