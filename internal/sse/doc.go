// Package sse reads and writes Server-Sent Events (WHATWG HTML §9.2, the
// "text/event-stream" format), the frames in which A2A agents stream.
//
// It owns framing only: where an event ends, what its fields are, and how one
// is written. It does not own what the data means (internal/wire), resuming,
// heartbeats or flushing (proxy/stream). It imports no other package of this
// module.
//
// Two things differ from what a browser does, because a relay is not the end of
// the line. An event that stands unfinished when the stream ends is an error
// and is not dropped silently, or an event where the reader's user finds it whole. And frames that a browser would ignore
// (comments) are shown, since they prove that the agent is alive.
package sse
