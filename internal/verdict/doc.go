// Package verdict is what is said of a call that nobody made: the question, and the answer
// with its reasons. Commands print it and the admin API describes it; internal/explain finds
// it.
//
// It has no code but the words for people. It imports ext for what is said of extensions.
//
// The types of a question (Question, Claimed, Task) and of its answer (Explanation and the structs
// within) are the JSON of `explain --output json`, of the administration API and of reports of
// policy test. Those of a replay (Replay, Draft, Replayed) are the JSON of policy test --replay
// and of the API. Members are only ever added: scripts read them. The tag doc of a field is its
// description in the OpenAPI document of the administration API.
//
// It exports more than twenty names because it is a vocabulary: each is an object of these
// documents, or one of the three words for a decision.
package verdict
