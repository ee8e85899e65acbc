package failure

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// grpcCodes are the names of google.rpc.Code by their numbers.
var grpcCodes = [...]string{
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
	"ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED",
	"OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
}

const grpcUnknown = 2

// grpcIn is the number of k's code for clients of a version. Those of 0.3 have
// nothing else to go by than the code, and read FAILED_PRECONDITION as "cannot be
// canceled".
func grpcIn(v wire.Version, k *wire.Kind) int {
	name := k.GRPC
	if v == wire.V03 {
		switch k.Reason {
		case wire.PushUnsupported.Reason, wire.Unsupported.Reason, wire.NoExtendedCard.Reason, wire.ExtensionRequired.Reason:
			name = "UNIMPLEMENTED"
		case wire.VersionUnsupported.Reason:
			name = wire.InvalidRequest.GRPC
		}
	}
	if n := slices.Index(grpcCodes[:], name); n > 0 {
		return n
	}
	return grpcUnknown
}

// Bounds of what a status may say. Trailers are header fields, for which clients
// and proxies have limits (64 KiB in the smallest); a longer message is cut, and
// details that do not fit are left out, the ErrorInfo last.
const (
	longestMessage = 4 << 10
	largestStatus  = 16 << 10
)

// SetStatus writes how a gRPC call of version v ended into h: the trailers of a
// response whose header may have gone out. A nil e is OK. Errors have their
// ErrorInfo, and those of the details that are known to this program, in
// grpc-status-details-bin (A2A 1.0 §10.6). 0.3 has code and message only: the Go
// SDK takes a reason that does not go with the code for no reason at all.
func SetStatus(h http.Header, v wire.Version, e *wire.Error) {
	if e == nil {
		h.Set(http.TrailerPrefix+"Grpc-Status", "0")
		return
	}
	text := strings.ToValidUTF8(e.Text(), "\ufffd")
	if len(text) > longestMessage {
		text = strings.ToValidUTF8(text[:longestMessage], "")
	}
	status := &spb.Status{Code: int32(grpcIn(v, e.Kind)), Message: text} //nolint:gosec // codes are 0 to 16
	h.Set(http.TrailerPrefix+"Grpc-Status", strconv.Itoa(int(status.GetCode())))
	h.Set(http.TrailerPrefix+"Grpc-Message", percentEncode(text))
	if v == wire.V03 {
		return
	}
	if b := withDetails(status, e); len(b) > 0 {
		h.Set(http.TrailerPrefix+"Grpc-Status-Details-Bin", base64.RawStdEncoding.EncodeToString(b))
	}
}

// withDetails is the status with as many of the error's details as fit. There is one
// ErrorInfo only: of several the Go SDK takes the last, others the first.
func withDetails(status *spb.Status, e *wire.Error) []byte {
	var best []byte
	info := &errdetails.ErrorInfo{Reason: e.Reason, Domain: "a2a-protocol.org"}
	add := func(m proto.Message) {
		detail, ok := m.(*anypb.Any)
		if !ok {
			var err error
			if detail, err = anypb.New(m); err != nil {
				return
			}
		}
		fits := status.GetDetails()
		status.Details = append(fits, detail)
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(status)
		if err != nil || len(b) > largestStatus {
			status.Details = fits
			return
		}
		best = b
	}
	if len(e.Meta) > 0 {
		info.Metadata = make(map[string]string, len(e.Meta))
	}
	for name, value := range e.Meta {
		info.Metadata[strings.ToValidUTF8(name, "\ufffd")] = strings.ToValidUTF8(value, "\ufffd")
	}
	if add(info); best == nil {
		info.Metadata = nil
		add(info)
	}
	if retry := retryInfo(e); retry != nil {
		add(retry)
	}
	for _, detail := range e.Details {
		known := new(anypb.Any)
		err := protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(detail, known)
		if err == nil && !known.MessageIs(info) {
			add(known)
		}
	}
	return best
}

// percentEncode writes a grpc-message: printable ASCII but for the percent sign.
func percentEncode(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// percentDecode is lenient, as gRPC asks for: what is no escape stays.
//
// gRPC over HTTP/2, Responses: Status-Message is percent-encoded UTF-8.
func percentDecode(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return strings.ToValidUTF8(b.String(), "\ufffd")
}

// ReadStatus reads how an agent ended a gRPC call; nil is OK. A call that was
// refused at once has its status in the header, any other in the trailer. The kind
// is the one that the ErrorInfo names, else the one that the code stands for most
// often; message, metadata and details are the agent's. An answer without status
// is BadAgentResponse.
func ReadStatus(header, trailer http.Header) *wire.Error {
	from := trailer
	if from.Get("Grpc-Status") == "" {
		from = header
	}
	word := from.Get("Grpc-Status")
	code, err := strconv.ParseUint(word, 10, 16)
	switch {
	case word == "":
		return (&wire.Error{Kind: wire.BadAgentResponse}).Because(errors.New("read gRPC status: there is none"))
	case err != nil:
		return (&wire.Error{Kind: wire.BadAgentResponse}).Because(fmt.Errorf("read gRPC status: %w", err))
	case code == 0:
		return nil
	}
	if code >= uint64(len(grpcCodes)) {
		code = grpcUnknown
	}
	e := &wire.Error{Kind: kindOfGRPC(grpcCodes[code]), Message: percentDecode(from.Get("Grpc-Message"))}
	readDetails(e, from.Get("Grpc-Status-Details-Bin"))
	heedRetry(e)
	return e
}

// readDetails takes over what grpc-status-details-bin says. One that cannot be read
// says nothing: code and message stand without it.
func readDetails(e *wire.Error, bin string) {
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(bin, "="))
	status := new(spb.Status)
	if err != nil || proto.Unmarshal(raw, status) != nil {
		return
	}
	settled := false
	for _, detail := range status.GetDetails() {
		info := new(errdetails.ErrorInfo)
		if detail.UnmarshalTo(info) == nil && !settled {
			if kind := kindOfReason(info.GetReason()); kind != nil {
				e.Kind, e.Meta, settled = kind, info.GetMetadata(), true
				continue
			}
		}
		if doc, err := protojson.Marshal(detail); err == nil {
			value := jsontext.Value(doc) // protojson puts spaces in, or not, by build
			_ = value.Compact()          // it has just been written
			e.Details = append(e.Details, value)
		}
	}
}
