package fold

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

type doc = map[string]any

// events draws the events of a stream, of few words so that they meet.
func events(t *rapid.T) []doc {
	n := rapid.IntRange(1, 12).Draw(t, "events")
	drawn := make([]doc, 0, n)
	for i := range n {
		kind := rapid.IntRange(0, 9).Draw(t, "kind")
		switch {
		case i == 0 && kind < 9, kind == 0:
			drawn = append(drawn, doc{"task": aTask(t)})
		case kind < 4:
			update := doc{"taskId": "T", "contextId": "C", "status": aStatus(t)}
			decorate(t, update, "metadata", func() any { return someMetadata(t) })
			drawn = append(drawn, doc{"statusUpdate": update})
		default:
			update := doc{"taskId": "T", "contextId": "C", "artifact": anArtifact(t, oneOf(t, "a", "b", "c"))}
			decorate(t, update, "append", func() any { return rapid.IntRange(0, 3).Draw(t, "append") > 0 })
			decorate(t, update, "metadata", func() any { return someMetadata(t) })
			drawn = append(drawn, doc{"artifactUpdate": update})
		}
	}
	return drawn
}

func oneOf(t *rapid.T, words ...string) string { return rapid.SampledFrom(words).Draw(t, "word") }

// decorate sets a member, or not.
func decorate(t *rapid.T, d doc, name string, value func() any) {
	if rapid.Bool().Draw(t, name) {
		d[name] = value()
	}
}

func aTask(t *rapid.T) doc {
	d := doc{"id": "T", "contextId": "C", "status": aStatus(t)}
	decorate(t, d, "metadata", func() any { return someMetadata(t) })
	decorate(t, d, "x", func() any { return someMetadata(t) })
	decorate(t, d, "history", func() any {
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any { return aMessage(t) }), 0, 3).Draw(t, "history")
	})
	decorate(t, d, "artifacts", func() any {
		artifacts := []any{}
		for _, id := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), rapid.ID).Draw(t, "artifacts") {
			artifacts = append(artifacts, anArtifact(t, id))
		}
		return artifacts
	})
	return d
}

func aStatus(t *rapid.T) doc {
	d := doc{"state": oneOf(t, "TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_INPUT_REQUIRED", "TASK_STATE_COMPLETED")}
	decorate(t, d, "message", func() any { return aMessage(t) })
	decorate(t, d, "timestamp", func() any { return oneOf(t, "1", "2") })
	return d
}

func aMessage(t *rapid.T) doc {
	d := doc{"parts": []any{aPart(t)}}
	decorate(t, d, "messageId", func() any { return oneOf(t, "m", "n", "o") })
	return d
}

func anArtifact(t *rapid.T, id string) doc {
	d := doc{"artifactId": id, "parts": rapid.SliceOfN(rapid.Custom(aPart), 0, 3).Draw(t, "parts")}
	decorate(t, d, "name", func() any { return oneOf(t, "p", "q") })
	decorate(t, d, "metadata", func() any { return someMetadata(t) })
	return d
}

func aPart(t *rapid.T) any { return doc{"text": oneOf(t, "x", "y\u00e9/")} }

func someMetadata(t *rapid.T) doc {
	d := doc{}
	for _, name := range []string{"k", "l"} {
		decorate(t, d, name, func() any { return oneOf(t, "1", "2") })
	}
	return d
}

func marshal(t interface{ Fatal(...any) }, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func parsed(t interface{ Fatal(...any) }, text []byte) doc {
	var d doc
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(fmt.Errorf("%s: %w", text, err))
	}
	return d
}

