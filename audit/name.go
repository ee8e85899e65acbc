package audit

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// name identifies a segment: a day in UTC and its number within the day.
type name struct {
	day    string // YYYY-MM-DD
	number int    // 0 for the first of a day
	form   form
	stray  string // of a file with a name of its own
}

// form is how a segment is kept: what its file's name ends in, behind the name that it is
// known by.
type form string

const (
	asWritten  form = ""
	compressed form = ".zst"
	encrypted  form = ".enc" // also of what is compressed
)

var forms = []form{asWritten, compressed, encrypted, compressed + encrypted}

func (f form) compressed() bool { return strings.HasPrefix(string(f), string(compressed)) }
func (f form) encrypted() bool  { return strings.HasSuffix(string(f), string(encrypted)) }

// file is the name that a segment is known by, that of the file but for its form. Sorted as text, names are in the order of
// their records up to a thousand segments a day ("." sorts before "_").
func (n name) file() string {
	if n.stray != "" {
		return n.stray
	}
	if n.number == 0 {
		return "audit-" + n.day + ".jsonl"
	}
	return fmt.Sprintf("audit-%s_%03d.jsonl", n.day, n.number)
}

var nameForm = regexp.MustCompile(`^audit-(\d{4}-\d\d-\d\d)(?:_(\d{3,6}))?\.jsonl((?:\.zst)?(?:\.enc)?)$`)

// parseName reads the name of a segment. It takes no name that file would not have made, so that
// no two files are one segment.
func parseName(file string) (name, bool) {
	parts := nameForm.FindStringSubmatch(file)
	if parts == nil {
		return name{}, false
	}
	number := 0
	if parts[2] != "" {
		number, _ = strconv.Atoi(parts[2]) // six digits fit
	}
	n := name{day: parts[1], number: number, form: form(parts[3])}
	_, err := time.Parse(time.DateOnly, n.day)
	return n, err == nil && n.file()+parts[3] == file
}

// dayOf is the day of a segment. It is that of UTC: a day has one file, also where clocks are
// turned back in autumn.
func dayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// end is the first moment that is not of the segment's day any more.
func (n name) end() time.Time {
	day, _ := time.Parse(time.DateOnly, n.day) // parseName and dayOf let no other form through
	return day.AddDate(0, 0, 1)
}

// compare orders segments as their records were written, whatever their forms.
func (n name) compare(o name) int {
	if n.day != o.day {
		if n.day < o.day {
			return -1
		}
		return 1
	}
	return n.number - o.number
}

// list returns the segments of a directory, oldest first. Of one that is there in two
// forms, as it is for a moment when it is compressed, it is the one that was written.
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
	slices.SortFunc(names, func(a, b name) int { return cmp.Or(a.compare(b), cmp.Compare(len(a.form), len(b.form))) })
	return slices.CompactFunc(names, func(a, b name) bool { return a.compare(b) == 0 }), nil
}

// path is where the segment is in the form that it has.
func (n name) path(dir string) string { return filepath.Join(dir, n.file()+string(n.form)) }

// fileNamed is the name of a file that need not have the name of a segment.
func fileNamed(file string) name {
	if n, ok := parseName(file); ok {
		return n
	}
	return name{stray: file}
}
