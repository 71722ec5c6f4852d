package tapline

import (
	"context"
	"fmt"
)

// Error is a refusal: branch on Code; handle codes that you do not know by Type.
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

// UsageError says that the call could not have worked. Nothing was sent.
type UsageError struct{ Message string }

func (e *UsageError) Error() string { return e.Message }

// ConnectionError says that no answer came to a call that moves no money.
type ConnectionError struct{ Cause error }

func (e *ConnectionError) Error() string { return fmt.Sprintf("No answer: %v.", e.Cause) }

// Unwrap gives what broke.
func (e *ConnectionError) Unwrap() error { return e.Cause }

// OutcomeUnknownError says that money may have moved or not. Ask with Resolve; never send the call
// with another key.
type OutcomeUnknownError struct {
	IdempotencyKey string
	// Cause is the last thing that happened. It is not unwrapped: a refusal of a later try is none
	// of the call.
	Cause error

	client *Client
	sent   Call
}

func (e *OutcomeUnknownError) Error() string {
	return fmt.Sprintf("%v The outcome is not known: ask with Resolve, or send the same call with"+
		" the same IdempotencyKey again. Never send it with another key.", e.Cause)
}

// Resolve asks what became of the call, and reads the object into the value that a success would
// have given, such as a *PaymentIntent. It returns the stored refusal where the call was refused,
// and an *OutcomeUnknownError while nobody knows. It sends nothing that could move money anew.
func (e *OutcomeUnknownError) Resolve(ctx context.Context, into any) error {
	return e.client.resolve(ctx, e, into)
}

// WebhookVerificationError says that the message is not from the service, or too old. Answer 400
// and do nothing.
type WebhookVerificationError struct{ Message string }

func (e *WebhookVerificationError) Error() string { return e.Message }
