// Package grpcframe reads and writes the frames that gRPC puts around the messages of a
// body: a byte that says whether the message is compressed, four bytes of length, and the
// message (gRPC over HTTP/2, Length-Prefixed-Message). A unary call has one frame in each
// direction, a stream of events one for each event.
//
// It knows nothing of what a message says; internal/wire does. It exists beside the gRPC
// library because the gateway forwards messages as the bytes they came in, and because its
// limit holds before a message is in memory.
package grpcframe
