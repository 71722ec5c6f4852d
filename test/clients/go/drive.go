// Runs the calls that conformance.test.ts sends as lines of JSON, and prints each result as a line.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"tapline"
)

type asked struct {
	Resolve bool     `json:"resolve"`
	Call    string   `json:"call"`
	Key     string   `json:"key"`
	Retries int      `json:"retries"`
	Timeout float64  `json:"timeout"`
	APIKey  string   `json:"api_key"`
	BaseURL string   `json:"base_url"`
	Verify  *message `json:"verify"`
}

type message struct {
	Body    string      `json:"body"`
	Headers [][2]string `json:"headers"`
	Secret  string      `json:"secret"`
}

type came struct {
	Outcome string `json:"outcome"`
	ID      string `json:"id,omitempty"`
	Key     string `json:"key,omitempty"`

	LineItems []tapline.RefundLineItemsItem `json:"line_items,omitempty"`
}

func outcome(id string, err error, unknown **tapline.OutcomeUnknownError) came {
	var refused *tapline.Error
	var lost *tapline.ConnectionError
	var unproved *tapline.WebhookVerificationError
	switch {
	case err == nil:
		return came{Outcome: "ok", ID: id}
	case errors.As(err, unknown):
		return came{Outcome: "unknown", Key: (*unknown).IdempotencyKey}
	case errors.As(err, &lost):
		return came{Outcome: "no_answer"}
	case errors.As(err, &refused), errors.As(err, &unproved):
		return came{Outcome: "refused"}
	}
	panic(err)
}

func newClient(one asked) *tapline.Client {
	retries := one.Retries
	if retries == 0 {
		retries = tapline.NoRetries
	}
	client, err := tapline.New(tapline.Options{
		APIKey: one.APIKey, BaseURL: one.BaseURL, MaxRetries: retries,
		Timeout: time.Duration(one.Timeout * float64(time.Second)),
	})
	if err != nil {
		panic(err)
	}
	return client
}

func refund(one asked) (string, []tapline.RefundLineItemsItem, error) {
	body := tapline.CreateRefundBody{
		Payment: "pay_1",
		LineItems: []tapline.CreateRefundBodyLineItemsItem{
			{Line: 0, Quantity: json.RawMessage(`1`)},
			{Line: 1, Quantity: json.RawMessage(`"0.350"`)},
		},
	}
	made, err := newClient(one).Refunds.Create(context.Background(), body)
	if err != nil {
		return "", nil, err
	}
	return made.ID, made.LineItems, nil
}

func call(one asked) (string, error) {
	client := newClient(one)
	ctx := context.Background()
	switch one.Call {
	case "create":
		body := tapline.CreatePaymentIntentBody{Amount: 2_500_000, Terminal: "tml_1", OrderID: "A-1"}
		intent, err := client.PaymentIntents.Create(ctx, body, tapline.WithIdempotencyKey(one.Key))
		if err != nil {
			return "", err
		}
		return intent.ID, nil
	case "retrieve":
		payment, err := client.Payments.Retrieve(ctx, "pay_1")
		if err != nil {
			return "", err
		}
		return payment.ID, nil
	case "register":
		body := map[string]any{"url": "https://shop.example", "enabled_events": []string{"*"}}
		made := tapline.Call{Method: "POST", Path: "/webhook_endpoints", Body: body}
		return "", client.Request(ctx, made, nil)
	}
	panic(one.Call)
}

func verify(one *message) (string, error) {
	header := http.Header{}
	for _, pair := range one.Headers {
		header.Add(pair[0], pair[1])
	}
	event, err := tapline.Verify([]byte(one.Body), header, one.Secret)
	if err != nil {
		return "", err
	}
	return event.ID, nil
}

func main() {
	var unknown *tapline.OutcomeUnknownError
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var one asked
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			panic(err)
		}
		var said came
		if one.Resolve {
			var intent tapline.PaymentIntent
			err := unknown.Resolve(context.Background(), &intent)
			said = outcome(intent.ID, err, &unknown)
		} else if one.Verify != nil {
			id, err := verify(one.Verify)
			said = outcome(id, err, &unknown)
		} else if one.Call == "refund" {
			id, lines, err := refund(one)
			said = outcome(id, err, &unknown)
			said.LineItems = lines
		} else {
			id, err := call(one)
			said = outcome(id, err, &unknown)
		}
		text, _ := json.Marshal(said)
		fmt.Println(string(text))
	}
}
