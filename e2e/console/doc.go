// Package console uses the console in a real browser, in front of a real gateway with agents
// and webhooks. It holds tests only.
package console
