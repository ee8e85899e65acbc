// Package flood stands under package http2 on a client's connection, and ends it where its
// frames serve nobody.
//
// Some frames cost who sends them nothing and the receiver a little: a reset takes back a call that
// has begun (rapid reset, CVE-2023-44487), a ping wants an answer, a stream error makes the server
// reset the stream itself (CVE-2025-8671). The server bounds what they hold of memory, and not how
// many there may be (docs/threat-model.md L20). Here every connection has an allowance of them,
// which fills up again with time, and with what such frames are for: calls that are answered, data
// that is read. A client that does anything useful never comes near its end; one that does nothing
// else is over after some hundred frames.
//
// Frames are weighed by their heads, as they pass, in both directions: those of the
// gateway tell of data that was sent and of resets that it was made to send. What was
// weighed passes as it is; nothing is kept or copied. Beyond the allowance the client is
// told ENHANCE_YOUR_CALM and the connection ends.
//
// It does not own what a frame means, nor its errors: http2 does. It does not look at
// HTTP/1.1.
//
// It may import nothing of ours.
package flood
