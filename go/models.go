// Code generated from openapi.json by npm run openapi. DO NOT EDIT.

package tapline

import "encoding/json"

// A request to be paid once, and its progress.
type PaymentIntent struct {
	// The id of a payment intent: pi_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// USDC atoms (6 decimals), an integer from 1 to 1000000000000.
	Amount int64 `json:"amount"`

	// USDC, always.
	Currency string `json:"currency"`

	// The sum in the shop’s currency, and the rate that was locked for it. `total` and `fees` are what a pass would pay now, and `null` while the service does not know the fees. Once the intent is paid, this is the payment’s object. `null` for a sale in USDC.
	Presentment *PaymentIntentPresentment `json:"presentment"`

	// The lines of the sale, as the request sent them. `null` if it sent none, and for a payment that was rebuilt after a loss of data.
	LineItems []PaymentIntentLineItemsItem `json:"line_items"`

	// The discount on the whole sale, in minor units of the presentment currency, or in USDC atoms for a sale without `presentment`.
	Discount int64 `json:"discount"`

	// The basis points of the discount; `null` if it is a sum.
	DiscountRate *int64 `json:"discount_rate"`

	// The name of the discount, 1 to 60 characters.
	DiscountName *string `json:"discount_name"`

	// The tips that the terminal offers its customer. `null` if the customer cannot tip.
	Tipping *PaymentIntentTipping `json:"tipping"`

	// The tip paid on top of the amount; `null` until paid.
	Tip *int64 `json:"tip"`

	// The list may grow.
	Status string `json:"status"`

	// The id of a terminal: tml_…
	Terminal string `json:"terminal"`

	// The location of the terminal when the sale was created; `null` if it had none.
	Location *string `json:"location"`

	// 1 to 8 characters of A-Z a-z 0-9 - _; written on-chain; unique per account and mode; generated from the Idempotency-Key if omitted.
	OrderID string `json:"order_id"`

	// Shown on the terminal while waiting.
	Description *string `json:"description"`

	// Up to 20 pairs: keys of 1 to 40 characters of A-Z a-z 0-9 _ . -, string values of up to 500 characters. No secrets or personal data. Returned unchanged.
	Metadata map[string]string `json:"metadata"`

	// Who created it.
	Source string `json:"source"`

	// Set only for a sale that a till had accepted offline.
	Offline *PaymentIntentOffline `json:"offline"`

	// The id of a payment: pay_…
	Payment *string `json:"payment"`

	// Hash of the settlement transaction.
	TxHash *string `json:"tx_hash"`

	// The step that the customer must take before the payment can continue.
	NextAction *PaymentIntentNextAction `json:"next_action"`

	// The reason why the last payment was declined.
	LastPaymentError *PaymentIntentLastPaymentError `json:"last_payment_error"`

	// The list may grow.
	CancellationReason *string `json:"cancellation_reason"`

	// ISO 8601 UTC with milliseconds.
	CanceledAt *string `json:"canceled_at"`

	// Intents of one split bill carry the same value.
	SplitGroup *string `json:"split_group"`

	// The person signed in at the till (`POST /shift`); `null` if none.
	Cashier *string `json:"cashier"`

	// ISO 8601 UTC with milliseconds.
	PickedUpAt *string `json:"picked_up_at"`

	// ISO 8601 UTC with milliseconds.
	TappedAt *string `json:"tapped_at"`

	// ISO 8601 UTC with milliseconds.
	ExpiresAt string `json:"expires_at"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Only on objects that the service had lost with its database and rebuilt from the chain. Data that is not on the chain (metadata, description, terminal, method) is lost.
	Recovered bool `json:"recovered,omitempty"`
}

// The sum in the shop’s currency, and the rate that was locked for it. `total` and `fees` are what a pass would pay now, and `null` while the service does not know the fees. Once the intent is paid, this is the payment’s object. `null` for a sale in USDC.
type PaymentIntentPresentment struct {
	// An ISO 4217 currency code, in lowercase.
	Currency string `json:"currency"`

	// Minor units of the currency: cents of EUR, whole JPY, thousandths of KWD.
	Amount int64 `json:"amount"`

	// USDC for one unit of the currency, as decimal text. It never changes.
	Rate string `json:"rate"`

	// The time of the rate: the older of its two sources’ times.
	QuotedAt string `json:"quoted_at"`

	// The source of the rate. In a sandbox it says that the rate is made up.
	Source string `json:"source"`

	// Only of a sale that a till accepted offline: by how many basis points its rate is above the market’s.
	Margin int64 `json:"margin,omitempty"`

	// The quote ends when the payment intent expires.
	ExpiresAt string `json:"expires_at"`

	// What the customer pays, in minor units: the larger of price + tip and the USDC that leave the wallet (`total_charged` − `fees.cashback`) ÷ `rate`, half a unit rounded up.
	Total *int64 `json:"total"`

	// The service fee, in minor units: `total` − `amount` − the tip.
	Fees *int64 `json:"fees"`

	// The tip by the same rate, in minor units on top of `amount`, or 0.
	TipAmount int64 `json:"tip_amount,omitempty"`
}

// A line of the sale.
type PaymentIntentLineItemsItem struct {
	// The name of the sold item, 1 to 200 characters.
	Name string `json:"name"`

	// As it was sent: an integer, or decimal text.
	Quantity json.RawMessage `json:"quantity"`

	// The unit price, in minor units of the presentment currency, or in USDC atoms for a sale without `presentment`. Below 0 for a deposit that is given back, or a voucher; the sum of the sale stays above 0.
	UnitAmount int64 `json:"unit_amount"`

	// The tax rate in basis points: 700 is 7 %.
	TaxRate int64 `json:"tax_rate"`

	// Whether `unit_amount` includes the tax. If not, the tax is added to the price.
	TaxInclusive bool `json:"tax_inclusive"`

	// The discount on this line, as a sum.
	Discount int64 `json:"discount"`

	// The basis points of the discount; `null` if it is a sum.
	DiscountRate *int64 `json:"discount_rate"`

	// The name of the discount, 1 to 60 characters.
	DiscountName *string `json:"discount_name"`

	// The id of a catalog item: item_…
	Item *string `json:"item"`

	// The category of the item when it was sold.
	Category *string `json:"category"`
}

// The tips that the terminal offers its customer. `null` if the customer cannot tip.
type PaymentIntentTipping struct {
	// 1 to 3 percentages, in the order they are shown.
	Percentages []int64 `json:"percentages"`
}

// Set only for a sale that a till had accepted offline.
type PaymentIntentOffline struct {
	// The id of an offline payment: ofp_…
	ID string `json:"id"`

	// By the till’s clock.
	AcceptedAt string `json:"accepted_at"`
}

// The step that the customer must take before the payment can continue.
type PaymentIntentNextAction struct {
	// The next step.
	Type string `json:"type"`

	// The rule that asked for confirmation. The list may grow.
	ReasonCode string `json:"reason_code"`

	// ISO 8601 UTC with milliseconds.
	ExpiresAt string `json:"expires_at"`
}

// The reason why the last payment was declined.
type PaymentIntentLastPaymentError struct {
	// The type of the error.
	Type string `json:"type"`

	// See decline_code for the reason.
	Code string `json:"code"`

	// The reason. The list may grow.
	DeclineCode string `json:"decline_code"`

	// The decline code in upper case, or the risk rule's name. The list may grow.
	ReasonCode string `json:"reason_code"`

	// The reason in words. Its text may change.
	Message string `json:"message"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// A message for the customer, in plain words. Its text may change.
	CustomerMessage string `json:"customer_message"`
}

// One page of the list.
type PaymentIntentList struct {
	// The type of the object.
	Object string `json:"object"`

	// Newest first.
	Data []PaymentIntent `json:"data"`

	// True if there is another page.
	HasMore bool `json:"has_more"`

	// The `cursor` of the next page.
	NextCursor *string `json:"next_cursor"`
}

