// Package index finds records of an audit log without reading all of it: a SQLite file
// beside the segments says where records are that have to do with a caller, an agent, a
// skill, a task or a decision.
//
// It owns the index file and what can be asked of it. The segments stay the record: the
// index is made from them, can be deleted at any time, and holds keyed digests of names,
// never the names, so that it tells nothing that the segments do not. What is found is
// read from the segments and compared again. It may import audit and below.
package index
