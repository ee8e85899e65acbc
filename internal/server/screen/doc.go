// Package screen refuses HTTP requests that two readers could understand in two ways, before
// anybody asks who sent them: request smuggling's relatives above the framing.
//
// A gateway decides by what it reads, and an agent acts by what it reads. Where the two read
// differently, whoever wrote the request chooses which of the readings is checked and which is
// done. So nothing is repaired or normalised here: a request has one spelling or gets an answer
// of 400, 405, 414, 415 or 431. The parts, in the order in which Request asks them:
//
//	verb        one that some route may have; no TRACE, no CONNECT (RFC 9110 §9)
//	target      length, no fragment, canonical path, decodable query without credentials
//	Host        one host, the same as that of the target (RFC 9112 §3.2.2)
//	fields      their number and names, repeated singletons, what Connection takes away
//	body        none where the verb gives it no meaning, and a length that is true
//
// Framing itself, chunks and lengths, has been judged before by internal/server/strict, which
// reads the bytes of the connection. Which hosts and routes there are is asked after.
package screen