// A settled payment.
type Payment struct {
	// The id of a payment: pay_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// Sale and tip together: USDC atoms (6 decimals).
	Amount int64 `json:"amount"`

	// USDC, always.
	Currency string `json:"currency"`

	// The sum in the shop’s currency, and the rate that was locked for it, with the tip. `null` for a sale in USDC.
	Presentment *PaymentPresentment `json:"presentment"`

	// USDC for one unit of the shop’s currency when it was booked, as decimal text. `null` until then, for a shop without a currency, and after a loss of data.
	ShopRate *string `json:"shop_rate"`

	// The lines of the sale, as the request sent them. `null` if it sent none, and for a payment that was rebuilt after a loss of data.
	LineItems []PaymentLineItemsItem `json:"line_items"`

	// The discount on the whole sale, in minor units of the presentment currency, or in USDC atoms for a sale without `presentment`.
	Discount int64 `json:"discount"`

	// The basis points of the discount; `null` if it is a sum.
	DiscountRate *int64 `json:"discount_rate"`

	// The name of the discount, 1 to 60 characters.
	DiscountName *string `json:"discount_name"`

	// A row for each tax rate, lowest first, in minor units of the presentment currency, or in USDC atoms for a sale without `presentment`. Tips have no tax and are in no row. `null` for a sale without lines.
	Taxes []PaymentTaxesItem `json:"taxes"`

	// The part of the amount that is a tip; 0 without a tip.
	Tip int64 `json:"tip"`

	// USDC atoms (6 decimals).
	AmountRefunded int64 `json:"amount_refunded"`

	// The list may grow.
	Status string `json:"status"`

	// A message for the customer, in plain words. Its text may change.
	CustomerMessage string `json:"customer_message"`

	// Paid by the payer on top of the amount.
	Fees PaymentFees `json:"fees"`

	// The total that the payer paid: amount, acquirer fee and protocol fee.
	TotalCharged int64 `json:"total_charged"`

	// Credited to the merchant: the whole amount.
	Net int64 `json:"net"`

	// The status of the cashback in `fees`.
	CashbackStatus string `json:"cashback_status"`

	// The payer's address.
	Payer string `json:"payer"`

	// 1 to 8 characters of A-Z a-z 0-9 - _; written on-chain; unique per account and mode; generated from the Idempotency-Key if omitted.
	OrderID string `json:"order_id"`

	// The id of a terminal: tml_…
	Terminal string `json:"terminal"`

	// The location of the terminal when the sale was created; `null` if it had none.
	Location *string `json:"location"`

	// The id of a payment intent: pi_…
	PaymentIntent string `json:"payment_intent"`

	// The means of payment that the customer used.
	PaymentMethod PaymentPaymentMethod `json:"payment_method"`

	// Intents of one split bill carry the same value.
	SplitGroup *string `json:"split_group"`

	// The person signed in at the till (`POST /shift`); `null` if none.
	Cashier *string `json:"cashier"`

	// A page for the customer, with the on-chain proof. Its address cannot be guessed.
	ReceiptURL *string `json:"receipt_url"`

	// The number printed on the receipt: the prefix of the terminal’s series, and 1, 2, 3 … without gaps. Refunds have their own series, which begin with R. After a loss of data every series restarts with another prefix. `null` if there is none yet.
	ReceiptNumber *string `json:"receipt_number"`

	// The id of the blockchain.
	ChainID int64 `json:"chain_id"`

	// Hash of the settlement transaction.
	TxHash string `json:"tx_hash"`

	// The block that settled the payment.
	BlockNumber int64 `json:"block_number"`

	// The log index of its event in the block.
	LogIndex int64 `json:"log_index"`

	// ISO 8601 UTC with milliseconds.
	SettledAt string `json:"settled_at"`

	// ISO 8601 UTC with milliseconds.
	RefundableUntil string `json:"refundable_until"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Only on objects that the service had lost with its database and rebuilt from the chain. Data that is not on the chain (metadata, description, terminal, method) is lost.
	Recovered bool `json:"recovered,omitempty"`
}

// The sum in the shop’s currency, and the rate that was locked for it, with the tip. `null` for a sale in USDC.
type PaymentPresentment struct {
	// An ISO 4217 currency code, in lowercase.
	Currency string `json:"currency"`

	// Minor units of the currency: cents of EUR, whole JPY, thousandths of KWD.
	Amount int64 `json:"amount"`

	// USDC for one unit of the currency, as decimal text. It never changes.
	Rate string `json:"rate"`

	// The time of the rate: the older of its two sources’ times.
	QuotedAt string `json:"quoted_at"`

	// The source of the rate. In a sandbox it says that the rate is made up.
	Source string `json:"source"`

	// Only of a sale that a till accepted offline: by how many basis points its rate is above the market’s.
	Margin int64 `json:"margin,omitempty"`

	// The quote ends when the payment intent expires.
	ExpiresAt string `json:"expires_at"`

	// What the customer pays, in minor units: the larger of price + tip and the USDC that leave the wallet (`total_charged` − `fees.cashback`) ÷ `rate`, half a unit rounded up.
	Total int64 `json:"total"`

	// The service fee, in minor units: `total` − `amount` − the tip.
	Fees int64 `json:"fees"`

	// The tip by the same rate, in minor units on top of `amount`, or 0.
	TipAmount int64 `json:"tip_amount"`
}

// A line of the sale.
type PaymentLineItemsItem struct {
	// The name of the sold item, 1 to 200 characters.
	Name string `json:"name"`

	// As it was sent: an integer, or decimal text.
	Quantity json.RawMessage `json:"quantity"`

	// The unit price, in minor units of the presentment currency, or in USDC atoms for a sale without `presentment`. Below 0 for a deposit that is given back, or a voucher; the sum of the sale stays above 0.
	UnitAmount int64 `json:"unit_amount"`

	// The tax rate in basis points: 700 is 7 %.
	TaxRate int64 `json:"tax_rate"`

	// Whether `unit_amount` includes the tax. If not, the tax is added to the price.
	TaxInclusive bool `json:"tax_inclusive"`

	// The discount on this line, as a sum.
	Discount int64 `json:"discount"`

	// The basis points of the discount; `null` if it is a sum.
	DiscountRate *int64 `json:"discount_rate"`

	// The name of the discount, 1 to 60 characters.
	DiscountName *string `json:"discount_name"`

	// The id of a catalog item: item_…
	Item *string `json:"item"`

	// The category of the item when it was sold.
	Category *string `json:"category"`
}

// All lines with one rate.
type PaymentTaxesItem struct {
	// The tax rate in basis points: 700 is 7 %.
	Rate int64 `json:"rate"`

	// The amount without tax.
	Net int64 `json:"net"`

	// The tax.
	Tax int64 `json:"tax"`

	// Net and tax.
	Gross int64 `json:"gross"`
}

// Paid by the payer on top of the amount.
type PaymentFees struct {
	// The fee of the acquirer. USDC atoms.
	Acquirer int64 `json:"acquirer"`

	// The fee of the network, including the cashback. USDC atoms.
	Protocol int64 `json:"protocol"`

	// The part of the protocol fee that the payer gets back. USDC atoms.
	Cashback int64 `json:"cashback"`
}

// The means of payment that the customer used.
type PaymentPaymentMethod struct {
	// The way it was paid. The list may grow.
	Type string `json:"type"`

	// The kind of credential that was presented. The list may grow.
	Credential string `json:"credential"`
}

// One page of the list.
type PaymentList struct {
	// The type of the object.
	Object string `json:"object"`

	// Newest first.
	Data []Payment `json:"data"`

	// True if there is another page.
	HasMore bool `json:"has_more"`

	// The `cursor` of the next page.
	NextCursor *string `json:"next_cursor"`
}

// A sale that a till accepted offline, and its result.
type OfflinePayment struct {
	// The id of an offline payment: ofp_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// processing: the chain has not decided. The list may grow.
	Status string `json:"status"`

	// Why it was not paid; `null` unless bounced. The list may grow.
	BounceReason *string `json:"bounce_reason"`

	// The id of a payment intent: pi_…
	PaymentIntent *string `json:"payment_intent"`

	// The id of a payment: pay_…
	Payment *string `json:"payment"`

	// The nonce of the authorization. With network and wallet it is the identity.
	Nonce string `json:"nonce"`

	// The id of a terminal: tml_…
	Terminal string `json:"terminal"`

	// USDC atoms (6 decimals), an integer from 1 to 1000000000000.
	Amount int64 `json:"amount"`

	// The price in the shop’s currency; `null` for a sale in USDC.
	Presentment *OfflinePaymentPresentment `json:"presentment"`

	// Why the sale was taken in USDC although the record gave a price: the service has not issued these terms to the account, or they ended more than 72 hours before the signature ends. `null` for all other sales.
	PresentmentProblem *string `json:"presentment_problem"`

	// When the till accepted it, by its clock.
	AcceptedAt string `json:"accepted_at"`

	// When it was forwarded.
	Created string `json:"created"`
}

// The price in the shop’s currency; `null` for a sale in USDC.
type OfflinePaymentPresentment struct {
	// An ISO 4217 currency code, in lowercase.
	Currency string `json:"currency"`

	// Minor units of the currency.
	Amount int64 `json:"amount"`

	// USDC for one unit of the currency, as decimal text. It never changes.
	Rate string `json:"rate"`

	// The margin in the rate, in the shop’s favor: basis points.
	Margin int64 `json:"margin"`

	// The time of the rate.
	QuotedAt string `json:"quoted_at"`
}

// One page of the list.
type OfflinePaymentList struct {
	// The type of the object.
	Object string `json:"object"`

	// Newest first.
	Data []OfflinePayment `json:"data"`

	// True if there is another page.
	HasMore bool `json:"has_more"`

	// The `cursor` of the next page.
	NextCursor *string `json:"next_cursor"`
}

// Money on its way back to the payer, or returned.
type Refund struct {
	// The id of a refund: re_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// USDC atoms (6 decimals), an integer from 1 to 1000000000000.
	Amount int64 `json:"amount"`

	// USDC, always.
	Currency string `json:"currency"`

	// The sum in the shop’s currency, and the rate that was locked for it. `null` if the price was given in USDC.
	Presentment *RefundPresentment `json:"presentment"`

	// USDC for one unit of the shop’s currency when it was booked, as decimal text. `null` until then, for a shop without a currency, and after a loss of data.
	ShopRate *string `json:"shop_rate"`

	// The lines that it returns; `null` for a refund of a sum.
	LineItems []RefundLineItemsItem `json:"line_items"`

	// A row for each tax rate, lowest first, in minor units of the presentment currency, or in USDC atoms for a sale without `presentment`. Tips have no tax and are in no row. `null` for a sale without lines.
	Taxes []RefundTaxesItem `json:"taxes"`

	// The id of a payment: pay_…
	Payment string `json:"payment"`

	// `pending` resolves by itself.
	Status string `json:"status"`

	// Up to 500 characters.
	Reason *string `json:"reason"`

	// The list may grow.
	FailureCode *string `json:"failure_code"`

	// The reason it failed, in words.
	FailureMessage *string `json:"failure_message"`

	// Hash of its transaction.
	TxHash *string `json:"tx_hash"`

	// A page for the customer, once the refund has succeeded. Its address cannot be guessed.
	ReceiptURL *string `json:"receipt_url"`

	// The number printed on the receipt: the prefix of the terminal’s series, and 1, 2, 3 … without gaps. Refunds have their own series, which begin with R. After a loss of data every series restarts with another prefix. `null` if there is none yet.
	ReceiptNumber *string `json:"receipt_number"`

	// Who requested it.
	Source string `json:"source"`

	// The person signed in at the till (`POST /shift`); `null` if none.
	Cashier *string `json:"cashier"`

	// Up to 20 pairs: keys of 1 to 40 characters of A-Z a-z 0-9 _ . -, string values of up to 500 characters. No secrets or personal data. Returned unchanged.
	Metadata map[string]string `json:"metadata"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// ISO 8601 UTC with milliseconds.
	Updated string `json:"updated"`

	// Only on objects that the service had lost with its database and rebuilt from the chain. Data that is not on the chain (metadata, description, terminal, method) is lost.
	Recovered bool `json:"recovered,omitempty"`
}

