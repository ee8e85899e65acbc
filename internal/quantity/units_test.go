package quantity

import (
	"math"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
)

func TestSize(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in      string
		want    Size
		wantErr string
	}{
		{"0", 0, ""},
		{"512", 512, ""},
		{"512B", 512, ""},
		{"64KiB", 64 << 10, ""},
		{"4MiB", 4 << 20, ""},
		{"1GiB", 1 << 30, ""},
		{"2TiB", 2 << 40, ""},
		{"10MB", 10e6, ""},
		{"5kB", 5000, ""},
		{"5KB", 5000, ""},
		{"9223372036854775807", math.MaxInt64, ""},
		{"9223372036854775808", 0, "too large"},
		{"8388608TiB", 0, "too large"},
		{"", 0, "whole number first"},
		{"MiB", 0, "whole number first"},
		{"-1", 0, "whole number first"},
		{"+1", 0, "whole number first"},
		{" 1", 0, "whole number first"},
		{"1.5GiB", 0, `unknown unit ".5GiB"`},
		{"1 MiB", 0, "unknown unit"},
		{"1mib", 0, "unknown unit"},
		{"1M", 0, "unknown unit"},
		{"1_000", 0, "unknown unit"},
		{"1e6", 0, "unknown unit"},
		{"010", 0, "leading zeros"},
		{"٣MB", 0, "whole number first"},
	}
	for _, tt := range tests {
		var got Size
		err := got.UnmarshalText([]byte(tt.in))
		check(t, tt.in, int64(got), int64(tt.want), err, tt.wantErr)
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in      string
		want    time.Duration
		wantErr string
	}{
		{"0", 0, ""},
		{"0s", 0, ""},
		{"500ms", 500 * time.Millisecond, ""},
		{"30s", 30 * time.Second, ""},
		{"1.5h", 90 * time.Minute, ""},
		{"1h30m", 90 * time.Minute, ""},
		{"7d", 7 * day, ""},
		{"1d12h", 36 * time.Hour, ""},
		{"106751d", 106751 * day, ""},
		{"106752d", 0, `too long, the most is "106751d"`},
		{"106751d24h", 0, `too long, the most is "106751d"`},
		{"99999999999999999999d", 0, `too long, the most is "106751d"`},
		{"9999999h", 0, `too long, the most is "106751d"`},
		{"1d9999999h30m", 0, `too long, the most is "106751d"`},
		{"30", 0, `the unit is missing, for seconds write "30s"`},
		{"", 0, "want numbers with units"},
		{"s", 0, "want numbers with units"},
		{"-5s", 0, "no sign"},
		{"+5s", 0, "no sign"},
		{"1d-5s", 0, "no sign"},
		{"1d1d", 0, "want numbers with units"},
		{"1h1d", 0, "want numbers with units"},
		{"1.5d", 0, "want numbers with units"},
		{"01d", 0, "leading zeros"},
		{"5 s", 0, "want numbers with units"},
		{"5w", 0, "want numbers with units"},
		{"1d5", 0, "want numbers with units"},
	}
	for _, tt := range tests {
		var got Duration
		err := got.UnmarshalText([]byte(tt.in))
		check(t, tt.in, int64(got), int64(tt.want), err, tt.wantErr)
	}
}

func check(t *testing.T, in string, got, want int64, err error, wantErr string) {
	t.Helper()
	switch {
	case wantErr == "" && err != nil:
		t.Errorf("%q: %v", in, err)
	case wantErr != "" && (err == nil || !strings.Contains(err.Error(), wantErr)):
		t.Errorf("%q: error %v, want %q", in, err, wantErr)
	case got != want:
		t.Errorf("%q: %d, want %d", in, got, want)
	}
}

func TestUnitsPrint(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]Size{
		"0": 0, "1B": 1, "1023B": 1023, "1KiB": 1024, "1500B": 1500, "3KB": 3000, "4MiB": 4 << 20, "10MB": 10e6,
	} {
		if got := s.String(); got != want {
			t.Errorf("%d = %s, want %s", int64(s), got, want)
		}
	}
	for want, d := range map[string]time.Duration{
		"0s": 0, "30s": 30 * time.Second, "1m": time.Minute, "1h": time.Hour, "1h30m": 90 * time.Minute,
		"10m": 10 * time.Minute, "7d": 7 * day, "1d12h": 36 * time.Hour, "1d500ms": day + time.Second/2,
		"100ms": 100 * time.Millisecond, "1h0m5s": time.Hour + 5*time.Second, "20h": 20 * time.Hour,
	} {
		if got := Duration(d).String(); got != want {
			t.Errorf("%v = %s, want %s", d, got, want)
		}
	}
}

func TestUnitsInYAML(t *testing.T) {
	t.Parallel()
	var got struct {
		S Size
		B Size
		D Duration
		N Size
	}
	got.N = 7
	if err := yaml.Unmarshal([]byte("s: 4MiB\nb: 4096\nd: 7d\nn:\n"), &got); err != nil {
		t.Fatal(err)
	}
	if got.S != 4<<20 || got.B != 4096 || got.D.Std() != 7*day {
		t.Errorf("got %+v", got)
	}
	out, err := yaml.Marshal(got)
	if err != nil || !strings.Contains(string(out), "s: 4MiB") || !strings.Contains(string(out), "d: 7d") {
		t.Errorf("marshalled %s, %v", out, err)
	}
	err = yaml.Unmarshal([]byte("s: 1\nd: 30\n"), &got)
	if err == nil || !strings.Contains(err.Error(), "line 2") || !strings.Contains(err.Error(), `"30s"`) {
		t.Errorf("error %v, want the line and what to write", err)
	}
}

func FuzzSize(f *testing.F) {
	for _, s := range []string{"0", "4MiB", "10MB", "512B", "9223372036854775807", "1.5GiB", "", "-1", "007"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		var a, b Size
		if a.UnmarshalText([]byte(in)) != nil {
			return
		}
		if a < 0 {
			t.Fatalf("%q is negative: %d", in, a)
		}
		if err := b.UnmarshalText([]byte(a.String())); err != nil || a != b {
			t.Fatalf("%q = %d prints as %s, which reads as %d, %v", in, a, a, b, err)
		}
	})
}

func FuzzDuration(f *testing.F) {
	for _, s := range []string{"0", "30s", "7d", "1d12h", "1.5h", "106751d", "-1s", "1d-1s", "5", "1h0m5s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		var a, b Duration
		if a.UnmarshalText([]byte(in)) != nil {
			return
		}
		if a < 0 {
			t.Fatalf("%q is negative: %d", in, a)
		}
		if err := b.UnmarshalText([]byte(a.String())); err != nil || a != b {
			t.Fatalf("%q = %d prints as %s, which reads as %d, %v", in, a, a, b, err)
		}
	})
}
