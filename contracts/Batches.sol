// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {BatchRange, RANGE_NODES} from "./BatchRange.sol";
import {PackedCharges} from "./PackedCharges.sol";
import {PackedLedger, PackedLedgerFields} from "./PackedLedger.sol";
import {PaymentHead, PaymentTail} from "./PaymentCodec.sol";
import {PaymentRules} from "./PaymentRules.sol";
import {PaymentTree} from "./PaymentTree.sol";
import {Reason} from "./PaymentTypes.sol";
import {Payouts} from "./Payouts.sol";
import {SettledWord} from "./SettledWord.sol";

/// @title The record of settled payments: one bit per payment and one Merkle root per batch.
/// @notice The bit keeps a payment from settling twice. The root proves to a refund that its
/// payment was settled.
abstract contract Batches is Payouts {
    /// @dev The state of a batch while it settles: read once, changed in memory, and written back
    /// at the end. `account` is the Merchant slot of `merchant`, zero while none is loaded.
    /// `charges` is the sum over the `settled` payments so far, whose leaves `leaves` points to.
    /// `room` is the amount that this hour's ceiling still allows.
    struct Batch {
        PackedLedger ledger;
        PackedCharges charges;
        uint256 wordIndex;
        uint256 word;
        uint256 merchant;
        uint256 account;
        uint256 settled;
        uint256 leaves;
        uint256 room;
    }

    mapping(uint256 word => uint256 bits) private _settledNumbers;
    bytes32[RANGE_NODES] internal _nodes;

    /// @param terms The packed payment's last 17 bytes: merchant (4) | amount (5) | order id (8).
    /// So the concatenation of number, payer and terms is the preimage of the payment's leaf.
    /// Packed into one word, because a topic for the merchant and a word for each other field would
    /// cost another 700 gas.
    /// @param charges Four numbers of 64 bits, from the highest: the batch, acquirer fee, protocol
    /// fee and cashback, in atoms. Packed into one word, because one word each would cost another
    /// 768 gas.
    event PaymentSettled(
        uint64 indexed number, address indexed payer, bytes17 terms, uint256 charges
    );
    event PaymentFailed(uint64 indexed number, uint8 reason);

    /// @notice True if the payment with this number has settled.
    function isSettled(uint64 number) public view returns (bool) {
        return SettledWord.has(_settledNumbers[SettledWord.indexOf(number)], number);
    }

    /// @notice A node of the Merkle range over all batches (see {BatchRange}).
    function rangeNode(uint256 index) external view returns (bytes32) {
        return _nodes[index];
    }

    function _openBatch(uint256 count) internal view returns (Batch memory batch) {
        batch.ledger = _ledger;
        if (batch.ledger.settlingPaused()) revert SettlingIsPaused();
        batch.leaves = PaymentTree.allocate(count);
        batch.room = batch.ledger.roomAt(block.timestamp);
        // No payment number belongs to this word, and merchant 0 does not exist, so the first
        // payment loads both.
        batch.wordIndex = type(uint256).max;
    }

    /// @dev The checks of every payment, with a policy or with an authorization. Loads the
    /// payment's bitmap word and its merchant into the batch.
    function _refusal(Batch memory batch, PaymentHead head, PaymentTail tail)
        internal
        returns (uint256)
    {
        uint256 malformation = PaymentRules.malformation(tail);
        if (malformation != Reason.NONE) return malformation;
        uint256 number = head.number();
        if (SettledWord.indexOf(number) != batch.wordIndex) {
            _loadWord(batch, SettledWord.indexOf(number));
        }
        if (SettledWord.has(batch.word, number)) return Reason.ALREADY_SETTLED;
        if (tail.merchant() != batch.merchant) _loadMerchant(batch, tail.merchant());
        if (batch.account == 0) return Reason.MERCHANT_UNKNOWN;
        if (tail.amount() > batch.room) return Reason.CEILING_REACHED;
        return Reason.NONE;
    }

    /// @dev Records a payment after its money has arrived.
    function _book(
        Batch memory batch,
        PaymentHead head,
        PaymentTail tail,
        PackedCharges charges,
        bytes32 leaf
    ) internal {
        unchecked {
            uint256 account = batch.account + (uint256(tail.amount()) << BALANCE_SHIFT);
            if (account < batch.account) revert MerchantBalanceTooHigh(tail.merchant());
            batch.account = account;
            // {_refusal} has checked the bounds.
            batch.room -= tail.amount();
            batch.word = SettledWord.with(batch.word, head.number());
            batch.charges = batch.charges + charges;
            PaymentTree.set(batch.leaves, batch.settled, leaf);
            batch.settled += 1;
            emit PaymentSettled(
                head.number(),
                head.payer(),
                tail.terms(),
                charges.withBatch(batch.ledger.batches() + 1)
            );
        }
    }

    /// @dev Makes the slots that all batches share, so that no batch pays for a new one.
    function _prepareStorage() internal {
        BatchRange.fillRing(_nodes);
    }

    /// @dev Writes the batch's state back. A batch in which nothing settled changes no storage and
    /// takes no batch number. Otherwise a bitmap word and an account are loaded; writing them back
    /// has no effect if the last payments did not change them.
    function _closeBatch(Batch memory batch) internal {
        if (batch.settled == 0) return;
        _settledNumbers[batch.wordIndex] = batch.word;
        _storeAccount(uint32(batch.merchant), batch.account);
        PackedLedger ledger = batch.ledger;
        unchecked {
            uint256 settled = ledger.hourlyCeiling() * PackedLedgerFields.CEILING_UNIT - batch.room;
            ledger = ledger.withSettled(settled, block.timestamp).withBatch(batch.charges);
        }
        _ledger = ledger;
        BatchRange.append(
            _nodes, ledger.batches(), PaymentTree.root(batch.leaves, batch.settled)
        );
    }

    /// @dev Loads a bitmap word, after writing back the previous one if there is one and it is not
    /// empty.
    function _loadWord(Batch memory batch, uint256 index) private {
        if (batch.word != 0) _settledNumbers[batch.wordIndex] = batch.word;
        batch.wordIndex = index;
        batch.word = _settledNumbers[index];
    }

    /// @dev Loads an account, after writing back the previous one if there is one and its merchant
    /// is registered.
    function _loadMerchant(Batch memory batch, uint32 merchant) private {
        if (batch.account != 0) _storeAccount(uint32(batch.merchant), batch.account);
        batch.merchant = merchant;
        batch.account = _loadAccount(merchant);
    }
}