// The sum in the shop’s currency, and the rate that was locked for it. `null` if the price was given in USDC.
type RefundPresentment struct {
	// An ISO 4217 currency code, in lowercase.
	Currency string `json:"currency"`

	// Minor units of the currency: cents of EUR, whole JPY, thousandths of KWD.
	Amount int64 `json:"amount"`

	// USDC for one unit of the currency, as decimal text. It never changes.
	Rate string `json:"rate"`

	// The time of the rate: the older of its two sources’ times.
	QuotedAt string `json:"quoted_at"`

	// The source of the rate. In a sandbox it says that the rate is made up.
	Source string `json:"source"`

	// Only of a sale that a till accepted offline: by how many basis points its rate is above the market’s.
	Margin int64 `json:"margin,omitempty"`

	// The quote ends when the payment intent expires.
	ExpiresAt string `json:"expires_at"`
}

// A part of a line.
type RefundLineItemsItem struct {
	// The index of the line in `line_items` of the payment, from 0 on.
	Line int64 `json:"line"`

	// How much of the line: an integer, or decimal text.
	Quantity json.RawMessage `json:"quantity"`
}

// All lines with one rate.
type RefundTaxesItem struct {
	// The tax rate in basis points: 700 is 7 %.
	Rate int64 `json:"rate"`

	// The amount without tax.
	Net int64 `json:"net"`

	// The tax.
	Tax int64 `json:"tax"`

	// Net and tax.
	Gross int64 `json:"gross"`
}

// One page of the list.
type RefundList struct {
	// The type of the object.
	Object string `json:"object"`

	// Newest first.
	Data []Refund `json:"data"`

	// True if there is another page.
	HasMore bool `json:"has_more"`

	// The `cursor` of the next page.
	NextCursor *string `json:"next_cursor"`
}

// A terminal of the account.
type Terminal struct {
	// The id of a terminal: tml_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// Its name in the dashboard.
	Label string `json:"label"`

	// The kind of device.
	Name string `json:"name"`

	// The terminal software. The list may grow.
	Platform string `json:"platform"`

	// As the terminal reported it; `null` if it has not reported it.
	SoftwareVersion *string `json:"software_version"`

	// An inactive terminal takes no payments.
	Status string `json:"status"`

	// Location of the terminal; `null` if it has none.
	Location *string `json:"location"`

	// How much the till may sell while it is offline. `null` if it sells nothing offline. Sums that were set in the shop’s currency show their worth in USDC atoms at that time.
	Offline *TerminalOffline `json:"offline"`

	// USDC atoms of one sale that it may refund without a signed-in person. If it is `null`, nothing where people have PINs, else as the account’s `till_refund_limit` says.
	RefundLimit *int64 `json:"refund_limit"`

	// The limit in the shop’s currency; `null` if it was set in USDC atoms. The field in atoms is then its worth when it was set, rounded down.
	RefundLimitPresentment *TerminalRefundLimitPresentment `json:"refund_limit_presentment"`

	// ISO 8601 UTC with milliseconds.
	LastSeenAt *string `json:"last_seen_at"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`
}

// How much the till may sell while it is offline. `null` if it sells nothing offline. Sums that were set in the shop’s currency show their worth in USDC atoms at that time.
type TerminalOffline struct {
	// The highest sum of one sale, in USDC atoms.
	PerPayment int64 `json:"per_payment"`

	// The highest sum of a wallet per UTC day, in USDC atoms.
	PerCardPerDay int64 `json:"per_card_per_day"`

	// The highest sum of the sales that are not decided yet, in USDC atoms.
	Total int64 `json:"total"`

	// How many sales may be undecided.
	Count int64 `json:"count"`

	// Hours since the till’s last contact, 1 to 72. The till enforces it.
	Hours int64 `json:"hours"`

	// The three sums in the shop’s currency, if they were set in it.
	Presentment *TerminalOfflinePresentment `json:"presentment"`

	// How far the till’s rate is above the market’s: basis points.
	RateMargin int64 `json:"rate_margin"`
}

// The three sums in the shop’s currency, if they were set in it.
type TerminalOfflinePresentment struct {
	// An ISO 4217 currency code, in lowercase.
	Currency string `json:"currency"`

	// The highest sum of one sale, in minor units.
	PerPayment int64 `json:"per_payment"`

	// The highest sum of a wallet per UTC day, in minor units.
	PerCardPerDay int64 `json:"per_card_per_day"`

	// The highest sum of the sales that are not decided yet, in minor units.
	Total int64 `json:"total"`
}

// The limit in the shop’s currency; `null` if it was set in USDC atoms. The field in atoms is then its worth when it was set, rounded down.
type TerminalRefundLimitPresentment struct {
	// The account’s currency or one of its locations’: ISO 4217, in lowercase.
	Currency string `json:"currency"`

	// Minor units of the currency: cents of EUR, whole JPY, thousandths of KWD.
	Amount int64 `json:"amount"`
}

// One page of the list.
type TerminalList struct {
	// The type of the object.
	Object string `json:"object"`

	// Newest first.
	Data []Terminal `json:"data"`

	// True if there is another page.
	HasMore bool `json:"has_more"`

	// The `cursor` of the next page.
	NextCursor *string `json:"next_cursor"`
}

// The report of a shift that has ended: everything booked at its terminal since the previous report. It never changes, and cash is not counted.
type ShiftReport struct {
	// The id of a shift: shf_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The series that `number` counts in. After a loss of data a new one begins.
	Series string `json:"series"`

	// Counts the reports of the terminal from 1, without gaps, in each series.
	Number int64 `json:"number"`

	// True if the series began after a loss of data.
	AfterLoss bool `json:"after_loss"`

	// The id of a terminal: tml_…
	Terminal string `json:"terminal"`

	// The id of a location: loc_…
	Location *string `json:"location"`

	// When the shift began.
	StartedAt string `json:"started_at"`

	// When it ended.
	EndedAt string `json:"ended_at"`

	// The end of the terminal’s previous report, or else when the terminal was created. The report holds everything that was booked from there on.
	CoversFrom string `json:"covers_from"`

	// The sums by the person who was signed in at the till: sales by who made them, refunds by who refunded.
	Cashiers []ShiftReportCashiersItem `json:"cashiers"`

	// The sums, one element per currency.
	Figures []ShiftReportFiguresItem `json:"figures"`

	// The sales by what the customers paid with.
	Methods []ShiftReportMethodsItem `json:"methods"`

	// The lines of the sales.
	Items []ShiftReportItemsItem `json:"items"`

	// The number of sales that the till accepted offline.
	Offline int64 `json:"offline"`

	// The number of intents that were declined at least once.
	Declines int64 `json:"declines"`

	// The number of the first sale’s receipt.
	FirstReceipt *string `json:"first_receipt"`

	// The number of the last sale’s receipt.
	LastReceipt *string `json:"last_receipt"`

	// The number of the first refund’s receipt.
	FirstRefundReceipt *string `json:"first_refund_receipt"`

	// The number of the last refund’s receipt.
	LastRefundReceipt *string `json:"last_refund_receipt"`

	// Payments and refunds that a reorganization of the chain removed after they were booked, with figures below 0; or brought back, with figures above 0.
	Corrections []ShiftReportCorrectionsItem `json:"corrections"`
}

// ShiftReportCashiersItem of the API.
type ShiftReportCashiersItem struct {
	// The person signed in at the till (`POST /shift`); `null` if none.
	Cashier *string `json:"cashier"`

	// The name of the person when the shift ended.
	Name *string `json:"name"`

	// The sums, one element per currency.
	Figures []ShiftReportCashiersItemFiguresItem `json:"figures"`
}

