package service

import (
	"strings"
	"unicode/utf8"
)

// passage is what one question is about: texts, or a piece of one that is too long for it.
type passage []span

// span is a text from a byte on, or what a question has of it.
type span struct {
	text  int // index of the text
	begin int // where it begins there, in bytes
	value string
}

// Bounds of passages.
const (
	maxPassages = 512 // that questions are put about, for one document
	overlap     = 256 // bytes that stand at the end of one piece of a text and at the beginning of the next
)

// between stands between two texts of one question. What is found across it is found in neither.
const between = "\n\n"

// passages divides the texts into those that go in one question: all of them where most is 0, and else
// neighbours of one part, as far as there is room. Texts that say nothing are left out.
func passages(q *Question, most int) (list []passage) {
	size, group := 0, 0
	for i, text := range q.Texts {
		if strings.TrimSpace(text) == "" {
			continue
		}
		part := 0
		if most > 0 && i < len(q.Parts) {
			part = q.Parts[i]
		}
		if most > 0 && len(text) > most {
			list, size = append(list, pieces(i, text, most)...), most
			group = part
			continue
		}
		if n := len(list); n > 0 && (most == 0 || group == part && size+len(between)+len(text) <= most) {
			list[n-1] = append(list[n-1], span{i, 0, text})
			size += len(between) + len(text)
			continue
		}
		list = append(list, passage{{i, 0, text}})
		size, group = len(text), part
	}
	return list
}

// pieces cuts a text that is too long. What stands where two of them meet is in both.
func pieces(index int, text string, most int) (list []passage) {
	for begin := 0; ; {
		end := boundary(text, begin+most)
		list = append(list, passage{{index, begin, text[begin:end]}})
		if end == len(text) {
			return list
		}
		begin = boundary(text, end-overlap)
	}
}

// boundary is where the character begins that a byte is of, or the end of the text.
func boundary(text string, at int) int {
	if at >= len(text) {
		return len(text)
	}
	for !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// String is what is asked about.
func (p passage) String() string {
	values := make([]string, len(p))
	for i := range p {
		values[i] = p[i].value
	}
	return strings.Join(values, between)
}

// at is what stands from begin to end of a passage, in each of its texts, as something of a kind.
func (p passage) at(begin, end int, kind string) (found []Found) {
	start := 0
	for _, s := range p {
		from, to := max(begin-start, 0), min(end-start, len(s.value))
		if from < to {
			found = append(found, Found{s.text, s.begin + from, s.begin + to, kind})
		}
		start += len(s.value) + len(between)
	}
	return found
}

// where is every place of a text that a service quotes. It is found without a place where there is none,
// as in a service that quotes it in another form.
func (p passage) where(quoted, kind string) (found []Found) {
	for _, s := range p {
		for at := 0; quoted != ""; {
			i := strings.Index(s.value[at:], quoted)
			if i < 0 {
				break
			}
			begin := s.begin + at + i
			found = append(found, Found{s.text, begin, begin + len(quoted), kind})
			at += i + len(quoted)
		}
	}
	if found == nil {
		found = p.all(kind)
	}
	return found
}

// all is something of a kind that has no place in a passage.
func (p passage) all(kind string) []Found { return []Found{{Text: p[0].text, Kind: kind}} }
