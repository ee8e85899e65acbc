package api

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Decode reads a JSON body of at most admin.body into v, whose members are all that it may have. Its errors are
// those of Document, and wrong, which says where the body is not what the operation takes.
func (c *Call) Decode(v any, wrong Code) error {
	doc, err := c.Document()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(doc, v, json.RejectUnknownMembers(true)); err != nil {
		return wrong.Refuse("the body " + fault(err))
	}
	return nil
}

// fault is what is wrong with a document, without any value of it: one may be a credential.
func fault(err error) string {
	var broken *jsontext.SyntacticError
	if errors.As(err, &broken) {
		return fmt.Sprintf("is not valid JSON at byte %d", broken.ByteOffset)
	}
	var odd *json.SemanticError
	switch {
	case !errors.As(err, &odd) || odd.JSONPointer == "":
		return "must be a JSON object"
	case errors.Is(err, json.ErrUnknownName):
		return fmt.Sprintf("has a member that the operation does not take: %s", odd.JSONPointer)
	case odd.JSONKind == 0:
		return fmt.Sprintf("has a value that the operation does not take: %s", odd.JSONPointer)
	}
	return fmt.Sprintf("has %s where the operation takes another type: %s", kinds[odd.JSONKind], odd.JSONPointer)
}

var kinds = map[jsontext.Kind]string{
	'{': "an object", '[': "an array", '"': "a string", '0': "a number", 't': "a boolean", 'f': "a boolean", 'n': "null",
}
