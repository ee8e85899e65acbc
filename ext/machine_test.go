package ext_test

import (
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
)

// payment is the machine of the tests.
func payment() *ext.StatesConfig {
	return &ext.StatesConfig{
		Key:     "pay.status",
		Initial: []string{"required"},
		Transitions: map[string][]string{
			"required": {"submitted", "rejected"}, "submitted": {"verified", "required"},
			"verified": {"completed"},
		},
		Within: map[string][]string{
			"required":  {"TASK_STATE_INPUT_REQUIRED"},
			"completed": {"TASK_STATE_COMPLETED", "TASK_STATE_WORKING"},
		},
	}
}

func TestMachine(t *testing.T) {
	t.Parallel()
	book := compiled(t, ext.Registry{{URI: uriA, Kind: ext.States, Metadata: []string{"pay.*"}, States: payment()}})
	m := book.Machine(uriA)
	if m.Key() != "pay.status" {
		t.Errorf("key %q", m.Key())
	}
	tests := []struct{ from, to, task, want string }{
		{"", "required", "TASK_STATE_INPUT_REQUIRED", ""},
		{"", "required", "", ""},
		{"", "required", "TASK_STATE_WORKING", `state "required" may not go with task state TASK_STATE_WORKING`},
		{"", "submitted", "", `a task may not begin with state "submitted"`},
		{"required", "submitted", "TASK_STATE_FAILED", ""},
		{"required", "verified", "", `state "verified" may not follow "required"`},
		{"submitted", "required", "", ""},
		{"completed", "verified", "", `state "verified" may not follow "completed"`},
		{"rejected", "rejected", "", ""},
		{"required", "required", "TASK_STATE_FAILED", `state "required" may not go with task state TASK_STATE_FAILED`},
		{"verified", "completed", "TASK_STATE_COMPLETED", ""},
		{"a state of last week", "verified", "", ""},
		{"required", "REJECTED", "", "not one of the states completed, rejected, required, submitted, verified"},
		{"required", "", "", "not one of the states completed, rejected, required, submitted, verified"},
	}
	for _, tt := range tests {
		if got := m.Move(tt.from, tt.to, tt.task); got != tt.want {
			t.Errorf("%q to %q while %q: %q, want %q", tt.from, tt.to, tt.task, got, tt.want)
		}
	}
	comes := []struct{ from, to, task, want string }{
		{"", "verified", "", ""},
		{"", "required", "TASK_STATE_WORKING", `state "required" may not go with task state TASK_STATE_WORKING`},
		{"required", "completed", "TASK_STATE_COMPLETED", ""},
		{"submitted", "rejected", "", ""}, // by way of required
		{"rejected", "rejected", "", ""},
		{"rejected", "required", "", `state "required" may not come after "rejected"`},
		{"verified", "submitted", "", `state "submitted" may not come after "verified"`},
		{"a state of last week", "verified", "", ""},
		{"required", "REJECTED", "", "not one of the states completed, rejected, required, submitted, verified"},
	}
	for _, tt := range comes {
		if got := m.Come(tt.from, tt.to, tt.task); got != tt.want {
			t.Errorf("%q, some time after %q, while %q: %q, want %q", tt.to, tt.from, tt.task, got, tt.want)
		}
	}
	if book.Machine(uriB) != nil {
		t.Error("an extension without states has a machine")
	}
}
