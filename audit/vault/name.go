package vault

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// name identifies a pair of files: a day in UTC and a number within the day.
type name struct {
	day    string
	number int
}

const (
	dataForm = ".enc"
	keysForm = ".keys"
)

var (
	nameForm = regexp.MustCompile(`^content-(\d{4}-\d\d-\d\d)_(\d{3,6})\.(?:enc|keys)$`)
	idForm   = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)_(\d{3,6})\.(\d{1,12})$`)
)

// dayOf is the day in UTC, as segments have it: content and the records that name it lie side by side.
func dayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// String is what the names of both files have in common, and what ids begin with.
func (n name) String() string { return fmt.Sprintf("%s_%03d", n.day, n.number) }

// path is one of the two files, which differ in their ends so that backups can tell them apart.
func (n name) path(dir, form string) string {
	return filepath.Join(dir, "content-"+n.String()+form)
}

// compare orders pairs as they were begun.
func (n name) compare(o name) int { return cmp.Or(cmp.Compare(n.day, o.day), n.number-o.number) }

// id is the id of what stands at a place of a file.
func (n name) id(at int64) string { return n.String() + "." + strconv.FormatInt(at, 10) }

// parseID says where an item is. It takes no other spelling of an id than the one that was given out.
// An id such as 2026-11-22_000.4096 is a file and the offset of a frame in it.
func parseID(id string) (n name, at int64, ok bool) {
	parts := idForm.FindStringSubmatch(id)
	if parts == nil {
		return n, 0, false
	}
	n.day = parts[1]
	n.number, _ = strconv.Atoi(parts[2])       // six digits fit
	at, _ = strconv.ParseInt(parts[3], 10, 64) // twelve, too
	return n, at, n.id(at) == id
}

// list is the pairs of a directory, oldest first. One of a pair may be missing: retention was
// interrupted between the two, or a crash came between making the one and the other.
func list(dir string) ([]name, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []name
	for _, e := range entries {
		if parts := nameForm.FindStringSubmatch(e.Name()); parts != nil {
			number, _ := strconv.Atoi(parts[2]) // six digits fit
			names = append(names, name{parts[1], number})
		}
	}
	slices.SortFunc(names, name.compare)
	return slices.Compact(names), nil
}
