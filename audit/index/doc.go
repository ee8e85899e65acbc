// Package index finds records of an audit log without reading all of it: a SQLite file
// beside the segments says where records are that have to do with a caller, an agent, a
// skill, a task or a decision.
//
// It owns the index file and what can be asked of it. The segments stay the record: the
// index is made from them, can be deleted at any time, and holds keyed digests of names,
// never the names, so that it tells nothing that the segments do not. What is found is
// read from the segments and compared again. It may import audit/reader and below.
//
//	Update   reads records behind the cursor that the index keeps, and adds a row for each
//	Find     asks SQLite for the numbers, reads those lines from the segments, and compares them
//	Scan     answers the same query by reading the whole log, for a log that has no index
//
// A row is: number, time, segment, offset, length, type, decision, and seven digests of 32 bits.
// Digests are short and collide now and then, which costs a line that is read in vain and nothing
// else. The number of a record is the key, so that adding a batch twice changes nothing.
package index
