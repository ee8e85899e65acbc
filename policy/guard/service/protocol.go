package service

import "slices"

// protocol is how a kind of service is asked. A row of protocols is all that there is to add.
type protocol struct {
	Use
	most int // bytes of texts that one question may have; all go in one where it is 0
	// unsorted is what is found where the service does not say of which kind it is.
	unsorted string
	// keys of Config that are for it, beside those that are for all.
	keys []string
	// check says what is wrong with them; nil where nothing can be.
	check func(c *Config, wrong func(key, format string, args ...any))
	// ask says where a question about a passage is posted, below the URL, and what is, as JSON.
	ask func(c *Config, q *Question, p passage) (path string, body any)
	// parse reads the answer to it. Names of what was found are looked at by its caller.
	parse func(c *Config, q *Question, p passage, answer []byte) ([]Found, error)
}

// Use is what a guard can be for that asks a service.
type Use struct {
	Name  string // `use:` of a guard
	What  string // what it finds
	Whole bool   // nothing that it finds has a place in a text
}

// fewBytes are for services that take one text at a time, and that no more of it than the strictest of
// them takes: 10,000 characters for Azure AI Content Safety, as many tokens for Model Armor.
const fewBytes = 10_000

// protocols are all there are, in the order of the documentation.
func protocols() []protocol {
	return []protocol{
		{
			Use:  Use{"presidio", "whatever Microsoft Presidio's analyzer finds in texts", false},
			keys: []string{"language", "entities", "score"}, ask: askPresidio, parse: parsePresidio,
		},
		{
			Use:      Use{"moderation", "texts that an OpenAI-compatible moderation model flags", true},
			unsorted: "flagged",
			keys:     []string{"model", "categories"}, ask: askModeration, parse: parseModeration,
		},
		{
			Use: Use{"modelArmor", "what the filters of a template of Google Model Armor match", false}, most: fewBytes, unsorted: "match",
			keys: []string{"template", "categories"}, check: checkModelArmor, ask: askModelArmor, parse: parseModelArmor,
		},
		{
			Use: Use{"bedrock", "what a guardrail of Amazon Bedrock blocks or masks", false}, most: fewBytes, unsorted: "intervened",
			keys:  []string{"guardrail", "version", "aws", "categories"},
			check: checkBedrock, ask: askBedrock, parse: parseBedrock,
		},
		{
			Use: Use{"contentSafety", "texts that Azure AI Content Safety finds harmful", true}, most: fewBytes,
			keys: []string{"apiKey", "severity", "categories"}, check: checkContentSafety, ask: askContentSafety, parse: parseContentSafety,
		},
		{
			Use: Use{"promptShields", "attacks on prompts that Azure AI Content Safety's Prompt Shields detect", true}, most: fewBytes,
			keys: []string{"apiKey"}, ask: askPromptShields, parse: parsePromptShields,
		},
		{
			Use: Use{"llamaGuard", "texts that a model of the Llama Guard family calls unsafe", true}, most: fewBytes, unsorted: "unsafe",
			keys: []string{"model", "categories"}, check: checkModel, ask: askLlamaGuard, parse: parseLlamaGuard,
		},
		{
			Use: Use{"shieldGemma", "texts that break a policy by the judgement of a ShieldGemma model", true}, most: fewBytes,
			keys: []string{"model", "policy"}, check: checkShieldGemma, ask: askShieldGemma, parse: parseShieldGemma,
		},
		{
			Use:  Use{"hook", "whatever a service of the operator's says that speaks the protocol of hooks", false},
			most: maxQuestion, ask: askHook, parse: parseHook,
		},
	}
}

// protocolOf finds one by the name of its use.
func protocolOf(use string) (protocol, bool) {
	list := protocols()
	i := slices.IndexFunc(list, func(p protocol) bool { return p.Name == use })
	if i < 0 {
		return protocol{}, false
	}
	return list[i], true
}

// Uses are what guards can be for that ask a service, in the order of the documentation.
func Uses() (uses []Use) {
	for _, p := range protocols() {
		uses = append(uses, p.Use)
	}
	return uses
}

// usesOf are the uses that a key is for.
func usesOf(key string) (names []string) {
	for _, p := range protocols() {
		if slices.Contains(p.keys, key) {
			names = append(names, p.Name)
		}
	}
	return names
}
