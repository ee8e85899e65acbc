// Package stream keeps the event streams of agents: the events of a task are read once into a
// feed, which keeps the newest for clients who come back, and has a limit on everything that
// could grow. Any number of clients follow a feed, each at its own place.
//
// It owns feeds: what is kept, for how long, and who reads when. It does not know A2A: a Judge
// looks at each event as it is read and says what is kept of it. How agents write events is
// package agentevents', how a client is written to package relay's, why a stream ended package
// ending's, and what an agent may say in which order package grammar's. It may import
// internal/sse, internal/grpcframe, internal/state and below.
//
// # One event, from the agent to a client
//
//	agent's body -> agentevents.Source -> source.pump -> Judge -> replayBuffer (ring) -> Cursor -> relay.Relay -> client
//	                                                      |
//	                                                      sharedLog -> state.Logs -> other replicas
//
// A goroutine per source reads events and asks the Judge what is kept of each. Several that come
// together are judged and added together. The feed's ring keeps the newest within streams.buffer;
// each client has a Cursor, the number of the entry it was given last. A relay waits for its
// cursor and writes.
//
// # States of a feed
//
//   - It has a source: the agent's stream is read, until it ends, is idle for too long, has too
//     large an event, or nobody has listened for streams.linger.
//   - lost: the stream has ended and the task goes on. One client opens another source (Resume),
//     or gives up (Fail).
//   - rested: the task waits for its user. The next message has a stream of its own, which becomes
//     a part of this feed.
//   - ended: nothing comes any more. After streams.retain the feed is forgotten.
//   - following: another replica reads the agent, and this one its log. When the lease is free,
//     regain takes it, and the feed is lost or rested here.
//
// Open makes a feed of a source before the task is known. Bind makes it the task's: others can
// then find it (Find), its entries have numbers, and its log begins. A task that has a feed
// without a source takes the new one over (adopt), so that a conversation of several turns has
// one numbering.
//
// # Who waits for whom
//
// The source waits for the fastest client without a limit, and for others up to
// streams.buffer.catchUp: a client that falls behind what is kept is cut off with ErrSlow and may
// come back with its Last-Event-ID. All feeds together keep streams.buffer.total; evict takes
// from feeds without clients first, then from the one that keeps most.
//
// # Locks
//
// A feed's mutex guards its clients, its replay buffer, its phase and its sharedLog; the hub's mutex
// guards the maps, the line of idle feeds and the work of clerks, and is taken last. Functions
// that must not be called under a feed's mutex say so: stopping a source calls the request's
// cancel function. A feed that was adopted points to the one it became a part of; lock follows
// that.
//
// # The stored log
//
// With a shared state each feed's entries are appended to a log by clerks, behind the clients'
// backs: a slow database delays no event. A lease says which replica reads the agent. One that
// loses its lease takes back what it had not written (fence), because another replica may have
// given those numbers to other events; the epoch in an event id tells the two apart.
package stream
