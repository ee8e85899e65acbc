//go:build !race

package gatewaytest

// sampled has a matrix run a sample of its pairs.
const sampled = false
