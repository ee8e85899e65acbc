package chain

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// HeadFile holds the last checkpoint. Of records that are taken off the end nothing in
// the segments tells; this does, and more surely a copy of it that is kept elsewhere.
// The name of the file in the directory of the log.
const HeadFile = "audit.head"

// Head is the content of headFile.
// It looks like this in the file:
//
//	{"segment": "audit-2026-11-22.jsonl", "seq": 4711, "hash": "…", "time": "…", "checkpoint": "<JWS>"}
type Head struct {
	Segment    string `json:"segment"`
	Seq        uint64 `json:"seq"`  // of the checkpoint; 0 while there is none
	Hash       string `json:"hash"` // of the checkpoint
	Time       string `json:"time"`
	Checkpoint string `json:"checkpoint"` // its JWS
}

// ReadHead reads a head, nil when there is none.
// One without a checkpoint, as it is from the first start with keys to the first checkpoint, has
// the number 0. An error names the path; a file that is no head is one too, since to go on without
// it would hide that somebody changed it.
func ReadHead(path string) (*Head, error) {
	data, err := os.ReadFile(path) //nolint:gosec // in the log's directory
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	h := &Head{}
	if err := json.Unmarshal(data, h); err != nil || h.Seq > 0 && len(h.Hash) != len(Link{}) {
		return nil, fmt.Errorf("%s: it is no head of an audit log", path)
	}
	return h, nil
}

// WriteHead replaces the head at once, so that a reader finds the one or the other.
func WriteHead(dir string, h *Head) error {
	data, err := json.Marshal(h, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	// Written beside and renamed: POSIX rename is atomic, and a crash in between leaves the old
	// head.
	path := filepath.Join(dir, HeadFile)
	if err := writeSynced(path+".new", append(data, '\n')); err != nil {
		return err
	}
	return os.Rename(path+".new", path) //nolint:gosec // in the log's directory
}

// writeSynced writes a file whose content is on the disk before its name is: after a loss
// of power there is the old head or the new one, and never half of one.
// A file that is left behind by a crash under its temporary name is overwritten by the next write.
func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // in the log's directory
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}
