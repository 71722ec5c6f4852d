package tapline

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	// The dated API version of this package. It is sent, because a key's own version may differ.
	apiVersion        = "2026-09-28"
	running           = "idempotency_request_in_progress"
	longestRetryAfter = 60 * time.Second
)

// Query holds the query parameters of a list, such as {"status": "succeeded"}.
type Query map[string]string

// Call is a request to any operation of the API, by its path below /v1. All resources use it.
type Call struct {
	Method string
	Path   string
	// Body is sent as JSON; nil sends no body.
	Body  any
	Query Query
	// IdempotencyKey is the key of a POST. If it is empty, a random key is used.
	IdempotencyKey string
	// Keyed is true if the service stores the response under the key, which makes retries safe.
	Keyed bool
}

// Request makes a call and reads the response into a value, such as a *PaymentIntent.
func (c *Client) Request(ctx context.Context, call Call, into any) error {
	if strings.HasPrefix(call.Path, "/test_helpers") && strings.HasPrefix(c.apiKey, "tlsk_live") {
		return &UsageError{"Test helpers simulate the customer in test mode only: use a" +
			" tlsk_test_... key."}
	}
	if call.Method == http.MethodPost && call.IdempotencyKey == "" {
		random := make([]byte, 16)
		if _, err := crand.Read(random); err != nil {
			return err
		}
		call.IdempotencyKey = hex.EncodeToString(random)
	}
	var body []byte
	if call.Body != nil {
		var err error
		if body, err = json.Marshal(call.Body); err != nil {
			return &UsageError{err.Error()}
		}
	}
	return c.send(ctx, call, body, into)
}

func (c *Client) send(ctx context.Context, call Call, body []byte, into any) error {
	retries, doubtful := c.maxRetries, false
	deadline := time.Now().Add(c.timeout)
	for attempt := 0; ; attempt++ {
		failed := c.try(ctx, call, body, into)
		if failed == nil {
			return nil
		}
		doubtful = doubtful || failed.doubtful
		waits := failed.code() == running && time.Now().Before(deadline)
		if !waits {
			retries--
		}
		delay, safe := failed.delay(attempt, call)
		if !safe || !waits && retries < 0 || !sleep(ctx, delay) {
			if doubtful && !failed.holdsForAllTries() {
				return &OutcomeUnknownError{call.IdempotencyKey, failed.err, c, call}
			}
			return failed.err
		}
	}
}

// failure is the result of an attempt that did not succeed.
type failure struct {
	err error
	// True if the service may have performed the action.
	doubtful   bool
	retryAfter time.Duration
	saysAfter  bool
}

func (f *failure) refusal() *Error {
	var refused *Error
	errors.As(f.err, &refused)
	return refused
}

func (f *failure) code() string {
	if refused := f.refusal(); refused != nil {
		return refused.Code
	}
	return ""
}

// holdsForAllTries is true if the service refused the request itself. Then no earlier attempt
// succeeded either, because its stored response would have been replayed.
func (f *failure) holdsForAllTries() bool {
	refused := f.refusal()
	if refused == nil || refused.Type == "" || f.doubtful {
		return false
	}
	return refused.Status == 400 || refused.Status == 404 || refused.Status == 409
}

// delay returns the time to wait before the next attempt. It returns false if another attempt is
// unsafe or useless.
func (f *failure) delay(attempt int, call Call) (time.Duration, bool) {
	refused := f.refusal()
	lost := refused == nil || refused.Status == 500 || refused.Status == 503
	turnedAway := refused != nil &&
		(refused.Status == 429 || refused.Code == "service_unavailable" || refused.Code == running)
	repeatable := call.Keyed || call.Method == http.MethodGet || call.Method == http.MethodPatch
	if !turnedAway && !(lost && repeatable) {
		return 0, false
	}
	if f.saysAfter {
		return f.retryAfter, f.retryAfter <= longestRetryAfter
	}
	most := 8.0
	if f.code() == running {
		most = 1
	}
	longest := math.Min(0.15*math.Pow(2, float64(attempt)), most)
	return time.Duration(longest * (0.5 + rand.Float64()/2) * float64(time.Second)), true
}

// sleep waits. It returns false if the caller's context ended first.
func sleep(ctx context.Context, delay time.Duration) bool {
	if ctx.Err() != nil {
		return false
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// oneWay is a body that net/http cannot send again. On its own, net/http retries a request with an
// Idempotency-Key, which is unsafe for operations whose response the service does not store.
type oneWay struct{ io.Reader }

func (oneWay) Close() error { return nil }

func (c *Client) try(ctx context.Context, call Call, body []byte, into any) *failure {
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	request, err := c.newRequest(limited, call, body)
	if err != nil {
		return &failure{err: &UsageError{err.Error()}}
	}
	lost := func(cause error) *failure {
		return &failure{err: &ConnectionError{cause}, doubtful: call.Keyed}
	}
	response, err := c.http.Do(request)
	if err != nil {
		return lost(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return lost(err)
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return refusedBy(response, answer, call.Keyed)
	}
	if into == nil {
		into = new(json.RawMessage)
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return lost(err)
	}
	return nil
}

func (c *Client) newRequest(ctx context.Context, call Call, body []byte) (*http.Request, error) {
	values := url.Values{}
	for name, value := range call.Query {
		values.Set(name, value)
	}
	address := c.baseURL + "/v1" + call.Path
	if len(values) > 0 {
		address += "?" + values.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, call.Method, address, nil)
	if err != nil {
		return nil, err
	}
	if call.Method != http.MethodGet {
		request.Body = oneWay{bytes.NewReader(body)}
		request.ContentLength = int64(len(body))
	}
	request.Header.Set("Authorization", "Bearer "+c.apiKey)
	request.Header.Set("User-Agent", "tapline-go/"+Version)
	request.Header.Set("Service-Version", apiVersion)
	if call.IdempotencyKey != "" {
		request.Header.Set("Idempotency-Key", call.IdempotencyKey)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return request, nil
}

func refusedBy(response *http.Response, answer []byte, keyed bool) *failure {
	status := response.StatusCode
	refused := &Error{Status: status}
	var parsed struct {
		Error struct {
			Type      string `json:"type"`
			Code      string `json:"code"`
			Message   string `json:"message"`
			Param     string `json:"param"`
			RequestID string `json:"request_id"`
		} `json:"error"`
	}
	if json.Unmarshal(answer, &parsed) == nil && parsed.Error.Type != "" {
		one := parsed.Error
		refused.Type, refused.Code, refused.Message = one.Type, one.Code, one.Message
		refused.Param, refused.RequestID = one.Param, one.RequestID
	} else {
		refused.Message = fmt.Sprintf("The response (%d) is not from a Tapline API. Check"+
			" BaseURL: it must end with /api.", status)
	}
	// Only this code guarantees that nothing was done. After any other server error, the action may
	// have been performed.
	fault := status >= 500 && refused.Code != "service_unavailable"
	failed := &failure{err: refused, doubtful: keyed && (fault || refused.Code == running)}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds >= 0 {
		failed.saysAfter = true
		failed.retryAfter = time.Duration(seconds) * time.Second
	}
	return failed
}
