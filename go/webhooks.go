package tapline

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// WebhookTolerance is the maximum age of a message.
const WebhookTolerance = 5 * time.Minute

// Verify checks a webhook's signature and age and returns its event. The body is the bytes as
// received, before any JSON parsing. Verify uses the header Service-Signature or, without it, the
// headers of Standard Webhooks: webhook-id, webhook-timestamp and webhook-signature. It returns a
// *WebhookVerificationError if the message is not valid.
func Verify(body []byte, header http.Header, secret string) (*Event, error) {
	return VerifyAt(body, header, secret, time.Now())
}

// VerifyAt is like Verify, but checks the age at the given time, for stored messages.
func VerifyAt(body []byte, header http.Header, secret string, now time.Time) (*Event, error) {
	proof, err := proofIn(header)
	if err != nil {
		return nil, err
	}
	if secret == "" {
		return nil, unproved("The secret is empty: it begins with whsec_.")
	}
	age := now.Sub(time.Unix(proof.timestamp, 0))
	if age > WebhookTolerance || age < -WebhookTolerance {
		return nil, unproved("The signature is too old, or the local clock is wrong.")
	}
	key := []byte(secret)
	if proof.isStandard {
		if key, err = decoded(secret); err != nil {
			return nil, err
		}
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(proof.head))
	mac.Write(body)
	expected, fits := mac.Sum(nil), false
	for _, given := range proof.signatures {
		fits = hmac.Equal(expected, given) || fits
	}
	if !fits {
		return nil, unproved("The signature does not match: wrong secret or altered body.")
	}
	event := new(Event)
	if err := json.Unmarshal(body, event); err != nil {
		return nil, unproved("The body is not an event: " + err.Error())
	}
	return event, nil
}

func unproved(message string) error { return &WebhookVerificationError{message} }

type proof struct {
	timestamp int64
	// The part of the signed text that precedes the body.
	head       string
	signatures [][]byte
	isStandard bool
}

var (
	digest   = regexp.MustCompile(`^[0-9a-f]{64}$`)
	seconds  = regexp.MustCompile(`^[0-9]{1,12}$`)
	standard = regexp.MustCompile(`^v1,[0-9A-Za-z+/]{43}=$`)
)

func proofIn(header http.Header) (*proof, error) {
	// Joins a repeated header, because choosing one of its values could choose the wrong one.
	if own := strings.Join(header.Values("Service-Signature"), ", "); own != "" {
		return ownProof(own)
	}
	id, time := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp")
	signatures := header.Get("Webhook-Signature")
	if id == "" || time == "" || signatures == "" {
		return nil, unproved("The request has neither a Service-Signature nor webhook-... headers" +
			" (id, timestamp, signature).")
	}
	found := &proof{head: id + "." + time + ".", isStandard: true}
	for _, one := range strings.Split(signatures, " ") {
		if standard.MatchString(one) {
			bytes, _ := base64.StdEncoding.DecodeString(one[len("v1,"):])
			found.signatures = append(found.signatures, bytes)
		}
	}
	return found.at(time, "The webhook-signature is not v1,... with a timestamp.")
}

func ownProof(header string) (*proof, error) {
	found, times := &proof{}, []string{}
	for _, part := range strings.Split(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			times = append(times, value)
		case "v1":
			// Only lower case, as the network writes it, so that each signature has one spelling.
			if digest.MatchString(value) {
				bytes, _ := hex.DecodeString(value)
				found.signatures = append(found.signatures, bytes)
			}
		}
	}
	if len(times) != 1 {
		return nil, unproved("The Service-Signature is not t=...,v1=....")
	}
	found.head = times[0] + "."
	return found.at(times[0], "The Service-Signature is not t=...,v1=....")
}

func (p *proof) at(time, otherwise string) (*proof, error) {
	if !seconds.MatchString(time) || len(p.signatures) == 0 {
		return nil, unproved(otherwise)
	}
	p.timestamp, _ = strconv.ParseInt(time, 10, 64)
	return p, nil
}

func decoded(secret string) ([]byte, error) {
	text := strings.TrimRight(strings.TrimPrefix(secret, "whsec_"), "=")
	key, err := base64.RawStdEncoding.DecodeString(text)
	// Anyone could sign with an empty key.
	if err != nil || len(key) == 0 {
		return nil, unproved("The secret is not whsec_ followed by base64.")
	}
	return key, nil
}
