package audit

// eventRemoved is the event that says which records were removed, by whom they are no
// more missed.
const eventRemoved = "audit.removed"

// eventDistrusted is the event that takes back what records say about files that were
// removed. Who may write the files can put a removal behind the last checkpoint while the
// gateway does not run, and would have it signed by the next one: what is signed after it
// covers this event as well.
const eventDistrusted = "audit.distrusted"

// eventErased is the event about captured content that was destroyed because somebody wanted it.
const eventErased = "content.erased"
