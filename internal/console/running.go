package console

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Running is the gateway as a whole, and the configuration that it runs with.
type Running interface {
	// Status says how it stands.
	Status(ctx context.Context) Status
	// Health is what the process knows of itself, but for the admin listener.
	Health(ctx context.Context) Health
	// Cluster are the gateways that share the state.
	Cluster(ctx context.Context) (Cluster, error)
	// Config is the configuration in force, without secrets.
	Config() (jsontext.Value, error)
	// Reload reads the configuration's file anew. Where that cannot be served, all stays as
	// it is, and the error is a ConfigInvalid.
	Reload(ctx context.Context) error
}

// ErrNoFile is the error of Running.Reload where there is no file to read.
var ErrNoFile = errors.New("this gateway runs without a configuration file")

// ConfigInvalid says what is wrong with a configuration that was to be loaded.
type ConfigInvalid struct{ Err error }

// Error implements error.
func (e ConfigInvalid) Error() string { return e.Err.Error() }

// Status is the answer of GET /api/v1/status.
type Status struct {
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	Uptime  int64     `json:"uptime" doc:"seconds"`
	Agents  int       `json:"agents" doc:"how many the configuration in force has"`
	Ready   bool      `json:"ready" doc:"traffic should come here, as /readyz says"`
	Why     string    `json:"why,omitzero" doc:"why it should not"`
	Checks  []Check   `json:"checks" doc:"as /readyz?verbose"`
	Config  Loaded    `json:"config"`
}

// Check is one thing that can be wrong with a gateway.
type Check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Why  string `json:"why,omitzero"`
}

// Loaded says which configuration is in force, and what became of the latest reload.
type Loaded struct {
	Digest   string    `json:"digest" doc:"of the file and of those that it names"`
	Reloaded time.Time `json:"reloaded,omitzero" doc:"when somebody, or a change of the file, last asked for a reload"`
	Failure  string    `json:"failure,omitzero" doc:"why that reload left the configuration as it was"`
}

// runningOperations are those about the gateway as a whole.
var runningOperations = []operation{
	{
		method: http.MethodGet, path: "/api/v1/status", id: "status", tag: "gateway", role: Viewer,
		summary: "How the gateway stands", out: reflect.TypeFor[Status](), answer: (*Console).status,
	},
	{
		method: http.MethodGet, path: "/api/v1/config", id: "get-config", tag: "gateway", role: Operator,
		summary: "The configuration in force: with its defaults and limits, without its secrets",
		out:     reflect.TypeFor[jsontext.Value](), answer: (*Console).runningConfig,
	},
	{
		method: http.MethodPost, path: "/api/v1/config/reload", id: "reload-config", tag: "gateway", role: Operator, writes: true,
		summary: "Read the configuration's file anew", out: reflect.TypeFor[Loaded](),
		errors: []string{codeInvalidConfig, codeNoFile}, answer: (*Console).reloadConfig,
	},
}

func (s *Console) status(c *call) (any, error) { return s.Running.Status(c.Context()), nil }

func (s *Console) runningConfig(*call) (any, error) { return s.Running.Config() }

func (s *Console) reloadConfig(c *call) (any, error) {
	err := s.change(c, "config.reload", map[string]string{}, nil, func(ctx context.Context) (bool, error) {
		return true, s.Running.Reload(ctx)
	})
	var invalid ConfigInvalid
	switch {
	case errors.Is(err, ErrNoFile):
		return nil, refuse(codeNoFile, ErrNoFile.Error())
	case errors.As(err, &invalid):
		return nil, refuse(codeInvalidConfig, invalid.Error())
	case err != nil:
		return nil, err
	}
	return s.Running.Status(c.Context()).Config, nil
}