// ShiftReportCashiersItemFiguresItem of the API.
type ShiftReportCashiersItemFiguresItem struct {
	// The currency of the sums, in lowercase. Sums are in its minor units, or in atoms for `usdc`.
	Currency string `json:"currency"`

	// The number of sales.
	Count int64 `json:"count"`

	// The sum of the sales without tips.
	Sales int64 `json:"sales"`

	// The sum of their tips.
	Tips int64 `json:"tips"`

	// The sum of their discounts.
	Discounts int64 `json:"discounts"`

	// The number of refunds.
	Refunds int64 `json:"refunds"`

	// The sum of the refunds.
	Refunded int64 `json:"refunded"`

	// The taxes of the sales with lines, by rate. Refunds are not subtracted.
	Taxes []ShiftReportCashiersItemFiguresItemTaxesItem `json:"taxes"`

	// The part of the taxes that the refunds returned.
	RefundedTaxes []ShiftReportCashiersItemFiguresItemRefundedTaxesItem `json:"refunded_taxes"`

	// What the sales brought in USDC atoms, with tips and before refunds.
	Atoms int64 `json:"atoms"`
}

// ShiftReportCashiersItemFiguresItemTaxesItem of the API.
type ShiftReportCashiersItemFiguresItemTaxesItem struct {
	// The rate in basis points.
	Rate int64 `json:"rate"`

	// The price without the tax.
	Net int64 `json:"net"`

	// The tax.
	Tax int64 `json:"tax"`

	// Both.
	Gross int64 `json:"gross"`
}

// ShiftReportCashiersItemFiguresItemRefundedTaxesItem of the API.
type ShiftReportCashiersItemFiguresItemRefundedTaxesItem struct {
	// The rate in basis points.
	Rate int64 `json:"rate"`

	// The price without the tax.
	Net int64 `json:"net"`

	// The tax.
	Tax int64 `json:"tax"`

	// Both.
	Gross int64 `json:"gross"`
}

// ShiftReportFiguresItem of the API.
type ShiftReportFiguresItem struct {
	// The currency of the sums, in lowercase. Sums are in its minor units, or in atoms for `usdc`.
	Currency string `json:"currency"`

	// The number of sales.
	Count int64 `json:"count"`

	// The sum of the sales without tips.
	Sales int64 `json:"sales"`

	// The sum of their tips.
	Tips int64 `json:"tips"`

	// The sum of their discounts.
	Discounts int64 `json:"discounts"`

	// The number of refunds.
	Refunds int64 `json:"refunds"`

	// The sum of the refunds.
	Refunded int64 `json:"refunded"`

	// The taxes of the sales with lines, by rate. Refunds are not subtracted.
	Taxes []ShiftReportFiguresItemTaxesItem `json:"taxes"`

	// The part of the taxes that the refunds returned.
	RefundedTaxes []ShiftReportFiguresItemRefundedTaxesItem `json:"refunded_taxes"`

	// What the sales brought in USDC atoms, with tips and before refunds.
	Atoms int64 `json:"atoms"`
}

// ShiftReportFiguresItemTaxesItem of the API.
type ShiftReportFiguresItemTaxesItem struct {
	// The rate in basis points.
	Rate int64 `json:"rate"`

	// The price without the tax.
	Net int64 `json:"net"`

	// The tax.
	Tax int64 `json:"tax"`

	// Both.
	Gross int64 `json:"gross"`
}

// ShiftReportFiguresItemRefundedTaxesItem of the API.
type ShiftReportFiguresItemRefundedTaxesItem struct {
	// The rate in basis points.
	Rate int64 `json:"rate"`

	// The price without the tax.
	Net int64 `json:"net"`

	// The tax.
	Tax int64 `json:"tax"`

	// Both.
	Gross int64 `json:"gross"`
}

// ShiftReportMethodsItem of the API.
type ShiftReportMethodsItem struct {
	// The `payment_method.type` of the sales.
	Type string `json:"type"`

	// Their `payment_method.credential`.
	Credential string `json:"credential"`

	// The currency of the sums, in lowercase. Sums are in its minor units, or in atoms for `usdc`.
	Currency string `json:"currency"`

	// The number of sales.
	Count int64 `json:"count"`

	// Their sum with tips.
	Gross int64 `json:"gross"`
}

// ShiftReportItemsItem of the API.
type ShiftReportItemsItem struct {
	// The catalog item; `null` for a line without one.
	Item *string `json:"item"`

	// The name of the line.
	Name string `json:"name"`

	// The category of the item.
	Category *string `json:"category"`

	// The currency of the sums, in lowercase. Sums are in its minor units, or in atoms for `usdc`.
	Currency string `json:"currency"`

	// The quantity sold, as a decimal.
	Quantity string `json:"quantity"`

	// What the lines brought, after discounts.
	Gross int64 `json:"gross"`
}

// ShiftReportCorrectionsItem of the API.
type ShiftReportCorrectionsItem struct {
	// The id of a payment: pay_…
	Payment string `json:"payment,omitempty"`

	// The id of a refund: re_…
	Refund string `json:"refund,omitempty"`

	// The shift whose report holds it.
	Of string `json:"of"`

	// The sums, one element per currency.
	Figures []ShiftReportCorrectionsItemFiguresItem `json:"figures"`
}

// ShiftReportCorrectionsItemFiguresItem of the API.
type ShiftReportCorrectionsItemFiguresItem struct {
	// The currency of the sums, in lowercase. Sums are in its minor units, or in atoms for `usdc`.
	Currency string `json:"currency"`

	// The number of sales.
	Count int64 `json:"count"`

	// The sum of the sales without tips.
	Sales int64 `json:"sales"`

	// The sum of their tips.
	Tips int64 `json:"tips"`

	// The sum of their discounts.
	Discounts int64 `json:"discounts"`

	// The number of refunds.
	Refunds int64 `json:"refunds"`

	// The sum of the refunds.
	Refunded int64 `json:"refunded"`

	// The taxes of the sales with lines, by rate. Refunds are not subtracted.
	Taxes []ShiftReportCorrectionsItemFiguresItemTaxesItem `json:"taxes"`

	// The part of the taxes that the refunds returned.
	RefundedTaxes []ShiftReportCorrectionsItemFiguresItemRefundedTaxesItem `json:"refunded_taxes"`

	// What the sales brought in USDC atoms, with tips and before refunds.
	Atoms int64 `json:"atoms"`
}

// ShiftReportCorrectionsItemFiguresItemTaxesItem of the API.
type ShiftReportCorrectionsItemFiguresItemTaxesItem struct {
	// The rate in basis points.
	Rate int64 `json:"rate"`

	// The price without the tax.
	Net int64 `json:"net"`

	// The tax.
	Tax int64 `json:"tax"`

	// Both.
	Gross int64 `json:"gross"`
}

// ShiftReportCorrectionsItemFiguresItemRefundedTaxesItem of the API.
type ShiftReportCorrectionsItemFiguresItemRefundedTaxesItem struct {
	// The rate in basis points.
	Rate int64 `json:"rate"`

	// The price without the tax.
	Net int64 `json:"net"`

	// The tax.
	Tax int64 `json:"tax"`

	// Both.
	Gross int64 `json:"gross"`
}

// One page of the list.
type ShiftReportList struct {
	// The type of the object.
	Object string `json:"object"`

	// Newest first.
	Data []ShiftReport `json:"data"`

	// True if there is another page.
	HasMore bool `json:"has_more"`

	// The `cursor` of the next page.
	NextCursor *string `json:"next_cursor"`
}

// The balance that the settlement contract holds for the account.
type Balance struct {
	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// Settled and not yet withdrawn, by currency.
	Available []BalanceAvailableItem `json:"available"`

	// The approximate value of `available` in the account’s currency now. `null` if the account has none, or if there is no usable rate.
	Presentment *BalancePresentment `json:"presentment"`

	// Nothing can be withdrawn before this time, because the merchant is new on this network. `null` if withdrawals are possible.
	HeldUntil *string `json:"held_until"`

	// ISO 8601 UTC with milliseconds.
	AsOf string `json:"as_of"`
}

// BalanceAvailableItem of the API.
type BalanceAvailableItem struct {
	// USDC atoms (6 decimals).
	Amount int64 `json:"amount"`

	// USDC, always.
	Currency string `json:"currency"`
}

// The approximate value of `available` in the account’s currency now. `null` if the account has none, or if there is no usable rate.
type BalancePresentment struct {
	// The account’s currency: ISO 4217, in lowercase.
	Currency string `json:"currency"`

	// Minor units of that currency.
	Amount int64 `json:"amount"`

	// USDC for one unit of the currency, as text.
	Rate string `json:"rate"`

	// The time of the rate.
	QuotedAt string `json:"quoted_at"`

	// The source of the rate.
	Source string `json:"source"`
}

// An event, with the object as it was when the event happened.
type Event struct {
	// The id of an event: evt_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The type of the event. The list of types may grow.
	Type string `json:"type"`

	// The version that the event is rendered in.
	APIVersion string `json:"api_version"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Increases with each event about an object (per account and mode): of two events about the same object, the one with the higher sequence is newer.
	Sequence int64 `json:"sequence"`

	// The object that the event is about.
	Data EventData `json:"data"`
}

// The object that the event is about.
type EventData struct {
	// The resource as it was when the event happened.
	Object json.RawMessage `json:"object"`

	// On *.updated: the fields that changed, with the values that they had before.
	PreviousAttributes json.RawMessage `json:"previous_attributes,omitempty"`
}

// One page of the list.
type EventList struct {
	// The type of the object.
	Object string `json:"object"`

	// Newest first.
	Data []Event `json:"data"`

	// True if there is another page.
	HasMore bool `json:"has_more"`

	// The `cursor` of the next page.
	NextCursor *string `json:"next_cursor"`
}

// The webhook endpoint, without its secret.
type WebhookEndpoint struct {
	// The id of a webhook endpoint: we_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The URL that events are sent to.
	URL string `json:"url"`

	// The event types that it subscribes to.
	EnabledEvents []string `json:"enabled_events"`

	// A note of your own.
	Description *string `json:"description"`

	// Set at creation: events are rendered in this version.
	APIVersion string `json:"api_version"`

	// A disabled endpoint receives nothing.
	Status string `json:"status"`

	// persistent_failure (five days without a success), gone (it responded with 410) or requested_by_merchant. The list may grow.
	DisabledReason *string `json:"disabled_reason"`

	// ISO 8601 UTC with milliseconds.
	FailingSince *string `json:"failing_since"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// ISO 8601 UTC with milliseconds.
	Updated string `json:"updated"`
}

