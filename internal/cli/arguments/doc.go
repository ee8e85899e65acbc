// Package arguments says what is wrong with the arguments and flags that a command was given, in plain
// sentences: cobra and pflag say it in words of a library.
package arguments
