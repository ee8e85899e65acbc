// Package jsonscan walks JSON documents without decoding them, finds the members that a
// reader asks about, and changes a few of them in place.
//
// The gateway forwards documents as the bytes they came in. What it reads of them it has to
// read as every parser in the field does, on both sides of it: an id that one parser takes
// from the first of two members and another from the last is a way around an ownership check.
// So a document is either read alike by all of them, or it is refused (see Scanner).
//
// A Scanner is the cursor, and Rules what a format adds to JSON. Names are the members that
// mean something in one kind of object, with all that could be mistaken for one of them. A
// Splice is one change to a document whose other bytes stay. Mend is for what the two ends of
// a call may read in two ways and the gateway must not.
//
// It exports more than twenty names because readers of documents are written in other packages:
// the Scanner, the tables of names that they give it, and the functions that look for one member
// or change a document in passing, for those who need no reader.
//
// It knows nothing of A2A, whose names and limits internal/wire brings, and imports no other
// package of this module.
package jsonscan
