package gatewaytest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
)

// Raw writes bytes as they are and closes the connection.
func Raw(bytes string) Reply {
	return func(_ context.Context, conn net.Conn, _ *Recorded) bool {
		_, _ = conn.Write([]byte(bytes))
		return false
	}
}

// Document answers with a status, a media type and a body. Further lines, such
// as "Set-Cookie: a=b", are added to the head as they are.
func Document(status int, mediaType, body string, lines ...string) Reply {
	return func(_ context.Context, conn net.Conn, _ *Recorded) bool {
		_, err := conn.Write([]byte(head1(status, mediaType, body, lines...)))
		return err == nil
	}
}

func head1(status int, mediaType, body string, lines ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	fmt.Fprintf(&b, "Content-Type: %s\r\nContent-Length: %d\r\n", mediaType, len(body))
	for _, line := range lines {
		b.WriteString(line + "\r\n")
	}
	b.WriteString("\r\n" + body)
	return b.String()
}

// Result answers a JSON-RPC call with a result, under the call's id. Further
// lines are added to the head.
func Result(result string, lines ...string) Reply {
	return func(ctx context.Context, conn net.Conn, r *Recorded) bool {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.ID(), result)
		return Document(http.StatusOK, "application/json", body, lines...)(ctx, conn, r)
	}
}

// Failure answers a JSON-RPC call with an error, under the call's id.
func Failure(code int, message string) Reply {
	return func(ctx context.Context, conn net.Conn, r *Recorded) bool {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, r.ID(), code, message)
		return Document(http.StatusOK, "application/json", body)(ctx, conn, r)
	}
}

// HTML answers with a page, as a proxy in between would.
func HTML(status int) Reply {
	return Document(status, "text/html; charset=utf-8", "<html><body><h1>Sorry</h1></body></html>")
}

// WrongID answers with a result under another id.
func WrongID(result string) Reply {
	return Document(http.StatusOK, "application/json", `{"jsonrpc":"2.0","id":"another","result":`+result+`}`)
}

// Hang never answers. It holds the connection until the test is over or the
// other end closes it.
func Hang() Reply {
	return func(ctx context.Context, conn net.Conn, _ *Recorded) bool {
		hold(ctx, conn)
		return false
	}
}

// hold waits until the peer closes the connection or the test is over.
func hold(ctx context.Context, conn net.Conn) {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		var one [1]byte
		_, _ = conn.Read(one[:])
	}()
	select {
	case <-ctx.Done():
	case <-gone:
	}
	_ = conn.Close()
	<-gone
}

// CloseEarly closes the connection without a byte.
func CloseEarly() Reply { return Raw("") }

// Truncated promises a body and closes in the middle of it.
func Truncated() Reply {
	return Raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n" +
		`{"jsonrpc":"2.0",`)
}

// EvilHeaders answers properly, with fields that must not reach a client: hop by
// hop, cookies, security policies of another origin, smuggled credentials.
func EvilHeaders(result string) Reply {
	return Result(result,
		"Set-Cookie: session=stolen; Path=/",
		"Connection: X-Secret",
		"X-Secret: hop",
		"Keep-Alive: timeout=1000",
		"Proxy-Authenticate: Basic realm=evil",
		"WWW-Authenticate: Basic realm=evil",
		"Server: Evil/6.6.6",
		"Location: http://evil.example/",
		"Refresh: 0; url=http://evil.example/",
		"Access-Control-Allow-Origin: *",
		"Access-Control-Allow-Credentials: true",
		"Strict-Transport-Security: max-age=0",
		"Clear-Site-Data: \"*\"",
		"Alt-Svc: h3=\":443\"",
		"A2A-Extensions: urn:nobody-asked",
		"X-A2A-Extensions: urn:nobody-asked",
	)
}

// TwoResponses answers one request twice, so that the second answer waits for
// whoever uses the connection next.
func TwoResponses(first, second string) Reply {
	return func(_ context.Context, conn net.Conn, r *Recorded) bool {
		text := func(result string) string {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.ID(), result)
			return head1(http.StatusOK, "application/json", body)
		}
		_, err := conn.Write([]byte(text(first) + text(second)))
		return err == nil
	}
}

const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n" +
	"Transfer-Encoding: chunked\r\n\r\n"

func chunk(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

// Events streams frames, each written as one chunk exactly as given, and ends
// the stream properly. "%ID%" in a frame stands for the JSON-RPC id of the call.
func Events(frames ...string) Reply {
	return func(_ context.Context, conn net.Conn, r *Recorded) bool {
		if !frame(conn, r, frames) {
			return false
		}
		_, err := conn.Write([]byte("0\r\n\r\n"))
		return err == nil
	}
}

// EventsThenClose streams frames and closes the connection without ending the
// stream.
func EventsThenClose(frames ...string) Reply {
	return func(_ context.Context, conn net.Conn, r *Recorded) bool {
		frame(conn, r, frames)
		return false
	}
}

// EventsThenHang streams frames and then nothing, with the connection open.
func EventsThenHang(frames ...string) Reply {
	return func(ctx context.Context, conn net.Conn, r *Recorded) bool {
		if frame(conn, r, frames) {
			hold(ctx, conn)
		}
		return false
	}
}

// Gated streams frames, the first at once and each further one when a value
// arrives on the channel; it ends the stream properly when the channel is
// closed, even if frames are left.
func Gated(next <-chan struct{}, frames ...string) Reply {
	return func(ctx context.Context, conn net.Conn, r *Recorded) bool {
		_, err := conn.Write([]byte(streamHead))
		for _, text := range frames {
			if err != nil {
				return false
			}
			_, err = conn.Write([]byte(chunk(strings.ReplaceAll(text, "%ID%", r.ID()))))
			select {
			case _, open := <-next:
				if !open {
					_, err = conn.Write([]byte("0\r\n\r\n"))
					return err == nil
				}
			case <-ctx.Done():
				return false
			}
		}
		_, err = conn.Write([]byte("0\r\n\r\n"))
		return err == nil
	}
}

func frame(conn net.Conn, r *Recorded, frames []string) bool {
	if _, err := conn.Write([]byte(streamHead)); err != nil {
		return false
	}
	for _, text := range frames {
		if _, err := conn.Write([]byte(chunk(strings.ReplaceAll(text, "%ID%", r.ID())))); err != nil {
			return false
		}
	}
	return true
}
