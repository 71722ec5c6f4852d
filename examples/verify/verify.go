// Verifies a Tapline webhook: go run verify.go <secret> <Service-Signature> < body
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// VerifyWebhook says whether the message is from the network and at most five minutes old.
func VerifyWebhook(rawBody []byte, header, secret string) error {
	var times, given []string
	for _, part := range strings.Split(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			times = append(times, value)
		case "v1":
			given = append(given, value)
		}
	}
	if len(times) != 1 {
		return errors.New("not one timestamp")
	}
	seconds, err := strconv.ParseUint(times[0], 10, 40)
	if err != nil {
		return errors.New("no timestamp")
	}
	if age := time.Since(time.Unix(int64(seconds), 0)); age > 300*time.Second || age < -300*time.Second {
		return errors.New("too old")
	}
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%s.", times[0])
	mac.Write(rawBody)
	expected := hex.EncodeToString(mac.Sum(nil))
	for _, one := range given {
		if hmac.Equal([]byte(one), []byte(expected)) {
			return nil
		}
	}
	return errors.New("the signature does not fit")
}

func main() {
	body, _ := io.ReadAll(os.Stdin)
	if err := VerifyWebhook(body, os.Args[2], os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var event struct{ Type string }
	json.Unmarshal(body, &event)
	fmt.Println(event.Type)
}
