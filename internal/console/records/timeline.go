package records

import (
	"net/http"
	"reflect"

	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// timelines looks for the records of a task. It embeds search for pages of records.
type timelines struct{ search }

// TaskScreen is that of a task: the conversation over its calls and events.
func TaskScreen(log Records) api.Screen {
	s := &timelines{search{log}}
	return api.Screen{
		Title: "a task", Page: "/tasks/$id",
		Shows: "the conversation of the task in order of time: calls, streams, notifications of the agent and deliveries to webhooks; watch an open stream of the task; messages, artifacts and states of its calls, if the gateway captured them and `admin.content` permits it",
		Operations: []api.Operation{
			{
				Method: http.MethodGet, Path: "/api/v1/tasks/{id}/timeline", ID: "task-timeline", Tag: "audit", Role: api.Viewer,
				Summary: "List the records of calls and events about a task, oldest first", Pages: true,
				Out: reflect.TypeFor[recordsPage](), Errors: []api.Code{api.Busy}, Answer: s.timeline,
			},
		},
	}
}

// timeline gives the records of a task, the oldest first, as one reads a conversation.
func (s *timelines) timeline(c *api.Call) (any, error) {
	return s.recordPage(c, index.Query{Task: c.PathValue("id"), Oldest: true})
}
