package tapline

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var inWords = regexp.MustCompile(`^([0-9]{1,9})(?:\.([0-9]{1,6}))?$`)

// USDC converts USDC, as decimal text, to atoms: USDC("2.50") is 2500000. It returns a *UsageError
// if the text has another format.
func USDC(amount string) (int64, error) {
	found := inWords.FindStringSubmatch(amount)
	if found == nil {
		return 0, &UsageError{fmt.Sprintf("USDC received %q. It takes a string with up to 6"+
			" decimals: USDC(\"2.50\").", amount)}
	}
	return strconv.ParseInt(found[1]+(found[2] + "000000")[:6], 10, 64)
}

// FormatUSDC converts atoms to USDC, with at least two decimals: FormatUSDC(2500000) is "2.50".
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

// OrderID derives a valid order_id from your shop's own order name. A name of up to 8 valid
// characters stays unchanged; any other name always maps to the same 8 characters, in all Tapline
// clients. If two orders ever map to the same id, the second is refused with order_id_in_use, so
// two orders are never paid as one.
func OrderID(order string) (string, error) {
	if order == "" {
		return "", &UsageError{"OrderID received \"\". It takes the name of an order:" +
			" OrderID(\"order_01HZX\")."}
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
