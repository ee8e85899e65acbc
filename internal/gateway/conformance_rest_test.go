package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
)

// overREST is A2A 1.0 §11.
type overREST struct{ overHTTP }

// routes are the verbs and paths of A2A 1.0 §11.3; what is in braces is taken out
// of the parameters, the rest of them is the body of a POST and else the query.
var routes = map[string][2]string{
	"SendMessage":                      {"POST", "/message:send"},
	"SendStreamingMessage":             {"POST", "/message:stream"},
	"GetTask":                          {"GET", "/tasks/{id}"},
	"ListTasks":                        {"GET", "/tasks"},
	"CancelTask":                       {"POST", "/tasks/{id}:cancel"},
	"SubscribeToTask":                  {"POST", "/tasks/{id}:subscribe"},
	"CreateTaskPushNotificationConfig": {"POST", "/tasks/{taskId}/pushNotificationConfigs"},
	"GetTaskPushNotificationConfig":    {"GET", "/tasks/{taskId}/pushNotificationConfigs/{id}"},
	"ListTaskPushNotificationConfigs":  {"GET", "/tasks/{taskId}/pushNotificationConfigs"},
	"DeleteTaskPushNotificationConfig": {"DELETE", "/tasks/{taskId}/pushNotificationConfigs/{id}"},
	"GetExtendedAgentCard":             {"GET", "/extendedAgentCard"},
}

func (o *overREST) send(ctx context.Context, method, accept string, params object) (*http.Response, error) {
	route, ok := routes[method]
	if !ok {
		return nil, fmt.Errorf("no route of %s", method)
	}
	path, rest, query := route[1], object{}, url.Values{}
	for name, v := range params {
		if slot := "{" + name + "}"; strings.Contains(path, slot) {
			path = strings.Replace(path, slot, url.PathEscape(fmt.Sprint(v)), 1)
			continue
		}
		rest[name] = v
		query.Set(name, fmt.Sprint(v))
	}
	if o.tenant != "" {
		path = "/" + o.tenant + path
	}
	if route[0] == http.MethodPost {
		return o.do(ctx, route[0], o.base+path, accept, rest)
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return o.do(ctx, route[0], o.base+path, accept, nil)
}

// read takes an error apart (A2A 1.0 §11.6); anything else is a result.
func (o *overREST) read(doc any) (any, *refusal, error) {
	failure, ok := at(doc, "error").(object)
	if !ok {
		return doc, nil, nil
	}
	code, _ := at(failure, "code").(float64)
	r := &refusal{http: int(code), message: text(failure, "message"), grpc: codes.Unknown}
	_ = r.grpc.UnmarshalJSON([]byte(strconv.Quote(text(failure, "status"))))
	if r.message == "" || r.grpc == codes.Unknown {
		return nil, nil, fmt.Errorf("not an error object: %v", failure)
	}
	return nil, r, r.details(failure["details"])
}

func (o *overREST) call(ctx context.Context, method string, params object) (any, *refusal, error) {
	resp, err := o.send(ctx, method, "application/json", params)
	if err != nil {
		return nil, nil, err
	}
	if resp.StatusCode == http.StatusNoContent || resp.ContentLength == 0 && results[method] == "Empty" {
		return object{}, nil, resp.Body.Close()
	}
	doc, err := readJSON(resp, "application/json")
	if err != nil {
		return nil, nil, err
	}
	result, r, err := o.read(doc)
	if err == nil && (r != nil) != (resp.StatusCode != http.StatusOK) || r != nil && r.http != resp.StatusCode {
		err = fmt.Errorf("HTTP %d with %v", resp.StatusCode, doc)
	}
	return result, r, err
}

func (o *overREST) open(ctx context.Context, method string, params object) (*eventStream, *refusal, error) {
	resp, err := o.send(ctx, method, "text/event-stream", params)
	if err != nil {
		return nil, nil, err
	}
	if isStream(resp) && resp.StatusCode == http.StatusOK {
		return events(resp, o.read), nil, nil
	}
	doc, err := readJSON(resp, "application/json")
	if err != nil {
		return nil, nil, err
	}
	_, r, err := o.read(doc)
	if err == nil && (r == nil || r.http != resp.StatusCode) {
		err = fmt.Errorf("a stream is answered with HTTP %d: %v", resp.StatusCode, doc)
	}
	return nil, r, err
}
