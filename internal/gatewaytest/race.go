//go:build race

package gatewaytest

const sampled = 3
