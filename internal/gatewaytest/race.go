//go:build race

package gatewaytest

// sampled runs one in so many pairs of a matrix. Under the race detector a pair takes
// ten times as long, and one is as likely to show a race as its neighbours; what the
// pairs say is compared without it.
const sampled = 3
