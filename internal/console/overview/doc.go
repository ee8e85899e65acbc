// Package overview is the home of the console: how the gateway did lately, at a glance.
//
// It owns the screen and the words of its answer. It does not own the numbers: those over time
// are those of telemetry/history, which reads the metrics and no record, and the agents are the
// fleet's. Callers and changes, which only records know, are operations of their own in
// internal/console/records, so that a long log keeps nobody from seeing the numbers.
package overview
