package card

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

// TestSummaryIsTheCard: lists of agents say what the served card says, and give away
// nothing that it does not.
func TestSummaryIsTheCard(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]string{
		"plain": `{"name":"Billing","description":"d","version":"1","documentationUrl":"https://docs.example/x","skills":[
			{"id":"a","name":"A","description":"does","tags":["x","y"]},{"id":"b"},{"id":"c","name":"C","tags":[]}]}`,
		"leaking": `{"name":"Billing at 10.0.0.7:9000","description":"see http://billing.internal/x?key","version":"10.0.0.7:1",
			"url":"http://billing.internal/rpc","documentationUrl":"http://billing.internal/docs","skills":[
			{"id":"http://10.0.0.7/","name":"x"},{"id":"a","name":"AKIAABCDEFGHIJKLMNOP","description":"ask root@billing.internal",
			"tags":["billing.internal","fine"]}]}`,
		"hidden": "{\"name\":\"Bill\u200bing\",\"description\":\"<!-- no --> d\u202e\",\"skills\":[{\"id\":\"a\u200b\",\"name\":\"x\"}," +
			"{\"id\":\"a\",\"name\":\"A\u200b\",\"tags\":[\"t\u200b\"]}]}",
	} {
		c, err := Parse([]byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		for _, skills := range [][]string{nil, {}, {"a"}} {
			v := View{BaseURL: "https://gw.example/agents/billing", Skills: skills, Hidden: []string{"billing.internal"}}
			body, _, err := c.Render(v)
			if err != nil {
				t.Fatal(err)
			}
			var want, got struct {
				Name        string `json:"name"`
				Description string `json:"description"`
				Docs        string `json:"documentationUrl"`
				Skills      []struct {
					ID          string   `json:"id"`
					Name        string   `json:"name"`
					Description string   `json:"description"`
					Tags        []string `json:"tags"`
				} `json:"skills"`
			}
			if err := json.Unmarshal(body, &want); err != nil {
				t.Fatal(err)
			}
			s := c.Summarize(v)
			text, err := json.Marshal(map[string]any{
				"name": s.Name, "description": s.Description, "documentationUrl": s.Documentation, "skills": lowered(s.Skills),
			})
			if err == nil {
				err = json.Unmarshal(text, &got)
			}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s, skills %q: %v (-card +summary):\n%s", name, skills, err, diff)
			}
		}
	}
}

// lowered are skills with the names of a card's members.
func lowered(list []Skill) []map[string]any {
	out := []map[string]any{}
	for _, s := range list {
		tags := s.Tags
		if tags == nil {
			tags = []string{}
		}
		out = append(out, map[string]any{"id": s.ID, "name": s.Name, "description": s.Description, "tags": tags})
	}
	return out
}
