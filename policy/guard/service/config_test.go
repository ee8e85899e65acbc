package service_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/policy/guard/service"
)

// TestValidate: what cannot work is an error with the path of its key, and what belongs to another use says
// to which.
func TestValidate(t *testing.T) {
	t.Parallel()
	uses := minimal()
	aws := service.AWS{Region: "eu-central-1", AccessKeyID: secret.New("id"), SecretAccessKey: secret.New("s")}
	token := secret.New("t")
	for _, tt := range []struct {
		use    string
		change func(*service.Config)
		want   string // "" for none
	}{
		{"presidio", func(c *service.Config) { c.Model = "m" }, "model: model is not for use presidio, but for moderation, llamaGuard, shieldGemma"},
		{"presidio", func(c *service.Config) { c.Categories = []string{"hate"} }, "categories: categories is not for use presidio, but for moderation, modelArmor, bedrock, contentSafety, llamaGuard"},
		{"moderation", func(c *service.Config) { c.Language = "de" }, "language: language is not for use moderation, but for presidio"},
		{"moderation", func(c *service.Config) { c.Entities = []string{"PERSON"} }, "entities: entities is not for use"},
		{"moderation", func(c *service.Config) { c.Score = 3 }, "score: score is not for use"},
		{"hook", func(c *service.Config) { c.Template = "t" }, "template: template is not for use hook, but for modelArmor"},
		{"hook", func(c *service.Config) { c.Guardrail = "g" }, "guardrail: guardrail is not for use hook, but for bedrock"},
		{"hook", func(c *service.Config) { c.Version = "1" }, "version: version is not for use hook, but for bedrock"},
		{"hook", func(c *service.Config) { c.AWS = aws }, "aws: aws is not for use hook, but for bedrock"},
		{"modelArmor", func(c *service.Config) { c.APIKey = token }, "apiKey: apiKey is not for use modelArmor, but for contentSafety, promptShields"},
		{"promptShields", func(c *service.Config) { c.Severity = 2 }, "severity: severity is not for use promptShields, but for contentSafety"},
		{"llamaGuard", func(c *service.Config) { c.Policy = "p" }, "policy: policy is not for use llamaGuard, but for shieldGemma"},
		{"modelArmor", func(c *service.Config) { c.Template = "" }, `template: "" is not projects/`},
		{"modelArmor", func(c *service.Config) { c.Template = "projects/p/locations/l/templates/t/../x" }, "is not projects/"},
		{"modelArmor", func(c *service.Config) { c.Categories = []string{"csam", "sdp.US_SSN"} }, ""},
		{"bedrock", func(c *service.Config) { c.Guardrail = "a/b" }, `guardrail: "a/b" is neither`},
		{"bedrock", func(c *service.Config) { c.Version = "0" }, `version: "0" is neither a number nor DRAFT`},
		{"bedrock", func(c *service.Config) { c.Version = "DRAFT" }, ""},
		{"bedrock", func(c *service.Config) { c.Token = secret.Value{} }, "aws: missing, as token and tokenFile are"},
		{"bedrock", func(c *service.Config) { c.Token, c.AWS = secret.Value{}, aws }, ""},
		{"bedrock", func(c *service.Config) { c.Token, c.TokenFile = secret.Value{}, "f" }, ""},
		{"bedrock", func(c *service.Config) { c.AWS = aws }, "aws: token is there too; one of them has to do"},
		{"bedrock", func(c *service.Config) { c.Token, c.AWS = secret.Value{}, service.AWS{Region: "r"} }, "region, accessKeyID and secretAccessKey go together"},
		{"bedrock", func(c *service.Config) { c.Token, c.AWS = secret.Value{}, aws; c.AWS.Region = "eu/x" }, `aws: "eu/x" is no region`},
		{"bedrock", func(c *service.Config) {
			c.Token, c.AWS = secret.Value{}, aws
			c.AWS.SessionToken = secret.New("hush\n")
		}, "aws: holds characters"},
		{"presidio", func(c *service.Config) { c.Token = secret.New("hush hush") }, "token: holds characters that cannot stand in a header"},
		{"presidio", func(c *service.Config) { c.Token, c.TokenFile = token, "f" }, "tokenFile: token is there too"},
		{"contentSafety", func(c *service.Config) { c.Severity = 8 }, "severity: 8 is not between 1 and 7"},
		{"contentSafety", func(c *service.Config) { c.Severity = 1 }, ""},
		{"contentSafety", func(c *service.Config) { c.Categories = []string{"Hate", "violence"} }, `categories: "violence" is none of Hate, SelfHarm`},
		{"contentSafety", func(c *service.Config) { c.Categories = []string{"SelfHarm", "Sexual"} }, ""},
		{"contentSafety", func(c *service.Config) { c.APIKey = secret.New("hush\x00") }, "apiKey: holds characters"},
		{"llamaGuard", func(c *service.Config) { c.Model = "" }, "model: missing"},
		{"shieldGemma", func(c *service.Config) { c.Model = "" }, "model: missing"},
		{"shieldGemma", func(c *service.Config) { c.Policy = " " }, "policy: missing"},
		{"shieldGemma", func(c *service.Config) { c.Policy = strings.Repeat("p", 8<<10+1) }, "policy: longer than 8192 bytes"},
		{"hook", func(c *service.Config) { c.URL = "" }, "url: missing"},
		{"hook", func(c *service.Config) { c.OnFailure = "pass" }, `onFailure: "pass" is neither "deny" nor "allow"`},
		{"hook", func(*service.Config) {}, ""},
	} {
		c := uses[tt.use]
		c.URL = "https://guard.example"
		tt.change(&c)
		err := c.Validate(tt.use)
		if got := fmt.Sprint(err); (err == nil) != (tt.want == "") || !strings.Contains(got, tt.want) && tt.want != "" || strings.Contains(got, "hush") {
			t.Errorf("%s: %v, want %s", tt.use, err, tt.want)
		}
		if c.IsZero() && tt.want != "url: missing" {
			t.Errorf("%s: it is zero", tt.use)
		}
	}
	if _, err := service.New("other", service.Config{}, service.Options{}); err == nil {
		t.Error("another use")
	}
	if c := new(service.Config); !c.IsZero() {
		t.Error("it is not zero")
	}
}
