// Package strict stands under net/http and reads what comes on an HTTP/1.1 connection
// before net/http does, byte by byte, as RFC 9112 writes it and no other way.
//
// net/http forgives: a line that ends without CR, a length beside chunks, a chunk with
// an extension. A handler cannot see what was forgiven, and whoever stands in front may
// have read the same bytes as another number of requests (docs/threat-model.md L17).
// Here nothing is forgiven or repaired, so that there is one way to read what passes.
//
// What has been read passes at once and in place: nothing is buffered or copied, an idle
// connection holds no memory but its state, and the timeouts of net/http mean what they
// say. The byte that breaks a rule does not pass, nor any after it. In its place come a
// few bytes on which net/http, whatever it has read by then, refuses the request by
// itself, in order after the answers to earlier requests, and closes the connection. In
// a body of chunks they are an invalid chunk, so that the handler's read fails.
//
// It owns framing: line ends, the form of the request line and of fields, one Host, the
// length of the body or its chunks, the size of the head. Of trailers it lets nobody see
// anything. It does not own what a request means: verbs, paths, hosts, the number of
// fields and the length of targets have answers of their own in server.Screen. It does
// not look at HTTP/2.
//
// It may import nothing of ours.
package strict
