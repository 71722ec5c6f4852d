package tapline

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// CallOption changes a single call.
type CallOption func(*Call)

// WithIdempotencyKey sends your own key instead of a random one, for example one derived from the
// order.
func WithIdempotencyKey(key string) CallOption {
	return func(call *Call) { call.IdempotencyKey = key }
}

func post[T any](ctx context.Context, c *Client, path string, body any, given []CallOption) (*T, error) {
	call := Call{Method: http.MethodPost, Path: path, Body: body, Keyed: true}
	for _, change := range given {
		change(&call)
	}
	into := new(T)
	if err := c.Request(ctx, call, into); err != nil {
		return nil, err
	}
	return into, nil
}

func retrieve[T any](ctx context.Context, c *Client, path, id string) (*T, error) {
	if id == "" {
		return nil, &UsageError{"The id is missing."}
	}
	into := new(T)
	call := Call{Method: http.MethodGet, Path: path + "/" + url.PathEscape(id)}
	if err := c.Request(ctx, call, into); err != nil {
		return nil, err
	}
	return into, nil
}

// List iterates over the objects of a list, newest first, and fetches pages as needed.
//
//	payments := client.Payments.List(ctx, tapline.Query{"status": "succeeded"})
//	for payments.Next() {
//		fmt.Println(payments.Current().ID)
//	}
//	err := payments.Err()
type List[T any] struct {
	ctx    context.Context
	client *Client
	path   string
	query  Query
	page   []T
	at     int
	ended  bool
	err    error
}

func listOf[T any](ctx context.Context, c *Client, path string, query Query) *List[T] {
	own := Query{}
	for name, value := range query {
		own[name] = value
	}
	return &List[T]{ctx: ctx, client: c, path: path, query: own, at: -1}
}

// Next advances to the next object. It returns false if there is none, or after an error.
func (l *List[T]) Next() bool {
	l.at++
	for l.at >= len(l.page) {
		if l.ended || l.err != nil {
			return false
		}
		l.fetch()
	}
	return true
}

func (l *List[T]) fetch() {
	var page struct {
		Data       []T     `json:"data"`
		HasMore    bool    `json:"has_more"`
		NextCursor *string `json:"next_cursor"`
	}
	call := Call{Method: http.MethodGet, Path: l.path, Query: l.query}
	l.err = l.client.Request(l.ctx, call, &page)
	l.page, l.at = page.Data, 0
	l.ended = !page.HasMore || page.NextCursor == nil
	if !l.ended {
		l.query["cursor"] = *page.NextCursor
	}
}

// Current returns the object to which Next has advanced.
func (l *List[T]) Current() *T { return &l.page[l.at] }

// Err returns the error that ended the iteration early; nil if there was none.
func (l *List[T]) Err() error { return l.err }

// PaymentIntents are requests for a payment. Each can be paid once.
type PaymentIntents struct{ client *Client }

// Create asks a terminal to collect an amount.
func (r *PaymentIntents) Create(ctx context.Context, body CreatePaymentIntentBody, given ...CallOption) (*PaymentIntent, error) {
	return post[PaymentIntent](ctx, r.client, "/payment_intents", body, given)
}

// Retrieve reads an intent by its id.
func (r *PaymentIntents) Retrieve(ctx context.Context, id string) (*PaymentIntent, error) {
	return retrieve[PaymentIntent](ctx, r.client, "/payment_intents", id)
}

// List iterates over the intents, newest first.
func (r *PaymentIntents) List(ctx context.Context, query Query) *List[PaymentIntent] {
	return listOf[PaymentIntent](ctx, r.client, "/payment_intents", query)
}

// Cancel cancels an unpaid intent. An intent in progress can no longer be canceled.
func (r *PaymentIntents) Cancel(ctx context.Context, id string, given ...CallOption) (*PaymentIntent, error) {
	if id == "" {
		return nil, &UsageError{"The id is missing."}
	}
	path := "/payment_intents/" + url.PathEscape(id) + "/cancel"
	return post[PaymentIntent](ctx, r.client, path, nil, given)
}

// WaitFor reads the intent once a second until it is paid or canceled, and returns it. If the
// context ends first, it also returns an error.
func (r *PaymentIntents) WaitFor(ctx context.Context, id string) (*PaymentIntent, error) {
	for {
		intent, err := r.Retrieve(ctx, id)
		if err != nil {
			return nil, err
		}
		if intent.Status == "succeeded" || intent.Status == "canceled" {
			return intent, nil
		}
		if !sleep(ctx, time.Second) {
			return intent, fmt.Errorf("%s has not reached a final state, but still may: %w", id, ctx.Err())
		}
	}
}

// Payments are settled sales.
type Payments struct{ client *Client }

// Retrieve reads a payment by its id.
func (r *Payments) Retrieve(ctx context.Context, id string) (*Payment, error) {
	return retrieve[Payment](ctx, r.client, "/payments", id)
}

// List iterates over the payments, newest first.
func (r *Payments) List(ctx context.Context, query Query) *List[Payment] {
	return listOf[Payment](ctx, r.client, "/payments", query)
}

// Refunds return money to payers.
type Refunds struct{ client *Client }

// Create refunds the rest of a payment, or an amount.
func (r *Refunds) Create(ctx context.Context, body CreateRefundBody, given ...CallOption) (*Refund, error) {
	return post[Refund](ctx, r.client, "/refunds", body, given)
}

// Retrieve reads a refund by its id.
func (r *Refunds) Retrieve(ctx context.Context, id string) (*Refund, error) {
	return retrieve[Refund](ctx, r.client, "/refunds", id)
}

// List iterates over the refunds, newest first.
func (r *Refunds) List(ctx context.Context, query Query) *List[Refund] {
	return listOf[Refund](ctx, r.client, "/refunds", query)
}

// Terminals collect payments.
type Terminals struct{ client *Client }

// Retrieve reads a terminal by its id.
func (r *Terminals) Retrieve(ctx context.Context, id string) (*Terminal, error) {
	return retrieve[Terminal](ctx, r.client, "/terminals", id)
}

// List iterates over the terminals, newest first.
func (r *Terminals) List(ctx context.Context, query Query) *List[Terminal] {
	return listOf[Terminal](ctx, r.client, "/terminals", query)
}

// Shifts are the reports of shifts that have ended.
type Shifts struct{ client *Client }

// Retrieve reads a report by the id of its shift.
func (r *Shifts) Retrieve(ctx context.Context, id string) (*ShiftReport, error) {
	return retrieve[ShiftReport](ctx, r.client, "/shifts", id)
}

// List iterates over the reports, newest first.
func (r *Shifts) List(ctx context.Context, query Query) *List[ShiftReport] {
	return listOf[ShiftReport](ctx, r.client, "/shifts", query)
}

// Events report changes of objects. Webhooks deliver the same events.
type Events struct{ client *Client }

// Retrieve reads an event by its id.
func (r *Events) Retrieve(ctx context.Context, id string) (*Event, error) {
	return retrieve[Event](ctx, r.client, "/events", id)
}

// List iterates over the events, newest first.
func (r *Events) List(ctx context.Context, query Query) *List[Event] {
	return listOf[Event](ctx, r.client, "/events", query)
}
