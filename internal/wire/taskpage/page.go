package taskpage

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Page is where a ListTasks answer (A2A 1.0 §3.1.4) has what the gateway replaces.
//
//	{"tasks":[…],"nextPageToken":"p2","pageSize":50,"totalSize":120}
//	Page{Next: "p2", Size: 50}
type Page struct {
	Next string // nextPageToken; "" on the last page
	Size int    // pageSize; 0 when it is absent or no number

	open              int    // behind the brace of the object; 0 for null, which is an empty list
	array             [2]int // the value of tasks; {0, 0} when absent
	next, total, size [][2]int
}

// Edit is what a page becomes.
type Edit struct {
	Keep  []bool   // which of the page's own entries stay
	More  [][]byte // entries of further pages, which go behind them
	Next  string   // nextPageToken
	Size  int      // pageSize
	Total int      // totalSize
}

// Read finds what Edit replaces, under every name that some client reads it by: of
// any case, as encoding/json does. body has been read by ReadAnswer.
func Read(b wire.Binding, body []byte) (*Page, error) {
	// ReadAnswer has held the body to the limits that count.
	s := wire.Rescan(body)
	defer s.Release()
	p := &Page{}
	var err error
	switch {
	case s.Kind() != '{':
		s.Skip()
	case b != wire.JSONRPC:
		err = p.read(s)
	default:
		for s.Enter(); s.More(); {
			if string(s.Name()) == "result" && s.Kind() == '{' {
				err = p.read(s)
			} else {
				s.Skip()
			}
		}
	}
	if e := wire.Finish(s); e != nil {
		return nil, wire.BadAnswer(e)
	}
	return p, err
}

// read finds the members of one page:
//
//	{"tasks":[…],"nextPageToken":"p2","pageSize":50,"totalSize":120}
//
// Every place that some client would read is kept, so that all of them are replaced. The token itself
// is the one under the exact name, if there is one.
func (p *Page) read(s *jsonscan.Scanner) error {
	p.open = s.Pos + 1 // kind stands on the brace
	known := false     // Next, under its very name
	var err error
	for s.Enter(); s.More(); {
		exact := string(s.Name())
		name := strings.ReplaceAll(exact, "_", "")
		kind, start := s.Kind(), s.Pos
		switch {
		case exact == "tasks":
			p.array[0], p.array[1] = s.Skip()
		case strings.EqualFold(name, "nextPageToken"):
			switch kind {
			case '"':
				if token := string(s.Text()); exact == "nextPageToken" || !known {
					p.Next = token
				}
			case 'n':
				s.Skip()
			default:
				s.Skip()
				err = badPage("nextPageToken is not a string")
			}
			p.next = append(p.next, [2]int{start, s.Pos})
			known = known || exact == "nextPageToken"
		case strings.EqualFold(name, "totalSize"):
			start, end := s.Skip()
			p.total = append(p.total, [2]int{start, end})
		case strings.EqualFold(name, "pageSize"):
			start, end := s.Skip()
			p.Size, _ = strconv.Atoi(string(bytes.Trim(s.Doc[start:end], `"`)))
			p.size = append(p.size, [2]int{start, end})
		default:
			s.Skip()
		}
	}
	return err
}

// Edit makes the edit and leaves every other byte as it was, the white space between
// entries included. a is what ReadAnswer made of body. Where nothing changes, body
// itself is returned, and otherwise new memory.
//
// A client that is shown 3 of an agent's 50 entries would ask for the next page to find out whether
// there are more. So the gateway fills pages from as many of the agent's as it takes, and this writes
// the result into the first of them.
//
//	{"tasks":[{"id":"a"},{"id":"b"}],"nextPageToken":"p2","pageSize":2,"totalSize":9}
//	Edit{Keep: [true false], More: [{"id":"k"}], Next: "sealed", Size: 2, Total: 4}
//	{"tasks":[{"id":"a"},{"id":"k"}],"nextPageToken":"sealed","pageSize":2,"totalSize":4}
func (p *Page) Edit(body []byte, a wire.Answer, e Edit) ([]byte, error) {
	cuts, kept, err := wire.CutTasks(len(body), a.Tasks, func(i int) bool { return e.Keep[i] })
	switch {
	case err != nil:
		return nil, err
	case p.open == 0 && len(e.More) == 0 && e.Next == "":
		return body, nil
	case p.open == 0:
		return nil, badPage("the first page is none")
	}
	next, err := jsontext.AppendQuote(nil, e.Next)
	if err != nil {
		return nil, badPage("the page token is not UTF-8")
	}
	var absent []string // members that have to be added
	if len(e.More) > 0 {
		more := string(bytes.Join(e.More, []byte(",")))
		switch {
		case p.array[1] == 0:
			absent = append(absent, `"tasks":[`+more+`]`)
		case body[p.array[0]] != '[': // null
			cuts = append(cuts, jsonscan.Splice{Start: p.array[0], End: p.array[1], Text: "[" + more + "]"})
		case kept > 0:
			cuts = append(cuts, jsonscan.Splice{Start: p.array[1] - 1, End: p.array[1] - 1, Text: "," + more})
		default:
			cuts = append(cuts, jsonscan.Splice{Start: p.array[1] - 1, End: p.array[1] - 1, Text: more})
		}
	}
	if len(p.next) == 0 && e.Next != "" {
		absent = append(absent, `"nextPageToken":`+string(next))
	}
	if e.Next != "" || p.Next != "" { // else they are empty, in one way or another
		cuts = append(cuts, setAll(body, p.next, string(next))...)
	}
	if len(p.total) == 0 && e.Total > 0 && len(absent) > 0 { // which gRPC leaves out for 0
		absent = append(absent, `"totalSize":`+strconv.Itoa(e.Total))
	}
	cuts = append(cuts, setAll(body, p.total, strconv.Itoa(e.Total))...)
	cuts = append(cuts, setAll(body, p.size, strconv.Itoa(e.Size))...)
	if len(absent) > 0 {
		text := strings.Join(absent, ",")
		if rest := bytes.TrimLeft(body[p.open:], " \t\r\n"); len(rest) > 0 && rest[0] != '}' {
			text += ","
		}
		cuts = append(cuts, jsonscan.Splice{Start: p.open, End: p.open, Text: text})
	}
	if len(cuts) == 0 {
		return body, nil
	}
	return jsonscan.Spliced(body, cuts), nil
}

