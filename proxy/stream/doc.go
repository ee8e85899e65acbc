// Package stream has the streams of agents: the events of a task are read once into a
// feed, which keeps the newest for clients who come back, and relayed to any number of
// clients, in order, flushed as they come, with a heartbeat while nothing happens and a
// limit on everything that could grow. Either side speaks Server-Sent Events or gRPC.
//
// It owns feeds (what is kept, for how long, who reads when), the framing toward the
// client, heartbeats and limits. It does not know A2A: a Judge looks at each event as
// it is read and says what is kept of it, a See function as it is passed on and says what
// a client gets. It may import internal/sse, internal/wire (for the frames of gRPC),
// internal/state and below.
package stream
