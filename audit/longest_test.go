package audit

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/audit/segment"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// TestLongest: what is written with everything as long as can be is read again, and found
// when the log is opened.
func TestLongest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := opened(t, Config{Dir: dir}, nil)
	var e telemetry.Exchange
	fill(reflect.ValueOf(&e).Elem())
	e.Start = time.Now()
	for _, err := range []error{l.Intent(&e), l.Call(&e), l.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range (reader.Source{Path: dir}).Calls() {
		if err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(filepath.Join(dir, segment.Name{Day: segment.DayOf(time.Now())}.File()))
	if err != nil {
		t.Fatal(err)
	}
	longest := 0
	for line := range bytes.Lines(content) {
		longest = max(longest, len(line))
	}
	if longest < 1<<20 || longest > chain.LongestRecord {
		t.Errorf("the longest record has %d bytes", longest)
	}
	again := opened(t, Config{Dir: dir}, nil)
	if again.Seq() < 2 {
		t.Errorf("it goes on behind record %d", again.Seq())
	}
}

// fill makes everything as long as can be, and such that writing it takes more room.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings.Repeat("\x01", 4096))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 200, 200))
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1 << 30)
	default:
	}
}