// The endpoint with its secret, which only this response contains.
type WebhookEndpointWithSecret struct {
	// The id of a webhook endpoint: we_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The URL that events are sent to.
	URL string `json:"url"`

	// The event types that it subscribes to.
	EnabledEvents []string `json:"enabled_events"`

	// A note of your own.
	Description *string `json:"description"`

	// Set at creation: events are rendered in this version.
	APIVersion string `json:"api_version"`

	// A disabled endpoint receives nothing.
	Status string `json:"status"`

	// persistent_failure (five days without a success), gone (it responded with 410) or requested_by_merchant. The list may grow.
	DisabledReason *string `json:"disabled_reason"`

	// ISO 8601 UTC with milliseconds.
	FailingSince *string `json:"failing_since"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// ISO 8601 UTC with milliseconds.
	Updated string `json:"updated"`

	// The signing secret. Shown only once: store it now.
	Secret string `json:"secret"`
}

// An event on its way to an endpoint, over all its attempts.
type WebhookDelivery struct {
	// The id of a webhook delivery: wdl_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The id of a webhook endpoint: we_…
	WebhookEndpoint string `json:"webhook_endpoint"`

	// The id of an event: evt_…
	Event string `json:"event"`

	// The type of the event.
	EventType string `json:"event_type"`

	// pending: another attempt will follow.
	Status string `json:"status"`

	// Attempts made so far.
	Attempt int64 `json:"attempt"`

	// HTTP status of the last attempt.
	ResponseStatus *int64 `json:"response_status"`

	// The first 1 KiB of its response body, as text.
	ResponseBody *string `json:"response_body"`

	// The reason why the last attempt failed: status_not_2xx, redirect_refused, timeout, dns_failed, address_refused, connection_refused, connection_reset, connection_failed, host_unreachable, tls_failed, invalid_response, event_expired, endpoint_disabled, not_sent. The list may grow.
	Error *string `json:"error"`

	// The duration of the last attempt.
	DurationMs *int64 `json:"duration_ms"`

	// ISO 8601 UTC with milliseconds.
	NextAttemptAt *string `json:"next_attempt_at"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// ISO 8601 UTC with milliseconds.
	Updated string `json:"updated"`
}

// One page of the list.
type WebhookDeliveryList struct {
	// The type of the object.
	Object string `json:"object"`

	// Newest first.
	Data []WebhookDelivery `json:"data"`

	// True if there is another page.
	HasMore bool `json:"has_more"`

	// The `cursor` of the next page.
	NextCursor *string `json:"next_cursor"`
}

// A request to send past events to an endpoint again.
type WebhookReplay struct {
	// The id of a webhook replay: wrp_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The id of a webhook endpoint: we_…
	WebhookEndpoint string `json:"webhook_endpoint"`

	// ISO 8601 UTC with milliseconds.
	Since string `json:"since"`

	// ISO 8601 UTC with milliseconds.
	Until string `json:"until"`

	// The event types that are sent again.
	Types []string `json:"types"`

	// completed: all of them were queued.
	Status string `json:"status"`

	// Events queued so far.
	EventsQueued int64 `json:"events_queued"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// ISO 8601 UTC with milliseconds.
	Updated string `json:"updated"`
}

// The result of the request that was sent with this key.
type IdempotencyKey struct {
	// The type of the object.
	Object string `json:"object"`

	// The Idempotency-Key of the request.
	Key string `json:"key"`

	// in_progress: the first request is still running.
	Status string `json:"status"`

	// The HTTP method of the first request.
	Method string `json:"method"`

	// The path of the first request.
	Path string `json:"path"`

	// The id of the object that the request created or changed.
	Resource *string `json:"resource"`

	// The HTTP status of the response.
	ResponseStatus *int64 `json:"response_status"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// ISO 8601 UTC with milliseconds.
	ExpiresAt string `json:"expires_at"`
}

// A request and its response, without their bodies.
type LoggedRequest struct {
	// The type of the object.
	Object string `json:"object"`

	// The id of a request: req_…
	ID string `json:"id"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// The id of the API key, terminal or person; `null` if unknown.
	Caller *string `json:"caller"`

	// The operation, such as createPaymentIntent; `null` if no route matched.
	Operation *string `json:"operation"`

	// The HTTP method.
	Method string `json:"method"`

	// The path that was requested, without its query.
	Path string `json:"path"`

	// The HTTP status of the response.
	Status int64 `json:"status"`

	// The error code of the response; `null` if it was not an error.
	Code *string `json:"code"`

	// The id of the object that the request concerned, or null.
	ObjectID *string `json:"object_id"`

	// The Idempotency-Key of the request, or null.
	IdempotencyKey *string `json:"idempotency_key"`

	// The API version that was used.
	APIVersion string `json:"api_version"`

	// The duration of the request, in milliseconds.
	DurationMs float64 `json:"duration_ms"`

	// The IP address that the request came from.
	Address string `json:"address"`

	// How the client identifies itself, or null.
	UserAgent *string `json:"user_agent"`
}

// One page of the list.
type LoggedRequestList struct {
	// The type of the object.
	Object string `json:"object"`

	// Newest first.
	Data []LoggedRequest `json:"data"`

	// True if there is another page.
	HasMore bool `json:"has_more"`

	// The `cursor` of the next page.
	NextCursor *string `json:"next_cursor"`
}

// The new token, which only this response contains.
type NewAgentToken struct {
	// The id of an agent token: agtok_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The id of an account: acct_…
	Account string `json:"account"`

	// USDC atoms (6 decimals), an integer from 1 to 1000000000000.
	Amount int64 `json:"amount"`

	// USDC, always.
	Currency string `json:"currency"`

	// held: its intent is in progress. spent: it has paid.
	Status string `json:"status"`

	// The id of a payment intent: pi_…
	PaymentIntent *string `json:"payment_intent"`

	// ISO 8601 UTC with milliseconds.
	ExpiresAt string `json:"expires_at"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// The token itself (agt_…). Shown only once.
	AgentToken string `json:"agent_token"`
}

// A sale that a till has accepted offline.
type OfflineRecord struct {
	// The EIP-3009 `ReceiveWithAuthorization` to the settlement contract.
	Authorization OfflineRecordAuthorization `json:"authorization"`

	// USDC atoms (6 decimals), an integer from 1 to 1000000000000.
	Amount int64 `json:"amount"`

	// Drawn by the till for this sale alone.
	Salt string `json:"salt"`

	// When the till accepted it, by its clock. It is never refused for being early or late; for the day of `per_card_per_day` it counts as at most 72 hours before its arrival, and 5 minutes after.
	AcceptedAt string `json:"accepted_at"`

	// Up to 500 characters.
	Description string `json:"description,omitempty"`

	// The lines of the sale, 1 to 100. Their sum must be the price: quantity × unit price per line, rounded half up, less the discounts, plus the tax of lines whose price does not include it, which is rounded half up once per rate. Before discounts and without their signs, they add up to at most 1000000000000000.
	LineItems []OfflineRecordLineItemsItem `json:"line_items,omitempty"`

	// The discount on the whole sale, in minor units of the presentment currency, or in USDC atoms for a sale without `presentment`, or `{"rate"}` of the lines above 0 after their own discounts, before tax on top, rounded half up. It is divided among these lines in proportion, rounded down; the last of them gets the rest. Only with `line_items`. Default 0.
	Discount json.RawMessage `json:"discount,omitempty"`

	// The name of the discount, 1 to 60 characters.
	DiscountName *string `json:"discount_name,omitempty"`

	// The person who was signed in at the till. An id that the account does not know is stored as null.
	Cashier *string `json:"cashier,omitempty"`

	// The price in the shop’s currency. If the terms are unknown or have ended, the sale is taken in USDC, and `presentment_problem` says so.
	Presentment *OfflineRecordPresentment `json:"presentment,omitempty"`

	// The payment intent that the terminal canceled for this sale, so that one cart is not paid twice. If it was paid, the record bounces as `already_paid`. If it is still open, it is canceled together with this sale. An id that the account does not know is ignored.
	Replaces *string `json:"replaces,omitempty"`
}

// The EIP-3009 `ReceiveWithAuthorization` to the settlement contract.
type OfflineRecordAuthorization struct {
	// The wallet.
	From string `json:"from"`

	// USDC atoms: the amount, and acquirer and protocol fee less cashback at the rates of `offline_terms`, each rounded down.
	Value int64 `json:"value"`

	// Unix seconds, usually 0.
	ValidAfter int64 `json:"valid_after"`

	// Unix seconds: at most 72 hours ahead, and not later than `rates_until`.
	ValidBefore int64 `json:"valid_before"`

	// The contract’s `authorizationNonce(merchant_number, amount, 0, 0x0000000000000000, salt)`.
	Nonce string `json:"nonce"`

	// 65 bytes, by the key of the wallet. Contract wallets do not sign offline.
	Signature string `json:"signature"`
}

