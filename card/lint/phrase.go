package lint

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// phrase is a way to give orders to a model (prompt injection). One of its words has to be there
// for it to be looked for, since looking for words is a hundred times faster.
type phrase struct {
	words   []string
	pattern *regexp.Regexp
}

// phrases are what nobody writes who describes a service to people, and everybody who
// gives orders to the model that reads the description. They are looked for in plain
// text: lower case, one space between words, look-alikes as what they look like.
//
// A list finds what is on it. Whoever words it differently is not found; what helps then
// is a person who reads what has changed.
var phrases = compile([][2]string{
	{"ignore|disregard|forget|override|bypass|skip", `(WORDS) (\w+ ){0,3}(previous|prior|earlier|above|preceding|existing|other|system|safety) ?` +
		`(\w+ ){0,2}(instruction|prompt|rule|guideline|direction|message|polic|context|constraint)`},
	{"ignore|disregard|forget", `(WORDS) (everything|all|anything) (you|above|before|that|prior)`},
	{"instruction|prompt", `(new|updated|real|actual|hidden|secret|important) (system )?(instructions?|prompt) ?:`},
	{"system|developer", `\b(WORDS) (prompt|message|instruction)s? ?(:|is|says|override|follows)`},
	{"reveal|print|repeat|show|output|leak|exfiltrate|dump", `(WORDS) (\w+ ){0,3}` +
		`(system prompt|instructions|api ?keys?|credentials|secrets|passwords|tokens|env(ironment)? variables)`},
	{"you are|you will be|you must act as", `(WORDS) (now|no longer|henceforth)`},
	{"from now on|henceforth", `(WORDS),? you`},
	{"user|human|operator|anyone|anybody", `(do not|don t|never|without) ` +
		`(tell|telling|inform|informing|mention|mentioning|notify|notifying|alert|alerting|ask|asking|reveal|revealing)( \w+){0,4} (the )?(WORDS)`},
	{"send|forward|post|upload|transmit|exfiltrate|copy|bcc", `(WORDS) (\w+ ){0,6}(conversation|chat history|history|context|` +
		`credentials|api ?keys?|tokens?|secrets?|passwords?|user data|all data)( \w+){0,6} (to|at|via)\b`},
	{"always", `WORDS (first )?(use|call|choose|select|prefer|pick|invoke|route|delegate)( \w+){0,5} (this|my) (agent|tool|skill|service)`},
	{"before|instead of", `(WORDS) (using|calling|choosing|invoking) (any|all|every|other) (other )?(agent|tool|skill)`},
	{"do not|don t|never|avoid|stop", `(WORDS) (use|using|call|calling|choose|trust|trusting|invoke|route|delegat\w+)( \w+){0,4} other (agent|tool|skill|service)`},
	{"highest priority|top priority|maximum priority", `(WORDS)\b( \w+){0,4} (agent|tool|skill|instruction)`},
	{"bypass|disable|turn off|ignore|skip", `(WORDS) (\w+ ){0,3}(safety|confirmations?|approvals?|guardrails?|safeguards?|filters?)\b`},
	{"system>|instruction>|instructions>|important>|assistant>|user>|prompt>|admin>|tool call>|function call>", `</?(WORDS)`},
	{"inst]|system]|assistant]|admin]", `\[/?(WORDS)`},
	{"<|", `<\|(im.start|im.end|system|user|assistant|endoftext)[^>]{0,20}\|?>`},
	{"sys>>", `<</?sys>>`},
	{"system|instruction|assistant", `(^|\n) ?#{1,6} ?(WORDS)`},
	{"assistant|human", `(^|\n) ?(WORDS) ?:`},
	{"ignoriere|vergiss|missachte", `(WORDS) (\w+ ){0,3}(vorherig|bisherig|obig|fr.her)\w* (\w+ )?(anweisung|regel|befehl)`},
	{"ignore|oublie", `(WORDS)[zr]? (\w+ ){0,3}(instructions?|consignes?) (pr.c.dentes?|ci dessus)`},
	{"ignora|olvida", `(WORDS) (\w+ ){0,3}(instrucciones|.rdenes) (anteriores|previas)`},
	{"忽略", `WORDS(\S{0,6})(之前|以上|先前|前面)`},
	{"指示を", `(以前|上記|前)のWORDS(無視|忘れ)`},
	{"игнорируй", `WORDS(те)? (\S+ ){0,3}(предыдущ|прежн)`},
})

// compile makes phrases of words, one of which is there, and a pattern in which they stand.
func compile(list [][2]string) []phrase {
	out := make([]phrase, 0, len(list))
	for _, p := range list {
		var quoted []string
		words := strings.Split(p[0], "|")
		if p[0] == "<|" {
			words = []string{p[0]}
		}
		for _, word := range words {
			quoted = append(quoted, regexp.QuoteMeta(word))
		}
		pattern := strings.ReplaceAll(p[1], "WORDS", strings.Join(quoted, "|"))
		out = append(out, phrase{words, regexp.MustCompile(pattern)})
	}
	return out
}

// Phrases is the version of the list of phrases: it grows with every change of it.
const Phrases = 1

// longestRead is how much of a text is looked through for phrases.
const longestRead = 64 << 10

// Instructs reports whether a text has words that are meant to give orders to a model, by the list
// that cards are held against, in its first 64 KiB.
func Instructs(s string) bool { return instruction(s[:min(len(s), longestRead)]) }

// instruction reports words that are meant for a model.
func instruction(s string) bool {
	read := plain(s, false)
	if instructs(read) {
		return true
	}
	folded := plain(s, true)
	return folded != read && instructs(folded)
}

func instructs(text string) bool {
	return slices.ContainsFunc(phrases, func(p phrase) bool {
		there := slices.ContainsFunc(p.words, func(word string) bool { return strings.Contains(text, word) })
		return there && p.pattern.MatchString(text)
	})
}

// plain is a text in lower case and without what words could be taken apart by. With
// folding, letters that look like Latin ones are Latin.
func plain(s string, folding bool) string {
	var b strings.Builder
	space := false
	for _, r := range norm.NFKC.String(Clean(s)) {
		r = unicode.ToLower(r)
		if latin, ok := twin[r]; ok && folding {
			r = latin
		}
		switch {
		case r == '\n':
			b.WriteRune(r)
			space = true
		case unicode.IsSpace(r) || strings.ContainsRune("-_*'’`\"", r):
			if !space {
				b.WriteByte(' ')
			}
			space = true
		default:
			b.WriteRune(r)
			space = false
		}
	}
	return b.String()
}
