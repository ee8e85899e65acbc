package translate

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

var idRules = []rule{
	{only01, after01, added, "`messageId` of what an agent says, a UUID made from the message: the same message has the same id again."},
	{before1, after01, added, "`messageId` of a caller's message that has none, a random UUID: 0.1 has no such id, and some clients of " +
		"0.3 leave it out. Two messages never share one, however equal they are: agents take what has the id of a message before for that message."},
	{only10, before1, refused, "A caller's message without `messageId`: `INVALID_PARAMS`."},
	{every, onlyD03, added, "`contextId` of tasks and updates; the empty string when nobody knows it."},
	{only01, after01, changed, "An artifact's `index` becomes its id, `artifact-<index>`."},
	{after01, only01, changed, "Artifacts are numbered in the order in which they are first seen."},
	{only01, after01, changed, "`append` and `lastChunk` move from the artifact to the update."},
	{after01, only01, changed, "`append` and `lastChunk` move from the update into the artifact."},
	{before1, only10, lost, "`final`: the state and the end of the stream say it."},
	{onlyP03, kinded, changed, "`final`: true also where the state is one that `final` goes with, since some servers never say it."},
	{onlyD03, only01, changed, "`final`: true also where the state is one that `final` goes with, since clients wait for it."},
	{only10, before1, added, "`final`: true for the terminal states and for input required, false for auth required, " +
		"since such a task may go on by itself."},
}

// id writes the id of a task or context. In a call it is the call's, wherever the
// source had another; in an answer it goes by the caller's name for it, and one
// that belongs to the thing itself is filled in where it is missing.
func (w *writer) id(is meaning, raw []byte) bool {
	own := is == ownTaskID || is == ownContextID
	n := &w.task
	if is == aContextID || is == ownContextID {
		n = &w.context
	}
	if w.call != nil {
		if n.known == "" || own && w.inPath {
			return false
		}
		w.text(n.known)
		return true
	}
	switch {
	case raw != nil && !isString(raw):
		w.broken("an id is not a string")
	case len(raw) > len(`""`):
		if n.Agent != "" && string(inside(raw)) == n.Agent {
			w.text(n.Caller)
		} else {
			w.raw(raw)
		}
		return true
	case own && (n.known != "" || w.to == d03):
		w.text(n.known)
		return true
	}
	return false
}

// derived writes what one version has and another makes of something else.
func (w *writer) derived(is meaning, raw []byte, v *values) bool {
	switch is {
	case aMessageID:
		return w.messageID(raw)
	case anArtifactID:
		return w.artifactID(raw, v[artifactIndex])
	case anIndex:
		w.number(w.index(v[artifactID]))
		return true
	case aFinal:
		return w.final(raw, v)
	case anAppend:
		raw = chunkOf(w, raw, v, w.appends, "append")
	case aLastChunk:
		raw = chunkOf(w, raw, v, w.last, "lastChunk", "last_chunk")
	}
	w.raw(raw)
	return raw != nil
}

// messageID writes the id of a message. Before 0.2 there was none, and some agents
// and older clients leave it out. What an agent shows then has one that is made from what
// the message is, so that it is the same whenever it is shown. What a caller sends has a
// new one: a user who says "yes" twice has said two things, under one JSON-RPC id as may
// be, and an agent would take the second for the first sent again. 1.0 leaves nobody in
// doubt that a caller must say it.
func (w *writer) messageID(raw []byte) bool {
	if len(raw) > len(`""`) {
		w.raw(raw)
		return true
	}
	switch {
	case w.call != nil && w.from == d10:
		w.broken("message.messageId is missing")
	case w.call != nil:
		w.word(mint([]byte(rand.Text())))
	default:
		w.word(mint([]byte(w.task.known), w.message))
	}
	return true
}

// mint makes a UUID of version 8 from what it stands for.
//
// A stream that is read twice, or an answer that is repeated after a reconnect, has the same ids again
// then: a client that keeps messages by id has each once. Version 8 of RFC 9562 §5.8 is the one whose
// bits are for the maker to choose.
func mint(pieces ...[]byte) string {
	h := sha256.New()
	for _, p := range pieces {
		h.Write(strconv.AppendInt(nil, int64(len(p)), 10)) // so that pieces do not run into each other
		h.Write([]byte{':'})
		h.Write(p)
	}
	sum := h.Sum(nil)
	sum[6] = sum[6]&0x0f | 0x80
	sum[8] = sum[8]&0x3f | 0x80
	s := hex.EncodeToString(sum[:16])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// artifactPrefix stands before the number that 0.1 has for an artifact.
const artifactPrefix = "artifact-"

// artifactID writes the id of an artifact; one without is known by its number, or
// by its place in the list.
//
//	{"index":2,"parts":[…]}   {"artifactId":"artifact-2","parts":[…]}
func (w *writer) artifactID(raw, index []byte) bool {
	if len(raw) > len(`""`) {
		w.raw(raw)
		return true
	}
	n, err := strconv.Atoi(string(index))
	if err != nil {
		n = w.position
	}
	w.word(artifactPrefix + strconv.Itoa(n))
	return true
}

// index numbers the artifacts of a task or stream as they appear.
//
//	artifactId a, b, a of a stream   index 0, 1, 0
//
// The numbers last as long as the call: 0.1 tells by them which artifact a later event goes on with.
func (w *writer) index(id []byte) int {
	name := first(string(inside(id)), artifactPrefix+strconv.Itoa(w.position))
	n, ok := w.artifacts[name]
	if !ok {
		n = len(w.artifacts)
		w.artifacts[name] = n
	}
	return n
}

// chunkOf finds what an update says about its artifact: 0.1 says it inside.
//
//	0.1        {"id":"T","artifact":{"index":0,"append":true,"parts":[…]}}
//	0.3, 1.0   {"taskId":"T","append":true,"artifact":{"artifactId":"a","parts":[…]}}
func chunkOf(w *writer, raw []byte, v *values, outside []byte, names ...string) []byte {
	switch {
	case w.to == d01:
		return outside
	case w.from == d01:
		return lookup(v[updateArtifact], names...)
	}
	return raw
}

// final says whether a status update is the last event. 1.0 leaves that to the
// state, and so do servers of 0.3's ProtoJSON, which cannot tell false from absent.
// Clients of 0.1 wait for it whatever the agent says.
//
//	1.0   {"statusUpdate":{"taskId":"T","status":{"state":"TASK_STATE_COMPLETED"}}}
//	0.3   {"kind":"status-update","taskId":"T","status":{"state":"completed"},"final":true}
func (w *writer) final(raw []byte, v *values) bool {
	last := isTrue(raw)
	if !last && (w.from == d10 || w.from == p03 || w.to == d01) {
		n, _ := number(states[:], lookup(v[updateStatus], "state"))
		last = ends(n)
	}
	if w.to == p03 && !last {
		return false
	}
	w.raw(strconv.AppendBool(nil, last))
	return true
}
