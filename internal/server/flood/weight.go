package flood

// What a frame takes from the allowance, and what brings some of it back. A call that is
// answered takes no more than its answer brings, with a head of the largest size or with a
// body of which the end was not waited for. A call in vain takes more than nothing,
// whichever way it is made vain.
const (
	weightFrame = 1
	weightHead  = 5 // more, for a head of the largest size; a small one's is little
	weightReset = 2 // rapid reset (CVE-2023-44487): a call that is begun and reset costs this beside its head
	weightError = 5 // for a reset because of what only a broken client or an attacker does

	worthAnswer = 6
)

// A frame of data may be followed by so many frames that take nothing, whenever they come:
// a window for the stream, one for the connection, and a ping, by which some clients find
// out how fast the connection is. A client far behind sends many of them at once.
const (
	worthData = 3
	mostData  = 1 << 16
)

// tiny is too small for sent data to be worth it. No event is smaller.
const tiny = 16

// Who writes a body piece by piece sends frames as small as the pieces: encoders that
// write what they have, generators that are asked for more. Such a body is as good as
// another one as long as its frames carry enough on average; what they carry beyond that
// is spare, for others that carry less. A frame that carries nothing is never made good.
const (
	enough      = 2 // bytes; all that is between the values of a JSON document is hardly more
	spareAnswer = 256
	mostSpare   = 16 << 10
)

// kind is what an allowance is spent on.
type kind uint8

const (
	kindHeaders kind = iota
	kindContinuation
	kindData
	kindReset
	kindMadeReset // by the gateway, because of a stream error
	kindPing
	kindSettings
	kindPriority
	kindWindow
	kindOther
	kinds
)

// String is for logs and metrics.
func (k kind) String() string {
	return [kinds]string{
		"headers", "continuation", "data", "reset", "made_reset", "ping", "settings", "priority", "window_update", "other",
	}[k]
}

// received is what a frame of the client's weighs.
func (r *Rules) received(f *frame) (kind, int64) {
	switch f.kind() {
	case typeData:
		if f.data() < enough && f.flags()&flagEndStream == 0 {
			return kindData, weightFrame
		}
		return kindData, 0
	case typeHeaders:
		return kindHeaders, r.head(f)
	case typeContinuation:
		return kindContinuation, r.head(f)
	case typeReset:
		return kindReset, weightReset
	case typePing:
		return kindPing, weightFrame
	case typeSettings:
		return kindSettings, weightFrame
	case typePriority:
		return kindPriority, weightFrame
	case typeWindowUpdate:
		return kindWindow, weightFrame
	}
	return kindOther, weightFrame
}

// head is what a block of fields weighs: what it takes to decode does not end with the
// largest head, at which it is refused.
func (r *Rules) head(f *frame) int64 {
	return weightFrame + weightHead*int64(f.length())/int64(max(1, r.Head))
}

// follows reports whether it is a frame that data is followed by.
func (k kind) follows() bool { return k == kindWindow || k == kindPing }

// madeReset is what a reset of the gateway's weighs.
func madeReset(code uint32) int64 {
	switch code {
	case errProtocol, errFlowControl, errFrameSize, errCompression:
		return weightError
	case errStreamClosed, errRefused: // may happen to anybody whose frames crossed the gateway's
		return weightFrame
	}
	return 0 // it was the gateway's wish
}
