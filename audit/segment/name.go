// Package segment is the files of the audit log: one segment per day, or more when a day is long,
// in one of four forms. It has their names, opens them whatever their form, and encrypts what is
// written.
//
//	audit-2026-11-22.jsonl          as it was written: lines of JSON
//	audit-2026-11-22_001.jsonl      the next of the same day, past telemetry.audit.segmentSize
//	audit-2026-11-21.jsonl.enc      encrypted as it was written
//	audit-2026-11-20.jsonl.zst      compressed (zstd, RFC 8878) once its day was over
//	audit-2026-11-20.jsonl.zst.enc  compressed, and encrypted after that
//
// [Dir.Open] returns a segment's [Blocks], which are whole lines in any form; who reads them need
// not know the form, but for seeking: only in a file that is as it was written ([Plain]) can a
// reader begin in the middle. [List] has the segments in the order of their records; [Dir.Tail]
// says how the last of them ends, which is where a log that is opened goes on.
//
// While a gateway writes, the last line of a file may be half written, a file may be compressed
// between being listed and being opened, and an old one may be removed. None of that is an error
// here: what is torn stays unread, another form is looked for, and a file that is gone is
// fs.ErrNotExist, which readers pass over.
//
// The writer, the readers and the verification each
// need the name, the form and the blocks of a file, and none of these can be told without the
// others. It may import audit/chain, for the lines, and internal/secret, for the keys.
package segment

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

// Name identifies a segment: a day in UTC and its number within the day.
type Name struct {
	Day    string // YYYY-MM-DD
	Number int    // 0 for the first of a day
	Form   Form
	stray  string // of a file with a name of its own
}

// Form is how a segment is kept: what its file's name ends in, behind the name that it is
// known by.
// A reader tells the form by the name alone. It is not part of a segment's identity: cursors and
// records name a segment without it, so that they stay right when the file is compressed.
type Form string

const (
	AsWritten  Form = ""
	Compressed Form = ".zst"
	Encrypted  Form = ".enc" // also of what is compressed
)

var Forms = []Form{AsWritten, Compressed, Encrypted, Compressed + Encrypted}

func (f Form) Compressed() bool { return strings.HasPrefix(string(f), string(Compressed)) }
func (f Form) Encrypted() bool  { return strings.HasSuffix(string(f), string(Encrypted)) }

// File is the name that a segment is known by, that of the file but for its form. Sorted as text, names are in the order of
// their records up to a thousand segments a day ("." sorts before "_").
func (n Name) File() string {
	if n.stray != "" {
		return n.stray
	}
	if n.Number == 0 {
		return "audit-" + n.Day + ".jsonl"
	}
	return fmt.Sprintf("audit-%s_%03d.jsonl", n.Day, n.Number)
}

var nameForm = regexp.MustCompile(`^audit-(\d{4}-\d\d-\d\d)(?:_(\d{3,6}))?\.jsonl((?:\.zst)?(?:\.enc)?)$`)

// ParseName reads the name of a segment. It takes no name that file would not have made, so that
// no two files are one segment.
// Names come from a directory that others may write to, and go back into paths. The check for a
// date that exists keeps names such as 2026-02-30 out, whose end could not be computed.
func ParseName(file string) (Name, bool) {
	parts := nameForm.FindStringSubmatch(file)
	if parts == nil {
		return Name{}, false
	}
	number := 0
	if parts[2] != "" {
		number, _ = strconv.Atoi(parts[2]) // six digits fit
	}
	n := Name{Day: parts[1], Number: number, Form: Form(parts[3])}
	_, err := time.Parse(time.DateOnly, n.Day)
	return n, err == nil && n.File()+parts[3] == file
}

// DayOf is the day of a segment. It is that of UTC: a day has one file, also where clocks are
// turned back in autumn.
func DayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// End is the first moment that is not of the segment's day any more.
func (n Name) End() time.Time {
	day, _ := time.Parse(time.DateOnly, n.Day) // parseName and dayOf let no other form through
	return day.AddDate(0, 0, 1)
}

// Compare orders segments as their records were written, whatever their forms.
func (n Name) Compare(o Name) int {
	if n.Day != o.Day {
		if n.Day < o.Day {
			return -1
		}
		return 1
	}
	return n.Number - o.Number
}

// List returns the segments of a directory, oldest first. Of one that is there in two
// forms, as it is for a moment when it is compressed, it is the one that was written.
// Files of other names are passed over without an error: the directory also has the head, the lock,
// captured content and the places of sinks.
func List(dir string) ([]Name, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []Name
	for _, entry := range entries {
		if n, ok := ParseName(entry.Name()); ok {
			names = append(names, n)
		}
	}
	// The shorter form sorts first, so that Compact below keeps the file as it was written: a crash
	// while compressing may have left the other one incomplete.
	slices.SortFunc(names, func(a, b Name) int { return cmp.Or(a.Compare(b), cmp.Compare(len(a.Form), len(b.Form))) })
	return slices.CompactFunc(names, func(a, b Name) bool { return a.Compare(b) == 0 }), nil
}

// Path is where the segment is in the form that it has.
func (n Name) Path(dir string) string { return filepath.Join(dir, n.File()+string(n.Form)) }

// FileNamed is the name of a file that need not have the name of a segment.
func FileNamed(file string) Name {
	if n, ok := ParseName(file); ok {
		return n
	}
	return Name{stray: file}
}
