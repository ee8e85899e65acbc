package process

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// Running is the gateway as a whole, and the configuration that it runs with.
type Running interface {
	// Status says how it stands.
	Status(ctx context.Context) Status
	// Config is the configuration in force, without secrets.
	Config() (jsontext.Value, error)
	// Reload reads the configuration's file anew. Where that cannot be served, all stays as
	// it is, and the error is a ConfigInvalid.
	Reload(ctx context.Context) error
}

// Codes of reloads.
var (
	invalidConfig = api.Code{Name: "INVALID_CONFIG", Status: http.StatusBadRequest}
	noFile        = api.Code{Name: "NO_CONFIG_FILE", Status: http.StatusConflict}
)

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
	Uptime  int64     `json:"uptime" doc:"time since the start in seconds"`
	Agents  int       `json:"agents" doc:"number of agents in the configuration in force"`
	Ready   bool      `json:"ready" doc:"the gateway is ready for traffic, as in /readyz"`
	Why     string    `json:"why,omitzero" doc:"why the gateway is not ready"`
	Checks  []Check   `json:"checks" doc:"checks of /readyz?verbose"`
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
	Digest   string    `json:"digest" doc:"digest of the configuration file and of the files that it names"`
	Reloaded time.Time `json:"reloaded,omitzero" doc:"when an operator, or a change of the file, last requested a reload"`
	Failure  string    `json:"failure,omitzero" doc:"why that reload failed and the configuration stayed unchanged"`
}

// screen answers about the gateway as a whole.
type screen struct{ gateway Running }

// Screen is that of the gateway as a whole.
func Screen(gateway Running) api.Screen {
	s := &screen{gateway}
	return api.Screen{
		Title: "Config and health", Page: "/gateway", Link: true,
		Shows: "failing checks; the latest reload and its error; reload; state store, audit log and sinks; replicas, and differences of their versions, configurations or keys; load limits; TLS certificates; the configuration in force, without secrets",
		Operations: []api.Operation{
			{
				Method: http.MethodGet, Path: "/api/v1/status", ID: "status", Tag: "gateway", Role: api.Viewer,
				Summary: "Show the state of the gateway", Out: reflect.TypeFor[Status](), Answer: s.status,
			},
			{
				Method: http.MethodGet, Path: "/api/v1/config", ID: "get-config", Tag: "gateway", Role: api.Operator,
				Summary: "Get the configuration in force, with defaults and limits, without secrets",
				Out:     reflect.TypeFor[jsontext.Value](), Answer: s.runningConfig,
			},
			{
				Method: http.MethodPost, Path: "/api/v1/config/reload", ID: "reload-config", Tag: "gateway", Role: api.Operator, Writes: true,
				Summary: "Reload the configuration file", Out: reflect.TypeFor[Loaded](),
				Errors: []api.Code{invalidConfig, noFile}, Answer: s.reloadConfig,
			},
		},
	}
}

func (s *screen) status(c *api.Call) (any, error) { return s.gateway.Status(c.Context()), nil }

func (s *screen) runningConfig(*api.Call) (any, error) { return s.gateway.Config() }

func (s *screen) reloadConfig(c *api.Call) (any, error) {
	err := c.Change("config.reload", map[string]string{}, nil, func(ctx context.Context) (bool, error) {
		return true, s.gateway.Reload(ctx)
	})
	var invalid ConfigInvalid
	switch {
	case errors.Is(err, ErrNoFile):
		return nil, noFile.Refuse(ErrNoFile.Error())
	case errors.As(err, &invalid):
		return nil, invalidConfig.Refuse(invalid.Error())
	case err != nil:
		return nil, err
	}
	return s.gateway.Status(c.Context()).Config, nil
}
