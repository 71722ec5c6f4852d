package tapline

import (
	"context"
	"fmt"
)

// Error is a refusal by the service. Branch on Code. New codes may be added: handle unknown ones by
// Type.
type Error struct {
	Message   string
	Status    int
	Type      string
	Code      string
	Param     string
	RequestID string
}

func (e *Error) Error() string {
	if e.Code == "" {
		return e.Message
	}
	return fmt.Sprintf("%s (%s)", e.Message, e.Code)
}

// UsageError reports invalid arguments. Nothing was sent.
type UsageError struct{ Message string }

func (e *UsageError) Error() string { return e.Message }

// ConnectionError reports that a call got no response. A call that moves money returns an
// OutcomeUnknownError instead.
type ConnectionError struct{ Cause error }

func (e *ConnectionError) Error() string { return fmt.Sprintf("No response: %v.", e.Cause) }

// Unwrap returns the error of the connection.
func (e *ConnectionError) Unwrap() error { return e.Cause }

// OutcomeUnknownError reports that the result of a call is unknown: the money may have moved or
// not. Call Resolve, or repeat the call with the same key. Never repeat it with another key.
type OutcomeUnknownError struct {
	IdempotencyKey string
	// Cause is the error of the last attempt. It is not unwrapped, because the refusal of a later
	// attempt does not mean that the call was refused.
	Cause error

	client *Client
	sent   Call
}

func (e *OutcomeUnknownError) Error() string {
	return fmt.Sprintf("%v The result is unknown: call Resolve, or repeat the same call with the"+
		" same IdempotencyKey. Never repeat it with another key.", e.Cause)
}

// Resolve finds out the result of the call. If it succeeded, Resolve reads the object in its
// current state into the value, such as a *PaymentIntent. If the service refused the call, Resolve
// returns that refusal; while the result is unknown, it returns an *OutcomeUnknownError. It never
// moves money a second time.
func (e *OutcomeUnknownError) Resolve(ctx context.Context, into any) error {
	return e.client.resolve(ctx, e, into)
}

// WebhookVerificationError reports that a message is not from the service, or is too old. Respond
// with 400 and do nothing.
type WebhookVerificationError struct{ Message string }

func (e *WebhookVerificationError) Error() string { return e.Message }
