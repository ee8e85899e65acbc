package jws

import (
	"net/http"
	"testing"
	"time"
)

func TestLifetime(t *testing.T) {
	t.Parallel()
	tests := []struct {
		control, age string
		want         time.Duration
	}{
		{"", "", defaultAge},
		{"public", "", defaultAge},
		{"max-age=600", "", 10 * time.Minute},
		{"Public, MAX-AGE=600, must-revalidate", "", 10 * time.Minute},
		{`max-age="600"`, "", 10 * time.Minute},
		{"max-age=600", "300", 5 * time.Minute},
		{"max-age=600", "900", minAge},
		{"max-age=0", "", minAge},
		{"max-age=-1", "", minAge},
		{"max-age=x", "", minAge},
		{"max-age=99999999999999999999", "", minAge},
		{"max-age=31536000", "", maxAge},
		{"no-store", "", minAge},
		{"no-cache, max-age=600", "", minAge},
		{"max-age=600, no-store", "", minAge},
	}
	for _, tt := range tests {
		h := http.Header{}
		h.Set("Cache-Control", tt.control)
		h.Set("Age", tt.age)
		if got := Lifetime(h); got != tt.want {
			t.Errorf("Cache-Control %q, Age %q: got %v, want %v", tt.control, tt.age, got, tt.want)
		}
	}
}
