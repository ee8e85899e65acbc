package strict

import (
	"bufio"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
)

const head = 16 << 10

// wire is a connection on which pieces come, one a read, and then the end.
type wire struct {
	net.Conn
	pieces []string
}

func (w *wire) Read(p []byte) (int, error) {
	for len(w.pieces) > 0 && w.pieces[0] == "" {
		w.pieces = w.pieces[1:]
	}
	if len(w.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, w.pieces[0])
	w.pieces[0] = w.pieces[0][n:]
	return n, nil
}

// seen is a request as somebody has read it.
type seen struct {
	method, target, proto, host string
	fields                      string
	body                        string
	broken                      bool // the body did not come to its end
}

func (s seen) String() string {
	end := ""
	if s.broken {
		end = ", broken"
	}
	return s.method + " " + s.target + " " + s.proto + " " + s.host + " {" + s.fields + "} " + s.body + end
}

// requests are what net/http reads, up to the first error. Like everybody here, it
// ignores an empty line before a request.
func requests(from io.Reader) []seen {
	var all []seen
	br := bufio.NewReaderSize(from, 2*head) // net/http wants trailers to fit in, whose size is bounded as that of a head
	for {
		if line, _ := br.Peek(2); string(line) == "\r\n" {
			_, _ = br.Discard(2)
		}
		r, err := http.ReadRequest(br)
		if err != nil || r.ProtoMajor != 1 { // the server answers 505
			return all
		}
		body, err := io.ReadAll(r.Body)
		all = append(all, seen{
			method: r.Method, target: r.RequestURI, proto: r.Proto, host: r.Host, fields: fields(r.Header),
			body: string(body), broken: err != nil,
		})
		if err != nil {
			return all
		}
	}
}

func fields(h http.Header) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			b.WriteString(name + ": " + value + "; ")
		}
	}
	return b.String()
}

// passed is all that passes of a connection, and the rule that was broken.
func passed(tb interface{ Errorf(string, ...any) }, pieces []string, h2c bool) (text, broken string) {
	rules := Rules{Head: head, H2C: h2c, Refused: func(rule string) {
		if broken != "" {
			tb.Errorf("%s was reported after %s", rule, broken)
		}
		broken = rule
	}}
	var all []byte
	c := rules.Plain(&wire{pieces: slices.Clone(pieces)})
	buf := make([]byte, 4096)
	for len(all) < 1<<20 {
		n, err := c.Read(buf)
		all = append(all, buf[:n]...)
		if err != nil {
			break
		}
	}
	return string(all), broken
}

// read is what net/http sees of the pieces behind the rules.
func read(pieces []string) []seen {
	rules := Rules{Head: head}
	return requests(io.LimitReader(rules.Plain(&wire{pieces: slices.Clone(pieces)}), 1<<20))
}

// cut makes pieces, whose sizes are taken from sizes in turn.
func cut(data string, sizes []byte) []string {
	var pieces []string
	for i := 0; len(data) > 0 && len(sizes) > 0; i++ {
		n := min(len(data), 1+int(sizes[i%len(sizes)]))
		pieces, data = append(pieces, data[:n]), data[n:]
	}
	return append(pieces, data)
}

// bytewise cuts into single bytes.
func bytewise(data string) []string { return cut(data, []byte{0}) }
