package service

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestPassages: which texts go in one question.
func TestPassages(t *testing.T) {
	t.Parallel()
	q := &Question{Parts: []int{0, 0, 0, 1, 1, 1, 1, 1}}
	for _, n := range []int{100, 0, 100, 400, 598, 1, 2000, 10} {
		q.Texts = append(q.Texts, strings.Repeat("x", n))
	}
	for most, want := range map[int]string{
		0:    "[[0+0 2+0 3+0 4+0 5+0 6+0 7+0]]",
		1000: "[[0+0 2+0] [3+0 4+0] [5+0] [6+0] [6+744] [6+1488] [7+0]]",
		5000: "[[0+0 2+0] [3+0 4+0 5+0 6+0 7+0]]",
	} {
		var got [][]string
		for _, p := range passages(q, most) {
			var of []string
			for _, s := range p {
				of = append(of, fmt.Sprintf("%d+%d", s.text, s.begin))
			}
			got = append(got, of)
		}
		if s := fmt.Sprint(got); s != want {
			t.Errorf("%d: %s", most, s)
		}
	}
}

// FuzzPassages: the passages have all of the texts, in order and no longer than they may be.
func FuzzPassages(f *testing.F) {
	f.Add("a", "ö", "b")
	f.Add(strings.Repeat("ö", 300), "", strings.Repeat("x", 700))
	f.Add(strings.Repeat("日本", 500), " ", "z")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		const most = 600
		q := &Question{Texts: []string{a, b, c}, Parts: []int{0, 0, 1}}
		for i, text := range q.Texts {
			if !utf8.ValidString(text) {
				return // JSON has none
			}
			end := 0
			for _, p := range passages(q, most) {
				if len(p.String()) > most {
					t.Fatalf("%d bytes in one", len(p.String()))
				}
				for _, s := range p {
					if s.text != i {
						continue
					}
					if s.begin > end || text[s.begin:s.begin+len(s.value)] != s.value || !utf8.ValidString(s.value) {
						t.Fatalf("%q at %d is not behind %d", s.value, s.begin, end)
					}
					end = s.begin + len(s.value)
				}
			}
			if end != len(text) && strings.TrimSpace(text) != "" {
				t.Fatalf("%q ends at %d", text, end)
			}
		}
	})
}