// A line of the sale.
type OfflineRecordLineItemsItem struct {
	// The name of the sold item, 1 to 200 characters.
	Name string `json:"name"`

	// An integer above 0, or decimal text above 0 with up to 12 digits and three decimals: `2`, `"0.350"`.
	Quantity json.RawMessage `json:"quantity"`

	// The unit price, in minor units of the presentment currency, or in USDC atoms for a sale without `presentment`. Below 0 for a deposit that is given back, or a voucher; the sum of the sale stays above 0.
	UnitAmount int64 `json:"unit_amount"`

	// The tax rate in basis points, 0 to 10000, or the name of one of the `tax_rates` of the terminal’s location, or of the account if the location has none. Responses have basis points.
	TaxRate json.RawMessage `json:"tax_rate"`

	// Whether `unit_amount` includes the tax. If not, the tax is added to the price. Default: the account’s `prices_include_tax`.
	TaxInclusive *bool `json:"tax_inclusive,omitempty"`

	// The discount on this line: a sum, at most the amount of the line, or `{"rate"}` of that amount, rounded half up. 0 for a line below 0. Default 0.
	Discount json.RawMessage `json:"discount,omitempty"`

	// The name of the discount, 1 to 60 characters.
	DiscountName *string `json:"discount_name,omitempty"`

	// The catalog item that was sold. It may have been deleted since. The line keeps the item’s `category` of this moment.
	Item *string `json:"item,omitempty"`
}

// The price in the shop’s currency. If the terms are unknown or have ended, the sale is taken in USDC, and `presentment_problem` says so.
type OfflineRecordPresentment struct {
	// The `id` of the terms: `offline_terms.presentment`.
	Terms string `json:"terms"`

	// The price in minor units. `amount` is rate × this, rounded up.
	Amount int64 `json:"amount"`
}

// CardTap of the API.
type CardTap struct {
	// The URL that the card produces; valid for one attempt.
	URL string `json:"url"`
}

// RotatingCode of the API.
type RotatingCode struct {
	// The id of the pass, a period and the current code.
	Value string `json:"value"`
}

// The data that a phone with the pass sends to a reader now.
type PhoneTap struct {
	// The value that the reader sends; valid for one attempt.
	Value string `json:"value"`
}

// TestClock of the API.
type TestClock struct {
	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// ISO 8601 UTC with milliseconds.
	Now string `json:"now"`

	// The total since the account was opened.
	AdvancedSeconds int64 `json:"advanced_seconds"`
}

// A test of this endpoint was requested. It is sent to this endpoint only, once, whatever it subscribes to.
type EventPing struct {
	// The id of an event: evt_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The type of the event.
	Type string `json:"type"`

	// The version that the event is rendered in.
	APIVersion string `json:"api_version"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Increases with each event about an object (per account and mode): of two events about the same object, the one with the higher sequence is newer.
	Sequence int64 `json:"sequence"`

	// The object that the event is about.
	Data EventPingData `json:"data"`
}

// The object that the event is about.
type EventPingData struct {
	Object WebhookEndpoint `json:"object"`
}

// A payment intent was created, by the API or on a terminal.
type EventPaymentIntentCreated struct {
	// The id of an event: evt_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The type of the event.
	Type string `json:"type"`

	// The version that the event is rendered in.
	APIVersion string `json:"api_version"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Increases with each event about an object (per account and mode): of two events about the same object, the one with the higher sequence is newer.
	Sequence int64 `json:"sequence"`

	// The object that the event is about.
	Data EventPaymentIntentCreatedData `json:"data"`
}

// The object that the event is about.
type EventPaymentIntentCreatedData struct {
	Object PaymentIntent `json:"object"`
}

// The payer has to confirm the payment in the payer app, within 60 seconds.
type EventPaymentIntentRequiresAction struct {
	// The id of an event: evt_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The type of the event.
	Type string `json:"type"`

	// The version that the event is rendered in.
	APIVersion string `json:"api_version"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Increases with each event about an object (per account and mode): of two events about the same object, the one with the higher sequence is newer.
	Sequence int64 `json:"sequence"`

	// The object that the event is about.
	Data EventPaymentIntentRequiresActionData `json:"data"`
}

// The object that the event is about.
type EventPaymentIntentRequiresActionData struct {
	Object PaymentIntent `json:"object"`
}

// The settlement was requested. The result follows in another event.
type EventPaymentIntentProcessing struct {
	// The id of an event: evt_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The type of the event.
	Type string `json:"type"`

	// The version that the event is rendered in.
	APIVersion string `json:"api_version"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Increases with each event about an object (per account and mode): of two events about the same object, the one with the higher sequence is newer.
	Sequence int64 `json:"sequence"`

	// The object that the event is about.
	Data EventPaymentIntentProcessingData `json:"data"`
}

// The object that the event is about.
type EventPaymentIntentProcessingData struct {
	Object PaymentIntent `json:"object"`
}

// The payment is settled on the blockchain.
type EventPaymentIntentSucceeded struct {
	// The id of an event: evt_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The type of the event.
	Type string `json:"type"`

	// The version that the event is rendered in.
	APIVersion string `json:"api_version"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Increases with each event about an object (per account and mode): of two events about the same object, the one with the higher sequence is newer.
	Sequence int64 `json:"sequence"`

	// The object that the event is about.
	Data EventPaymentIntentSucceededData `json:"data"`
}

// The object that the event is about.
type EventPaymentIntentSucceededData struct {
	Object PaymentIntent `json:"object"`
}

// The intent was canceled or expired. Nothing was charged.
type EventPaymentIntentCanceled struct {
	// The id of an event: evt_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The type of the event.
	Type string `json:"type"`

	// The version that the event is rendered in.
	APIVersion string `json:"api_version"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Increases with each event about an object (per account and mode): of two events about the same object, the one with the higher sequence is newer.
	Sequence int64 `json:"sequence"`

	// The object that the event is about.
	Data EventPaymentIntentCanceledData `json:"data"`
}

// The object that the event is about.
type EventPaymentIntentCanceledData struct {
	Object PaymentIntent `json:"object"`
}

// A payment was declined; last_payment_error says why. Nothing was charged.
type EventPaymentIntentPaymentFailed struct {
	// The id of an event: evt_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The type of the event.
	Type string `json:"type"`

	// The version that the event is rendered in.
	APIVersion string `json:"api_version"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Increases with each event about an object (per account and mode): of two events about the same object, the one with the higher sequence is newer.
	Sequence int64 `json:"sequence"`

	// The object that the event is about.
	Data EventPaymentIntentPaymentFailedData `json:"data"`
}

// The object that the event is about.
type EventPaymentIntentPaymentFailedData struct {
	Object PaymentIntent `json:"object"`
}

// A payment is settled and is in the merchant balance.
type EventPaymentSucceeded struct {
	// The id of an event: evt_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The type of the event.
	Type string `json:"type"`

	// The version that the event is rendered in.
	APIVersion string `json:"api_version"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Increases with each event about an object (per account and mode): of two events about the same object, the one with the higher sequence is newer.
	Sequence int64 `json:"sequence"`

	// The object that the event is about.
	Data EventPaymentSucceededData `json:"data"`
}

// The object that the event is about.
type EventPaymentSucceededData struct {
	Object Payment `json:"object"`
}

// A refund of the payment succeeded, in part or in full.
type EventPaymentRefunded struct {
	// The id of an event: evt_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The type of the event.
	Type string `json:"type"`

	// The version that the event is rendered in.
	APIVersion string `json:"api_version"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Increases with each event about an object (per account and mode): of two events about the same object, the one with the higher sequence is newer.
	Sequence int64 `json:"sequence"`

	// The object that the event is about.
	Data EventPaymentRefundedData `json:"data"`
}

// The object that the event is about.
type EventPaymentRefundedData struct {
	Object Payment `json:"object"`
}

// The payer received the cashback of the payment.
type EventPaymentCashbackPaid struct {
	// The id of an event: evt_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The type of the event.
	Type string `json:"type"`

	// The version that the event is rendered in.
	APIVersion string `json:"api_version"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Increases with each event about an object (per account and mode): of two events about the same object, the one with the higher sequence is newer.
	Sequence int64 `json:"sequence"`

	// The object that the event is about.
	Data EventPaymentCashbackPaidData `json:"data"`
}

// The object that the event is about.
type EventPaymentCashbackPaidData struct {
	Object Payment `json:"object"`
}

// A refund was requested.
type EventRefundCreated struct {
	// The id of an event: evt_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The type of the event.
	Type string `json:"type"`

	// The version that the event is rendered in.
	APIVersion string `json:"api_version"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Increases with each event about an object (per account and mode): of two events about the same object, the one with the higher sequence is newer.
	Sequence int64 `json:"sequence"`

	// The object that the event is about.
	Data EventRefundCreatedData `json:"data"`
}

// The object that the event is about.
type EventRefundCreatedData struct {
	Object Refund `json:"object"`
}

// The refund was paid to the payer.
type EventRefundSucceeded struct {
	// The id of an event: evt_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The type of the event.
	Type string `json:"type"`

	// The version that the event is rendered in.
	APIVersion string `json:"api_version"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Increases with each event about an object (per account and mode): of two events about the same object, the one with the higher sequence is newer.
	Sequence int64 `json:"sequence"`

	// The object that the event is about.
	Data EventRefundSucceededData `json:"data"`
}

