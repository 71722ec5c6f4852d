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
	// The dated version of the API that this package is written for: a key's own could differ.
	apiVersion        = "2026-09-28"
	running           = "idempotency_request_in_progress"
	longestRetryAfter = 60 * time.Second
)

// Query of a list, such as {"status": "succeeded"}.
type Query map[string]string

// Call is any operation of the API by its path below /v1. The resources are made of this.
type Call struct {
	Method string
	Path   string
	// Body as JSON; nil for none.
	Body  any
	Query Query
	// IdempotencyKey of a POST; a random one when empty.
	IdempotencyKey string
	// Keyed says that the service keeps the answer under the key, so that the call may be repeated.
	Keyed bool
}

// Request makes the call and reads the answer into a value, such as a *PaymentIntent.
func (c *Client) Request(ctx context.Context, call Call, into any) error {
	if strings.HasPrefix(call.Path, "/test_helpers") && strings.HasPrefix(c.apiKey, "tlsk_live") {
		return &UsageError{"Test helpers play the customer in test mode: use a tlsk_test_ key."}
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

// failure is what one try came to, when it came to no success.
type failure struct {
	err error
	// The action may have been done.
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

// A refusal of the request itself holds for its earlier tries too.
func (f *failure) holdsForAllTries() bool {
	refused := f.refusal()
	if refused == nil || refused.Type == "" || f.doubtful {
		return false
	}
	return refused.Status == 400 || refused.Status == 404 || refused.Status == 409
}

// delay before the next try; false where another one is not safe, or no use.
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

// sleep says whether the time has passed, and not the caller's time-out.
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

// oneWay is a body that cannot be sent again: net/http repeats by itself what it takes for
// idempotent, and would take a key for that, where the service keeps none.
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
		refused.Message = fmt.Sprintf("The answer (%d) is not from a Tapline API. Check BaseURL:"+
			" it ends with /api.", status)
	}
	// "Nothing was done" is said by this code alone; another fault may have come after the action.
	fault := status >= 500 && refused.Code != "service_unavailable"
	failed := &failure{err: refused, doubtful: keyed && (fault || refused.Code == running)}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds >= 0 {
		failed.saysAfter = true
		failed.retryAfter = time.Duration(seconds) * time.Second
	}
	return failed
}
