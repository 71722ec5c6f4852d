// Package tapline is the client of a Tapline payment network, with the standard library alone.
//
//	client, err := tapline.New(tapline.Options{}) // TAPLINE_API_KEY and TAPLINE_BASE_URL
//	intent, err := client.PaymentIntents.Create(ctx, tapline.CreatePaymentIntentBody{
//		Amount: 2_500_000, Terminal: "tml_...", OrderID: "A-1",
//	})
//
// Every POST carries an Idempotency-Key, the same in every try of a call. A call whose outcome is
// not known returns an *OutcomeUnknownError: ask with its Resolve, or send the same call with the
// same key again. Never send it with another key.
package tapline

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"
)

// Version of this package.
const Version = "0.1.0"

const (
	sandbox           = "http://127.0.0.1:4242/api"
	defaultTimeout    = 70 * time.Second
	defaultMaxRetries = 3
)

// NoRetries is the value of Options.MaxRetries that sends each call once.
const NoRetries = -1

// Options of a client. The zero value takes key and address from the environment.
type Options struct {
	// APIKey is a secret key: tlsk_test_... or tlsk_live_.... Default: TAPLINE_API_KEY.
	APIKey string
	// BaseURL ends with /api. Default: TAPLINE_BASE_URL, or the sandbox on this machine.
	BaseURL string
	// Timeout of one try. Default: 70 s.
	Timeout time.Duration
	// MaxRetries after the first try. Default: 3; NoRetries for none.
	MaxRetries int
	// Transport of the requests. Default: a copy of http.DefaultTransport.
	Transport http.RoundTripper
}

// Client of one account and mode. It may be used by several goroutines.
type Client struct {
	PaymentIntents *PaymentIntents
	Payments       *Payments
	Refunds        *Refunds
	Terminals      *Terminals
	Events         *Events

	apiKey     string
	baseURL    string
	timeout    time.Duration
	maxRetries int
	http       *http.Client
}

var secretKey = regexp.MustCompile(`^tlsk_(test|live)_[0-9A-Za-z]+$`)

// https, or plain http on this machine. Before an @ stands a user, and the machine behind it.
var safeForLive = regexp.MustCompile(
	`(?i)^(https:.*|http://(localhost|127(\.\d+){3}|\[::1\])(:\d+)?(/.*)?)$`)

// New makes a client; it sends nothing.
func New(options Options) (*Client, error) {
	key, address := options.APIKey, options.BaseURL
	// An address that the program gives may come from a file: the environment's key stays away.
	if key == "" && address == "" {
		key = os.Getenv("TAPLINE_API_KEY")
	}
	if key == "" {
		return nil, &UsageError{"No secret key: set TAPLINE_API_KEY and TAPLINE_BASE_URL, or give" +
			" Options{APIKey, BaseURL}."}
	}
	found := secretKey.FindStringSubmatch(key)
	if found == nil {
		return nil, &UsageError{"That is not a secret key of the API: it begins with tlsk_test_ or" +
			" tlsk_live_."}
	}
	if address == "" {
		address = os.Getenv("TAPLINE_BASE_URL")
	}
	if found[1] == "live" && address == "" {
		return nil, &UsageError{"A live key needs the BaseURL of its network: https://.../api."}
	}
	if address == "" {
		address = sandbox
	}
	if found[1] == "live" && !safeForLive.MatchString(address) {
		return nil, &UsageError{"A live key is sent over https only, not to " + address + "."}
	}
	return newClient(key, strings.TrimSuffix(strings.TrimRight(address, "/"), "/v1"), options), nil
}

func newClient(key, baseURL string, options Options) *Client {
	client := &Client{apiKey: key, baseURL: baseURL, timeout: options.Timeout}
	if client.timeout == 0 {
		client.timeout = defaultTimeout
	}
	client.maxRetries = options.MaxRetries
	if client.maxRetries == 0 {
		client.maxRetries = defaultMaxRetries
	}
	transport := options.Transport
	if transport == nil {
		transport = http.DefaultTransport.(*http.Transport).Clone()
	}
	client.http = &http.Client{
		Transport: transport,
		// A redirect would carry the key to another address.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	client.PaymentIntents = &PaymentIntents{client}
	client.Payments = &Payments{client}
	client.Refunds = &Refunds{client}
	client.Terminals = &Terminals{client}
	client.Events = &Events{client}
	return client
}