// The object that the event is about.
type EventRefundSucceededData struct {
	Object Refund `json:"object"`
}

// The refund failed. No money moved.
type EventRefundFailed struct {
	// The id of an event: evt_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The type of the event.
	Type string `json:"type"`

	// The version that the event is rendered in.
	APIVersion string `json:"api_version"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Increases with each event about an object (per account and mode): of two events about the same object, the one with the higher sequence is newer.
	Sequence int64 `json:"sequence"`

	// The object that the event is about.
	Data EventRefundFailedData `json:"data"`
}

// The object that the event is about.
type EventRefundFailedData struct {
	Object Refund `json:"object"`
}

// A refund changed after it was created.
type EventRefundUpdated struct {
	// The id of an event: evt_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The type of the event.
	Type string `json:"type"`

	// The version that the event is rendered in.
	APIVersion string `json:"api_version"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Increases with each event about an object (per account and mode): of two events about the same object, the one with the higher sequence is newer.
	Sequence int64 `json:"sequence"`

	// The object that the event is about.
	Data EventRefundUpdatedData `json:"data"`
}

// The object that the event is about.
type EventRefundUpdatedData struct {
	Object Refund `json:"object"`

	// The fields that changed, with the values that they had before.
	PreviousAttributes json.RawMessage `json:"previous_attributes"`
}

// A sale that a till had accepted offline is settled.
type EventOfflinePaymentSucceeded struct {
	// The id of an event: evt_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The type of the event.
	Type string `json:"type"`

	// The version that the event is rendered in.
	APIVersion string `json:"api_version"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Increases with each event about an object (per account and mode): of two events about the same object, the one with the higher sequence is newer.
	Sequence int64 `json:"sequence"`

	// The object that the event is about.
	Data EventOfflinePaymentSucceededData `json:"data"`
}

// The object that the event is about.
type EventOfflinePaymentSucceededData struct {
	Object OfflinePayment `json:"object"`
}

// A sale that a till had accepted offline cannot be paid; bounce_reason says why. Nothing was charged, and the merchant bears the loss.
type EventOfflinePaymentBounced struct {
	// The id of an event: evt_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The type of the event.
	Type string `json:"type"`

	// The version that the event is rendered in.
	APIVersion string `json:"api_version"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Increases with each event about an object (per account and mode): of two events about the same object, the one with the higher sequence is newer.
	Sequence int64 `json:"sequence"`

	// The object that the event is about.
	Data EventOfflinePaymentBouncedData `json:"data"`
}

// The object that the event is about.
type EventOfflinePaymentBouncedData struct {
	Object OfflinePayment `json:"object"`
}

// A terminal was added in the dashboard.
type EventTerminalCreated struct {
	// The id of an event: evt_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The type of the event.
	Type string `json:"type"`

	// The version that the event is rendered in.
	APIVersion string `json:"api_version"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Increases with each event about an object (per account and mode): of two events about the same object, the one with the higher sequence is newer.
	Sequence int64 `json:"sequence"`

	// The object that the event is about.
	Data EventTerminalCreatedData `json:"data"`
}

// The object that the event is about.
type EventTerminalCreatedData struct {
	Object Terminal `json:"object"`
}

// A terminal was renamed, activated, deactivated, or got other limits of offline sales.
type EventTerminalUpdated struct {
	// The id of an event: evt_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The type of the event.
	Type string `json:"type"`

	// The version that the event is rendered in.
	APIVersion string `json:"api_version"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Increases with each event about an object (per account and mode): of two events about the same object, the one with the higher sequence is newer.
	Sequence int64 `json:"sequence"`

	// The object that the event is about.
	Data EventTerminalUpdatedData `json:"data"`
}

// The object that the event is about.
type EventTerminalUpdatedData struct {
	Object Terminal `json:"object"`

	// The fields that changed, with the values that they had before.
	PreviousAttributes json.RawMessage `json:"previous_attributes"`
}

// Account of the API.
type Account struct {
	// The id of an account: acct_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The list may grow.
	KybStatus string `json:"kyb_status"`

	// The reason for the decision.
	Reason *string `json:"reason"`

	// ISO 8601 UTC with milliseconds.
	Updated string `json:"updated"`
}

// The business verification was decided. Sent in both modes.
type EventKybStatusChanged struct {
	// The id of an event: evt_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The type of the event.
	Type string `json:"type"`

	// The version that the event is rendered in.
	APIVersion string `json:"api_version"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Increases with each event about an object (per account and mode): of two events about the same object, the one with the higher sequence is newer.
	Sequence int64 `json:"sequence"`

	// The object that the event is about.
	Data EventKybStatusChangedData `json:"data"`
}

// The object that the event is about.
type EventKybStatusChangedData struct {
	Object Account `json:"object"`
}

// Withdrawal of the API.
type Withdrawal struct {
	// The id of a withdrawal: wdr_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// USDC atoms (6 decimals), an integer from 1 to 1000000000000.
	Amount int64 `json:"amount"`

	// USDC, always.
	Currency string `json:"currency"`

	// USDC for one unit of the shop’s currency when it was booked, as decimal text. `null` until then, for a shop without a currency, and after a loss of data.
	ShopRate *string `json:"shop_rate"`

	// The amount of the withdrawal.
	Status string `json:"status"`

	// The settlement wallet.
	Wallet string `json:"wallet"`

	// The reason why it failed.
	FailureCode *string `json:"failure_code"`

	// Hash of the transaction.
	TxHash *string `json:"tx_hash"`

	// True if the service requested it automatically.
	Automatic bool `json:"automatic"`

	// The first day of the period that it ends, YYYY-MM-DD.
	Period *string `json:"period"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// ISO 8601 UTC with milliseconds.
	Updated string `json:"updated"`
}

// A withdrawal has reached the settlement wallet.
type EventBalanceWithdrawalPaid struct {
	// The id of an event: evt_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The type of the event.
	Type string `json:"type"`

	// The version that the event is rendered in.
	APIVersion string `json:"api_version"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Increases with each event about an object (per account and mode): of two events about the same object, the one with the higher sequence is newer.
	Sequence int64 `json:"sequence"`

	// The object that the event is about.
	Data EventBalanceWithdrawalPaidData `json:"data"`
}

// The object that the event is about.
type EventBalanceWithdrawalPaidData struct {
	Object Withdrawal `json:"object"`
}

// The service disabled an endpoint after five days of failures or a 410 Gone response. Sent to the account's other endpoints.
type EventWebhookEndpointDisabled struct {
	// The id of an event: evt_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The type of the event.
	Type string `json:"type"`

	// The version that the event is rendered in.
	APIVersion string `json:"api_version"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Increases with each event about an object (per account and mode): of two events about the same object, the one with the higher sequence is newer.
	Sequence int64 `json:"sequence"`

	// The object that the event is about.
	Data EventWebhookEndpointDisabledData `json:"data"`
}

// The object that the event is about.
type EventWebhookEndpointDisabledData struct {
	Object WebhookEndpoint `json:"object"`
}

// Export of the API.
type Export struct {
	// The type of the object.
	Object string `json:"object"`

	// Downloads the statement without a session, until `expires_at`.
	URL string `json:"url"`

	// The format of the statement. The list may grow.
	Format string `json:"format"`

	// The first day, YYYY-MM-DD.
	From string `json:"from"`

	// The last day, YYYY-MM-DD.
	To string `json:"to"`

	// The number of its entries.
	Entries int64 `json:"entries"`

	// ISO 8601 UTC with milliseconds.
	ExpiresAt string `json:"expires_at"`
}

