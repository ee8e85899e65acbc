// Package verdict is what is said of a call that nobody made: the question, and the answer
// with its reasons. Commands print it and the admin API describes it; internal/explain finds
// it.
//
// It has no code but the words for people. It imports ext for what is said of extensions.
package verdict
