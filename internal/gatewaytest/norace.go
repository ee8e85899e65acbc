//go:build !race

package gatewaytest

// sampled runs every pair of a matrix.
const sampled = 1
