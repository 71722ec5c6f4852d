package tapline

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// CallOption changes one call.
type CallOption func(*Call)

// WithIdempotencyKey sends a key of yours, such as one made of the order.
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

// List iterates over the objects of a list, newest first, and fetches pages as they are needed.
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

// Next goes to the next object, and says whether there is one.
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

// Current is the object that Next went to.
func (l *List[T]) Current() *T { return &l.page[l.at] }

// Err is what ended the iteration early; nil when all objects were seen.
func (l *List[T]) Err() error { return l.err }

// PaymentIntents are wishes to be paid once.
type PaymentIntents struct{ client *Client }

// Create asks a terminal to collect an amount.
func (r *PaymentIntents) Create(ctx context.Context, body CreatePaymentIntentBody, given ...CallOption) (*PaymentIntent, error) {
	return post[PaymentIntent](ctx, r.client, "/payment_intents", body, given)
}

// Retrieve reads one.
func (r *PaymentIntents) Retrieve(ctx context.Context, id string) (*PaymentIntent, error) {
	return retrieve[PaymentIntent](ctx, r.client, "/payment_intents", id)
}

// List iterates over them, newest first.
func (r *PaymentIntents) List(ctx context.Context, query Query) *List[PaymentIntent] {
	return listOf[PaymentIntent](ctx, r.client, "/payment_intents", query)
}

// Cancel ends one that is not paid. One that is on its way cannot be canceled any more.
func (r *PaymentIntents) Cancel(ctx context.Context, id string, given ...CallOption) (*PaymentIntent, error) {
	if id == "" {
		return nil, &UsageError{"The id is missing."}
	}
	path := "/payment_intents/" + url.PathEscape(id) + "/cancel"
	return post[PaymentIntent](ctx, r.client, path, nil, given)
}

// WaitFor reads one each second until it is paid or canceled, or the context ends.
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
			return intent, fmt.Errorf("%s has not come to an end. It may yet: %w", id, ctx.Err())
		}
	}
}

// Payments are settled.
type Payments struct{ client *Client }

// Retrieve reads one.
func (r *Payments) Retrieve(ctx context.Context, id string) (*Payment, error) {
	return retrieve[Payment](ctx, r.client, "/payments", id)
}

// List iterates over them, newest first.
func (r *Payments) List(ctx context.Context, query Query) *List[Payment] {
	return listOf[Payment](ctx, r.client, "/payments", query)
}

// Refunds give money back.
type Refunds struct{ client *Client }

// Create gives money back: all that is left of the payment, or an amount.
func (r *Refunds) Create(ctx context.Context, body CreateRefundBody, given ...CallOption) (*Refund, error) {
	return post[Refund](ctx, r.client, "/refunds", body, given)
}

// Retrieve reads one.
func (r *Refunds) Retrieve(ctx context.Context, id string) (*Refund, error) {
	return retrieve[Refund](ctx, r.client, "/refunds", id)
}

// List iterates over them, newest first.
func (r *Refunds) List(ctx context.Context, query Query) *List[Refund] {
	return listOf[Refund](ctx, r.client, "/refunds", query)
}

// Terminals take payments.
type Terminals struct{ client *Client }

// Retrieve reads one.
func (r *Terminals) Retrieve(ctx context.Context, id string) (*Terminal, error) {
	return retrieve[Terminal](ctx, r.client, "/terminals", id)
}

// List iterates over them, newest first.
func (r *Terminals) List(ctx context.Context, query Query) *List[Terminal] {
	return listOf[Terminal](ctx, r.client, "/terminals", query)
}

// Events say what happened.
type Events struct{ client *Client }

// Retrieve reads one.
func (r *Events) Retrieve(ctx context.Context, id string) (*Event, error) {
	return retrieve[Event](ctx, r.client, "/events", id)
}

// List iterates over them, newest first.
func (r *Events) List(ctx context.Context, query Query) *List[Event] {
	return listOf[Event](ctx, r.client, "/events", query)
}
