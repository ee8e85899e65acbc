package service

import (
	"testing"
	"unicode/utf8"

	"github.com/a2a-gateway/a2a-gateway/ext/hook"
)

// judge reads an answer about two pieces of texts: what is found has a place in them that can be cut, or
// none.
func judge(t *testing.T, use, answer string) {
	t.Helper()
	texts := []string{"ich heiße Jörg", "und du?"}
	q := &Question{Phase: hook.Request, Texts: texts}
	p, ok := protocolOf(use)
	if !ok {
		t.Fatal(use)
	}
	found, err := p.parse(&Config{}, q, passages(q, p.most)[0], []byte(answer))
	if err != nil && found != nil {
		t.Errorf("%s: %v beside %v", answer, found, err)
	}
	for _, f := range found {
		if f.Text < 0 || f.Text >= len(texts) {
			t.Fatalf("%s: %v", answer, f)
		}
		text := texts[f.Text]
		if f.End == 0 && f.Begin == 0 {
			continue
		}
		if f.Begin < 0 || f.Begin >= f.End || f.End > len(text) || !utf8.ValidString(text[:f.Begin]) || !utf8.ValidString(text[f.Begin:f.End]) {
			t.Errorf("%s: %v", answer, f)
		}
	}
}

// Whatever a service answers, what is found by it can be cut out of the texts.
func FuzzPresidio(f *testing.F) {
	f.Add(`[]`)
	f.Add(`[{"entity_type":"PERSON","start":10,"end":14,"score":0.9}]`)
	f.Add(`[{"entity_type":"X","start":12,"end":18}]`)
	f.Add(`[{"entity_type":"X","start":1e9,"end":2e9}]`)
	f.Fuzz(func(t *testing.T, answer string) { judge(t, "presidio", answer) })
}

func FuzzModeration(f *testing.F) {
	f.Add(`{"results":[{"flagged":false},{"flagged":true,"categories":{"violence":true}}]}`)
	f.Add(`{"results":[{"flagged":true},{"flagged":false}]}`)
	f.Add(`{}`)
	f.Fuzz(func(t *testing.T, answer string) { judge(t, "moderation", answer) })
}

func FuzzModelArmor(f *testing.F) {
	f.Add(`{"sanitizationResult":{"filterMatchState":"MATCH_FOUND","filterResults":{"sdp":{"sdpFilterResult":{"inspectResult":{"matchState":"MATCH_FOUND","findings":[{"infoType":"X","location":{"byteRange":{"start":"11","end":"16"}}}],"findingsTruncated":true}}}}}}`)
	f.Add(`{"sanitizationResult":{"filterMatchState":"MATCH_FOUND","filterResults":{"malicious_uris":{"maliciousUriFilterResult":{"matchState":"MATCH_FOUND","maliciousUriMatchedItems":[{"uri":"du"}]}}}}}`)
	f.Add(`{"sanitizationResult":{"filterMatchState":"MATCH_FOUND","filterResults":{"rai":{"raiFilterResult":{"raiFilterTypeResults":{"dangerous":{"matchState":"MATCH_FOUND"}}}}}}}`)
	f.Fuzz(func(t *testing.T, answer string) { judge(t, "modelArmor", answer) })
}

func FuzzBedrock(f *testing.F) {
	f.Add(`{"action":"GUARDRAIL_INTERVENED","assessments":[{"sensitiveInformationPolicy":{"piiEntities":[{"match":"ö","type":"NAME","action":"ANONYMIZED"}]}}]}`)
	f.Add(`{"action":"GUARDRAIL_INTERVENED","assessments":[{"topicPolicy":{"topics":[{"name":"a b","action":"BLOCKED"}]}}]}`)
	f.Add(`{"action":"NONE"}`)
	f.Fuzz(func(t *testing.T, answer string) { judge(t, "bedrock", answer) })
}

func FuzzContentSafety(f *testing.F) {
	f.Add(`{"categoriesAnalysis":[{"category":"Hate","severity":6}]}`)
	f.Add(`{"categoriesAnalysis":[{"category":"Hate","severity":0},{"category":"x y","severity":7}]}`)
	f.Add(`{"error":{}}`)
	f.Fuzz(func(t *testing.T, answer string) { judge(t, "contentSafety", answer) })
}

func FuzzPromptShields(f *testing.F) {
	f.Add(`{"userPromptAnalysis":{"attackDetected":true}}`)
	f.Add(`{"userPromptAnalysis":{"attackDetected":false}}`)
	f.Add(`{"documentsAnalysis":[{"attackDetected":true}]}`)
	f.Fuzz(func(t *testing.T, answer string) { judge(t, "promptShields", answer) })
}

func FuzzLlamaGuard(f *testing.F) {
	f.Add(`{"choices":[{"message":{"content":"\n\nunsafe\nS1,S2"}}]}`)
	f.Add(`{"choices":[{"message":{"content":"safe"}}]}`)
	f.Add(`{"choices":[{"message":{"content":"unsafe\n,"}}]}`)
	f.Fuzz(func(t *testing.T, answer string) { judge(t, "llamaGuard", answer) })
}

func FuzzShieldGemma(f *testing.F) {
	f.Add(`{"choices":[{"message":{"content":"Yes, it does"}}]}`)
	f.Add(`{"choices":[{"message":{"content":"No"}}]}`)
	f.Add(`{"choices":[{"message":{"content":"\u00e9Yes"}}]}`)
	f.Fuzz(func(t *testing.T, answer string) { judge(t, "shieldGemma", answer) })
}

func FuzzHook(f *testing.F) {
	f.Add(`{"action":"mutate","document":{"texts":["ich heiße","und dü?"]}}`)
	f.Add(`{"action":"deny"}`)
	f.Add(`{"action":"pass"}`)
	f.Add(`{"action":"mutate","document":{"texts":["","und du?und du?"]}}`)
	f.Fuzz(func(t *testing.T, answer string) { judge(t, "hook", answer) })
}
