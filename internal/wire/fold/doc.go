// Package fold says what a task has become by its events.
//
// A stream shows a task first and then only what changes of it. Whoever joins
// later, or has missed events, needs the task as it is now: a Task is the sum of the
// events that were applied to it. The other way round, Missing finds what somebody
// who has seen this sum must still be shown, when an agent can only be asked for the
// whole.
//
// It reads and writes the documents of A2A 1.0, in camelCase or in the snake_case of
// their proto names, and no other version's: those come here translated. What it
// does not know, and what no event has changed, stays as it is, byte for byte. It owns no limits: documents have been
// checked by package wire, and a Task says how large it has become.
// It knows neither ownership nor what order of events is legal, and imports no other
// package of this module than wire.
//
// A task and two events of its stream, and what Snapshot gives then:
//
//	{"task":{"id":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING"}}}
//	{"artifactUpdate":{"taskId":"T","artifact":{"artifactId":"a","parts":[{"text":"Hel"}]}}}
//	{"artifactUpdate":{"taskId":"T","append":true,"artifact":{"artifactId":"a","parts":[{"text":"lo"}]}}}
//
//	{"id":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING"},
//	 "artifacts":[{"artifactId":"a","parts":[{"text":"Hel"},{"text":"lo"}]}]}
//
// The parts of a chunk are put behind those before (A2A 1.0 §4.2.2, append) and not joined into one:
// two parts of text are two parts.
package fold
