// Package strict reads what comes on an HTTP/1.1 connection before anybody makes requests
// of it, byte by byte, as RFC 9112 writes it and no other way.
//
// Other servers forgive: a line that ends without CR, a length beside chunks, a chunk with
// an extension. A handler cannot see what was forgiven, and whoever stands in front may
// have read the same bytes as another number of requests (docs/threat-model.md L17).
// Here nothing is forgiven or repaired, so that there is one way to read what passes.
//
// What has been read passes at once and in place: nothing is buffered or copied, an idle
// connection holds no memory but its state, and deadlines mean what they say. The byte
// that breaks a rule does not pass, nor any after it: reads fail with Broken, which says
// what is to be answered once the requests before have been.
//
// It owns framing: line ends, the form of the request line and of fields, one Host, the
// length of the body or its chunks, the size of the head. Of trailers it lets nobody see
// anything. It does not own what a request means: verbs, paths, hosts, the number of
// fields and the length of targets that fit into a head have answers of their own in
// internal/server/screen. It does not look at HTTP/2.
//
// It may import nothing of ours.
package strict
