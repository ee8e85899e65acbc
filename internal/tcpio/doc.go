// Package tcpio reads from TCP sockets and writes to them by system calls of which Go's scheduler is
// not told.
//
// The scheduler is told of a system call because it may block, and wakes a thread of its own that sees
// after it. On a socket that does not block none does: it copies some kilobytes and returns. A stream's
// event is a read, a write and little else, so that this thread, woken for each, took a quarter of
// what an event cost. Reads and writes of more than 64 KiB are net's, as copying takes longer, and so are
// all of them under the race detector, which takes them for synchronization, and on other systems than
// Linux.
//
// It owns neither connections nor deadlines: a Conn is a *net.TCPConn in all else. A write that has
// to wait tells package netpoll.
package tcpio
