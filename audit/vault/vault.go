// Package vault keeps what was captured of calls, beside the audit log, so that it can
// be destroyed while the log stays what it is.
//
// It owns the files: content-YYYY-MM-DD_NNN.enc, frames that are each encrypted with the key of a
// drawer, and .keys, the drawers' keys, sealed by the gateway's (envelope encryption). A drawer is
// what one principal's calls left in one file under one label, for the same time. To destroy the
// key, in place, is to erase what is in the drawer (crypto-shredding). It does not own what is
// captured, what is taken out of it before, nor for how long it is kept. It imports nothing of
// ours.
//
// What lies in a directory after one day:
//
//	content-2026-11-22_000.enc   frames: length, id of the drawer, nonce and AES-256-GCM of an Item as JSON
//	content-2026-11-22_000.keys  a line per drawer: its id, and its key sealed by the gateway's key ring
//	content-erased.jsonl         what was erased, when, for whom
//	content-erased.place         up to where the audit log has recorded that
//
// Files are never rewritten: content is appended, and erasing overwrites one line of the .keys file
// with dashes. Backups of the .enc files can be kept for ever, since they say nothing without the
// keys; backups of the .keys files must not be, or erasing does not reach them.
//
// The record of a call has the id and the digest of its item, so that content that was exchanged is
// found, and a record whose content was erased still verifies.
package vault

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

var (
	// ErrErased is about content that was there and is not any more: somebody erased it,
	// or its time was over.
	ErrErased = errors.New("content was erased, or its time was over")
	// ErrAbsent is about an id of no content.
	ErrAbsent = errors.New("there is no such content")
)

// Sealer seals the keys of drawers. A keys.Ring is one.
// aad is authenticated and not stored. Seal returns nil when there is no key to seal with.
type Sealer interface {
	Seal(purpose string, plain, aad []byte) []byte
	Unseal(purpose string, sealed, aad []byte) ([]byte, error)
}

// Item is what was captured of one call.
// Members with the tag "-" are known from elsewhere: the id is where the item lies, the digest is
// over the JSON itself.
type Item struct {
	ID        string    `json:"-"` // its file and its place there
	Digest    string    `json:"-"` // as in the record of the call
	Nonce     string    `json:"nonce"`
	Time      time.Time `json:"time"`
	RequestID string    `json:"request_id"`
	Issuer    string    `json:"issuer,omitempty"`
	Subject   string    `json:"principal"`
	Agent     string    `json:"agent"`
	Skill     string    `json:"skill,omitempty"`
	Method    string    `json:"method"`
	Task      string    `json:"task_id,omitempty"`
	Label     string    `json:"label"`
	Request   *Body     `json:"request,omitempty"`
	Response  *Body     `json:"response,omitempty"`
}

// Body is what was captured of one body. Bytes are those of the body itself, so that a reader sees
// how much is not there.
type Body struct {
	Text       string `json:"text"`            // redacted; of a stream, one event a line
	Bytes      int64  `json:"bytes"`           // of the body itself
	Cut        bool   `json:"cut,omitempty"`   // there was more than the limit
	Redactions int    `json:"redactions"`      // how much was taken out
	Fault      string `json:"fault,omitempty"` // why there is no text
}

// Receipt is what the record of a call says of what was captured.
type Receipt struct {
	ID     string
	Digest string // of bytes that begin with random ones: it says nothing without them
	Bytes  int64
	Until  string // the last day it is kept for; "" for ever
}

// maxFile is the size past which another file is begun: a file is removed as a whole, once nothing
// in it has a key, so that one that is never full would be kept for its last drawer.
const maxFile = 256 << 20

// maxDrawers are how many keys are kept at hand. Past them, principals get second ones, which is no
// harm: a drawer is found by whose it is, and all of somebody's are destroyed together.
const maxDrawers = 1 << 16

// Vault writes content. Its methods may be called from many goroutines.
// Keys of drawers are at hand in memory between calls; a drawer whose key is not there any more,
// after a restart or an erasure, gets another with the next item.
type Vault struct {
	dir    string
	sealer Sealer
	now    func() time.Time

	mu      sync.Mutex
	files   *pair // nil before there is one, and after one failed
	last    name  // of files
	drawers map[drawer]*opened
	erased  erasures // when the drawers were last known to be whole
	tidied  string   // day
	unsaved bool
}

