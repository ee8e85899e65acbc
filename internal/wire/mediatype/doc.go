// Package mediatype knows the media types that A2A travels under (Content-Type and Accept,
// RFC 9110 §8.3 and §12.5.1), and how a body is found under a type that is not A2A's.
//
// A request is held to the types that the specification has (OfRequest), since an attacker may
// write any other: a browser sends text/plain across sites without asking first. What agents
// answer is read more leniently: some frameworks send JSON as text/plain, with a byte order mark,
// or under two types. ReadLabel reads what the header says, and Label.Document finds the JSON
// document in the body, as long as everybody would find the same.
//
//	agent's Content-Type         body              result
//	application/json             {"task":{…}}      the body
//	none, or text/plain          {"task":{…}}      the body, and a note for the record
//	text/html                    <html>…           an error that names the type
//	application/json             UTF-16            an error: JSON is UTF-8 (RFC 8259 §8.1)
//
// The package imports nothing of this module, so that packages of every floor may name a type.
package mediatype
