package lint

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// phrases are what nobody writes who describes a service to people, and everybody who
// gives orders to the model that reads the description. They are looked for in plain
// text: lower case, one space between words, look-alikes as what they look like.
//
// A list finds what is on it. Whoever words it differently is not found; what helps then
// is a person who reads what has changed.
var phrases = regexp.MustCompile(strings.Join([]string{
	`(ignore|disregard|forget|override|bypass|skip) (\w+ ){0,3}(previous|prior|earlier|above|preceding|existing|other|system|safety) ?` +
		`(\w+ ){0,2}(instruction|prompt|rule|guideline|direction|message|polic|context|constraint)`,
	`(ignore|disregard|forget) (everything|all|anything) (you|above|before|that|prior)`,
	`(new|updated|real|actual|hidden|secret|important) (system )?(instructions?|prompt) ?:`,
	`\b(system|developer) (prompt|message|instruction)s? ?(:|is|says|override|follows)`,
	`(reveal|print|repeat|show|output|leak|exfiltrate|dump) (\w+ ){0,3}(system prompt|instructions|api ?keys?|credentials|secrets|passwords|tokens|env(ironment)? variables)`,
	`you (are|will be|must act as) (now|no longer|henceforth)`,
	`(from now on|henceforth),? you`,
	`(do not|don t|never|without) (tell|telling|inform|informing|mention|mentioning|notify|notifying|alert|alerting|ask|asking|reveal|revealing)( \w+){0,4} (the )?(user|human|operator|anyone|anybody)`,
	`(send|forward|post|upload|transmit|exfiltrate|copy|bcc) (\w+ ){0,6}(conversation|chat history|history|context|credentials|api ?keys?|tokens?|secrets?|passwords?|user data|all data)` +
		`( \w+){0,6} (to|at|via)\b`,
	`always (first )?(use|call|choose|select|prefer|pick|invoke|route|delegate)( \w+){0,5} (this|my) (agent|tool|skill|service)`,
	`(before|instead of) (using|calling|choosing|invoking) (any|all|every|other) (other )?(agent|tool|skill)`,
	`(do not|don t|never|avoid|stop) (use|using|call|calling|choose|trust|trusting|invoke|route|delegat\w+)( \w+){0,4} other (agent|tool|skill|service)`,
	`\b(highest|top|maximum) priority\b( \w+){0,4} (agent|tool|skill|instruction)`,
	`(bypass|disable|turn off|ignore|skip) (\w+ ){0,3}(safety|confirmations?|approvals?|guardrails?|safeguards?|filters?)\b`,
	`</?(system|instructions?|important|assistant|user|prompt|admin|tool.call|function.call)>`,
	`\[/?(inst|system|assistant|admin)\]`, `<\|(im.start|im.end|system|user|assistant|endoftext)[^>]{0,20}\|?>`, `<</?sys>>`,
	`(^|\n) ?#{1,6} ?(system|instructions?|assistant)\b`, `(^|\n) ?(system|assistant|human) ?:`,
	`(ignoriere|vergiss|missachte) (\w+ ){0,3}(vorherig|bisherig|obig|fr.her)\w* (\w+ )?(anweisung|regel|befehl)`,
	`(ignore[zr]?|oublie[zr]?) (\w+ ){0,3}(instructions?|consignes?) (pr.c.dentes?|ci dessus)`,
	`(ignora|olvida) (\w+ ){0,3}(instrucciones|.rdenes) (anteriores|previas)`,
	`忽略(\S{0,6})(之前|以上|先前|前面)`, `(以前|上記|前)の指示を(無視|忘れ)`, `игнорируй(те)? (\S+ ){0,3}(предыдущ|прежн)`,
}, "|"))

// instruction finds words that are meant for a model, "" for none.
func instruction(s string) string {
	if m := phrases.FindString(plain(s, false)); m != "" {
		return m
	}
	return phrases.FindString(plain(s, true))
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
