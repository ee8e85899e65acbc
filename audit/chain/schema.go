package chain

// Version is the v of every record. It changes only when a member changes
// its meaning or goes; new members do not change it.
const Version = 1

// LongestRecord bounds a line, in bytes: lists and texts in records are bounded.
// A writer never comes near it (TestLongest measures the longest record that can be made), a reader
// gives up on a line that is longer: it is not of this log, and room for it would be the attacker's
// to choose.
const LongestRecord = 2 << 20
