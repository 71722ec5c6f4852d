// The seeded bugs of mutations.ts: each is one that somebody could really make.

import { GUARD_MUTATIONS } from './mutation-list-guards.ts';

export type Mutation = {
  /** What goes wrong. */
  name: string;
  file: string;
  /** Occurs exactly once in the file. */
  from: string;
  to: string;
};

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'a settled number settles again',
    file: 'Batches.sol',
    from: 'if ((batch.word >> (number & 0xff)) & 1 == 1) return Reason.ALREADY_SETTLED;',
    to: '',
  },
  {
    name: 'the replay bit is not set',
    file: 'Batches.sol',
    from: 'batch.word |= 1 << (head.number() & 0xff);',
    to: '',
  },
  {
    name: 'the bitmap word is dropped when another one is loaded',
    file: 'Batches.sol',
    from: 'if (batch.word != 0) _settledNumbers[batch.wordIndex] = batch.word;',
    to: '',
  },
  {
    name: 'a merchant is dropped when another one is loaded',
    file: 'Batches.sol',
    from: 'if (batch.account != 0) _storeAccount(uint32(batch.merchant), batch.account);',
    to: '',
  },
  {
    name: 'bits of two words are mixed up',
    file: 'Batches.sol',
    from: 'if (number >> 8 != batch.wordIndex) _loadWord(batch, number >> 8);',
    to: 'if (number >> 9 != batch.wordIndex) _loadWord(batch, number >> 9);',
  },
  {
    name: 'the fee is taken from the merchant',
    file: 'Batches.sol',
    from: '(uint256(tail.amount()) << BALANCE_SHIFT);',
    to: '(uint256(tail.amount() - charges.acquirerFee()) << BALANCE_SHIFT);',
  },
  {
    name: 'cashback is booked as a fee as well',
    file: 'PackedLedger.sol',
    from: 'uint256(charges.protocolFee()) - charges.cashback();',
    to: 'uint256(charges.protocolFee());',
  },
  {
    name: 'cashback is not paid',
    file: 'Batches.sol',
    from: 'pulled = amount + acquirerFee + protocolFee - cashback;',
    to: 'pulled = amount + acquirerFee + protocolFee;',
  },
  {
    name: 'fees are rounded up',
    file: 'Batches.sol',
    from: 'uint256 acquirerFee = amount * ledger.acquirerRate() / BASIS_POINTS;',
    to: 'uint256 acquirerFee = (amount * ledger.acquirerRate() + BASIS_POINTS - 1) / BASIS_POINTS;',
  },
  {
    name: 'a sale of zero is accepted',
    file: 'Batches.sol',
    from: 'if (uint256(tail.amount()) - 1 >= MAX_AMOUNT) return Reason.AMOUNT_INVALID;',
    to: 'if (uint256(tail.amount()) > MAX_AMOUNT) return Reason.AMOUNT_INVALID;',
  },
  {
    name: 'an unknown merchant is credited',
    file: 'Batches.sol',
    from: 'if (batch.account == 0) return Reason.MERCHANT_UNKNOWN;',
    to: '',
  },
  {
    name: 'an empty order id is accepted',
    file: 'Batches.sol',
    from: 'if (bytes1(tail.orderId()) == 0) return Reason.ORDER_ID_INVALID;',
    to: '',
  },
  {
    name: 'settling ignores its pause',
    file: 'Batches.sol',
    from: 'if (batch.ledger.settlingPaused()) revert SettlingIsPaused();',
    to: '',
  },
  {
    name: 'a batch in which nothing settled uses up a number',
    file: 'Batches.sol',
    from: 'if (batch.settled == 0) return;',
    to: '',
  },
  {
    name: 'a failed pull is booked',
    file: 'Settlement.sol',
    from: 'if (reason != Reason.NONE) return reason;\n        slot.policy = policy;',
    to: 'slot.policy = policy;',
  },
  {
    name: 'the cap per period is not counted up',
    file: 'Settlement.sol',
    from: 'slot.policy = policy;',
    to: '',
  },
  {
    name: 'a failed payment counts towards the cap',
    file: 'Settlement.sol',
    from: 'reason = _pull(head.payer(),',
    to: 'slot.policy = policy;\n        reason = _pull(head.payer(),',
  },
  {
    name: 'anybody settles',
    file: 'Settlement.sol',
    from: 'uint40 validUntil)\n        external\n        onlyRole(OPERATOR_ROLE)',
    to: 'uint40 validUntil)\n        external',
  },
  {
    name: 'settling can be entered again',
    file: 'Settlement.sol',
    from: 'onlyRole(OPERATOR_ROLE)\n        nonReentrant\n        returns (bytes memory reasons)',
    to: 'onlyRole(OPERATOR_ROLE)\n        returns (bytes memory reasons)',
  },
  {
    name: 'short gas fails a good payment',
    file: 'Settlement.sol',
    from: 'if (gasleft() < needed) revert GasTooLow(gasleft(), needed);',
    to: '',
  },
  {
    name: 'the 1/64 of EIP-150 is forgotten',
    file: 'Settlement.sol',
    from: 'uint256 needed = pullGas + pullGas / 63 + 10_000;',
    to: 'uint256 needed = pullGas;',
  },
  {
    name: 'a token that answers false has paid',
    file: 'Settlement.sol',
    from: 'let affirmed := and(gt(returndatasize(), 0x1f), eq(mload(0x00), 1))',
    to: 'let affirmed := gt(returndatasize(), 0x1f)',
  },
  {
    name: 'a token that answers nothing has paid',
    file: 'Settlement.sol',
    from: 'let affirmed := and(gt(returndatasize(), 0x1f), eq(mload(0x00), 1))',
    to: 'let affirmed := or(iszero(returndatasize()), eq(mload(0x00), 1))',
  },
  {
    name: 'an authorization does not bind the merchant',
    file: 'Settlement.sol',
    from: 'abi.encode(AUTHORIZATION_TYPEHASH, merchant, amount, number, orderId, salt)',
    to: 'abi.encode(AUTHORIZATION_TYPEHASH, uint32(merchant * 0), amount, number, orderId, salt)',
  },
  {
    name: 'an authorization never binds the order',
    file: 'Settlement.sol',
    from: 'binds ? tail.orderId() : bytes8(0),',
    to: 'bytes8(0),',
  },
  {
    name: 'an authorized payment skips the common checks',
    file: 'Settlement.sol',
    from: 'uint256 reason = _refusal(batch, head, tail);\n        if (reason',
    to: '_refusal(batch, head, tail);\n        uint256 reason;\n        if (reason',
  },
  {
    name: 'one atom above the cap per payment passes',
    file: 'PackedPolicy.sol',
    from: 'if (amount > policy.perPayment()) return',
    to: 'if (amount > uint256(policy.perPayment()) + 1) return',
  },
  {
    name: 'the cap per period is a cap per payment',
    file: 'PackedPolicy.sol',
    from: 'spent += uint48(word >> 32);',
    to: '',
  },
  {
    name: 'the period never ends',
    file: 'PackedPolicy.sol',
    from: 'if (uint32(word) == period) {',
    to: 'if (uint32(word) <= period) {',
  },
  {
    name: 'a policy holds one second too long',
    file: 'PackedPolicy.sol',
    from: 'if (time >= expiry) {',
    to: 'if (time > expiry) {',
  },
  {
    name: 'the highest fee rate of the payer is ignored',
    file: 'PackedPolicy.sol',
    from: 'if (feeRate > policy.maxFeeRate()) return (Reason.FEES_ABOVE_POLICY, policy);',
    to: '',
  },
  {
    name: 'a signed policy can be used twice',
    file: 'SpendingPolicies.sol',
    from: 'policy.maxFeeRate,\n                _useNonce(payer),',
    to: 'policy.maxFeeRate,\n                nonces(payer),',
  },
  {
    name: 'revoking leaves signed policies valid',
    file: 'SpendingPolicies.sol',
    from: '_useNonce(msg.sender);\n        _revoke(msg.sender);',
    to: '_revoke(msg.sender);',
  },
  {
    name: 'enrolment does not look at the allowance',
    file: 'SpendingPolicies.sol',
    from: 'if (allowance < policy.perPayment) revert',
    to: 'if (false) revert',
  },
  {
    name: 'a late signature is accepted',
    file: 'SpendingPolicies.sol',
    from: 'if (block.timestamp > deadline) revert SignatureExpired(deadline, block.timestamp);',
    to: '',
  },
  {
    name: 'a proof is not checked',
    file: 'Refunds.sol',
    from: 'if (root == 0 || root != PaymentTree.rootOf(proof, PaymentCodec.leaf(packed, 0))) {',
    to: 'if (root == 0) {',
  },
  {
    name: 'refunds add up above the payment',
    file: 'Refunds.sol',
    from: 'uint256 refundable = paid - refunded;',
    to: 'uint256 refundable = paid;',
  },
  {
    name: 'a refund sent again pays again',
    file: 'Refunds.sol',
    from: 'if (refundedBefore != refunded) revert RefundOutOfOrder(refundedBefore, refunded);',
    to: '',
  },
  {
    name: 'a refund may name more than was refunded',
    file: 'Refunds.sol',
    from: 'if (refundedBefore != refunded) revert',
    to: 'if (refundedBefore < refunded) revert',
  },
  {
    name: 'a refund is paid by the network',
    file: 'Refunds.sol',
    from: '_debit(tail.merchant(), amount);',
    to: '',
  },
  {
    name: 'refunding ignores its pause',
    file: 'Refunds.sol',
    from: 'if (_ledger.refundingPaused()) revert RefundingIsPaused();',
    to: '',
  },
  {
    name: 'a withdrawal sent again pays again',
    file: 'Merchants.sol',
    from: 'if (_withdrawn[number]) revert WithdrawalAlreadyPaid(number);',
    to: '',
  },
  {
    name: 'a withdrawal number from 65,536 on pays twice',
    file: 'Merchants.sol',
    from: '_withdrawn[number] = true;',
    to: '_withdrawn[number & 0xffff] = true;',
  },
  {
    name: 'a batch settles after its time',
    file: 'Settlement.sol',
    from: 'if (block.timestamp > validUntil) revert',
    to: 'if (false) revert',
  },
  {
    name: 'a batch does not settle in its last second',
    file: 'Settlement.sol',
    from: 'if (block.timestamp > validUntil) revert',
    to: 'if (block.timestamp >= validUntil) revert',
  },
  {
    name: 'a merchant withdraws more than its balance',
    file: 'Merchants.sol',
    from: 'if (amount > balance) revert InsufficientMerchantBalance(amount, balance);',
    to: '',
  },
  {
    name: 'anybody withdraws for a wallet',
    file: 'Merchants.sol',
    from: 'if (wallet != registered) revert NotMerchantWallet(wallet, registered);',
    to: '',
  },
  {
    name: 'a merchant is registered without the consent of its wallet',
    file: 'Merchants.sol',
    from: '_requireSignature(wallet, structHash, deadline, signature);\n        merchant = ',
    to: 'merchant = ',
  },
  {
    name: 'a wallet changes at once',
    file: 'Merchants.sol',
    from: 'if (block.timestamp < change.applicableAt) {',
    to: 'if (false) {',
  },
  {
    name: 'rates have no cap',
    file: 'Governance.sol',
    from: 'if (feeRate > MAX_FEE_RATE) revert FeeRateTooHigh(feeRate, MAX_FEE_RATE);',
    to: '',
  },
  {
    name: 'the guardian lifts a pause',
    file: 'Governance.sol',
    from: 'function unpauseSettling() external onlyRole(DEFAULT_ADMIN_ROLE)',
    to: 'function unpauseSettling() external onlyRole(GUARDIAN_ROLE)',
  },
  {
    name: 'collected fees stay booked',
    file: 'Governance.sol',
    from: 'ledger.withFees(acquirerBooked - acquirerFees, protocolBooked - protocolFees);',
    to: 'ledger;',
  },
  {
    name: 'only the last payment of a batch earns its fees',
    file: 'Batches.sol',
    from: 'batch.charges = batch.charges + charges;',
    to: 'batch.charges = charges;',
  },
  {
    name: 'the event names the batch before',
    file: 'Batches.sol',
    from: 'charges.withBatch(batch.ledger.batches() + 1)',
    to: 'charges.withBatch(batch.ledger.batches())',
  },
  {
    name: 'the last word of a batch is not written',
    file: 'Batches.sol',
    from: '_settledNumbers[batch.wordIndex] = batch.word;\n        _storeAccount(',
    to: '_storeAccount(',
  },
  {
    name: 'fees above their width run into the next field',
    file: 'PackedLedger.sol',
    from: 'if ((acquirerSum | protocolSum) > FEES) revert',
    to: 'if (false) revert',
  },
  {
    name: 'no answer counts as an authorized pull that failed',
    file: 'Settlement.sol',
    from: 'succeeded := and(succeeded, or(affirmed, iszero(answers)))',
    to: 'succeeded := and(succeeded, affirmed)',
  },
  {
    name: 'a pull that reverted after an affirmation has paid',
    file: 'Settlement.sol',
    from: 'succeeded := and(succeeded, or(affirmed, iszero(answers)))',
    to: 'succeeded := or(affirmed, and(succeeded, iszero(answers)))',
  },
  {
    name: 'a batch of too many payments is taken',
    file: 'PaymentCodec.sol',
    from: 'if (payments > MAX_COUNT) revert',
    to: 'if (payments > MAX_COUNT + 1) revert',
  },
  {
    name: 'bytes after the last payment are overlooked',
    file: 'PaymentCodec.sol',
    from: 'if (payments == 0 || payments * SIZE != packed.length) {',
    to: 'if (payments == 0) {',
  },
  {
    name: 'the tree loses its last leaf when their number is odd',
    file: 'PaymentTree.sol',
    from: 'let odd := and(width, 1)',
    to: 'let odd := 0',
  },
  ...GUARD_MUTATIONS,
];
