package chain

// schemaVersion is the v of every record. It changes only when a member changes
// its meaning or goes; new members do not change it.
const Version = 1

// Types of records.
const (
	TypeIntent = "intent" // a call is about to go to an agent
	TypeCall   = "call"   // a call has ended, or was refused
	TypeEvent  = "event"  // something happened to the gateway itself

	TypeCheckpoint = "checkpoint" // the records so far, signed
)

// longestRecord bounds a line, in bytes: lists and texts in records are bounded.
// A writer never comes near it (TestLongest measures the longest record that can be made), a reader
// gives up on a line that is longer: it is not of this log, and room for it would be the attacker's
// to choose.
const LongestRecord = 2 << 20

// eventRemoved is the event that says which records were removed, by whom they are no
// more missed.
const EventRemoved = "audit.removed"

// eventDistrusted is the event that takes back what records say about files that were
// removed. Who may write the files can put a removal behind the last checkpoint while the
// gateway does not run, and would have it signed by the next one: what is signed after it
// covers this event as well.
const EventDistrusted = "audit.distrusted"

// eventErased is the event about captured content that was destroyed because somebody wanted it.
const EventErased = "content.erased"
