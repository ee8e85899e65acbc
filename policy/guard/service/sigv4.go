package service

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"
)

// sign signs a request with Signature Version 4 of AWS: method, path, query, host, Content-Type, every
// X-Amz header, and the body. It sets X-Amz-Date and Authorization.
//
// docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
func (a *AWS) sign(r *http.Request, body []byte, service string, at time.Time) {
	stamp := at.UTC().Format("20060102T150405Z")
	r.Header.Set("X-Amz-Date", stamp)
	if !a.SessionToken.IsZero() {
		r.Header.Set("X-Amz-Security-Token", a.SessionToken.Reveal())
	}
	headers := []string{"host:" + r.URL.Host}
	for name, values := range r.Header {
		if name = strings.ToLower(name); name == "content-type" || strings.HasPrefix(name, "x-amz-") {
			headers = append(headers, name+":"+strings.TrimSpace(strings.Join(values, ",")))
		}
	}
	slices.Sort(headers)
	names := make([]string, len(headers))
	for i, h := range headers {
		names[i], _, _ = strings.Cut(h, ":")
	}
	signed := strings.Join(names, ";")

	segments := strings.Split(r.URL.EscapedPath(), "/")
	for i := range segments {
		segments[i] = escaped(segments[i]) // once more: only S3 takes paths as they are
	}
	canonical := strings.Join([]string{
		r.Method, strings.Join(segments, "/"), strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20"),
		strings.Join(headers, "\n"), "", signed, digest256(body),
	}, "\n")

	scope := strings.Join([]string{stamp[:8], a.Region, service, "aws4_request"}, "/")
	key := []byte("AWS4" + a.SecretAccessKey.Reveal())
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	signature := mac(key, strings.Join([]string{"AWS4-HMAC-SHA256", stamp, scope, digest256([]byte(canonical))}, "\n"))
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+a.AccessKeyID.Reveal()+"/"+scope+
		", SignedHeaders="+signed+", Signature="+hex.EncodeToString(signature))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func digest256(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// escaped is a segment of a path with everything escaped but what RFC 3986 leaves alone. net/url leaves
// more, and a signature is over the escaped form.
func escaped(segment string) string {
	const hexadecimal = "0123456789ABCDEF"
	var b strings.Builder
	for _, c := range []byte(segment) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~", c) >= 0:
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', hexadecimal[c>>4], hexadecimal[c&15]})
		}
	}
	return b.String()
}
