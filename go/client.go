// Package tapline is a client for a Tapline payment network. It needs only the standard library.
//
//	client, err := tapline.New(tapline.Options{}) // TAPLINE_API_KEY and TAPLINE_BASE_URL
//	intent, err := client.PaymentIntents.Create(ctx, tapline.CreatePaymentIntentBody{
//		Amount: 2_500_000, Terminal: "tml_...", OrderID: "A-1",
//	})
//
// Every POST carries an Idempotency-Key, which is the same for all attempts of a call. A call whose
// result is unknown returns an *OutcomeUnknownError: call its Resolve, or repeat the call with the
// same key. Never repeat it with another key.
package tapline

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"
)

// Version is the version of this package.
const Version = "0.1.0"

const (
	sandbox           = "http://127.0.0.1:4242/api"
	defaultTimeout    = 70 * time.Second
	defaultMaxRetries = 3
)

// NoRetries is the value of Options.MaxRetries with which each call is sent only once.
const NoRetries = -1

// Options configure a client. The zero value reads key and URL from the environment.
type Options struct {
	// APIKey is a secret key: tlsk_test_... or tlsk_live_.... Default: TAPLINE_API_KEY.
	APIKey string
	// BaseURL is the URL of the network's API, which ends with /api. Default: TAPLINE_BASE_URL or,
	// without it, the sandbox on this machine. If set, TAPLINE_API_KEY is not used.
	BaseURL string
	// Timeout is the time limit of one attempt. Default: 70 s.
	Timeout time.Duration
	// MaxRetries is the maximum number of attempts after the first. Default: 3; NoRetries for none.
	MaxRetries int
	// Transport sends the requests. Default: a copy of http.DefaultTransport.
	Transport http.RoundTripper
}

// Client calls the API for one account and mode. Several goroutines may use it at the same time.
type Client struct {
	PaymentIntents *PaymentIntents
	Payments       *Payments
	Refunds        *Refunds
	Terminals      *Terminals
	Shifts         *Shifts
	Events         *Events

	apiKey     string
	baseURL    string
	timeout    time.Duration
	maxRetries int
	http       *http.Client
}

var secretKey = regexp.MustCompile(`^tlsk_(test|live)_[0-9A-Za-z]+$`)

// safeForLive matches URLs to which a live key may be sent: https, or http on this machine. Only a
// port or a path may follow the host, because the text before an @ would be a user name.
var safeForLive = regexp.MustCompile(
	`(?i)^(https:.*|http://(localhost|127(\.\d+){3}|\[::1\])(:\d+)?(/.*)?)$`)

// New creates a client. It sends no request. It returns a *UsageError if an option is invalid.
func New(options Options) (*Client, error) {
	key, address := options.APIKey, options.BaseURL
	// Never send the environment's key to a URL that the program passes, because that URL may come
	// from an untrusted file.
	if key == "" && address == "" {
		key = os.Getenv("TAPLINE_API_KEY")
	}
	if key == "" {
		return nil, &UsageError{"No secret key: set TAPLINE_API_KEY and TAPLINE_BASE_URL, or pass" +
			" Options{APIKey, BaseURL}. TAPLINE_API_KEY is sent to TAPLINE_BASE_URL only, or to the" +
			" sandbox."}
	}
	found := secretKey.FindStringSubmatch(key)
	if found == nil {
		return nil, &UsageError{"That is not a secret API key, which begins with tlsk_test_ or" +
			" tlsk_live_. (Terminal keys begin with tldk_, signing secrets with whsec_.)"}
	}
	if address == "" {
		address = os.Getenv("TAPLINE_BASE_URL")
	}
	if found[1] == "live" && address == "" {
		return nil, &UsageError{"A live key needs the BaseURL of its network:" +
			" https://.../api. Pass it or set TAPLINE_BASE_URL."}
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
		// Following a redirect would send the key to another URL.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	client.PaymentIntents = &PaymentIntents{client}
	client.Payments = &Payments{client}
	client.Refunds = &Refunds{client}
	client.Terminals = &Terminals{client}
	client.Shifts = &Shifts{client}
	client.Events = &Events{client}
	return client
}