// setAll replaces values that are not this one.
//
// A value that is the same already is not touched, so that a page that needs no change is the agent's,
// byte for byte.
func setAll(body []byte, spans [][2]int, value string) []jsonscan.Splice {
	var cuts []jsonscan.Splice
	for _, at := range spans {
		if string(body[at[0]:at[1]]) != value {
			cuts = append(cuts, jsonscan.Splice{Start: at[0], End: at[1], Text: value})
		}
	}
	return cuts
}

// Set asks for another page: in the params of a JSON-RPC call of ListTasks, which
// body is the whole of. An empty token asks for the first.
//
//	{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"pageSize":100,"pageToken":""}}
func Set(body []byte, size int, token string) ([]byte, error) {
	quoted, err := jsontext.AppendQuote(nil, token)
	if err != nil {
		return nil, err
	}
	s := wire.Rescan(body)
	defer s.Release()
	values := map[string]string{"pageSize": strconv.Itoa(size), "pageToken": string(quoted)}
	all := `{"pageSize":` + values["pageSize"] + `,"pageToken":` + values["pageToken"] + `}`
	var cuts []jsonscan.Splice
	found := false
	for s.Enter(); s.More(); {
		if string(s.Name()) != "params" {
			s.Skip()
			continue
		}
		found = true
		if s.Kind() != '{' {
			start, end := s.Skip()
			cuts = append(cuts, jsonscan.Splice{Start: start, End: end, Text: all})
			continue
		}
		cuts = append(cuts, setMembers(s, values)...)
	}
	if e := wire.Finish(s); e != nil {
		return nil, e
	}
	if !found {
		at := bytes.IndexByte(body, '{') + 1
		cuts = append(cuts, jsonscan.Splice{Start: at, End: at, Text: `"params":` + all + `,`})
	}
	return jsonscan.Spliced(body, cuts), nil
}

// setMembers replaces members of the object that is next, under either of their names,
// and adds those that are missing.
//
// Parsers of ProtoJSON take page_size as well, and some take the last of two; so both spellings are
// replaced where they stand.
func setMembers(s *jsonscan.Scanner, values map[string]string) []jsonscan.Splice {
	var cuts []jsonscan.Splice
	open, empty := s.Pos+1, true
	missing := map[string]bool{"pageSize": true, "pageToken": true}
	for s.Enter(); s.More(); {
		name := string(s.Name())
		empty = false
		switch name {
		case "page_size":
			name = "pageSize"
		case "page_token":
			name = "pageToken"
		}
		start, end := s.Skip()
		if value, ok := values[name]; ok {
			missing[name] = false
			cuts = append(cuts, jsonscan.Splice{Start: start, End: end, Text: value})
		}
	}
	text := ""
	for _, name := range []string{"pageSize", "pageToken"} {
		if missing[name] {
			text += `"` + name + `":` + values[name] + `,`
		}
	}
	if empty && text != "" {
		text = text[:len(text)-1]
	}
	if text != "" {
		cuts = append(cuts, jsonscan.Splice{Start: open, End: open, Text: text})
	}
	return cuts
}

// SetRPC is Set for a protobuf message of version v. Fields that nobody here
// knows stay as they are.
//
// The two fields go to the end of the message, in which the order of fields means nothing.
func SetRPC(m *wire.Method, v wire.Version, message []byte, size int, token string) ([]byte, error) {
	types, err := m.RequestFields(v)
	if err != nil {
		return nil, err
	}
	fields := types
	sizeAt, tokenAt := fields.ByName("page_size"), fields.ByName("page_token")
	if sizeAt == nil || tokenAt == nil {
		return nil, errors.New("the method has no pages")
	}
	out := make([]byte, 0, len(message)+len(token)+16)
	for len(message) > 0 {
		number, _, n := protowire.ConsumeField(message)
		if n < 0 {
			return nil, errors.New("the message is not protobuf") // cannot be: it has been read before
		}
		if number != sizeAt.Number() && number != tokenAt.Number() {
			out = append(out, message[:n]...)
		}
		message = message[n:]
	}
	out = protowire.AppendVarint(protowire.AppendTag(out, sizeAt.Number(), protowire.VarintType), uint64(size)) //nolint:gosec // a size of a page is above zero
	if token != "" {
		out = protowire.AppendString(protowire.AppendTag(out, tokenAt.Number(), protowire.BytesType), token)
	}
	return out, nil
}

// badPage is the refusal of a page that cannot be put together with others: what cannot be cut out
// must not be shown.
func badPage(reason string) error {
	return &wire.Error{Kind: wire.BadAgentResponse, Err: errors.New("filter tasks: " + reason)}
}
