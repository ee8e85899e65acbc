package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// name identifies a segment: a day in UTC and its number within the day.
type name struct {
	day    string // YYYY-MM-DD
	number int    // 0 for the first of a day
}

// file is the name in the directory. Sorted as text, names are in the order of
// their records up to a thousand segments a day ("." sorts before "_").
func (n name) file() string {
	if n.number == 0 {
		return "audit-" + n.day + ".jsonl"
	}
	return fmt.Sprintf("audit-%s_%03d.jsonl", n.day, n.number)
}

var nameForm = regexp.MustCompile(`^audit-(\d{4}-\d\d-\d\d)(?:_(\d{3,6}))?\.jsonl$`)

func parseName(file string) (name, bool) {
	parts := nameForm.FindStringSubmatch(file)
	if parts == nil {
		return name{}, false
	}
	number := 0
	if parts[2] != "" {
		number, _ = strconv.Atoi(parts[2]) // six digits fit
	}
	n := name{parts[1], number}
	_, err := time.Parse(time.DateOnly, n.day)
	return n, err == nil && n.file() == file
}

func dayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// end is the first moment that is not of the segment's day any more.
func (n name) end() time.Time {
	day, _ := time.Parse(time.DateOnly, n.day) // parseName and dayOf let no other form through
	return day.AddDate(0, 0, 1)
}

// compare orders segments as their records were written.
func (n name) compare(o name) int {
	if n.day != o.day {
		if n.day < o.day {
			return -1
		}
		return 1
	}
	return n.number - o.number
}

// list returns the segments of a directory, oldest first.
func list(dir string) ([]name, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []name
	for _, entry := range entries {
		if n, ok := parseName(entry.Name()); ok {
			names = append(names, n)
		}
	}
	slices.SortFunc(names, name.compare)
	return names, nil
}

func (n name) path(dir string) string { return filepath.Join(dir, n.file()) }
