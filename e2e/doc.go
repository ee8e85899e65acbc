// Package e2e runs the built binary the way a person or an init system does:
// as a process of its own, with signals, real files and other people's clients
// (bash, curl). It holds tests only.
package e2e