// model is the same fold on maps, as the SDKs do it.
func model(task, event doc) doc {
	if shown, ok := event["task"]; ok {
		return shown.(doc)
	}
	if task == nil {
		task = doc{"id": "T", "contextId": "C"}
	}
	if update, ok := event["statusUpdate"].(doc); ok {
		old, _ := task["status"].(doc)
		message, _ := old["message"].(doc)
		history, past := task["history"].([]any)
		id := message["messageId"]
		there := slices.ContainsFunc(history, func(m any) bool { return id != nil && m.(doc)["messageId"] == id })
		if message != nil && !there && (id != nil || past) {
			task["history"] = append(history, message)
		}
		task["status"] = update["status"]
		blend(task, update)
		return task
	}
	update := event["artifactUpdate"].(doc)
	chunk := update["artifact"].(doc)
	artifacts, _ := task["artifacts"].([]any)
	i := slices.IndexFunc(artifacts, func(a any) bool { return a.(doc)["artifactId"] == chunk["artifactId"] })
	switch {
	case i < 0:
		artifacts = append(artifacts, chunk)
	case update["append"] != true:
		artifacts[i] = chunk
	default:
		a := artifacts[i].(doc)
		a["parts"] = append(a["parts"].([]any), chunk["parts"].([]any)...)
		if name, ok := chunk["name"]; ok {
			a["name"] = name
		}
		blend(a, chunk)
	}
	task["artifacts"] = artifacts
	return task
}

// blend merges the metadata of one object into another's.
func blend(into, from doc) {
	metadata, _ := into["metadata"].(doc)
	said, _ := from["metadata"].(doc)
	for name, value := range said {
		if metadata == nil {
			metadata = doc{}
		}
		metadata[name] = value
	}
	if metadata != nil {
		into["metadata"] = metadata
	}
}

// tidy leaves out what means the same as nothing.
func tidy(v any) any {
	switch v := v.(type) {
	case doc:
		for name, value := range v {
			if m, ok := value.(doc); name == "metadata" && ok && len(m) == 0 {
				delete(v, name)
				continue
			}
			tidy(value)
		}
	case []any:
		for _, element := range v {
			tidy(element)
		}
	}
	return v
}

// TestFoldIsTheModel: a snapshot is what plain maps make of the same events.
func TestFoldIsTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		task, want := &Task{}, doc(nil)
		for _, event := range events(t) {
			text := marshal(t, event)
			if err := task.Apply(text); err != nil {
				t.Fatal(err)
			}
			want = model(want, parsed(t, text))
		}
		got, err := task.Snapshot(nil)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(tidy(parsed(t, got)), tidy(want)) {
			t.Fatalf("got  %s\nwant %s", got, marshal(t, want))
		}
	})
}

// TestMissingLeadsThere: whoever has seen the first events and then what is missing of
// the sum of all has the status and the artifacts of the sum.
func TestMissingLeadsThere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		drawn := events(t)
		split := rapid.IntRange(0, len(drawn)).Draw(t, "split")
		seen, all := &Task{}, &Task{}
		for i, event := range drawn {
			text := marshal(t, event)
			if err := all.Apply(text); err != nil {
				t.Fatal(err)
			}
			if i < split {
				_ = seen.Apply(text)
			}
		}
		now, err := all.Snapshot(nil)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "again") { // with other white space and members in another order
			now, err = json.MarshalIndent(parsed(t, now), "", " ")
			if err != nil {
				t.Fatal(err)
			}
		}
		catchUp(t, seen, now)
		if missing, err := seen.Missing(now); err != nil || len(missing) > 0 {
			t.Fatalf("after what was missing: %s, %v", missing, err)
		}
		if missing, err := all.Missing(now); err != nil || all.Known() && len(missing) > 0 {
			t.Fatalf("of itself: %s, %v", missing, err)
		}
	})
}

// catchUp applies what is missing and compares.
func catchUp(t *rapid.T, seen *Task, now []byte) {
	before, _ := seen.Snapshot(nil)
	missing, err := seen.Missing(now)
	if err != nil {
		t.Fatal(err)
	}
	if after, _ := seen.Snapshot(nil); string(before) != string(after) {
		t.Fatalf("Missing made %s of %s", after, before)
	}
	for _, event := range missing {
		if err := seen.Apply(event); err != nil {
			t.Fatalf("%s: %v", event, err)
		}
	}
	then, err := seen.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, want := tidy(parsed(t, then)).(doc), tidy(parsed(t, now)).(doc)
	if !reflect.DeepEqual(got["status"], want["status"]) || !reflect.DeepEqual(byID(got), byID(want)) {
		t.Fatalf("%s\nand %s\ngive %s\nnot  %s", before, missing, then, now)
	}
}

func byID(task doc) doc {
	found := doc{}
	artifacts, _ := task["artifacts"].([]any)
	for _, a := range artifacts {
		found[a.(doc)["artifactId"].(string)] = a
	}
	return found
}
