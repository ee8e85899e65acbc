// Package http2 serves HTTP/2 (RFC 9113) to clients, as net/http does, in fewer steps. A
// connection has one goroutine, which reads: frames are looked at where they were read,
// and what a client has to be told about them leaves in one write when nothing more has
// come. Each request runs in a goroutine of its own, kept for the next one with the stack
// that the last has grown. An answer that waits for something to happen can go on without
// it (Leave).
//
// Whoever has something to send appends its frames to what the connection has to send
// (writer.go). If nobody is writing he writes, and goes on for as long as others append
// meanwhile: a unary answer is one write with its head, its body and its end, and the
// answers of many calls that end at once are one write together.
//
//	client                         connection                     handler
//	HEADERS, DATA, END_STREAM  ->  request.go: http.Request   ->  ServeHTTP
//	WINDOW_UPDATE              ->  stream.go: window          ->  Write goes on
//	RST_STREAM                 ->  stream.go: context ends    ->  ctx.Done()
//	                           <-  HEADERS, DATA, END_STREAM  <-  returns
//
// What bounds a connection: one head of at most Head bytes, decoded (431 beyond that); so
// many streams at once (REFUSED_STREAM beyond) and so many handlers that still run for
// streams which were reset; a window of 64 KiB a stream and 1 MiB a connection for bodies
// that nobody reads; 64 KiB of frames that the client does not take, after which
// writes wait; and 256 KiB of answers to its own frames, after which it is told
// ENHANCE_YOUR_CALM. How many
// frames may come that serve no call is for package flood beneath.
//
// The server pushes nothing, has no priorities, and neither CONNECT with a protocol
// (RFC 8441) nor upgrades from HTTP/1.1.
package http2
