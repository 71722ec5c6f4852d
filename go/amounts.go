package tapline

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var inWords = regexp.MustCompile(`^([0-9]{1,9})(?:\.([0-9]{1,6}))?$`)

// USDC gives the atoms of an amount in words: USDC("2.50") is 2500000.
func USDC(amount string) (int64, error) {
	found := inWords.FindStringSubmatch(amount)
	if found == nil {
		return 0, &UsageError{fmt.Sprintf("USDC was given %q. It takes text with at most 6 decimals"+
			" and a point: USDC(\"2.50\").", amount)}
	}
	return strconv.ParseInt(found[1]+(found[2] + "000000")[:6], 10, 64)
}

// FormatUSDC is the other way: FormatUSDC(2500000) is "2.50".
func FormatUSDC(atoms int64) string {
	sign := ""
	if atoms < 0 {
		sign, atoms = "-", -atoms
	}
	fraction := strings.TrimRight(fmt.Sprintf("%06d", atoms%1_000_000), "0")
	for len(fraction) < 2 {
		fraction += "0"
	}
	return fmt.Sprintf("%s%d.%s", sign, atoms/1_000_000, fraction)
}

var short = regexp.MustCompile(`^[A-Za-z0-9_-]{1,8}$`)

// OrderID gives the order_id of an order of your shop: itself up to 8 characters, else 8 made from
// it. The same in all clients of Tapline. Should two orders ever get the same one, the second is
// refused with order_id_in_use; never are two orders paid as one.
func OrderID(order string) (string, error) {
	if order == "" {
		return "", &UsageError{"OrderID was given an empty text."}
	}
	if short.MatchString(order) {
		return order, nil
	}
	value := uint64(0xCBF29CE484222325)
	for _, one := range []byte(order) {
		value = (value ^ uint64(one)) * 0x100000001B3
	}
	folded := value&(1<<48-1) ^ value>>48
	bytes := make([]byte, 6)
	for at := range bytes {
		bytes[at] = byte(folded >> (8 * (5 - at)))
	}
	return base64.URLEncoding.EncodeToString(bytes), nil
}