// A period of the export schedule has ended: `url` downloads its statement.
type EventExportReady struct {
	// The id of an event: evt_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The type of the event.
	Type string `json:"type"`

	// The version that the event is rendered in.
	APIVersion string `json:"api_version"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Increases with each event about an object (per account and mode): of two events about the same object, the one with the higher sequence is newer.
	Sequence int64 `json:"sequence"`

	// The object that the event is about.
	Data EventExportReadyData `json:"data"`
}

// The object that the event is about.
type EventExportReadyData struct {
	Object Export `json:"object"`
}

// A shift at a terminal has ended. The event carries its report.
type EventShiftEnded struct {
	// The id of an event: evt_…
	ID string `json:"id"`

	// The type of the object.
	Object string `json:"object"`

	// false in test mode.
	Livemode bool `json:"livemode"`

	// The network of the mode.
	Network string `json:"network"`

	// The type of the event.
	Type string `json:"type"`

	// The version that the event is rendered in.
	APIVersion string `json:"api_version"`

	// ISO 8601 UTC with milliseconds.
	Created string `json:"created"`

	// Increases with each event about an object (per account and mode): of two events about the same object, the one with the higher sequence is newer.
	Sequence int64 `json:"sequence"`

	// The object that the event is about.
	Data EventShiftEndedData `json:"data"`
}

// The object that the event is about.
type EventShiftEndedData struct {
	Object ShiftReport `json:"object"`
}

// CreatePaymentIntentBody of the API.
type CreatePaymentIntentBody struct {
	// USDC atoms (6 decimals), 1 to 1000000000000. Required without `presentment`.
	Amount int64 `json:"amount,omitempty"`

	// The price in the shop’s currency, instead of `amount`. The response’s `amount` is its value: rate × amount, rounded down.
	Presentment *CreatePaymentIntentBodyPresentment `json:"presentment,omitempty"`

	// The lines of the sale, 1 to 100. Their sum must be the price: quantity × unit price per line, rounded half up, less the discounts, plus the tax of lines whose price does not include it, which is rounded half up once per rate. Before discounts and without their signs, they add up to at most 1000000000000000.
	LineItems []CreatePaymentIntentBodyLineItemsItem `json:"line_items,omitempty"`

	// The discount on the whole sale, in minor units of the presentment currency, or in USDC atoms for a sale without `presentment`, or `{"rate"}` of the lines above 0 after their own discounts, before tax on top, rounded half up. It is divided among these lines in proportion, rounded down; the last of them gets the rest. Only with `line_items`. Default 0.
	Discount json.RawMessage `json:"discount,omitempty"`

	// The name of the discount, 1 to 60 characters.
	DiscountName *string `json:"discount_name,omitempty"`

	// The id of a terminal: tml_…
	Terminal string `json:"terminal"`

	// 1 to 8 characters of A-Z a-z 0-9 - _; written on-chain; unique per account and mode; generated from the Idempotency-Key if omitted.
	OrderID string `json:"order_id,omitempty"`

	// Up to 500 characters; shown on the terminal.
	Description string `json:"description,omitempty"`

	// Up to 20 pairs: keys of 1 to 40 characters of A-Z a-z 0-9 _ . -, string values of up to 500 characters. No secrets or personal data. Returned unchanged.
	Metadata map[string]string `json:"metadata,omitempty"`

	// The tips that the terminal offers its customer. `null` if the customer cannot tip.
	Tipping *CreatePaymentIntentBodyTipping `json:"tipping,omitempty"`

	// Seconds until an unpaid intent is canceled: 30 to 600, default 120.
	ExpiresIn int64 `json:"expires_in,omitempty"`
}

// The price in the shop’s currency, instead of `amount`. The response’s `amount` is its value: rate × amount, rounded down.
type CreatePaymentIntentBodyPresentment struct {
	// An ISO 4217 currency code, in lowercase.
	Currency string `json:"currency"`

	// Minor units of the currency by ISO 4217: cents of EUR, whole JPY, thousandths of KWD. It must be worth 1 to 1000000000000 USDC atoms.
	Amount int64 `json:"amount"`
}

// A line of the sale.
type CreatePaymentIntentBodyLineItemsItem struct {
	// The name of the sold item, 1 to 200 characters.
	Name string `json:"name"`

	// An integer above 0, or decimal text above 0 with up to 12 digits and three decimals: `2`, `"0.350"`.
	Quantity json.RawMessage `json:"quantity"`

	// The unit price, in minor units of the presentment currency, or in USDC atoms for a sale without `presentment`. Below 0 for a deposit that is given back, or a voucher; the sum of the sale stays above 0.
	UnitAmount int64 `json:"unit_amount"`

	// The tax rate in basis points, 0 to 10000, or the name of one of the `tax_rates` of the terminal’s location, or of the account if the location has none. Responses have basis points.
	TaxRate json.RawMessage `json:"tax_rate"`

	// Whether `unit_amount` includes the tax. If not, the tax is added to the price. Default: the account’s `prices_include_tax`.
	TaxInclusive *bool `json:"tax_inclusive,omitempty"`

	// The discount on this line: a sum, at most the amount of the line, or `{"rate"}` of that amount, rounded half up. 0 for a line below 0. Default 0.
	Discount json.RawMessage `json:"discount,omitempty"`

	// The name of the discount, 1 to 60 characters.
	DiscountName *string `json:"discount_name,omitempty"`

	// The catalog item that was sold. It may have been deleted since. The line keeps the item’s `category` of this moment.
	Item *string `json:"item,omitempty"`
}

// The tips that the terminal offers its customer. `null` if the customer cannot tip.
type CreatePaymentIntentBodyTipping struct {
	// 1 to 3 percentages, in the order they are shown.
	Percentages []int64 `json:"percentages"`
}

// ConfirmPaymentIntentBody of the API.
type ConfirmPaymentIntentBody struct {
	// The token of the payer's AI agent (agt_…), passed on unchanged.
	AgentToken string `json:"agent_token"`
}

// CreateRefundBody of the API.
type CreateRefundBody struct {
	// The id of a payment: pay_…
	Payment string `json:"payment"`

	// USDC atoms (6 decimals), an integer from 1 to 1000000000000.
	Amount int64 `json:"amount,omitempty"`

	// Minor units of the currency of the sale, instead of `amount`: returns that share of the atoms that were paid. Only for a payment with `presentment`.
	PresentmentAmount int64 `json:"presentment_amount,omitempty"`

	// Parts of lines of the sale, instead of a sum: returns their prices after all discounts, and the tax that was added to them. Lines below 0 only together with others. Only for a payment with `line_items`.
	LineItems []CreateRefundBodyLineItemsItem `json:"line_items,omitempty"`

	// Up to 500 characters.
	Reason string `json:"reason,omitempty"`

	// Up to 20 pairs: keys of 1 to 40 characters of A-Z a-z 0-9 _ . -, string values of up to 500 characters. No secrets or personal data. Returned unchanged.
	Metadata map[string]string `json:"metadata,omitempty"`
}

// A part of a line.
type CreateRefundBodyLineItemsItem struct {
	// The index of the line in `line_items` of the payment, from 0 on.
	Line int64 `json:"line"`

	// How much of the line: an integer, or decimal text.
	Quantity json.RawMessage `json:"quantity"`
}

// CreateWebhookEndpointBody of the API.
type CreateWebhookEndpointBody struct {
	// https (in test mode also http), port 80, 443 or 1024 to 65535, no user name, password or fragment, not at a private or reserved address.
	URL string `json:"url"`

	// Exact event types, families such as refund.*, or * for all.
	EnabledEvents []string `json:"enabled_events"`

	// Up to 500 characters.
	Description *string `json:"description,omitempty"`
}

// UpdateWebhookEndpointBody of the API.
type UpdateWebhookEndpointBody struct {
	// https (in test mode also http), port 80, 443 or 1024 to 65535, no user name, password or fragment, not at a private or reserved address.
	URL string `json:"url,omitempty"`

	// Exact event types, families such as refund.*, or * for all.
	EnabledEvents []string `json:"enabled_events,omitempty"`

	// Up to 500 characters.
	Description *string `json:"description,omitempty"`

	// Disabling ends pending deliveries as failed.
	Status string `json:"status,omitempty"`
}

// ReplayWebhookEventsBody of the API.
type ReplayWebhookEventsBody struct {
	// Events created at or after this time.
	Since string `json:"since"`

	// Events created before this time. Default: now.
	Until string `json:"until,omitempty"`

	// Exact event types, families such as refund.*, or * for all.
	Types []string `json:"types,omitempty"`
}

// TestTapTerminalBody of the API.
type TestTapTerminalBody struct {
	// The pass that the terminal’s reader read.
	Credential TestTapTerminalBodyCredential `json:"credential,omitempty"`

	// The id of a payment intent: pi_…
	PaymentIntent string `json:"payment_intent,omitempty"`

	// USDC atoms on top of the amount of the sale, and at most that amount; sale and tip together are at most 1000000000000. Only for an intent with `tipping`.
	TipAmount int64 `json:"tip_amount,omitempty"`
}

// The pass that the terminal’s reader read.
type TestTapTerminalBodyCredential struct {
	// The kind of credential: the static chip of a pass, a SUN card, a code of the wallet app, a code of a pass that changes every half minute, or the pass in Google Wallet or Apple Wallet.
	Type string `json:"type"`

	// nfc_id: the credential of the pass (nfc_…). nfc_sun: the URL that the card gave. qr: the text of the code. rotating_code: the id of the pass, a period and eight digits. smart_tap, apple_vas: base64url of a byte 1, the 32 bytes that the phone drew (Smart Tap) or the 4 bytes of its Unix time (VAS), and the message of the pass.
	Value string `json:"value"`
}

// TestPayerConfirmBody of the API.
type TestPayerConfirmBody struct {
	// true: the payer approves; false: the payer rejects.
	Approve bool `json:"approve"`
}

// TestCreateAgentTokenBody of the API.
type TestCreateAgentTokenBody struct {
	// USDC atoms (6 decimals), an integer from 1 to 1000000000000.
	Amount int64 `json:"amount"`

	// Seconds until the token expires: 60 to 86400.
	ExpiresIn int64 `json:"expires_in,omitempty"`

	// A pass (nfc_…) of the payer whose agent gets the token.
	Pass string `json:"pass,omitempty"`
}

// TestTriggerEventBody of the API.
type TestTriggerEventBody struct {
	// An event type; not ping.
	Type string `json:"type"`
}

// TestOfflinePaymentBody of the API.
type TestOfflinePaymentBody struct {
	// USDC atoms, 1 to 1000000000000. Required without `presentment_amount`.
	Amount int64 `json:"amount,omitempty"`

	// The price in minor units of the shop’s currency, at the terminal’s terms.
	PresentmentAmount int64 `json:"presentment_amount,omitempty"`

	// A demo pass, by its name in sandbox.json or its credential. Default `ok`.
	Pass string `json:"pass,omitempty"`

	// When the till accepted the sale. Default: now.
	AcceptedAt string `json:"accepted_at,omitempty"`
}

// TestAdvanceClockBody of the API.
type TestAdvanceClockBody struct {
	// How far to advance the clock: 1 second to 366 days.
	Seconds int64 `json:"seconds"`
}
