package verdict

// Replay is what would become of recorded calls.
type Replay struct {
	Calls       int      `json:"calls"`
	Same        int      `json:"same" doc:"decided as before"`
	AllowToDeny int      `json:"allowToDeny"`
	DenyToAllow int      `json:"denyToAllow"`
	OtherRule   int      `json:"otherRule" doc:"the same decision, by another rule"`
	Untold      int      `json:"untold" doc:"cannot be told"`
	Changes     []*Group `json:"changes" doc:"what is worst first, and then what is most"`
	Left        int      `json:"left,omitempty" doc:"calls that would be decided otherwise, of further groups"`
	Why         []Reason `json:"why" doc:"there are calls that cannot be told"`
}

// Changed is how many calls would be decided otherwise.
func (r *Replay) Changed() int { return r.AllowToDeny + r.DenyToAllow + r.OtherRule }

// Change is what calls of one group have in common.
type Change struct {
	Was    string `json:"was" doc:"allow or deny"`
	Now    string `json:"now" doc:"allow or deny"`
	From   string `json:"from" doc:"the rule; empty for a refusal before the rules"`
	To     string `json:"to" doc:"the rule"`
	Agent  string `json:"agent"`
	Caller string `json:"caller"`
}

// Group is all calls with one change.
type Group struct {
	Change

	Calls    int       `json:"calls"`
	Examples []Example `json:"examples" doc:"the first"`
}

// Example is one call.
type Example struct {
	Time    string `json:"time"`
	Method  string `json:"method"`
	Skill   string `json:"skill,omitempty"`
	Request string `json:"request" doc:"its id"`
}

// Reason is why calls cannot be told.
type Reason struct {
	Why   string `json:"why"`
	Calls int    `json:"calls"`
}
