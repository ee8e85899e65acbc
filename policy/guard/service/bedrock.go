package service

import (
	"cmp"
	"regexp"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/ext/hook"
)

// Names of guardrails and of their versions, as ApplyGuardrail takes them.
var (
	guardrail        = regexp.MustCompile(`^([a-z0-9]+|arn:aws(-[^:/]+)?:bedrock:[a-z0-9-]{1,20}:[0-9]{12}:guardrail/[a-z0-9]+)$`)
	guardrailVersion = regexp.MustCompile(`^([1-9][0-9]{0,7}|DRAFT)$`)
	region           = regexp.MustCompile(`^[a-z0-9-]+$`)
)

// draft is the version of a guardrail that has not been published.
const draft = "DRAFT"

// checkBedrock says what is wrong with the keys of use bedrock.
func checkBedrock(c *Config, wrong func(key, format string, args ...any)) {
	if !guardrail.MatchString(c.Guardrail) {
		wrong("guardrail", "%q is neither the id of a guardrail nor its ARN", c.Guardrail)
	}
	if c.Version != "" && !guardrailVersion.MatchString(c.Version) {
		wrong("version", "%q is neither a number nor DRAFT", c.Version)
	}
	a := &c.AWS
	switch {
	case *a == AWS{} && c.Token.IsZero() && c.TokenFile == "":
		wrong("aws", "missing, as token and tokenFile are; say what the gateway signs with")
	case *a != AWS{} && (a.Region == "" || a.AccessKeyID.IsZero() || a.SecretAccessKey.IsZero()):
		wrong("aws", "region, accessKeyID and secretAccessKey go together")
	case a.Region != "" && !region.MatchString(a.Region):
		wrong("aws", "%q is no region", a.Region)
	}
}

// askBedrock is the body of ApplyGuardrail.
func askBedrock(c *Config, q *Question, p passage) (string, any) {
	type block struct {
		Text struct {
			Text string `json:"text"`
		} `json:"text"`
	}
	source := "INPUT"
	if q.Phase != hook.Request {
		source = "OUTPUT"
	}
	content := make([]block, 1)
	content[0].Text.Text = p.String()
	path := "/guardrail/" + escaped(c.Guardrail) + "/version/" + cmp.Or(c.Version, draft) + "/apply"
	return path, struct {
		Source  string  `json:"source"`
		Content []block `json:"content"`
	}{source, content}
}

// bedrockEntry is an entry of an assessment, of whatever policy.
type bedrockEntry struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Match  string `json:"match"`
	Action string `json:"action"`
}

// bedrockAssessment is what the policies of a guardrail say.
type bedrockAssessment struct {
	Topic struct {
		Topics []bedrockEntry `json:"topics"`
	} `json:"topicPolicy"`
	Content struct {
		Filters []bedrockEntry `json:"filters"`
	} `json:"contentPolicy"`
	Word struct {
		Custom  []bedrockEntry `json:"customWords"`
		Managed []bedrockEntry `json:"managedWordLists"`
	} `json:"wordPolicy"`
	Sensitive struct {
		Entities []bedrockEntry `json:"piiEntities"`
		Regexes  []bedrockEntry `json:"regexes"`
	} `json:"sensitiveInformationPolicy"`
	Grounding struct {
		Filters []bedrockEntry `json:"filters"`
	} `json:"contextualGroundingPolicy"`
}

// parseBedrock reads what a guardrail has blocked or masked. What it only has detected is none of it.
func parseBedrock(_ *Config, _ *Question, p passage, answer []byte) (found []Found, _ error) {
	var a struct {
		Action      string              `json:"action"`
		Assessments []bedrockAssessment `json:"assessments"`
	}
	if err := json.Unmarshal(answer, &a); err != nil || a.Action != "NONE" && a.Action != "GUARDRAIL_INTERVENED" {
		return nil, errAnswer
	}
	for i := range a.Assessments {
		found = append(found, a.Assessments[i].found(p)...)
	}
	if found == nil && a.Action != "NONE" {
		return p.all("intervened"), nil // by a policy that is newer than this
	}
	return found, nil
}

// found is what counts of an assessment.
func (a *bedrockAssessment) found(p passage) (found []Found) {
	for _, of := range []struct {
		prefix string
		list   []bedrockEntry
	}{
		{"topic.", a.Topic.Topics},
		{"content.", a.Content.Filters},
		{"word.", a.Word.Custom},
		{"word.", a.Word.Managed},
		{"pii.", a.Sensitive.Entities},
		{"regex.", a.Sensitive.Regexes},
		{"grounding.", a.Grounding.Filters},
	} {
		for _, e := range of.list {
			if e.Action == "BLOCKED" || e.Action == "ANONYMIZED" {
				found = append(found, p.where(e.Match, of.prefix+e.kind())...)
			}
		}
	}
	return found
}

// kind is the operator's name for an entry where it has one, and else the service's. Topics may have
// names that cannot stand in records as they are.
func (e *bedrockEntry) kind() string {
	name := plain(cmp.Or(e.Name, e.Type, "custom"))
	return name[:min(len(name), longestName-len("grounding."))]
}
