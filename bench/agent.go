package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// serveAgent is the agent behind all subjects, with TLS (the certificate args[0] and
// its key) and without. It looks for what it needs in the form that this benchmark
// sends, to cost little.
func serveAgent(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("no certificate")
	}
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	secure, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	failed := make(chan error, 4)
	rpc, rpcTLS, err := serveAgentRPC(args[0], args[1], agentMessage, failed)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(os.Stdout, "agent=%s,%s,%s,%s\n", plain.Addr(), secure.Addr(), rpc, rpcTLS)
	server := &http.Server{
		Handler: agentHandler("http://"+plain.Addr().String(), rpc), ReadHeaderTimeout: time.Minute,
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 1000},
	}
	go func() { failed <- server.Serve(plain) }()
	go func() { failed <- server.ServeTLS(secure, args[0], args[1]) }()
	return <-failed
}

// card with %s for the name and for what each version says of its endpoint.
const card = `{"name":"%s","description":"Bench.","version":"1","capabilities":{"streaming":true,"extensions":[{"uri":"` + timing + `"}]},` +
	`"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],` +
	`"skills":[{"id":"summarize","name":"Summarize","description":"","tags":[]}],%s}`

// agentWord is what the agent says, over and over.
const agentWord = "summarized "

// fleetPath is where the agents of a fleet are, each below its name.
const fleetPath = "/fleet/"

// fleetName is the name of one of a fleet.
func fleetName(i int) string {
	if i == 0 {
		return "billing"
	}
	return "agent-" + strconv.Itoa(i)
}

// agentText is what the agent answers, and agentMessage the answer, as most calls get it.
var (
	agentText    = strings.Repeat(agentWord, 40)
	agentMessage = `{"message":{"messageId":"a-1","contextId":"bench","role":"ROLE_AGENT","parts":[{"text":"` + agentText + `"}]}}`
)

// agentHandler is the agent at a base URL, which speaks gRPC at an address.
func agentHandler(base, rpc string) http.Handler {
	text, message := agentText, agentMessage
	message03 := `{"kind":"message","messageId":"a-1","contextId":"bench","role":"agent","parts":[{"kind":"text","text":"` + text + `"}]}`
	task := `{"task":{"id":"%s","contextId":"bench","status":{"state":"TASK_STATE_COMPLETED","message":` +
		`{"messageId":"a-1","contextId":"bench","role":"ROLE_AGENT","parts":[{"text":"` + text + `"}]}}}}`
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/agent-card.json", serveCard("Billing",
		`"supportedInterfaces":[{"url":"`+base+`","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]`))
	mux.HandleFunc("GET /0.3/.well-known/agent-card.json", serveCard("Billing",
		`"protocolVersion":"0.3.0","preferredTransport":"JSONRPC","url":"`+base+`/0.3/"`))
	mux.HandleFunc("GET /rpc/.well-known/agent-card.json", serveCard("Billing",
		`"supportedInterfaces":[{"url":"`+rpc+`","protocolBinding":"GRPC","protocolVersion":"1.0"}]`))
	mux.HandleFunc("GET "+fleetPath+"{name}/.well-known/agent-card.json", func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("name")
		serveCard(name, `"supportedInterfaces":[{"url":"`+base+fleetPath+name+`","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]`)(w, r)
	})
	mux.HandleFunc("DELETE /streams", func(http.ResponseWriter, *http.Request) { open.end() })
	mux.HandleFunc("POST /0.3/", answer(func(http.ResponseWriter, *http.Request, []byte, string) string { return message03 }))
	mux.HandleFunc("POST /", answer(func(w http.ResponseWriter, r *http.Request, id []byte, text string) string {
		switch word, rest, _ := strings.Cut(text, " "); word {
		case "task":
			return fmt.Sprintf(task, newTask())
		case "stream":
			serveStream(w, r, id, rest)
			return ""
		case "context":
			name, _, _ := strings.Cut(rest, " ")
			return strings.Replace(message, `"contextId":"bench"`, `"contextId":"`+name+`"`, 1)
		}
		return message
	}))
	return mux
}

func serveCard(name, endpoint string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, card, name, endpoint)
	}
}

// head is how the calls of this benchmark begin, and the answers to them.
var head = []byte(`{"jsonrpc":"2.0","id":`)

// asSent finds what is needed of a call in the form in which the load generator sends it.
func asSent(body []byte) (id []byte, text string, ok bool) {
	rest, ok := bytes.CutPrefix(body, head)
	id, rest, _ = bytes.Cut(rest, []byte(","))
	_, rest, _ = bytes.Cut(rest, []byte(`"text":"`))
	found, _, _ := bytes.Cut(rest, []byte(`"`))
	return id, string(found), ok
}

// asWritten finds the same where a gateway has written the call anew, as it likes.
func asWritten(body []byte) (id []byte, text string, ok bool) {
	var call struct {
		ID     json.RawMessage
		Params struct {
			Message struct{ Parts []struct{ Text string } }
		}
	}
	if err := json.Unmarshal(body, &call); err != nil || len(call.ID) == 0 || len(call.Params.Message.Parts) == 0 {
		return nil, "", false
	}
	return call.ID, call.Params.Message.Parts[0].Text, true
}

// tasks are counted, for every run has an agent of its own.
var tasks atomic.Int64

func newTask() string { return "t-" + strconv.FormatInt(tasks.Add(1), 10) }

// answer serves calls with the result that result says, unless that has answered.
func answer(result func(w http.ResponseWriter, r *http.Request, id []byte, text string) string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body := bytes.NewBuffer(make([]byte, 0, max(r.ContentLength, 0)+bytes.MinRead))
		if _, err := io.Copy(body, r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		id, text, ok := asSent(body.Bytes())
		if !ok {
			id, text, ok = asWritten(body.Bytes())
		}
		if !ok {
			http.Error(w, "unexpected call", http.StatusBadRequest)
			return
		}
		for _, name := range []string{"A2a-Extensions", "X-A2a-Extensions"} {
			if v := r.Header[name]; v != nil {
				w.Header()[name] = v // all that is asked for is active
			}
		}
		said := result(w, r, id, text)
		if said == "" {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(head)+len(id)+len(`,"result":}`)+len(said)))
		_, _ = w.Write(head)
		_, _ = w.Write(id)
		_, _ = io.WriteString(w, `,"result":`)
		_, _ = io.WriteString(w, said)
		_, _ = io.WriteString(w, "}")
	}
}
