package tapline

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
)

func (c *Client) resolve(ctx context.Context, unknown *OutcomeUnknownError, into any) error {
	err := c.ask(ctx, unknown, into)
	var still *OutcomeUnknownError
	var refused *Error
	var lost *ConnectionError
	switch {
	case errors.As(err, &still):
		return unknown
	// The service did not answer, so the result of the call is still unknown.
	case errors.As(err, &lost):
		return unknown
	case errors.As(err, &refused) && (refused.Status == 429 || refused.Status >= 500):
		return unknown
	}
	return err
}

// ask looks the key up. An unknown key does not prove a failure, because the request may still
// arrive.
func (c *Client) ask(ctx context.Context, unknown *OutcomeUnknownError, into any) error {
	sent := unknown.sent
	var key IdempotencyKey
	path := "/idempotency_keys/" + url.PathEscape(sent.IdempotencyKey)
	err := c.Request(ctx, Call{Method: http.MethodGet, Path: path}, &key)
	var refused *Error
	if errors.As(err, &refused) && refused.Code == "resource_missing" {
		return c.askByOrder(ctx, unknown, into)
	}
	if err != nil {
		return err
	}
	if key.Status != "completed" {
		return unknown
	}
	if where := placeOf(key); where != "" {
		return c.Request(ctx, Call{Method: http.MethodGet, Path: where}, into)
	}
	// Replays the stored refusal without performing anything.
	return c.Request(ctx, sent, into)
}

func placeOf(key IdempotencyKey) string {
	if key.Resource == nil || key.ResponseStatus != nil && *key.ResponseStatus >= 400 {
		return ""
	}
	kind, _, _ := strings.Cut(*key.Resource, "_")
	switch kind {
	case "pi":
		return "/payment_intents/" + *key.Resource
	case "re":
		return "/refunds/" + *key.Resource
	}
	return ""
}

func (c *Client) askByOrder(ctx context.Context, unknown *OutcomeUnknownError, into any) error {
	body, isIntent := unknown.sent.Body.(CreatePaymentIntentBody)
	if !isIntent || body.OrderID == "" {
		return unknown
	}
	var page struct {
		Data []json.RawMessage `json:"data"`
	}
	query := Query{"order_id": body.OrderID, "limit": "1"}
	call := Call{Method: http.MethodGet, Path: "/payment_intents", Query: query}
	if err := c.Request(ctx, call, &page); err != nil {
		return err
	}
	if len(page.Data) == 0 {
		return unknown
	}
	return json.Unmarshal(page.Data[0], into)
}
