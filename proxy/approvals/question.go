package approvals

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Question is what has become of asking an agent about a call.
type Question struct {
	Agent  string
	Turns  []Turn  // the latest, in their order; none as long as no gateway has begun to ask
	Answer *Answer // nil until there is one
}

// Turn is that a gateway asks an agent. It is inserted once, so that of several gateways one asks; the next
// turn is taken where the gateway of the last one has ended before it had an answer.
type Turn struct {
	N     int       `json:"-"`
	At    time.Time `json:"at"`
	Until time.Time `json:"until"`         // which the gateway puts off as long as it waits for the answer
	Sends int       `json:"sends"`         // turns until now in which the message may have been sent
	Task  string    `json:"task,omitzero"` // of the agent's, which works on the answer

	Instance string `json:"instance,omitzero"` // of the agent, that has the task
}

// Over reports whether the gateway whose turn it is has ended.
func (t *Turn) Over() bool { return time.Now().After(t.Until) }

// Decisions of agents.
const (
	Approve = "approve"
	Reject  = "reject"
	Abstain = "abstain"
)

// Answer is what an agent has said about a call, or that it has said nothing that counts. It is inserted once.
type Answer struct {
	Decision  string    `json:"decision"`        // approve, reject or abstain
	Reason    string    `json:"reason,omitzero"` // the agent's
	Why       string    `json:"why,omitzero"`    // the gateway's, where nothing that the agent has said counts
	Decides   bool      `json:"decides"`         // its rule counts the decision; else it is advice
	Interface string    `json:"interface,omitzero"`
	At        time.Time `json:"at"`
}

// Reply is what an agent has answered to a question.
type Reply struct {
	Interface string  // that has answered, as far as its URL may be told of
	Instance  string  // of the agent
	Task      string  // that the agent has made of the question; "" for none
	Answer    *Answer // nil while the agent works on it
}

// ErrFailed is wrapped by errors of agents that fail at a question. An agent that cannot be reached has not.
var ErrFailed = errors.New("the agent fails")

// mostTurns is more than there are of a question: the one before is forgotten when another is taken.
const mostTurns = 4

// hear fills in what has become of asking agents.
func (s *Store) hear(ctx context.Context, st *Status) error {
	asked := st.Asked()
	if asked == nil {
		return nil
	}
	begin := st.ID + "/"
	turns, err := s.values.List(ctx, spaceTurns, begin, len(asked)*mostTurns)
	if err != nil {
		return err
	}
	answers, err := s.values.List(ctx, spaceAnswers, begin, len(asked))
	if err != nil {
		return err
	}
	for _, agent := range asked {
		q := Question{Agent: agent}
		err := each(turns, begin+agent+"/", func(rest string, data []byte) error {
			var t Turn
			if err := json.Unmarshal(data, &t); err != nil {
				return err
			}
			t.N, _ = strconv.Atoi(rest)
			q.Turns = append(q.Turns, t)
			return nil
		})
		if err == nil {
			err = each(answers, begin+agent, func(rest string, data []byte) error {
				if rest != "" { // another agent, whose id begins with this one's
					return nil
				}
				q.Answer = new(Answer)
				return json.Unmarshal(data, q.Answer)
			})
		}
		if err != nil {
			return fmt.Errorf("read what was asked: %w", err)
		}
		slices.SortFunc(q.Turns, func(a, b Turn) int { return a.N - b.N })
		st.Questions = append(st.Questions, q)
	}
	return nil
}

// each hands over the values whose keys begin so, with the rest of their keys.
func each(list []state.Value, begin string, take func(rest string, data []byte) error) error {
	for _, v := range list {
		if rest, ok := strings.CutPrefix(v.Key, begin); ok {
			if err := take(rest, v.Data); err != nil {
				return err
			}
		}
	}
	return nil
}

// life is how long is kept what belongs to a call: as long as the call itself.
func (s *Store) life(c *Call) time.Duration {
	return time.Until(c.Expires) + max(s.Config().Keep.Std(), s.kept)
}

// TakeTurn has this process ask an agent next, unless another one does: false. before is the turn before it, nil
// for none.
func (s *Store) TakeTurn(ctx context.Context, c *Call, agent string, t, before *Turn) (bool, error) {
	first, err := s.add(ctx, spaceTurns, turnKey(c, agent, t), t, s.life(c))
	if err == nil && first && before != nil {
		_ = s.values.Delete(ctx, spaceTurns, turnKey(c, agent, before)) // else it is there beside this one
	}
	return first, err
}

// KeepTurn writes down how a turn goes on.
func (s *Store) KeepTurn(ctx context.Context, c *Call, agent string, t *Turn) error {
	return s.put(ctx, spaceTurns, turnKey(c, agent, t), t, s.life(c))
}

func turnKey(c *Call, agent string, t *Turn) string {
	return c.ID + "/" + agent + "/" + strconv.Itoa(t.N)
}

// Answer writes down what an agent has said, once: false is that there is an answer already.
func (s *Store) Answer(ctx context.Context, c *Call, agent string, a *Answer) (bool, error) {
	first, err := s.add(ctx, spaceAnswers, c.ID+"/"+agent, a, s.life(c))
	s.changed(c.ID)
	return first, err
}
