package verdict

import "time"

// Replay is what would become of recorded calls.
// Calls is the sum of Same, the three kinds of change, and Untold.
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
// It names the facts that are not recorded and the rules that ask for them.
type Reason struct {
	Why   string `json:"why"`
	Calls int    `json:"calls"`
}

// Draft asks what would become of recorded calls under other rules, or with another configuration of an
// agent. Without times it is about the newest calls.
type Draft struct {
	Rules   string    `json:"rules,omitzero" doc:"YAML, as policy.rules lists them, or with the key rules: around them; with agent, those in force unless set"`
	Agent   string    `json:"agent,omitzero" doc:"YAML, as an entry of agents: has it, in the place of the agent of its id; calls of this agent alone are looked at then"`
	Since   time.Time `json:"since,omitzero" doc:"calls recorded at or after this time"`
	Until   time.Time `json:"until,omitzero" doc:"calls recorded before this time"`
	Records int       `json:"records,omitzero" doc:"so many of the newest at most; unless set all, which are admin.replay.records at most"`
}

// Replayed is what would become of recorded calls under the rules of a draft.
type Replayed struct {
	Calls       int         `json:"calls" doc:"that were looked at"`
	More        bool        `json:"more" doc:"there are older ones, which were not asked for"`
	Oldest      time.Time   `json:"oldest,omitzero" doc:"when the oldest of them began"`
	Newest      time.Time   `json:"newest,omitzero" doc:"when the newest of them began"`
	Same        int         `json:"same" doc:"decided as before"`
	DenyToAllow int         `json:"denyToAllow" doc:"newly allowed"`
	AllowToDeny int         `json:"allowToDeny" doc:"newly denied"`
	OtherRule   int         `json:"otherRule" doc:"the same decision, by another rule"`
	Untold      int         `json:"untold" doc:"cannot be told"`
	Changes     []Redecided `json:"changes" doc:"the newest calls of each kind of change, admin.replay.sample at most; what is worst first"`
	Touched     []Touched   `json:"touched" doc:"whose calls are newly allowed or denied, and of what; what is most first. Of 3000 at most"`
	Why         []Reason    `json:"why" doc:"there are calls that cannot be told; what is most first"`
}

// Touched is a caller, an agent or a skill of which calls are newly allowed or newly denied.
type Touched struct {
	Kind        string `json:"kind" doc:"caller, agent or skill"`
	Name        string `json:"name" doc:"empty for calls that have none: nobody known, no skill"`
	Of          string `json:"of,omitzero" doc:"the issuer of a caller, the agent of a skill"`
	DenyToAllow int    `json:"denyToAllow" doc:"newly allowed"`
	AllowToDeny int    `json:"allowToDeny" doc:"newly denied"`
	Seq         int64  `json:"seq" doc:"the record of the newest of these calls"`
}

// Checked is what is wrong with the rules of a draft, and what they hardly mean.
type Checked struct {
	Rules    int       `json:"rules" doc:"how many there are; 0 where they cannot be read"`
	Mistakes []Mistake `json:"mistakes" doc:"for which the rules could not be put in force"`
	Warnings []string  `json:"warnings" doc:"what the rules permit and hardly mean, and what they name that is on no card"`
}

// Mistake is one thing that is wrong with a draft.
type Mistake struct {
	Line   int    `json:"line,omitzero" doc:"from 1"`
	Column int    `json:"column,omitzero" doc:"from 1"`
	Text   string `json:"text" doc:"what it is, and what to write"`
}

// Redecided is a recorded call that would be decided otherwise.
// It leads to the record of the call by its number.
type Redecided struct {
	Seq    int64     `json:"seq" doc:"the number of its record"`
	Time   time.Time `json:"time" doc:"when it began"`
	Caller string    `json:"caller"`
	Issuer string    `json:"issuer"`
	Agent  string    `json:"agent"`
	Skill  string    `json:"skill,omitzero"`
	Method string    `json:"method"`
	Was    string    `json:"was" doc:"allow or deny"`
	Now    string    `json:"now" doc:"allow or deny"`
	From   string    `json:"from" doc:"the rule that decided; empty for a refusal before the rules"`
	To     string    `json:"to" doc:"the rule that would decide"`
}