// Open makes a vault of a directory, which nobody else writes to. It makes no file before
// there is something to keep.
// It continues no file: the next item begins a new pair.
func Open(dir string, sealer Sealer, now func() time.Time) (*Vault, error) {
	names, err := list(dir)
	if err != nil {
		return nil, fmt.Errorf("open content: %w", err)
	}
	v := &Vault{dir: dir, sealer: sealer, now: now, drawers: map[drawer]*opened{}}
	if len(names) > 0 {
		v.last = names[len(names)-1]
	}
	return v, nil
}

// Put encrypts an item (pair.go) and keeps it for a time, 0 for ever. The operating system has it when Put returns.
// It does not wait for the disk; Sync is called about once a second by the audit log. An error
// leaves nothing half written that would be read later.
func (v *Vault) Put(item *Item, keep time.Duration) (Receipt, error) {
	// Two calls with the same content have different digests, which a record shows to everybody.
	item.Nonce = randomText()
	plain, err := json.Marshal(item)
	if err != nil {
		return Receipt{}, fmt.Errorf("keep content: %w", err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.now()
	if err := v.ready(now); err != nil {
		return Receipt{}, fmt.Errorf("keep content: %w", err)
	}
	d := drawer{Issuer: item.Issuer, Subject: item.Subject, Label: item.Label}
	if keep > 0 {
		d.Until = dayOf(now.Add(keep)) // to the end of that day
	}
	// An error gives the files up: what half a frame would be followed by could not be read.
	key, err := v.open(d)
	if err == nil {
		item.ID, err = v.files.put(key, plain)
	}
	if err != nil {
		v.drop()
		return Receipt{}, fmt.Errorf("keep content: %w", err)
	}
	v.unsaved = true
	item.Digest = digestOf(plain)
	return Receipt{ID: item.ID, Digest: item.Digest, Bytes: int64(len(plain)), Until: d.Until}, nil
}

// ready makes sure that there are files to write to: a pair for each day, so that what is kept for
// the same time goes with whole files.
func (v *Vault) ready(now time.Time) error {
	day := max(dayOf(now), v.last.day) // names stay in order when the clock is set back
	if v.files != nil && v.last.day == day && v.files.size < maxFile {
		return nil
	}
	v.drop()
	next := name{day: day}
	if v.last.day == day {
		next.number = v.last.number + 1
	}
	files, err := newPair(v.dir, next)
	if err != nil {
		return err
	}
	v.files, v.last = files, next
	return nil
}

// drop leaves the files. What is whole in them stays.
// Keys at hand belong to the files that are left, and go with them.
func (v *Vault) drop() {
	if v.files != nil {
		_ = v.files.close() // what was written is with the system, or was reported
		v.files = nil
	}
	clear(v.drawers)
}

// open finds the key of a drawer, and makes it the first time. What was erased meanwhile
// has no keys any more: what is put into such a drawer would be gone at once. Erasures are made by
// other processes too, which is why the log of them is asked, and not this vault's memory.
func (v *Vault) open(d drawer) (*opened, error) {
	if now := erasuresOf(v.dir); now != v.erased || len(v.drawers) >= maxDrawers {
		clear(v.drawers)
		v.erased = now
	}
	if key := v.drawers[d]; key != nil {
		return key, nil
	}
	key, err := v.files.add(v.sealer, d)
	if err == nil {
		v.drawers[d] = key
	}
	return key, err
}

// Sync has the disk have what was put. It is not part of Put, because the audit log syncs many
// records at once, and what they refer to is to be there when they are and not sooner.
func (v *Vault) Sync() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.unsaved || v.files == nil {
		return nil
	}
	v.unsaved = false
	err := v.files.sync()
	if err != nil {
		v.drop() // asking again would not tell: the kernel reports it once
	}
	return err
}

// Close ends the writing. What was put is on the disk then, or its error says that it may not be.
func (v *Vault) Close() error {
	err := v.Sync()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.drop()
	return err
}

// digestOf is what a record has of the content. A random text in it keeps others from guessing the
// content by its digest, which stays in the log when the content is erased.
func digestOf(plain []byte) string {
	sum := sha256.Sum256(plain)
	return "sha-256:" + hex.EncodeToString(sum[:])
}

// randomText is that text: 256 bits, which nobody tries out.
func randomText() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return hex.EncodeToString(b)
}
