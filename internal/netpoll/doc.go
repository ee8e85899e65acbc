// Package netpoll waits for sockets to have something to read, without a goroutine for
// each of them. A goroutine that waits in Read has a stack as deep as its calls went, of
// 8 KiB as a rule; streams wait for hours, and there are thousands.
//
// It owns the waiting and the goroutines that end it. It neither reads nor closes
// anything, and does not know what the sockets are for. It imports no other package of
// this module.
//
// On Linux one epoll instance watches all sockets, and is itself watched by the runtime's
// poller, so that no thread waits either. Elsewhere Of gives nothing, and whoever asks has
// to wait as usual.
package netpoll
