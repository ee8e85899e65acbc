package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// floodBlock is how many events an agent at full speed writes at once.
const floodBlock = 64

// events writes the events of one task.
type events struct {
	w        http.ResponseWriter
	prefix   string // of every event's data
	artifact string // of each piece of the artifact, up to its text
	sent     int    // pieces
}

// ending ends the streams that are open when it is closed.
type ending struct {
	mu sync.Mutex // guards ch
	ch chan struct{}
}

func (e *ending) current() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ch
}

func (e *ending) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	close(e.ch)
	e.ch = make(chan struct{})
}

// open is for the streams of one agent.
var open = &ending{ch: make(chan struct{})}

// serveStream answers with a stream of a kind, and a time: see textIdle and those
// below it.
func serveStream(w http.ResponseWriter, r *http.Request, id []byte, how string) {
	ended := open.current()
	kind, duration, timed := strings.Cut(how, " ")
	d, err := time.ParseDuration(duration)
	if timed && (err != nil || d <= 0) {
		http.Error(w, "unexpected stream", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	task := newTask()
	e := &events{w: w, prefix: `data: {"jsonrpc":"2.0","id":` + string(id) + `,"result":`}
	e.artifact = e.prefix + `{"artifactUpdate":{"taskId":"` + task + `","contextId":"bench","artifact":{"artifactId":"a","parts":[{"text":"at=`
	if e.send(`{"task":{"id":"`+task+`","contextId":"bench","status":{"state":"TASK_STATE_WORKING"}}}`) != nil {
		return
	}
	switch kind {
	case "every":
		err = e.every(r, d, ended)
	case "flood":
		err = e.flood(time.After(d))
	default:
		select {
		case <-r.Context().Done():
			return
		case <-ended:
			err = nil
		}
	}
	if err == nil {
		_ = e.send(fmt.Sprintf(lastEvent, task, e.sent))
	}
}

// lastEvent has a task's id and how many pieces of its artifact were sent, which who reads the stream
// holds against what has come.
const lastEvent = `{"statusUpdate":{"taskId":"%s","contextId":"bench","status":{"state":"TASK_STATE_COMPLETED"},"metadata":{"pieces":%d}}}`

func (e *events) send(result string) error {
	if _, err := fmt.Fprintf(e.w, "%s%s}\n\n", e.prefix, result); err != nil {
		return err
	}
	return http.NewResponseController(e.w).Flush()
}

// text appends an event with a piece of an artifact, as agents send what a model
// says word by word.
func (e *events) text(b *bytes.Buffer, now time.Time, first bool) {
	b.WriteString(e.artifact)
	b.WriteString(strconv.FormatInt(now.UnixNano(), 10))
	b.WriteString(` a few words more, "}]}`)
	if !first {
		b.WriteString(`,"append":true`)
	}
	b.WriteString("}}}\n\n")
}

// every sends one event after the other, at a phase of its own.
func (e *events) every(r *http.Request, pause time.Duration, ended <-chan struct{}) error {
	next := time.NewTimer(rand.N(pause)) // no secret
	defer next.Stop()
	var b bytes.Buffer
	for first := true; ; first = false {
		select {
		case <-next.C:
			next.Reset(pause)
		case <-ended:
			return nil
		case <-r.Context().Done():
			return r.Context().Err()
		}
		b.Reset()
		e.text(&b, time.Now(), first)
		if _, err := e.w.Write(b.Bytes()); err != nil {
			return err
		}
		e.sent++
		if err := http.NewResponseController(e.w).Flush(); err != nil {
			return err
		}
	}
}

// flood sends blocks of events as fast as they are taken.
func (e *events) flood(end <-chan time.Time) error {
	var first, more bytes.Buffer
	e.text(&first, time.Now(), true)
	e.text(&more, time.Now(), false)
	if _, err := e.w.Write(first.Bytes()); err != nil {
		return err
	}
	e.sent++
	block := bytes.Repeat(more.Bytes(), floodBlock)
	for {
		if _, err := e.w.Write(block); err != nil {
			return err
		}
		e.sent += floodBlock
		if err := http.NewResponseController(e.w).Flush(); err != nil {
			return err
		}
		select {
		case <-end:
			return nil
		default:
		}
	}
}
