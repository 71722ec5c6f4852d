package tapline

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

var now = time.Unix(1_790_000_000, 0)

const event = `{"id":"evt_1","type":"payment.succeeded","data":{"object":{"id":"pay_1"}}}`

func signed(key []byte, head string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(head + event))
	return mac.Sum(nil)
}

func own(secret string) http.Header {
	mac := hex.EncodeToString(signed([]byte(secret), fmt.Sprintf("%d.", now.Unix())))
	return http.Header{"Service-Signature": {fmt.Sprintf("t=%d,v1=%s,v1=00", now.Unix(), mac)}}
}

func standardOf(key []byte) http.Header {
	head := fmt.Sprintf("msg_1.%d.", now.Unix())
	return http.Header{
		"Webhook-Id":        {"msg_1"},
		"Webhook-Timestamp": {fmt.Sprint(now.Unix())},
		"Webhook-Signature": {"v1,AAAA v1," + base64.StdEncoding.EncodeToString(signed(key, head))},
	}
}

func TestVerifyReturnsASignedEvent(t *testing.T) {
	key := []byte("0123456789abcdef01234567")
	secret := "whsec_" + base64.StdEncoding.EncodeToString(key)
	for name, header := range map[string]http.Header{"own": own(secret), "standard": standardOf(key)} {
		found, err := VerifyAt([]byte(event), header, secret, now)
		if err != nil || found.ID != "evt_1" || string(found.Data.Object) != `{"id":"pay_1"}` {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
}

func TestVerifyRefusesInvalidMessages(t *testing.T) {
	secret := "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"
	late, early := now.Add(6*time.Minute), now.Add(-6*time.Minute)
	cases := []struct {
		name, body string
		header     http.Header
		secret     string
		at         time.Time
	}{
		{"wrong secret", event, own(secret), "whsec_y", now},
		{"altered body", event + " ", own(secret), secret, now},
		{"message too old", event, own(secret), secret, late},
		{"message from the future", event, own(secret), secret, early},
		{"missing header", event, http.Header{}, secret, now},
		{"empty secret", event, own(""), "", now},
		{"empty Standard Webhooks key", event, standardOf(nil), "whsec_", now},
	}
	for _, one := range cases {
		_, err := VerifyAt([]byte(one.body), one.header, one.secret, one.at)
		var refused *WebhookVerificationError
		if !errors.As(err, &refused) {
			t.Errorf("%s: %v", one.name, err)
		}
	}
}

func TestAmountsAndOrderIDsConvert(t *testing.T) {
	for words, atoms := range map[string]int64{"2.50": 2_500_000, "0.000001": 1, "7": 7_000_000} {
		if got, err := USDC(words); err != nil || got != atoms {
			t.Errorf("USDC(%q) = %d, %v", words, got, err)
		}
	}
	for _, wrong := range []string{"", "2,50", "-1", "1.1234567", "1e3"} {
		if _, err := USDC(wrong); err == nil {
			t.Errorf("USDC(%q) was accepted", wrong)
		}
	}
	for atoms, words := range map[int64]string{2_500_000: "2.50", 1: "0.000001", -7_000_000: "-7.00"} {
		if got := FormatUSDC(atoms); got != words {
			t.Errorf("FormatUSDC(%d) = %q", atoms, got)
		}
	}
	// The clients of all languages derive these ids.
	same := map[string]string{
		"A-1001": "A-1001", "order_01HZX3V0M7": "r-Nyt8hN", "Bestellung Nr. 12 – Köln": "9uMFAlKK",
	}
	for order, id := range same {
		if got, err := OrderID(order); err != nil || got != id {
			t.Errorf("OrderID(%q) = %q, %v", order, got, err)
		}
	}
}

func TestListsFetchTheirPages(t *testing.T) {
	pages := []string{
		`{"data":[{"id":"pay_3"},{"id":"pay_2"}],"has_more":true,"next_cursor":"c"}`,
		`{"data":[],"has_more":true,"next_cursor":"d"}`,
		`{"data":[{"id":"pay_1"}],"has_more":false,"next_cursor":null}`,
	}
	asked := []string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, pages[len(asked)])
		asked = append(asked, r.URL.RawQuery)
	}))
	defer server.Close()
	client, err := New(Options{APIKey: "tlsk_test_x", BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	payments := client.Payments.List(context.Background(), Query{"status": "succeeded"})
	for payments.Next() {
		ids = append(ids, payments.Current().ID)
	}
	if payments.Err() != nil || strings.Join(ids, " ") != "pay_3 pay_2 pay_1" {
		t.Errorf("%v, %v", ids, payments.Err())
	}
	if strings.Join(asked, " ") != "status=succeeded cursor=c&status=succeeded cursor=d&status=succeeded" {
		t.Errorf("requested %v", asked)
	}
}

// A caller that gives up does not learn the result, so the call must not be reported as refused.
func TestACanceledCallHasAnUnknownResult(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		cancel()
		<-r.Context().Done()
	}))
	defer server.Close()
	client, _ := New(Options{APIKey: "tlsk_test_x", BaseURL: server.URL})
	_, err := client.Refunds.Create(ctx, CreateRefundBody{Payment: "pay_1"})
	var unknown *OutcomeUnknownError
	var refused *Error
	if !errors.As(err, &unknown) || errors.As(err, &refused) || unknown.IdempotencyKey == "" {
		t.Errorf("%v", err)
	}
}

func TestTheEnvironmentsKeyIsSentOnlyToTheEnvironmentsURL(t *testing.T) {
	t.Setenv("TAPLINE_API_KEY", "tlsk_test_x")
	t.Setenv("TAPLINE_BASE_URL", "")
	if _, err := New(Options{}); err != nil {
		t.Error(err)
	}
	for name, options := range map[string]Options{
		"the program's own URL":    {BaseURL: "https://elsewhere.example/api"},
		"a live key without a URL": {APIKey: "tlsk_live_x"},
		"an invalid key":           {APIKey: "x"},
	} {
		if _, err := New(options); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestPlainHTTPIsAllowedForThisMachineAndTestKeysOnly(t *testing.T) {
	for _, address := range []string{
		"http://x/api", "http://127.0.0.1:80@x/api", "http://localhost.x/api", "x",
	} {
		if _, err := New(Options{APIKey: "tlsk_live_x", BaseURL: address}); err == nil {
			t.Errorf("%s: a live key was accepted", address)
		}
	}
	for _, address := range []string{
		"https://x/api", "http://localhost/api", "http://127.0.0.1:4242/api", "http://[::1]:1",
	} {
		if _, err := New(Options{APIKey: "tlsk_live_x", BaseURL: address}); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := New(Options{APIKey: "tlsk_test_x", BaseURL: "http://x/api"}); err != nil {
		t.Error(err)
	}
}
