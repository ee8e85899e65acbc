// Package quantity holds byte sizes and durations as a configuration writes them: "4MiB", "30s".
//
// It owns how they are spelled and how they print; what a size or a duration is for is the
// business of who has it. It imports no other package of this module.
package quantity
