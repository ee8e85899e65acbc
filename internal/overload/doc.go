// Package overload sheds load: it decides what a process with too much to do still takes on, so
// that it can always answer somebody (load shedding, admission control).
//
// A Ladder has a rung for each thing that runs out. Each is judged by itself, from what is
// measured and not from what is asked for, ten times a second; what a call pays is a few
// atomic reads. Every rung has a name, which is its key below server.limits, the error that
// callers read and the label that is counted by:
//
//	delay        work waits for a processor: callers above their fair share are refused
//	softMemory   memory is getting short: new streams and large bodies are refused
//	memory       there is little of it left: new calls are refused
//	requests     too many calls are in flight: further ones are refused, first of who has most
//	streams      too many streams are open: further ones are refused
//	descriptors  those left are kept for what has begun: calls in flight may not grow
//
// What has been taken on is never ended for any of them, and health, metrics and cards are
// answered on every rung: who asks for those does not ask the Ladder. It owns no limit and
// no answer. Of the house it may import internal/share.
package overload
