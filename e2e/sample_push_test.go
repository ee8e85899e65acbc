package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// webhook is where an agent is asked to tell of a task's end.
type webhook struct {
	URL, Token     string
	Authentication struct{ Scheme, Credentials string }
}

// notify posts a task's end, a few times if it has to.
func (s *sample) notify(hook *webhook, id string) {
	body := fmt.Sprintf(`{"statusUpdate":{"taskId":%q,"contextId":"of-%s","status":{"state":"TASK_STATE_COMPLETED"}}}`, id, id)
	for range 5 {
		r, err := http.NewRequest(http.MethodPost, hook.URL, strings.NewReader(body))
		if err != nil {
			return
		}
		r.Header = http.Header{
			"Content-Type": {"application/json"}, "X-A2a-Notification-Token": {hook.Token},
			"Authorization": {hook.Authentication.Scheme + " " + hook.Authentication.Credentials},
		}
		if resp, err := http.DefaultClient.Do(r); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode < 300 {
				return
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
}
