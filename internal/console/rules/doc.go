// Package rules is the policy in the admin API: the rules in force and how often they decided,
// what would become of a call, recorded calls under other rules, and the limits of callers.
//
// It owns these screens and what they ask of the gateway. It decides nothing itself.
//
// There are three screens. Screen shows the rules in force with how often each decided, and
// explains what would become of a call. LimitsScreen shows the limits of callers and who
// met one lately, from the records of refused calls. ReplayScreen puts recorded calls to
// the rules of a draft.
//
// An example: POST /api/v1/policy/explain with
// {"agent":"billing","caller":{"subject":"alice"}} is read strictly (a member that is
// misspelt is an error and not a wider question), and handed to Policy.Explain, which runs
// the compiled rules on it and makes no call.
package rules
