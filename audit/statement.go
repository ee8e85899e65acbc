package audit

// checkpointType is the typ of a checkpoint's JWS: nothing else that the gateway signs
// can be taken for one.
// It is the typ of the protected header (RFC 7515 section 4.1.9), which RFC 8725 section 3.11
// recommends for keeping kinds of tokens that one key signs apart.
const checkpointType = "a2a-audit-checkpoint"

// statement is what a checkpoint signs: that the record before it, and so all records
// before that, are the ones the gateway wrote.
type statement struct {
	Gateway string `json:"gateway,omitempty"`
	Seq     uint64 `json:"seq"`  // of the record before the checkpoint
	Hash    string `json:"hash"` // of that record
	Time    string `json:"time"`
}
